package answer_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/door/answer"
	"github.com/companiond/companiond/host/door/doortest"
	"github.com/companiond/companiond/host/entry"
)

// step is an entry that a room is made to write.
type step struct {
	kind entry.Kind
	body any
}

func line(from, grant, text string) step {
	return step{entry.KindSaid, entry.Said{From: from, By: abi.KindCompanion, Text: text, Kind: abi.KindTurn, Grant: grant}}
}

func grant(who, token string) step {
	return step{entry.KindDecision, entry.Decision{Outcome: entry.OutcomeGrant, Speaker: who, Grant: &abi.Grant{Token: token}}}
}

func granted(wish uint64, who, token string) step {
	return step{entry.KindDecision, entry.Decision{Wish: wish, Outcome: entry.OutcomeGrant, Speaker: who, Grant: &abi.Grant{Token: token}}}
}

func decided(o entry.Outcome) step { return step{entry.KindDecision, entry.Decision{Outcome: o}} }

func human(text string) step {
	return step{entry.KindSaid, entry.Said{From: "mika", By: abi.KindHuman, Text: text, Kind: abi.KindTurn}}
}

func left(who string) step {
	return step{entry.KindCast, entry.Cast{Left: []entry.Left{{ID: who}}}}
}

func refusedLine(who, token string, kind abi.MessageKind, again bool) step {
	return step{entry.KindRefused, entry.Refused{Who: who, Grant: token, Kind: kind, Code: abi.CodeStale, Again: again}}
}

// waits is what a room's entries come to when the listener heard nothing that
// ends its waiting.
const waits = "(waits)"

var toMessage = []struct {
	name  string
	steps []step // after the message
	want  string
}{
	{"an answer", []step{grant("aya", "g1"), line("aya", "g1", "hi")}, "hi"},
	{"in a room without grants", []step{line("aya", "", "hi")}, "hi"},
	{"after somebody else's", []step{grant("kyoko", "g1"), line("kyoko", "g1", "me first"), grant("aya", "g2"), line("aya", "g2", "hi")}, "hi"},
	{"after a round was overtaken", []step{human("and?"), decided(entry.OutcomeSuperseded), grant("aya", "g1"), line("aya", "g1", "hi")}, "hi"},
	{"after the pool could pay", []step{decided(entry.OutcomeWaits), grant("aya", "g1"), line("aya", "g1", "hi")}, "hi"},
	{"nobody wants to", []step{decided(entry.OutcomeSilence), line("aya", "", "much later")}, ""},
	{"the talk has ended", []step{decided(entry.OutcomeClosed)}, ""},
	{"too many turns", []step{decided(entry.OutcomeCapped)}, ""},
	{"stopped", []step{{entry.KindStop, entry.Stop{From: "mika"}}}, ""},
	{"it left", []step{grant("aya", "g1"), left("aya")}, ""},
	{"somebody else left", []step{left("kyoko"), grant("aya", "g1"), line("aya", "g1", "hi")}, "hi"},
	{"a line from before", []step{line("aya", "g0", "old"), grant("aya", "g1"), line("aya", "g1", "hi")}, "hi"},
	{"a line from before, asked again", []step{refusedLine("aya", "g0", abi.KindTurn, true), line("aya", "g0", "hi")}, "hi"},
	{"somebody else asked again", []step{refusedLine("kyoko", "g0", abi.KindTurn, true), line("aya", "g0", "old"), decided(entry.OutcomeSilence)}, ""},
	{"refused for good", []step{refusedLine("aya", "g0", abi.KindTurn, false), line("aya", "g0", "old"), decided(entry.OutcomeSilence)}, ""},
	{"about something it saw", []step{granted(7, "aya", "g1"), line("aya", "g1", "a cat!"), grant("aya", "g2"), line("aya", "g2", "hi")}, "hi"},
	{"what it saw cannot be said", []step{{entry.KindDecision, entry.Decision{Wish: 7, Outcome: entry.OutcomeCapped}}, grant("aya", "g2"), line("aya", "g2", "hi")}, "hi"},
	{"a nod", []step{{entry.KindSaid, entry.Said{From: "aya", By: abi.KindCompanion, Kind: abi.KindBackchannel, Text: "mm"}}, grant("aya", "g2"), line("aya", "g2", "hi")}, "hi"},
	{"with somebody else's grant", []step{grant("kyoko", "g1"), line("aya", "g1", "odd"), decided(entry.OutcomeSilence)}, ""},
	{"a human of that name", []step{{entry.KindSaid, entry.Said{From: "aya", By: abi.KindHuman, Kind: abi.KindTurn, Text: "me"}}}, waits},
	{"somebody thinks", []step{grant("aya", "g1")}, waits},
	{"an entry of a later version", []step{{"mood", map[string]int{"aya": 1}}, {entry.KindDecision, "no decision"}, line("aya", "", "hi")}, "hi"},
}

func TestToMessage(t *testing.T) {
	for _, c := range toMessage {
		t.Run(c.name, func(t *testing.T) {
			check(t, c.steps, c.want, func(ctx context.Context, r *doortest.Room, seq uint64) (string, error) {
				return answer.ToMessage(ctx, r, "aya", seq)
			})
		})
	}
}

// theWish stands in the steps for the seq of the wish that is waited for.
const theWish = 1 << 40

// about gives the body of a step about the wish with seq.
func (s step) about(seq uint64) any {
	switch b := s.body.(type) {
	case entry.Decision:
		if b.Wish == theWish {
			b.Wish = seq
		}
		return b
	case entry.Due:
		if b.Of == theWish {
			b.Of = seq
		}
		return b
	}
	return s.body
}

