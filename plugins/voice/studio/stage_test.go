package studio_test

import (
	"context"
	"encoding/json"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/plugins/voice/sound"
	"github.com/companiond/companiond/plugins/voice/studio"
	companion "github.com/companiond/companiond/sdk/go"
)

// stage is a room with the handler in it.
type stage struct {
	t     testing.TB
	local *companion.Local
	asked chan string // host ops, as they are answered
}

func newStage(t testing.TB) *stage {
	s := &stage{t: t, local: companion.NewLocalHandler(studio.Handler()), asked: make(chan string, 10000)}
	s.local.Asked = func(op string) { s.asked <- op }
	return s
}

// run has the handler run for companions, until the function that it gives is called, or the test ends.
func (s *stage) run(settings string, companions ...string) (end func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		if err := s.local.Run(ctx, abi.Running{Companions: companions, Settings: json.RawMessage(settings)}); err != nil {
			s.t.Errorf("run: %v", err)
		}
	})
	end = sync.OnceFunc(func() { cancel(); running.Wait() })
	s.t.Cleanup(end)
	return end
}

func (s *stage) show(settings, companion string, shown ...abi.Shown) {
	s.t.Helper()
	s.showOf("", settings, companion, shown...)
}

// showOf shows what a companion says that has a card with such a voice.
func (s *stage) showOf(voice, settings, companion string, shown ...abi.Shown) {
	s.t.Helper()
	if err := s.local.Show(abi.Showing{Companion: companion, Name: companion, Voice: json.RawMessage(voice), Shown: shown, Settings: json.RawMessage(settings)}); err != nil {
		s.t.Error(err)
	}
}

// sounds waits for so many sounds in all, and gives them.
func (s *stage) sounds(n int) (all []abi.Sound) {
	s.t.Helper()
	for {
		s.local.Look(func() { all = append([]abi.Sound(nil), s.local.Handled.Sounds...) })
		if len(all) >= n {
			if len(all) > n {
				s.t.Fatalf("%d sounds, want %d: %+v", len(all), n, all)
			}
			return all
		}
		<-s.asked
	}
}

// logs gives what the handler wrote into the log.
func (s *stage) logs() (all []string) {
	s.local.Look(func() { all = append(all, s.local.Logs...) })
	return all
}

// heard gives the sound of a part and how the mouth moves, and holds both to what is said of them.
func (s *stage) heard(it abi.Sound) (c sound.Clip, mouth []abi.Viseme) {
	s.t.Helper()
	s.local.Look(func() {
		wav, shapes := s.local.Handled.Blobs[it.Blob.Hash], s.local.Handled.Blobs[it.Mouth.Hash]
		if wav.Type != "audio/wav" || shapes.Type != "application/json" || len(wav.Bytes) > abi.MaxBlob {
			s.t.Errorf("%+v: %s of %d bytes, %s", it, wav.Type, len(wav.Bytes), shapes.Type)
		}
		var err error
		if c, err = sound.Read(wav.Bytes); err != nil {
			s.t.Error(err)
		}
		if err := json.Unmarshal(shapes.Bytes, &mouth); err != nil {
			s.t.Error(err)
		}
	})
	total := 0
	for _, v := range mouth {
		total += v.MS
	}
	if math.Abs(c.Seconds()-it.Seconds) > 0.002 || math.Abs(float64(total)-1000*it.Seconds) > 2 || it.Seconds <= 0 {
		s.t.Errorf("%+v: %v s, a mouth of %d ms", it, c.Seconds(), total)
	}
	return c, mouth
}

func piece(line string, part int, text string) abi.Shown {
	return abi.Shown{Kind: abi.ShowPiece, Line: line, Part: part, Text: text, Emotion: "neutral"}
}

func end(line string) abi.Shown { return abi.Shown{Kind: abi.ShowEnd, Line: line, End: "said"} }

// speaker is a double of a server with OpenAI's path.
type speaker struct {
	mu        sync.Mutex
	texts     []string
	asks      []map[string]any
	now, most int // requests that are being answered
	// before, where it is set, is called for each text and may take its time; false breaks the answer off.
	before func(ctx context.Context, text string) bool
	wav    []byte
}

func newSpeaker(t testing.TB) (*speaker, string) {
	d := &speaker{wav: tone(0.2)}
	s := httptest.NewServer(d)
	t.Cleanup(s.Close)
	return d, s.URL
}

func tone(seconds float64) []byte {
	c := sound.Clip{Rate: 24000, Samples: make([]float32, int(24000*seconds))}
	for i := range c.Samples {
		c.Samples[i] = float32(0.5 * math.Sin(float64(i)/20))
	}
	return c.WAV()
}

func (d *speaker) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b, _ := io.ReadAll(r.Body)
	var ask map[string]any
	if r.URL.Path != "/v1/audio/speech" || json.Unmarshal(b, &ask) != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	text, _ := ask["input"].(string)
	d.mu.Lock()
	d.texts, d.asks = append(d.texts, text), append(d.asks, ask)
	d.now++
	d.most = max(d.most, d.now)
	before, wav := d.before, d.wav
	d.mu.Unlock()
	defer func() {
		d.mu.Lock()
		d.now--
		d.mu.Unlock()
	}()
	if before != nil && !before(r.Context(), text) {
		panic(http.ErrAbortHandler)
	}
	w.Header().Set("Content-Type", "audio/wav")
	_, _ = w.Write(wav)
}

// all gives the texts that it was asked to say.
func (d *speaker) all() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return strings.Join(d.texts, "|")
}

func needEspeak(t testing.TB) {
	t.Helper()
	if _, err := exec.LookPath("espeak-ng"); err != nil {
		t.Skip("espeak-ng is not installed: apt-get install espeak-ng")
	}
}
