package room

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/room/reader"
)

func TestHistoryReachesBehindTheTail(t *testing.T) {
	play(t, testRules, nil, func(s *stage) {
		const n = 3 * reader.TailSize
		for i := range n {
			s.say("taro", fmt.Sprintf("message %d", i))
		}
		ask := func(before uint64, limit int) abi.History {
			h, err := s.room.History(s.t.Context(), abi.HistoryAsk{Before: before, Limit: limit})
			if err != nil {
				s.t.Fatal(err)
			}
			return h
		}
		newest := ask(0, 0)
		if len(newest.Messages) != 20 || newest.Messages[19].Text != fmt.Sprintf("message %d", n-1) {
			s.t.Fatalf("%d messages, the last %+v", len(newest.Messages), newest.Messages[len(newest.Messages)-1])
		}
		var all []string
		for before := uint64(0); ; {
			h := ask(before, abi.MaxHistory)
			if len(h.Messages) == 0 {
				break
			}
			var texts []string
			for _, m := range h.Messages {
				texts = append(texts, m.Text)
			}
			all = append(texts, all...)
			before = h.Messages[0].Seq
		}
		for i, text := range all {
			if text != fmt.Sprintf("message %d", i) {
				s.t.Fatalf("message %d reads %q", i, text)
			}
		}
		if len(all) != n {
			s.t.Errorf("%d of %d messages", len(all), n)
		}
		if _, err := s.room.History(s.t.Context(), abi.HistoryAsk{Limit: abi.MaxHistory + 1}); abi.CodeOf(err) != abi.CodeInvalid {
			s.t.Errorf("err = %v", err)
		}
	})
}

func TestMessagesPages(t *testing.T) {
	play(t, testRules, []*actor{wants_("aya", 5), wants_("kyoko", 4)}, func(s *stage) {
		s.say("taro", "hello")
		time.Sleep(time.Minute)
		var got []string
		for since := uint64(0); ; {
			msgs, head, err := s.room.Messages(s.t.Context(), since, 2)
			if err != nil {
				s.t.Fatal(err)
			}
			if len(msgs) == 0 {
				break
			}
			if head != uint64(len(s.entries())) {
				s.t.Errorf("head %d of %d", head, len(s.entries()))
			}
			for _, m := range msgs {
				got = append(got, m.From+": "+m.Text)
				since = m.Seq
			}
		}
		if !slices.Equal(got, s.texts()) {
			s.t.Errorf("%q, want %q", got, s.texts())
		}
	})
}

func TestFollowSeesEverythingOnce(t *testing.T) {
	play(t, testRules, []*actor{wants_("aya", 5), wants_("kyoko", 4)}, func(s *stage) {
		s.say("taro", "before")
		ctx, cancel := context.WithCancel(s.t.Context())
		var seen []uint64
		done := make(chan error, 1)
		go func() {
			done <- s.room.Follow(ctx, 2, func(es []entry.Entry) error {
				for _, e := range es {
					seen = append(seen, e.Seq)
				}
				return nil
			})
		}()
		time.Sleep(time.Minute)
		s.say("taro", "behind")
		time.Sleep(time.Minute)
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			s.t.Errorf("follow: %v", err)
		}
		for i, seq := range seen {
			if seq != uint64(i)+3 {
				s.t.Fatalf("saw %d", seen)
			}
		}
		if len(seen) != len(s.entries())-2 {
			s.t.Errorf("saw %d of %d", len(seen), len(s.entries())-2)
		}
	})
}

