package history_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/history"
	"pgregory.net/rapid"
)

// asks is what the configuration asks for.
func asks(id string, r history.Range, turn uint64, auto bool) history.Input {
	in := propose(id, r.From, r.To)
	in.By, in.Turn, in.Ask.Auto, in.Ask.Policy, in.Ask.Compresser, in.Ask.Verifier = history.Configuration, turn, auto, "Keep it.", "scribe", "judge"
	return in
}

func verified(id string) history.Input {
	return history.Input{Kind: history.Drafted, Proposal: id, Draft: &history.Draft{Text: "short", Verdict: history.Yes, By: "scribe", VerifiedBy: "judge"}}
}

// TestNext: the newest turns are left, what is laid is not taken again, and of a talk that went on for long alone
// the newest are.
func TestNext(t *testing.T) {
	d := new(desk)
	next := func(n uint64, want string) []history.Proposal {
		t.Helper()
		r, before, ok := d.Next(n)
		if got := r.String(); ok != (want != "") || ok && got != want {
			t.Errorf("of %d turns %s, %v; not %q", n, got, ok, want)
		}
		return before
	}
	next(0, "")
	next(63, "")
	next(64, "1-32")
	next(500, "1-468")
	next(5000, "3969-4968")
	lay := func(id string, from, to uint64) {
		t.Helper()
		for _, in := range []history.Input{propose(id, from, to), draft(id, history.Yes), does(id, history.Approve)} {
			if err := d.happens(in); err != nil {
				t.Fatal(err)
			}
		}
	}
	lay("a", 1, 20)
	lay("b", 31, 50)
	lay("c", 51, 60)
	next(123, "")
	if before := next(124, "61-92"); len(before) != 2 || before[0].ID != "b" || before[1].ID != "c" {
		t.Errorf("it goes on behind %v", before)
	}
	if before := next(5000, "3969-4968"); len(before) != 0 {
		t.Errorf("it goes on behind %v", before)
	}
}

// TestConfigurationAsks: nobody else approves in advance, and the configuration approves nothing else; one at a time is
// open, and when something came to nothing it is quiet for as many turns as it asks for.
func TestConfigurationAsks(t *testing.T) {
	d := new(desk)
	refused := func(in history.Input, want abi.Code) {
		t.Helper()
		if err := d.happens(in); abi.CodeOf(err) != want {
			t.Errorf("%s of %s at %d: %v, not %s", in.Kind, in.Proposal, in.Turn, err, want)
		}
	}
	may := func(all ...history.Input) {
		t.Helper()
		for _, in := range all {
			if err := d.happens(in); err != nil {
				t.Errorf("%s of %s at %d: %v", in.Kind, in.Proposal, in.Turn, err)
			}
		}
	}
	by := func(who string, in history.Input, turn uint64) history.Input { in.By, in.Turn = who, turn; return in }
	forged := propose("forged", 1, 5)
	forged.Ask.Auto = true
	refused(forged, abi.CodeDenied)
	may(propose("p", 1, 5), verified("p"))
	refused(by(history.Configuration, does("p", history.Approve), 0), abi.CodeDenied)
	refused(asks("c", history.Range{From: 1, To: 40}, 72, true), abi.CodeConflict) // what a person wants comes first
	may(does("p", history.Deny))
	may(asks("w", history.Range{From: 1, To: 40}, 72, false), verified("w"))
	refused(by(history.Configuration, does("w", history.Approve), 72), abi.CodeDenied)
	refused(asks("x", history.Range{From: 41, To: 80}, 112, false), abi.CodeConflict) // one at a time
	may(by("taro", does("w", history.Deny), 80))
	refused(asks("x", history.Range{From: 1, To: 79}, 111, true), abi.CodeConflict)
	may(asks("x", history.Range{From: 1, To: 80}, 112, true))
	for range history.Drafts {
		no := draft("x", history.No)
		no.Turn = 120
		may(no)
	}
	refused(asks("y", history.Range{From: 1, To: 119}, 151, true), abi.CodeConflict)
	may(asks("y", history.Range{From: 1, To: 120}, 152, true), verified("y"))
	if got := d.Get("x"); got.State != history.Denied {
		t.Errorf("what was refused is %s", got.State)
	}
	may(by(history.Configuration, does("y", history.Approve), 153), by("taro", does("y", history.Revert), 160))
	if got := d.Get("y"); got.ApprovedBy != history.Configuration || got.State != history.Reverted {
		t.Errorf("%+v", got)
	}
	refused(asks("z", history.Range{From: 1, To: 159}, 191, true), abi.CodeConflict)
	may(asks("z", history.Range{From: 1, To: 160}, 192, true))
}

