package emotion_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/companiond/companiond/host/emotion"
)

func TestNamed(t *testing.T) {
	for name, want := range map[string]emotion.Word{
		"happy": emotion.Happy, "Joy": emotion.Happy, "[smile]": emotion.Happy, "喜び": emotion.Happy, "【楽しい】": emotion.Happy,
		"ANGER": emotion.Angry, "怒り": emotion.Angry, "悲しい": emotion.Sad, " sorrow ": emotion.Sad, "calm": emotion.Relaxed, "穏やか": emotion.Relaxed,
		"surprise": emotion.Surprised, "びっくり": emotion.Surprised, "びっくり！": emotion.Surprised,
		"": emotion.Neutral, "neutral": emotion.Neutral, "smug": emotion.Neutral, "😀": emotion.Neutral, "happy.exp3": emotion.Neutral,
	} {
		if got := emotion.Named(name); got != want {
			t.Errorf("%q is %s, want %s", name, got, want)
		}
	}
	for _, w := range emotion.Words() {
		if emotion.Named(string(w)) != w {
			t.Errorf("%s is not itself", w)
		}
	}
}

func TestOf(t *testing.T) {
	for parameters, want := range map[string]emotion.Word{
		`{"message":"hi","emotion":"joy"}`:                 emotion.Happy,
		`{"message":"hi","expression":"怒り"}`:               emotion.Angry,
		`{"emotion":"sad","expression":"happy"}`:           emotion.Sad,
		`{"emotion":"","expression":"happy"}`:              emotion.Happy,
		`{"emotion":{"name":"surprised","intensity":0.4}}`: emotion.Surprised,
		`{"emotion":{"type":"calm"}}`:                      emotion.Relaxed,
		`{"message":"I am so angry"}`:                      emotion.Neutral,
		`{"emotion":7}`:                                    emotion.Neutral,
		`{"emotion":["happy"]}`:                            emotion.Neutral,
		`[]`:                                               emotion.Neutral, ``: emotion.Neutral, `null`: emotion.Neutral, `{`: emotion.Neutral,
	} {
		if got := emotion.Of(json.RawMessage(parameters)); got != want {
			t.Errorf("%s is %s, want %s", parameters, got, want)
		}
	}
}

// Whatever is in the parameters, one of the six comes of it.
func FuzzOf(f *testing.F) {
	f.Add([]byte(`{"emotion":"joy"}`))
	f.Add([]byte(`{"emotion":{"name":7}}`))
	f.Fuzz(func(t *testing.T, parameters []byte) {
		if w := emotion.Of(parameters); !slices.Contains(emotion.Words(), w) {
			t.Fatalf("%q", w)
		}
	})
}

// Tags are words for emotions in brackets, and nothing else is.
func TestStrip(t *testing.T) {
	for text, want := range map[string]struct {
		rest string
		word emotion.Word
	}{
		"[happy] Hi!": {"Hi!", emotion.Happy}, "Hi [happy] there": {"Hi there", emotion.Happy}, "Hi[sad].": {"Hi.", emotion.Sad},
		"［喜び］やあ": {"やあ", emotion.Happy}, "[x] [neutral] a": {"[x] a", emotion.Neutral}, "[happy": {"[happy", ""}, "[]": {"[]", ""}, "(happy)": {"(happy)", ""},
		"[happy][sad] Both": {"Both", emotion.Happy}, "": {"", ""},
	} {
		if rest, word := emotion.Strip(text); rest != want.rest || word != want.word {
			t.Errorf("%q: %q, %s", text, rest, word)
		}
	}
	if rest, word := emotion.Lead("  [Joy]  Hi [sad]"); rest != "Hi [sad]" || word != emotion.Happy {
		t.Errorf("%q, %s", rest, word)
	}
	if rest, word := emotion.Lead("Hi [sad]"); rest != "Hi [sad]" || word != "" {
		t.Errorf("%q, %s", rest, word)
	}
}

// FuzzStrip: what is left has no tag, and of a text without brackets all is.
func FuzzStrip(f *testing.F) {
	f.Add("[happy] Hi [x]")
	f.Add("[[happy]")
	f.Fuzz(func(t *testing.T, text string) {
		rest, word := emotion.Strip(text)
		if !strings.ContainsAny(text, "[［") && (rest != text || word != "") {
			t.Fatalf("%q", rest)
		}
		if len(rest) > len(text) || word == "" && rest != text {
			t.Fatalf("%q of %q", rest, text)
		}
	})
}
