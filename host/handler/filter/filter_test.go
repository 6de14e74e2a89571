package filter_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/handler/filter"
	"github.com/companiond/companiond/host/logtest"
	"github.com/companiond/companiond/host/module"
	"github.com/companiond/companiond/host/secret/hide"
)

// mod is a module made of a function.
type mod struct {
	desc       abi.Description
	generation uint64
	answers    func(ctx context.Context, req abi.Request) (string, error)
	asked      []abi.Request
	blamed     []error
}

func (m *mod) Describe() abi.Description { return m.desc }
func (m *mod) Generation() uint64        { return m.generation }
func (m *mod) Blame(_ string, err error) { m.blamed = append(m.blamed, err) }
func (m *mod) Call(ctx context.Context, req abi.Request) (json.RawMessage, error) {
	m.asked = append(m.asked, req)
	got, err := m.answers(ctx, req)
	return json.RawMessage(got), err
}

// says is a module that answers both ops with a JSON.
func says(answer string) *mod {
	return &mod{generation: 1, desc: abi.Description{Kind: abi.Handler, Ops: []string{abi.OpDescribe, abi.OpLine, abi.OpSense}},
		answers: func(context.Context, abi.Request) (string, error) { return answer, nil }}
}

// hangs is one that never answers.
func hangs() *mod {
	m := says("")
	m.answers = func(ctx context.Context, _ abi.Request) (string, error) {
		<-ctx.Done()
		return "", &module.Fault{Kind: module.FaultTimeout, Cause: ctx.Err()}
	}
	return m
}

// house are modules by id.
type house map[string]*mod

func (h house) filter(t *testing.T, handlers ...filter.Handler) (*filter.Filter, *logtest.Log) {
	t.Helper()
	var log logtest.Log
	for i := range handlers {
		handlers[i].Companions = append(handlers[i].Companions, "aya")
		if handlers[i].Module == "" {
			handlers[i].Module = handlers[i].Name
		}
	}
	n := 0
	return filter.New(filter.Config{
		Handlers: handlers, Log: log.Logger(),
		Module: func(id string) (filter.Module, bool) { m, ok := h[id]; return m, ok },
		NewID:  func() string { n++; return fmt.Sprint("call", n) },
		Fits: func(companion string, p abi.Percept) error {
			if strings.Contains(string(p.Body), "misfit") {
				return abi.Field("body", abi.CodeInvalid, "%s does not perceive that", companion)
			}
			return nil
		},
	}), &log
}

// did are the steps in short.
func did(steps []entry.Step) (all []string) {
	for _, s := range steps {
		one := s.Handler + " " + s.Did
		if s.Reason != "" {
			one += ": " + s.Reason
		}
		all = append(all, one)
	}
	return all
}

func text(s string) abi.Percept {
	body, _ := json.Marshal(s)
	return abi.Percept{Title: "chat.line", Format: "text", Body: body}
}

// TestTheyAreAskedInOrder: by the order, then by name, each about what the one before left; behind a refusal nobody.
func TestTheyAreAskedInOrder(t *testing.T) {
	add := func(sign string) *mod {
		m := says("")
		m.answers = func(_ context.Context, req abi.Request) (string, error) {
			var l abi.Lining
			if err := json.Unmarshal(req.Data, &l); err != nil {
				return "", err
			}
			b, err := json.Marshal(abi.Lined{Text: l.Text + sign})
			return string(b), err
		}
		return m
	}
	h := house{"a": add("a"), "b": add("b"), "c": add("c"), "pass": says("{}"), "no": says(`{"refuse":"it is rude"}`), "other": add("never")}
	f, _ := h.filter(t, filter.Handler{Name: "b"}, filter.Handler{Name: "a", Order: 2}, filter.Handler{Name: "c"}, filter.Handler{Name: "pass", Order: 1})
	said, steps, refused := f.Line(t.Context(), "aya", "main", "x")
	if want := []string{"b changed", "c changed", "pass passed", "a changed"}; said != "xbca" || refused != "" || !reflect.DeepEqual(did(steps), want) {
		t.Errorf("%q, %q, %q", said, did(steps), refused)
	}
	if r := h["a"].asked[0]; r.Op != abi.OpLine || r.Self != "a" || r.Room != "main" || r.ID == "" || r.V != abi.Version || r.Now.IsZero() {
		t.Errorf("asked %+v", r)
	}
	f, _ = h.filter(t, filter.Handler{Name: "b"}, filter.Handler{Name: "no", Order: 1}, filter.Handler{Name: "a", Order: 2})
	_, steps, refused = f.Line(t.Context(), "aya", "main", "x")
	if want := []string{"b changed", "no refused: it is rude"}; refused != "refused by no: it is rude" || !reflect.DeepEqual(did(steps), want) {
		t.Errorf("%q, %q", did(steps), refused)
	}
	if said, steps, _ := f.Line(t.Context(), "kyoko", "main", "x"); said != "x" || steps != nil {
		t.Errorf("of another companion: %q, %+v", said, steps)
	}
}

