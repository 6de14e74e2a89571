package memory_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/memory"
	"github.com/companiond/companiond/host/model/tokens"
	"github.com/companiond/companiond/host/room"

	"github.com/companiond/companiond/host/waittest"
)

// attentive is a model that finds what people said in plain words, however far it has come.
type attentive struct {
	mu    sync.Mutex
	turns [][]uint64 // it was asked about, in each request
	most  int        // tokens of the longest request
	fails func(n int) error
}

func (a *attentive) answer(req modelRequest) (string, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.most = max(a.most, new(tokens.Meter).Tokens(req.Size()))
	type turn struct {
		Turn uint64              `json:"turn"`
		Kind abi.ParticipantKind `json:"kind"`
		Text string              `json:"text"`
	}
	var seqs []uint64
	facts := []any{}
	for l := range strings.Lines(req.Messages[0].Text) {
		var t turn
		if json.Unmarshal([]byte(l), &t) != nil || t.Turn == 0 || t.Kind != abi.KindHuman {
			continue
		}
		seqs = append(seqs, t.Turn)
		if quote, _, ok := strings.Cut(t.Text, "."); ok && strings.HasPrefix(quote, "I like ") {
			what := strings.TrimPrefix(quote, "I like ")
			facts = append(facts, map[string]any{"turn": t.Turn, "quote": quote, "kind": "likes", "thing": "", "value": what, "text": "likes " + what, "importance": 3})
		}
	}
	a.turns = append(a.turns, seqs)
	if a.fails != nil {
		if err := a.fails(len(a.turns)); err != nil {
			return "", err
		}
	}
	raw, err := json.Marshal(map[string]any{"facts": facts})
	return string(raw), err
}

// longTalk has one companion, or several of one mind, and a model with a small context.
func longTalk(a *attentive, all ...string) func(*house) {
	return func(h *house) {
		h.rooms = []room.Settings{roomOf("main", all...)}
		for _, id := range all {
			h.settings[id] = memory.Settings{Model: true, Mind: "small"}
		}
		h.model, h.context = a.answer, 3000
	}
}

var liked = []string{"ramen", "jazz", "tennis", "chess", "opera", "cheese"}

// talkLong says as much as six requests have room for.
func talkLong(h *house) {
	for i, what := range liked {
		h.say("main", "longy", fmt.Sprintf("I like %s. %s", what, strings.Repeat(fmt.Sprintf("きょうは%d番目の長い話をします。", i), 120)))
	}
}

func wantLiked(t *testing.T, h *house, when, who string) {
	t.Helper()
	got := h.facts(who)
	for _, what := range liked {
		n := 0
		for _, text := range got {
			if strings.Contains(strings.ToLower(text), what) {
				n++
			}
		}
		if n != 1 {
			t.Errorf("%s: %s remembers %s %d times of %q", when, who, what, n, got)
		}
	}
	episodes := 0
	for _, m := range h.remembers(who) {
		if m.Kind == abi.MemoryEpisode {
			episodes++
		}
	}
	if episodes != 1 {
		t.Errorf("%s: %s has %d lines about one talk", when, who, episodes)
	}
}

// TestALongTalk: a talk that is longer than its model takes at once is gone through in parts, each of which is within its context; those who
// have the same model have it asked once for all of them.
func TestALongTalk(t *testing.T) {
	a := new(attentive)
	in(t, longTalk(a, "aya", "ben"), func(t *testing.T, h *house) {
		h.again("aya", "ben")
		talkLong(h)
		rests()
		wantLiked(t, h, "at once", "aya")
		wantLiked(t, h, "at once", "ben")
		seqs := slices.Concat(a.turns...)
		if len(a.turns) < 4 || a.most > 3000*8/10 || len(seqs) != len(liked) || !slices.IsSorted(seqs) {
			t.Errorf("asked about %v, with at most %d tokens", a.turns, a.most)
		}
	})
}

// TestKilledBetweenParts: whichever write of memory the daemon is killed at, each part is remembered once, with one line about the
// talk, and the model is asked again about no more than one of them.
func TestKilledBetweenParts(t *testing.T) {
	waittest.WithoutRaces(t)
	points := 0
	for at := int64(1); at < 11; at++ {
		for _, done := range []bool{false, true} {
			a, left, when := new(attentive), new(atomic.Int64), fmt.Sprintf("killed at write %d, done %v", at, done)
			in(t, longTalk(a, "aya"), func(t *testing.T, h *house) {
				under := h.journal
				left.Store(1 << 30)
				h.journal = mortal{Journal: under, left: left, done: done, memory: true}
				h.again("aya")
				talkLong(h)
				left.Store(at)
				rests()
				if left.Load() <= 0 {
					points++
				}
				h.journal = under
				h.again("aya")
				rests()
				wantLiked(t, h, when, "aya")
				if n := len(slices.Concat(a.turns...)); n > len(liked)+2 {
					t.Errorf("%s: asked about %v", when, a.turns)
				}
			})
		}
	}
	if points < 10 {
		t.Errorf("killed at %d points only", points)
	}
}

// TestABoundBetweenParts: what a model is not asked about, because a bound is reached or it is down, rules go through; it is not asked in
// vain about each part. An answer that is none is that of its part.
func TestABoundBetweenParts(t *testing.T) {
	waittest.WithoutRaces(t)
	for code, want := range map[abi.Code][2]int{abi.CodeExhausted: {3, 3}, abi.CodeUnavailable: {3, 3}, abi.CodeTimeout: {3, 3}, abi.CodeInvalid: {4, 7}} {
		a := &attentive{fails: func(n int) error {
			if n == 3 || code != abi.CodeInvalid && n > 3 {
				return abi.Errorf(code, "no")
			}
			return nil
		}}
		in(t, longTalk(a, "aya"), func(t *testing.T, h *house) {
			talkLong(h)
			rests()
			wantLiked(t, h, string(code), "aya")
			if n := len(a.turns); n < want[0] || n > want[1] {
				t.Errorf("%s: asked %d times", code, n)
			}
			es := h.read(journal.MemoryOf("aya"))
			if es[len(es)-1].Kind != entry.KindRead {
				t.Errorf("%s: the last entry is %s", code, es[len(es)-1].Kind)
			}
		})
	}
}

// TestAnAnswerWithoutFacts is none: rules go through the talk.
func TestAnAnswerWithoutFacts(t *testing.T) {
	for _, answer := range []string{`{}`, `{"facts":null}`, `{"memories":[]}`} {
		in(t, func(h *house) {
			h.settings["aya"] = memory.Settings{Model: true}
			h.model = func(modelRequest) (string, error) { return answer, nil }
		}, func(t *testing.T, h *house) {
			h.say("main", "taro", "My cat is called Tama.")
			rests()
			if got := h.facts("aya"); len(got) != 1 {
				t.Errorf("%s: %q", answer, got)
			}
		})
	}
}
