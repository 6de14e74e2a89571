package forget_test

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/forget"
	"github.com/companiond/companiond/host/forget/forgettest"
	"github.com/companiond/companiond/host/forget/told"
	"github.com/companiond/companiond/host/identity"
	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/memory"
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

// planned looks at what an order would take, and has it carried out.
func (w *world) planned(t *testing.T, order forget.Order) forget.Receipt {
	t.Helper()
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
	return plan
}

// TestHouseKeepsItsKeys: what the house counts is no module's, whatever it is called.
func TestHouseKeepsItsKeys(t *testing.T) {
	w := remembering(t, [2]string{"mika", "モデルはclaude-9000、猫はタマ"}, [2]string{"taro", "ふうん"}, [2]string{"taro", "音楽の時間だ"}, [2]string{"hana", "音楽だね"})
	defer w.close(t)
	const spent = `{"models":{"mika":{"spent":12345678},"claude-9000":1},"note":"タマ"}`
	for who, value := range map[string]string{":house": spent, "aya": "タマ"} {
		if err := w.j.KVSet(t.Context(), who, "spent", value); err != nil {
			t.Fatal(err)
		}
	}
	order := forget.Order{By: admin, Who: "mika"}
	plan := w.planned(t, order)
	if got, _, err := w.j.KVGet(t.Context(), ":house", "spent"); got != spent || err != nil {
		t.Errorf("of what was spent there is left %q, %v", got, err)
	}
	if _, ok, _ := w.j.KVGet(t.Context(), "aya", "spent"); ok || plan.Keys != 1 || w.service.Receipts()[0].Keys != 1 {
		t.Errorf("planned %+v", plan)
	}
}

// TestPiecesOfALine: where a line loses its text, so does all that was written of it, though no piece tells anything, and
// also what is between two pieces.
func TestPiecesOfALine(t *testing.T) {
	w := remembering(t, [2]string{"mika", "猫はビスコッティ"}, [2]string{"taro", "ふうん"}, [2]string{"taro", "音楽の時間だ"}, [2]string{"hana", "音楽だね"})
	defer w.close(t)
	pieces := func(grant string, texts ...string) {
		for i, text := range texts {
			w.append("main", entry.KindSegment, entry.Segment{Grant: grant, Who: "aya", N: i + 1, Text: text, Voice: []entry.Beat{{Bytes: len(text), MS: 400}}})
		}
	}
	wish := w.append("main", entry.KindWish, entry.Wish{Who: "aya", Importance: 3, Text: "白いふわふわの", Due: time.Now().Add(time.Hour), Parameters: []byte(`{"message":"白いふわふわの"}`)})
	w.append("main", entry.KindRefused, entry.Refused{Who: "aya", By: abi.KindCompanion, Kind: abi.KindTurn, Code: abi.CodeStale, Why: "taro spoke", Grant: "g1", Text: "まるくて柔らか"})
	pieces("g1", "あの子は", "とても甘えん坊で", "ビスコッティね")
	said := w.append("main", entry.KindSaid, entry.Said{From: "aya", By: abi.KindCompanion, Text: "あの子はとても甘えん坊でビスコッティね", Kind: abi.KindTurn, Grant: "g1", Segments: 3, Wish: wish.Seq})
	w.append("main", entry.KindHeard, entry.Heard{Line: "g1", Who: "aya", Of: said.Seq, End: entry.EndCut, Text: "あの子はとて", Why: "somebody spoke over it"})
	pieces("g2", "それはビス", "コッティの毛", "そして欠片")
	pieces("g3", "今夜は月が", "きれいだ")
	w.append("main", entry.KindSaid, entry.Said{From: "aya", By: abi.KindCompanion, Text: "今夜は月がきれいだ", Kind: abi.KindTurn, Grant: "g3", Segments: 2})
	order := forget.Order{By: admin, Who: "mika"}
	plan := w.planned(t, order)
	if left := forgettest.Left(t, w.dir, "あの子は", "甘えん坊", "ビスコッティ", "それはビス", "コッティの毛", "欠片", "ふわふわ", "まるくて柔らか"); len(left) > 0 {
		t.Error(strings.Join(left, "\n"))
	}
	for _, text := range []string{"今夜は月が", "きれいだ"} {
		if len(forgettest.Left(t, w.dir, text)) == 0 {
			t.Errorf("%q is gone", text)
		}
	}
	if r := w.service.Receipts()[0]; r.Entries != 11 || plan.Entries != r.Entries {
		t.Errorf("planned %+v, done %+v", plan, r)
	}
	w.sound()
}

