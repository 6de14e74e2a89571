package handler

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/logtest"
	"github.com/companiond/companiond/host/module"
	"github.com/companiond/companiond/host/module/moduletest"
	"github.com/companiond/companiond/host/rooms"
)

// tower is a stage with one handler of one module, for aya, who lives in no room.
type tower struct {
	*Stage
	log    logtest.Log
	module *moduletest.Module

	mu    sync.Mutex
	asked []string // "op data"
	calls []module.Caller
	saw   []abi.Percept
}

// newTower makes a stage whose handler answers ops with on, which may be nil.
func newTower(h Handler, settings string, on func(ctx context.Context, req abi.Request) error, ops ...string) *tower {
	x := &tower{}
	x.module = &moduletest.Module{Desc: abi.Description{ABI: "1", Name: "Tower", Kind: abi.Handler, Ops: ops, Settings: json.RawMessage(settings)}}
	x.module.OnCall = func(ctx context.Context, req abi.Request) (json.RawMessage, error) {
		x.mu.Lock()
		x.asked = append(x.asked, req.Op+" "+string(req.Data))
		x.calls = append(x.calls, module.Caller{Companion: req.Self, Call: req.ID, Op: req.Op})
		x.mu.Unlock()
		if on == nil {
			return json.RawMessage("{}"), nil
		}
		return json.RawMessage("{}"), on(ctx, req)
	}
	log := x.log.Logger()
	tower := module.NewCompanion("tower", module.NewGeneration(1, "process", x.module), module.Limits{}, log)
	aya := module.NewCompanion("aya", module.NewGeneration(1, "fake", &moduletest.Module{Desc: abi.Description{Name: "Aya", Card: json.RawMessage(`{"name":"Aya","voice":{"speaker":3}}`)}}), module.Limits{}, log)
	h.Name, h.Module, h.Companions = "tower", "tower", []string{"aya", "nobody"}
	x.Stage = New(Config{
		Handlers: []Handler{h}, Log: log, Companions: func() []*module.Companion { return []*module.Companion{aya} },
		Home:       func(context.Context, string) (rooms.Room, error) { return nil, abi.Errorf(abi.CodeNotFound, "no room") },
		Module:     func(id string) (*module.Companion, bool) { return tower, id == "tower" },
		SecretFile: func(value string) (string, error) { return value, nil },
		Perceive: func(_ context.Context, who string, p abi.Percept) (uint64, error) {
			x.mu.Lock()
			defer x.mu.Unlock()
			x.saw = append(x.saw, p)
			return uint64(len(x.saw)), nil
		},
		Retract: func(_ context.Context, who, of, key, from string) (int, error) {
			return len(who + of + key + from), nil
		},
	})
	return x
}

// during gives the newest call of an op.
func (x *tower) during(op string) module.Caller {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, c := range slices.Backward(x.calls) {
		if c.Op == op {
			return c
		}
	}
	return module.Caller{Companion: "tower", Call: "none", Op: op}
}

func (x *tower) has(want ...string) func(*testing.T) {
	return func(t *testing.T) {
		t.Helper()
		x.mu.Lock()
		defer x.mu.Unlock()
		if !slices.Equal(x.asked, want) {
			t.Errorf("asked\n%s\nwant\n%s", strings.Join(x.asked, "\n"), strings.Join(want, "\n"))
		}
	}
}

const noSettings = `"companions":["aya"]}`

