package force_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/companiond/companiond/host/force"
)

var start = time.Date(2026, 7, 20, 12, 0, 0, 0, time.UTC)

// table plays a machine: each call returns what is to be done, a step a word.
type table struct {
	force.Machine
	at time.Time
}

func newTable() *table { return &table{at: start} }

func words(steps []force.Step) string {
	var all []string
	for _, s := range steps {
		switch s := s.(type) {
		case force.Ask:
			all = append(all, fmt.Sprintf("ask(%s %s %d try%d)", s.Force.Body, strings.Join(s.Actions, "+"), s.N, s.Try))
		case force.Hear:
			all = append(all, "hear("+s.Text+")")
		case force.Finish:
			all = append(all, fmt.Sprintf("finish(%s %v)", s.ID, s.OK))
		case force.Fault:
			all = append(all, string(s.Rule))
		}
	}
	return strings.Join(all, " ")
}

func (m *table) want(t *testing.T, steps []force.Step, want string) {
	t.Helper()
	if got := words(steps); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func (m *table) after(d time.Duration) time.Time { m.at = m.at.Add(d); return m.at }

func wanted(body string, p force.Priority, names ...string) force.Force {
	return force.Force{Body: body, Priority: p, Actions: names}
}

// TestForceUntilItSucceeds: a failed action of a force has the whole force asked for again,
// and one that succeeds ends it.
func TestForceUntilItSucceeds(t *testing.T) {
	m := newTable()
	m.Register("a", "play", "pass")
	m.want(t, m.Force(wanted("a", force.Low, "play"), m.at), "ask(a play 1 try1)")
	m.Called("a", "1", "play", m.at)
	m.want(t, m.Asked(1, "", m.at), "")
	m.want(t, m.Result("a", "1", false, "taken", m.after(time.Millisecond)), "finish(1 false) force/failed ask(a play 2 try2)")
	m.Called("a", "2", "play", m.at)
	m.want(t, m.Result("a", "2", true, "", m.at), "finish(2 true)")
	m.want(t, m.Asked(2, "", m.at), "")
	if at, ok := m.Next(); ok {
		t.Errorf("something is due at %v, after all is done", at)
	}
}

// TestWhyItIsAskedAgain: whoever is asked again is told what was wrong.
func TestWhyItIsAskedAgain(t *testing.T) {
	m := newTable()
	m.Register("a", "play")
	m.Force(wanted("a", "", "play"), m.at)
	m.Called("a", "1", "play", m.at)
	for _, s := range m.Result("a", "1", false, "the cell is taken", m.at) {
		if ask, ok := s.(force.Ask); ok && ask.Why != "the cell is taken" {
			t.Errorf("it is told %q", ask.Why)
		}
	}
}

// TestForceIsGivenUp: however it fails, a force is asked for so often and no more.
func TestForceIsGivenUp(t *testing.T) {
	m := newTable()
	m.Register("a", "play")
	m.Force(wanted("a", "", "play"), m.at)
	for n := 1; n <= force.MaxTries; n++ {
		m.Called("a", fmt.Sprint(n), "play", m.at)
		want := fmt.Sprintf("finish(%d false) force/failed ask(a play %d try%[2]d)", n, n+1)
		if n == force.MaxTries {
			want = fmt.Sprintf("finish(%d false) force/given-up", n)
		}
		m.want(t, m.Result("a", fmt.Sprint(n), false, "no", m.at), want)
	}
}

// TestSilentCompanion: one that plays nothing is asked again after a pause that grows, and
// at last nobody asks any more.
func TestSilentCompanion(t *testing.T) {
	m := newTable()
	m.Register("a", "play")
	m.Force(wanted("a", "", "play"), m.at)
	pause := time.Second
	for n := 1; n < force.MaxTries; n++ {
		m.want(t, m.Asked(uint64(n), "", m.at), "force/unanswered")
		if at, ok := m.Next(); !ok || !at.Equal(m.at.Add(pause)) {
			t.Fatalf("asked again at %v, want after %v", at, pause)
		}
		m.want(t, m.Tick(m.after(pause-1)), "")
		m.want(t, m.Tick(m.after(1)), fmt.Sprintf("ask(a play %d try%[1]d)", n+1))
		pause *= 2
	}
	m.want(t, m.Asked(force.MaxTries, "", m.at), "force/given-up")
	m.want(t, m.Tick(m.after(time.Hour)), "")
}

// TestAnswerThatIsAnotherAction: an action that the force does not allow answers nothing.
func TestAnswerThatIsAnotherAction(t *testing.T) {
	m := newTable()
	m.Register("a", "play", "pass")
	m.Force(wanted("a", "", "play"), m.at)
	m.Called("a", "1", "pass", m.at)
	m.want(t, m.Asked(1, "", m.at), "force/unanswered")
	m.want(t, m.Result("a", "1", false, "no", m.at), "finish(1 false)") // outside of the force: no retry
}

// TestOutsideAForce: a failed action is told, and nothing follows.
func TestOutsideAForce(t *testing.T) {
	m := newTable()
	m.Register("a", "play")
	m.Called("a", "1", "play", m.at)
	m.want(t, m.Result("a", "1", false, "no", m.at), "finish(1 false)")
	m.want(t, m.Tick(m.after(time.Hour)), "")
}

// TestOneForceAtATime: the newer takes the place of the older, of another game only where it
// is as urgent.
func TestOneForceAtATime(t *testing.T) {
	for _, c := range []struct {
		body     string
		was, new force.Priority
		want     string
	}{
		{"a", force.High, force.Low, "force/multiple ask(a play 1 try2)"},
		{"b", force.High, force.Low, "force/refused"},
		{"b", force.High, force.High, "force/multiple ask(b jump 1 try2)"},
		{"b", force.Low, force.Critical, "force/multiple ask(b jump 1 try2)"},
	} {
		m := newTable()
		m.Register("a", "play")
		m.Register("b", "jump")
		m.Force(wanted("a", c.was, "play"), m.at)
		m.want(t, m.Force(wanted(c.body, c.new, map[string]string{"a": "play", "b": "jump"}[c.body]), m.at), c.want)
		if c.want != "force/refused" {
			m.want(t, m.Asked(1, "", m.at), "") // of the one that is no more
		}
	}
}

// TestNamesOfAForce: what is not registered is left out, and a force that has nothing else is
// none.
func TestNamesOfAForce(t *testing.T) {
	for _, c := range []struct {
		names []string
		want  string
	}{
		{nil, "force/empty"},
		{[]string{"fly"}, "force/unknown"},
		{[]string{"jump"}, "force/unknown"}, // another game's
		{[]string{"fly", "play", "play"}, "force/some-unknown ask(a play 1 try1)"},
	} {
		m := newTable()
		m.Register("a", "play")
		m.Register("b", "jump")
		m.want(t, m.Force(wanted("a", force.Low, c.names...), m.at), c.want)
	}
}

func TestPriorityThatIsNone(t *testing.T) {
	m := newTable()
	m.Register("a", "play")
	steps := m.Force(wanted("a", "urgent", "play"), m.at)
	m.want(t, steps, "force/priority ask(a play 1 try1)")
	if p := steps[1].(force.Ask).Priority; p != force.Low {
		t.Errorf("it counts as %q", p)
	}
}

// TestForceWhoseActionsGo: of a force that has none left nothing is left.
func TestForceWhoseActionsGo(t *testing.T) {
	m := newTable()
	m.Register("a", "play", "pass")
	m.Force(wanted("a", "", "play", "pass"), m.at)
	m.want(t, m.Unregister("a", "play", "fly"), "unregister/unknown")
	m.want(t, m.Asked(1, "", m.at), "force/unanswered")
	m.want(t, m.Tick(m.after(time.Second)), "ask(a pass 2 try2)")
	m.want(t, m.Unregister("a", "pass"), "force/gone")
	m.want(t, m.Asked(2, "", m.at), "")
	m.want(t, m.Tick(m.after(time.Hour)), "")
}

// TestActionTakenBackBeforeItsResult: games are told to take disposable actions back before they
// send the result. What became of the action then decides: success ends the force without a word,
// and what failed is asked for again with what is left, or with what is offered anew.
func TestActionTakenBackBeforeItsResult(t *testing.T) {
	for name, c := range map[string]struct {
		before func(m *table)
		then   func(m *table) []force.Step
		want   string
	}{
		"success":                 {nil, func(m *table) []force.Step { return m.Result("a", "1", true, "", m.at) }, "finish(1 true)"},
		"success, and a force":    {func(m *table) { m.Register("a", "pass"); m.Force(wanted("a", "", "pass"), m.at) }, func(m *table) []force.Step { return m.Result("a", "1", true, "", m.at) }, "finish(1 true) ask(a pass 1 try2)"},
		"failure":                 {nil, func(m *table) []force.Step { return m.Result("a", "1", false, "taken", m.at) }, "finish(1 false) force/gone"},
		"failure, and a force":    {func(m *table) { m.Register("a", "pass"); m.Force(wanted("a", "", "pass"), m.at) }, func(m *table) []force.Step { return m.Result("a", "1", false, "taken", m.at) }, "finish(1 false) force/gone ask(a pass 1 try2)"},
		"failure, offered anew":   {func(m *table) { m.Register("a", "play") }, func(m *table) []force.Step { return m.Result("a", "1", false, "taken", m.at) }, "finish(1 false) force/failed ask(a play 2 try2)"},
		"failure, others offered": {func(m *table) { m.Register("a", "other") }, func(m *table) []force.Step { return m.Result("a", "1", false, "taken", m.at) }, "finish(1 false) force/gone"},
		"no result":               {nil, func(m *table) []force.Step { return m.Tick(m.after(force.ResultTime)) }, "finish(1 false) result/missing force/gone"},
		"STOP":                    {nil, func(m *table) []force.Step { return m.GiveUp("a", "mika said STOP") }, "force/given-up"},
		"the game leaves":         {nil, func(m *table) []force.Step { return m.Leave("a", "it left", m.at) }, "force/gone finish(1 false)"},
	} {
		t.Run(name, func(t *testing.T) {
			m := newTable()
			m.Register("a", "play", "jump")
			m.Force(wanted("a", "", "play", "jump"), m.at)
			m.Called("a", "1", "play", m.at)
			m.want(t, m.Unregister("a", "play", "jump"), "")
			m.want(t, m.Asked(1, "", m.at), "")
			if c.before != nil {
				c.before(m)
			}
			m.want(t, c.then(m), c.want)
			if !strings.Contains(c.want, "ask(") && name != "STOP" {
				m.want(t, m.Tick(m.after(time.Hour)), "")
			}
		})
	}
}

// TestAnotherActionTakenBack: of two, the one that was not played goes, and the other is left.
func TestAnotherActionTakenBack(t *testing.T) {
	m := newTable()
	m.Register("a", "play", "pass")
	m.Force(wanted("a", "", "play", "pass"), m.at)
	m.Called("a", "1", "play", m.at)
	m.want(t, m.Unregister("a", "play"), "")
	m.want(t, m.Result("a", "1", false, "no", m.at), "finish(1 false) force/failed ask(a pass 2 try2)")
	m.want(t, m.Unregister("a", "pass"), "force/gone") // it is asked for, and none is out
}

// TestHowOftenItWasAskedFor: once is told as once.
func TestHowOftenItWasAskedFor(t *testing.T) {
	m := newTable()
	m.Register("a", "play")
	m.Force(wanted("a", "", "play"), m.at)
	for try, want := range []string{"asked for once, of 4 times at most: ", "asked for 2 times, of 4 times at most: ", "asked for 3 times, of 4 times at most: ", "asked for 4 times, the last time: "} {
		steps := m.Asked(uint64(try+1), "", m.at)
		if f, is := steps[0].(force.Fault); !is || f.Text != want+"no action was played" || !f.Rule.Companions() {
			t.Errorf("%+v, want %s", steps, want)
		}
		m.Tick(m.after(time.Minute))
	}
	if force.ForceGone.Companions() || force.MessageRubbish.Companions() {
		t.Error("what a game does is no companion's doing")
	}
}

// TestMissingResult: after twenty seconds it has failed, and what comes then is let go.
func TestMissingResult(t *testing.T) {
	m := newTable()
	m.Register("a", "play")
	m.Force(wanted("a", "", "play"), m.at)
	m.Called("a", "1", "play", m.at)
	m.Asked(1, "", m.at)
	m.want(t, m.Tick(m.after(force.ResultTime-1)), "")
	m.want(t, m.Tick(m.after(1)), "finish(1 false) result/missing force/failed ask(a play 2 try2)")
	m.want(t, m.Result("a", "1", true, "", m.at), "result/late")
}

// TestStrangeResults: an id that is not known, or is another game's, is let go.
func TestStrangeResults(t *testing.T) {
	m := newTable()
	m.Called("a", "1", "play", m.at)
	m.want(t, m.Result("a", "2", true, "", m.at), "result/unknown")
	m.want(t, m.Result("b", "1", true, "", m.at), "result/unknown")
	m.want(t, m.Result("a", "1", true, "", m.at), "finish(1 true)")
	m.want(t, m.Result("a", "1", true, "", m.at), "result/unknown")
}

func TestSlowAndSilentResults(t *testing.T) {
	m := newTable()
	m.Called("a", "1", "play", m.at)
	m.want(t, m.Result("a", "1", false, "", m.after(force.Slow+1)), "finish(1 false) result/slow result/silent")
}

// TestContextBehindAResult: what a game tells while its result is to come is told after it,
// in order; another game's is told at once.
func TestContextBehindAResult(t *testing.T) {
	m := newTable()
	m.Register("a", "play")
	m.want(t, m.Context("a", force.Context{Text: "1"}), "hear(1)")
	m.Called("a", "x", "play", m.at)
	m.want(t, m.Context("a", force.Context{Text: "2"}), "")
	m.want(t, m.Force(wanted("a", "", "play"), m.at), "")
	m.want(t, m.Context("a", force.Context{Text: "3"}), "")
	m.want(t, m.Context("b", force.Context{Text: "4"}), "hear(4)")
	m.want(t, m.Result("a", "x", true, "", m.at), "finish(x true) hear(2) ask(a play 1 try1) hear(3)")
}

// TestHeldForceInsteadOfARetry: what the game wants by now takes the place of what failed.
func TestHeldForceInsteadOfARetry(t *testing.T) {
	m := newTable()
	m.Register("a", "play", "pass")
	m.Force(wanted("a", "", "play"), m.at)
	m.Called("a", "1", "play", m.at)
	m.Force(wanted("a", "", "pass"), m.at)
	m.want(t, m.Result("a", "1", false, "no", m.at), "finish(1 false) force/failed force/multiple ask(a pass 1 try2)")
}

func TestTooMuchIsHeld(t *testing.T) {
	m := newTable()
	m.Register("a", "play")
	m.Called("a", "x", "play", m.at)
	for range force.MaxHeld {
		m.Context("a", force.Context{Text: "."})
	}
	m.want(t, m.Context("a", force.Context{Text: "."}), "context/many")
	m.want(t, m.Force(wanted("a", "", "play"), m.at), "context/many")
}

// TestStartsAnewAndLeaves: all that is out has failed, what was told is told, and no force is
// left, also none that waited.
func TestStartsAnewAndLeaves(t *testing.T) {
	for name, end := range map[string]func(*table) []force.Step{
		"starts anew": func(m *table) []force.Step { return m.Clear("a", "it starts", m.at) },
		"leaves":      func(m *table) []force.Step { return m.Leave("a", "it left", m.at) },
	} {
		t.Run(name, func(t *testing.T) {
			m := newTable()
			m.Register("a", "play")
			m.Force(wanted("a", "", "play"), m.at)
			m.Called("a", "1", "play", m.at)
			m.Context("a", force.Context{Text: "told"})
			m.Force(wanted("a", "", "play"), m.at)
			m.want(t, end(m), "force/gone finish(1 false) hear(told)")
			m.want(t, m.Asked(1, "", m.at), "")
			m.want(t, m.Force(wanted("a", "", "play"), m.at), "force/unknown")
			m.want(t, m.Result("a", "1", true, "", m.at), "result/late")
		})
	}
}

func TestNames(t *testing.T) {
	var n force.Names
	chess, chess2, maze := force.Owner{Body: "1", Game: "chess"}, force.Owner{Body: "2", Game: "chess"}, force.Owner{Body: "3", Game: "maze"}
	for i, c := range []struct {
		name string
		by   force.Owner
		want force.Rule
	}{
		{"play", chess, ""}, {"play", chess, force.RegisterAgain}, {"play", maze, force.RegisterConflict}, {"go", maze, ""}, {"play", chess2, force.RegisterConflict},
	} {
		if got := n.Take(c.name, c.by); got != c.want {
			t.Errorf("%d: %s takes %s: %q, want %q", i, c.by.Body, c.name, got, c.want)
		}
	}
	if n.Drop("play", "3") || n.Drop("fly", "3") || !n.Drop("go", "3") {
		t.Error("a game drops what it has, and nothing else")
	}
	n.Take("go", maze)
	if from := n.Anew(chess2); !slices.Equal(from, []string{"1"}) {
		t.Errorf("the game starts anew on 2: %q had its actions", from)
	}
	if all := n.All(); len(all) != 1 || all[0].Name != "go" {
		t.Errorf("left are %v", all)
	}
	n.Leave("3")
	for i := range force.MaxNames {
		n.Take(fmt.Sprint(i), chess)
	}
	if got := n.Take("more", maze); got != force.RegisterFull {
		t.Errorf("one too many: %q", got)
	}
}

// TestWhateverHappens: whatever games do and whenever, the machine keeps its word.
func TestWhateverHappens(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var m, twin force.Machine
		at := start
		names := map[string][]string{}
		out := map[string]string{} // id to body
		told, heard := map[string]int{}, map[string]int{}
		asked, running, calls := 0, uint64(0), 0
		var forced force.Force // that was asked for last, without what was taken back since
		answer := ""           // the action that answers it
		bodies, titles := []string{"a", "b"}, []string{"x", "y", "z"}
		look := func(steps, same []force.Step) {
			if !reflect.DeepEqual(steps, same) {
				t.Fatalf("the same leads to %v and to %v", words(steps), words(same))
			}
			for _, s := range steps {
				switch s := s.(type) {
				case force.Ask:
					if asked++; s.N == 1 {
						asked = 1
					}
					if asked != s.N || s.N > force.MaxTries {
						t.Fatalf("asked for the %d. time, and %d is told", asked, s.N)
					}
					if len(s.Actions) == 0 || slices.ContainsFunc(s.Actions, func(n string) bool { return !slices.Contains(names[s.Force.Body], n) }) {
						t.Fatalf("asked for %q of %q", s.Actions, names[s.Force.Body])
					}
					running, forced, answer = s.Try, s.Force, ""
				case force.Finish:
					if out[s.ID] != s.Body {
						t.Fatalf("%s of %s ends, and was not out", s.ID, s.Body)
					}
					delete(out, s.ID)
				case force.Hear:
					for id, b := range out {
						if b == s.Body {
							t.Fatalf("%q is told though %s is out", s.Text, id)
						}
					}
					if heard[s.Body]++; s.Text != fmt.Sprint(heard[s.Body]) {
						t.Fatalf("%s hears %q as its %d.", s.Body, s.Text, heard[s.Body])
					}
				case force.Fault:
					if s.Rule == force.ContextMany {
						t.Skip("more was told than fits")
					}
				}
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"": func(*rapid.T) {},
			"register": func(t *rapid.T) {
				b, n := rapid.SampledFrom(bodies).Draw(t, "body"), rapid.SampledFrom(titles).Draw(t, "name")
				m.Register(b, n)
				twin.Register(b, n)
				names[b] = append(names[b], n)
			},
			"unregister": func(t *rapid.T) {
				b, n := rapid.SampledFrom(bodies).Draw(t, "body"), rapid.SampledFrom(titles).Draw(t, "name")
				names[b] = slices.DeleteFunc(names[b], func(have string) bool { return have == n })
				steps := m.Unregister(b, n)
				if _, is := out[answer]; is && slices.ContainsFunc(steps, func(s force.Step) bool { f, is := s.(force.Fault); return is && f.Rule == force.ForceGone }) {
					t.Fatalf("the force is dropped while %s is out", answer)
				} else if !is && b == forced.Body {
					forced.Actions = slices.DeleteFunc(forced.Actions, func(have string) bool { return have == n })
				}
				look(steps, twin.Unregister(b, n))
			},
			"force": func(t *rapid.T) {
				f := wanted(rapid.SampledFrom(bodies).Draw(t, "body"), rapid.SampledFrom([]force.Priority{"", "low", "high", "critical", "?"}).Draw(t, "priority"),
					rapid.SliceOfN(rapid.SampledFrom(titles), 0, 3).Draw(t, "names")...)
				look(m.Force(f, at), twin.Force(f, at))
			},
			"context": func(t *rapid.T) {
				b := rapid.SampledFrom(bodies).Draw(t, "body")
				told[b]++
				c := force.Context{Text: fmt.Sprint(told[b])}
				look(m.Context(b, c), twin.Context(b, c))
			},
			"call": func(t *rapid.T) {
				b, n := rapid.SampledFrom(bodies).Draw(t, "body"), rapid.SampledFrom(titles).Draw(t, "name")
				calls++
				id := fmt.Sprint(calls)
				out[id] = b
				if answer == "" && b == forced.Body && slices.Contains(forced.Actions, n) {
					answer = id
				}
				m.Called(b, id, n, at)
				twin.Called(b, id, n, at)
			},
			"asked": func(*rapid.T) { look(m.Asked(running, "", at), twin.Asked(running, "", at)) },
			"result": func(t *rapid.T) {
				b, id := rapid.SampledFrom(bodies).Draw(t, "body"), fmt.Sprint(rapid.IntRange(0, calls+1).Draw(t, "id"))
				ok := rapid.Bool().Draw(t, "ok")
				look(m.Result(b, id, ok, "why", at), twin.Result(b, id, ok, "why", at))
			},
			"time": func(t *rapid.T) {
				at = at.Add(time.Duration(rapid.IntRange(0, 25_000).Draw(t, "ms")) * time.Millisecond)
				look(m.Tick(at), twin.Tick(at))
			},
			"anew": func(t *rapid.T) {
				b := rapid.SampledFrom(bodies).Draw(t, "body")
				names[b] = nil
				look(m.Clear(b, "anew", at), twin.Clear(b, "anew", at))
			},
			"stop": func(t *rapid.T) {
				b := rapid.SampledFrom(bodies).Draw(t, "body")
				look(m.GiveUp(b, "STOP"), twin.GiveUp(b, "STOP"))
			},
			"leave": func(t *rapid.T) {
				b := rapid.SampledFrom(bodies).Draw(t, "body")
				names[b] = nil
				look(m.Leave(b, "left", at), twin.Leave(b, "left", at))
			},
		})
		at = at.Add(time.Hour)
		look(m.Tick(at), twin.Tick(at))
		if len(out) > 0 || !reflect.DeepEqual(told, heard) {
			t.Fatalf("%v never ended; %v was told, %v heard", out, told, heard)
		}
	})
}
