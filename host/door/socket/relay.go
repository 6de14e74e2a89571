package socket

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/door/guard"
	"github.com/companiond/companiond/host/door/socket/actions"
	"github.com/companiond/companiond/host/door/socket/fanout"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/identity"
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
	waiting func(room string, told uint64) bool
	listens func() (leave func())

	mu     sync.Mutex
	first  abi.Message   // the newest as the client came
	newest entry.Entry   // the newest it was told of since
	at     time.Time     // when that was
	pause  time.Duration // until it is told again, from then on or from when it last was
	news   chan struct{} // holds a token when that is sooner than beside thinks
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

// notices is how the relay shows a room.
type notices struct{ room string }

// Message implements fanout.Coding.
func (n notices) Message(e entry.Entry) ([]byte, error) {
	m, ok := e.Message()
	if !ok {
		return nil, nil
	}
	return json.Marshal(n.of(m))
}

func (n notices) of(m abi.Message) notice {
	return notice{Type: "newMessage", Message: heard{m.From, m.Text}, Seq: m.Seq, Room: n.room, Kind: m.Kind, At: m.At}
}

func (r *relay) coding() fanout.Coding { return notices{r.room} }

// told is called for each message and each client, so it wakes nobody who
// looks soon enough anyway.
func (r *relay) told(e entry.Entry) {
	r.mu.Lock()
	r.newest, r.at = e, time.Now()
	late := r.pause > firstAgain
	r.pause = firstAgain
	r.mu.Unlock()
	if !late {
		return
	}
	select {
	case r.news <- struct{}{}:
	default:
	}
}

// take ignores what chat-relay's clients send, as its server does.
func (r *relay) take(ctx context.Context, c *client, message []byte) (*view, error) {
	k, ok := actions.ReadCall(message)
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
	timer := time.NewTimer(r.due())
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case v := <-c.turns:
			return &v
		case <-r.news:
		case <-timer.C:
			if frame := r.again(); frame != nil && c.send(frame) != nil {
				return nil // whoever follows the room finds out as well
			}
		}
		timer.Reset(r.due())
	}
}

// due is when the client is to be told again.
func (r *relay) due() time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	return time.Until(r.at.Add(r.pause))
}

// again gives the newest notice once more, nil when nobody waits for it or it has just come.
// Who waits is asked for without r.mu: told is not to wait for that.
func (r *relay) again() []byte {
	r.mu.Lock()
	m, e, due := r.first, r.newest, !time.Now().Before(r.at.Add(r.pause))
	if due {
		r.at = time.Now()
	}
	r.mu.Unlock()
	if e.Seq != 0 {
		m, _ = e.Message()
	}
	if !due || m.Seq == 0 || !r.waiting(r.room, m.Seq) {
		return nil
	}
	r.mu.Lock()
	if r.newest.Seq == e.Seq {
		r.pause = min(2*r.pause, lastAgain)
	}
	r.mu.Unlock()
	n := notices{r.room}.of(m)
	n.Again = true
	frame, _ := json.Marshal(n) // texts and numbers can always be written
	return frame
}

// Relay serves chat-relay's clients beside another handler: a WebSocket handshake on
// any path but the feed's own gets the messages of the room that ?room= names,
// or else of the usual one. Clients of the AI Companion Protocol connect here as well, and subscribe, or
// name a companion with ?companion=.
func (f *Feed) Relay(next http.Handler) http.Handler {
	relay := f.handshake(f.openRelay)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !websocket.IsWebSocketUpgrade(r) || strings.HasPrefix(r.URL.Path, "/v1/") || guard.Stage(r.URL.Path) {
			next.ServeHTTP(w, r)
			return
		}
		relay(w, r)
	})
}

// openRelay finds the room that ?room= names, or else the usual one.
func (f *Feed) openRelay(r *http.Request) (view, error) {
	if r.URL.Query().Has("companion") {
		return f.openBare(r)
	}
	name := f.cfg.Rooms.Usual()
	if r.URL.Query().Has("room") {
		name = r.URL.Query().Get("room")
	}
	v, err := f.open(r, name)
	if err != nil {
		return view{}, err
	}
	address := identity.Of(r.Context()).Address
	d := &relay{
		room: name, since: v.since, asked: v.asked, waiting: f.cfg.Waiting, listens: func() func() { return f.cfg.Listens(name, address) },
		news: make(chan struct{}, 1), at: time.Now(), pause: firstAgain,
	}
	v.dialect = d
	// A client that was away while something was said is told of it as well.
	if past, err := v.talk.History(r.Context(), abi.HistoryAsk{Limit: 1}); err == nil && len(past.Messages) == 1 {
		d.first = past.Messages[0]
	}
	return v, nil
}
