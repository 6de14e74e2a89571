package memory_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/journal/sqlite"
	"github.com/companiond/companiond/host/memory"
	"github.com/companiond/companiond/host/memory/meaning"
	"github.com/companiond/companiond/host/memory/near"
	"github.com/companiond/companiond/host/module"
)

// topics are what texts are about; those of one topic are near.
var topics = map[string][]string{
	"pets":  {"dog", "furry", "犬", "ペット"},
	"rain":  {"umbrella", "storm", "傘"},
	"music": {"violin", "orchestra", "ピアノ"},
}

// sees is a model for vectors. It can be another one, slow, or down.
type sees struct {
	mu    sync.Mutex
	model string
	dims  int
	slow  time.Duration
	fails error
	asked []string // what texts, but for the background
	calls int
}

func (s *sees) is(change func(*sees)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(s)
}

func (s *sees) texts() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.asked)
}

func (s *sees) finder() *meaning.Finder {
	return meaning.New(meaning.Config{Embed: s.embed, Model: func(string) string {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.model
	}})
}

func (s *sees) embed(ctx context.Context, c module.Caller, texts []string) (all [][]float32, err error) {
	s.mu.Lock()
	s.calls++
	if !slices.Equal(texts, near.Background()) {
		s.asked = append(s.asked, texts...)
	}
	dims, slow, fails := s.dims, s.slow, s.fails
	s.mu.Unlock()
	select {
	case <-time.After(slow):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if fails != nil {
		return nil, fails
	}
	for _, text := range texts {
		v := random(text, dims)
		for topic, words := range topics {
			if slices.ContainsFunc(words, func(w string) bool { return strings.Contains(strings.ToLower(text), w) }) {
				for i, x := range random(topic, dims) {
					v[i] = .4*v[i] + x
				}
			}
		}
		all = append(all, v)
	}
	return all, nil
}

func random(text string, dims int) []float32 {
	h := fnv.New64()
	_, _ = h.Write([]byte(text))
	r := rand.New(rand.NewPCG(h.Sum64(), 1))
	v := make([]float32, dims)
	for i := range v {
		v[i] = float32(r.NormFloat64())
	}
	return v
}

func seeing(s *sees) func(*house) {
	return func(h *house) { h.meaning = s.finder }
}

// vectors gives the entries of vectors of a companion, and how many of them are blank.
func vectors(t testing.TB, j journal.Journal, companion string) (all []entry.Vector, blank int) {
	t.Helper()
	for e, err := range journal.AllEntries(context.Background(), j, journal.MemoryOf(companion), 0) {
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case e.Kind != entry.KindVector:
		case e.Blank:
			blank++
			if len(e.Body) > 0 && string(e.Body) != "null" {
				t.Errorf("something is left: %s", e.Body)
			}
		default:
			v, err := entry.Decode[entry.Vector](e)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, v)
		}
	}
	return all, blank
}

const (
	furry = "Who furry waits at home?"
	tax   = "Do taxes rise?"
)

// TestFoundByMeaning: what no word finds is found by what it means, also after a restart; what has to do
// with nothing finds nothing, and what may not be told in a room is not found there.
func TestFoundByMeaning(t *testing.T) {
	s := &sees{model: "m", dims: 64}
	in(t, func(h *house) {
		seeing(s)(h)
		h.rooms = append(h.rooms, roomOf("garden", "aya"))
	}, func(t *testing.T, h *house) {
		h.say("main", "taro", "My dog is called Pochi.")
		h.say("main", "taro", "I love the violin.")
		rests()
		sleep(time.Minute)
		check := func() {
			t.Helper()
			if got := h.recall("aya", "main", furry); len(got) == 0 || !strings.Contains(got[0], "Pochi") || contains(got, "violin") {
				t.Errorf("recalls %q", got)
			}
			if got := h.recall("aya", "main", tax); len(got) > 0 {
				t.Errorf("recalls %q", got)
			}
			if got := h.recall("aya", "garden", furry); len(got) > 0 {
				t.Errorf("recalls in another room: %q", got)
			}
		}
		check()
		all, blank := vectors(t, h.journal, "aya")
		if len(all) != len(h.remembers("aya")) || blank > 0 || len(all) < 2 || all[0].Model != "m" || all[0].Dims != 64 {
			t.Errorf("%d vectors of %d, %d blank", len(all), len(h.remembers("aya")), blank)
		}
		asked := len(s.texts())
		s.is(func(s *sees) { s.slow = time.Second }) // what is near is not known at once
		h.again("aya")
		if got := h.recall("aya", "main", furry); contains(got, "Pochi") || len(s.texts()) != asked {
			t.Errorf("before it is known what is near: %q", got)
		}
		s.is(func(s *sees) { s.slow = 0 })
		sleep(time.Minute)
		check()
		if got := s.texts()[asked:]; len(got) != 2 { // the two questions
			t.Errorf("asked again: %q", got)
		}
	})
}

