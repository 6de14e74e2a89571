package room

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/rooms"
)

// polite is a filter that has a second for each text: "bad" becomes "***", and what has "rude" in it is refused. One for
// "unasked" is asked about nothing.
type polite struct{ asked chan string }

func (f polite) Line(ctx context.Context, who, _, text string) (string, []entry.Step, string) {
	if who == "unasked" {
		return text, nil, ""
	}
	select {
	case f.asked <- text:
	default:
	}
	select {
	case <-time.After(time.Second):
	case <-ctx.Done():
	}
	step := entry.Step{Handler: "polite", Did: entry.DidPass, MS: 1000}
	if strings.Contains(text, "rude") {
		step.Did, step.Reason = entry.DidRefuse, "it is rude"
		return text, []entry.Step{step}, "refused by polite: it is rude"
	}
	said := strings.ReplaceAll(text, "bad", "***")
	if said != text {
		step.Did = entry.DidChange
	}
	return said, []entry.Step{step}, ""
}

// filtered plays a room in which nikoni says the parts of a line, and then answers with end; what it says is filtered.
func filtered(t *testing.T, parts []string, end func(string) (abi.Line, error), f func(*stage, polite)) {
	t.Helper()
	var s *stage
	rules := testRules
	rules.MaxTurns, rules.Floor = 1, 30_000
	politely(t, rules, []*actor{recites(&s, "nikoni", parts, end), {id: "aya"}}, func(st *stage, p polite) {
		s = st
		f(st, p)
	})
}

func politely(t *testing.T, rules entry.Rules, actors []*actor, f func(*stage, polite)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, rules, actors...)
		s.end()
		p := polite{make(chan string, 100)}
		s.filter = p
		s.start()
		defer func() { s.end() }()
		f(s, p)
	})
}

func (s *stage) steps() (all []string) {
	for _, h := range bodies[entry.Handled](s.t, s.entries(), entry.KindHandled) {
		for _, step := range h.Steps {
			of := "nothing"
			if h.Line != "" {
				of = h.Line[:1] // of a grant or of a wish
			}
			all = append(all, of+" "+step.Did)
		}
	}
	return all
}

func (s *stage) why(seq uint64) string {
	s.t.Helper()
	w, err := s.room.Why(s.t.Context(), seq)
	if err != nil {
		s.t.Fatal(err)
	}
	return w.Text
}

// newest gives the seq of the newest entry of a kind.
func (s *stage) newest(kind entry.Kind) (seq uint64) {
	for _, e := range s.entries() {
		if e.Kind == kind {
			seq = e.Seq
		}
	}
	return seq
}

