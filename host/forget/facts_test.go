package forget_test

import (
	"cmp"
	"errors"
	"log/slog"
	"slices"
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

// keeping gives a world in which companions remember by rules what rika said, each in its own stream, behind what
// others say.
func keeping(t *testing.T, companions []string, lines ...string) (*world, *memory.Keeper) {
	t.Helper()
	w := newWorld(t)
	w.prepare()
	t.Cleanup(func() { _ = w.j.Close() })
	for _, name := range append([]string{"main"}, companions...) {
		if name != "main" {
			name = journal.MemoryOf(name)
		}
		if _, err := w.j.Acquire(t.Context(), name, "test", time.Now()); err != nil {
			t.Fatal(err)
		}
	}
	for _, text := range lines {
		e := w.said("main", "rika", text)
		w.remember(t, companions, fact.Turn{Room: "main", Seq: e.Seq, From: "rika", By: abi.KindHuman, At: time.Now().UTC().Truncate(time.Millisecond), Text: text})
	}
	k := memory.New(memory.Config{Journal: w.j, Owner: w.newID(), NewID: w.newID, Log: slog.New(slog.DiscardHandler)})
	w.serve(t, k)
	return w, k
}

func (w *world) serve(t *testing.T, k *memory.Keeper) {
	t.Helper()
	var err error
	if w.service, err = forget.Open(forget.Config{Journal: w.j, Dir: w.dir, Owner: w.newID(), Memory: told.Memory{Keeper: k}, Log: slog.New(slog.DiscardHandler)}); err != nil {
		t.Fatal(err)
	}
}

// remember has companions find what there is to remember in a turn.
func (w *world) remember(t *testing.T, companions []string, turns ...fact.Turn) {
	t.Helper()
	for _, c := range companions {
		for _, n := range extract.Facts(turns, nil) {
			n.ID, n.Visibility = w.newID(), abi.VisibleRoom
			w.append(journal.MemoryOf(c), entry.KindRemembered, entry.Remembered{Memory: n.Memory, Slot: n.Slot, Value: n.Value, How: n.How})
		}
	}
}

// of gives what a companion remembers that rests on a quotation with some words, or has them.
func of(t *testing.T, k *memory.Keeper, companion, words string) (found []abi.Memory) {
	t.Helper()
	page, err := k.List(t.Context(), companion, memory.Filter{Past: true, Limit: memory.MaxList})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range page.Memories {
		if strings.Contains(m.Quote+"\n"+m.Text, words) {
			found = append(found, m)
		}
	}
	return found
}

// TestAFactGoesWithWhatItRestsOn erases one fact each, and looks for it in every file.
func TestAFactGoesWithWhatItRestsOn(t *testing.T) {
	for _, c := range []struct {
		text, words, quote string   // what rika said, what is not to be left of it, and the quotation, where that is a part
		stays              []string // of it
	}{
		{"離婚した", "離婚", "", nil},
		{"i was in prison for theft", "prison", "", nil},
		{"ねこのなまえはくろまめ", "くろまめ", "", nil},
		{"I like ramen.", "ramen", "", nil},
		{"I have hepatitis", "hepatitis", "", nil},
		{"今日は寒いね。離婚した。明日は海へ行く?", "離婚", "離婚した", []string{"今日は寒いね。", "明日は海へ行く?"}},
		{"Good morning everyone! I like ramen. It is cold today.", "ramen", "", []string{"Good morning everyone!", "It is cold today."}},
	} {
		t.Run(c.text, func(t *testing.T) {
			w, k := keeping(t, []string{"aya", "kiko"}, c.text, "猫が好きです。")
			for _, text := range []string{"うーん", "ふむ", "そうだね"} {
				w.said("main", "zed", text)
			}
			w.append("main", entry.KindSaid, entry.Said{From: "aya", By: abi.KindCompanion, Text: "「" + c.text + "」なんだね", Kind: abi.KindTurn})
			named := of(t, k, "aya", c.words)
			if len(named) == 0 || len(of(t, k, "kiko", c.words)) == 0 { // no rule finds it: a model did
				for _, name := range []string{"aya", "kiko"} {
					w.append(journal.MemoryOf(name), entry.KindRemembered, entry.Remembered{Memory: abi.Memory{ID: w.newID(), Kind: abi.MemoryFact, Text: "rika: " + c.words, Quote: cmp.Or(c.quote, c.text), Room: "main", Turns: []uint64{2}, SaidBy: "rika", About: []string{"rika"}, SaidAt: time.Now().UTC(), Importance: 3, Visibility: abi.VisibleRoom}, How: entry.HowModel})
				}
				k = memory.New(memory.Config{Journal: w.j, Owner: w.newID(), NewID: w.newID, Log: slog.New(slog.DiscardHandler)})
				w.serve(t, k)
				named = of(t, k, "aya", c.words)
			}
			plan := w.planned(t, forget.Order{By: admin, Facts: []string{named[0].ID}, Companion: "aya"})
			if left := forgettest.Left(t, w.dir, c.words); len(left) > 0 {
				t.Error(strings.Join(left, "\n"))
			}
			for _, text := range append(c.stays, "猫が好きです。") {
				if len(forgettest.Left(t, w.dir, text)) == 0 {
					t.Errorf("%q is gone", text)
				}
			}
			r := w.service.Receipts()[0]
			if r.Memories != 2 || r.Entries < 2 || r.Others != (forget.Others{}) || r.Unfound != 0 || plan.Memories != r.Memories || plan.Entries != r.Entries {
				t.Errorf("planned %+v, done %+v", plan, r)
			}
			es, err := w.j.Read(t.Context(), "main", 1, 1)
			if m, ok := es[0].Message(); err != nil || !ok || m.From != "rika" || entry.ErasedBy(es[0]) != r.ID || (m.Text == "") != (m.Cut == entry.CutErased) || (m.Text == "") != (c.stays == nil) {
				t.Errorf("%+v %v", m, err)
			}
			w.sound()
		})
	}
}

// TestAFactThatManySay: the message that a fact rests on goes also where others use the same words, or it is too short to be looked for;
// what they said stays, and that it does is said.
func TestAFactThatManySay(t *testing.T) {
	for _, c := range []struct{ text, quote string }{{"離婚した", "離婚した"}, {"やあ。無職。", "無職。"}} {
		w, k := keeping(t, []string{"aya", "kiko"})
		for _, who := range []string{"zed", "yan", "xia"} {
			w.said("main", who, c.quote)
		}
		seq := w.said("main", "rika", c.text).Seq
		if _, err := w.j.Fork(t.Context(), "child", journal.Fork{Of: "main", At: seq}, journal.Listing{}); err != nil {
			t.Fatal(err)
		}
		for name, room := range map[string]string{"aya": "main", "kiko": "child"} {
			w.append(journal.MemoryOf(name), entry.KindRemembered, entry.Remembered{Memory: abi.Memory{ID: "f-" + name, Kind: abi.MemoryFact, Text: "rika: " + c.quote, Quote: c.quote, Room: room, Turns: []uint64{seq}, SaidBy: "rika", About: []string{"rika"}, SaidAt: time.Now().UTC(), Importance: 3, Visibility: abi.VisibleRoom}, How: entry.HowModel})
		}
		w.planned(t, forget.Order{By: admin, Facts: []string{"f-aya"}, Companion: "aya"})
		for _, room := range []string{"main", "child"} {
			es, err := w.j.Read(t.Context(), room, 1, 4)
			if err != nil || len(es) != 4 {
				t.Fatalf("%v %v", es, err)
			}
			for _, e := range es {
				m, _ := e.Message()
				if has := strings.Contains(m.Text, c.quote); has != (m.From != "rika") {
					t.Errorf("%s: %s: %q", room, m.From, m.Text)
				}
			}
		}
		for _, name := range []string{"aya", "kiko"} {
			if m := of(t, k, name, c.quote); len(m) > 0 {
				t.Errorf("%s remembers %+v", name, m)
			}
		}
		w.sound()
	}
}

// TestAFactThroughAKill: a daemon that is ended when the message has gone, and the memories are there, goes on with these.
func TestAFactThroughAKill(t *testing.T) {
	for _, at := range []string{"erased", "repeats", "rooms", "memory", "files"} {
		w, k := keeping(t, []string{"aya", "kiko"}, "うん、そう。いちごが好きです。卵アレルギーです。")
		id := of(t, k, "aya", "いちご")[0].ID
		w.service.Stop(func(step string) error {
			if step == at {
				return errors.New("killed")
			}
			return nil
		})
		if _, err := w.service.Forget(t.Context(), forget.Order{By: admin, Facts: []string{id}, Companion: "aya"}); err != nil {
			t.Fatal(err)
		}
		if err := w.service.Resume(t.Context()); err == nil {
			t.Fatalf("%s: it was not stopped", at)
		}
		k = memory.New(memory.Config{Journal: w.j, Owner: w.newID(), NewID: w.newID, Log: slog.New(slog.DiscardHandler)})
		w.serve(t, k)
		if err := w.service.Resume(t.Context()); err != nil {
			t.Fatal(err)
		}
		if left := forgettest.Left(t, w.dir, "いちご"); len(left) > 0 {
			t.Errorf("%s: %s", at, strings.Join(left, "\n"))
		}
		if len(forgettest.Left(t, w.dir, "うん、そう。…卵アレルギーです。")) == 0 || len(of(t, k, "aya", "卵")) != 1 || len(of(t, k, "kiko", "卵")) != 1 {
			t.Errorf("%s: more went than that", at)
		}
		if r := w.service.Receipts()[0]; r.Unfound != 0 || r.State != forget.Done || r.Memories != 2 || r.Entries != 1 || r.Rooms != 1 {
			t.Errorf("%s: %+v", at, r)
		}
		w.sound()
	}
}

// TestAnEditedFactGoes: what somebody corrected goes with what it was before, and the message that that rests on.
func TestAnEditedFactGoes(t *testing.T) {
	w, k := keeping(t, []string{"aya", "kiko"}, "うん。離婚した。", "いちごが好きです。")
	named := of(t, k, "aya", "いちご")
	text := "rikaは苺を食べない"
	if _, err := k.Edit(t.Context(), "aya", named[0].ID, memory.Changes{Text: &text}, "boss"); err != nil {
		t.Fatal(err)
	}
	w.planned(t, forget.Order{By: admin, Facts: []string{named[0].ID}, Companion: "aya"})
	if left := forgettest.Left(t, w.dir, "いちご", "苺"); len(left) > 0 {
		t.Error(strings.Join(left, "\n"))
	}
	if len(forgettest.Left(t, w.dir, "離婚した。")) == 0 {
		t.Error("what rests on another message is gone")
	}
	w.sound()
}

// TestAFactThatWasSaidAgain: all messages go in which it was said, in other rooms and in forks, too, and whatever was remembered of
// these sentences; what rests on another sentence of the same message stays.
func TestAFactThatWasSaidAgain(t *testing.T) {
	w, k := keeping(t, []string{"aya"}, "いちごが好きです。卵アレルギーです。", "わたしはいちごが好き!", "いや、やっぱりいちごが好きです。")
	if _, err := w.j.Acquire(t.Context(), "side", "test", time.Now()); err != nil {
		t.Fatal(err)
	}
	w.said("side", "rika", "そう、いちごが好きです。")
	w.append("side", entry.KindSaid, entry.Said{From: "taro", By: abi.KindHuman, Text: "ぼくもいちごが好きです。", Kind: abi.KindTurn})
	named := of(t, k, "aya", "いちごが好きです。")
	if len(named) == 0 {
		t.Fatal("nothing is remembered")
	}
	id := named[0].ID
	w.append(journal.MemoryOf("aya"), entry.KindRevised, entry.Revised{Of: id, Again: &entry.Again{Room: "main", Turn: 3, At: time.Now().UTC()}})
	k = memory.New(memory.Config{Journal: w.j, Owner: w.newID(), NewID: w.newID, Log: slog.New(slog.DiscardHandler)})
	w.serve(t, k)
	w.planned(t, forget.Order{By: admin, Facts: []string{id}, Companion: "aya"})
	left := forgettest.Left(t, w.dir, "いちご")
	if left = slices.DeleteFunc(left, func(l string) bool { return strings.Contains(l, "ぼくも") || strings.Contains(l, "(bytes)") }); len(left) > 0 {
		t.Error(strings.Join(left, "\n"))
	}
	for _, text := range []string{"ぼくもいちごが好きです。", "…卵アレルギーです。"} {
		if len(forgettest.Left(t, w.dir, text)) == 0 {
			t.Errorf("%q is gone", text)
		}
	}
	if m := of(t, k, "aya", "卵"); len(m) != 1 {
		t.Errorf("of what rests on another sentence there is left %+v", m)
	}
	w.sound()
}

// TestAFactThatSomebodyElseTold: on the word of whom a fact is about the memories of it go, and what somebody else said stays.
func TestAFactThatSomebodyElseTold(t *testing.T) {
	w, k := keeping(t, []string{"aya", "kiko"})
	seq := w.said("main", "taro", "やあ。mikaはビスコッティを飼う。").Seq
	for _, name := range []string{"aya", "kiko"} {
		w.append(journal.MemoryOf(name), entry.KindRemembered, entry.Remembered{Memory: abi.Memory{ID: "f-" + name, Kind: abi.MemoryFact, Text: "pet", Quote: "mikaはビスコッティを飼う。", Room: "main", Turns: []uint64{seq}, SaidBy: "taro", About: []string{"mika"}, SaidAt: time.Now().UTC(), Importance: 3, Visibility: abi.VisibleRoom}, How: entry.HowModel})
	}
	mika := identity.Caller{Name: "mika", Kind: abi.KindHuman, Scopes: []identity.Scope{identity.Read, identity.Talk}}
	plan := w.planned(t, forget.Order{By: mika, Facts: []string{"f-aya"}, Companion: "aya"})
	if r := w.service.Receipts()[0]; !r.Theirs || !plan.Theirs || r.Memories != 2 || r.Entries != 0 || plan.Memories != 2 || len(of(t, k, "aya", "pet"))+len(of(t, k, "kiko", "pet")) != 0 {
		t.Errorf("planned %+v, done %+v", plan, r)
	}
	if len(forgettest.Left(t, w.dir, "やあ。mikaはビスコッティを飼う。")) == 0 {
		t.Error("what taro said is gone")
	}
	w.sound()
}

// TestAnEpisodeGoesAlone: what people said in a talk stays where a companion is to forget what it was about.
func TestAnEpisodeGoesAlone(t *testing.T) {
	w, k := keeping(t, []string{"aya"})
	seq := w.said("main", "taro", "ビスコッティを焼いた。").Seq
	w.append(journal.MemoryOf("aya"), entry.KindRemembered, entry.Remembered{Memory: abi.Memory{ID: "e1", Kind: abi.MemoryEpisode, Text: "taroとビスコッティの話をした", Keys: []string{"ビスコッティ"}, Room: "main", Turns: []uint64{seq}, About: []string{"taro"}, SaidAt: time.Now().UTC(), Importance: 2, Visibility: abi.VisibleRoom}, How: entry.HowRules})
	w.planned(t, forget.Order{By: admin, Facts: []string{"e1"}, Companion: "aya"})
	if r := w.service.Receipts()[0]; r.Memories != 1 || r.Entries != 0 || r.Unfound != 0 || len(of(t, k, "aya", "taro")) != 0 || len(forgettest.Left(t, w.dir, "ビスコッティを焼いた。")) == 0 {
		t.Errorf("%+v", r)
	}
}

// TestAFactOfNoMessage: where nobody knows the message of a fact, the order says so.
func TestAFactOfNoMessage(t *testing.T) {
	w, k := keeping(t, []string{"aya"})
	var ids []string
	for _, m := range []abi.Memory{{Text: "rikaは猫を飼う"}, {Text: "rikaは犬を飼う", Room: "gone", Turns: []uint64{7}}} {
		m.ID, m.Kind, m.SaidBy, m.Importance, m.Visibility, m.SaidAt = w.newID(), abi.MemoryFact, "rika", 3, abi.VisibleAll, time.Now().UTC()
		w.append(journal.MemoryOf("aya"), entry.KindRemembered, entry.Remembered{Memory: m, How: entry.HowModule})
		ids = append(ids, m.ID)
	}
	own, err := k.Write(t.Context(), "aya", abi.MemoryAdd{Text: "rikaは魚を飼う", About: []string{"rika"}}, "", "boss")
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []int{1, 1, 0} { // what somebody wrote at a door rests on no message
		w.planned(t, forget.Order{By: admin, Facts: []string{append(ids, own.ID)[i]}, Companion: "aya"})
		if r := w.service.Receipts()[0]; r.Unfound != want || r.Memories != 1 {
			t.Errorf("%d: %+v", i, r)
		}
	}
	if m := of(t, k, "aya", "rika"); len(m) > 0 {
		t.Errorf("%+v", m)
	}
}
