package registry_test

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/conversation"
	"github.com/companiond/companiond/host/history"
	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/room/reader"
	"github.com/companiond/companiond/host/rooms"
)

var admin = rooms.Owner{Name: "hana", Admin: true}

func (h *house) fork(of string, turn uint64, name string) rooms.Branch {
	h.t.Helper()
	b, err := h.Fork(h.t.Context(), rooms.Forking{Of: of, Turn: turn, Name: name, By: admin})
	if err != nil {
		h.t.Fatalf("fork %s at %d: %v", of, turn, err)
	}
	return b
}

// replays holds a room's journal, with the past that it shares, to the rules and to its chain.
func (h *house) verifies(name string) {
	h.t.Helper()
	r, err := reader.Replay(h.t.Context(), h.journal, name)
	if err != nil || r.Diff != nil {
		h.t.Errorf("replay of %s: %v %v", name, r.Diff, err)
	}
	if bad, err := h.journal.Verify(h.t.Context(), name, 0); bad != 0 || err != nil {
		h.t.Errorf("%s does not verify at %d: %v", name, bad, err)
	}
}

// TestFork: a fork has the past of a room up to a turn and goes its own way; the room stays as it
// is. A human's turn at the end is answered anew; a companion's rests. Asleep, awake and after a restart.
func TestFork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, settings("main", "*"))
		h.t = t
		h.run()
		h.meet("aya", "ben")
		for _, text := range []string{"one", "two", "three"} {
			h.say("main", text)
			time.Sleep(time.Minute)
		}
		before, kinds := h.texts("main"), h.kinds("main")
		if len(before) != 6 {
			t.Fatalf("%q", before)
		}
		b := h.fork("main", 4, "other")
		if b.Turn != 4 || b.Of != "main" || b.Turns != 4 {
			t.Errorf("%+v", b)
		}
		time.Sleep(time.Minute)
		if got := h.texts("other"); !slices.Equal(got, before[:4]) {
			t.Errorf("behind a companion's turn it goes on by itself: %q", got)
		}
		h.say("other", "elsewhere")
		time.Sleep(time.Minute)
		if got := h.texts("other"); len(got) != 6 || !strings.HasSuffix(got[5], "other heard elsewhere") {
			t.Errorf("the fork says %q", got)
		}
		if again := h.fork("main", 5, ""); again.Name != "main-2" {
			t.Errorf("it is called %q", again.Name)
		}
		h.room("main-2").Info()
		h.say("main-2", "awake")
		time.Sleep(time.Minute)
		// Whether the human's turn at the end is answered before the next one comes is a matter of who is quicker.
		if got := h.texts("main-2"); len(got) < 7 || !slices.Equal(got[:5], before[:5]) || !slices.Contains(got, "taro: awake") || !strings.HasSuffix(got[len(got)-1], "main-2 heard awake") {
			t.Errorf("%q", got)
		}
		deep := h.fork("other", 5, "deep") // ends with a human's turn
		if deep.Turn != 5 {
			t.Errorf("%+v", deep)
		}
		h.end()
		h.run()
		h.meet("aya", "ben")
		time.Sleep(time.Minute)
		if got := h.texts("deep"); len(got) != 6 || !strings.HasSuffix(got[5], "deep heard elsewhere") {
			t.Errorf("a human's turn is not answered in the fork: %q", got)
		}
		if got := h.texts("main"); !slices.Equal(got, before) || !strings.HasPrefix(h.kinds("main"), kinds) {
			t.Errorf("the room is %q by now", got)
		}
		all, err := h.Branches(t.Context(), "deep")
		var names []string
		for _, b := range all {
			names = append(names, b.Name)
		}
		if err != nil || !slices.Equal(names, []string{"main", "main-2", "other", "deep"}) || all[3].Turn != 5 || all[3].Turns != 6 || all[0].Of != "" {
			t.Errorf("%+v %v", all, err)
		}
		for _, name := range names {
			h.verifies(name)
		}
		h.end()
	})
}

// TestForkAwakes: a fork needs nobody to look at it. A human's turn at its end is answered at once, and when it has fallen
// asleep it is folded from a snapshot of its own, so that the room that it was forked of keeps nothing for it.
func TestForkAwakes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, settings("main", "*"))
		h.t = t
		h.run()
		h.meet("aya")
		h.say("main", "one")
		time.Sleep(time.Minute)
		b := h.fork("main", 1, "other")
		time.Sleep(2 * time.Minute)
		row, _, err := h.journal.Room(t.Context(), "other")
		if got := h.texts("other"); err != nil || len(got) != 2 || row.Awake || h.Awake("other") {
			t.Errorf("the fork says %q, %+v %v", got, row, err)
		}
		if seq, _, err := h.journal.GetSnapshot(t.Context(), "other"); err != nil || seq <= b.At {
			t.Errorf("it is folded from %d, and parted at %d, %v", seq, b.At, err)
		}
		h.verifies("other")
		h.end()
	})
}

