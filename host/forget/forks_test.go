package forget_test

import (
	"strings"
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/forget"
	"github.com/companiond/companiond/host/forget/forgettest"
	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/room/reader"
)

// TestForksAndCheckpoints: words go out of what forks share and of what is their own, and out of
// all states of rooms that are kept, not only the newest.
func TestForksAndCheckpoints(t *testing.T) {
	w := newWorld(t)
	w.prepare()
	ctx := t.Context()
	if _, err := w.j.Acquire(ctx, "main", "test", time.Now()); err != nil {
		t.Fatal(err)
	}
	w.said("main", "taro", "今日は寒いね")
	w.keep("main")
	w.many("main")
	parted := w.said("main", "mika", "うちの猫はタマっていうの").Seq
	w.keep("main")
	w.many("main")
	w.keep("main")
	for name, f := range map[string]journal.Fork{"child": {Of: "main", At: parted}, "early": {Of: "main", At: 2}} {
		if _, err := w.j.Fork(ctx, name, f, journal.Listing{}); err != nil {
			t.Fatal(err)
		}
	}
	w.said("child", "mika", "銀の匙が好き")
	w.keep("child")
	w.many("child")
	w.keep("child")
	row, _, err := w.j.Room(ctx, "child")
	if err == nil {
		_, err = w.j.Fork(ctx, "grand", journal.Fork{Of: "child", At: row.Head.Seq}, journal.Listing{})
	}
	if err != nil {
		t.Fatal(err)
	}
	if found := strings.Join(forgettest.Left(t, w.dir, "mika"), "\n"); strings.Count(found, "snapshots") < 3 {
		t.Fatalf("no older states have it:\n%s", found)
	}
	if _, err := w.service.Forget(ctx, forget.Order{By: admin, Who: "mika"}); err != nil {
		t.Fatal(err)
	}
	if err := w.service.Resume(ctx); err != nil {
		t.Fatal(err)
	}
	if found := forgettest.Left(t, w.dir, "mika", "タマ", "銀の匙"); len(found) > 0 {
		t.Error(strings.Join(found, "\n"))
	}
	w.sound()
	for _, room := range []string{"main", "child", "grand"} {
		row, _, err := w.j.Room(ctx, room)
		if seq, _, serr := w.j.GetSnapshot(ctx, room); err != nil || serr != nil || seq+1 != row.Head.Seq {
			t.Errorf("%s ends at %d, and its snapshot is of %d (%v %v)", room, row.Head.Seq, seq, err, serr)
		}
	}
	if seq, _, err := w.j.SnapshotAt(ctx, "main", parted-1); seq != 2 || err != nil {
		t.Errorf("what is older than all of it is gone, too: %d %v", seq, err)
	}
	w.close(t)
}

// said writes a message.
func (w *world) said(room, from, text string) entry.Entry {
	w.t.Helper()
	return w.append(room, entry.KindSaid, entry.Said{From: from, By: abi.KindHuman, Text: text, Kind: abi.KindTurn, To: []string{"aya"}})
}

// keep keeps a room's state.
func (w *world) keep(room string) {
	w.t.Helper()
	ctx := w.t.Context()
	st, _, err := reader.Fold(ctx, w.j, room)
	if err == nil {
		err = reader.Keep(ctx, w.j, room, st)
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

// many writes so many entries that the states before and behind them are both kept.
func (w *world) many(room string) {
	w.t.Helper()
	ctx := w.t.Context()
	row, _, err := w.j.Room(ctx, room)
	if err != nil {
		w.t.Fatal(err)
	}
	news := make([]journal.New, journal.Apart)
	for i := range news {
		news[i] = journal.New{ID: w.newID(), Kind: entry.KindUsage, V: 1, At: time.Now(), Body: []byte(`{"who":"aya","model":"m","op":"vote"}`)}
	}
	if _, err := w.j.Append(ctx, room, row.Head, news...); err != nil {
		w.t.Fatal(err)
	}
}
