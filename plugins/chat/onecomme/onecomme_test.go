package onecomme_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/gorilla/websocket"

	"github.com/companiond/companiond/plugins/chat/line"
	"github.com/companiond/companiond/plugins/chat/onecomme"
)

// written makes a comment as OneComme sends it, in the form of its SDK's types.
func written(service, id, user, name, comment, more string) string {
	b, _ := json.Marshal(comment) // a text can always be marshalled
	return fmt.Sprintf(`{"service":%q,"id":"frame-1","name":"my stream","url":"https://x/live","color":{"r":1,"g":2,"b":3},"data":{"id":%q,"liveId":"live","userId":%q,"name":%q,"isOwner":false,"hasGift":false,`+
		`"profileImage":"https://x/y.png","badges":[],"timestamp":"2026-11-27T10:00:01.000Z","comment":%s%s}}`, service, id, user, name, b, more)
}

func comments(list ...string) string {
	return `{"type":"comments","data":{"comments":[` + strings.Join(list, ",") + `],"options":{}}}`
}

func lines(t *testing.T, raw string) (all []line.Line) {
	t.Helper()
	for _, e := range onecomme.Events([]byte(raw)) {
		if e.Line == nil {
			t.Fatalf("%s says %+v", raw, e)
		}
		all = append(all, *e.Line)
	}
	return all
}