var ofWish = []struct {
	name  string
	steps []step // after the wish
	want  string
}{
	{"granted and said", []step{granted(theWish, "aya", "g1"), line("aya", "g1", "a cat!")}, "a cat!"},
	{"after the answer to a human", []step{grant("aya", "g1"), line("aya", "g1", "hi"), granted(theWish, "aya", "g2"), line("aya", "g2", "a cat!")}, "a cat!"},
	{"another wish of its", []step{granted(9, "aya", "g1"), line("aya", "g1", "a dog!"), granted(theWish, "aya", "g2"), line("aya", "g2", "a cat!")}, "a cat!"},
	{"a line from before", []step{granted(theWish, "aya", "g1"), line("aya", "g0", "old"), line("aya", "g1", "a cat!")}, "a cat!"},
	{"the room rests meanwhile", []step{decided(entry.OutcomeSilence), granted(theWish, "aya", "g2"), line("aya", "g2", "a cat!")}, "a cat!"},
	{"the line was stale once", []step{granted(theWish, "aya", "g1"), refusedLine("aya", "g1", abi.KindTurn, true), line("aya", "g1", "a cat!")}, "a cat!"},
	{"a nod was refused", []step{granted(theWish, "aya", "g1"), refusedLine("aya", "g1", abi.KindBackchannel, false), line("aya", "g1", "a cat!")}, "a cat!"},
	{"another wish is given up", []step{{entry.KindDue, entry.Due{What: entry.DueStale, Of: 9}}, granted(theWish, "aya", "g1"), line("aya", "g1", "a cat!")}, "a cat!"},
	{"a vote failed", []step{{entry.KindFailed, entry.Failed{Round: 3, Who: "aya"}}, granted(theWish, "aya", "g1"), line("aya", "g1", "a cat!")}, "a cat!"},
	{"it cannot be granted", []step{{entry.KindDecision, entry.Decision{Wish: theWish, Outcome: entry.OutcomeCapped}}}, ""},
	{"given up", []step{{entry.KindDue, entry.Due{What: entry.DueStale, Of: theWish}}}, ""},
	{"the line was refused", []step{granted(theWish, "aya", "g1"), refusedLine("aya", "g1", abi.KindTurn, false)}, ""},
	{"the line will not come", []step{granted(theWish, "aya", "g1"), {entry.KindFailed, entry.Failed{Grant: "g1", Who: "aya", Pass: true}}}, ""},
	{"the floor is somebody else's", []step{granted(theWish, "aya", "g1"), grant("kyoko", "g2")}, ""},
	{"stopped", []step{{entry.KindStop, entry.Stop{From: "mika"}}}, ""},
	{"it left", []step{left("aya")}, ""},
	{"it waits", []step{grant("kyoko", "g1")}, waits},
	{"somebody else says it", []step{granted(theWish, "aya", "g1"), line("kyoko", "g1", "a cat!")}, waits},
}

func TestOfWish(t *testing.T) {
	for _, c := range ofWish {
		t.Run(c.name, func(t *testing.T) {
			check(t, c.steps, c.want, func(ctx context.Context, r *doortest.Room, seq uint64) (string, error) {
				return answer.OfWish(ctx, r, "aya", seq)
			})
		})
	}
}

// check writes two entries, the second of which is waited for, and then the steps:
// all of them before somebody listens, or one by one while it does.
func check(t *testing.T, steps []step, want string, wait func(context.Context, *doortest.Room, uint64) (string, error)) {
	t.Helper()
	for _, before := range []bool{true, false} {
		for _, batch := range []int{64, 1} {
			synctest.Test(t, func(t *testing.T) {
				r := doortest.NewHouse(t, "main").Get("main")
				r.Batch(batch)
				r.Append(entry.KindSaid, entry.Said{From: "aya", By: abi.KindCompanion, Text: "long ago", Kind: abi.KindTurn})
				seq := r.Append(human("hello").kind, human("hello").body).Seq
				write := func() {
					for _, s := range steps {
						r.Append(s.kind, s.about(seq))
						if !before {
							time.Sleep(time.Second)
						}
					}
				}
				if before {
					write()
				} else {
					go write()
				}
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				got, err := wait(ctx, r, seq)
				if ctx.Err() != nil && got == "" {
					got = waits
				}
				if err != nil || got != want {
					t.Errorf("written before %v, %d at once: %q %v, want %q", before, batch, got, err, want)
				}
				time.Sleep(time.Minute)
				if r.Followers() != 0 {
					t.Error("it follows on")
				}
			})
		}
	}
}

func TestTroubleIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := doortest.NewHouse(t, "main").Get("main")
		full := abi.Errorf(abi.CodeUnavailable, "the disk is full")
		go func() {
			time.Sleep(time.Second)
			r.Trouble(full)
		}()
		if text, err := answer.ToMessage(t.Context(), r, "aya", 0); text != "" || !errors.Is(err, full) {
			t.Errorf("%q %v", text, err)
		}
	})
}

// A hundred wait at once in a room that talks on.
func TestManyWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := doortest.NewHouse(t, "main").Get("main")
		heard := make(chan string)
		for range 100 {
			seq := r.Append(human("x").kind, human("x").body).Seq
			go func() {
				text, _ := answer.ToMessage(t.Context(), r, "aya", seq)
				heard <- text
			}()
		}
		synctest.Wait()
		g := grant("aya", "g1")
		r.Append(g.kind, g.body)
		l := line("aya", "g1", "all of you: hi")
		r.Append(l.kind, l.body)
		for i := range 100 {
			if text := <-heard; text != "all of you: hi" {
				t.Fatal(fmt.Sprint(i), text)
			}
		}
	})
}
