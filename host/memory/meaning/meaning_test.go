package meaning

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/memory/near"
	"github.com/companiond/companiond/host/module"
)

// endpoint gives each text a direction of its own.
type endpoint struct {
	mu    sync.Mutex
	asked [][]string
	by    []module.Caller
	dims  int
	slow  time.Duration
	fails error
}

func (e *endpoint) embed(ctx context.Context, c module.Caller, texts []string) (all [][]float32, err error) {
	e.mu.Lock()
	e.asked, e.by = append(e.asked, texts), append(e.by, c)
	dims, slow, fails := e.dims, e.slow, e.fails
	e.mu.Unlock()
	select {
	case <-time.After(slow):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if fails != nil {
		return nil, fails
	}
	for _, text := range texts {
		h := fnv.New64()
		_, _ = h.Write([]byte(text))
		r := rand.New(rand.NewPCG(h.Sum64(), 1))
		v := make([]float32, dims)
		for i := range v {
			v[i] = float32(r.NormFloat64())
		}
		all = append(all, v)
	}
	return all, nil
}

func (e *endpoint) times() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.asked)
}

func (e *endpoint) is(change func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	change()
}

func finder(t *testing.T) (*Finder, *endpoint) {
	e := &endpoint{dims: 64}
	f := New(Config{Embed: e.embed, Model: func(companion string) string { return map[string]string{"aya": "m", "ben": "m"}[companion] }})
	if err := f.Ready(t.Context(), "aya"); err != nil {
		t.Fatal(err)
	}
	return f, e
}

func aya() module.Caller {
	return module.Caller{Companion: "aya", Room: "main", Op: abi.OpVote}
}

// TestOnceForAll: those who are told the same words ask once, though all at once; and a text is found
// by itself and by no other.
func TestOnceForAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, e := finder(t)
		e.is(func() { e.slow = 100 * time.Millisecond })
		from := time.Now()
		for _, who := range []string{"aya", "ben", "aya", "nobody"} {
			go func() {
				c := aya()
				c.Companion = who
				if q, ok := f.Query(t.Context(), c, "something that was said before\nwhere is my umbrella, the red one?"); ok != (who != "nobody") || ok && (q.Model != "m" || len(q.Vector) != 64 || q.Floor <= 0) {
					t.Errorf("%s: %+v, %v", who, q, ok)
				}
			}()
		}
		synctest.Wait()
		time.Sleep(100 * time.Millisecond)
		synctest.Wait()
		if e.times() != 2 || time.Since(from) != 100*time.Millisecond || fmt.Sprint(e.asked[1]) != "[where is my umbrella, the red one?]" || e.by[1].Op != OpRecall || e.by[0].Op != OpIndex {
			t.Errorf("asked %q by %v", e.asked[1:], e.by)
		}
		vs, err := f.Vectors(t.Context(), "aya", []string{"where is my umbrella, the red one?", "something else"})
		q, _ := f.Query(t.Context(), aya(), "where is my umbrella, the red one?")
		if err != nil || near.Cosine(vs[0], q.Vector) < max(.99, q.Floor) || near.Cosine(vs[1], q.Vector) > q.Floor {
			t.Errorf("%v, %v of %v", err, near.Cosine(vs[1], q.Vector), q.Floor)
		}
		f.Forget()
		_, _ = f.Query(t.Context(), aya(), "where is my umbrella, the red one?")
		if want := (Counts{Asked: 2, Kept: 3}); e.times() != 4 || f.Counts() != want {
			t.Errorf("asked %d times, %+v", e.times(), f.Counts())
		}
	})
}

// TestWordsHaveToDo: nobody waits longer than Late, whatever the endpoint does, nor pays for the same
// failure twice; after some it is left alone.
func TestWordsHaveToDo(t *testing.T) {
	for name, tc := range map[string]struct {
		wrong  func(*endpoint)
		asked  int // of ten texts, by two companions each
		counts Counts
	}{
		"slow":   {func(e *endpoint) { e.slow = time.Hour }, 3, Counts{Asked: 3, Kept: 2, Late: 3, Failed: 15}},
		"down":   {func(e *endpoint) { e.fails = errors.New("down") }, 3, Counts{Asked: 3, Kept: 2, Failed: 18}},
		"bound":  {func(e *endpoint) { e.fails = abi.Errorf(abi.CodeExhausted, "spent") }, 20, Counts{Asked: 20, Refused: 20}},
		"others": {func(e *endpoint) { e.dims = 65 }, 1, Counts{Asked: 1, Failed: 1, Early: 19}},
		"none":   {func(e *endpoint) { e.dims = 0 }, 1, Counts{Asked: 1, Failed: 1, Early: 19}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f, e := finder(t)
				e.is(func() { tc.wrong(e) })
				for i := range 10 {
					for range 2 {
						from := time.Now()
						if q, ok := f.Query(t.Context(), aya(), fmt.Sprintf("text number %d of all of them", i)); ok || q.Vector != nil {
							t.Errorf("%+v", q)
						}
						if took := time.Since(from); took > Late {
							t.Errorf("it took %v", took)
						}
					}
				}
				if got := e.times() - 1; got != tc.asked || f.Counts() != tc.counts {
					t.Errorf("asked %d times, want %d; %+v", got, tc.asked, f.Counts())
				}
				e.is(func() { e.slow, e.fails, e.dims = 0, nil, 64 })
				time.Sleep(alone)
				if err := f.Ready(t.Context(), "aya"); err != nil {
					t.Fatal(err)
				}
				if _, ok := f.Query(t.Context(), aya(), "text number eleven of all of them"); !ok {
					t.Error("it is well again and is not asked")
				}
			})
		})
	}
}

