package spoken

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/model"
	"github.com/companiond/companiond/host/module"
)

// says is a call of the action that is a line.
func says(message string) model.ToolCall {
	args, _ := json.Marshal(map[string]string{"message": message})
	return model.ToolCall{Name: "speak", Arguments: args}
}

// heard is a line whose parts are kept.
func heard(parts *[]string) *Line {
	return New(nil, nil, func(text, _ string) error { *parts = append(*parts, text); return nil })
}

// answer is one answer of a model: text, and then a line by the action.
func answer(t testing.TB, out *Line, text, message string, withHow bool) {
	t.Helper()
	if err := out.Take(text); err != nil {
		t.Fatal(err)
	}
	if err := out.Written([]model.ToolCall{says(message)}); err != nil {
		t.Fatal(err)
	}
	if err := out.Speak(message, withHow); err != nil {
		t.Fatal(err)
	}
}

// What was heard stands, what was not gives way to the action, and nothing is said twice.
func TestTextAndAction(t *testing.T) {
	for _, tc := range []struct {
		text, message string
		withHow       bool
		said, parts   string
	}{
		{"", "Hi! I won.", false, "Hi! I won.", "Hi!| I won."},
		{"", "Hi! I won.", true, "Hi! I won.", ""}, // with how it is said, in one piece
		{"Hi! I won.", "Hi! I won.", true, "Hi! I won.", "Hi!| I won."},
		{"Hi! I won", "Hi! I won.", true, "Hi! I won.", "Hi!| I won|."},
		{"Hi! I won.", "I won.", true, "Hi! I won.", "Hi!| I won."},
		{"I say hi", "Hi!", true, "Hi!", ""},
		{"I say hi", "Hi!", false, "Hi!", "Hi!"},
		{"Sure! ", "Let us go.", true, "Sure! Let us go.", "Sure!| Let us go."},
		{"Thank you all for coming today! I am so", "Thank you all for coming here today! I am so glad.", true, "Thank you all for coming today! I am so", "Thank you all for coming today!| I am so"},
	} {
		var parts []string
		out := heard(&parts)
		answer(t, out, tc.text, tc.message, tc.withHow)
		if err := out.End(); err != nil || out.Said() != tc.said || strings.Join(parts, "|") != tc.parts {
			t.Errorf("%q and %q: said %q in %q, %v", tc.text, tc.message, out.Said(), parts, err)
		}
	}
}

// A second answer goes on where the first ended, and is no repetition of it.
func TestTheNextAnswer(t *testing.T) {
	var parts []string
	out := heard(&parts)
	if err := out.Take("Wait."); err != nil {
		t.Fatal(err)
	}
	if err := out.Written([]model.ToolCall{{Name: "look"}}); err != nil {
		t.Fatal(err)
	}
	answer(t, out, "It is", "It is a cat!", true)
	if err := out.End(); err != nil || out.Said() != "Wait. It is a cat!" || strings.Join(parts, "|") != "Wait.| It is a cat!" {
		t.Errorf("said %q in %q, %v", out.Said(), parts, err)
	}
}

// Whatever a model writes and says by the action: what was heard is how the line begins, and
// the message is in it once at most.
func TestNothingIsSaidTwice(t *testing.T) {
	words := rapid.SliceOfN(rapid.SampledFrom([]string{"one", "two.", "three!", "四です。", "five?", "six"}), 0, 6)
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(words.Draw(t, "text"), " ")
		message := strings.Join(words.Draw(t, "message"), " ")
		switch rapid.IntRange(0, 3).Draw(t, "kind") {
		case 0:
			message = text
		case 1:
			message = text + " " + message
		case 2:
			text += " " + message
		}
		if message = strings.TrimSpace(message); message == "" {
			return
		}
		var parts []string
		out := heard(&parts)
		if rapid.Bool().Draw(t, "in one piece") {
			out.InOnePiece(-1)
		}
		if err := errors.Join(out.Take(text), out.Written([]model.ToolCall{says(message)}), out.Speak(message, rapid.Bool().Draw(t, "how")), out.End()); err != nil {
			t.Fatal(err)
		}
		said, shown := out.Said(), strings.Join(parts, "")
		if !strings.HasPrefix(said, shown) {
			t.Fatalf("%q was shown of %q", shown, said)
		}
		text = strings.TrimSpace(text)
		together := text != "" && (strings.HasPrefix(message, text) || strings.HasSuffix(text, message))
		if together && len(said) > max(len(text), len(message))+1 {
			t.Fatalf("%q and %q: said %q", text, message, said)
		}
		if shown == "" && said != message {
			t.Fatalf("%q and %q: nothing was heard, and %q is said", text, message, said)
		}
	})
}

// A message without words is none, and the floor that is gone ends the talk.
func TestSpeakFails(t *testing.T) {
	if err := New(nil, nil, nil).Speak(" \n", true); err != ErrNoMessage {
		t.Error(err)
	}
	if Says(says(" ")) || !Says(says("x")) || Says(model.ToolCall{Name: "speak", Arguments: []byte("[")}) || Says(model.ToolCall{Name: "move", Arguments: says("x").Arguments}) {
		t.Error("what is a line")
	}
	gone := abi.Errorf(abi.CodeDenied, "gone")
	out := New(nil, nil, func(string, string) error { return gone })
	var ended Ended
	if err := out.Speak("Hi! You.", false); !errors.As(err, &ended) || !errors.Is(err, gone) || out.Lost() != error(gone) {
		t.Errorf("%v, lost %v", err, out.Lost())
	}
	out = New(nil, nil, func(string, string) error { return module.ErrNotGranted })
	if err := errors.Join(out.Take("Hi! You."), out.End()); err != nil || out.Said() != "Hi! You." || out.Lost() != nil {
		t.Errorf("who may not show parts says %q, %v", out.Said(), err)
	}
}

// A vote before the line is not said, where the model may write one.
func TestAVoteBefore(t *testing.T) {
	for text, want := range map[string][]string{
		"speak 7 none": {"speak 7 none", "speak", "7", "none"}, "Listen.": {"Listen.", "Listen", "", ""}, "speaking of cats": nil,
	} {
		got := Vote(text)
		if strings.Join(got, "|") != strings.Join(want, "|") {
			t.Errorf("%q: %q", text, got)
		}
	}
	for _, may := range []bool{true, false} {
		var parts []string
		out := heard(&parts)
		if may {
			out.MayVote()
		}
		if err := errors.Join(out.Take("speak 7 none\nHello!"), out.End()); err != nil || (out.Said() == "Hello!") != may {
			t.Errorf("may vote %v: %q, %v", may, out.Said(), err)
		}
	}
}
