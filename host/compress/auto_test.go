package compress_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"pgregory.net/rapid"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/compress"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/history"
	"github.com/companiond/companiond/host/room/registry"
	"github.com/companiond/companiond/host/rooms"
)

// byItself is what a house does that nobody asked for.
type byItself struct {
	mu       sync.Mutex
	standing history.Standing
	lost     history.State // once a proposal is so, the daemon does nothing more
	gone     atomic.Bool
}

func (b *byItself) set(s history.Standing) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.standing = s
}

func (b *byItself) standsFor(context.Context, string) history.Standing {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.standing
}

// told tells the service what became of a room, unless the daemon is killed by then.
func (h *house) told(room string, now history.Book) {
	for _, p := range now.Proposals {
		if p.State == h.lost {
			h.gone.Store(true)
		}
	}
	if !h.gone.Load() {
		h.service.Told(room, now)
	}
}

// leaving are rooms until the daemon is killed.
type leaving struct {
	*registry.Registry
	of *house
}

func (l leaving) Room(ctx context.Context, name string) (rooms.Room, error) {
	if l.of.gone.Load() {
		return nil, rooms.ErrStopping
	}
	return l.Registry.Room(ctx, name)
}

// usage is of a mind that was told so many tokens of what was said, where 1000 may be.
func usage(head uint64, tokens int) entry.Usage {
	return entry.Usage{Who: "aya", Op: "vote", Told: &entry.Told{Head: head, History: 1000, Parts: map[string]int{"history": tokens}}}
}

// talks says so many turns, after each of which a mind is asked that is told tokens of them.
func (h *house) talks(turns, tokens int) {
	h.Helper()
	for range turns {
		h.say(short)
		room, err := h.Room(h.Context(), "main")
		if err != nil {
			h.Fatal(err)
		}
		h.service.Used("main", usage(room.Info().Head, tokens))
		synctest.Wait()
	}
}

// book is what became of the history.
func (h *house) book() history.Book {
	h.Helper()
	room, err := h.Room(h.Context(), "main")
	if err != nil {
		h.Fatal(err)
	}
	book, err := room.Book(h.Context())
	if err != nil {
		h.Fatal(err)
	}
	return book
}

// asked gives the turns that were asked for, and how that stands.
func (h *house) asked() (all []string) {
	for _, p := range h.book().Proposals {
		all = append(all, fmt.Sprint(p.Ask.Turns, " ", p.State))
	}
	return all
}

func (h *house) stood(want ...string) {
	h.Helper()
	if got := h.asked(); fmt.Sprint(got) != fmt.Sprint(want) {
		h.Errorf("it stands at %q, not %q", got, want)
	}
}

func (h *house) newest() history.Proposal {
	book := h.book()
	return book.Proposals[len(book.Proposals)-1]
}

// short is what everybody says, and all that is told of it: what the policy of auto names.
const short = "budget $900"

var auto = history.Standing{Mode: history.ModeAuto, At: .7, Policy: "Keep the budget."}

var ask = history.Standing{Mode: history.ModeAsk, At: .7}

// TestAsksByItself: where the history is as full as the configuration says, and no sooner, its beginning is asked for, once;
// a person approves, or it is asked for after 32 more turns.
func TestAsksByItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, new(scribe), short)
		h.set(ask)
		h.talks(70, 699)
		h.stood()
		h.talks(1, 700)
		h.stood("1-39 offered")
		p := h.newest()
		if p.By != history.Configuration || p.Ask.Auto || p.Ask.Compresser != "scribe" || p.Ask.Length.N != 200 || p.ApprovedBy != "" {
			t.Errorf("%+v", p)
		}
		h.talks(70, 1000)
		h.stood("1-39 offered") // it waits for a person
		h.end()
		h.begin()
		defer func() { h.end() }()
		h.talks(2, 1000)
		h.stood("1-39 offered")
		if _, err := h.service.Decide(t.Context(), "main", p.ID, "taro", false, "not yet"); err != nil {
			t.Fatal(err)
		}
		h.talks(31, 1000)
		h.stood("1-39 denied")
		h.talks(1, 1000)
		h.stood("1-39 denied", "1-143 offered")
		if _, err := h.service.Decide(t.Context(), "main", h.newest().ID, "taro", true, ""); err != nil {
			t.Fatal(err)
		}
		h.talks(31, 1000)
		h.stood("1-39 denied", "1-143 approved")
		h.talks(1, 1000)
		h.stood("1-39 denied", "1-143 approved", "144-175 offered")
		h.service.Used("main", entry.Usage{Who: "eri"}) // a module's, of which nothing is known
		if len(h.scribe.asked) != 3 {
			t.Errorf("%d drafts were made", len(h.scribe.asked))
		}
	})
}

