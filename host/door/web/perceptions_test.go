package web_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"log/slog"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/textproto"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/card"
	"github.com/companiond/companiond/host/door/doortest"
	"github.com/companiond/companiond/host/door/guard"
	"github.com/companiond/companiond/host/door/web"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/identity"
	"github.com/companiond/companiond/host/perception"
	"github.com/companiond/companiond/host/rooms"
)

// definition is written in a way of its own, for it is to be given back as it is.
const definition = `{
  "name": "ニコニ立体ちゃん",
  "actions": [ {"title": "move", "description": "moves", "type": "object",
    "properties": {"x": {"type": "number"}}, "required": ["x"]} ],
  "perceptions": [
    {"title": "vision", "description": "a camera", "type": "object", "cool_down": "10s", "properties": {
      "title": {"type": "string"}, "format": {"type": "string", "enum": ["object", "text", "image"]}, "body": {"type": "string"}},
      "required": ["title", "format", "body"]},
    {"title": "radar", "description": "where people are", "type": "object", "cool_down": "10s", "coalesce": true},
    {"title": "touch", "description": "a sensor", "type": "object", "properties": {
      "title": {"type": "string"}, "format": {"type": "string", "enum": ["object"]},
      "body": {"type": "object", "properties": {"at": {"type": "array", "items": {"type": "number"}}}, "required": ["at"]}},
      "required": ["title", "format", "body"]},
    {"title": "input", "description": "what people say", "type": "object", "properties": {
      "title": {"type": "string"}, "format": {"type": "string", "enum": ["object", "text", "image"]}, "body": {"type": "string"}},
      "required": ["title", "format", "body"]}
  ],
  "events": [ {"perception": "vision", "action": ["move"], "condition": "…"} ],
  "mine": "is kept"
}
`

// pixel is a PNG of one pixel.
var pixel, _ = base64.StdEncoding.DecodeString("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII=")

// sensing is a door before a house whose companions perceive: "nikoni" and "zoe",
// who have the same card and listen to everything, and "aya", who has none and is not
// in.
type sensing struct {
	fixture
	*perception.Queues
	room  *doortest.Room
	judge func(ctx context.Context, companion string, p abi.Percept) (abi.Judged, error)
	usual string
	stop  context.CancelFunc // tells the door that the daemon stops
}

func newSensing(t testing.TB) *sensing {
	t.Helper()
	return newSensingIn(t, doortest.NewHouse(t, "main", "side"), "main")
}

// newSensingIn is newSensing in a house in which they live in the named room.
func newSensingIn(t testing.TB, house *doortest.House, home string) *sensing {
	t.Helper()
	c, err := card.Parse("nikoni.json", []byte(definition))
	if err != nil {
		t.Fatal(err)
	}
	cards := func(id string) (*card.Card, error) {
		switch id {
		case "nikoni", "zoe":
			return c, nil
		case "aya":
			return nil, nil
		case "late":
			return nil, abi.Errorf(abi.CodeUnavailable, "companion: late is being loaded; try again")
		}
		return nil, abi.Errorf(abi.CodeNotFound, "companion: there is no %q", id)
	}
	s := &sensing{fixture: fixture{house: house}, room: house.Get(home), usual: "nikoni"}
	s.room.Live("nikoni", "zoe")
	s.judge = func(ctx context.Context, who string, p abi.Percept) (abi.Judged, error) {
		return s.room.Perceive(ctx, who, p)
	}
	var n atomic.Int64
	s.Queues = perception.New(perception.Config{
		Card: cards, Log: slog.New(slog.DiscardHandler), Pending: 4, NewID: func() string { return fmt.Sprint("session-", n.Add(1)) },
		Judge: func(ctx context.Context, who string, all ...abi.Percept) (abi.Judged, error) {
			return s.judge(ctx, who, all[0])
		},
		Keep: func(ctx context.Context, who string, p abi.Percept, kept func(abi.Percept)) error {
			return s.room.Keep(ctx, who, p, kept)
		},
		Kept: func(ctx context.Context, who string) ([]abi.Percept, error) { return s.room.Kept(ctx, who) },
		Say: func(ctx context.Context, who string, p abi.Percept, text string) (abi.Message, error) {
			_, kind, err := identity.Of(ctx).From(p.From, abi.KindHuman)
			if err != nil {
				return abi.Message{}, err
			}
			return s.room.Say(ctx, rooms.Utterance{From: p.From, By: kind, To: []string{who}, Text: text})
		},
	})
	mux := http.NewServeMux()
	stopping, stop := context.WithCancel(context.Background())
	s.stop = stop
	t.Cleanup(stop)
	err = web.Register(mux, web.Config{
		Rooms: house, Perceptions: s.Queues, Cards: cards, Stopping: stopping, Usual: func() string { return s.usual },
		Companions: func() []web.Companion {
			return []web.Companion{{ID: "zoe", Engine: "prompt"}, {ID: "aya", Engine: "wasm"}, {ID: "nikoni", Name: "ニコニ立体ちゃん", Engine: "prompt", State: "ready"}}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	s.Handler = guard.Mux(mux)
	return s
}

// run runs the senses until the test ends.
func (s *sensing) run(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-done })
}

// in runs a test in a bubble, before a house that perceives.
func in(t *testing.T, f func(t *testing.T, s *sensing)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := newSensing(t)
		s.run(t)
		f(t, s)
	})
}

