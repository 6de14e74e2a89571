package room

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/action"
	"github.com/companiond/companiond/host/card"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/force"
	"github.com/companiond/companiond/host/room/reader"
	"github.com/companiond/companiond/host/rooms"
)

const cells = `{"type":"object","properties":{"cell":{"enum":["a1","b2"]}},"required":["cell"]}`

// lent makes actions without parameters but "play".
func lent(t *testing.T, names ...string) (all []card.Action) {
	t.Helper()
	for _, n := range names {
		schema := ""
		if n == "play" {
			schema = cells
		}
		a, err := card.NewAction(n, "does "+n, json.RawMessage(schema))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, a)
	}
	return all
}

// plug connects a game to a companion.
func (s *stage) plug(who, name string) (g *action.Game, leave func()) {
	s.t.Helper()
	g, leave = s.room.cfg.Bodies.Plug("main", who, "", s.room.Stir)
	g.Start(name)
	synctest.Wait()
	return g, leave
}

func (s *stage) offers() (all []string) {
	for _, o := range s.room.state().Offered {
		all = append(all, fmt.Sprintf("%s %s %s", o.Who, o.Name, o.Game))
	}
	return all
}

// TestOffered: what a game offers is in the journal, and so is what it takes back; what it had
// goes with its body.
func TestOffered(t *testing.T) {
	play(t, testRules, []*actor{{id: "aya"}}, func(s *stage) {
		g, leave := s.plug("aya", "chess")
		if refused := g.Offer(lent(t, "play", "pass", "speak", "play")); !slices.Equal(refused, []action.Refusal{{Name: "speak", Rule: force.RegisterName}, {Name: "play", Rule: force.RegisterAgain}}) {
			t.Errorf("refused: %v", refused)
		}
		synctest.Wait()
		other, _ := s.plug("aya", "maze")
		if refused := other.Offer(lent(t, "play", "jump")); !slices.Equal(refused, []action.Refusal{{Name: "play", Rule: force.RegisterConflict}}) {
			t.Errorf("the other game is refused %v", refused)
		}
		synctest.Wait()
		if got, want := s.offers(), []string{"aya play chess", "aya pass chess", "aya jump maze"}; !slices.Equal(got, want) {
			t.Errorf("offered: %q, want %q", got, want)
		}
		g.Withdraw([]string{"pass", "jump", "fly"})
		synctest.Wait()
		g.Withdraw([]string{"play"})
		g.Offer(lent(t, "play"))
		synctest.Wait()
		got := s.offers() // the room may have looked between the two
		if slices.Sort(got); !slices.Equal(got, []string{"aya jump maze", "aya play chess"}) {
			t.Errorf("then: %q", got)
		}
		leave()
		synctest.Wait()
		if got := s.offers(); !slices.Equal(got, []string{"aya jump maze"}) {
			t.Errorf("when it has left: %q", got)
		}
		made := bodies[entry.Offered](t, s.entries(), entry.KindOffered)
		if first := made[0]; len(made) < 3 || first.By != "chess" || first.Body != g.ID() || len(first.Actions) != 2 || string(first.Actions[0].Schema) != cells || first.Actions[1].Schema != nil {
			t.Errorf("in the journal: %+v", made)
		}
		s.end()
		s.start()
		if got := s.offers(); got != nil {
			t.Errorf("another daemon's: %q", got)
		}
		if st, _, err := reader.Fold(s.t.Context(), s.journal, "main"); err != nil || len(st.Offered) > 0 {
			t.Errorf("folded anew: %v, %v", st.Offered, err)
		}
	})
}

// TestTheSameGameAgain: a game that starts on another connection has its names there.
func TestTheSameGameAgain(t *testing.T) {
	play(t, testRules, []*actor{{id: "aya"}}, func(s *stage) {
		old, _ := s.plug("aya", "chess")
		old.Offer(lent(t, "play"))
		foreign, _ := s.room.cfg.Bodies.Plug("main", "aya", "somebody else", s.room.Stir)
		if foreign.Start("chess"); len(foreign.Offer(lent(t, "play"))) == 0 {
			t.Error("a game of another's takes the name by its own name")
		}
		g, _ := s.room.cfg.Bodies.Plug("main", "aya", "", s.room.Stir)
		if from := g.Start("chess"); !slices.Equal(from, []string{old.ID()}) {
			t.Errorf("it was on %q", from)
		}
		if refused := g.Offer(lent(t, "play")); refused != nil {
			t.Errorf("refused: %v", refused)
		}
		synctest.Wait()
		if o := s.room.state().Offered; len(o) != 1 || o[0].Body != g.ID() {
			t.Errorf("offered: %+v", o)
		}
	})
}