// TestLeftOut: a history of which some was left out is full, unless that was so for one request alone; nothing is asked for
// where the configuration says so, or where nothing is known of the room.
func TestLeftOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, new(scribe), short)
		defer func() { h.end() }()
		h.talks(64, 0)
		used := func(history, tokens int, left bool) {
			u := usage(64, tokens)
			u.Told.History, u.Told.Left = history, left
			h.service.Used("main", u)
			synctest.Wait()
		}
		used(1000, 1000, true)
		h.set(ask)
		used(0, 1000, true)
		used(1000, 0, false)
		h.stood()
		h.service.Used("nowhere", usage(64, 1000))
		synctest.Wait()
		used(1000, 0, true)
		used(1000, 0, true)
		h.stood("1-32 offered")
	})
}

// TestApprovedByTheConfiguration: what is verified is approved at once, on the configuration's word, and what is told
// is shorter; reverted it is left alone for 32 turns; what the verifier refuses is not approved, nor asked for at once.
func TestApprovedByTheConfiguration(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, new(scribe), short)
		defer func() { h.end() }()
		h.set(auto)
		h.talks(64, 1000)
		h.stood("1-32 approved")
		p := h.newest()
		if p.ApprovedBy != history.Configuration || !p.Ask.Auto || p.Ask.Policy != auto.Policy {
			t.Errorf("%+v", p)
		}
		room, _ := h.Room(t.Context(), "main")
		if got, _ := room.Told(t.Context(), abi.HistoryAsk{Limit: 100}); len(got.Messages) != 33 || got.Messages[0].Text != short {
			t.Errorf("%d messages are told, first %q", len(got.Messages), got.Messages[0].Text)
		}
		if _, err := h.service.Revert(t.Context(), "main", p.ID, "taro", ""); err != nil {
			t.Fatal(err)
		}
		h.talks(31, 1000)
		h.stood("1-32 reverted")
		h.scribe.refuses = true
		h.talks(1, 1000)
		h.stood("1-32 reverted", "1-64 refused")
		if len(h.scribe.judged) != 4 {
			t.Errorf("%d drafts were verified", len(h.scribe.judged))
		}
		taken := history.Draft{N: 4, Text: "words of it", By: compress.Extract, VerifiedBy: compress.Extract, Verdict: history.Yes}
		if _, err := room.Happens(t.Context(), history.Input{Kind: history.Drafted, Proposal: h.newest().ID, By: compress.Extract, Draft: &taken}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		h.stood("1-32 reverted", "1-64 offered") // whoever took it is not whom the configuration trusts
		if _, err := h.service.Decide(t.Context(), "main", h.newest().ID, "taro", false, ""); err != nil {
			t.Fatal(err)
		}
		h.scribe.refuses, h.scribe.broken = false, abi.Errorf(abi.CodeExhausted, "room.main.calls_day: 9 calls are used up")
		h.talks(32, 1000)
		h.stood("1-32 reverted", "1-64 denied", "1-96 failed")
		h.talks(31, 1000)
		h.stood("1-32 reverted", "1-64 denied", "1-96 failed")
		h.scribe.broken = nil
		h.talks(1, 1000)
		h.stood("1-32 reverted", "1-64 denied", "1-96 failed", "1-128 offered") // of it a person has taken off what was approved so
		h.talks(40, 1000)
		h.stood("1-32 reverted", "1-64 denied", "1-96 failed", "1-128 offered")
		if _, err := h.service.Decide(t.Context(), "main", h.newest().ID, "taro", true, ""); err != nil {
			t.Fatal(err)
		}
		h.talks(32, 1000)
		h.stood("1-32 reverted", "1-64 denied", "1-96 failed", "1-128 approved", "129-169 approved")
	})
}

