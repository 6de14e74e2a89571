package baseline

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/bench/world"
)

// speech is a tenth of a second for each character.
func speech(text string) time.Duration {
	return time.Duration(utf8.RuneCountInString(text)) * 100 * time.Millisecond
}

func second(n float64) time.Duration { return time.Duration(n * float64(time.Second)) }

func fixed(n float64) world.Span { return world.Span{Min: second(n), Max: second(n)} }

// member always wishes to speak, as much, and is as quick as all the others.
func member(id string) world.Member {
	return world.Member{
		ID: id, Name: strings.ToUpper(id), Kind: abi.KindCompanion, Talk: 1, Answer: 1, Low: 5, High: 5,
		Think: fixed(0.5), First: fixed(1), Rune: 10 * time.Millisecond, Short: 20, Long: 20,
	}
}

// play has a person type once, at the first second, to members under a rule.
func play(rule world.Rule, seed string, members ...world.Member) world.Record {
	return world.Run(world.Config{Seed: seed, Speech: speech, Cast: world.Cast{
		Members: members, Length: second(10),
		Humans: []world.Human{{Name: "taro", First: fixed(1), Every: fixed(1000), Types: true, Short: 5, Long: 5}},
	}}, rule)
}

// shown puts the turns of members into a line.
func shown(r world.Record, n int) string {
	var all []string
	for _, t := range r.Turns {
		if t.By != abi.KindHuman && len(all) < n {
			all = append(all, fmt.Sprintf("%s %s %g", t.From, t.Kind, t.Begun.Seconds()))
		}
	}
	return strings.Join(all, ", ")
}

func vote(from string, state abi.State, importance float64, selected bool) AikyoVote {
	return AikyoVote{from, abi.Vote{State: state, Importance: importance, Selected: selected}}
}

// The document's reduce: the later of equals wins, and who claims to be selected beats
// everybody, even while it listens.
func TestAikyoChooses(t *testing.T) {
	for _, c := range []struct {
		votes []AikyoVote
		want  string
	}{
		{nil, ""},
		{[]AikyoVote{vote("a", abi.Listen, 10, false)}, ""},
		{[]AikyoVote{vote("a", abi.Speak, 7, false), vote("b", abi.Speak, 3, false)}, "a"},
		{[]AikyoVote{vote("a", abi.Speak, 7, false), vote("b", abi.Speak, 7, false)}, "b"},
		{[]AikyoVote{vote("b", abi.Speak, 7, false), vote("a", abi.Speak, 7, false)}, "a"},
		{[]AikyoVote{vote("a", abi.Speak, 10, false), vote("b", abi.Listen, 0, true)}, "b"},
		{[]AikyoVote{vote("a", abi.Speak, 4, true), vote("b", abi.Listen, 5, true), vote("c", abi.Speak, 10, false)}, "b"},
	} {
		if got, ok := Aikyo(c.votes); got.From != c.want || ok != (c.want != "") {
			t.Errorf("%v: %q", c.votes, got.From)
		}
	}
}

func TestAikyo(t *testing.T) {
	a, b := member("a"), member("b")
	a.Low, a.High = 9, 9
	// Votes take 0.5 s, the wait 1 s, the line 1 s; then the other votes alone.
	r := play(New("aikyo"), "x", a, b)
	if got := shown(r, 2); !strings.HasPrefix(got, "a turn 3.5") || !strings.Contains(got, ", b turn 6.") {
		t.Error(got)
	}
	if r.Turns[1].Basis != 1 {
		t.Errorf("the answer knows %d", r.Turns[1].Basis)
	}
	// One who never votes leaves the room silent.
	b.Dead = true
	a.Low, a.High = 6, 6
	if r := play(New("aikyo"), "x", a, b); len(r.Turns) != 1 {
		t.Errorf("one is dead: %s", shown(r, 9))
	}
	// A farewell that wins silences everybody.
	c := member("c")
	c.Closes, c.Low, c.High = 1, 10, 10
	if r := play(New("aikyo"), "x", a, member("b"), c); len(r.Ends) == 0 {
		t.Errorf("nobody's farewell won: %s", shown(r, 9))
	}
}

