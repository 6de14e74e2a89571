package engine_test

import (
	"context"
	"math"
	"os/exec"
	"strings"
	"testing"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/plugins/voice/engine"
	"github.com/companiond/companiond/plugins/voice/sound"
)

// espeakNG gives the engine, and skips the test where the program is missing.
func espeakNG(t *testing.T, language string) engine.Engine {
	t.Helper()
	if _, err := exec.LookPath("espeak-ng"); err != nil {
		t.Skip("espeak-ng is not installed: apt-get install espeak-ng")
	}
	return made(t, engine.Config{Engine: "espeak-ng", Language: language})
}

func said(t *testing.T, e engine.Engine, text string, v engine.Voice) sound.Clip {
	t.Helper()
	s, err := e.Speak(t.Context(), text, v)
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	loud := 0.0
	for _, x := range s.Clip.Samples {
		loud = max(loud, math.Abs(float64(x)))
	}
	if s.Clip.Rate != 22050 || loud < 0.1 || loud > 1 || s.Clip.Seconds() < 0.2 || s.Clip.Seconds() > 20 {
		t.Errorf("%q: %d a second, %v loud, %v s", text, s.Clip.Rate, loud, s.Clip.Seconds())
	}
	return s.Clip
}

// same says whether two clips are one sound.
func same(a, b sound.Clip) bool { return string(a.WAV()) == string(b.WAV()) }

func TestEspeakSpeaksAsItLooks(t *testing.T) {
	e := espeakNG(t, "")
	if err := e.Ready(t.Context()); err != nil {
		t.Error(err)
	}
	hello := said(t, e, "Hello, how are you today?", engine.Voice{})
	if !same(hello, said(t, e, "Hello, how are you today?", engine.Voice{Speaker: "en-us"})) {
		t.Error("English is not spoken as such")
	}
	konnichiwa := said(t, e, "こんにちは、おげんきですか。", engine.Voice{})
	if !same(konnichiwa, said(t, e, "こんにちは、おげんきですか。", engine.Voice{Speaker: "ja"})) {
		t.Error("Japanese is not spoken as such")
	}
	b, err := exec.Command("espeak-ng", "-v", "ja", "--stdout", "こんにちは、おげんきですか。").Output()
	if err != nil {
		t.Fatal(err)
	}
	if byHand, err := sound.Read(b); err != nil || math.Abs(byHand.Seconds()-konnichiwa.Seconds()) > 0.01 {
		t.Errorf("%v s, by hand %v s, %v", konnichiwa.Seconds(), byHand.Seconds(), err)
	}
	if same(hello, said(t, e, "Hello, how are you today?", engine.Voice{Language: "de"})) || same(hello, said(t, espeakNG(t, "de"), "Hello, how are you today?", engine.Voice{})) {
		t.Error("German is spoken as English is")
	}
	if !same(said(t, e, "你好", engine.Voice{Language: "zh"}), said(t, e, "你好", engine.Voice{Speaker: "cmn"})) {
		t.Error("Chinese is not spoken as such")
	}
}

func TestEspeakSpeaksFasterAndHigher(t *testing.T) {
	e := espeakNG(t, "en")
	const text = "This is a sentence of some length, so that it can be measured."
	usual := said(t, e, text, engine.Voice{}).Seconds()
	if faster := said(t, e, text, engine.Voice{Speed: 2}).Seconds(); faster > 0.7*usual {
		t.Errorf("%v s, twice as fast %v s", usual, faster)
	}
	if slower := said(t, e, text, engine.Voice{Speed: 0.25}).Seconds(); slower < 1.4*usual {
		t.Errorf("%v s, slower %v s", usual, slower)
	}
	if same(said(t, e, text, engine.Voice{Pitch: 0.5}), said(t, e, text, engine.Voice{Pitch: -0.5})) {
		t.Error("pitch changes nothing")
	}
	if !same(said(t, e, text, engine.Voice{Pitch: 1}), said(t, e, text, engine.Voice{Pitch: 3})) {
		t.Error("a pitch beyond its bound is another")
	}
}

// TestEspeakTakesTextAlone: nothing of a text is an option of the program.
func TestEspeakTakesTextAlone(t *testing.T) {
	e := espeakNG(t, "en")
	said(t, e, "-w /nowhere/x.wav", engine.Voice{})
	said(t, e, "--version", engine.Voice{})
}

func TestEspeakFails(t *testing.T) {
	e := espeakNG(t, "en")
	if _, err := e.Speak(t.Context(), "Hello", engine.Voice{Speaker: "nobody"}); abi.CodeOf(err) != abi.CodeNotFound || !strings.Contains(err.Error(), `no voice "nobody": espeak-ng --voices lists them`) {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := e.Speak(ctx, "Hello", engine.Voice{}); abi.CodeOf(err) != abi.CodeTimeout {
		t.Error(err)
	}
}

func TestEspeakIsMissing(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	e := made(t, engine.Config{Engine: "espeak-ng"})
	_, err := e.Speak(t.Context(), "Hello", engine.Voice{})
	for _, err := range []error{err, e.Ready(t.Context())} {
		if abi.CodeOf(err) != abi.CodeUnavailable || !strings.Contains(err.Error(), "install the package espeak-ng") {
			t.Error(err)
		}
	}
}