// TestWhatIsLaidIsCompressedAgain: once more stands in what was compressed than is new, both are told as one text, of
// no more than half of it; so what is told in few words never fills the history.
func TestWhatIsLaidIsCompressedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, new(scribe), short+" "+strings.Repeat("x", 32-len(short)))
		defer func() { h.end() }()
		h.set(auto)
		most := 0
		for range 13 {
			h.talks(32, 1000)
			room, _ := h.Room(t.Context(), "main")
			book, _ := room.Book(t.Context())
			most = max(most, len(book.Laid(^uint64(0))))
		}
		p := h.newest()
		if p.State != history.Approved || p.Ask.Turns.To != 384 || most != 11 {
			t.Errorf("%+v, %d laid at most", p, most)
		}
		// 32 turns are 352 characters: eleven texts of 33 are more.
		first := h.book().Proposals[11].Ask
		if first.Turns != (history.Range{From: 1, To: 384}) || first.Length.N != 216 {
			t.Errorf("%+v", first)
		}
	})
}

// TestAnotherConfiguration: a word that was given in advance holds as long as it stands in the configuration: not for another
// policy, nor where a person is to approve now, nor for what was asked for while a person was.
func TestAnotherConfiguration(t *testing.T) {
	for name, tc := range map[string]struct {
		first, then history.Standing
		want        string
	}{
		"ask":            {auto, ask, "offered"},
		"off":            {auto, history.Standing{}, "offered"},
		"another policy": {auto, history.Standing{Mode: history.ModeAuto, At: .7, Policy: "Keep all."}, "denied"},
		"auto":           {ask, auto, "denied"},
		"as it was":      {auto, auto, "approved"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHouse(t, new(scribe), short)
				h.set(tc.first)
				h.scribe.during = func() { h.set(tc.then) } // between draft and verdict
				h.talks(64, 1000)
				h.stood("1-32 " + tc.want)
				h.end()
				h.begin()
				defer func() { h.end() }()
				h.talks(1, 1000)
				h.stood("1-32 " + tc.want)
			})
		})
	}
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, new(scribe), short)
		h.set(ask)
		h.lost = history.BeingDrafted
		h.talks(64, 1000)
		h.end()
		h.stood("1-32 drafting")
		h.lost = ""
		h.set(history.Standing{})
		h.begin()
		defer func() { h.end() }()
		h.talks(1, 1000)
		if p := h.newest(); p.State != history.Failed || !strings.Contains(p.Why, "asks for nothing any more") {
			t.Errorf("%+v", p)
		}
	})
}

// TestKilledBeforeApproval: a daemon that ends between the draft and the word for it approves when the room next wakes,
// also when it ends once more; nothing is asked for twice.
func TestKilledBeforeApproval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, new(scribe), short)
		h.set(auto)
		h.lost = history.BeingDrafted
		h.talks(64, 1000)
		h.end()
		h.stood("1-32 drafting")
		h.lost = history.Offered
		for range 2 {
			h.begin()
			h.talks(32, 1000)
			h.end()
			h.stood("1-32 offered")
		}
		h.lost = ""
		h.begin()
		defer func() { h.end() }()
		synctest.Wait() // nobody says anything
		h.stood("1-32 approved")
	})
}

// TestWhoeverAsks: the door's words cannot stand for the configuration's.
func TestWhoeverAsks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, new(scribe), "nothing")
		defer func() { h.end() }()
		h.set(auto)
		h.say(talk...)
		p, err := h.propose(compress.Request{Turns: history.Range{From: 1, To: 6}, Policy: "Keep nothing."})
		if err != nil {
			t.Fatal(err)
		}
		if p, _ = h.stands(p.ID); p.State != history.Offered {
			t.Errorf("a person's is %s", p.State)
		}
		room, _ := h.Room(t.Context(), "main")
		if _, err := room.Happens(t.Context(), history.Input{Kind: history.Approve, Proposal: p.ID, By: history.Configuration}); abi.CodeOf(err) != abi.CodeDenied {
			t.Errorf("it is approved in the configuration's name: %v", err)
		}
		forged := history.Ask{Turns: history.Range{From: 1, To: 2}, Length: history.Length{N: 9, Unit: history.Tokens}, Auto: true}
		if _, err := room.Happens(t.Context(), history.Input{Kind: history.Propose, Proposal: "x", By: "bot", Ask: &forged}); abi.CodeOf(err) != abi.CodeDenied {
			t.Errorf("an agent approves in advance: %v", err)
		}
	})
}