// TestWhoHangs is waited for two seconds, and then passed over or taken for one that refuses; of several each has its two.
func TestWhoHangs(t *testing.T) {
	for fail, want := range map[string][]string{
		"skip": {"slow failed: it did not answer within 2s", "slower failed: it did not answer within 2s", "then passed"},
		"stop": {"slow failed: it did not answer within 2s"},
	} {
		t.Run(fail, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := house{"slow": hangs(), "slower": hangs(), "then": says("{}")}
				f, log := h.filter(t, filter.Handler{Name: "slow", Fail: fail}, filter.Handler{Name: "slower"}, filter.Handler{Name: "then"})
				begun := time.Now()
				said, steps, refused := f.Line(t.Context(), "aya", "main", "x")
				if took := time.Since(begun); took != time.Duration(len(want)+1)/2*filter.Patience || steps[0].MS != 2000 {
					t.Errorf("it took %v, steps %+v", took, steps)
				}
				if said != "x" || !reflect.DeepEqual(did(steps), want) || (refused != "") != (fail == "stop") {
					t.Errorf("%q, %q, %q", said, did(steps), refused)
				}
				if fail == "stop" && refused != "refused by slow: it did not answer within 2s" || !strings.Contains(log.String(), "handler=slow") {
					t.Errorf("%q; %s", refused, log.String())
				}
			})
		})
	}
}

// TestWhoeverAsksMayGiveUp: the call ends with it, and no further handler is asked.
func TestWhoeverAsksMayGiveUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := house{"slow": hangs(), "then": says("{}")}
		f, _ := h.filter(t, filter.Handler{Name: "slow", Fail: "stop"}, filter.Handler{Name: "then"})
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		begun := time.Now()
		_, steps, refused := f.Line(ctx, "aya", "main", "x")
		if time.Since(begun) != time.Second || len(steps) != 1 || refused != "" || len(h["then"].asked) != 0 {
			t.Errorf("after %v: %q, %q", time.Since(begun), did(steps), refused)
		}
	})
}

// TestNonsense is a failure, and its module's.
func TestNonsense(t *testing.T) {
	for answer, why := range map[string]string{
		`[]`:                              "the answer is no object",
		`{"text":7}`:                      "the answer is no object",
		`{"refuse":"no","text":"y"}`:      "it has both refuse and text",
		`{"text":"a\u0007"}`:              "a control character",
		`{"text":"\u202e"}`:               "turns the text",
		`{"text":"` + long(70000) + `"}`:  "at most",
		`{"text":" "}`:                    "must not be empty",
		`{"refuse":"no","text":"same x"}`: "it has both",
	} {
		h := house{"odd": says(answer)}
		f, _ := h.filter(t, filter.Handler{Name: "odd"})
		said, steps, refused := f.Line(t.Context(), "aya", "main", "x")
		if said != "x" || refused != "" || len(steps) != 1 || steps[0].Did != entry.DidFail || !strings.Contains(steps[0].Reason, why) || len(h["odd"].blamed) != 1 {
			t.Errorf("%.40s: %q, %q, %q, blamed %v", answer, said, did(steps), refused, h["odd"].blamed)
		}
	}
}

func long(n int) string { return strings.Repeat("a", n) }