// TestStreamOfMemories: what stays in a memory is what it was when its stream is read again, and of what goes nothing is left there, nor
// the name of the person who changed something.
func TestStreamOfMemories(t *testing.T) {
	w := newWorld(t)
	w.prepare()
	defer w.close(t)
	keep := func() *memory.Keeper {
		return memory.New(memory.Config{Journal: w.j, Owner: w.newID(), NewID: w.newID, Log: slog.New(slog.DiscardHandler)})
	}
	ctx, k := t.Context(), keep()
	write := func(text, by string, about ...string) string {
		t.Helper()
		m, err := k.Write(ctx, "aya", abi.MemoryAdd{Text: text, About: about}, "", by)
		if err != nil {
			t.Fatal(err)
		}
		return m.ID
	}
	nuts, cat := write("taroはナッツがだめ", "taro", "taro"), write("飼い猫はビスコッティ", "mika", "mika")
	old := write("taroはmikaと暮らす", "taro", "taro")
	over := time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
	text := "taroは引っ越した"
	_, err := k.Edit(ctx, "aya", nuts, memory.Changes{ValidTo: &over}, "mika")
	if err == nil {
		_, err = k.Edit(ctx, "aya", old, memory.Changes{Text: &text}, "taro")
	}
	if err != nil {
		t.Fatal(err)
	}
	w.service, err = forget.Open(forget.Config{Journal: w.j, Dir: w.dir, Owner: w.newID(), Memory: told.Memory{Keeper: k}, Log: slog.New(slog.DiscardHandler)})
	if err == nil {
		_, err = w.service.Forget(ctx, forget.Order{By: admin, Who: "mika"})
	}
	if err == nil {
		err = w.service.Resume(ctx)
	}
	if err != nil {
		t.Fatal(err)
	}
	for name, k := range map[string]*memory.Keeper{"live": k, "after a restart": keep()} {
		if m, err := k.Get(ctx, "aya", nuts); err != nil || !m.ValidTo.Equal(over) || m.Text == "" {
			t.Errorf("%s: %+v %v", name, m, err)
		}
		for _, id := range []string{cat, old} {
			if m, err := k.Get(ctx, "aya", id); err == nil {
				t.Errorf("%s: %+v", name, m)
			}
		}
	}
	if left := forgettest.Left(t, w.dir, "mika", "ビスコッティ"); len(left) > 0 {
		t.Error(strings.Join(left, "\n"))
	}
	if r := w.service.Receipts()[0]; r.Memories != 2 || r.Others.Memories != 1 {
		t.Errorf("%+v", r)
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
	plan := w.planned(t, order)
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

// person is who gives an order for herself.
func person(name string) identity.Caller {
	return identity.Caller{Name: name, Kind: abi.KindHuman, Scopes: []identity.Scope{identity.Read, identity.Talk}}
}

// TestOnOnesOwnOrder: other people's lines keep their texts, but for the name, and the receipt says how many have it, and how many
// stay that may have more.
func TestOnOnesOwnOrder(t *testing.T) {
	lines := [][2]string{{"mika", "猫はビスコッティ、電話は090-1234-5678"}, {"taro", "ビスコッティ、かわいい"}, {"taro", "ねえmika、元気?"}, {"hana", "09012345678にかける"}, {"hana", "音楽だね"}, {"hana", "音楽の時間"}}
	w := remembering(t, lines...)
	defer w.close(t)
	w.append("main", entry.KindSaid, entry.Said{From: "aya", By: abi.KindCompanion, Text: "ビスコッティは元気?", Kind: abi.KindTurn})
	order := forget.Order{By: person("mika"), Who: "mika"}
	plan := w.planned(t, order)
	r := w.service.Receipts()[0]
	if want := (forget.Others{Renamed: 1, Stay: 2, Episodes: 1}); r.Others != want || plan.Others != want || r.Entries != 3 || plan.Entries != 3 {
		t.Errorf("planned %+v, done %+v", plan, r)
	}
	if left := forgettest.Left(t, w.dir, "mika", "ビスコッティは元気", "猫は"); len(left) > 0 {
		t.Error(strings.Join(left, "\n"))
	}
	for _, text := range []string{"ビスコッティ、かわいい", "ねえ" + r.As + "、元気?"} {
		if len(forgettest.Left(t, w.dir, text)) == 0 {
			t.Errorf("%q is gone", text)
		}
	}
	w.sound()
}

// TestOneFactOfOnesOwn: what goes of what only she said is not counted as other people's.
func TestOneFactOfOnesOwn(t *testing.T) {
	lines := [][2]string{{"hana", "うちの猫はビスコッティっていう名前です。"}, {"hana", "ビスコッティは白い"}, {"taro", "白いのか"}, {"taro", "音楽の時間だ"}, {"hana", "音楽だね"}}
	w := remembering(t, lines...)
	defer w.close(t)
	var id string
	for _, m := range w.memory.all["aya"] {
		if m.SaidBy == "hana" && strings.Contains(m.Text, "ビスコッティ") {
			id = m.ID
		}
	}
	plan := w.planned(t, forget.Order{By: person("hana"), Claimed: "hana", Facts: []string{id}, Companion: "aya"})
	r := w.service.Receipts()[0]
	if r.Entries != 2 || r.Others.Entries+r.Others.Renamed != 0 || plan.Entries != 2 || plan.Others != r.Others {
		t.Errorf("planned %+v, done %+v", plan, r)
	}
	if left := forgettest.Left(t, w.dir, "ビスコッティ"); len(left) > 0 {
		t.Error(strings.Join(left, "\n"))
	}
}

// TestValuesOfMemories: what was remembered of her in few letters is looked for in what companions said, and stays where people said it.
func TestValuesOfMemories(t *testing.T) {
	w := newWorld(t)
	w.prepare()
	defer w.close(t)
	for _, name := range []string{"main", journal.MemoryOf("aya")} {
		if _, err := w.j.Acquire(t.Context(), name, "test", time.Now()); err != nil {
			t.Fatal(err)
		}
	}
	w.append("main", entry.KindSaid, entry.Said{From: "mika", By: abi.KindHuman, Text: "I keep some kippers, my cat", Kind: abi.KindTurn})
	w.append("main", entry.KindSaid, entry.Said{From: "aya", By: abi.KindCompanion, Text: "how is kippers, then", Kind: abi.KindTurn})
	w.append("main", entry.KindSaid, entry.Said{From: "taro", By: abi.KindHuman, Text: "I eat kippers", Kind: abi.KindTurn})
	for i, who := range []string{"mika", "taro"} {
		w.append(journal.MemoryOf("aya"), entry.KindRemembered, entry.Remembered{Slot: "pet.name", Value: []string{"kippers", "somewhere"}[i], Memory: abi.Memory{
			ID: who, Kind: abi.MemoryFact, Text: "x", SaidBy: who, SaidAt: time.Now().UTC().Add(-time.Minute)}})
	}
	w.append("main", entry.KindSaid, entry.Said{From: "aya", By: abi.KindCompanion, Text: "it is somewhere", Kind: abi.KindTurn})
	w.planned(t, forget.Order{By: admin, Who: "mika"})
	if left := forgettest.Left(t, w.dir, "how is kippers", "I keep some"); len(left) > 0 {
		t.Error(strings.Join(left, "\n"))
	}
	for _, text := range []string{"I eat kippers", "it is somewhere"} {
		if len(forgettest.Left(t, w.dir, text)) == 0 {
			t.Errorf("%q is gone", text)
		}
	}
}

// TestNobody: where nobody is called so, the receipt says it.
func TestNobody(t *testing.T) {
	w := remembering(t, [2]string{"mika", "猫はタマ"}, [2]string{"taro", "音楽の時間だ"}, [2]string{"hana", "音楽だね"}, [2]string{"hana", "ねえjiro、いる?"})
	defer w.close(t)
	for _, c := range []struct {
		who    string
		nobody bool
	}{{"mikka", true}, {"jiro", true}, {"mika", false}, {"Taro", false}} {
		plan := w.planned(t, forget.Order{By: admin, Who: c.who})
		if r := w.service.Receipts()[0]; r.Nobody != c.nobody || plan.Nobody != c.nobody {
			t.Errorf("%s: planned %+v, done %+v", c.who, plan, r)
		}
	}
}