// TestAnyOrder: whatever people do and say, however often the daemon is killed and its configuration changed, no two proposals
// that are open have a turn in common, nothing is approved by itself where a person is to, and 32 turns lie between two
// that are asked for.
func TestAnyOrder(t *testing.T) {
	acts := []string{"say", "say", "say", "say", "few", "approve", "deny", "revert", "kill", "kill while drafting", "kill before approval", "ask", "auto", "off", "refuse", "verify"}
	for seed := range 5 {
		synctest.Test(t, func(t *testing.T) {
			h := newHouse(t, new(scribe), short)
			defer func() { h.end() }()
			h.set(auto)
			h.talks(64, 1000)
			way := rapid.SliceOfN(rapid.SampledFrom(acts), 20, 20).Example(seed)
			for i, act := range way {
				before := h.words()
				h.act(act)
				if after := h.words(); h.standsFor(t.Context(), "main").Mode != history.ModeAuto && len(after.own) > len(before.own) {
					t.Fatalf("seed %d, %v: approved by itself", seed, way[:i+1])
				}
				if err := h.words().wrong; err != "" {
					t.Fatalf("seed %d, %v: %s", seed, way[:i+1], err)
				}
			}
		})
	}
}

// act does one thing.
func (h *house) act(what string) {
	decide := func(state history.State, do func(id string)) {
		book := h.book()
		for _, p := range book.Proposals {
			if p.State == state {
				do(p.ID)
				break
			}
		}
	}
	switch what {
	case "say":
		h.say(strings.Fields(strings.Repeat("words ", 31))...)
		h.talks(1, 1000)
	case "few":
		h.talks(3, 800)
	case "approve", "deny":
		decide(history.Offered, func(id string) { _, _ = h.service.Decide(h.Context(), "main", id, "taro", what == "approve", "") })
	case "revert":
		decide(history.Approved, func(id string) { _, _ = h.service.Revert(h.Context(), "main", id, "taro", "") })
	case "kill while drafting", "kill before approval":
		if h.lost = history.BeingDrafted; what == "kill before approval" {
			h.lost = history.Offered
		}
		h.act("say")
		h.lost = ""
		fallthrough
	case "kill":
		h.end()
		h.begin()
	case "ask":
		h.set(ask)
	case "auto":
		h.set(auto)
	case "off":
		h.set(history.Standing{})
	case "refuse", "verify":
		h.scribe.mu.Lock()
		h.scribe.refuses = what == "refuse"
		h.scribe.mu.Unlock()
	}
	synctest.Wait()
}

// words are what the configuration said so far, by the journal.
type words struct {
	own   []string // what it approved
	wrong string
}

func (h *house) words() (w words) {
	h.Helper()
	all, err := h.journal.Read(h.Context(), "main", 0, 1<<20)
	if err != nil {
		h.Fatal(err)
	}
	var book history.Book
	last := uint64(0)
	for _, e := range all {
		in, err := entry.Decode[history.Input](e)
		if e.Kind != entry.KindHistory || err != nil {
			continue
		}
		if err := book.Refuses(in); err != nil {
			w.wrong = fmt.Sprintf("entry %d is refused: %v", e.Seq, err)
		}
		book.Happens(in, e.Seq, e.At)
		switch {
		case in.By != history.Configuration:
		case in.Kind == history.Approve:
			w.own = append(w.own, in.Proposal)
		case in.Kind == history.Propose:
			if last > 0 && in.Turn < last+history.Rest {
				w.wrong = fmt.Sprintf("%s of turns %s is asked for at turn %d, and another was at %d", in.Proposal, in.Ask.Turns, in.Turn, last)
			}
			last = in.Turn
		}
		for i, p := range book.Proposals {
			for _, o := range book.Proposals[:i] {
				if p.State.Open() && o.State.Open() && p.Ask.Turns.Meets(o.Ask.Turns) {
					w.wrong = fmt.Sprintf("%s of %s and %s of %s are open", o.ID, o.Ask.Turns, p.ID, p.Ask.Turns)
				}
			}
		}
	}
	return w
}