// TestTimers: a handler is asked at the start and when a timer is due; one that is set anew counts from then, and one that is
// taken back is not due.
func TestTimers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var x *tower
		x = newTower(Handler{}, "", func(_ context.Context, req abi.Request) error {
			var due abi.Timer
			if err := json.Unmarshal(req.Data, &due); err != nil {
				return err
			}
			set := func(name string, after int64) error {
				return x.SetTimer(x.during(abi.OpTimer), abi.TimerAsk{Name: name, After: after, Data: json.RawMessage(`1`)})
			}
			switch due.Name {
			case "":
				return errors.Join(set("a", 1000), set("b", 2000), set("c", 100), set("c", 0), set("a", 3000))
			case "b":
				return set("b", 5000)
			}
			return nil
		}, abi.OpTimer)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { defer close(ended); _ = x.Run(ctx) }()
		time.Sleep(6 * time.Second)
		synctest.Wait()
		first := `timer {"name":"",` + noSettings
		b := `timer {"name":"b","data":1,` + noSettings
		a := `timer {"name":"a","data":1,` + noSettings
		x.has(first, b, a)(t)
		time.Sleep(2 * time.Second)
		synctest.Wait()
		x.has(first, b, a, b)(t)
		cancel()
		<-ended
		if err := x.SetTimer(x.during(abi.OpTimer), abi.TimerAsk{Name: "late", After: 1000}); abi.CodeOf(err) != abi.CodeDenied {
			t.Error(err)
		}
	})
}

// TestTimersAreBounded: of names, times and numbers that cannot be none is taken.
func TestTimersAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var x *tower
		x = newTower(Handler{}, "", func(_ context.Context, req abi.Request) error {
			c := x.during(abi.OpTimer)
			for ask, code := range map[*abi.TimerAsk]abi.Code{
				{Name: "", After: 1000}:                                        abi.CodeInvalid,
				{Name: strings.Repeat("a", abi.MaxName+1), After: 1000}:        abi.CodeInvalid,
				{Name: "a", After: abi.MinTimer - 1}:                           abi.CodeInvalid,
				{Name: "a", After: -1}:                                         abi.CodeInvalid,
				{Name: "a", After: 1 << 60}:                                    abi.CodeInvalid,
				{Name: "a", After: 1000, Data: make([]byte, abi.MaxKVValue+1)}: abi.CodeTooLarge,
			} {
				if err := x.SetTimer(c, *ask); abi.CodeOf(err) != code {
					t.Errorf("%.80v: %v", *ask, err)
				}
			}
			for n := range abi.MaxTimers + 1 {
				if err := x.SetTimer(c, abi.TimerAsk{Name: fmt.Sprint(n), After: 1000}); (err != nil) != (n == abi.MaxTimers) {
					t.Errorf("timer %d: %v", n, err)
				}
			}
			return x.SetTimer(c, abi.TimerAsk{Name: "7", After: 2000}) // which is set already
		}, abi.OpTimer)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go func() { _ = x.Run(ctx) }()
		synctest.Wait()
		if text := x.log.String(); strings.Contains(text, "failed") {
			t.Error(text)
		}
		cancel()
		synctest.Wait()
	})
}

