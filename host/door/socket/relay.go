package socket

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
)

// How soon a client of the relay is told again, and how seldom at last: after
// 2, 4, 8, 16 seconds and then every 30.
const (
	firstAgain = 2 * time.Second
	lastAgain  = 30 * time.Second
)

// relay is the dialect of chat-relay's clients: each message is a notice that wakes
// an agent. While an agent in the room has not seen everything, the newest
// notice is sent again: one that was busy when it came had missed it for ever
// otherwise. A client that subscribes to a session becomes a body and gets no
// more of them.
type relay struct {
	room    string
	since   uint64 // where the client asked to start
	asked   bool   // it did
	waiting func(room string) bool

	mu     sync.Mutex
	newest notice
	news   chan struct{} // holds a token when newest has changed
}

// notice is one frame of the relay. chat-relay's has Type and Message only.
type notice struct {
	Type    string          `json:"type"`
	Message heard           `json:"message"`
	Seq     uint64          `json:"seq"`
	Room    string          `json:"room"`
	Kind    abi.MessageKind `json:"kind"`
	At      time.Time       `json:"at"`
	Again   bool            `json:"again,omitempty"` // it was sent before
}

type heard struct {
	From    string `json:"from"`
	Message string `json:"message"`
}

func (r *relay) frame(e entry.Entry) ([]byte, error) {
	m, ok := e.Message()
	if !ok {
		return nil, nil
	}
	n := r.notice(m)
	r.mu.Lock()
	r.newest = n
	r.mu.Unlock()
	select {
	case r.news <- struct{}{}:
	default:
	}
	return encode(n), nil
}

func (r *relay) notice(m abi.Message) notice {
	return notice{Type: "newMessage", Message: heard{m.From, m.Text}, Seq: m.Seq, Room: r.room, Kind: m.Kind, At: m.At}
}

// take ignores what chat-relay's clients send, as its server does.
func (r *relay) take(ctx context.Context, c *client, message []byte) (*view, error) {
	k, ok := readCall(message)
	if !ok {
		return nil, nil
	}
	v, err := c.answerCall(ctx, k)
	if v != nil && r.asked && v.talk.Name() == r.room {
		v.since, v.asked = r.since, true
	}
	return v, err
}

// beside tells the client again while somebody waits.
func (r *relay) beside(ctx context.Context, c *client) *view {
	pause := firstAgain
	timer := time.NewTimer(pause)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case v := <-c.turns:
			return &v
		case <-r.news:
			pause = firstAgain
		case <-timer.C:
			if frame := r.again(); frame != nil {
				if c.send(frame) != nil {
					return nil // whoever follows the room finds out as well
				}
				pause = min(2*pause, lastAgain)
			}
		}
		timer.Reset(pause)
	}
}

// again gives the newest notice once more, nil when nobody waits for it.
func (r *relay) again() []byte {
	r.mu.Lock()
	n := r.newest
	r.mu.Unlock()
	if n.Seq == 0 || !r.waiting(r.room) {
		return nil
	}
	n.Again = true
	return encode(n)
}

// Relay serves chat-relay's clients beside another handler: a WebSocket handshake on
// any path but the feed's own gets the messages of the room that ?room= names,
// or else of the usual one. Clients of the AI Companion Protocol connect here as well, and subscribe.
func (f *Feed) Relay(next http.Handler) http.Handler {
	relay := f.handshake(f.openRelay)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !websocket.IsWebSocketUpgrade(r) || strings.HasPrefix(r.URL.Path, "/v1/") {
			next.ServeHTTP(w, r)
			return
		}
		relay(w, r)
	})
}

// openRelay finds the room that ?room= names, or else the usual one.
func (f *Feed) openRelay(r *http.Request) (view, error) {
	name := f.cfg.Rooms.Usual()
	if r.URL.Query().Has("room") {
		name = r.URL.Query().Get("room")
	}
	v, err := f.open(r, name)
	if err != nil {
		return view{}, err
	}
	d := &relay{room: name, since: v.since, asked: v.asked, waiting: f.cfg.Waiting, news: make(chan struct{}, 1)}
	v.dialect = d
	// A client that was away while something was said is told of it as well.
	if past, err := v.talk.History(r.Context(), abi.HistoryAsk{Limit: 1}); err == nil && len(past.Messages) == 1 {
		d.newest = d.notice(past.Messages[0])
	}
	return v, nil
}