// TestActOffered: an action that is offered is checked by its own schema, and goes to its own
// body; what the card has is the card's.
func TestActOffered(t *testing.T) {
	aya := &actor{id: "aya", can: []string{"wave", "both"}, carded: true}
	play(t, testRules, []*actor{aya}, func(s *stage) {
		_, gone := s.room.cfg.Bodies.Embody("main", entry.Body{Who: "aya"})
		defer gone()
		g, leave := s.plug("aya", "chess")
		g.Offer(lent(t, "play", "both"))
		act := func(name, parameters string) (entry.Action, error) {
			_, err := s.room.Act(s.t.Context(), "aya", rooms.Player{}, abi.ActionAsk{Action: name, Parameters: json.RawMessage(parameters)})
			acts := bodies[entry.Action](t, s.entries(), entry.KindAction)
			if err != nil {
				return entry.Action{}, err
			}
			return acts[len(acts)-1], nil
		}
		if a, err := act("play", `{"cell":"a1"}`); err != nil || a.Body != g.ID() || a.Delivered != 1 || a.Who != "aya" {
			t.Errorf("play: %+v, %v", a, err)
		}
		if _, err := act("play", `{"cell":"c3"}`); abi.CodeOf(err) != abi.CodeInvalid || !strings.Contains(err.Error(), "cell") {
			t.Errorf("play what the schema has not: %v", err)
		}
		for _, name := range []string{"wave", "both"} {
			if a, err := act(name, ""); err != nil || a.Body != "" || a.Delivered != 1 {
				t.Errorf("%s of the card: %+v, %v", name, a, err)
			}
		}
		before := s.count(entry.KindAction)
		for name, code := range map[string]abi.Code{"play": abi.CodeDenied, "wave": "", "both": ""} {
			if _, err := s.room.Act(s.t.Context(), "aya", rooms.Player{Agent: "lamp", Card: true}, abi.ActionAsk{Action: name, Parameters: json.RawMessage(`{"cell":"a1"}`)}); abi.CodeOf(err) != code {
				t.Errorf("%s by a handler: %v", name, err)
			}
		}
		if n := s.count(entry.KindAction) - before; n != 2 {
			t.Errorf("handlers played %d actions", n)
		}
		leave()
		if _, err := act("play", `{"cell":"a1"}`); abi.CodeOf(err) != abi.CodeNotFound {
			t.Errorf("when the game has left: %v", err)
		}
	})
}

