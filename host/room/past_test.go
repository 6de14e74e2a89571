package room

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/history"
	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/room/reader"
	"github.com/companiond/companiond/host/rooms"
)

// told gives what minds are told, a line each.
func (s *stage) told(ask abi.HistoryAsk) (lines []string) {
	s.t.Helper()
	awake, err := s.room.Told(s.t.Context(), ask)
	if err != nil {
		s.t.Fatal(err)
	}
	asleep, err := reader.New(s.journal, "main").Told(s.t.Context(), ask)
	if err != nil {
		s.t.Fatal(err)
	}
	if !reflect.DeepEqual(awake, asleep) {
		s.t.Errorf("awake it tells %+v, asleep %+v", awake, asleep)
	}
	for _, m := range awake.Messages {
		line := m.From + ": " + m.Text
		if m.Turns != nil {
			line = fmt.Sprintf("(%d-%d) %s", m.Turns[0], m.Turns[1], m.Text)
		}
		lines = append(lines, line)
	}
	return lines
}

func (s *stage) happens(in history.Input) history.Proposal {
	s.t.Helper()
	p, err := s.room.Happens(s.t.Context(), in)
	if err != nil {
		s.t.Fatalf("%s of %s: %v", in.Kind, in.Proposal, err)
	}
	return p
}

// compress lays a text over turns.
func (s *stage) compress(id string, from, to uint64, text string) {
	s.t.Helper()
	s.happens(history.Input{Kind: history.Propose, Proposal: id, By: "taro", Ask: &history.Ask{
		Turns: history.Range{From: from, To: to}, Length: history.Length{N: 100, Unit: history.Characters},
	}})
	s.happens(history.Input{Kind: history.Drafted, Proposal: id, Draft: &history.Draft{N: 1, Text: text, Verdict: history.Yes}})
	s.happens(history.Input{Kind: history.Approve, Proposal: id, By: "taro"})
}

// TestCompressedPast: turns that were compressed are told as one text, awake, asleep and after a restart,
// and page by page; the originals stay; reverted, all is told as it was. Characters are told so, too.
func TestCompressedPast(t *testing.T) {
	eri := &actor{id: "eri"}
	var recent [][]abi.Message
	n := 0
	eri.vote = wants_("eri", 5).vote
	eri.speak = func(_ context.Context, s abi.Scene) (abi.Line, error) {
		n++
		recent = append(recent, s.Recent)
		return abi.Line{Text: fmt.Sprintf("eri %d", n)}, nil
	}
	rules := testRules
	rules.MaxTurns = 1
	play(t, rules, []*actor{eri}, func(s *stage) {
		for i := range 6 { // turns 1 to 12
			s.say("taro", fmt.Sprintf("taro %d", i+1))
			synctest.Wait()
		}
		plain := s.told(abi.HistoryAsk{Limit: 100})
		if len(plain) != 12 {
			t.Fatalf("%q", plain)
		}
		said := s.texts()
		s.compress("p", 3, 10, "eight turns")
		want := []string{plain[0], plain[1], "(3-10) eight turns", plain[10], plain[11]}
		if got := s.told(abi.HistoryAsk{Limit: 100}); !slices.Equal(got, want) {
			t.Errorf("it is told as %q", got)
		}
		if got := s.told(abi.HistoryAsk{Limit: 3}); !slices.Equal(got, want[2:]) {
			t.Errorf("the newest three are %q", got)
		}
		seqs, err := reader.Turns(s.t.Context(), s.journal, "main", history.Range{From: 7, To: 7})
		if err != nil {
			t.Fatal(err)
		}
		if got := s.told(abi.HistoryAsk{Limit: 2, Before: seqs[0]}); !slices.Equal(got, want[1:3]) {
			t.Errorf("before turn 7 are %q", got)
		}
		s.say("taro", "taro 7")
		synctest.Wait()
		last := recent[len(recent)-1]
		if last[2].Kind != abi.KindCompressed || last[2].Text != "eight turns" || len(last) != 6 {
			t.Errorf("a character was told %+v", last)
		}
		s.end()
		s.start()
		if got := s.told(abi.HistoryAsk{Limit: 100}); !slices.Equal(got[:5], want) {
			t.Errorf("after a restart it is told as %q", got)
		}
		s.compress("q", 1, 12, "all of it")
		if got := s.told(abi.HistoryAsk{Limit: 100}); got[0] != "(1-12) all of it" || len(got) != 3 {
			t.Errorf("compressed again it is told as %q", got)
		}
		past, err := s.room.Past(s.t.Context(), history.Range{From: 1, To: 13}, false)
		if err != nil || len(past.Turns) != 2 || past.Turns[0].Upto != 12 || past.Turns[1].N != 13 {
			t.Errorf("%+v, %v", past, err)
		}
		if _, err := s.room.Past(s.t.Context(), history.Range{From: 2, To: 13}, false); abi.CodeOf(err) != abi.CodeConflict {
			t.Errorf("a part of it can be taken: %v", err)
		}
		s.happens(history.Input{Kind: history.Revert, Proposal: "q"})
		s.happens(history.Input{Kind: history.Revert, Proposal: "p"})
		if got := s.told(abi.HistoryAsk{Limit: 100}); !slices.Equal(got[:12], plain) {
			t.Errorf("reverted it is told as %q", got)
		}
		if got := s.texts(); !slices.Equal(got[:12], said) {
			t.Errorf("what was said is %q by now", got)
		}
	})
}

