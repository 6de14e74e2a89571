package rules_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	. "github.com/companiond/companiond/host/room/fold"
	"github.com/companiond/companiond/host/room/queue"
	. "github.com/companiond/companiond/host/room/rules"
)

func voteRules() entry.Rules {
	return entry.Rules{Version: Version, Policy: "vote", Seed: "test", Patience: 1000, Floor: 5000, MaxTurns: 6, Stale: entry.StaleReask}
}

// answers says a line of whoever has the floor.
func (w *table) answers() entry.Entry {
	w.t.Helper()
	f := w.m.State.Floor
	if f == nil {
		w.t.Fatalf("nobody has the floor\n%s", w)
	}
	return w.say(Line{Said: entry.Said{From: f.Who, By: abi.KindCompanion, Text: "はい", Kind: abi.KindTurn, Grant: f.Token, Basis: f.Basis}})
}

func (w *table) from(who, text string) entry.Entry {
	w.t.Helper()
	return w.say(Line{Said: entry.Said{From: who, By: abi.KindHuman, Text: text, Kind: abi.KindTurn}})
}

func (w *table) segment(text string) {
	w.t.Helper()
	f := w.m.State.Floor
	w.input(entry.KindSegment, entry.Segment{Grant: f.Token, Who: f.Who, N: f.Segments + 1, Text: text})
}

// open gives the turns that wait for an answer.
func (w *table) open() (seqs []uint64) {
	for _, u := range w.m.State.Unanswered {
		seqs = append(seqs, u.Seq)
	}
	return seqs
}

func (w *table) outcome() entry.Outcome {
	for _, e := range slices.Backward(w.journal) {
		if e.Kind == entry.KindDecision {
			d, _ := entry.Decode[entry.Decision](e)
			return d.Outcome
		}
	}
	return ""
}

// A human speaks while a companion that is alone streams its line: that line answers
// what was before it, and the next round is about what was said over it.
func TestSpokenOverIsAnswered(t *testing.T) {
	w := newTable(t, voteRules())
	w.input(entry.KindCast, entry.Cast{Left: []entry.Left{{ID: "b"}}})
	w.human("hello")
	w.vote("a", 5)
	w.segment("はい。")
	over := w.human("wait")
	w.answers()
	if r := w.m.State.Round; r == nil || r.About != over.Seq || r.From.ID != "taro" || w.m.State.Turns != 1 {
		t.Fatalf("round %+v, %d turns\n%s", r, w.m.State.Turns, w)
	}
	w.vote("a", 5)
	w.answers()
	if got := w.open(); len(got) != 0 || w.m.State.Turns != 1 {
		t.Errorf("%d wait, %d turns", got, w.m.State.Turns)
	}
	w.replay()
}

// A flood is answered together, but for what is addressed to others; and each of
// those is answered in the end, however many newer ones come.
func TestAFloodIsAnsweredTogether(t *testing.T) {
	w := newTable(t, voteRules())
	forB := w.from("mika", "@b are you there?")
	for i := range 5 {
		w.from(fmt.Sprintf("guest%d", i), "hello")
	}
	if got := w.open(); len(got) != 6 {
		t.Fatalf("%d wait", got)
	}
	for i := range 3 { // newer ones, each time
		s := w.m.State
		if s.Round == nil || s.Round.About == forB.Seq {
			break
		}
		w.vote("a", 9)
		w.listen("b")
		w.answers()
		if got := w.open(); !slices.Equal(got, []uint64{forB.Seq}) {
			t.Fatalf("after an answer %d wait", got)
		}
		w.from(fmt.Sprintf("late%d", i), "hello?")
	}
	if r := w.m.State.Round; r == nil || r.About != forB.Seq || !slices.Equal(r.Addressed, []string{"b"}) {
		t.Fatalf("round %+v\n%s", r, w)
	}
	w.vote("b", 1)
	w.vote("a", 9)
	w.answers()
	if f := w.m.State.Last.From; f != "b" || slices.Contains(w.open(), forB.Seq) {
		t.Errorf("%s answered", f)
	}
	w.replay()
}