// TestALineIsFiltered: by pieces, and what is said is what was left, wherever that is looked at. The module's own line is
// compared with its own pieces.
func TestALineIsFiltered(t *testing.T) {
	for _, c := range []struct {
		name   string
		parts  []string
		end    func(string) (abi.Line, error)
		want   string   // empty: nothing
		pieces []string // as they were shown
		steps  []string
		broken bool
	}{
		{"in one piece", nil, func(string) (abi.Line, error) { return abi.Line{Text: "a bad line"}, nil }, "a *** line", nil, []string{"g changed"}, false},
		{"by pieces", []string{"good. ", "bad. "}, whole, "good. ***. ", []string{"good. ", "***. "}, []string{"g passed", "g changed"}, false},
		{"a rest", []string{"bad. "}, func(said string) (abi.Line, error) { return abi.Line{Text: said + "bad too."}, nil }, "***. *** too.",
			[]string{"***. ", "*** too."}, []string{"g changed", "g changed"}, false},
		{"a refused piece", []string{"bad. ", "rude. ", "more."}, whole, "***. ", []string{"***. "}, []string{"g changed", "g refused"}, true},
		{"a refused rest", []string{"bad. "}, func(said string) (abi.Line, error) { return abi.Line{Text: said + "rude."}, nil }, "***. ",
			[]string{"***. "}, []string{"g changed", "g refused"}, true},
		{"refused at once", nil, func(string) (abi.Line, error) { return abi.Line{Text: "rude."}, nil }, "", nil, []string{"g refused"}, false},
		{"its first piece is refused", []string{"rude. "}, whole, "", nil, []string{"g refused"}, false},
		{"a line that is another", []string{"bad. "}, func(string) (abi.Line, error) { return abi.Line{Text: "***. and rude"}, nil }, "***. ",
			[]string{"***. "}, []string{"g changed"}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			filtered(t, c.parts, c.end, func(s *stage, _ polite) {
				s.say("taro", "nikoni, hi")
				time.Sleep(15 * time.Second)
				synctest.Wait()
				var pieces []string
				for _, p := range bodies[entry.Segment](t, s.entries(), entry.KindSegment) {
					pieces = append(pieces, p.Text)
				}
				if !slices.Equal(pieces, c.pieces) || !slices.Equal(s.steps(), c.steps) {
					t.Errorf("pieces %q, steps %q", pieces, s.steps())
				}
				got := s.said()
				if c.want == "" {
					failed := bodies[entry.Failed](t, s.entries(), entry.KindFailed)
					if len(got) != 1 || len(failed) != 1 || !failed[0].Pass || failed[0].Error != "refused by polite: it is rude" || failed[0].Code != "" {
						t.Errorf("said %+v, failed %+v", got[1:], failed)
					}
					if why := s.why(1 + s.newest(entry.KindRound)); !strings.Contains(s.why(s.newest(entry.KindFailed)), "polite refused a piece of its line: it is rude (1000 ms)") {
						t.Errorf("why: %s", why)
					}
					return
				}
				if len(got) != 2 || got[1].Text != c.want || got[1].Segments != len(c.pieces) || (got[1].Broken == "refused by polite: it is rude") != c.broken || (got[1].Broken != "") != c.broken {
					s.t.Fatalf("said %+v", got[1:])
				}
				why := s.why(s.newest(entry.KindSaid))
				for _, step := range c.steps {
					if _, did, _ := strings.Cut(step, " "); !strings.Contains(why, "polite "+did+" a piece of its line") {
						t.Errorf("why, without %s: %s", step, why)
					}
				}
				if dropped := s.room.Info().Counts["rest of a line dropped"]; (dropped == 1) != (c.name == "a line that is another") {
					t.Errorf("%d rests were dropped", dropped)
				}
			})
		})
	}
}

// TestALineLosesItsEndToAFilter: the journal says by whose doing, and so does the log; one that had the time for it and took too
// long itself is not laid at a filter's door.
func TestALineLosesItsEndToAFilter(t *testing.T) {
	for _, who := range []string{"nikoni", "unasked"} {
		var s *stage
		rules := testRules
		rules.MaxTurns, rules.Floor = 1, 3500
		parts := []string{"One. ", "Two. ", "Three. ", "Four. ", "Five. "}
		end := func(said string) (abi.Line, error) { time.Sleep(10 * time.Second); return whole(said) }
		politely(t, rules, []*actor{recites(&s, who, parts, end)}, func(st *stage, _ polite) {
			s = st
			s.say("taro", who+", hi")
			time.Sleep(15 * time.Second)
			synctest.Wait()
			got := s.said()
			if len(got) != 2 {
				t.Fatalf("said %+v", got)
			}
			told := got[1].Broken == "the floor was held too long; handlers looked at its words for 2s of that, most of all polite"
			if told != (who == "nikoni") || !strings.Contains(got[1].Broken, "the floor was held too long") {
				t.Errorf("%s: %q", who, got[1].Broken)
			}
			if logged := strings.Contains(s.log.String(), "lost its end"); logged != told {
				t.Errorf("%s: the log: %s", who, &s.log)
			}
			if why := s.why(s.newest(entry.KindSaid)); told != strings.Contains(why, "its end is missing: the floor was held too long; handlers") {
				t.Errorf("why: %s", why)
			}
		})
	}
}