// TestToldByGames: what a game told is told with what the companion is asked next, without being
// judged, in order and bounded.
func TestToldByGames(t *testing.T) {
	var asked []abi.Perceiving
	aya := &actor{id: "aya", judge: func(_ context.Context, p abi.Perceiving) (abi.Judgement, error) {
		asked = append(asked, p)
		return abi.Judgement{State: abi.Listen}, nil
	}}
	play(t, testRules, []*actor{aya, {id: "kyoko"}}, func(s *stage) {
		for i := range 20 {
			if err := s.room.Note(s.t.Context(), "aya", told(fmt.Sprint(i))); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.room.Note(s.t.Context(), "kyoko", told("hers")); err != nil {
			t.Fatal(err)
		}
		if len(asked) > 0 {
			t.Fatal("it was asked about what it need not judge")
		}
		g, _ := s.plug("aya", "chess")
		g.Offer(lent(t, "pass"))
		s.perceive("aya", frame("vision"))
		p := asked[0]
		if len(p.Told) != 16 || string(p.Told[0].Body) != `"4"` || string(p.Told[15].Body) != `"19"` || p.Told[0].Game != "chess" {
			t.Errorf("told: %+v", p.Told)
		}
		if len(p.Offers) != 1 || p.Offers[0].Name != "pass" || p.Offers[0].Game != "chess" || p.Offers[0].Description != "does pass" {
			t.Errorf("offered: %+v", p.Offers)
		}
		s.end()
		s.start()
		s.perceive("aya", frame("vision"))
		if last := asked[len(asked)-1]; len(last.Told) != 16 || last.Offers != nil {
			t.Errorf("after a restart it is told %d, offered %v", len(last.Told), last.Offers)
		}
	})
}

func told(text string) abi.Percept {
	body, _ := json.Marshal(text)
	return abi.Percept{Title: "context", Format: "text", Body: body, Game: "chess"}
}

// forced is a force of a game.
func forced(priority string, ephemeral bool, names ...string) abi.Percept {
	return abi.Percept{
		Title: "force", Format: "object", Body: json.RawMessage(`{"state":"empty","query":"your turn"}`), Game: "chess",
		Force: &abi.Force{Actions: names, Priority: priority, Ephemeral: ephemeral, Try: 1},
	}
}

// TestForceNamesTheActions: whoever is forced plays one of the actions that are named, and
// nothing else that is offered; what is ephemeral is not told again.
func TestForceNamesTheActions(t *testing.T) {
	var s *stage
	var errs []error
	var asked []abi.Perceiving
	aya := &actor{id: "aya", can: []string{"wave"}, carded: true}
	aya.judge = func(ctx context.Context, p abi.Perceiving) (abi.Judgement, error) {
		asked = append(asked, p)
		for _, name := range []string{"pass", "wave", "jump"} {
			_, err := s.room.Act(ctx, "aya", rooms.Player{Call: aya.call, Op: abi.OpPerceive}, abi.ActionAsk{Action: name})
			errs = append(errs, err)
		}
		return abi.Judgement{State: abi.Listen}, nil
	}
	play(t, testRules, []*actor{aya}, func(st *stage) {
		s = st
		g, _ := s.plug("aya", "chess")
		g.Offer(lent(t, "pass", "jump"))
		j := s.perceive("aya", forced("low", true, "jump"))
		if abi.CodeOf(errs[0]) != abi.CodeDenied || errs[1] != nil || errs[2] != nil {
			t.Errorf("pass, wave, jump: %v", errs)
		}
		acts := bodies[entry.Action](t, s.entries(), entry.KindAction)
		if len(acts) != 2 || acts[1].Action != "jump" || acts[1].Perceived != j.Seq || acts[1].Body != g.ID() {
			t.Errorf("played: %+v", acts)
		}
		if f := asked[0].Perception.Force; f == nil || !slices.Equal(f.Actions, []string{"jump"}) || string(asked[0].Perception.Body) != `{"state":"empty","query":"your turn"}` {
			t.Errorf("asked: %+v", asked[0].Perception)
		}
		s.perceive("aya", forced("low", false, "jump"))
		s.perceive("aya", forced("low", true, "jump"))
		if n := []int{len(asked[0].Told), len(asked[1].Told), len(asked[2].Told)}; !slices.Equal(n, []int{0, 0, 1}) {
			t.Errorf("told of those before: %v", n)
		}
	})
}

// TestForceAndWhatIsHeard: while its companion is heard a force waits, or lets the line end, by
// its priority; and never does it end a line where the room lets nobody.
func TestForceAndWhatIsHeard(t *testing.T) {
	for _, c := range []struct {
		priority  string
		interrupt entry.Interrupt
		who       string    // is heard
		end       entry.End // of the line
		waits     bool      // the force, for the end of the line
		sooner    bool      // the line ends sooner than at its end
	}{
		{"low", entry.InterruptNow, "aya", entry.EndSaid, true, false},
		{"medium", entry.InterruptNow, "aya", entry.EndSaid, false, false},
		{"high", entry.InterruptNow, "aya", entry.EndCut, false, true},
		{"critical", entry.InterruptSentence, "aya", entry.EndCut, false, true},
		{"critical", entry.InterruptNever, "aya", entry.EndSaid, false, false},
		{"critical", entry.InterruptNow, "kyoko", entry.EndSaid, false, false},
		{"low", entry.InterruptNow, "kyoko", entry.EndSaid, false, false},
	} {
		t.Run(fmt.Sprintf("%s %s %s", c.priority, c.who, c.interrupt), func(t *testing.T) {
			var at time.Time
			speaks := wants_(c.who, 5)
			speaks.speak = func(context.Context, abi.Scene) (abi.Line, error) {
				return abi.Line{Text: "This is a first sentence of some length. This is a second one that is as long. And so on and on it goes."}, nil
			}
			judges := speaks
			others := []*actor{speaks}
			if c.who != "aya" {
				judges = &actor{id: "aya"}
				others = append(others, judges)
			}
			judges.judge = func(context.Context, abi.Perceiving) (abi.Judgement, error) {
				at = time.Now()
				return abi.Judgement{State: abi.Listen}, nil
			}
			rules := testRules
			rules.Interrupt, rules.MaxTurns = c.interrupt, 1
			play(t, rules, others, func(s *stage) {
				_, leave := s.room.cfg.Bodies.Embody("main", entry.Body{Who: c.who})
				defer leave()
				g, _ := s.plug("aya", "chess")
				g.Offer(lent(t, "pass"))
				s.say("taro", "Tell me something.")
				time.Sleep(time.Second)
				begun := time.Now()
				s.perceive("aya", forced(c.priority, true, "pass"))
				asked := at.Sub(begun)
				time.Sleep(time.Minute)
				heard := bodies[entry.Heard](t, s.entries(), entry.KindHeard)
				if len(heard) != 1 || heard[0].End != c.end {
					t.Fatalf("heard: %+v", heard)
				}
				if waits := asked > 2*time.Second; waits != c.waits {
					t.Errorf("asked after %v", asked)
				}
				if c.sooner && (heard[0].Text == "" || c.priority == "high" && heard[0].Text != "This is a first sentence of some length.") && c.priority != "critical" {
					t.Errorf("heard was %q", heard[0].Text)
				}
			})
		})
	}
}