// TestForkRefused: each way in which there can be none says why, and makes none.
func TestForkRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		endless := settings("endless", "*")
		endless.Rules.MaxTurns = 0
		h := newHouse(t, settings("main", "*"), settings("side", "*"), endless)
		h.t = t
		h.run()
		h.meet("aya")
		h.say("main", "one")
		h.say("endless", "one")
		time.Sleep(time.Minute)
		guest := rooms.Owner{Name: "guest"}
		h.fork("main", 0, "taken")
		for _, tc := range []struct {
			f    rooms.Forking
			code abi.Code
		}{
			{rooms.Forking{Of: "nowhere", By: admin}, abi.CodeNotFound},
			{rooms.Forking{Of: "(memory)", By: admin}, abi.CodeNotFound},
			{rooms.Forking{Of: "side", By: admin}, abi.CodeInvalid}, // never used
			{rooms.Forking{Of: "main", Turn: 7, By: admin}, abi.CodeNotFound},
			{rooms.Forking{Of: "main", Name: "side", By: admin}, abi.CodeConflict},
			{rooms.Forking{Of: "main", Name: "taken", By: admin}, abi.CodeConflict},
			{rooms.Forking{Of: "main", Name: "tаken", By: admin}, abi.CodeInvalid}, // a Cyrillic letter
			{rooms.Forking{Of: "main", Name: conversation.Prefix + "x", By: admin}, abi.CodeInvalid},
			{rooms.Forking{Of: "main", Name: "a/b", By: admin}, abi.CodeInvalid},
			{rooms.Forking{Of: "endless", Name: "x", By: guest}, abi.CodeDenied},
		} {
			if _, err := h.Fork(t.Context(), tc.f); abi.CodeOf(err) != tc.code {
				t.Errorf("%+v: %v", tc.f, err)
			}
		}
		for f, want := range map[rooms.Forking]string{
			{Of: "side", By: admin}:           "room: side has no turns yet; open a room instead",
			{Of: "side", Turn: 3, By: admin}:  "room: side has no turns yet; open a room instead",
			{Of: "main", Turn: 99, By: admin}: "turn: 99 is no turn of main: it has 1 to ",
		} {
			if _, err := h.Fork(t.Context(), f); err == nil || !strings.HasPrefix(abi.AsError(err).Message, want) {
				t.Errorf("%+v: %v, not %s", f, err, want)
			}
		}
		// Callers without a token have one word wherever somebody is named; whose the room is stays as it is.
		open, err := h.Fork(t.Context(), rooms.Forking{Of: "main", Name: "open", By: rooms.Owner{Name: rooms.Guests}})
		family, ferr := h.Branches(t.Context(), "open")
		if err = errors.Join(err, ferr); err != nil || open.By != "guest" || !slices.ContainsFunc(family, func(b rooms.Branch) bool { return b.Name == "open" && b.By == "guest" }) {
			t.Errorf("%+v %+v %v", open, family, err)
		}
		if err := h.Archive(t.Context(), "open", rooms.Owner{Name: rooms.Guests}); err != nil {
			t.Error(err)
		}
		for n := range 4 {
			_, err := h.Fork(t.Context(), rooms.Forking{Of: "main", By: guest})
			if (err != nil) != (n == 3) {
				t.Errorf("fork %d of a guest: %v", n+1, err)
			}
		}
		at := "main"
		for n := range journal.MaxDepth {
			b, err := h.Fork(t.Context(), rooms.Forking{Of: at, By: admin})
			if err != nil {
				t.Fatalf("depth %d: %v", n+1, err)
			}
			at = b.Name
		}
		if _, err := h.Fork(t.Context(), rooms.Forking{Of: at, By: admin}); abi.CodeOf(err) != abi.CodeExhausted {
			t.Errorf("deeper than %d: %v", journal.MaxDepth, err)
		}
		h.say(at, "deep down")
		time.Sleep(time.Minute)
		if got := h.texts(at); len(got) != 4 {
			t.Errorf("%q", got)
		}
		h.verifies(at)
		if err := h.Archive(t.Context(), at, admin); err != nil {
			t.Error(err)
		}
		if _, err := h.room(at).Say(t.Context(), rooms.Utterance{From: "taro", Text: "hm"}); abi.CodeOf(err) != abi.CodeDenied {
			t.Errorf("a fork that was closed takes words: %v", err)
		}
		h.end()
	})
}

