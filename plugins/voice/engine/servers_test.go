package engine_test

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/plugins/voice/engine"
)

// TestOpenAI: a server with OpenAI's path is asked for just what a voice says, with the key alone in its header.
func TestOpenAI(t *testing.T) {
	for _, c := range []struct {
		voice engine.Voice
		key   string
		want  string
	}{
		{engine.Voice{}, "", `{"model":"gpt-4o-mini-tts","input":"Hello \"you\" <there>","voice":"alloy","response_format":"wav"}`},
		{engine.Voice{Speaker: "af_bella", Model: "kokoro", Speed: 1.25, Instructions: "Whisper.", Pitch: 0.1}, "sk-1", `{"model":"kokoro","input":"Hello \"you\" <there>","voice":"af_bella","response_format":"wav","speed":1.25,"instructions":"Whisper."}`},
		{engine.Voice{Speed: 9}, "", `{"model":"gpt-4o-mini-tts","input":"Hello \"you\" <there>","voice":"alloy","response_format":"wav","speed":4}`},
		{engine.Voice{Speed: 1}, "", `{"model":"gpt-4o-mini-tts","input":"Hello \"you\" <there>","voice":"alloy","response_format":"wav"}`},
	} {
		address, all := server(t, func(w http.ResponseWriter, _ asked) {
			w.Header().Set("Content-Type", "audio/wav")
			_, _ = w.Write(tone(24000, 0.5).WAV())
		})
		s, err := made(t, engine.Config{Engine: "openai", Address: address + "/v1/", Key: c.key}).Speak(t.Context(), `Hello "you" <there>`, c.voice)
		if err != nil || math.Abs(s.Clip.Seconds()-0.5) > 0.001 || s.Mouth != nil {
			t.Errorf("%+v: %v s, %v, %v", c.voice, s.Clip.Seconds(), s.Mouth, err)
		}
		if len(*all) != 1 {
			t.Fatalf("it is asked %d times", len(*all))
		}
		a := (*all)[0]
		var got, want map[string]any
		if err := json.Unmarshal([]byte(a.Body), &got); err != nil {
			t.Error(err)
		}
		if err := json.Unmarshal([]byte(c.want), &want); err != nil {
			t.Fatal(err)
		}
		bearer := ""
		if c.key != "" {
			bearer = "Bearer " + c.key
		}
		if a.Method != "POST" || a.Path != "/v1/audio/speech" || len(a.Query) != 0 || a.Header.Get("Content-Type") != "application/json" || a.Header.Get("Authorization") != bearer || !reflect.DeepEqual(got, want) {
			t.Errorf("%+v: asked %+v", c.voice, a)
		}
	}
}

// TestOpenAISendsBareSamples: they are of 24,000 a second where the server says nothing else.
func TestOpenAISendsBareSamples(t *testing.T) {
	for kind, seconds := range map[string]float64{"audio/pcm": 1, "audio/pcm; rate=48000": 0.5, "audio/L16;rate=16000": 1.5, "audio/pcm;rate=1": 1} {
		address, _ := server(t, func(w http.ResponseWriter, _ asked) {
			w.Header().Set("Content-Type", kind)
			_, _ = w.Write(tone(24000, 1).WAV()[44:])
		})
		s, err := made(t, engine.Config{Engine: "openai", Address: address}).Speak(t.Context(), "Hello", engine.Voice{})
		if err != nil || math.Abs(s.Clip.Seconds()-seconds) > 0.001 || math.Abs(float64(s.Clip.Samples[27])-0.5) > 0.01 {
			t.Errorf("%s: %v s, %v", kind, s.Clip.Seconds(), err)
		}
	}
}

func TestOpenAIItselfWantsAKey(t *testing.T) {
	e := made(t, engine.Config{Engine: "openai"})
	if err := e.Ready(t.Context()); abi.CodeOf(err) != abi.CodeDenied || !strings.Contains(err.Error(), "write key into the handler's secrets") {
		t.Error(err)
	}
	if _, err := e.Speak(t.Context(), "Hello", engine.Voice{}); abi.CodeOf(err) != abi.CodeDenied { // nobody is asked
		t.Error(err)
	}
	if err := made(t, engine.Config{Engine: "openai", Address: "http://127.0.0.1:8880"}).Ready(t.Context()); err != nil {
		t.Error(err)
	}
}