// Nobody could vote: the turn waits, is asked again, and a late vote opens a round of
// its own in which nobody is asked twice.
func TestNobodyCouldVote(t *testing.T) {
	w := newTable(t, voteRules())
	said := w.human("hello")
	first := w.m.State.Round.ID
	w.wait(time.Second)
	if w.outcome() != entry.OutcomeAbsent || w.m.State.Condition() != "waiting" || len(w.open()) != 1 {
		t.Fatalf("%s, %s\n%s", w.outcome(), w.m.State.Condition(), w)
	}
	if !w.m.State.Takes(first) {
		t.Fatal("votes of the round are not taken any more")
	}
	w.input(entry.KindVote, entry.Voted{Round: first, Voter: "a", Vote: abi.Vote{State: abi.Listen}})
	r := w.m.State.Round
	if r == nil || r.About != said.Seq || r.Awaits("a") || !r.Awaits("b") || !r.Due.Equal(w.at.Add(time.Second)) {
		t.Fatalf("round %+v\n%s", r, w)
	}
	w.vote("b", 3)
	w.answers()
	if len(w.open()) != 0 || w.m.State.Absence != nil {
		t.Errorf("%d wait, %+v", w.open(), w.m.State.Absence)
	}
	w.replay()
}

// Nobody can vote for long: it is asked about ever more seldom, given up in writing, and
// a reload in between has it asked at once.
func TestNobodyCanVoteForLong(t *testing.T) {
	w := newTable(t, voteRules())
	w.human("hello")
	rounds := 0
	for w.m.State.Condition() != "resting" {
		at, due, ok := w.m.State.NextDue()
		if !ok {
			t.Fatalf("nothing is due\n%s", w)
		}
		if w.at = at; due.What == entry.DueRound {
			rounds++
		}
		w.input(entry.KindDue, due)
	}
	if rounds != queue.MaxAbsent+1 || len(w.open()) != 0 || w.at.Sub(w.m.State.Last.At) > 11*time.Minute {
		t.Errorf("%d rounds in %v, %d wait\n%s", rounds, w.at.Sub(w.m.State.Last.At), w.open(), w)
	}
	w.human("hello?")
	w.wait(time.Second)
	w.join(entry.Joined{ID: "a", Name: "a", Kind: abi.KindCompanion, Generation: 2})
	if w.m.State.Round == nil {
		t.Errorf("nobody is asked after a reload\n%s", w)
	}
	w.replay()
}

// A late vote to speak after a silence opens a round; one to listen does not.
func TestLateVoteAfterASilence(t *testing.T) {
	for _, state := range []abi.State{abi.Speak, abi.Listen} {
		w := newTable(t, voteRules())
		w.human("hello")
		first := w.m.State.Round.ID
		w.listen("a")
		w.wait(time.Second)
		if w.outcome() != entry.OutcomeSilence {
			t.Fatalf("%s\n%s", w.outcome(), w)
		}
		w.input(entry.KindVote, entry.Voted{Round: first, Voter: "b", Vote: abi.Vote{State: state}})
		if f := w.m.State.Floor; (f != nil) != (state == abi.Speak) {
			t.Errorf("%s: the floor is %+v\n%s", state, f, w)
		}
		w.replay()
	}
}