// TestNothingIsAsked: without a model for vectors, or where nothing is to be remembered.
func TestNothingIsAsked(t *testing.T) {
	for name, prepare := range map[string]func(*house, *sees){
		"no model": func(_ *house, s *sees) { s.model = "" },
		"off":      func(h *house, _ *sees) { h.settings["aya"] = memory.Settings{Off: true} },
	} {
		t.Run(name, func(t *testing.T) {
			s := &sees{model: "m", dims: 64}
			in(t, func(h *house) { seeing(s)(h); prepare(h, s) }, func(t *testing.T, h *house) {
				h.say("main", "taro", "My dog is called Pochi.")
				if _, err := h.keeper.Write(t.Context(), "aya", abi.MemoryAdd{Text: "Taro has a dog."}, "", "me"); err != nil {
					t.Fatal(err)
				}
				rests()
				h.recall("aya", "main", furry)
				sleep(time.Hour)
				if s.calls > 0 {
					t.Errorf("asked %d times: %q", s.calls, s.asked)
				}
			})
		})
	}
	s := &sees{model: "m", dims: 64}
	in(t, seeing(s), func(t *testing.T, h *house) {
		h.recall("aya", "main", furry)
		sleep(time.Hour)
		if s.calls > 0 {
			t.Error("asked though nothing is remembered")
		}
	})
}

// TestNothingWaitsForVectors: a model that is down or slow holds up neither what is remembered nor
// what is found by words, and gets to it later.
func TestNothingWaitsForVectors(t *testing.T) {
	for name, wrong := range map[string]func(*sees){
		"down":  func(s *sees) { s.fails = errors.New("down") },
		"slow":  func(s *sees) { s.slow = 10 * time.Second },
		"bound": func(s *sees) { s.fails = abi.Errorf(abi.CodeExhausted, "spent") },
	} {
		t.Run(name, func(t *testing.T) {
			s := &sees{model: "m", dims: 64}
			in(t, seeing(s), func(t *testing.T, h *house) {
				h.say("main", "taro", "My dog is called Pochi.")
				rests()
				sleep(time.Minute)
				s.is(wrong)
				h.say("main", "taro", "I love the violin.")
				rests()
				if got := h.facts("aya"); len(got) != 2 {
					t.Fatalf("remembers %q", got)
				}
				from := time.Now()
				if got := h.recall("aya", "main", "What is my dog called?"); len(got) == 0 || !strings.Contains(got[0], "Pochi") || time.Since(from) > meaning.Late {
					t.Errorf("recalls %q after %v", got, time.Since(from))
				}
				sleep(10 * time.Minute)
				if n := s.calls; n > 20 {
					t.Errorf("asked %d times", n)
				}
				s.is(func(s *sees) { s.fails, s.slow = nil, 0 })
				sleep(time.Hour)
				if all, _ := vectors(t, h.journal, "aya"); len(all) != len(h.remembers("aya")) {
					t.Errorf("%d vectors", len(all))
				}
				if got := h.recall("aya", "main", "Who is in that orchestra?"); !contains(got, "violin") {
					t.Errorf("recalls %q", got)
				}
			})
		})
	}
}