// vitsTakes are the parameters of Style-Bert-VITS2's path /voice.
var vitsTakes = []string{"text", "encoding", "model_name", "model_id", "speaker_name", "speaker_id", "sdp_ratio", "noise", "noisew", "length", "language", "auto_split", "split_interval", "assist_text", "assist_text_weight", "style", "style_weight", "reference_audio_path"}

func TestStyleBertVITS2(t *testing.T) {
	for _, c := range []struct {
		language string
		voice    engine.Voice
		text     string
		want     string
	}{
		{"", engine.Voice{}, "こんにちは & さようなら", "language=JP"},
		{"", engine.Voice{}, "Hello", "language=EN"},
		{"zh", engine.Voice{}, "你好", "language=ZH"},
		{"ja", engine.Voice{Language: "en"}, "こんにちは", "language=EN"},
		{"", engine.Voice{Speaker: "2", Model: "1", Style: "Happy", StyleWeight: ptr(3), Speed: 1.25, Pitch: 1, Intonation: ptr(1)}, "はい", "language=JP&length=0.8&model_id=1&speaker_id=2&style=Happy&style_weight=3"},
		{"", engine.Voice{Speaker: "あみたろ", Model: "amitaro"}, "はい", "language=JP&model_name=amitaro&speaker_name=あみたろ"},
	} {
		address, all := server(t, func(w http.ResponseWriter, a asked) {
			for name := range a.Query {
				if !strings.Contains(" "+strings.Join(vitsTakes, " ")+" ", " "+name+" ") {
					t.Errorf("there is no parameter %s", name)
				}
			}
			_, _ = w.Write(tone(44100, 0.5).WAV())
		})
		s, err := made(t, engine.Config{Engine: "style-bert-vits2", Address: address, Language: c.language}).Speak(t.Context(), c.text, c.voice)
		if err != nil || math.Abs(s.Clip.Seconds()-0.5) > 0.001 || s.Clip.Rate != 44100 {
			t.Errorf("%+v: %v s, %v", c.voice, s.Clip.Seconds(), err)
		}
		want, err := url.ParseQuery(c.want)
		if err != nil {
			t.Fatal(err)
		}
		want.Set("text", c.text)
		if a := (*all)[0]; len(*all) != 1 || a.Method != "POST" || a.Path != "/voice" || a.Body != "" || !reflect.DeepEqual(a.Query, want) {
			t.Errorf("asked %+v, want %+v", a, want)
		}
	}
}

// TestLongTextsArePutTogether: Style-Bert-VITS2 takes 100 letters at once.
func TestLongTextsArePutTogether(t *testing.T) {
	text := strings.Repeat("これは長い文章の一部です。", 20)
	address, all := server(t, func(w http.ResponseWriter, a asked) {
		if n := utf8.RuneCountInString(a.Query.Get("text")); n > 100 || !strings.HasSuffix(a.Query.Get("text"), "。") {
			w.WriteHeader(422)
			_, _ = fmt.Fprintf(w, `{"detail":[{"loc":["query","text"],"msg":"%d letters"}]}`, n)
			return
		}
		_, _ = w.Write(tone(44100, 0.5).WAV())
	})
	s, err := made(t, engine.Config{Engine: "style-bert-vits2", Address: address}).Speak(t.Context(), text, engine.Voice{})
	if err != nil || len(*all) != 3 || math.Abs(s.Clip.Seconds()-1.5) > 0.001 {
		t.Errorf("asked %d times, %v s, %v", len(*all), s.Clip.Seconds(), err)
	}
	if got := (*all)[0].Query.Get("text") + (*all)[1].Query.Get("text") + (*all)[2].Query.Get("text"); got != text {
		t.Errorf("%q", got)
	}
}

func TestStyleBertVITS2IsReady(t *testing.T) {
	address, all := server(t, func(http.ResponseWriter, asked) {})
	if err := made(t, engine.Config{Engine: "style-bert-vits2", Address: address}).Ready(t.Context()); err != nil || (*all)[0].Method != "GET" || (*all)[0].Path != "/models/info" {
		t.Errorf("%v, %+v", err, *all)
	}
}