// TestGone: whoever asked first goes away, and the next asks anew.
func TestGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, e := finder(t)
		e.is(func() { e.slow = 100 * time.Millisecond })
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			if _, ok := f.Query(ctx, aya(), "the same for both of them, it is"); ok {
				t.Error("an answer")
			}
		}()
		synctest.Wait()
		cancel()
		synctest.Wait()
		if _, ok := f.Query(t.Context(), aya(), "the same for both of them, it is"); !ok || e.times() != 3 || f.Counts().Failed+f.Counts().Late > 0 {
			t.Errorf("%v, asked %d times, %+v", ok, e.times(), f.Counts())
		}
	})
}

func TestEarly(t *testing.T) {
	e := &endpoint{dims: 8}
	f := New(Config{Embed: e.embed, Model: func(string) string { return "m" }})
	if _, ok := f.Query(t.Context(), aya(), "a text of some length, it is"); ok || e.times() != 0 || f.Counts() != (Counts{Early: 1}) {
		t.Errorf("%v, %+v", ok, f.Counts())
	}
	if model, dims := f.Model("aya"); model != "m" || dims != 0 {
		t.Errorf("%s, %d", model, dims)
	}
	e.fails = errors.New("down")
	if err := f.Ready(t.Context(), "aya"); err == nil {
		t.Error("it is ready")
	}
}

// TestVectorsOfAnother: vectors that cannot be compared with those of before are not taken, and
// all is learned anew.
func TestVectorsOfAnother(t *testing.T) {
	f, e := finder(t)
	e.dims = 32
	if got, err := f.Vectors(t.Context(), "aya", []string{"a"}); err == nil {
		t.Errorf("%v", got)
	}
	if err := f.Ready(t.Context(), "aya"); err != nil {
		t.Fatal(err)
	}
	if _, dims := f.Model("aya"); dims != 32 {
		t.Errorf("%d", dims)
	}
	long := strings.Repeat("長い", 1000)
	if got, err := f.Vectors(t.Context(), "aya", []string{long}); err != nil || len(got) != 1 {
		t.Error(err)
	}
	if sent := e.asked[len(e.asked)-1][0]; len(sent) > longest || len(sent) < longest-3 || !strings.HasPrefix(long, sent) {
		t.Errorf("sent %d bytes", len(sent))
	}
}

func TestManyQueries(t *testing.T) {
	f, e := finder(t)
	for i := range 3 * queries {
		if _, ok := f.Query(t.Context(), aya(), fmt.Sprint("a text that nobody said before ", i)); !ok {
			t.Fatal("no answer")
		}
	}
	if len(f.kept) != queries || e.times() != 3*queries+1 {
		t.Errorf("%d are kept", len(f.kept))
	}
}

func TestNewest(t *testing.T) {
	for text, want := range map[string]string{
		"":                                "",
		" \n":                             "",
		"a":                               "a",
		"a long message that says enough": "a long message that says enough",
		"another message\na long message that says enough":       "a long message that says enough",
		"another message\na second message, a long one\nand he?": "a second message, a long one\nand he?",
		"one\n\n\ntwo\nthree":             "one\n\n\ntwo\nthree",
		"x\n" + strings.Repeat("あ", 1000): strings.Repeat("あ", 333),
	} {
		if got := newest(text); got != want {
			t.Errorf("%.40q: %.40q, want %.40q", text, got, want)
		}
	}
}

func FuzzNewest(f *testing.F) {
	f.Add("a\nb\n")
	f.Fuzz(func(t *testing.T, text string) {
		if got := newest(text); !strings.Contains(text, got) || len(got) > longest {
			t.Errorf("%q", got)
		}
		if got := beginning(text); !strings.HasPrefix(text, got) {
			t.Errorf("%q", got)
		}
	})
}