const (
	perceives = "/v1/companions/nikoni/perceptions"
	touch     = `{"title":"touch","format":"object","body":{"at":[1,2]}}`
)

func TestCardIsTheFile(t *testing.T) {
	s := newSensing(t)
	w := s.ask("GET", "/v1/companions/nikoni/card", "")
	if w.Code != 200 || w.Body.String() != definition || w.Header().Get("Content-Type") != "application/json" {
		t.Errorf("%d %v\n%s", w.Code, w.Header(), w.Body)
	}
	w = s.ask("GET", "/v1/schemas/companion.json", "")
	if w.Code != 200 || w.Body.String() != string(card.Schema()) || w.Header().Get("Content-Type") != "application/schema+json" {
		t.Errorf("%d %v", w.Code, w.Header())
	}
	for path, want := range map[string]string{
		"/v1/companions/aya/card": "card: aya has none", "/v1/companions/bo/card": `companion: there is no "bo"`, "/v1/companions/bo": `companion: there is no "bo"`,
	} {
		if d := decode[guard.Details](t, s.ask("GET", path, ""), 404); d.Detail != want || d.Code != abi.CodeNotFound {
			t.Errorf("%s: %+v", path, d)
		}
	}
}

func TestCompanion(t *testing.T) {
	in(t, func(t *testing.T, s *sensing) {
		s.ask("POST", perceives, touch)
		s.ask("POST", perceives, `{"title":"input","format":"text","body":"やあ","from":"mika"}`)
		s.ask("POST", perceives, `{"title":"smell","format":"text","body":"roses"}`)
		synctest.Wait()
		w := s.ask("GET", "/v1/companions/nikoni", "")
		got := decode[struct {
			ID, Name, State string
			Card            struct{ Name, Mine string }
			Senses          map[string]int
		}](t, w, 200)
		if got.ID != "nikoni" || got.Name != "ニコニ立体ちゃん" || got.State != "ready" || got.Card.Name != "ニコニ立体ちゃん" || got.Card.Mine != "is kept" {
			t.Errorf("%s", w.Body)
		}
		if got.Senses["judged"] != 1 || got.Senses["said"] != 1 || got.Senses["refused"] != 1 || got.Senses["waiting"] != 0 {
			t.Errorf("%v", got.Senses)
		}
		if w := s.ask("GET", "/v1/companions/aya", ""); w.Code != 200 || strings.Contains(w.Body.String(), `"card"`) || !strings.Contains(w.Body.String(), `"taken":0`) {
			t.Errorf("%s", w.Body)
		}
	})
}

// A companion whose file is being loaded is there: a perception for it may come again.
func TestBeingLoaded(t *testing.T) {
	s := newSensing(t)
	for _, c := range []struct{ method, path, body string }{
		{"POST", "/v1/companions/late/perceptions", touch},
		{"GET", "/v1/companions/late/card", ""},
		{"POST", "/init?companion=late", `{}`},
	} {
		if w := s.ask(c.method, c.path, c.body); w.Code != 503 || !strings.Contains(w.Body.String(), "late is being loaded; try again") {
			t.Errorf("%s: %d %s", c.path, w.Code, w.Body)
		}
	}
}

