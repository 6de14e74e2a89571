// Package audience has companions perceive the chat of a stream: it reads the sources that its settings name, has one line
// picked at a time, and tells one companion of it. A line that is deleted in the chat is taken back, as far as nobody has judged it, and
// viewers who are muted are not heard.
//
// It writes nothing into any chat, and says nothing for a companion. How lines are read is the sources' (twitch, youtube and
// onecomme), which one comes next is package pick's.
package audience

import (
	"encoding/json"
	"sync"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/plugins/chat/line"
	companion "github.com/companiond/companiond/sdk/go"
)

// Handler gives the handler.
func Handler() companion.Handler {
	return (&audience{sources: sources, sessions: map[string]*session{}}).handler()
}

// maxSessions bounds the settings whose chats are remembered while nobody reads them.
const maxSessions = 16

// audience is what the program keeps for as long as it runs. Its lock comes before those of sessions.
type audience struct {
	sources func(settings) []source

	mu       sync.Mutex
	sessions map[string]*session // by settings: two handlers may have this module
	kept     kept                // who is muted, and the slow mode
	loaded   bool
}

func (a *audience) handler() companion.Handler {
	return companion.Handler{
		Name: "chat", Version: "1",
		Needs:    []string{abi.HostPerceptionEmit, abi.HostPerceptionRetract},
		Settings: schema,
		Actions: []companion.Offer{
			{Name: muteAction, Description: "Has nobody hear a viewer of the stream's chat for a while. A companion may where the setting moderate is true.", Schema: json.RawMessage(muteSchema)},
			{Name: slowAction, Description: "Sets the slow mode of the stream's chat: how many seconds have to pass between two comments of one viewer. A companion may where the setting moderate is true.", Schema: json.RawMessage(slowSchema)},
		},
		Act: a.act,
		Run: a.run,
	}
}

// run reads the chats until the daemon ends it. The lines that wait, and how far was read, are kept for the next time.
func (a *audience) run(h *companion.Host, r abi.Running) error {
	set, err := read(r.Settings)
	if err != nil {
		return err
	}
	s := a.session(h, r.Settings, set)
	s.running.Lock() // the one before may not have ended yet
	defer s.running.Unlock()
	s.follow(r.Companions)
	var reading sync.WaitGroup
	defer reading.Wait()
	for _, src := range s.sources {
		reading.Go(func() { keep(h.Context(), src, h.Log, func(e line.Event) { s.hear(h, e) }) })
	}
	if len(s.sources) == 0 {
		h.Log(abi.LevelWarn, "no chat is read: set twitch, youtube or onecomme in the handler's settings")
	}
	s.tell(h)
	return nil
}

// session gives what is known of the chats of some settings.
func (a *audience) session(h *companion.Host, raw json.RawMessage, set settings) *session {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.load(h)
	if s := a.sessions[string(raw)]; s != nil {
		return s
	}
	for key, s := range a.sessions {
		if len(a.sessions) >= maxSessions && s.running.TryLock() { // nobody reads it
			s.running.Unlock()
			delete(a.sessions, key)
		}
	}
	s := newSession(set, a.sources(set))
	a.sessions[string(raw)] = s
	a.kept.apply(s)
	return s
}