// Nodes count votes as they arrive: of equals each may name another, so that two speak
// at once, or nobody.
func TestAikyoDisagrees(t *testing.T) {
	two, nobody := 0, 0
	thinks := func(id string) world.Member {
		m := member(id)
		m.Think = world.Span{Min: second(0.5), Max: second(0.53)}
		return m
	}
	for i := range 100 {
		r := play(New("aikyo"), fmt.Sprint(i), thinks("a"), thinks("b"), thinks("c"))
		first := slices.IndexFunc(r.Turns, func(t *world.Turn) bool { return t.Speaks() })
		switch {
		case first < 0:
			nobody++
		case slices.ContainsFunc(r.Turns[first+1:], func(t *world.Turn) bool { return t.Basis == 1 }):
			two++
		}
	}
	if two == 0 || nobody == 0 {
		t.Errorf("of 100 ties %d have two speakers and %d none", two, nobody)
	}
}

func TestRelay(t *testing.T) {
	a, b := member("a"), member("b")
	b.First = fixed(1.2)
	// Both read a full pool and write; the first pays 60, the other's 60 are refused, so
	// that it says a backchannel, for which it writes again.
	r := play(New("chat-relay"), "x", a, b)
	if got, want := shown(r, 2), "a turn 2.5, b backchannel 3.9"; got != want {
		t.Errorf("%s; want %s", got, want)
	}
	if r.Turns[1].Basis != 1 || r.Turns[2].Basis != 2 {
		t.Errorf("basis %d and %d", r.Turns[1].Basis, r.Turns[2].Basis)
	}
}

// The pool's points come back five seconds after they were spent, and exactly all of it
// may be spent.
func TestRelayPool(t *testing.T) {
	r := New("chat-relay").(*relay)
	play(starting{r, func(w *world.World) {
		pay := func(at, cost, want float64) {
			w.After(second(at), func() {
				l := world.Line{From: "a", Text: "x"}
				if ok := r.consume(l, cost, abi.KindTurn); ok != (want >= 0) || ok && r.level != want {
					t.Errorf("at %g: pays %g: %v, %g left, want %g", at, cost, ok, r.level, want)
				}
			})
		}
		pay(20, 60, 40)
		pay(21, 41, -1)
		pay(22, 40, 0)
		pay(24.9, 1, -1)
		pay(25.1, 60, 0)
		pay(27.1, 40, 0)
		pay(40, 100, 0)
	}}, "x", func() world.Member { m := member("a"); m.Dead = true; return m }())
}

// starting does something at the start of a talk, too.
type starting struct {
	world.Rule
	do func(*world.World)
}

func (s starting) Start(w *world.World) {
	s.Rule.Start(w)
	s.do(w)
}

// Who is busy as a message comes never hears of it.
func TestRelayLosesNotices(t *testing.T) {
	a := member("a")
	a.Think = fixed(3)
	r := world.Run(world.Config{Seed: "x", Speech: speech, Cast: world.Cast{
		Members: []world.Member{a}, Length: second(10),
		Humans: []world.Human{
			{Name: "taro", First: fixed(1), Every: fixed(1000), Types: true, Short: 5, Long: 5},
			{Name: "hana", First: fixed(4.5), Every: fixed(1000), Types: true, Short: 5, Long: 5},
		},
	}}, New("chat-relay"))
	if got, want := shown(r, 9), "a turn 5"; got != want || r.Turns[len(r.Turns)-1].Basis != 1 {
		t.Errorf("%s; want %s, without knowing of the second", got, want)
	}
	if r.Calls != 3 { // its own line wakes it, too
		t.Errorf("%d calls for two votes and a line", r.Calls)
	}
}

func TestRoundRobin(t *testing.T) {
	// The first sentence is there after a second, and the next is asked when it was heard.
	r := play(New("round-robin"), "x", member("a"), member("b"), member("c"))
	if got, want := shown(r, 4), "a turn 2, b turn 5.1, c turn 8.2, a turn 11.3"; got != want {
		t.Errorf("%s; want %s", got, want)
	}
	// One that never answers costs ten seconds.
	b := member("b")
	b.Dead = true
	r = play(New("round-robin"), "x", member("a"), b, member("c"))
	if got, want := shown(r, 3), "a turn 2, c turn 15.1, a turn 18.2"; got != want {
		t.Errorf("%s; want %s", got, want)
	}
}