func TestInputIsSaid(t *testing.T) {
	in(t, func(t *testing.T, s *sensing) {
		got := decode[struct {
			Room, State string
			Message     abi.Message
		}](t, s.ask("POST", perceives, `{"title":"input","format":"text","body":"やあ","from":"mika"}`), 201)
		if got.Room != "main" || got.State != "said" || got.Message.Seq != s.newest(t, entry.KindSaid).Seq || got.Message.From != "mika" || got.Message.Text != "やあ" || got.Message.To[0] != "nikoni" {
			t.Errorf("%+v", got)
		}
		s.ask("POST", perceives+"?wait=5", `{"title":"input","format":"text","body":"and"}`)
		// An agent is no human at this door either: its words need the floor.
		w := s.as(holder("bot", abi.KindAgent, identity.Talk), "POST", perceives, `{"title":"input","format":"text","body":"beep"}`)
		if d := decode[guard.Details](t, w, 403); !strings.Contains(d.Detail, "floor") {
			t.Errorf("%+v", d)
		}
		var lines []string
		for _, e := range s.room.Journal() {
			if e.Kind == entry.KindSaid || e.Kind == entry.KindRefused {
				lines = append(lines, string(e.Body))
			}
		}
		for i, want := range []string{`"from":"mika","by":"human"`, `"from":"guest","by":"human"`, `"who":"bot","by":"agent"`} {
			if len(lines) != 3 || !strings.Contains(lines[i], want) {
				t.Errorf("%q lacks %s", lines, want)
			}
		}
	})
}

func TestPerceptionsAreQueued(t *testing.T) {
	in(t, func(t *testing.T, s *sensing) {
		judged := func(w *httptest.ResponseRecorder) {
			t.Helper()
			exactly(t, w, 200, fmt.Sprintf(`{"room":"main","state":"judged","judged":{"seq":%d,"judgement":{"state":"listen","importance":0,"reason":"does not perceive"}}}`,
				s.newest(t, entry.KindPerceived).Seq))
		}
		exactly(t, s.ask("POST", perceives, touch), 202, fmt.Sprintf(`{"room":"main","state":"queued","seq":%d}`, s.newest(t, entry.KindPerceived).Seq))
		exactly(t, s.ask("POST", perceives, `{"title":"radar","format":"text","body":"a cat"}`), 202, `{"room":"main","state":"queued"}`)
		synctest.Wait()
		exactly(t, s.ask("POST", perceives, `{"title":"radar","format":"object","body":"{\"cats\":1}","from":"cam-1"}`), 202, `{"room":"main","state":"cooling"}`)
		// A client that waits is answered with the judgement.
		judged(s.ask("POST", perceives+"?wait=1", touch))
		exactly(t, s.ask("POST", perceives+"?wait=1", `{"title":"radar","format":"object","body":"{\"cats\":2}"}`), 202, `{"room":"main","state":"cooling"}`)
		judged(s.ask("POST", perceives+"?wait=20", `{"title":"radar","format":"object","body":"{\"cats\":3}"}`))
		p := []entry.Perceived{}
		for _, e := range s.room.Happened() {
			var b entry.Perceived
			if e.Kind == entry.KindJudged {
				continue
			}
			if err := json.Unmarshal(e.Body, &b); err != nil || e.Kind != entry.KindPerceived {
				t.Fatalf("%s: %v", e.Kind, err)
			}
			p = append(p, b)
		}
		if len(p) != 4 || p[0].From != "guest" || string(p[3].Body) != `{"cats":3}` || p[3].Who != "nikoni" || p[1].Title != "radar" {
			t.Errorf("%+v", p)
		}
	})
}

