package history_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/history"
	"pgregory.net/rapid"
)

func TestRange(t *testing.T) {
	for text, want := range map[string]history.Range{"1-50": {1, 50}, " 7 ": {7, 7}, "3 - 4": {3, 4}, "50-50": {50, 50}} {
		got, err := history.ParseRange(text)
		if err != nil || got != want {
			t.Errorf("%q is %v, %v", text, got, err)
		}
		raw, _ := json.Marshal(got)
		var back, again history.Range
		if json.Unmarshal(raw, &back) != nil || back != want {
			t.Errorf("%s is %v", raw, back)
		}
		if quoted, _ := json.Marshal(text); json.Unmarshal(quoted, &again) != nil || again != want {
			t.Errorf("%s is %v", quoted, again)
		}
	}
	for _, text := range []string{"", "-", "0", "0-3", "5-4", "a-b", "1-", "-3", "1-2-3", "1.5", "18446744073709551616"} {
		if got, err := history.ParseRange(text); abi.CodeOf(err) != abi.CodeInvalid {
			t.Errorf("%q is %v, %v", text, got, err)
		}
	}
	if fmt.Sprint(history.Range{From: 3, To: 3}, history.Range{From: 3, To: 9}) != "3 3-9" {
		t.Error("a range is not shown as it is written")
	}
}

// desk is a book with the number of the next entry.
type desk struct {
	history.Book
	seq uint64
}

func (d *desk) happens(in history.Input) error {
	d.seq++
	err := d.Refuses(in)
	d.Happens(in, d.seq, time.UnixMilli(int64(d.seq)).UTC())
	return err
}

func propose(id string, from, to uint64) history.Input {
	return history.Input{Kind: history.Propose, Proposal: id, By: "taro", Ask: &history.Ask{
		Turns: history.Range{From: from, To: to}, Seqs: [2]uint64{from * 10, to*10 + 1}, Length: history.Length{N: 100, Unit: history.Characters},
	}}
}

func draft(id string, v history.Verdict) history.Input {
	return history.Input{Kind: history.Drafted, Proposal: id, Draft: &history.Draft{Text: "short", Verdict: v, Feedback: "M1 is missing"}}
}

func does(id string, k history.Kind) history.Input {
	return history.Input{Kind: k, Proposal: id, By: "taro"}
}

// TestLifeOfAProposal goes the ways that a proposal may go, and tries all others at each place.
func TestLifeOfAProposal(t *testing.T) {
	all := []history.Input{draft("p", history.Yes), draft("p", history.No), does("p", history.Fail), does("p", history.Approve), does("p", history.Deny), does("p", history.Revert), propose("p", 1, 5)}
	for _, tc := range []struct {
		way  []history.Input
		want history.State
		may  []int // of all
	}{
		{nil, history.BeingDrafted, []int{0, 1, 2, 4}},
		{[]history.Input{draft("p", history.No), draft("p", history.No)}, history.BeingDrafted, []int{0, 1, 2, 4}},
		{[]history.Input{draft("p", history.No), draft("p", "Yes, but"), draft("p", history.No)}, history.Refused, []int{0, 1, 4}},
		{[]history.Input{draft("p", history.No), draft("p", history.Yes)}, history.Offered, []int{3, 4}},
		{[]history.Input{draft("p", history.No), draft("p", history.No), draft("p", history.No), draft("p", history.Yes)}, history.Offered, []int{3, 4}},
		{[]history.Input{draft("p", history.Yes), does("p", history.Approve)}, history.Approved, []int{5}},
		{[]history.Input{draft("p", history.Yes), does("p", history.Approve), does("p", history.Revert)}, history.Reverted, nil},
		{[]history.Input{draft("p", history.Yes), does("p", history.Deny)}, history.Denied, nil},
		{[]history.Input{does("p", history.Fail)}, history.Failed, nil},
	} {
		d := new(desk)
		for _, in := range append([]history.Input{propose("p", 1, 5)}, tc.way...) {
			if err := d.happens(in); err != nil {
				t.Errorf("%v: %v", in, err)
			}
		}
		if got := d.Get("p").State; got != tc.want {
			t.Errorf("it is %s, not %s", got, tc.want)
		}
		for i, in := range all {
			if err := d.Refuses(in); (err == nil) != slices.Contains(tc.may, i) {
				t.Errorf("%s: %s %v: %v", tc.want, in.Kind, in.Draft, err)
			}
		}
	}
	if err := new(history.Book).Refuses(does("nobody", history.Approve)); abi.CodeOf(err) != abi.CodeNotFound {
		t.Error(err)
	}
}

// hand hands in a draft from outside.
func hand(id string) history.Input {
	in := does(id, history.Hand)
	in.Draft = &history.Draft{Text: "short", By: "taro"}
	return in
}