// TestStopWhileAFilterIsAsked: the words are dropped, what went out before is said, and nothing comes of what the filter
// still answers.
func TestStopWhileAFilterIsAsked(t *testing.T) {
	for name, c := range map[string]struct {
		parts []string
		want  string
	}{"a line": {nil, ""}, "a piece": {[]string{"good. ", "bad. "}, "good. "}} {
		t.Run(name, func(t *testing.T) {
			end := func(said string) (abi.Line, error) { return abi.Line{Text: said + "bad."}, nil }
			filtered(t, c.parts, end, func(s *stage, p polite) {
				s.say("taro", "nikoni, hi")
				for range max(1, len(c.parts)) {
					<-p.asked
				}
				time.Sleep(500 * time.Millisecond)
				if _, err := s.room.Stop(s.t.Context(), "taro"); err != nil {
					s.t.Fatal(err)
				}
				time.Sleep(15 * time.Second)
				synctest.Wait()
				got := s.said()
				if c.want == "" && len(got) != 1 || c.want != "" && (len(got) != 2 || got[1].Text != c.want || got[1].Ends != entry.EndStopped) {
					t.Errorf("said %+v", got[1:])
				}
				if n := s.count(entry.KindSegment); n != max(0, len(c.parts)-1) {
					t.Errorf("%d pieces", n)
				}
			})
		})
	}
}

// TestNobodyFiltersForIt: nothing is different for a companion for whom nobody filters.
func TestNobodyFiltersForIt(t *testing.T) {
	var s *stage
	rules := testRules
	rules.MaxTurns = 1
	politely(t, rules, []*actor{recites(&s, "unasked", []string{"rude. ", "bad. "}, whole)}, func(st *stage, _ polite) {
		s = st
		s.say("taro", "unasked, hi")
		time.Sleep(3 * time.Second)
		synctest.Wait()
		if got := s.said(); len(got) != 2 || got[1].Text != "rude. bad. " || got[1].Segments != 2 || s.count(entry.KindHandled) != 0 {
			t.Errorf("said %+v, %q", got[1:], s.steps())
		}
	})
}

// TestAJudgementIsFiltered: its words wait for the floor as they were left, and where they are refused the companion would
// rather listen.
func TestAJudgementIsFiltered(t *testing.T) {
	for text, want := range map[string]string{"a bad cat": "nikoni: a *** cat", "a rude cat": ""} {
		n := sees("nikoni", text)
		n.can = []string{"speak"}
		n.judge = func(context.Context, abi.Perceiving) (abi.Judgement, error) {
			return abi.Judgement{State: abi.Speak, Importance: 6, Text: text, Parameters: json.RawMessage(`{"face":"x","message":"` + text + `"}`)}, nil
		}
		rules := testRules
		rules.MaxTurns = 1
		politely(t, rules, []*actor{n}, func(s *stage, _ polite) {
			j := s.perceive("nikoni", frame("vision"))
			time.Sleep(5 * time.Second)
			synctest.Wait()
			got := s.said()
			if want == "" {
				if len(got) != 0 || j.Wish != 0 || j.Judgement.State != abi.Listen || j.Judgement.Reason != "refused by polite: it is rude" || !slices.Equal(s.steps(), []string{"nothing refused"}) {
					t.Errorf("said %+v, judged %+v, %q", got, j, s.steps())
				}
				return
			}
			if texts := s.texts(); len(texts) != 1 || texts[0] != want || !slices.Equal(s.steps(), []string{"w changed"}) || string(got[0].Parameters) != `{"face":"x","message":"a *** cat"}` {
				s.t.Fatalf("said %q, %+v, %q", texts, got, s.steps())
			}
			if why := s.why(s.newest(entry.KindSaid)); !strings.Contains(why, "polite changed a piece of its line (1000 ms)") {
				t.Errorf("why: %s", why)
			}
		})
	}
}

// TestStopWhileAJudgementIsFiltered: nothing comes of it.
func TestStopWhileAJudgementIsFiltered(t *testing.T) {
	politely(t, testRules, []*actor{sees("nikoni", "a bad cat")}, func(s *stage, p polite) {
		judged := make(chan abi.Judged, 1)
		go func() {
			j, _ := s.room.Perceive(s.t.Context(), "nikoni", frame("vision"))
			judged <- j
		}()
		<-p.asked
		if _, err := s.room.Stop(s.t.Context(), "taro"); err != nil {
			s.t.Fatal(err)
		}
		if j := <-judged; j.Judgement.State != abi.Listen || j.Wish != 0 || len(s.said()) != 0 {
			t.Errorf("judged %+v, said %q", j, s.texts())
		}
	})
}