// TestApprovalLooksAgain: what is approved is what was drafted of: where words were erased
// meanwhile, or a part was compressed, it is not; a message behind the range does not matter.
func TestApprovalLooksAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, testRules)
		defer s.end()
		for i := range 6 {
			s.say("taro", fmt.Sprintf("taro %d", i+1))
		}
		propose := func(id string, from, to uint64) {
			s.happens(history.Input{Kind: history.Propose, Proposal: id, By: "taro", Ask: &history.Ask{
				Turns: history.Range{From: from, To: to}, Length: history.Length{N: 100, Unit: history.Characters},
			}})
			s.happens(history.Input{Kind: history.Drafted, Proposal: id, Draft: &history.Draft{N: 1, Text: "short", Verdict: history.Yes}})
		}
		propose("a", 1, 4)
		s.say("taro", "one more")
		s.happens(history.Input{Kind: history.Approve, Proposal: "a", By: "taro"})
		if _, err := s.room.Happens(s.t.Context(), history.Input{Kind: history.Approve, Proposal: "a", By: "taro"}); abi.CodeOf(err) != abi.CodeConflict {
			t.Errorf("it is approved twice: %v", err)
		}
		propose("b", 5, 6)
		seqs, err := reader.Turns(s.t.Context(), s.journal, "main", history.Range{From: 6, To: 6})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.journal.Blank(s.t.Context(), "main", seqs[0], map[uint64][]byte{seqs[0]: []byte(`{"from":"somebody","by":"human","text":"","kind":"turn","turn":6,"erased":"o1"}`)}); err != nil {
			t.Fatal(err)
		}
		if _, err := s.room.Happens(s.t.Context(), history.Input{Kind: history.Approve, Proposal: "b", By: "taro"}); abi.CodeOf(err) != abi.CodeStale || !strings.Contains(err.Error(), "erased") {
			t.Errorf("what was drafted of words that were erased is approved: %v", err)
		}
		if _, err := s.room.Happens(s.t.Context(), history.Input{Kind: history.Propose, Proposal: "c", Ask: &history.Ask{Turns: history.Range{From: 7, To: 8}, Length: history.Length{N: 1, Unit: history.Tokens}}}); abi.CodeOf(err) != abi.CodeNotFound {
			t.Errorf("turns that are not there are taken: %v", err)
		}
	})
}

// TestTurnsByNumber finds every turn of a talk with backchannels by its number, whether entries say
// their numbers or are of before they did, or some of them.
func TestTurnsByNumber(t *testing.T) {
	play(t, testRules, nil, func(s *stage) {
		for i := range 300 {
			kind := abi.KindTurn
			if i%7 == 0 || i%7 == 3 {
				kind = abi.KindBackchannel
			}
			if _, err := s.room.Say(s.t.Context(), rooms.Utterance{From: "taro", Text: fmt.Sprint("words ", i), Kind: kind}); err != nil {
				t.Fatal(err)
			}
		}
		var starts, ends []uint64 // by number
		for _, e := range s.entries() {
			b, err := entry.Decode[entry.Said](e)
			if e.Kind != entry.KindSaid || err != nil {
				continue
			}
			switch {
			case b.Kind == abi.KindTurn && b.Turn != uint64(len(starts))+1 && len(starts) > 1, b.Turn == 0:
				t.Fatalf("turn %d says it is %d", len(starts)+1, b.Turn)
			case b.Kind == abi.KindTurn && len(starts) == 1 && ends[0] == 0:
				ends[0] = e.Seq
			case b.Kind == abi.KindTurn:
				starts, ends = append(starts, e.Seq), append(ends, e.Seq)
			case len(starts) == 0: // before the first turn
				starts, ends = append(starts, e.Seq), append(ends, 0)
			default:
				ends[len(ends)-1] = e.Seq
			}
		}
		for n := range starts {
			seqs, err := reader.Turns(s.t.Context(), s.journal, "main", history.Range{From: uint64(n) + 1, To: uint64(n) + 1})
			if err != nil || seqs != [2]uint64{starts[n], ends[n]} {
				t.Fatalf("turn %d is %v, not %d-%d: %v", n+1, seqs, starts[n], ends[n], err)
			}
		}
	})
}

// slowlyRead is a journal of which the turns take a while.
type slowlyRead struct{ journal.Journal }

func (s slowlyRead) Said(ctx context.Context, room string, span journal.Span) ([]entry.Entry, error) {
	time.Sleep(time.Minute)
	return s.Journal.Said(ctx, room, span)
}

// TestNobodySleepsWhileTurnsAreLookedAt: else a room that falls asleep soon is woken and looked at for ever.
func TestNobodySleepsWhileTurnsAreLookedAt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &stage{t: t, journal: newMemory(), rules: testRules, idle: time.Second}
		s.on = slowlyRead{s.journal}
		s.start()
		s.say("taro", "hello")
		s.happens(history.Input{Kind: history.Propose, Proposal: "a", By: "taro", Ask: &history.Ask{
			Turns: history.Range{From: 1, To: 1}, Length: history.Length{N: 100, Unit: history.Characters},
		}})
		s.finish()
	})
}