// TestAModuleBreaksDown: what it is in the journal, in words that may be shown.
func TestAModuleBreaksDown(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{&module.Fault{Kind: module.FaultTrap, Cause: errors.New("unreachable\nstack")}, "it broke down: trap"},
		{abi.Errorf(abi.CodeUnavailable, "set aside\n\x1b[31muntil \u202enoon"), "set aside  [31muntil noon"},
	} {
		m := says("")
		m.answers = func(context.Context, abi.Request) (string, error) { return "", c.err }
		f, _ := house{"bad": m}.filter(t, filter.Handler{Name: "bad", Fail: "stop"})
		_, steps, refused := f.Line(t.Context(), "aya", "main", "x")
		if want := strings.ReplaceAll(c.want, "  ", " "); len(steps) != 1 || strings.ReplaceAll(steps[0].Reason, "  ", " ") != want || refused != "refused by bad: "+steps[0].Reason || len(m.blamed) != 0 {
			t.Errorf("%q, %q, blamed %v", did(steps), refused, m.blamed)
		}
	}
}

// TestWhoIsAsked: who answers the op, is loaded, and has settings that its schema allows.
func TestWhoIsAsked(t *testing.T) {
	lamp := says("{}")
	lamp.desc.Ops = []string{abi.OpDescribe, abi.OpAct}
	character := says(`{"refuse":"never asked"}`)
	character.desc.Kind = ""
	picky := says("{}")
	picky.desc.Settings = json.RawMessage(`{"type":"object","properties":{"n":{"type":"number"}}}`)
	h := house{"lamp": lamp, "character": character, "picky": picky}
	for _, c := range []struct {
		h    filter.Handler
		want []string
	}{
		{filter.Handler{Name: "lamp"}, nil},
		{filter.Handler{Name: "lamp", Fail: "stop"}, nil},
		{filter.Handler{Name: "character", Fail: "stop"}, nil},
		{filter.Handler{Name: "gone"}, nil}, // nobody knows that it filters
		{filter.Handler{Name: "gone", Fail: "stop"}, []string{"gone failed: its module is not loaded"}},
		{filter.Handler{Name: "picky", Settings: json.RawMessage(`{"n":1}`)}, []string{"picky passed"}},
		{filter.Handler{Name: "picky", Settings: json.RawMessage(`{"n":"x"}`)}, []string{"picky failed: settings.n: is a string, must be a number"}},
	} {
		f, _ := h.filter(t, c.h)
		_, steps, refused := f.Line(t.Context(), "aya", "main", "x")
		if !reflect.DeepEqual(did(steps), c.want) || (refused != "") != (len(steps) > 0 && c.h.Fail == "stop") {
			t.Errorf("%+v: %q, %q", c.h, did(steps), refused)
		}
	}
	if len(character.asked)+len(lamp.asked) > 0 {
		t.Error("somebody was asked who does not filter")
	}
}

// TestNoModuleWaitsForItself: in a call of its own it is not asked, and the others are.
func TestNoModuleWaitsForItself(t *testing.T) {
	source, other := says(`{"refuse":"never asked"}`), says("{}")
	f, _ := house{"source": source, "other": other}.filter(t, filter.Handler{Name: "first", Module: "source", Fail: "stop"}, filter.Handler{Name: "other"}, filter.Handler{Name: "second", Module: "source"})
	ctx := module.During(t.Context(), "source")
	if _, steps, refused := f.Sense(ctx, "aya", "main", text("x")); refused != "" || !reflect.DeepEqual(did(steps), []string{"other passed"}) {
		t.Errorf("sense: %q, %q", did(steps), refused)
	}
	if _, steps, refused := f.Line(ctx, "aya", "main", "x"); refused != "" || !reflect.DeepEqual(did(steps), []string{"other passed"}) {
		t.Errorf("line: %q, %q", did(steps), refused)
	}
	if _, _, refused := f.Line(t.Context(), "aya", "main", "x"); refused == "" || len(source.asked) != 1 {
		t.Errorf("in no call of its: %q, asked %d times", refused, len(source.asked))
	}
}

// TestAModuleGoesAndComes: it is known to filter while it is away, and what the next one answers counts.
func TestAModuleGoesAndComes(t *testing.T) {
	first := says("{}")
	h := house{"m": first}
	f, log := h.filter(t, filter.Handler{Name: "m", Settings: json.RawMessage(`{}`)})
	line := func() string {
		_, steps, _ := f.Line(t.Context(), "aya", "main", "x")
		return strings.Join(did(steps), ", ")
	}
	if got := line(); got != "m passed" {
		t.Error(got)
	}
	delete(h, "m")
	for range 3 {
		if got := line(); got != "m failed: its module is not loaded" {
			t.Error(got)
		}
	}
	if n := strings.Count(log.String(), "cannot be asked"); n != 1 {
		t.Errorf("the log was told %d times", n)
	}
	next := says("{}")
	next.generation, next.desc.Ops = 2, []string{abi.OpDescribe, abi.OpSense}
	h["m"] = next
	if got := line(); got != "" {
		t.Error(got)
	}
	if _, steps, _ := f.Sense(t.Context(), "aya", "main", text("x")); len(steps) != 1 {
		t.Errorf("%+v", steps)
	}
}