// One knock after a human's turn, and none for the line that it forced.
func TestOneKnockAHumanTurn(t *testing.T) {
	rules := voteRules()
	rules.Silence, rules.MaxTurns = 4000, 24
	w := newTable(t, rules)
	knocks := 0
	w.human("good night")
	for range 50 {
		s := w.m.State
		switch {
		case s.Round != nil:
			for _, who := range []string{"a", "b"} {
				if s.Round != nil && s.Round.Awaits(who) {
					w.listen(who)
				}
			}
		case s.Floor != nil:
			w.answers()
		default:
			at, due, ok := s.NextDue()
			if !ok {
				break
			}
			if w.at = at; due.What == entry.DueSilence {
				knocks++
			}
			w.input(entry.KindDue, due)
		}
	}
	if knocks != 1 || w.m.State.Turns != 1 {
		t.Errorf("%d knocks, %d turns\n%s", knocks, w.m.State.Turns, w)
	}
	w.replay()
}

// Whoever was called and cannot speak is answered for by somebody who would rather
// listen, and is not asked for a line without a vote before it spoke.
func TestAListenerAnswersForWhoeverCannot(t *testing.T) {
	w := newTable(t, voteRules())
	w.human("@a hello")
	w.listen("b")
	w.wait(time.Second)
	if f := w.m.State.Floor; f == nil || f.Who != "a" {
		t.Fatalf("the floor is %+v\n%s", f, w)
	}
	w.wait(5 * time.Second)
	if f := w.m.State.Floor; f == nil || f.Who != "b" {
		t.Fatalf("the floor is %+v\n%s", f, w)
	}
	w.answers()
	w.human("@a are you there?")
	w.listen("b")
	w.wait(time.Second)
	if w.m.State.Floor != nil || w.outcome() != entry.OutcomeSilence {
		t.Errorf("%s: %+v\n%s", w.outcome(), w.m.State.Floor, w)
	}
	w.human("@a?")
	w.listen("b")
	w.vote("a", 5)
	w.answers()
	w.human("@a, please")
	w.listen("b")
	w.wait(time.Second)
	if f := w.m.State.Floor; f == nil || f.Who != "a" {
		t.Errorf("the floor is %+v\n%s", f, w)
	}
	w.replay()
}

// A line that takes long is waited for three times as long where nobody else would speak,
// and one that is asked for anew has its time anew.
func TestALongLineIsWaitedFor(t *testing.T) {
	w := newTable(t, voteRules())
	w.input(entry.KindCast, entry.Cast{Left: []entry.Left{{ID: "b"}}})
	w.human("hello")
	w.vote("a", 5)
	f := *w.m.State.Floor
	w.wait(4 * time.Second)
	w.from("hana", "hello?")
	w.answers() // made before that
	if now := w.m.State.Floor; now == nil || !now.Again || now.Expires.Sub(w.at) != 5*time.Second {
		t.Fatalf("%+v\n%s", now, w)
	}
	begun := w.at
	for w.m.State.Floor != nil && w.m.State.Floor.Token == f.Token {
		w.wait(time.Second)
	}
	if held := w.at.Sub(begun); held != 15*time.Second {
		t.Errorf("held for %v\n%s", held, w)
	}
	w.replay()
}

// A wish that comes after its round was decided counts in the next.
func TestALateWishCountsInTheNextRound(t *testing.T) {
	w := newTable(t, voteRules())
	w.join(joined("c"))
	w.human("hello")
	first := w.m.State.Round.ID
	w.vote("a", 5)
	w.listen("c")
	w.wait(time.Second)
	w.answers()
	if !w.m.State.Takes(first) {
		t.Fatalf("it is not taken\n%s", w)
	}
	w.input(entry.KindVote, entry.Voted{Round: first, Voter: "b", Vote: abi.Vote{State: abi.Speak, Importance: 2}})
	w.listen("c")
	w.wait(time.Second)
	if f := w.m.State.Floor; f == nil || f.Who != "b" || f.Round == first {
		t.Errorf("the floor is %+v\n%s", f, w)
	}
	w.replay()
}

