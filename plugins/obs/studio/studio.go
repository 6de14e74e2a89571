// Package studio is a handler that has OBS follow what companions say and do: the words of a text source, scenes,
// items of scenes, hotkeys, and screenshots that a companion perceives.
//
// It switches only what the settings list. It makes no sources and no scenes, never touches anything of a text source
// but its text, starts no stream, and does not start OBS.
package studio

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/plugins/obs/client"
	"github.com/companiond/companiond/plugins/obs/subtitle"
	companion "github.com/companiond/companiond/sdk/go"
)

// Handler makes the handler.
func Handler() companion.Handler { return (&studio{dial: client.Dial}).handler() }

// studio has the stations of all handlers that have this module.
type studio struct {
	dial func(ctx context.Context, address, password string) (*client.Conn, error)

	mu       sync.Mutex
	stations map[string]*station // by their settings
}

func (s *studio) handler() companion.Handler {
	return companion.Handler{
		Name: "OBS", Version: "1", Actions: actions(), Settings: schema,
		Act: s.act, Show: s.show, Run: s.run,
	}
}

// station is one OBS as one handler sees it. Act and Show use it beside Run.
type station struct {
	settings
	dial  func(ctx context.Context, address, password string) (*client.Conn, error)
	woken chan struct{} // has a value when Run is to look at what is said
	now   chan struct{} // has a value when Run is to connect at once

	mu    sync.Mutex
	conn  *client.Conn // nil where there is none
	why   error        // that there is none; nil before it was tried
	tried chan struct{}
	acts  map[string]int // by companion: how many runs there are for it
	runs  int
	track *subtitle.Track
}

// station gives that of settings.
func (s *studio) station(text json.RawMessage) (*station, error) {
	set, err := read(text)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stations == nil {
		s.stations = map[string]*station{}
	}
	key := set.same()
	if s.stations[key] == nil {
		s.stations[key] = &station{
			settings: set, dial: s.dial, woken: make(chan struct{}, 1), now: make(chan struct{}, 1), tried: make(chan struct{}),
			acts: map[string]int{}, track: subtitle.New(set.Name, set.linger()),
		}
	}
	return s.stations[key], nil
}

// show follows what is said. It sends nothing: Run does, when it is time.
func (s *studio) show(h *companion.Host, shown abi.Showing) {
	st, err := s.station(shown.Settings)
	if err != nil {
		h.Fail(err)
	}
	if st.Subtitle == "" {
		return
	}
	st.mu.Lock()
	if st.runs == 0 || st.acts[shown.Companion] > 0 {
		st.track.Show(time.Now(), shown)
	}
	st.mu.Unlock()
	knock(st.woken)
}

// knock puts a value into a channel that has room for one, if there is none.
func knock(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// words gives what the subtitle is to be now, and when to ask again where nothing is shown before.
func (st *station) words() (text string, again time.Time) {
	st.mu.Lock()
	defer st.mu.Unlock()
	return st.track.At(time.Now())
}

// begins and ends count the runs of a station.
func (st *station) begins(r abi.Running) {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.runs++
	for _, c := range r.Companions {
		st.acts[c]++
	}
}

func (st *station) ends(r abi.Running) {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.runs--
	for _, c := range r.Companions {
		st.acts[c]--
	}
}

// connected gives the connection. Where there is none Run is asked to try at once, and waited for: whoever has just
// started OBS does not want to hear that it is not there.
func (st *station) connected(ctx context.Context) (*client.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, soon)
	defer cancel()
	for try := 0; ; try++ {
		st.mu.Lock()
		conn, why, tried := st.conn, st.why, st.tried
		st.mu.Unlock()
		if conn != nil {
			return conn, nil
		}
		if why != nil && (try > 0 || ctx.Err() != nil) {
			return nil, abi.Errorf(abi.CodeUnavailable, "%v", why)
		}
		knock(st.now)
		select {
		case <-tried:
		case <-ctx.Done():
			if why == nil {
				return nil, abi.Errorf(abi.CodeUnavailable, "OBS at %s was not asked yet: try again", st.Address)
			}
		}
	}
}

// soon is how long an action waits for a connection.
const soon = 3 * time.Second

// set keeps what came of a try to connect, or that a connection is gone, and wakes who waits for it.
func (st *station) set(conn *client.Conn, why error) {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.conn, st.why = conn, why
	close(st.tried)
	st.tried = make(chan struct{})
}
