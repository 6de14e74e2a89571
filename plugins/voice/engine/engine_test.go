package engine_test

import (
	"context"
	"encoding/json"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/plugins/voice/engine"
	"github.com/companiond/companiond/plugins/voice/sound"
)

// tone is a sound of so many seconds.
func tone(rate int, seconds float64) sound.Clip {
	c := sound.Clip{Rate: rate, Samples: make([]float32, int(math.Round(float64(rate)*seconds)))}
	for i := range c.Samples {
		c.Samples[i] = float32(0.5 * math.Sin(2*math.Pi*220*float64(i)/float64(rate)))
	}
	return c
}

// asked is a request that a double was sent.
type asked struct {
	Method, Path string
	Query        url.Values
	Header       http.Header
	Body         string
}

// server is a double that keeps what it is asked.
func server(t *testing.T, answer func(w http.ResponseWriter, a asked)) (address string, all *[]asked) {
	t.Helper()
	all = new([]asked)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		a := asked{r.Method, r.URL.Path, r.URL.Query(), r.Header, string(b)}
		*all = append(*all, a)
		answer(w, a)
	}))
	t.Cleanup(s.Close)
	return s.URL, all
}

func made(t *testing.T, c engine.Config) engine.Engine {
	t.Helper()
	e, err := engine.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func ptr(v float64) *float64 { return &v }

func TestConfig(t *testing.T) {
	for _, c := range []struct {
		config engine.Config
		want   string // what it is called, or a part of the refusal
	}{
		{engine.Config{Engine: "voicevox"}, "VOICEVOX at http://127.0.0.1:50021"},
		{engine.Config{Engine: "aivisspeech"}, "AivisSpeech at http://127.0.0.1:10101"},
		{engine.Config{Engine: "sharevox"}, "SHAREVOX at http://127.0.0.1:50025"},
		{engine.Config{Engine: "style-bert-vits2", Address: "http://10.0.0.2:5000/"}, "Style-Bert-VITS2 at http://10.0.0.2:5000"},
		{engine.Config{Engine: "openai"}, "the speech server at https://api.openai.com"},
		{engine.Config{Engine: "openai", Address: "http://127.0.0.1:8880/v1"}, "the speech server at http://127.0.0.1:8880"},
		{engine.Config{Engine: "espeak-ng"}, "espeak-ng"},
		{engine.Config{Engine: "festival"}, `engine: "festival" is none`},
		{engine.Config{Engine: "voicevox", Address: "127.0.0.1:50021"}, "address: write it as http://127.0.0.1:50021"},
		{engine.Config{Engine: "voicevox", Address: "ftp://127.0.0.1"}, "address: write it"},
		{engine.Config{Engine: "voicevox", Address: "http://127.0.0.1?a"}, "address: write it"},
		{engine.Config{Engine: "openai", Address: "http://me:secret@127.0.0.1"}, "address: no name and password"},
	} {
		e, err := engine.New(c.config)
		got := ""
		if err != nil {
			got = abi.AsError(err).Message
		} else {
			got = e.String()
		}
		if !strings.HasPrefix(got, c.want) || strings.Contains(got, "secret") {
			t.Errorf("%+v: %q, want %q", c.config, got, c.want)
		}
	}
}

func TestVoiceIsRead(t *testing.T) {
	var v engine.Voice
	if err := json.Unmarshal([]byte(`{"speaker":888753760,"model":"koharune","speed":1.5,"style_weight":0}`), &v); err != nil || v.Speaker != "888753760" || v.Model != "koharune" || v.Speed != 1.5 || v.StyleWeight == nil {
		t.Errorf("%+v, %v", v, err)
	}
	for _, bad := range []string{`{"speaker":1.5}`, `{"speaker":[]}`} {
		if err := json.Unmarshal([]byte(bad), &v); err == nil {
			t.Errorf("%s is read", bad)
		}
	}
}

// TestFailuresAreTold: each says what is wrong and what to do, in words for people, and none the key.
func TestFailuresAreTold(t *testing.T) {
	const key = "sk-secret-7"
	for _, c := range []struct {
		engine string
		status int
		body   string
		code   abi.Code
		want   string
	}{
		{"openai", 401, `{"error":{"message":"Incorrect API key provided: sk-secret-7."}}`, abi.CodeDenied, "wants another key (401)"},
		{"openai", 429, `{"error":{"message":"You exceeded your quota, sk-secret-7"}}`, abi.CodeExhausted, "used up: You exceeded your quota, …"},
		{"openai", 400, `{"error":{"message":"no voice\u0000\u202e ` + strings.Repeat("x", 300) + `"}}`, abi.CodeInvalid, "refused it (400): no voice xx"},
		{"openai", 404, `not here`, abi.CodeNotFound, "has no /v1/audio/speech"},
		{"openai", 302, `elsewhere`, abi.CodeInvalid, "refused it (302)"},
		{"openai", 200, `ID3 is an MP3 file`, abi.CodeInvalid, `answers with "text/plain" where WAV was asked for`},
		{"openai", 200, `RIFF of nothing`, abi.CodeInvalid, "answers with no sound"},
		{"style-bert-vits2", 422, `{"detail":[{"type":"invalid_params","msg":"style=Happy not found","loc":["query","style"]}]}`, abi.CodeInvalid, "refused it (422): style: style=Happy not found"},
		{"style-bert-vits2", 500, `Internal Server Error`, abi.CodeUnavailable, "failed (500): look into its log"},
		{"style-bert-vits2", 200, `{}`, abi.CodeInvalid, "answers with no sound"},
		{"voicevox", 404, `{"detail":"該当する話者が見つかりません"}`, abi.CodeInvalid, "refused it (404): 該当する話者が見つかりません"},
		{"voicevox", 200, `[]`, abi.CodeInvalid, "answers with what is no query"},
	} {
		address, _ := server(t, func(w http.ResponseWriter, _ asked) {
			w.Header().Set("Content-Type", "text/plain")
			w.Header().Set("Location", "http://127.0.0.1:1/")
			w.WriteHeader(c.status)
			_, _ = io.WriteString(w, c.body)
		})
		_, err := made(t, engine.Config{Engine: c.engine, Address: address, Key: key}).Speak(t.Context(), "Hello", engine.Voice{Speaker: "1"})
		if abi.CodeOf(err) != c.code || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), address) || strings.Contains(err.Error(), key) || len(err.Error()) > 400 {
			t.Errorf("%s, %d: %v, want %q", c.engine, c.status, err, c.want)
		}
	}
}