// TestApproves: the word that was given in advance holds for what it was given for.
func TestApproves(t *testing.T) {
	d := new(desk)
	for _, in := range []history.Input{asks("p", history.Range{From: 1, To: 32}, 64, true), verified("p")} {
		if err := d.happens(in); err != nil {
			t.Fatal(err)
		}
	}
	st := history.Standing{Mode: history.ModeAuto, Policy: "Keep it."}
	if !st.Approves(*d.Get("p")) {
		t.Error("it is not approved")
	}
	for name, change := range map[string]func(*history.Standing, *history.Proposal){
		"ask":               func(s *history.Standing, _ *history.Proposal) { s.Mode = history.ModeAsk },
		"off":               func(s *history.Standing, _ *history.Proposal) { s.Mode = "" },
		"another policy":    func(s *history.Standing, _ *history.Proposal) { s.Policy = "Keep all." },
		"a person's":        func(_ *history.Standing, p *history.Proposal) { p.By = "taro" },
		"asked of a person": func(_ *history.Standing, p *history.Proposal) { p.Ask.Auto = false },
		"an extract":        func(_ *history.Standing, p *history.Proposal) { p.Drafts[0].By = "extract" },
		"verified by another": func(_ *history.Standing, p *history.Proposal) {
			p.Drafts[0].VerifiedBy = "extract"
		},
		"drafting": func(_ *history.Standing, p *history.Proposal) { p.State = history.BeingDrafted },
		"not verified": func(_ *history.Standing, p *history.Proposal) {
			p.Drafts[0].Verdict = history.No
		},
	} {
		s, p := st, *d.Get("p")
		p.Drafts = append([]history.Drafting{}, p.Drafts...)
		if change(&s, &p); s.Approves(p) {
			t.Errorf("%s: it is approved", name)
		}
	}
	if (history.Standing{}).Asks() || (history.Standing{Mode: "of"}).Asks() || !st.Asks() {
		t.Error("what asks")
	}
}

// TestConfigurationIsQuiet: whatever people do, the configuration has one proposal open at most, none for the same turns as
// another that is open, 32 turns lie between two that it asks for, and as many behind one that came to nothing; it
// approves in advance alone what it asked for so.
func TestConfigurationIsQuiet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d, n, last, ids := new(desk), rapid.Uint64Range(0, 200).Draw(t, "turns"), uint64(0), 0
		var was history.Range
		late := false
		pick := func(may func(history.Proposal) bool) string {
			var some []string
			for _, p := range d.Proposals {
				if may(p) {
					some = append(some, p.ID)
				}
			}
			if some == nil {
				return "nobody"
			}
			return rapid.SampledFrom(some).Draw(t, "which")
		}
		in := func(all ...history.State) func(history.Proposal) bool {
			return func(p history.Proposal) bool { return slices.Contains(all, p.State) }
		}
		do := func(in history.Input) error { in.Turn = n; return d.happens(in) }
		t.Repeat(map[string]func(*rapid.T){
			"say": func(t *rapid.T) { n += rapid.Uint64Range(1, 90).Draw(t, "turns") },
			"asks": func(t *rapid.T) {
				r, before, ok := d.Next(n)
				if late && rapid.Bool().Draw(t, "late") { // it was looked at before something else happened
					r, before, ok = was, nil, true
				}
				if was, late = r, ok; !ok {
					return
				}
				if len(before) > 0 && rapid.Bool().Draw(t, "again") {
					r.From = before[0].Ask.Turns.From
				}
				ids++
				quiet := d.Quiet
				if do(asks(fmt.Sprint(ids), r, n, rapid.Bool().Draw(t, "auto"))) != nil {
					return
				}
				if last > 0 && n < last+history.Rest || quiet > 0 && n < quiet+history.Rest || r.To+history.Rest > n || r.To-r.From+1 < history.Rest {
					t.Fatalf("asked for %s at %d, after %d and %d", r, n, last, quiet)
				}
				last = n
			},
			"person": func(t *rapid.T) {
				if n < 2 || rapid.IntRange(0, 3).Draw(t, "seldom") > 0 {
					return
				}
				ids++
				from := rapid.Uint64Range(1, n).Draw(t, "from")
				_ = do(propose(fmt.Sprint(ids), from, rapid.Uint64Range(from, n).Draw(t, "to")))
			},
			"draft":   func(t *rapid.T) { _ = do(verified(pick(in(history.BeingDrafted, history.Refused)))) },
			"no":      func(t *rapid.T) { _ = do(draft(pick(in(history.BeingDrafted)), history.No)) },
			"fail":    func(t *rapid.T) { _ = do(does(pick(in(history.BeingDrafted)), history.Fail)) },
			"approve": func(t *rapid.T) { _ = do(does(pick(in(history.Offered, history.Refused)), history.Approve)) },
			"deny": func(t *rapid.T) {
				_ = do(does(pick(in(history.BeingDrafted, history.Offered, history.Refused)), history.Deny))
			},
			"revert": func(t *rapid.T) { _ = do(does(pick(in(history.Approved)), history.Revert)) },
			"stands": func(t *rapid.T) {
				word := does(pick(in(history.Offered)), history.Approve)
				word.By = history.Configuration
				if p := d.Get(word.Proposal); do(word) == nil && !(p.Own() && p.Ask.Auto) {
					t.Fatalf("%+v is approved in advance", p)
				}
			},
			"": func(t *rapid.T) {
				own := 0
				for i, p := range d.Proposals {
					if !p.State.Open() {
						continue
					}
					if p.Own() && p.State != history.Refused {
						own++
					}
					for _, o := range d.Proposals[:i] {
						if o.State.Open() && (p.Own() || o.Own()) && o.State != history.Refused && p.State != history.Refused && o.Ask.Turns.Meets(p.Ask.Turns) {
							t.Fatalf("%s of %s and %s of %s are open", o.ID, o.Ask.Turns, p.ID, p.Ask.Turns)
						}
					}
				}
				if own > 1 {
					t.Fatalf("%d are open", own)
				}
			},
		})
	})
}