// Nobody wants to answer what was said over a line, whose speaker is alone: the silence
// is broken about it all the same.
func TestASilenceAboutWhatWasSaidOverALine(t *testing.T) {
	rules := voteRules()
	rules.Silence = 4000
	w := newTable(t, rules)
	w.input(entry.KindCast, entry.Cast{Left: []entry.Left{{ID: "b"}}})
	w.human("hello")
	w.vote("a", 5)
	w.segment("はい。")
	over := w.human("and you?")
	f := w.m.State.Floor
	w.say(Line{Said: entry.Said{From: "a", By: abi.KindCompanion, Text: "はい。", Kind: abi.KindTurn, Grant: f.Token, Basis: f.Basis, Segments: 1}})
	w.listen("a")
	w.wait(4 * time.Second)
	if r := w.m.State.Round; r == nil || r.About != over.Seq || !r.Silence {
		t.Fatalf("%+v\n%s", r, w)
	}
	w.listen("a")
	w.answers()
	if len(w.open()) != 0 || w.m.State.Dismissed != nil {
		t.Errorf("%v, %+v", w.open(), w.m.State.Dismissed)
	}
	w.replay()
}

// A line that comes to no end is over when nothing of it was heard for a while, however
// long the floor is given for.
func TestAStalledLine(t *testing.T) {
	rules := voteRules()
	rules.Floor, rules.Auto = 60_000, true
	w := newTable(t, rules)
	w.input(entry.KindBody, entry.Bodies{Joined: []entry.Body{{ID: "x", Who: "a", Plays: true}}})
	w.human("hello")
	w.vote("a", 5)
	w.listen("b")
	f := w.m.State.Floor
	w.input(entry.KindSegment, entry.Segment{Grant: f.Token, Who: "a", N: 1, Text: "はい。", Voice: []entry.Beat{{Bytes: 9, MS: 1000}}})
	at, due, _ := w.m.State.NextDue()
	if due.What != entry.DueGrant || at.Sub(w.at) != time.Second+Stalled {
		t.Errorf("%s in %v\n%s", due.What, at.Sub(w.at), w)
	}
	w.at = w.at.Add(3 * time.Second)
	w.input(entry.KindSegment, entry.Segment{Grant: f.Token, Who: "a", N: 2, Text: "はい。", Voice: []entry.Beat{{Bytes: 9, MS: 1000}}})
	if again, _, _ := w.m.State.NextDue(); again.Sub(at) != 3*time.Second {
		t.Errorf("%v later", again.Sub(at))
	}
	w.replay()
}

// A human addresses somebody who is still being loaded: it is waited for, but not for
// ever, and others do not wait for it.
func TestWhoeverIsLoadedIsWaitedFor(t *testing.T) {
	for _, comes := range []bool{true, false} {
		w := newTable(t, voteRules())
		w.input(entry.KindCast, entry.Cast{Left: []entry.Left{{ID: "b"}}, Awaits: []string{"b"}})
		said, err := w.m.Say(Line{ID: "m", Said: entry.Said{From: "taro", By: abi.KindHuman, Addressed: []string{"b"}, Text: "b, are you there?", Kind: abi.KindTurn}}, w.at)
		if err != nil {
			t.Fatal(err)
		}
		if s := w.m.State; s.Round != nil || s.Condition() != "waiting" || s.WaitsFor() != "b is being loaded" {
			t.Fatalf("%s: %q\n%s", s.Condition(), s.WaitsFor(), w)
		}
		if comes {
			w.join(joined("b"))
		} else {
			w.wait(LongestLoad)
		}
		if r := w.m.State.Round; r == nil || r.About != said.Seq || len(r.Electorate) != map[bool]int{true: 2, false: 1}[comes] {
			t.Errorf("comes: %v; the round is %+v\n%s", comes, r, w)
		}
	}
}

