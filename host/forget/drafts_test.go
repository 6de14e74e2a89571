package forget_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/forget"
	"github.com/companiond/companiond/host/forget/forgettest"
	"github.com/companiond/companiond/host/history"
	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/room/reader"
)

// TestDrafts: what turns are told as goes with the words of one of them, whatever words it says that in; what
// was drafted of others' turns alone stays. What is left of the turns is told as it was said. In a fork, too.
func TestDrafts(t *testing.T) {
	w := newWorld(t)
	w.prepare()
	ctx := t.Context()
	if _, err := w.j.Acquire(ctx, "main", "test", time.Now()); err != nil {
		t.Fatal(err)
	}
	first := w.said("main", "taro", "おはよう")
	second := w.said("main", "taro", "傘を忘れないで")
	hers := w.said("main", "mika", "うちの猫はタマっていうの")
	last := w.said("main", "taro", "いい名前だね")
	compress := func(id string, from, to uint64, seqs [2]uint64, text string) {
		for _, in := range []history.Input{
			{Kind: history.Propose, Proposal: id, By: "taro", Ask: &history.Ask{Turns: history.Range{From: from, To: to}, Seqs: seqs, Length: history.Length{N: 99, Unit: history.Characters}}},
			{Kind: history.Drafted, Proposal: id, Draft: &history.Draft{N: 1, Text: text, Verdict: history.Yes, Findings: []history.Finding{{ID: "M1", Item: text, Status: history.Kept}}}},
			{Kind: history.Approve, Proposal: id, By: "taro"},
		} {
			w.append("main", entry.KindHistory, in)
		}
	}
	compress("his", 1, 2, [2]uint64{first.Seq, second.Seq}, "挨拶と雨具")
	compress("both", 3, 4, [2]uint64{hers.Seq, last.Seq}, "飼い主は白い動物を飼う")
	row, _, err := w.j.Room(ctx, "main")
	if err == nil {
		_, err = w.j.Fork(ctx, "fork", journal.Fork{Of: "main", At: row.Head.Seq}, journal.Listing{})
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.service.Forget(ctx, forget.Order{By: admin, Who: "mika"}); err != nil {
		t.Fatal(err)
	}
	if err := w.service.Resume(ctx); err != nil {
		t.Fatal(err)
	}
	if found := forgettest.Left(t, w.dir, "mika", "タマ", "白い動物"); len(found) > 0 {
		t.Error(strings.Join(found, "\n"))
	}
	for _, room := range []string{"main", "fork"} {
		told, err := reader.New(w.j, room).Told(ctx, abi.HistoryAsk{})
		var texts []string
		for _, m := range told.Messages {
			texts = append(texts, m.Text)
		}
		if want := []string{"挨拶と雨具", "", "いい名前だね"}; err != nil || !slices.Equal(texts, want) {
			t.Errorf("in %s %q is told: %v", room, texts, err)
		}
	}
	w.sound()
	w.close(t)
}

// TestDraftsFromOutside: what somebody sent as a draft goes with the words of the turns that it is of, or with the name in it, verified or not, with
// what was asked for and later; the rest of what was asked for stays.
func TestDraftsFromOutside(t *testing.T) {
	w := newWorld(t)
	w.prepare()
	ctx := t.Context()
	if _, err := w.j.Acquire(ctx, "main", "test", time.Now()); err != nil {
		t.Fatal(err)
	}
	his := w.said("main", "taro", "おはよう")
	hers := w.said("main", "mika", "うちの猫はタマっていうの")
	ask := func(id string, of entry.Entry, draft string, more ...history.Input) {
		n := map[uint64]uint64{his.Seq: 1, hers.Seq: 2}[of.Seq]
		first := history.Input{Kind: history.Propose, Proposal: id, By: "taro", Draft: &history.Draft{N: 1, Text: draft, By: "taro"}, Ask: &history.Ask{
			Turns: history.Range{From: n, To: n}, Seqs: [2]uint64{of.Seq, of.Seq}, Length: history.Length{N: 99, Unit: history.Characters}, Policy: "残す"}}
		for _, in := range append([]history.Input{first}, more...) {
			in.Proposal = id
			w.append("main", entry.KindHistory, in)
		}
	}
	ask("hers", hers, "白い動物の名", history.Input{Kind: history.Drafted, Draft: &history.Draft{N: 1, Text: "白い動物の名", Verdict: history.No, Feedback: "M1: 白い動物"}},
		history.Input{Kind: history.Hand, By: "taro", Draft: &history.Draft{N: 2, Text: "白い動物のこと", By: "taro"}})
	ask("his", his, "挨拶をした")
	w.append("main", entry.KindHistory, history.Input{Kind: history.Deny, Proposal: "his"})
	ask("named", his, "mikaへの挨拶")
	if _, err := w.service.Forget(ctx, forget.Order{By: admin, Who: "mika"}); err != nil {
		t.Fatal(err)
	}
	if err := w.service.Resume(ctx); err != nil {
		t.Fatal(err)
	}
	if found := forgettest.Left(t, w.dir, "mika", "タマ", "白い動物"); len(found) > 0 {
		t.Error(strings.Join(found, "\n"))
	}
	main := reader.New(w.j, "main")
	book, err := main.Book(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]string{"hers": "", "his": "挨拶をした", "named": ""} {
		p := book.Get(id)
		seq := p.Handed
		if id == "his" {
			seq = p.Seq
		}
		d, err := main.Draft(ctx, seq)
		if err != nil || seq == 0 || d.Text != want || p.Ask.Policy != "残す" || p.By != "taro" {
			t.Errorf("%s: %+v, %+v, %v", id, p, d, err)
		}
	}
	w.sound()
	w.close(t)
}
