package forget_test

import (
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/forget"
	"github.com/companiond/companiond/host/forget/forgettest"
	"github.com/companiond/companiond/host/journal"
)

// TestKeysOfForks: words go from what companions keep in forks, and from what they kept before, be it for forks that are there or
// for those to come. What is counted is keys.
func TestKeysOfForks(t *testing.T) {
	w := remembering(t, [2]string{"mika", "猫はビスコッティ"}, [2]string{"taro", "ふうん"}, [2]string{"taro", "音楽の時間だ"}, [2]string{"hana", "音楽だね"})
	defer w.close(t)
	ctx := t.Context()
	set := func(room string, pairs ...string) {
		t.Helper()
		w.append(room, entry.KindSaid, entry.Said{From: "taro", By: abi.KindHuman, Text: "うん", Kind: abi.KindTurn})
		for p := range slices.Chunk(pairs, 2) {
			err := w.j.KVIn(room).KVSet(ctx, "aya", p[0], p[1])
			if p[1] == "" {
				_, _, err = w.j.KVIn(room).KVDel(ctx, "aya", p[0])
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	set("main", "cat", "いない", "weather", "晴れ", "of mika", "x")
	set("main", "cat", "ビスコッティ", "of mika", "")
	if _, err := w.j.Acquire(ctx, "fork", "test", time.Now()); err != nil {
		t.Fatal(err)
	}
	forkKeys(t, w.path(), "fork", "main", 1000)
	set("main", "cat", "知らない", "weather", "雨")
	set("fork", "own", "mikaのビスコッティ", "plain", "音楽")
	set("fork", "own", "音楽")
	if got, _, err := w.j.KVIn("fork").KVGet(ctx, "aya", "cat"); got != "ビスコッティ" || err != nil {
		t.Fatal(got, err)
	}
	plan := w.planned(t, forget.Order{By: admin, Who: "mika"})
	if left := forgettest.Left(t, w.dir, "mika", "ビスコッティ"); len(left) > 0 {
		t.Error(strings.Join(left, "\n"))
	}
	for key, want := range map[string]string{"main cat": "知らない", "fork cat": "", "fork weather": "晴れ", "fork own": "音楽", "fork plain": "音楽"} {
		room, key, _ := strings.Cut(key, " ")
		if got, _, err := w.j.KVIn(room).KVGet(ctx, "aya", key); got != want || err != nil {
			t.Errorf("%s of %s is %q, %v", key, room, got, err)
		}
	}
	if r := w.service.Receipts()[0]; r.Keys != 3 || plan.Keys != 3 {
		t.Errorf("planned %+v, done %+v", plan, r)
	}
}

// TestKeysOfModulesThatForget: a key that a module takes out itself when it is told is counted as the others are, and as it was planned.
func TestKeysOfModulesThatForget(t *testing.T) {
	w := newWorld(t)
	w.start("main", "side")
	w.say("main", "mika", "猫はビスコッティ")
	for _, key := range []string{"human/mika", "cat", "weather"} {
		if err := w.j.KVSet(t.Context(), "aya", key, map[string]string{"cat": "mikaの猫"}[key]); err != nil {
			t.Fatal(err)
		}
	}
	w.modules.does = func(f abi.Forget) {
		if _, _, err := w.j.KVDel(t.Context(), "aya", "human/"+f.Who); err != nil {
			t.Error(err)
		}
	}
	plan, err := w.service.Plan(t.Context(), forget.Order{By: admin, Who: "mika"})
	if err != nil {
		t.Fatal(err)
	}
	r, err := w.service.Forget(t.Context(), forget.Order{By: admin, Who: "mika"})
	if err == nil {
		r, err = w.service.Wait(t.Context(), r.ID)
	}
	if err != nil || plan.Keys != 2 || r.Keys != 2 {
		t.Errorf("%d keys were planned and %d went, %v", plan.Keys, r.Keys, err)
	}
}

// TestModulesAreToldInForks in which they keep something.
func TestModulesAreToldInForks(t *testing.T) {
	w := newWorld(t)
	w.start("main", "side")
	w.say("main", "mika", "猫はビスコッティ")
	if err := w.j.Register(t.Context(), "fork", journal.Listing{By: "taro"}); err != nil {
		t.Fatal(err)
	}
	forkKeys(t, w.path(), "fork", "main", 1)
	for _, room := range []string{"main", "fork", "fork"} {
		if err := w.j.KVIn(room).KVSet(t.Context(), "aya", fmt.Sprint(time.Now().UnixNano()), "x"); err != nil {
			t.Fatal(err)
		}
	}
	r, err := w.service.Forget(t.Context(), forget.Order{By: admin, Who: "mika"})
	if err == nil {
		_, err = w.service.Wait(t.Context(), r.ID)
	}
	if err != nil {
		t.Fatal(err)
	}
	w.modules.mu.Lock()
	defer w.modules.mu.Unlock()
	if got := fmt.Sprint(w.modules.where); got != "[map[aya:[fork]]]" {
		t.Errorf("told in %s", got)
	}
}

// forkKeys has a room's keys be those of a fork, behind the journal's back.
func forkKeys(t *testing.T, path, room, of string, at int) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=busy_timeout(10000)")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(`INSERT INTO kv_forks(room_id, born, parent, left_id, at)
		VALUES((SELECT id FROM rooms WHERE name = ?), 1, 0, (SELECT id FROM rooms WHERE name = ?), ?)`, room, of, at); err != nil {
		t.Fatal(err)
	}
}