func TestWhy(t *testing.T) {
	dies := wants_("dies", 9)
	dies.speak = func(context.Context, abi.Scene) (abi.Line, error) { return abi.Line{}, errors.New("trap") }
	rules := testRules
	rules.MaxTurns = 1
	play(t, rules, []*actor{dies, wants_("aya", 5)}, func(s *stage) {
		asked := s.say("taro", "aya or dies?")
		time.Sleep(time.Minute)
		for _, e := range s.entries() {
			w, err := s.room.Why(s.t.Context(), e.Seq)
			switch e.Kind {
			case entry.KindOwner, entry.KindRules, entry.KindCast:
				if abi.CodeOf(err) != abi.CodeNotFound {
					s.t.Errorf("why %s: %v", e.Kind, err)
				}
				continue
			}
			if err != nil {
				s.t.Errorf("why %d (%s): %v", e.Seq, e.Kind, err)
				continue
			}
			if w.Decision.Reason == "" || !strings.Contains(w.Text, w.Decision.Reason) {
				s.t.Errorf("why %d (%s): %q", e.Seq, e.Kind, w.Text)
			}
			if w.Decision.Outcome == entry.OutcomeGrant && (w.About == nil || w.About.Seq != asked.Seq) {
				s.t.Errorf("why %d (%s) is about %+v", e.Seq, e.Kind, w.About)
			}
		}
		answer := s.entries()[slices.IndexFunc(s.entries(), func(e entry.Entry) bool {
			m, ok := e.Message()
			return ok && m.From == "aya"
		})]
		w, err := s.room.Why(s.t.Context(), answer.Seq)
		if err != nil || w.Decision.Rule != entry.RuleNext || w.Message.Text != "aya line 1" {
			s.t.Errorf("%+v, %v", w, err)
		}
		for _, seq := range []uint64{0, 999} {
			if _, err := s.room.Why(s.t.Context(), seq); abi.CodeOf(err) != abi.CodeNotFound {
				s.t.Errorf("why %d: %v", seq, err)
			}
		}
	})
}

// TestWhyOfWhatWasSuperseded: a message that ended the votes about another is told with what was decided about itself,
// and of those votes nobody says that there were none.
func TestWhyOfWhatWasSuperseded(t *testing.T) {
	slow := &actor{id: "slow", speak: wants_("slow", 0).speak, vote: func(ctx context.Context, _ abi.Scene) (abi.Vote, error) {
		time.Sleep(100 * time.Millisecond) // of a bubble's time
		return abi.Vote{State: abi.Speak, Importance: 5}, nil
	}}
	rules := testRules
	rules.MaxTurns = 1
	play(t, rules, []*actor{slow, wants_("aya", 5)}, func(s *stage) {
		first := s.say("taro", "What a day.")
		time.Sleep(10 * time.Millisecond)
		second := s.say("taro", "It rains.")
		time.Sleep(time.Minute)
		w, err := s.room.Why(s.t.Context(), second.Seq)
		if err != nil || w.About == nil || w.About.Seq != second.Seq || w.Decision.Outcome != entry.OutcomeGrant {
			s.t.Errorf("%+v, %v", w, err)
		}
		w, err = s.room.Why(s.t.Context(), first.Seq+1)
		if err != nil || w.About == nil || w.About.Seq != first.Seq || w.Decision.Outcome != entry.OutcomeSuperseded || strings.Contains(w.Text, "nobody was asked") {
			s.t.Errorf("%+v, %v", w, err)
		}
	})
}

// TestVotesFromOutside gives votes that no module call asked for.
func TestVotesFromOutside(t *testing.T) {
	slow := &actor{id: "slow", vote: hang[abi.Vote], speak: wants_("slow", 0).speak}
	rules := testRules
	rules.MaxTurns = 1
	play(t, rules, []*actor{slow, {id: "kyoko"}}, func(s *stage) {
		speak := abi.Vote{State: abi.Speak, Importance: 7}
		vote := func(from string, about uint64, v abi.Vote) abi.Code {
			return abi.CodeOf(s.room.Vote(s.t.Context(), from, about, v))
		}
		next := uint64(len(s.entries())) + 1
		if c := vote("slow", next, speak); c != "" {
			s.t.Errorf("an early vote: %s", c)
		}
		s.say("taro", "hello")
		synctest.Wait()
		if got := s.texts(); len(got) != 2 || !strings.HasPrefix(got[1], "slow") {
			s.t.Errorf("the early vote was lost: %q", got)
		}
		m := s.say("taro", "again")
		for _, tc := range []struct {
			from  string
			about uint64
			vote  abi.Vote
			want  abi.Code
		}{
			{"stranger", m.Seq, speak, abi.CodeDenied},
			{"slow", m.Seq, abi.Vote{State: "shout"}, abi.CodeInvalid},
			{"slow", m.Seq - 1, speak, abi.CodeConflict},
			{"kyoko", m.Seq, speak, abi.CodeConflict}, // its module has voted
			{"slow", m.Seq, speak, ""},
			{"slow", m.Seq, speak, abi.CodeConflict}, // decided by now
		} {
			if c := vote(tc.from, tc.about, tc.vote); c != tc.want {
				s.t.Errorf("%s about %d: %q, want %q", tc.from, tc.about, c, tc.want)
			}
			synctest.Wait()
		}
		if n := s.room.Info().Counts["vote refused: stranger"]; n != 1 {
			s.t.Errorf("%d strangers counted: %v", n, s.room.Info().Counts)
		}
		time.Sleep(time.Minute)
	})
}

