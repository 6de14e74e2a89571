package forget_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/forget"
	"github.com/companiond/companiond/host/forget/forgettest"
	"github.com/companiond/companiond/host/room/reader"
	"github.com/companiond/companiond/host/waittest"
)

// TestInTheMaking gives an order while a companion makes a line of what is to be forgotten.
func TestInTheMaking(t *testing.T) {
	w := newWorld(t)
	w.held = make(chan struct{})
	w.start("main")
	w.say("main", "mika", "うちの猫はタマっていうの")
	waittest.Until(t, "the line is asked for", func() bool {
		st, _, err := reader.Fold(t.Context(), w.j, "main")
		return err == nil && st.Floor != nil
	})
	r, err := w.service.Forget(t.Context(), forget.Order{By: admin, Who: "mika"})
	if err != nil {
		t.Fatal(err)
	}
	waittest.Until(t, "modules are made anew", func() bool {
		w.modules.mu.Lock()
		defer w.modules.mu.Unlock()
		return w.modules.anew > 0
	})
	soon, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if r, err := w.service.Wait(soon, r.ID); err == nil {
		t.Errorf("it is done: %+v", r)
	}
	close(w.held)
	if r, err = w.service.Wait(t.Context(), r.ID); err != nil || r.State != forget.Done {
		t.Fatalf("%+v %v", r, err)
	}
	if found := forgettest.Left(t, w.dir, "タマ", "っていうの"); len(found) > 0 {
		t.Error(strings.Join(found, "\n"))
	}
	w.settle("main")
	w.sound()
}

// TestVotesAboutALineInTheMaking: what the next companion votes about a line that came while the order was followed has its words,
// and the order is not done before it is gone, too.
func TestVotesAboutALineInTheMaking(t *testing.T) {
	w := newWorld(t)
	w.held, w.votes = make(chan struct{}), make(chan struct{})
	w.start("main")
	w.say("main", "mika", "うちの猫はタマっていうの")
	waittest.Until(t, "the line is asked for", func() bool {
		st, _, err := reader.Fold(t.Context(), w.j, "main")
		return err == nil && st.Floor != nil
	})
	r, err := w.service.Forget(t.Context(), forget.Order{By: admin, Who: "mika"})
	if err != nil {
		t.Fatal(err)
	}
	waittest.Until(t, "modules are made anew", func() bool {
		w.modules.mu.Lock()
		defer w.modules.mu.Unlock()
		return w.modules.anew > 0
	})
	close(w.held)
	waittest.Until(t, "the line is erased while votes about it are made", func() bool {
		es, err := w.j.Read(t.Context(), "main", 0, 100)
		return err == nil && slices.ContainsFunc(es, func(e entry.Entry) bool {
			s, err := entry.Decode[entry.Said](e)
			return err == nil && e.Kind == entry.KindSaid && s.By == abi.KindCompanion && entry.ErasedBy(e) == r.ID
		})
	})
	soon, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if r, err := w.service.Wait(soon, r.ID); err == nil {
		t.Errorf("it is done: %+v", r)
	}
	close(w.votes)
	if r, err = w.service.Wait(t.Context(), r.ID); err != nil || r.State != forget.Done {
		t.Fatalf("%+v %v", r, err)
	}
	w.settle("main")
	if found := forgettest.Left(t, w.dir, "タマ", "っていうの"); len(found) > 0 {
		t.Error(strings.Join(found, "\n"))
	}
	w.sound()
}

// TestLate has a line come when everything is erased that was made of what was there before, and people
// who talk on.
func TestLate(t *testing.T) {
	w := newWorld(t)
	w.late = time.Millisecond
	w.open()
	var came atomic.Bool // the line that is late
	w.service.Stop(func(step string) error {
		if step == "late" && !came.Load() {
			return errors.New("not yet")
		}
		return nil
	})
	w.run("main")
	old := w.say("main", "mika", "うちの猫はタマっていうの")
	w.settle("main")
	w.forget(forget.Order{Who: "mika"})
	w.settle("main")
	made := w.append("main", entry.KindSaid, entry.Said{From: "aya", By: abi.KindCompanion, Kind: abi.KindTurn, Basis: old.Seq, Text: "やっぱりタマだよね"})
	w.say("main", "taro", "タマって?")
	w.say("main", "mika", "タマとまた来た")
	came.Store(true)
	waittest.Until(t, "it is erased, too", func() bool { return len(forgettest.Left(t, w.dir, "やっぱりタマ")) == 0 })
	w.settle("main")
	w.sound()
	for _, stays := range []string{"タマって?", "タマとまた来た", `"from":"mika"`} {
		if len(forgettest.Left(t, w.dir, stays)) == 0 {
			t.Errorf("%s is gone", stays)
		}
	}
	if es, _ := w.j.Read(t.Context(), "main", made.Seq-1, 1); len(es) != 1 || entry.ErasedBy(es[0]) == "" {
		t.Errorf("%v", es)
	}
	if !slices.Contains(w.dropped, "main") || !slices.Contains(w.dropped, "") {
		t.Errorf("what is at hand was dropped of %q", w.dropped)
	}
}

