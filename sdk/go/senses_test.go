package companion_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/companiond/companiond/abi"
	companion "github.com/companiond/companiond/sdk/go"
)

var vision = companion.Perceiving{Perception: abi.Percept{Title: "vision", Format: "text", Body: json.RawMessage(`"a cat"`)}}

// senser perceives with do.
func senser(do func(h *companion.Host, p companion.Perceiving) companion.Judgement) *companion.Local {
	return companion.NewLocal(companion.Character{Name: "Senser", Card: `{"name":"Senser"}`, Perceive: do})
}

func TestDescribeSenses(t *testing.T) {
	c := companion.Character{
		Name: "Momo", Several: true, Card: `{"name":"Momo","actions":[{"title":"nod"}]}`,
		Perceive: func(*companion.Host, companion.Perceiving) companion.Judgement { return companion.Judgement{} },
		Result:   func(*companion.Host, companion.Result) {},
	}
	d, err := companion.NewLocal(c).Describe()
	if err != nil || string(d.Card) != c.Card || !d.Several || !slices.Equal(d.Ops, []string{"describe", "perceive", "result"}) {
		t.Errorf("%+v, %v", d, err)
	}
	c.Card = `{"name":`
	if d, err := companion.NewLocal(c).Describe(); err == nil {
		t.Errorf("a card that is no JSON: %+v", d)
	}
}

// TestPerceive: a judgement comes back, actions go out meanwhile, and their
// outcome is told.
func TestPerceive(t *testing.T) {
	var heard companion.Result
	l := companion.NewLocal(companion.Character{
		Name: "Senser",
		Perceive: func(h *companion.Host, p companion.Perceiving) companion.Judgement {
			first, err := h.Act("wave", nil)
			if err != nil || first.ID != "act-1" {
				t.Errorf("%+v, %v", first, err)
			}
			second, err := h.React(p, "nod", map[string]int{"times": 2})
			if err != nil || second.ID != "act-2" || second.Delivered != 1 {
				t.Errorf("%+v, %v", second, err)
			}
			if _, err := h.Act("nod", func() {}); abi.CodeOf(err) != abi.CodeInvalid {
				t.Errorf("parameters that are no JSON: %v", err)
			}
			return companion.Judgement{Importance: 3, Text: string(p.Perception.Body)}
		},
		Result: func(_ *companion.Host, r companion.Result) { heard = r },
	})
	j, err := l.Perceive(vision)
	if err != nil || j.State != abi.Listen || j.Importance != 3 || j.Text != `"a cat"` {
		t.Errorf("%+v, %v", j, err)
	}
	played, err := json.Marshal(l.Played)
	if want := `[{"action":"wave"},{"action":"nod","parameters":{"times":2},"perception":"vision"}]`; string(played) != want || err != nil {
		t.Errorf("played %s, %v", played, err)
	}
	told := companion.Result{ID: "act-2", Action: "nod", Reason: "a stiff neck"}
	if err := l.Result(told); err != nil || heard != told {
		t.Errorf("heard %+v, %v", heard, err)
	}
}

// A judgement that breaks the rules is the character's error, found at home, and
// one who has no senses does not know the ops.
func TestPerceiveIsChecked(t *testing.T) {
	for _, j := range []companion.Judgement{{State: "shout"}, {State: abi.Speak, Importance: 11}, {Text: "\x00"}} {
		l := senser(func(*companion.Host, companion.Perceiving) companion.Judgement { return j })
		if _, err := l.Perceive(vision); abi.CodeOf(err) != abi.CodeInvalid {
			t.Errorf("%+v: %v", j, err)
		}
	}
	l := companion.NewLocal(companion.Character{Name: "Mute"})
	if _, err := l.Perceive(vision); abi.CodeOf(err) != abi.CodeUnknownOp {
		t.Errorf("perceive: %v", err)
	}
	if err := l.Result(companion.Result{}); abi.CodeOf(err) != abi.CodeUnknownOp {
		t.Errorf("result: %v", err)
	}
}

func TestSayPieces(t *testing.T) {
	l := probe(func(h *companion.Host, _ companion.Scene) companion.Line {
		for text, code := range map[string]abi.Code{"": abi.CodeInvalid, "\x00": abi.CodeInvalid, strings.Repeat("a", abi.MaxText+1): abi.CodeTooLarge} {
			if err := h.Say(text); abi.CodeOf(err) != code {
				t.Errorf("%.10q: %v", text, err)
			}
		}
		if err := h.Say("One. "); err != nil {
			t.Error(err)
		}
		return companion.Say("One. Two.")
	})
	if line, err := l.Speak(companion.Scene{}); err != nil || line.Text != "One. Two." || !slices.Equal(l.Said, []string{"One. "}) {
		t.Errorf("%+v, %v, %q", line, err, l.Said)
	}
}

// TestExpress: how a line is said is with its message, whatever it holds.
func TestExpress(t *testing.T) {
	for _, tc := range []struct {
		how  map[string]any
		want string
	}{
		{nil, `{"message":"Yes!"}`},
		{map[string]any{"emotion": "joy", "volume": 3, "message": "No!"}, `{"emotion":"joy","message":"Yes!","volume":3}`},
		{map[string]any{"emotion": func() {}}, `"json: unsupported type: func()"`},
	} {
		l := probe(func(*companion.Host, companion.Scene) companion.Line {
			return companion.Express(tc.how, "Yes!", "taro")
		})
		if line, err := l.Speak(companion.Scene{}); err != nil || line.Text != "Yes!" || string(line.Parameters) != tc.want || !slices.Equal(line.To, []string{"taro"}) {
			t.Errorf("%v: %+v, %s, %v", tc.how, line, line.Parameters, err)
		}
	}
}

func TestGenerate(t *testing.T) {
	ask := abi.ModelAsk{System: "You see.", Messages: []abi.ModelMessage{{Role: "user", Text: "What?"}}}
	var answer abi.ModelAnswer
	var err error
	l := probe(func(h *companion.Host, _ companion.Scene) companion.Line {
		answer, err = h.Generate(ask)
		return companion.Line{}
	})
	if _, lerr := l.Speak(companion.Scene{}); lerr != nil || abi.CodeOf(err) != abi.CodeUnavailable {
		t.Errorf("without a model: %v, %v", err, lerr)
	}
	l.Model = func(got abi.ModelAsk) (abi.ModelAnswer, error) {
		return abi.ModelAnswer{Text: got.System + got.Messages[0].Text, In: 4, Out: 1}, nil
	}
	if _, lerr := l.Speak(companion.Scene{}); lerr != nil || err != nil || answer.Text != "You see.What?" || answer.In != 4 {
		t.Errorf("%+v, %v, %v", answer, err, lerr)
	}
}