// The answer names the room in which the companion perceives, and hears what people
// say to it: its own, which need not be the usual one.
func TestPerceptionsNameTheRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSensingIn(t, doortest.NewHouseOf(t, doortest.Settings("main"), doortest.Settings("side", "nikoni", "zoe")), "side")
		s.run(t)
		for _, c := range []struct {
			path, body string
			status     int
			state      string
		}{
			{perceives, `{"title":"input","format":"text","body":"やあ"}`, 201, "said"},
			{perceives, touch, 202, "queued"},
			{perceives + "?wait=5", touch, 200, "judged"},
			{perceives, `{"title":"vision","format":"text","body":"a cat"}`, 202, "queued"},
			{perceives, `{"title":"vision","format":"text","body":"a dog"}`, 202, "cooling"},
		} {
			got := decode[struct{ Room, State string }](t, s.ask("POST", c.path, c.body), c.status)
			if got.Room != "side" || got.State != c.state {
				t.Errorf("%s: %+v, want %s", c.body, got, c.state)
			}
			synctest.Wait()
		}
		if main, side := s.house.Get("main").Happened(), s.room.Happened(); len(main) != 0 || len(side) == 0 || side[0].Kind != entry.KindSaid {
			t.Errorf("in main %v, in side %v", main, side)
		}
	})
}

// Somebody who waits for a frame that a newer one replaced is told so; a judgement
// that fails is told with its status.
func TestWaiting(t *testing.T) {
	in(t, func(t *testing.T, s *sensing) {
		s.ask("POST", perceives, `{"title":"radar","format":"object","body":"1"}`)
		synctest.Wait()
		go func() {
			time.Sleep(time.Second)
			s.ask("POST", perceives, `{"title":"radar","format":"object","body":"3"}`)
		}()
		exactly(t, s.ask("POST", perceives+"?wait=5", `{"title":"radar","format":"object","body":"2"}`), 200, `{"room":"main","state":"replaced"}`)
		synctest.Wait()
		s.judge = cannot
		d := decode[guard.Details](t, s.ask("POST", perceives+"?wait=5", touch), 503)
		if d.Code != abi.CodeUnavailable || !d.Retry || !strings.Contains(d.Detail, "waits for a model") {
			t.Errorf("%+v", d)
		}
	})
}

// cannot is a judge that could not.
func cannot(_ context.Context, _ string, p abi.Percept) (abi.Judged, error) {
	return abi.Judged{}, &perception.Ended{Seqs: []uint64{p.Seq}, Cause: abi.Errorf(abi.CodeUnavailable, "waits for a model: none is configured")}
}