// TestLateAfterKill has a daemon killed when an order was done, and before it was looked after.
func TestLateAfterKill(t *testing.T) {
	w := newWorld(t)
	w.prepare()
	plant(t, w)
	if _, err := w.service.Forget(t.Context(), forget.Order{By: admin, Who: "mika"}); err != nil {
		t.Fatal(err)
	}
	w.service.Stop(func(step string) error {
		if step == "done" {
			return errors.New("killed")
		}
		return nil
	})
	if err := w.service.Resume(t.Context()); err == nil {
		t.Fatal("it was not killed")
	}
	w.append("main", entry.KindSaid, entry.Said{From: "aya", By: abi.KindCompanion, Kind: abi.KindTurn, Basis: 4, Text: "タマさあ"})
	w.append("main", entry.KindSaid, entry.Said{From: "mika", By: abi.KindHuman, Kind: abi.KindTurn, Text: "また来たよ"})
	w.append("main", entry.KindSaid, entry.Said{From: "aya", By: abi.KindCompanion, Kind: abi.KindTurn, Basis: 1000, Text: "おかえり"})
	for _, text := range []string{"寒いですね", "暖かいですね"} { // of a round of before, and asked for when nothing was left of that
		token := "g " + text
		w.append("main", entry.KindDecision, entry.Decision{Round: 4, Outcome: entry.OutcomeGrant, Speaker: "aya", Grant: &abi.Grant{Token: token, Basis: 4}})
		w.append("main", entry.KindSaid, entry.Said{From: "aya", By: abi.KindCompanion, Kind: abi.KindTurn, Basis: 4, Grant: token, Text: text})
	}
	if err := w.j.SetErased(t.Context(), w.service.Receipts()[0].ID); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		w.close(t)
		w.open()
	}
	if found := forgettest.Left(t, w.dir, "タマさあ"); len(found) > 0 {
		t.Error(found)
	}
	for _, stays := range []string{"また来たよ", "おかえり", "寒いですね", "暖かいですね"} {
		if len(forgettest.Left(t, w.dir, stays)) == 0 {
			t.Errorf("%s is gone", stays)
		}
	}
	w.sound()
	w.close(t)
}

// TestKilledHalfway has a daemon killed when the rooms had lost the words and the order was not done, while a companion votes about a line
// that had them.
func TestKilledHalfway(t *testing.T) {
	w := newWorld(t)
	w.prepare()
	plant(t, w)
	if _, err := w.service.Forget(t.Context(), forget.Order{By: admin, Who: "mika"}); err != nil {
		t.Fatal(err)
	}
	w.service.Stop(func(step string) error {
		if step == "memory" {
			return errors.New("killed")
		}
		return nil
	})
	if err := w.service.Resume(t.Context()); err == nil {
		t.Fatal("it was not killed")
	}
	line := w.append("main", entry.KindSaid, entry.Said{From: "aya", By: abi.KindCompanion, Kind: abi.KindTurn, Basis: 4, Text: "タマさあ"})
	w.append("main", entry.KindVote, entry.Voted{Round: line.Seq, Voter: "aya", Vote: abi.Vote{State: abi.Speak, Reason: "タマのことだから"}})
	w.append("main", entry.KindSaid, entry.Said{From: "taro", By: abi.KindHuman, Kind: abi.KindTurn, Text: "また来たよ"})
	w.close(t)
	w.open()
	if found := forgettest.Left(t, w.dir, "タマさあ", "タマのことだから"); len(found) > 0 {
		t.Error(found)
	}
	if len(forgettest.Left(t, w.dir, "また来たよ")) == 0 {
		t.Error("what somebody said is gone")
	}
	w.sound()
	w.close(t)
}