func TestNobodyAnswers(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := "http://" + listener.Addr().String()
	_ = listener.Close()
	for _, name := range []string{"voicevox", "style-bert-vits2", "openai"} {
		e := made(t, engine.Config{Engine: name, Address: address})
		_, err := e.Speak(t.Context(), "Hello", engine.Voice{Speaker: "1"})
		if abi.CodeOf(err) != abi.CodeUnavailable || !strings.Contains(err.Error(), address+" does not answer: start it") {
			t.Errorf("%s: %v", name, err)
		}
		if name != "openai" && abi.CodeOf(e.Ready(t.Context())) != abi.CodeUnavailable {
			t.Errorf("%s is ready", name)
		}
	}
}

func TestBrokenOff(t *testing.T) {
	address, _ := server(t, func(w http.ResponseWriter, _ asked) {
		w.Header().Set("Content-Length", "1000")
		_, _ = io.WriteString(w, "RIFF")
	})
	_, err := made(t, engine.Config{Engine: "openai", Address: address}).Speak(t.Context(), "Hello", engine.Voice{})
	if abi.CodeOf(err) != abi.CodeUnavailable || !strings.Contains(err.Error(), "broke off") {
		t.Error(err)
	}
}

// TestGivenUp: an engine that is not waited for any more is not asked on, and one that never answers is given up.
func TestGivenUp(t *testing.T) {
	began, gone := make(chan struct{}, 1), make(chan struct{}, 1)
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		began <- struct{}{}
		<-r.Context().Done()
		gone <- struct{}{}
	}))
	defer s.Close()
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-began; cancel() }()
	_, err := made(t, engine.Config{Engine: "openai", Address: s.URL}).Speak(ctx, "Hello", engine.Voice{})
	if abi.CodeOf(err) != abi.CodeTimeout || !strings.Contains(err.Error(), "nobody waits") {
		t.Error(err)
	}
	<-gone
}

// TestPatience is in fake time: a pipe takes the place of the network.
func TestPatience(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		_, err := engine.Through(made(t, engine.Config{Engine: "openai", Address: "http://127.0.0.1:9"}), func() net.Conn {
			ours, theirs := net.Pipe()
			go func() { _, _ = io.Copy(io.Discard, theirs) }() // hears all and says nothing
			return ours
		}).Speak(t.Context(), "Hello", engine.Voice{})
		if abi.CodeOf(err) != abi.CodeTimeout || !strings.Contains(err.Error(), "took longer than 30 s") {
			t.Error(err)
		}
		if took := time.Since(start); took != engine.Patience {
			t.Errorf("it took %v", took)
		}
	})
}

func TestTooMuch(t *testing.T) {
	address, _ := server(t, func(w http.ResponseWriter, _ asked) {
		b := make([]byte, 1<<20)
		for range 33 {
			if _, err := w.Write(b); err != nil {
				return
			}
		}
	})
	_, err := made(t, engine.Config{Engine: "openai", Address: address}).Speak(t.Context(), "Hello", engine.Voice{})
	if abi.CodeOf(err) != abi.CodeTooLarge {
		t.Error(err)
	}
}
