package audience

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/plugins/chat/line"
	"github.com/companiond/companiond/plugins/chat/pick"
	companion "github.com/companiond/companiond/sdk/go"
)

// maxTold is how many perceptions are remembered, to be taken back: at the usual pace those of an hour.
const maxTold = 512

// session is the chat that some settings name: lines that wait, and those that were told.
type session struct {
	set     settings
	sources []source
	woken   chan struct{} // has a value when a line came
	running sync.Mutex

	mu         sync.Mutex // held while nobody else is asked anything
	pool       *pick.Pool
	companions []string
	turn       int
	told       []*told
	reason     map[string]string // by what was tried: why it failed last, so that the log has it once
}

// told is a line that a companion perceives.
type told struct {
	line.Line
	companion string
	pending   bool // the daemon has not answered yet
	gone      bool // while it was pending
}

func newSession(set settings, sources []source) *session {
	return &session{set: set, sources: sources, woken: make(chan struct{}, 1), reason: map[string]string{}, pool: pick.New(set.rule(0))}
}

// follow says for which companions the handler acts. Of those that the settings name only these perceive anything.
func (s *session) follow(companions []string) {
	to := slices.Clone(companions)
	if len(s.set.To) > 0 {
		to = slices.DeleteFunc(slices.Clone(s.set.To), func(c string) bool { return !slices.Contains(companions, c) })
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.companions = to
}

// hear takes what a source tells.
func (s *session) hear(h *companion.Host, e line.Event) {
	if e.Gone != nil {
		s.takeBack(h, *e.Gone)
		return
	}
	s.mu.Lock()
	fate := s.pool.Add(*e.Line, time.Now())
	s.mu.Unlock()
	switch {
	case fate == pick.Waits:
		select {
		case s.woken <- struct{}{}:
		default:
		}
	case fate == pick.Full && e.Line.Gift != nil:
		h.Log(abi.LevelError, fmt.Sprintf("%d gifts wait, and one of %s is lost: lower settings.every", pick.MaxGifts, e.Line.Name))
	}
}

// tell has lines perceived, one at a time, until the call ends.
func (s *session) tell(h *companion.Host) {
	s.mu.Lock()
	to := s.companions
	s.mu.Unlock()
	if len(to) == 0 {
		h.Log(abi.LevelWarn, "nobody perceives the chat: none of the companions in settings.to is one of the handler's")
		<-h.Context().Done() // the call begins anew when there are others
		return
	}
	for {
		s.mu.Lock()
		wait, ok := s.pool.Wait(time.Now())
		s.mu.Unlock()
		switch {
		case !ok:
			select {
			case <-h.Context().Done():
				return
			case <-s.woken:
			}
		case !sleep(h.Context(), wait):
			return
		default:
			s.next(h, to)
		}
	}
}

// next has the line that is next perceived.
func (s *session) next(h *companion.Host, to []string) {
	s.mu.Lock()
	l, ok := s.pool.Next(time.Now())
	if !ok {
		s.mu.Unlock()
		return
	}
	t := &told{Line: l.Line, companion: named(l.Text, to, s.set.Names), pending: true}
	if t.companion == "" {
		t.companion = to[s.turn%len(to)]
		s.turn++
	}
	s.told = append(s.told, t)
	s.told = slices.Delete(s.told, 0, max(0, len(s.told)-maxTold))
	s.mu.Unlock()

	err := s.emit(h, t.companion, l.Line)
	first := t.companion
	for _, other := range to { // one who cannot perceive the chat does not keep it from the others
		if abi.CodeOf(err) != abi.CodeNotFound {
			break
		}
		s.failed(h, "tell "+t.companion+" of the chat", err)
		if other != first {
			s.mu.Lock()
			t.companion = other
			s.mu.Unlock()
			err = s.emit(h, other, l.Line)
		}
	}
	s.failed(h, "tell "+t.companion+" of the chat", err)

	s.mu.Lock()
	t.pending = false
	if err != nil || t.gone {
		s.told = slices.DeleteFunc(s.told, func(o *told) bool { return o == t })
	}
	if asked := (*abi.Error)(nil); errors.As(err, &asked) && asked.Retry && !t.gone {
		s.pool.Back(l)
	}
	s.mu.Unlock()
	if err == nil && t.gone {
		s.retract(h, t)
	}
}

// body is what a companion perceives.
type body struct {
	Name     string     `json:"name"`
	Text     string     `json:"text"`
	Platform string     `json:"platform"`
	Gift     *line.Gift `json:"gift,omitempty"`
}

// emit has a companion perceive a line. A card that knows of no gifts gets them as comments.
func (s *session) emit(h *companion.Host, who string, l line.Line) error {
	b, err := json.Marshal(body{l.Name, l.Text, l.Platform, l.Gift})
	if err != nil {
		return abi.Wrap(abi.CodeInternal, err, "a line cannot be written")
	}
	ask := abi.PerceptionAsk{Companion: who, Title: s.set.Perception, Body: b, From: l.Name, Key: line.Key(l.ID)}
	if l.Gift == nil || s.set.Gift == s.set.Perception {
		_, err := h.Emit(ask)
		return err
	}
	ask.Title = s.set.Gift
	if _, err = h.Emit(ask); err == nil {
		return nil
	}
	if asked := abi.AsError(err); asked.Retry || asked.Code == abi.CodeDenied {
		return err
	}
	ask.Title = s.set.Perception
	if _, again := h.Emit(ask); again != nil {
		return err
	}
	s.failed(h, "tell "+who+" of a gift", err)
	return nil
}

// takeBack takes out what is not in the chat any more, of those that wait and of those that were told and are not judged.
func (s *session) takeBack(h *companion.Host, g line.Gone) {
	s.mu.Lock()
	s.pool.Gone(g)
	s.mu.Unlock()
	s.untell(h, g.Has)
}

// untell takes back what was told of some lines.
func (s *session) untell(h *companion.Host, is func(line.Line) bool) {
	var back []*told
	s.mu.Lock()
	s.told = slices.DeleteFunc(s.told, func(t *told) bool {
		switch {
		case !is(t.Line):
			return false
		case t.pending: // next takes it back
			t.gone = true
			return false
		}
		back = append(back, t)
		return true
	})
	s.mu.Unlock()
	for _, t := range back {
		s.retract(h, t)
	}
}

func (s *session) retract(h *companion.Host, t *told) {
	ask := abi.RetractAsk{Companion: t.companion, Key: line.Key(t.ID)}
	if ask.Key == "" {
		ask.From = t.Name
	}
	_, err := h.Retract(ask)
	s.failed(h, "take back what "+t.companion+" perceives", err)
}

// failed tells the log why something cannot be done, once.
func (s *session) failed(h *companion.Host, what string, err error) {
	reason := ""
	if err != nil {
		reason = err.Error()
	}
	s.mu.Lock()
	news := reason != s.reason[what]
	s.reason[what] = reason
	s.mu.Unlock()
	if reason != "" && news && h.Context().Err() == nil {
		h.Log(abi.LevelWarn, "cannot "+what+": "+reason)
	}
}