// A human calls a name that nobody is known to have, and somebody is still being loaded: it
// may be that one. Whoever it is answers; where it is nobody, the others are asked.
func TestWhoeverMayBeCalledIsWaitedFor(t *testing.T) {
	for name, c := range map[string]struct {
		how   string
		comes *entry.Cast // what is known of b then; nil: nothing
		waits bool
		meant []string
	}{
		"it is b":         {"unknown", &entry.Cast{Joined: []entry.Joined{joined("b")}, Addressed: &[]string{"b"}}, true, []string{"b"}},
		"it is nobody":    {"unknown", &entry.Cast{Joined: []entry.Joined{joined("b")}}, true, nil},
		"b does not come": {"unknown", nil, true, nil},
		"nobody called":   {"", nil, false, nil},
	} {
		w := newTable(t, voteRules())
		w.input(entry.KindCast, entry.Cast{Left: []entry.Left{{ID: "b"}}, Awaits: []string{"b"}})
		said, err := w.m.Say(Line{ID: "m", Said: entry.Said{From: "taro", By: abi.KindHuman, How: c.how, Text: "キョウコ、聞こえる？", Kind: abi.KindTurn}}, w.at)
		if err != nil {
			t.Fatal(err)
		}
		if s := w.m.State; c.waits != (s.Round == nil && s.WaitsFor() == "it may call one of those who are being loaded: b") {
			t.Fatalf("%s: %q\n%s", name, s.WaitsFor(), w)
		}
		if c.comes != nil {
			w.input(entry.KindCast, *c.comes)
		} else if c.waits {
			w.wait(LongestLoad)
		}
		if r := w.m.State.Round; r == nil || r.About != said.Seq || !slices.Equal(r.Addressed, c.meant) {
			t.Errorf("%s: the round is %+v\n%s", name, r, w)
		}
		w.replay()
	}
}

// A scene is about the turn that waits, so its members have whoever said that, however
// many there are.
func TestSceneShowsWhoWaits(t *testing.T) {
	s, at := New(), time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range abi.MaxMembers + 8 {
		s.Joins(entry.Joined{ID: fmt.Sprintf("c%03d", i), Kind: abi.KindCompanion})
	}
	s.Hears("zoe", at)
	s.Ask(queue.Unanswered{Message: abi.Message{Seq: 1, From: "zoe", Text: "?"}, Meant: []string{"c001"}}, 0)
	s.Last, s.LastBy = abi.Message{Seq: 2, From: "c000", Text: "!"}, abi.KindCompanion
	scene := s.Scene("c001", s.Members(), at)
	if scene.Message.From != "zoe" {
		t.Fatalf("about %+v", scene.Message)
	}
	if len(scene.Members) > abi.MaxMembers || !slices.ContainsFunc(scene.Members, func(m abi.Member) bool { return m.ID == "zoe" }) {
		t.Errorf("%d members, without zoe", len(scene.Members))
	}
}

// The daemon is killed while a companion streams its line: what had gone out of it is the
// message, cut off, and what a human said over it still waits.
func TestWhatSoundedWhenTheDaemonWasKilled(t *testing.T) {
	w := newTable(t, voteRules())
	w.human("hello")
	w.vote("a", 5)
	w.listen("b")
	f := *w.m.State.Floor
	w.input(entry.KindBody, entry.Bodies{Joined: []entry.Body{{ID: "x", Who: "a", Plays: true}}})
	w.segment("はい。")
	over := w.from("mika", "and me?")
	e, err := entry.Entry{Seq: w.m.State.Head + 1, Epoch: 2, At: w.at, Kind: entry.KindOwner, ID: "owner/2"}.WithBody(entry.Owner{Owner: "next"})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.m.Adopt(e); err != nil {
		t.Fatal(err)
	}
	got := w.say(Line{Said: entry.Said{From: "a", By: abi.KindCompanion, Text: "はい。", Kind: abi.KindTurn, Grant: f.Token, Basis: w.m.State.Playing.Basis, Segments: 1, Broken: "the daemon was stopped"}})
	if got.Kind != entry.KindSaid || !slices.Equal(w.open(), []uint64{over.Seq}) {
		t.Errorf("%s; %d wait\n%s", got.Kind, w.open(), w)
	}
}