// When too much waits, it is told how long to stay away, and people are heard all
// the same.
func TestFull(t *testing.T) {
	in(t, func(t *testing.T, s *sensing) {
		s.judge = func(ctx context.Context, _ string, _ abi.Percept) (abi.Judged, error) {
			<-ctx.Done()
			return abi.Judged{}, ctx.Err()
		}
		for range 5 {
			s.ask("POST", perceives, `{"title":"vision","format":"text","body":"x"}`)
			synctest.Wait()
		}
		w := s.ask("POST", perceives, `{"title":"vision","format":"text","body":"x"}`)
		d := decode[guard.Details](t, w, 429)
		if d.Code != abi.CodeExhausted || !d.Retry || w.Header().Get("Retry-After") != "10" || w.Header().Get("Content-Type") != "application/problem+json" {
			t.Errorf("%+v %v", d, w.Header())
		}
		if w := s.ask("POST", perceives, `{"title":"input","format":"text","body":"x"}`); w.Code != 201 {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	})
}

// A client that waits does not hold up a daemon that stops.
func TestNobodyWaitsForAStop(t *testing.T) {
	in(t, func(t *testing.T, s *sensing) {
		s.judge = func(ctx context.Context, _ string, _ abi.Percept) (abi.Judged, error) {
			<-ctx.Done()
			return abi.Judged{}, ctx.Err()
		}
		s.room.Play("nikoni", &doortest.Actor{
			Vote:  func(abi.Scene) abi.Vote { return abi.Vote{State: abi.Speak, Importance: 5} },
			Speak: func(ctx context.Context, _ abi.Scene) abi.Line { <-ctx.Done(); return abi.Line{} },
		})
		id, err := s.Open("nikoni", "", "")
		if err != nil {
			t.Fatal(err)
		}
		start, done := time.Now(), make(chan struct{}, 3)
		go func() {
			exactly(t, s.ask("POST", perceives+"?wait=55", touch), 202, `{"room":"main","state":"queued","seq":4}`)
			done <- struct{}{}
		}()
		synctest.Wait() // it is judged now
		for _, params := range []string{touch, `{"title":"input","format":"text","body":"hello?"}`} {
			go func() {
				exactly(t, s.perceive(id, params), 200, result(""))
				done <- struct{}{}
			}()
		}
		time.Sleep(time.Second)
		s.stop()
		for range 3 {
			<-done
		}
		if took := time.Since(start); took != time.Second {
			t.Errorf("after %v", took)
		}
	})
}

// form makes a multipart body: fields, and a file when it has a name.
func form(fields [][2]string, field, file, contentType string, data []byte) (body, header string) {
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for _, f := range fields {
		_ = w.WriteField(f[0], f[1])
	}
	if file != "" {
		h := textproto.MIMEHeader{"Content-Disposition": {fmt.Sprintf(`form-data; name=%q; filename=%q`, field, file)}}
		if contentType != "" {
			h.Set("Content-Type", contentType)
		}
		part, _ := w.CreatePart(h)
		_, _ = part.Write(data)
	}
	_ = w.Close()
	return b.String(), w.FormDataContentType()
}

func TestForm(t *testing.T) {
	in(t, func(t *testing.T, s *sensing) {
		var got []abi.Percept
		s.judge = func(_ context.Context, _ string, p abi.Percept) (abi.Judged, error) {
			got = append(got, p)
			return abi.Judged{Seq: 9}, nil
		}
		for _, c := range []struct{ field, contentType string }{{"image", "image/png"}, {"upload", ""}, {"file", "application/octet-stream"}} {
			body, header := form([][2]string{{"title", "vision"}, {"from", "cam-1"}}, c.field, "a.png", c.contentType, pixel)
			w := s.ask("POST", perceives+"?wait=30", body, "Content-Type", header)
			if w.Code != 200 || !strings.Contains(w.Body.String(), `"seq":9`) {
				t.Errorf("%v: %d %s", c, w.Code, w.Body)
			}
		}
		synctest.Wait()
		for _, p := range got {
			if p.Title != "vision" || p.Format != "image" || p.MediaType != "image/png" || !bytes.Equal(p.Image, pixel) || p.Body != nil || p.From != "cam-1" {
				t.Errorf("%+v", p)
			}
		}
		if len(got) != 3 {
			t.Errorf("%d images", len(got))
		}
		// The same as JSON.
		for _, body := range []string{
			fmt.Sprintf(`{"title":"vision","format":"image","body":"data:image/png;base64,%s"}`, base64.StdEncoding.EncodeToString(pixel)),
			fmt.Sprintf(`{"title":"vision","format":"image","media_type":"image/png","body":"%s"}`, base64.StdEncoding.EncodeToString(pixel)),
		} {
			if w := s.ask("POST", perceives+"?wait=30", body); w.Code != 200 {
				t.Errorf("%d %s", w.Code, w.Body)
			}
		}
		synctest.Wait()
		if p := got[len(got)-1]; !bytes.Equal(p.Image, pixel) || p.MediaType != "image/png" {
			t.Errorf("%+v", p)
		}
	})
}

// A perception that was offered does not change when the buffers of requests are used again.
func TestPerceptionsAreTheirOwn(t *testing.T) {
	in(t, func(t *testing.T, s *sensing) {
		var got []abi.Percept
		s.judge = func(_ context.Context, _ string, p abi.Percept) (abi.Judged, error) {
			time.Sleep(time.Second)
			got = append(got, p)
			return abi.Judged{}, nil
		}
		body, header := form([][2]string{{"title", "vision"}}, "f", "a.png", "", pixel)
		s.ask("POST", perceives, body, "Content-Type", header)
		s.ask("POST", perceives, touch)
		for i := range 50 {
			s.ask("POST", perceives, strings.Repeat(" ", i)+`{"title":"nothing","format":"text","body":"`+strings.Repeat("z", 300)+`"}`)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if len(got) != 2 || !bytes.Equal(got[0].Image, pixel) || string(got[1].Body) != `{"at":[1,2]}` {
			t.Errorf("%+v", got)
		}
	})
}
