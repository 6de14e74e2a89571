package forget_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/forget"
	"github.com/companiond/companiond/host/forget/forgettest"
	"github.com/companiond/companiond/host/memory/extract"
	"github.com/companiond/companiond/host/memory/fact"
)

// remembering gives a world whose companion remembers by rules what people said there.
func remembering(t *testing.T, lines ...[2]string) *world {
	t.Helper()
	w := newWorld(t)
	w.prepare()
	if _, err := w.j.Acquire(t.Context(), "main", "test", time.Now()); err != nil {
		t.Fatal(err)
	}
	var turns []fact.Turn
	for _, l := range lines {
		e := w.append("main", entry.KindSaid, entry.Said{From: l[0], By: abi.KindHuman, Text: l[1], Kind: abi.KindTurn})
		turns = append(turns, fact.Turn{Room: "main", Seq: e.Seq, From: l[0], By: abi.KindHuman, At: time.Now().UTC(), Text: l[1]})
	}
	found := extract.Facts(turns, nil)
	episode, ok := extract.Episode(turns, nil)
	if !ok {
		t.Fatal("no episode")
	}
	w.memory.all = map[string][]abi.Memory{}
	for i, n := range append(found, episode) {
		n.ID = fmt.Sprintf("rules-%02d", i)
		w.memory.all["aya"] = append(w.memory.all["aya"], n.Memory)
	}
	return w
}

// TestHouseKeepsItsKeys: what the house counts is no module's, whatever it is called.
func TestHouseKeepsItsKeys(t *testing.T) {
	w := remembering(t, [2]string{"mika", "モデルはclaude-9000、猫はタマ"}, [2]string{"taro", "ふうん"}, [2]string{"taro", "眠い時間だ"}, [2]string{"hana", "眠い時間だね"})
	defer w.close(t)
	const spent = `{"models":{"mika":{"spent":12345678},"claude-9000":1},"note":"タマ"}`
	for who, value := range map[string]string{":house": spent, "aya": "タマ"} {
		if err := w.j.KVSet(t.Context(), who, "spent", value); err != nil {
			t.Fatal(err)
		}
	}
	order := forget.Order{By: admin, Who: "mika"}
	plan, err := w.service.Plan(t.Context(), order)
	if err == nil {
		_, err = w.service.Forget(t.Context(), order)
	}
	if err == nil {
		err = w.service.Resume(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	if got, _, err := w.j.KVGet(t.Context(), ":house", "spent"); got != spent || err != nil {
		t.Errorf("of what was spent there is left %q, %v", got, err)
	}
	if _, ok, _ := w.j.KVGet(t.Context(), "aya", "spent"); ok || plan.Keys != 1 || w.service.Receipts()[0].Keys != 1 {
		t.Errorf("planned %+v", plan)
	}
}

// TestOthersKeepTheirWords: by the words that the house finds things by, nobody else's words go, nor what is remembered of
// them.
func TestOthersKeepTheirWords(t *testing.T) {
	taros := []string{"My name is Taro. I'm allergic to nuts.", "I will fly to Rome on December 3.", "これ好き", "チョコが好きです。", "来月、旅行に行く予定です。"}
	lines := [][2]string{{"mika", "いちごが好きです。"}, {"mika", "卵アレルギーです。"}, {"mika", "My name is Mika."}, {"mika", "来週の土曜日に京都へ旅行に行く予定です。"}, {"mika", "うちの猫はビスコッティ、2027年に来た"}}
	for _, l := range taros {
		lines = append(lines, [2]string{"taro", l})
	}
	for i := range 30 {
		lines = append(lines, [2]string{fmt.Sprint("viewer", i), "名前は知らないけど好き、2027年も"})
	}
	lines = append(lines, [2]string{"taro", "ビスコッティはかわいい"})
	w := remembering(t, lines...)
	defer w.close(t)
	before := map[string]int{}
	for _, m := range w.memory.all["aya"] {
		before[m.SaidBy]++
	}
	if before["taro"] < 3 || before["mika"] < 3 {
		t.Fatalf("remembered: %v", before)
	}
	order := forget.Order{By: admin, Who: "mika"}
	plan, err := w.service.Plan(t.Context(), order)
	if err == nil {
		_, err = w.service.Forget(t.Context(), order)
	}
	if err == nil {
		err = w.service.Resume(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	after := map[string]int{}
	for _, m := range w.memory.all["aya"] {
		after[m.SaidBy]++
	}
	if after["taro"] != before["taro"] || after["mika"] != 0 || after[""] != 0 {
		t.Errorf("of %v there is left %v", before, after)
	}
	for _, text := range append(taros, "名前は知らないけど好き、2027年も") {
		if len(forgettest.Left(t, w.dir, text)) == 0 {
			t.Errorf("%q is gone", text)
		}
	}
	if left := forgettest.Left(t, w.dir, "mika", "ビスコッティ", "京都"); len(left) > 0 {
		t.Error(strings.Join(left, "\n"))
	}
	r := w.service.Receipts()[0]
	if want := (forget.Others{Entries: 1, Episodes: 1}); r.Others != want || plan.Others != want || r.Entries != 6 || r.Memories != before["mika"]+1 {
		t.Errorf("planned %+v, done %+v", plan, r)
	}
}