// Where all pass it rests, and does not ask for ever at one moment.
func TestRoundRobinRests(t *testing.T) {
	a, b := member("a"), member("b")
	a.Pass, b.Pass, a.First, b.First = 1, 1, world.Span{}, world.Span{}
	if r := play(New("round-robin"), "x", a, b); len(r.Turns) != 1 || r.Calls != 2*14 { // from 1 to 70 s
		t.Errorf("%d turns, %d calls", len(r.Turns), r.Calls)
	}
}

func TestRandom(t *testing.T) {
	r := play(New("random"), "x", member("a"), member("b"), member("c"))
	n, last := map[string]int{}, ""
	for _, u := range r.Turns[1:] {
		if u.From == last {
			t.Errorf("%s speaks twice in a row", last)
		}
		last = u.From
		n[last]++
	}
	if len(n) != 3 {
		t.Errorf("%v", n)
	}
}

// A STOP ends the talk of the rules that know one, until somebody speaks again.
func TestStop(t *testing.T) {
	for _, name := range []string{"round-robin", "random", "natural"} {
		r := world.Run(world.Config{Seed: "x", Speech: speech, Cast: world.Cast{
			Members: []world.Member{member("a"), member("b")}, Length: second(30),
			Humans: []world.Human{
				{Name: "taro", First: fixed(1), Every: fixed(1000), Types: true, Short: 5, Long: 5},
				{Name: "hana", First: fixed(10.8), Every: fixed(1000), Types: true, Stops: 1},
			},
		}}, New(name))
		last := r.Turns[len(r.Turns)-1]
		if !last.Stop || len(r.Turns) < 4 || len(r.Ends) != 1 {
			t.Errorf("%s: after %d turns the last is %+v, ends %v", name, len(r.Turns), last, r.Ends)
		}
	}
}

func TestNatural(t *testing.T) {
	quiet := func(id string) world.Member {
		m := member(id)
		m.Talk = 0
		return m
	}
	calls := quiet("a")
	calls.Calls, calls.Friend = 1, "b"
	itself := quiet("a")
	itself.Calls, itself.Friend = 1, "a"
	for i := range 20 {
		// Nobody talks by itself: one at random, then five seconds of auto-mode. A call by
		// name is answered by whom it calls.
		r := play(New("natural"), fmt.Sprint(i), calls, quiet("b"), quiet("c"))
		for k, u := range r.Turns[:len(r.Turns)-1] {
			next := r.Turns[k+1]
			if next.From == u.From {
				t.Fatalf("%s answers itself", u.From)
			}
			if u.From == "a" && next.From != "b" {
				t.Fatalf("a called b, and %s answers", next.From)
			}
			if next.Begun < u.Ended {
				t.Fatalf("%s is heard over %s", next.From, u.From)
			}
		}
	}
	turns := play(New("natural"), "x", itself, quiet("b")).Turns
	for k, u := range turns[1:] {
		if u.From == turns[k].From {
			t.Fatalf("%s calls itself, and answers", u.From)
		}
	}
	// All talk: all others answer, one after another.
	r := play(New("natural"), "x", member("a"), member("b"), member("c"))
	first := []string{r.Turns[1].From, r.Turns[2].From, r.Turns[3].From}
	slices.Sort(first)
	if !slices.Equal(first, []string{"a", "b", "c"}) {
		t.Errorf("the person is answered by %v", first)
	}
	for k, u := range r.Turns[1 : len(r.Turns)-1] {
		if next := r.Turns[k+2]; next.Begun < u.Ended {
			t.Fatalf("%s is heard from %v, over %s", next.From, next.Begun, u.From)
		}
	}
}

func TestNames(t *testing.T) {
	for _, name := range Names() {
		if New(name) == nil {
			t.Errorf("there is no %s", name)
		}
	}
	if New("vote") != nil {
		t.Error("vote is a baseline")
	}
}