// TestAnotherModel: when the configured model is another, or its vectors are of another length, all are made
// anew, and those of before are taken out.
func TestAnotherModel(t *testing.T) {
	for name, change := range map[string]func(*sees){
		"by name":   func(s *sees) { s.model = "n" },
		"by length": func(s *sees) { s.dims = 96 },
	} {
		t.Run(name, func(t *testing.T) {
			s := &sees{model: "m", dims: 64}
			in(t, seeing(s), func(t *testing.T, h *house) {
				h.say("main", "taro", "My dog is called Pochi.")
				rests()
				sleep(time.Minute)
				s.is(change)
				_ = h.recall("aya", "main", furry)
				sleep(5 * time.Minute)
				if got := h.recall("aya", "main", furry+" Tell me."); !contains(got, "Pochi") {
					t.Errorf("recalls %q", got)
				}
				check := func() {
					t.Helper()
					all, blank := vectors(t, h.journal, "aya")
					if len(all) != len(h.remembers("aya")) || blank != len(all) || all[0].Model != s.model || all[0].Dims != s.dims {
						t.Errorf("%d vectors, %d blank", len(all), blank)
					}
				}
				check()
				h.again("aya")
				_ = h.recall("aya", "main", furry)
				sleep(time.Minute)
				check()
			})
		})
	}
}

// TestRevisedIsMadeAnew: what it said before is not what it is found by.
func TestRevisedIsMadeAnew(t *testing.T) {
	s := &sees{model: "m", dims: 64}
	in(t, seeing(s), func(t *testing.T, h *house) {
		m, err := h.keeper.Write(t.Context(), "aya", abi.MemoryAdd{Text: "Pochi is a dog."}, abi.VisibleAll, "me")
		if err != nil {
			t.Fatal(err)
		}
		sleep(time.Minute)
		text := "Pochi is an orchestra."
		s.is(func(s *sees) { s.slow = 10 * time.Second })
		if _, err := h.keeper.Edit(t.Context(), "aya", m.ID, memory.Changes{Text: &text}, "me"); err != nil {
			t.Fatal(err)
		}
		if all, blank := vectors(t, h.journal, "aya"); len(all) != 0 || blank != 1 {
			t.Errorf("%d vectors, %d blank", len(all), blank)
		}
		sleep(5 * time.Second) // it is asked for what it says now, and meanwhile it says something else
		text = "Pochi is a violin."
		if _, err := h.keeper.Edit(t.Context(), "aya", m.ID, memory.Changes{Text: &text}, "me"); err != nil {
			t.Fatal(err)
		}
		sleep(6 * time.Second)
		if all, _ := vectors(t, h.journal, "aya"); len(all) != 0 {
			t.Error("there is a vector of what it does not say")
		}
		s.is(func(s *sees) { s.slow = 0 })
		sleep(time.Minute)
		if all, blank := vectors(t, h.journal, "aya"); len(all) != 1 || blank != 1 {
			t.Errorf("%d vectors, %d blank", len(all), blank)
		}
		if got := h.recall("aya", "main", furry); len(got) > 0 {
			t.Errorf("recalls %q", got)
		}
		if got := h.recall("aya", "main", "Who is in that orchestra?"); len(got) != 1 {
			t.Errorf("recalls %q", got)
		}
		importance := 5
		if _, err := h.keeper.Edit(t.Context(), "aya", m.ID, memory.Changes{Importance: &importance}, "me"); err != nil {
			t.Fatal(err)
		}
		asked := len(s.texts())
		if sleep(time.Minute); len(s.texts()) != asked {
			t.Error("its text is the same, and was asked for again")
		}
	})
}

// TestErasedWhileAsked: what is erased while a model makes a vector of it gets none.
func TestErasedWhileAsked(t *testing.T) {
	s := &sees{model: "m", dims: 64}
	in(t, seeing(s), func(t *testing.T, h *house) {
		var ids []string
		for _, text := range []string{"Pochi is a dog.", "Taro has an umbrella."} {
			m, err := h.keeper.Write(t.Context(), "aya", abi.MemoryAdd{Text: text}, "", "me")
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, m.ID)
			if len(ids) == 1 {
				sleep(time.Minute)
				s.is(func(s *sees) { s.slow = 10 * time.Second })
			}
		}
		sleep(5 * time.Second)
		if _, err := h.keeper.Erase(t.Context(), "aya", ids, "me"); err != nil {
			t.Fatal(err)
		}
		sleep(time.Hour)
		if all, blank := vectors(t, h.journal, "aya"); len(all) != 0 || blank != 1 {
			t.Errorf("%d vectors, %d blank", len(all), blank)
		}
		s.is(func(s *sees) { s.slow = 0 })
		if got := h.recall("aya", "main", furry); len(got) > 0 {
			t.Errorf("recalls %q", got)
		}
	})
}