// TestRuns: a run lasts until the stage ends; one that ends before is begun again, later each time, and told of once.
func TestRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newTower(Handler{}, "", func(ctx context.Context, _ abi.Request) error { return abi.Errorf(abi.CodeUnavailable, "no OBS here") }, abi.OpRun)
		ctx, cancel := context.WithCancel(t.Context())
		go func() { _ = x.Run(ctx) }()
		time.Sleep(100 * time.Second) // at 0, 1, 3, 7, 15, 31, 61, 91
		synctest.Wait()
		if n := len(x.asked); n != 8 || strings.Count(x.log.String(), "no OBS here") != 1 {
			t.Errorf("%d runs\n%s", n, x.log.String())
		}
		cancel()
		synctest.Wait()
	})
	synctest.Test(t, func(t *testing.T) {
		x := newTower(Handler{}, "", func(ctx context.Context, _ abi.Request) error { <-ctx.Done(); return ctx.Err() }, abi.OpRun)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { defer close(ended); _ = x.Run(ctx) }()
		time.Sleep(time.Hour)
		synctest.Wait()
		x.has(`run {` + noSettings)(t)
		c := x.during(abi.OpRun)
		if e, err := x.Emit(ctx, c, abi.PerceptionAsk{Companion: "aya", Title: "chat", Body: json.RawMessage(`"hi"`), From: "Ann\u202e"}); err != nil || e.Seq != 1 || x.saw[0].From != "Ann" || x.saw[0].Format != "text" {
			t.Error(e, err, x.saw)
		}
		by, _ := x.caller(c)
		by.concealed.Add("hunter2")
		ask := abi.PerceptionAsk{Companion: "aya", Title: "chat", Body: json.RawMessage(`{"text":"hun\u200bter2"}`), From: "Hunter hunter2", Key: "hunter2"}
		if _, err := x.Emit(ctx, c, ask); err != nil || string(x.saw[1].Body) != `{"text":"(secret)"}` || x.saw[1].From != "Hunter (secret)" || x.saw[1].Key != "tower/(secret)" {
			t.Errorf("secrets of its own: %v, %+v", err, x.saw[1])
		}
		if r, err := x.Retract(ctx, c, abi.RetractAsk{Companion: "aya", Key: "hunter2"}); err != nil || r.Count != len("ayatower/tower/(secret)") {
			t.Errorf("taken back by its key: %+v, %v", r, err)
		}
		if r, err := x.Retract(ctx, c, abi.RetractAsk{Companion: "aya", Key: "7", From: "Ann"}); err != nil || r.Count != len("ayatower/tower/7Ann") {
			t.Error(r, err)
		}
		for _, err := range []error{
			x.May(c, "kyoko"), x.May(c, "nobody"), x.May(module.Caller{Companion: "aya", Call: c.Call}, "aya"), x.May(module.Caller{Companion: "tower", Call: "vote-7"}, "aya"),
		} {
			if abi.CodeOf(err) != abi.CodeDenied {
				t.Error(err)
			}
		}
		if _, err := x.Retract(ctx, c, abi.RetractAsk{Companion: "aya"}); abi.CodeOf(err) != abi.CodeInvalid {
			t.Error(err)
		}
		cancel()
		<-ended
		if len(x.asked) != 1 {
			t.Error(x.asked)
		}
	})
}