// TestHand: of a draft from outside it is known that it is to be verified until somebody has, or nobody is to any more; no
// second one is taken meanwhile, nor where drafts are made here.
func TestHand(t *testing.T) {
	withDraft, here := propose("p", 1, 5), propose("p", 1, 5)
	withDraft.Draft, here.Ask.Compresser = hand("p").Draft, "model"
	for name, c := range map[string]struct {
		way     []history.Input
		handed  uint64
		awaits  bool
		refused abi.Code // of one more
	}{
		"asked for with one":      {[]history.Input{withDraft}, 1, false, abi.CodeConflict},
		"asked for without":       {[]history.Input{propose("p", 1, 5)}, 0, true, ""},
		"one that was refused":    {[]history.Input{withDraft, draft("p", history.No)}, 0, true, ""},
		"a second one":            {[]history.Input{withDraft, draft("p", history.No), hand("p")}, 3, false, abi.CodeConflict},
		"one that is verified":    {[]history.Input{withDraft, draft("p", history.No), hand("p"), draft("p", history.Yes)}, 0, false, abi.CodeConflict},
		"three that were refused": {[]history.Input{withDraft, draft("p", history.No), hand("p"), draft("p", history.No), hand("p"), draft("p", history.No)}, 0, false, abi.CodeConflict},
		"nobody verifies it":      {[]history.Input{withDraft, does("p", history.Fail)}, 0, false, abi.CodeConflict},
		"denied meanwhile":        {[]history.Input{withDraft, does("p", history.Deny)}, 0, false, abi.CodeConflict},
		"drafted here":            {[]history.Input{here}, 0, false, abi.CodeConflict},
	} {
		d := new(desk)
		for _, in := range c.way {
			if err := d.happens(in); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		p := d.Get("p")
		if p.Handed != c.handed || p.Awaits() != c.awaits || d.Drafts() != (p.State == history.BeingDrafted && !c.awaits) {
			t.Errorf("%s: handed %d, awaits %v, drafts %v", name, p.Handed, p.Awaits(), d.Drafts())
		}
		if err := d.Refuses(hand("p")); abi.CodeOf(err) != c.refused {
			t.Errorf("%s: one more: %v", name, err)
		}
		if err := d.Refuses(does("p", history.Hand)); err == nil {
			t.Errorf("%s: no draft is handed in, and that is well", name)
		}
	}
}

// TestLaid: what is compressed again lies over what was, and comes to light again when that is
// taken off; of turns that are told as one text, none can be taken alone.
func TestLaid(t *testing.T) {
	d := new(desk)
	lay := func(id string, from, to uint64) error {
		for _, in := range []history.Input{propose(id, from, to), draft(id, history.Yes), does(id, history.Approve)} {
			if err := d.happens(in); err != nil {
				return err
			}
		}
		return nil
	}
	told := func(want ...string) {
		t.Helper()
		var ids []string
		for _, p := range d.Laid(d.seq) {
			ids = append(ids, p.ID)
		}
		if !slices.Equal(ids, want) {
			t.Errorf("%v are laid, not %v", ids, want)
		}
	}
	for _, err := range []error{lay("a", 1, 10), lay("b", 21, 30), lay("c", 11, 20)} {
		if err != nil {
			t.Error(err)
		}
	}
	told("a", "c", "b")
	if err := lay("d", 5, 15); abi.CodeOf(err) != abi.CodeConflict {
		t.Error(err)
	}
	if err := lay("e", 1, 20); err != nil {
		t.Error(err)
	}
	told("e", "b")
	before := d.seq
	if err := d.happens(does("a", history.Revert)); abi.CodeOf(err) != abi.CodeConflict {
		t.Error(err)
	}
	if err := d.happens(does("e", history.Revert)); err != nil {
		t.Error(err)
	}
	told("a", "c", "b")
	if laid := d.Laid(before); len(laid) != 2 || laid[0].ID != "e" {
		t.Errorf("before that lay %v", laid)
	}
}

// TestBook has anything happen in any order. What is refused changes nothing; what is laid was verified
// and approved, lies apart, and what lay at any earlier time is known for ever.
func TestBook(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := new(desk)
		ids := []string{"a", "b", "c", "d", "e"}
		lay := map[uint64][]history.Proposal{}
		for range rapid.IntRange(1, 60).Draw(t, "n") {
			id := rapid.SampledFrom(ids).Draw(t, "id")
			in := does(id, rapid.SampledFrom([]history.Kind{history.Propose, history.Drafted, history.Drafted, history.Hand, history.Fail, history.Approve, history.Deny, history.Revert}).Draw(t, "kind"))
			switch in.Kind {
			case history.Propose:
				from := rapid.Uint64Range(1, 8).Draw(t, "from")
				in = propose(id, from, rapid.Uint64Range(from, 9).Draw(t, "to"))
				if d.Get(id) != nil {
					id = fmt.Sprint(id, d.seq)
					in.Proposal, ids = id, append(ids, id)
				}
			case history.Drafted:
				in = draft(id, rapid.SampledFrom([]history.Verdict{history.Yes, history.No, "perhaps"}).Draw(t, "verdict"))
			case history.Hand:
				in = hand(id)
			}
			before, _ := json.Marshal(d.Book)
			refused := d.happens(in)
			after, _ := json.Marshal(d.Book)
			if (refused != nil) != (string(before) == string(after)) {
				t.Fatalf("%+v was refused by %v, and the book went from\n%s to\n%s", in, refused, before, after)
			}
			var back history.Book
			if err := json.Unmarshal(after, &back); err != nil || !reflect.DeepEqual(back.Laid(d.seq), d.Laid(d.seq)) {
				t.Fatalf("a snapshot tells otherwise: %v", err)
			}
			lay[d.seq] = d.Laid(d.seq)
			var upto uint64
			for _, p := range d.Laid(d.seq) {
				if p.Ask.Turns.From <= upto || p.ApprovedBy == "" || p.Draft() == nil {
					t.Fatalf("%+v is laid over what reaches to %d", p, upto)
				}
				upto = p.Ask.Turns.To
			}
		}
		for seq, was := range lay {
			now := d.Laid(seq)
			if len(was) != len(now) {
				t.Fatalf("at %d lay %v, and now it is said that %v did", seq, was, now)
			}
			for i := range now {
				if now[i].ID != was[i].ID {
					t.Fatalf("at %d lay %v, and now it is said that %v did", seq, was, now)
				}
			}
		}
	})
}