// TestWordsThatArePlayedAreFiltered: a speak that is refused is refused to whoever plays it.
func TestWordsThatArePlayedAreFiltered(t *testing.T) {
	n := &actor{id: "nikoni", can: []string{"speak"}}
	politely(t, testRules, []*actor{n}, func(s *stage, _ polite) {
		play := func(text string) (abi.ActionPlayed, error) {
			return s.room.Act(s.t.Context(), "nikoni", rooms.Player{Agent: "bot"}, abi.ActionAsk{Action: "speak", Parameters: json.RawMessage(`{"face":"x","message":"` + text + `"}`)})
		}
		if _, err := play("a rude word"); abi.CodeOf(err) != abi.CodeDenied || !strings.Contains(err.Error(), "refused by polite: it is rude") {
			t.Errorf("refused: %v", err)
		}
		if played, err := play("a bad word"); err != nil || played.Wish == 0 {
			t.Errorf("changed: %+v, %v", played, err)
		}
		time.Sleep(5 * time.Second)
		synctest.Wait()
		got := s.said()
		if len(got) != 1 || got[0].Text != "a *** word" || string(got[0].Parameters) != `{"face":"x","message":"a *** word"}` || !slices.Equal(s.steps(), []string{"nothing refused", "w changed"}) {
			t.Errorf("said %+v, %q", got, s.steps())
		}
		for _, e := range s.entries() {
			if strings.Contains(string(e.Body), "bad") || strings.Contains(string(e.Body), "rude word") {
				t.Errorf("the words are in the journal: %s", e.Body)
			}
		}
	})
}

// TestABackchannelIsFiltered: it is said as it was left, or not at all, and the vote counts either way.
func TestABackchannelIsFiltered(t *testing.T) {
	for text, want := range map[string]string{"bad!": "***!", "rude!": ""} {
		listens := &actor{id: "aya", vote: func(context.Context, abi.Scene) (abi.Vote, error) {
			return abi.Vote{State: abi.Listen, Backchannel: text}, nil
		}}
		rules := poolRules("vote+pool")
		rules.MaxTurns, rules.Patience = 1, 5000
		politely(t, rules, []*actor{wants_("nikoni", 9), listens}, func(s *stage, _ polite) {
			s.say("taro", "hi")
			time.Sleep(20 * time.Second)
			synctest.Wait()
			got := ""
			for _, m := range s.said() {
				if m.Kind == abi.KindBackchannel {
					got = m.Text
				}
			}
			if got != want {
				t.Errorf("%q became %q; %q", text, got, s.texts())
			}
			for _, v := range bodies[entry.Voted](t, s.entries(), entry.KindVote) {
				if strings.Contains(v.Backchannel, "bad") || strings.Contains(v.Backchannel, "rude") {
					t.Errorf("the vote has %q", v.Backchannel)
				}
			}
		})
	}
}

// TestHandled writes down what handlers did about a perception, and a wish that came of it tells of that.
func TestHandled(t *testing.T) {
	rules := testRules
	rules.MaxTurns = 1
	play(t, rules, []*actor{sees("nikoni", "a cat")}, func(s *stage) {
		for i, title := range []string{"vision", "chat", "vision"} {
			h := entry.Handled{Who: "nikoni", Of: entry.OfPerception, Title: title, Steps: []entry.Step{{Handler: "polite", Did: entry.DidChange, MS: int64(i)}}}
			if err := s.room.Handled(s.t.Context(), h); err != nil {
				s.t.Fatal(err)
			}
		}
		s.perceive("nikoni", frame("vision"))
		why := s.why(s.newest(entry.KindSaid))
		if !strings.Contains(why, `polite changed the perception "vision" (2 ms)`) || strings.Count(why, "polite") != 1 {
			t.Errorf("why: %s", why)
		}
		s.perceive("nikoni", frame("vision"))
		if why := s.why(s.newest(entry.KindSaid)); strings.Contains(why, "polite") {
			t.Errorf("of another: %s", why)
		}
	})
}