func TestComments(t *testing.T) {
	got := lines(t, comments(
		written("youtube", "c1", "UC1", "Ann", `初見です！<img class="emoji" alt=":wave:" src="x">A &amp; B`, `,"isMember":true,"isModerator":false`),
		written("niconama", "c2", "a:xyz", "", "184", `,"anonymity":true,"nickname":"<b>ボブ</b>","displayName":"x"`),
		written("system", "s1", "", "OneComme", "connected", ""),
	))
	want := []line.Line{
		{Platform: "youtube", Place: "onecomme", ID: "c1", Viewer: "UC1", Name: "Ann", Text: "初見です！ :wave: A & B", Member: true, At: time.Date(2026, 11, 27, 10, 0, 1, 0, time.UTC)},
		{Platform: "niconama", Place: "onecomme", ID: "c2", Viewer: "a:xyz", Name: "ボブ", Text: "184", At: time.Date(2026, 11, 27, 10, 0, 1, 0, time.UTC)},
	}
	if len(got) != 2 || got[0] != want[0] || got[1] != want[1] {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	past := lines(t, `{"type":"connected","data":{"config":{},"comments":[`+written("twitch", "c3", "7", "Cho", "old", "")+`]}}`)
	past = append(past, lines(t, `{"type":"comments","data":{"comments":[`+written("twitch", "c4", "7", "Cho", "old", "")+`],"options":{"init":true}}}`)...)
	if len(past) != 2 || !past[0].Past || !past[1].Past {
		t.Errorf("what was there before: %+v", past)
	}
	if bare := lines(t, `{"type":"comments","data":[`+written("twitch", "c5", "7", "Cho", "new", `,"screenName":"CHO","subscriber":"1","mod":"1","isModerator":true`)+`]}`); len(bare) != 1 || bare[0].Past || bare[0].Handle != "cho" || !bare[0].Member || !bare[0].Mod {
		t.Errorf("a list alone: %+v", bare)
	}
}

func TestGifts(t *testing.T) {
	for more, want := range map[string]line.Gift{
		`,"hasGift":true,"price":1000,"unit":"¥","paidText":"￥1,000"`: {Kind: "gift", Amount: 1000, Display: "￥1,000"},
		`,"hasGift":true,"price":"5.5","unit":"USD"`:                  {Kind: "gift", Amount: 5.5, Display: "5.5 USD"},
		`,"hasGift":true`:                   {Kind: "gift", Display: "a gift"},
		`,"hasGift":true,"price":{"odd":1}`: {Kind: "gift", Display: "a gift"},
		`,"hasGift":true,"bits":"300"`:      {Kind: "bits", Amount: 300, Display: "300 bits"},
	} {
		got := lines(t, comments(written("youtube", "c1", "UC1", "Ann", "", more)))
		if len(got) != 1 || got[0].Gift == nil || *got[0].Gift != want {
			t.Errorf("%s: %+v", more, got)
		}
	}
	if got := lines(t, comments(written("youtube", "c1", "UC1", "Ann", "hi", `,"price":0,"bits":"0","isModerator":"no","badges":7`))); len(got) != 1 || got[0].Gift != nil {
		t.Errorf("no gift: %+v", got)
	}
}

func TestGone(t *testing.T) {
	got := onecomme.Events([]byte(`{"type":"deleted","data":[{"id":"c1","message":"deleted"},{"id":7},{},"odd"]}`))
	if len(got) != 2 || *got[0].Gone != (line.Gone{Place: "onecomme", ID: "c1"}) || *got[1].Gone != (line.Gone{Place: "onecomme", ID: "7"}) {
		t.Errorf("deleted: %+v", got)
	}
	if got := onecomme.Events([]byte(`{"type":"clear"}`)); len(got) != 1 || *got[0].Gone != (line.Gone{Place: "onecomme"}) {
		t.Errorf("cleared: %+v", got)
	}
	for _, raw := range []string{``, `{}`, `7`, `{"type":"comments"}`, `{"type":"comments","data":7}`, `{"type":"comments","data":{"comments":[7,{}]}}`, `{"type":"deleted","data":{}}`, `{"type":"meta","data":{}}`} {
		if got := onecomme.Events([]byte(raw)); len(got) > 0 {
			t.Errorf("%s says %+v", raw, got)
		}
	}
}

func FuzzEvents(f *testing.F) {
	f.Add([]byte(comments(written("youtube", "c1", "UC1", "Ann", `<img alt="x">&amp;`, `,"hasGift":true,"price":1000`))))
	f.Add([]byte(`{"type":"deleted","data":[{"id":"c1"}]}`))
	f.Add([]byte(`{"type":"connected","data":[{"service":"x","data":{"id":1,"comment":"y","bits":"1e999"}}]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, e := range onecomme.Events(raw) {
			l := e.Line
			if (l == nil) == (e.Gone == nil) {
				t.Fatalf("%s says %+v", raw, e)
			}
			if l == nil {
				continue
			}
			if !l.Says() || l.Name == "" || l.Platform == "" || utf8.RuneCountInString(l.Text) > line.MaxText || line.Plain(l.Text) != l.Text {
				t.Fatalf("%s says %+v", raw, l)
			}
			if _, err := json.Marshal(l.Gift); err != nil {
				t.Fatalf("%s gives %+v: %v", raw, l.Gift, err)
			}
		}
	})
}

// program plays OneComme, at an address that can be taken again.
type program struct {
	t       *testing.T
	address string
	asked   chan string
	conns   chan *websocket.Conn
	server  *http.Server
}

func start(t *testing.T, address string) *program {
	t.Helper()
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	p := &program{t: t, address: l.Addr().String(), asked: make(chan string, 10), conns: make(chan *websocket.Conn, 10)}
	p.server = &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, err := (&websocket.Upgrader{}).Upgrade(w, r, nil)
		if err != nil {
			return
		}
		p.asked <- r.URL.String()
		p.conns <- conn
	})}
	go func() { _ = p.server.Serve(l) }() // it ends with Close
	t.Cleanup(func() { _ = p.server.Close() })
	return p
}

func (p *program) send(conn *websocket.Conn, text string) {
	p.t.Helper()
	if err := conn.WriteMessage(websocket.TextMessage, []byte(text)); err != nil {
		p.t.Fatal(err)
	}
}

type hearing struct {
	up     chan struct{}
	events chan line.Event
	ended  chan error
	end    context.CancelFunc
}

func hear(t *testing.T, address string) *hearing {
	ctx, cancel := context.WithCancel(t.Context())
	h := &hearing{make(chan struct{}, 1), make(chan line.Event, 100), make(chan error, 1), cancel}
	done := make(chan struct{})
	go func() {
		defer close(done)
		h.ended <- onecomme.Run(ctx, address, func() { h.up <- struct{}{} }, func(e line.Event) { h.events <- e })
	}()
	t.Cleanup(func() { cancel(); <-done })
	return h
}

func TestRun(t *testing.T) {
	p := start(t, "127.0.0.1:0")
	h := hear(t, p.address)
	conn := <-p.conns
	if got := <-p.asked; got != "/sub?p=connected,comments,deleted,clear" {
		t.Errorf("asked for %s", got)
	}
	<-h.up
	p.send(conn, `{"type":"connected","data":{"comments":[`+written("youtube", "c0", "UC1", "Ann", "before", "")+`]}}`)
	p.send(conn, "no JSON")
	p.send(conn, comments(written("youtube", "c1", "UC1", "Ann", "hello", "")))
	p.send(conn, `{"type":"deleted","data":[{"id":"c1"}]}`)
	if e := <-h.events; e.Line.ID != "c0" || !e.Line.Past {
		t.Errorf("before: %+v", e.Line)
	}
	if e := <-h.events; e.Line.ID != "c1" || e.Line.Past {
		t.Errorf("new: %+v", e.Line)
	}
	if e := <-h.events; e.Gone == nil || e.Gone.ID != "c1" {
		t.Errorf("deleted: %+v", e)
	}
	h.end()
	if err := <-h.ended; !errors.Is(err, context.Canceled) {
		t.Errorf("ended by its context: %v", err)
	}
}

func TestProgramIsClosed(t *testing.T) {
	p := start(t, "127.0.0.1:0")
	h := hear(t, "ws://"+p.address)
	conn := <-p.conns
	<-h.up
	conn.Close()
	_ = p.server.Close()
	if err := <-h.ended; err == nil || !strings.Contains(err.Error(), "OneComme at") {
		t.Errorf("it was closed: %v", err)
	}
	if err := <-hear(t, p.address).ended; err == nil {
		t.Error("nobody is there, and all is well")
	}
	p = start(t, p.address)
	h = hear(t, p.address)
	conn = <-p.conns
	<-h.up
	p.send(conn, comments(written("youtube", "c2", "UC1", "Ann", "again", "")))
	if e := <-h.events; e.Line.Text != "again" {
		t.Errorf("after a new start: %+v", e.Line)
	}
}

func TestAddresses(t *testing.T) {
	for _, address := range []string{"http://127.0.0.1:1", "ws://", "ws://%"} {
		if err := onecomme.Run(t.Context(), address, nil, nil); err == nil || !strings.Contains(err.Error(), "settings.onecomme") {
			t.Errorf("%q: %v", address, err)
		}
	}
}