func TestReplayFindsTheFirstDifference(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, testRules, wants_("aya", 5), wants_("kyoko", 4))
		s.say("taro", "hello")
		time.Sleep(time.Minute)
		s.end()
		whole := s.entries()
		for i, e := range whole {
			if e.Kind.IsInput() {
				continue
			}
			forged := slices.Clone(whole)
			forged[i].Body = []byte(strings.Replace(string(e.Body), "aya", "eve", 1))
			if string(forged[i].Body) == string(e.Body) {
				continue
			}
			r, err := reader.Replay(t.Context(), journalOf(t, forged), "main")
			if err != nil || r.Diff == nil || r.Diff.Seq != e.Seq {
				t.Errorf("entry %d (%s) was forged: replay says %v, %v", e.Seq, e.Kind, r.Diff, err)
			}
		}
	})
}

// journalOf makes a journal of entries, of which the first is the owner's.
func journalOf(t *testing.T, es []entry.Entry) journal.Journal {
	t.Helper()
	j := newMemory()
	h, err := j.Acquire(t.Context(), "main", decode[entry.Owner](es[0]).Owner, es[0].At)
	for _, e := range es[1:] {
		if err == nil {
			h, err = j.Append(t.Context(), "main", h, journal.New{ID: e.ID, V: e.V, Kind: e.Kind, At: e.At, Body: e.Body})
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return j
}

func TestDrainWaitsForTheLine(t *testing.T) {
	slow := wants_("aya", 5)
	slow.speak = func(context.Context, abi.Scene) (abi.Line, error) {
		time.Sleep(2 * time.Second)
		return abi.Line{Text: "the end of the sentence"}, nil
	}
	play(t, testRules, []*actor{slow, wants_("kyoko", 4)}, func(s *stage) {
		s.say("taro", "hello")
		synctest.Wait()
		s.drain()
		if got := s.texts(); len(got) != 2 || got[1] != "aya: the end of the sentence" {
			s.t.Errorf("%q", got)
		}
	})
}

// TestWhatIsShownCanBeRead: a client that looked at the room and then reads its
// messages finds all up to what it saw. An agent that waits would else wait for the next
// one with the newest unread.
func TestWhatIsShownCanBeRead(t *testing.T) {
	play(t, testRules, []*actor{{id: "aya"}}, func(s *stage) {
		done := make(chan struct{})
		behind := make(chan uint64, 1)
		for range 2 {
			go func() {
				for {
					select {
					case <-done:
						return
					default:
					}
					shown := s.room.Info().Head
					if h, err := s.room.History(context.Background(), abi.HistoryAsk{Limit: 1}); err == nil && h.Head < shown {
						select {
						case behind <- shown:
						default:
						}
						return
					}
				}
			}()
		}
		for n := range 300 {
			s.say("taro", fmt.Sprint("line ", n))
		}
		close(done)
		select {
		case head := <-behind:
			t.Errorf("the room showed %d and had not got it", head)
		default:
		}
	})
}