// TestOn limits perceptions, and words never.
func TestOn(t *testing.T) {
	for title, asked := range map[string]bool{"chat.line": true, "chat.gift": true, "chat/line": false, "camera": true, "cameras": false} {
		f, _ := house{"m": says(`{"refuse":"no"}`)}.filter(t, filter.Handler{Name: "m", On: []string{"chat.*", "camera"}})
		p := text("x")
		p.Title = title
		if _, steps, refused := f.Sense(t.Context(), "aya", "main", p); (len(steps) == 1) != asked || (refused != "") != asked {
			t.Errorf("%s: %q", title, did(steps))
		}
		if _, steps, _ := f.Line(t.Context(), "aya", "main", "x"); len(steps) != 1 {
			t.Errorf("words: %q", did(steps))
		}
	}
}

// TestABodyKeepsItsShape: an object stays one, and a text; what does not fit the card is none, and an image has none.
func TestABodyKeepsItsShape(t *testing.T) {
	object := abi.Percept{Title: "gift", Format: "object", Body: json.RawMessage(`{"yen":100}`)}
	image := abi.Percept{Title: "view", Format: "image", Image: []byte("png"), MediaType: "image/png"}
	for _, c := range []struct {
		p      abi.Percept
		answer string
		want   string // of the body, empty: as it was
		why    string
	}{
		{text("x"), `{"body":"y"}`, `"y"`, ""},
		{text("x"), `{"body":"x"}`, "", ""},
		{text("x"), `{"body":null}`, "", ""},
		{text("x"), `{"body": {"a":1}}`, "", "is an object in place of a text"},
		{text("x"), `{"body":"a misfit"}`, "", "aya does not perceive that"},
		{object, `{"body":  {"yen":1} }`, `{"yen":1}`, ""},
		{object, `{"body":[1]}`, "", "is an array in place of an object"},
		{object, `{"body":7}`, "", "is a number or a word in place of an object"},
		{object, `{"body":{"yen":1},"refuse":"no"}`, "", "it has both"},
		{image, `{"body":"y"}`, "", "an image can be refused, and not changed"},
		{image, `{}`, "", ""},
	} {
		m := says(c.answer)
		f, _ := house{"m": m}.filter(t, filter.Handler{Name: "m"})
		got, steps, refused := f.Sense(t.Context(), "aya", "main", c.p)
		want := c.want
		if want == "" {
			want = string(c.p.Body)
		}
		failed := c.why != ""
		if string(got.Body) != want || refused != "" || (steps[0].Did == entry.DidFail) != failed || (steps[0].Did == entry.DidChange) != (c.want != "") ||
			!strings.Contains(steps[0].Reason, c.why) || (len(m.blamed) == 1) != failed {
			t.Errorf("%s: %s, %q, blamed %v", c.answer, got.Body, did(steps), m.blamed)
		}
		var asked abi.Sensing
		if err := json.Unmarshal(m.asked[0].Data, &asked); err != nil || asked.Companion != "aya" || asked.Perception.Title != c.p.Title {
			t.Errorf("asked %s, %v", m.asked[0].Data, err)
		}
	}
}

// TestReasons are one line of at most 200 bytes that shows, whatever a module answers.
func TestReasons(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		why := rapid.String().Draw(t, "why")
		raw, _ := json.Marshal(abi.Lined{Refuse: why})
		m := says(string(raw))
		f := filter.New(filter.Config{Handlers: []filter.Handler{{Name: "m", Module: "m", Companions: []string{"*"}}}, Log: new(logtest.Log).Logger(),
			Module: func(string) (filter.Module, bool) { return m, true }, NewID: func() string { return "x" }})
		_, steps, refused := f.Line(context.Background(), "aya", "main", "x")
		if why == "" {
			if steps[0].Did != entry.DidPass {
				t.Fatalf("%+v", steps)
			}
			return
		}
		got := steps[0].Reason
		if steps[0].Did != entry.DidRefuse || refused != "refused by m: "+got || len(got) > entry.MaxReason || strings.ContainsAny(got, "\n\t\r\x1b\u202e\u2028") {
			t.Fatalf("%q became %q", why, got)
		}
	})
}

