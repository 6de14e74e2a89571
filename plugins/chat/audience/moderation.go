package audience

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/plugins/chat/line"
	companion "github.com/companiond/companiond/sdk/go"
)

// The actions, and the schemas of their parameters.
const (
	muteAction = "chat.mute"
	muteSchema = `{"type":"object","additionalProperties":false,"required":["viewer"],"properties":{` +
		`"viewer":{"type":"string","minLength":1,"maxLength":64,"description":"the viewer's name, login or id"},` +
		`"minutes":{"type":"integer","minimum":0,"maximum":43200,"description":"for how long; 10 where that is left out, 0 lets the viewer speak again"}}}`
	slowAction = "chat.slow"
	slowSchema = `{"type":"object","additionalProperties":false,"required":["seconds"],"properties":{` +
		`"seconds":{"type":"integer","minimum":0,"maximum":3600,"description":"between two comments of one viewer; 0 is as the settings say"}}}`
)

// maxMuted bounds those who are muted by action; the settings' schema has a bound of its own, and a pool takes both.
const maxMuted = 500

// key is where the store has it, and what it keeps beyond a restart.
const key = "moderation"

// kept is what actions have set, for all chats of the program.
type kept struct {
	Muted map[string]time.Time `json:"muted,omitempty"` // by folded name, until when
	Slow  int                  `json:"slow,omitempty"`  // seconds; 0 is as the settings say
}

// act carries out an action.
func (a *audience) act(h *companion.Host, act companion.Acting) (string, error) {
	set, err := read(act.Settings)
	if err != nil {
		return "", err
	}
	if act.By == "" && !set.Moderate { // a viewer might talk a companion into it; a person may always
		return "", abi.Errorf(abi.CodeDenied, "companions do not look after the chat; a person may (companiond act), and moderate = true in the handler's settings lets companions, and whoever plays actions for them")
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.load(h)
	switch act.Action {
	case muteAction:
		return a.mute(h, act.Parameters)
	case slowAction:
		return a.slow(h, act.Parameters)
	}
	return "", abi.Errorf(abi.CodeNotFound, "there is no action %.64q; there are %s and %s", act.Action, muteAction, slowAction)
}

func (a *audience) mute(h *companion.Host, parameters json.RawMessage) (string, error) {
	ask := struct {
		Viewer  string
		Minutes int
	}{Minutes: 10}
	if err := json.Unmarshal(parameters, &ask); err != nil {
		return "", abi.Field("parameters", abi.CodeInvalid, "are no object with viewer and minutes")
	}
	name, shown := line.Fold(ask.Viewer), line.Name(strings.TrimPrefix(ask.Viewer, "@"))
	now := time.Now()
	next := kept{Muted: maps.Clone(a.kept.Muted), Slow: a.kept.Slow}
	maps.DeleteFunc(next.Muted, func(_ string, until time.Time) bool { return !now.Before(until) })
	switch {
	case name == "" || shown == "":
		return "", abi.Field("parameters.viewer", abi.CodeInvalid, "must not be empty; name the viewer as the chat does")
	case ask.Minutes == 0:
		delete(next.Muted, name)
	case len(next.Muted) >= maxMuted:
		return "", abi.Field("parameters.viewer", abi.CodeExhausted, "%d viewers are muted already; put those who stay so into settings.muted", len(next.Muted))
	default:
		if next.Muted == nil {
			next.Muted = map[string]time.Time{}
		}
		next.Muted[name] = now.Add(time.Duration(ask.Minutes) * time.Minute).UTC().Truncate(time.Second)
	}
	if err := a.keep(h, next); err != nil {
		return "", err
	}
	if ask.Minutes == 0 {
		return shown + " may speak again", nil
	}
	for _, s := range a.sessions {
		s.untell(h, func(l line.Line) bool { return l.Called(name) })
	}
	return fmt.Sprintf("%s is muted for %d minutes", shown, ask.Minutes), nil
}

func (a *audience) slow(h *companion.Host, parameters json.RawMessage) (string, error) {
	var ask struct{ Seconds int }
	if err := json.Unmarshal(parameters, &ask); err != nil || ask.Seconds < 0 {
		return "", abi.Field("parameters", abi.CodeInvalid, "are no object with seconds, 0 or more")
	}
	if err := a.keep(h, kept{Muted: a.kept.Muted, Slow: ask.Seconds}); err != nil {
		return "", err
	}
	if ask.Seconds == 0 {
		return "the slow mode is as the settings say", nil
	}
	return fmt.Sprintf("a viewer is heard once in %d seconds", ask.Seconds), nil
}

// keep makes next what holds, in the store first.
func (a *audience) keep(h *companion.Host, next kept) error {
	if err := h.SetJSON(key, next); err != nil {
		return err
	}
	before := a.kept
	a.kept = next
	for _, s := range a.sessions {
		before.lift(s)
		next.apply(s)
	}
	return nil
}

// load reads the store, once.
func (a *audience) load(h *companion.Host) {
	if a.loaded {
		return
	}
	if _, err := h.GetJSON(key, &a.kept); err != nil {
		h.Log(abi.LevelWarn, "the list of muted viewers cannot be read, and none is muted by it: "+err.Error())
		if abi.AsError(err).Retry {
			return
		}
	}
	a.loaded = true
}

// apply has a session obey what holds.
func (k kept) apply(s *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	for _, name := range s.set.Muted {
		_ = s.pool.Mute(name, time.Time{}, now) // the schema bounds how many there are
	}
	for name, until := range k.Muted {
		if !slices.ContainsFunc(s.set.Muted, func(m string) bool { return line.Fold(m) == name }) && now.Before(until) {
			_ = s.pool.Mute(name, until, now) // mute bounds how many there are
		}
	}
	s.pool.Follow(s.set.rule(time.Duration(k.Slow) * time.Second))
}

// lift lets those speak again whom a session mutes by k.
func (k kept) lift(s *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name := range k.Muted {
		s.pool.Unmute(name)
	}
}