// TestNoVectorIsLeft: on a disk, of a fact that was erased neither its vector nor a byte of that is left,
// nor of one that was made anew before, and the chain can still be checked.
func TestNoVectorIsLeft(t *testing.T) {
	dir := t.TempDir()
	j, err := sqlite.Open(sqlite.Config{Path: filepath.Join(dir, "x.db")})
	if err != nil {
		t.Fatal(err)
	}
	s := &sees{model: "m", dims: 64}
	n := 0
	k := memory.New(memory.Config{Journal: j, Owner: "test", NewID: func() string { n++; return fmt.Sprint("id", n) }, Meaning: s.finder()})
	ctx := t.Context()
	text := "Pochi is a dog."
	m, err := k.Write(ctx, "aya", abi.MemoryAdd{Text: text}, "", "me")
	if err != nil {
		t.Fatal(err)
	}
	has := func() []entry.Vector {
		all, _ := vectors(t, j, "aya")
		return all
	}
	var was []entry.Vector
	for _, next := range []string{"", "Pochi is an umbrella."} {
		if next != "" {
			if _, err := k.Edit(ctx, "aya", m.ID, memory.Changes{Text: &next}, "me"); err != nil {
				t.Fatal(err)
			}
		}
		memory.Index(ctx, t, k, "aya")
		if len(has()) != 1 {
			t.Fatalf("%d vectors", len(has()))
		}
		was = append(was, has()...)
	}
	if !inFiles(t, dir, was[1].Numbers) {
		t.Fatal("what is there is not found")
	}
	if _, err := k.Erase(ctx, "aya", []string{m.ID}, "me"); err != nil {
		t.Fatal(err)
	}
	if bad, err := j.Verify(ctx, journal.MemoryOf("aya"), 0); err != nil || bad != 0 || len(has()) != 0 {
		t.Errorf("%d, %v; %d vectors", bad, err, len(has()))
	}
	if err := j.Purge(ctx, true); err != nil {
		t.Fatal(err)
	}
	for i, v := range was {
		if inFiles(t, dir, v.Numbers) {
			t.Errorf("vector %d is still there", i)
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	for i, v := range was {
		if inFiles(t, dir, v.Numbers) {
			t.Errorf("vector %d is there when it is closed", i)
		}
	}
}

// TestManyVectors: they are made a batch at a time, and not all at once.
func TestManyVectors(t *testing.T) {
	s := &sees{model: "m", dims: 8}
	in(t, seeing(s), func(t *testing.T, h *house) {
		for i := range 3*meaning.Batch + 1 {
			if _, err := h.keeper.Write(t.Context(), "aya", abi.MemoryAdd{Text: fmt.Sprintf("The number %d is %d.", i, i*i)}, "", "me"); err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		if got := len(s.texts()); got > meaning.Batch {
			t.Errorf("%d at once", got)
		}
		sleep(time.Minute)
		if all, _ := vectors(t, h.journal, "aya"); len(all) != 3*meaning.Batch+1 || len(s.texts()) != len(all) || s.calls > 7 {
			t.Errorf("%d vectors of %d texts in %d calls", len(all), len(s.texts()), s.calls)
		}
	})
}

func needles(v []byte) []string {
	coded := base64.StdEncoding.EncodeToString(v)
	return []string{string(v[:len(v)/2]), string(v[len(v)/2:]), coded[:len(coded)/2], coded[len(coded)/2:]}
}

// inFiles looks for a vector, and for half of it, as bytes and as they stand in an entry.
func inFiles(t *testing.T, dir string, v []byte) (found bool) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		raw, err := os.ReadFile(path)
		if errors.Is(err, os.ErrNotExist) {
			return nil
		}
		for _, needle := range needles(v) {
			found = found || strings.Contains(string(raw), needle)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}