// TestSecrets: a secret is a setting to the module, held to its schema as others are, and no text that others read has it.
func TestSecrets(t *testing.T) {
	dir := t.TempDir()
	at := filepath.Join(dir, "password")
	where, _ := json.Marshal(map[string]string{"password": at})
	x := newTower(Handler{Settings: json.RawMessage(`{"port":1}`), Secrets: where}, `{"type":"object","properties":{"port":{"type":"integer"},"password":{"type":"string","pattern":"^h"}},"required":["password"]}`, nil)
	if p, why := x.post(x.cfg.Handlers[0]); p != nil || !strings.HasPrefix(why, "handler.tower.secrets.password: open ") {
		t.Errorf("%v, %s", p, why)
	}
	write := func(text string) {
		if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	two, _ := json.Marshal(map[string]string{"password": at, "key": at + "2"})
	h := x.cfg.Handlers[0]
	h.Secrets = two
	if _, why := x.post(h); !strings.Contains(why, "handler.tower.secrets.key: open ") || !strings.Contains(why, "; handler.tower.secrets.password: open ") {
		t.Errorf("of two that are not there: %s", why)
	}
	write("swordfish\n")
	if p, why := x.post(x.cfg.Handlers[0]); p != nil || why != "settings.password: is not as the handler's schema wants it; it is a secret, and not shown" || strings.Contains(why, "swordfish") {
		t.Errorf("%v, %s", p, why)
	}
	write("hunter2\n")
	p, why := x.post(x.cfg.Handlers[0])
	if p == nil || string(p.settings) != `{"password":"hunter2","port":1}` {
		t.Fatalf("%v, %s", p, why)
	}
	if got := p.hide("a hunter2 b"); got != "a (secret) b" {
		t.Error(got)
	}
	p.concealed.Add(`hunter2"&<more>`)
	for _, text := range []string{`hunter2"&<more>`, `is "hunter2\"&<more>"`, `{"p":"hunter2\"\u0026\u003cmore\u003e"}`, "?p=hunter2%22%26%3Cmore%3E", "aHVudGVyMiImPG1vcmU+"} {
		if got := p.hide(text); strings.Contains(got, "more") || strings.Contains(got, "hunter") || strings.Contains(got, "aHV") {
			t.Errorf("%s: %s", text, got)
		}
	}
}

// TestPercept: what a handler emits is a text, an object or an image, and says who it comes from in what can be read.
func TestPercept(t *testing.T) {
	for _, c := range []struct {
		ask  abi.PerceptionAsk
		want string // format and body
		code abi.Code
	}{
		{abi.PerceptionAsk{Body: json.RawMessage(`"hi"`)}, `text "hi"`, ""},
		{abi.PerceptionAsk{Body: json.RawMessage(`{"a":1}`)}, `object {"a":1}`, ""},
		{abi.PerceptionAsk{Image: []byte("abc"), MediaType: "image/png"}, `image "data:image/png;base64,YWJj"`, ""},
		{abi.PerceptionAsk{Image: []byte("abc"), Body: json.RawMessage(`1`)}, "", abi.CodeInvalid},
		{abi.PerceptionAsk{Body: json.RawMessage(`7`)}, "", abi.CodeInvalid},
		{abi.PerceptionAsk{Body: json.RawMessage(`[{"a":1}]`)}, "", abi.CodeInvalid},
		{abi.PerceptionAsk{Body: json.RawMessage(` true`)}, "", abi.CodeInvalid},
		{abi.PerceptionAsk{Body: json.RawMessage(`null`)}, "", abi.CodeInvalid},
		{abi.PerceptionAsk{Body: json.RawMessage(` {"a":1}`)}, `object  {"a":1}`, ""},
		{abi.PerceptionAsk{}, `object `, ""},
		{abi.PerceptionAsk{Key: strings.Repeat("k", abi.MaxName+1)}, "", abi.CodeInvalid},
		{abi.PerceptionAsk{Key: "a\nb"}, "", abi.CodeInvalid},
	} {
		p, err := percept(c.ask)
		if got := p.Format + " " + string(p.Body); abi.CodeOf(err) != c.code && err != nil || err == nil && (got != c.want || c.code != "") {
			t.Errorf("%+v: %s, %v", c.ask, got, err)
		}
	}
	if got := shortName(" あ" + strings.Repeat("い", 40) + "\x00"); len(got) > abi.MaxName || !strings.HasPrefix(got, "あい") {
		t.Error(got)
	}
}

// TestShown: what entries show of a companion, and nothing of others.
func TestShown(t *testing.T) {
	voice := []entry.Beat{{Bytes: 2, MS: 400}, {Bytes: 3, MS: 350}}
	for _, c := range []struct {
		kind entry.Kind
		body any
		want string
	}{
		{entry.KindSegment, entry.Segment{Grant: "g-1", Who: "aya", N: 2, Text: "Hi.", Voice: voice, Emotion: "joy"}, "[piece g-1 2 Hi. happy 0.75 ]"},
		{entry.KindSegment, entry.Segment{Grant: "g-1", Who: "kyoko", N: 2, Text: "Hi."}, "[]"},
		{entry.KindSaid, entry.Said{From: "aya", Kind: abi.KindTurn, Grant: "g-1", Text: "Hi. Ho.", Segments: 2, Played: true}, "[whole g-1 2 Hi. Ho.  0 ]"},
		{entry.KindSaid, entry.Said{From: "aya", Kind: abi.KindTurn, Text: "Hi.", Voice: voice}, "[piece m-1 1 Hi. neutral 0.75  whole m-1 1 Hi.  0  end m-1 0 Hi.  0 said]"},
		{entry.KindSaid, entry.Said{From: "aya", Kind: abi.KindTurn, Text: "Hi.", Broken: "no model"}, "[piece m-1 1 Hi. neutral 0  whole m-1 1 Hi.  0  end m-1 0 Hi.  0 failed]"},
		{entry.KindSaid, entry.Said{From: "aya", Kind: abi.KindTurn, Text: "Hi.", Broken: "x", Ends: entry.EndStopped, Segments: 1}, "[whole m-1 1 Hi.  0  end m-1 0 Hi.  0 stopped]"},
		{entry.KindSaid, entry.Said{From: "aya", Kind: abi.KindBackchannel, Text: "Mm."}, "[]"},
		{entry.KindPlayed, entry.Played{Line: "g-1", Who: "aya", Part: 1, Seconds: 1.5}, "[starts g-1 1   1.5 ]"},
		{entry.KindSound, entry.Sound{Line: "g-1", Who: "aya", Part: 2, Blob: "ab", Mouth: "cd", Seconds: 2}, "[sound g-1 2   2 ]"},
		{entry.KindPlayed, entry.Played{Line: "g-1", Who: "aya", Part: 1}, "[]"},
		{entry.KindHeard, entry.Heard{Line: "g-1", Who: "aya", End: entry.EndCut, Text: "Hi"}, "[end g-1 0 Hi  0 cut]"},
		{entry.KindStop, entry.Stop{}, "[stop  0   0 ]"},
		{entry.KindVote, entry.Voted{}, "[]"},
	} {
		e, err := entry.Entry{Seq: 7, Kind: c.kind, ID: "m-1", V: entry.Version}.WithBody(c.body)
		if err != nil {
			t.Fatal(err)
		}
		all := []string{}
		for _, s := range shown(e, "aya") {
			all = append(all, fmt.Sprint(s.Kind, " ", s.Line, " ", s.Part, " ", s.Text, " ", s.Emotion, " ", s.Seconds, " ", s.End))
			if s.Seq != 7 {
				t.Errorf("%+v", s)
			}
		}
		if got := fmt.Sprint(all); got != c.want {
			t.Errorf("%s: %s, want %s", c.kind, got, c.want)
		}
	}
}

// TestShowIsBounded: of what waits too long for a slow handler the oldest is left out, and the log says so once.
func TestShowIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		let := make(chan struct{})
		x := newTower(Handler{}, "", func(context.Context, abi.Request) error { <-let; return nil }, abi.OpShow)
		p, _ := x.post(x.cfg.Handlers[0])
		ctx, cancel := context.WithCancel(t.Context())
		var beside sync.WaitGroup
		var now atomic.Pointer[post]
		now.Store(p)
		w := x.newShow(ctx, &beside, room{}, &now, "aya", slog.New(slog.DiscardHandler))
		stop := func() {
			e, _ := entry.Entry{Kind: entry.KindStop, V: entry.Version}.WithBody(entry.Stop{})
			w.take(e)
		}
		stop()
		synctest.Wait() // it is being shown
		for range 2 * mostShown {
			stop()
		}
		if n := len(w.waiting); n != mostShown || !w.lost {
			t.Errorf("%d wait, %v", n, w.lost)
		}
		close(let)
		synctest.Wait()
		if len(x.asked) != 2 || strings.Count(x.asked[1], `"kind":"stop"`) != mostShown || !strings.HasPrefix(x.asked[0], `show {"companion":"aya","name":"Aya","voice":{"speaker":3},`) {
			t.Errorf("%d calls, %.100s", len(x.asked), x.asked)
		}
		cancel()
		beside.Wait()
	})
}

// room is one of which the name alone is asked.
type room struct{ rooms.Room }

func (room) Name() string { return "main" }

// broken is a room that cannot be followed.
type broken struct {
	room
	followed int
}

func (*broken) Entries(context.Context, uint64, int) ([]entry.Entry, uint64, error) {
	return nil, 0, nil
}

func (r *broken) Follow(context.Context, uint64, func([]entry.Entry) error) error {
	r.followed++
	return abi.Errorf(abi.CodeUnavailable, "the journal cannot be read")
}

// TestARoomThatCannotBeFollowed is tried again, and holds nothing up.
func TestARoomThatCannotBeFollowed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x, r := newTower(Handler{}, "", nil, abi.OpShow), new(broken)
		x.cfg.Home = func(context.Context, string) (rooms.Room, error) { return r, nil }
		ctx, cancel := context.WithCancel(t.Context())
		go func() { _ = x.Run(ctx) }()
		time.Sleep(5500 * time.Millisecond)
		synctest.Wait()
		if r.followed != 6 {
			t.Errorf("followed %d times", r.followed)
		}
		cancel()
		synctest.Wait()
	})
}