// TestForkOfWhatWasCompressed: a fork may begin in the middle of turns that are told as one text, at
// whoever's turn, and then is told them as they were; one from behind is told what the room is told. What happens to
// the history of either is not seen in the other.
func TestForkOfWhatWasCompressed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, settings("main", "*"))
		h.t = t
		h.run()
		h.meet("aya", "ben")
		for _, text := range []string{"one", "two", "three"} {
			h.say("main", text)
			time.Sleep(time.Minute)
		}
		happens := func(room string, kind history.Kind) {
			t.Helper()
			in := history.Input{Kind: kind, Proposal: "p", By: "hana"}
			switch kind {
			case history.Propose:
				in.Ask = &history.Ask{Turns: history.Range{From: 1, To: 4}, Length: history.Length{N: 100, Unit: history.Characters}}
			case history.Drafted:
				in.Draft = &history.Draft{N: 1, Text: "four turns", Verdict: history.Yes}
			}
			if _, err := h.room(room).Happens(t.Context(), in); err != nil {
				t.Fatal(err)
			}
		}
		told := func(room string, want ...string) {
			t.Helper()
			got, err := h.room(room).Told(t.Context(), abi.HistoryAsk{Limit: 100})
			if err != nil {
				t.Fatal(err)
			}
			var texts []string
			for _, m := range got.Messages {
				texts = append(texts, m.Text)
			}
			if !slices.Equal(texts, want) {
				t.Errorf("%s is told as %q, not %q", room, texts, want)
			}
		}
		said := h.texts("main")
		for i, text := range said {
			_, said[i], _ = strings.Cut(text, ": ")
		}
		for _, kind := range []history.Kind{history.Propose, history.Drafted, history.Approve} {
			happens("main", kind)
		}
		h.fork("main", 6, "at-once")
		told("at-once", slices.Concat([]string{"four turns"}, said[4:])...)
		h.say("main", "four")
		time.Sleep(time.Minute)
		now := h.texts("main")
		four := []string{"four"}
		if len(now) > 7 {
			_, answer, _ := strings.Cut(now[7], ": ")
			four = append(four, answer)
		}
		whole := slices.Concat([]string{"four turns"}, said[4:], four)
		told("main", whole...)
		h.fork("main", 2, "inside")
		told("inside", said[:2]...)
		h.fork("main", 0, "behind")
		told("behind", whole...)
		h.fork("main", 6, "before-four")
		told("before-four", slices.Concat([]string{"four turns"}, said[4:])...)
		happens("behind", history.Revert)
		told("behind", slices.Concat(said, four)...)
		told("main", whole...)
		for _, room := range []string{"main", "inside", "at-once", "before-four", "behind"} {
			h.verifies(room)
		}
		h.end()
	})
}

// TestForkOfWhatWaits: a proposal is in a fork whose last turn was said behind it, and not in one from before, also where nothing
// was said since. What was asked for before the last word on what is told goes with that word.
func TestForkOfWhatWaits(t *testing.T) {
	raw, err := os.ReadFile("../../../docs/HISTORY.md")
	if want := "What was asked for before its last turn was said waits in it, too, or is drafted in each; what was asked for later is not in it, also where nothing was said since"; err != nil || !strings.Contains(string(raw), want) {
		t.Errorf("docs/HISTORY.md does not say: %s (%v)", want, err)
	}
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, settings("main", "*"))
		h.t = t
		h.run()
		h.meet("aya")
		for _, text := range []string{"one", "two", "three"} {
			h.say("main", text)
			time.Sleep(time.Minute)
		}
		happens := func(id string, kind history.Kind, from, to uint64) {
			t.Helper()
			in := history.Input{Kind: kind, Proposal: id, By: "hana"}
			switch kind {
			case history.Propose:
				in.Ask = &history.Ask{Turns: history.Range{From: from, To: to}, Length: history.Length{N: 100, Unit: history.Characters}}
			case history.Drafted:
				in.Draft = &history.Draft{N: 1, Text: "few words", Verdict: history.Yes}
			}
			if _, err := h.room("main").Happens(t.Context(), in); err != nil {
				t.Fatal(err)
			}
		}
		has := func(name, want string) {
			t.Helper()
			h.fork("main", 0, name)
			book, err := h.room(name).Book(t.Context())
			got := ""
			for _, p := range book.Proposals {
				got += p.ID + " " + string(p.State) + " "
			}
			if err != nil || got != want {
				t.Errorf("%s has %q, not %q, %v", name, got, want, err)
			}
			h.verifies(name)
		}
		happens("p", history.Propose, 1, 2)
		happens("p", history.Drafted, 1, 2)
		has("at-once", "")
		h.say("main", "four")
		time.Sleep(time.Minute)
		has("behind", "p offered ")
		happens("q", history.Propose, 3, 4)
		has("asked", "p offered ")
		happens("p", history.Approve, 1, 2)
		has("approved", "p approved q drafting ")
		h.end()
	})
}