// TestNobodyFilters: a filter that is not there lets all pass.
func TestNobodyFilters(t *testing.T) {
	var f *filter.Filter
	if said, steps, refused := f.Line(t.Context(), "aya", "main", "x"); said != "x" || steps != nil || refused != "" {
		t.Error(said, steps, refused)
	}
	if p, steps, refused := f.Sense(t.Context(), "aya", "main", text("x")); string(p.Body) != `"x"` || steps != nil || refused != "" {
		t.Error(p, steps, refused)
	}
}

// TestAHandlerTellsNoSecretOfItsOwn: neither in the words that it leaves, nor in a body, nor in why it refuses; what the companion
// says by itself, or perceives, is no secret of the handler's.
func TestAHandlerTellsNoSecretOfItsOwn(t *testing.T) {
	secrets := new(hide.Secrets)
	secrets.Add("hunter2")
	for _, c := range []struct{ answer, was, words, why string }{
		{`{"text":"it is hunter2","body":"it is hunter2"}`, "x", "it is (secret)", ""},
		{`{"text":"it is hun\u200bter2","body":"it is hun\u200bter2"}`, "x", "it is (secret)", ""},
		{`{"text":"a hunter2 ***","body":"a hunter2 ***"}`, "a hunter2 xyz", "a hunter2 ***", ""},
		{`{"refuse":"not hun\u034fter2"}`, "x", "x", "refused by m: not (secret)"},
		{`{"refuse":"` + strings.Repeat("y", 193) + ` hunter2"}`, "x", "x", "refused by m: " + strings.Repeat("y", 193) + " (se…"},
	} {
		m := says(c.answer)
		f := filter.New(filter.Config{
			Handlers: []filter.Handler{{Name: "m", Module: "m", Companions: []string{"aya"}}}, Log: new(logtest.Log).Logger(),
			Module: func(string) (filter.Module, bool) { return m, true }, NewID: func() string { return "1" },
			Settings: func(filter.Handler) (json.RawMessage, *hide.Secrets, error) { return nil, secrets, nil },
		})
		if said, _, why := f.Line(t.Context(), "aya", "main", c.was); said != c.words || why != c.why {
			t.Errorf("%s: %q, %q", c.answer, said, why)
		}
		want, _ := json.Marshal(c.words)
		if p, _, why := f.Sense(t.Context(), "aya", "main", text(c.was)); string(p.Body) != string(want) || why != c.why {
			t.Errorf("%s: %s, %q", c.answer, p.Body, why)
		}
	}
}

// TestASecretThatComesLate: what a handler is told is asked for again where it could not be had, and till then one that stops is
// asked about no more than it filters.
func TestASecretThatComesLate(t *testing.T) {
	m := says(`{}`)
	m.desc.Ops = []string{abi.OpSense}
	m.desc.Settings = json.RawMessage(`{"type":"object"}`)
	missing := errors.New("no such file")
	var log logtest.Log
	f := filter.New(filter.Config{
		Handlers: []filter.Handler{{Name: "guard", Module: "guard", Companions: []string{"aya"}, Fail: "stop"}}, Log: log.Logger(),
		Module: func(string) (filter.Module, bool) { return m, true }, NewID: func() string { return "1" },
		Settings: func(filter.Handler) (json.RawMessage, *hide.Secrets, error) {
			return nil, nil, missing
		},
	})
	if _, steps, refused := f.Line(t.Context(), "aya", "main", "hi"); len(steps) > 0 || refused != "" {
		t.Errorf("%q, %s", did(steps), refused)
	}
	if _, steps, refused := f.Sense(t.Context(), "aya", "main", text("hi")); refused != "refused by guard: no such file" {
		t.Errorf("%q, %s", did(steps), refused)
	}
	missing = nil
	if _, steps, refused := f.Sense(t.Context(), "aya", "main", text("hi")); refused != "" || len(m.asked) != 1 {
		t.Errorf("%q, %s", did(steps), refused)
	}
}
