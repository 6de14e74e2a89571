package world

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/companiond/companiond/abi"
)

// listener is a rule under which nobody speaks.
type listener struct {
	w       *World
	said    []*Turn
	stopped []*Turn
	begins  []time.Duration
	start   func(w *World)
}

func (l *listener) Start(w *World) {
	l.w = w
	if l.start != nil {
		l.start(w)
	}
}
func (l *listener) Begins(string)   { l.begins = append(l.begins, l.w.Now()) }
func (l *listener) Said(t *Turn)    { l.said = append(l.said, t) }
func (l *listener) Stopped(t *Turn) { l.stopped = append(l.stopped, t) }

// speech is a tenth of a second for each character.
func speech(text string) time.Duration {
	return time.Duration(utf8.RuneCountInString(text)) * 100 * time.Millisecond
}

func second(n float64) time.Duration { return time.Duration(n * float64(time.Second)) }

// fixed is a span of one value.
func fixed(d time.Duration) Span { return Span{d, d} }

func pair() Cast {
	m := Member{
		ID: "aki", Name: "Aki", Kind: abi.KindCompanion, Talk: 0.5, Answer: 1, Low: 2, High: 8,
		Think: fixed(second(0.5)), First: fixed(second(1)), Rune: 10 * time.Millisecond, Short: 30, Long: 30,
	}
	n := m
	n.ID, n.Name = "ben", "Ben"
	return Cast{Name: "pair", Members: []Member{m, n}, Length: second(60)}
}

func person() Human {
	return Human{Name: "Taro", First: fixed(second(1)), Every: fixed(second(5)), Address: 0.5, Short: 10, Long: 10}
}

func TestATalkIsTheSameTwice(t *testing.T) {
	c := pair()
	c.Humans = []Human{person(), {Name: "Hana", Every: Span{0, second(3)}, Types: true, Short: 1, Long: 30}}
	run := func(seed string) Record { return Run(Config{Cast: c, Seed: seed, Speech: speech}, &listener{}) }
	if a, b := run("a"), run("a"); !reflect.DeepEqual(a.Turns, b.Turns) {
		t.Error("equal seeds, different talks")
	}
	if a, b := run("a"), run("b"); reflect.DeepEqual(a.Turns, b.Turns) {
		t.Error("different seeds, equal talks")
	}
}

func TestAPersonSpeaksAloud(t *testing.T) {
	c := pair()
	h := person()
	h.Address = 1
	c.Humans = []Human{h}
	l := &listener{}
	r := Run(Config{Cast: c, Seed: "x", Speech: speech}, l)
	first := r.Turns[0]
	if want := speech(first.Text); first.Begun != second(1) || first.Ended != second(1)+want || first.At != first.Ended {
		t.Errorf("from %v to %v, words at %v; the words take %v", first.Begun, first.Ended, first.At, want)
	}
	if len(l.begins) != len(l.said) || l.begins[0] != first.Begun {
		t.Errorf("%d begun at %v, %d said", len(l.begins), l.begins, len(l.said))
	}
	if len(first.To) != 1 || first.Text[:3] != map[string]string{"aki": "Aki", "ben": "Ben"}[first.To[0]] {
		t.Errorf("to %v: %s", first.To, first.Text)
	}
	if next := r.Turns[1].Begun - first.Ended; next != second(5) {
		t.Errorf("speaks again after %v", next)
	}
	if !slices.Contains(first.Wants, first.To[0]) {
		t.Errorf("%v was addressed, always answers, and %v wish to speak", first.To, first.Wants)
	}
	if last := r.Turns[len(r.Turns)-1]; last.Begun >= c.Length || r.Horizon != c.Length+Tail {
		t.Errorf("the last speaks at %v of %v, watched until %v", last.Begun, c.Length, r.Horizon)
	}
}

func TestWhoIsPoliteWaits(t *testing.T) {
	for name, want := range map[string]struct {
		h    Human
		from time.Duration
	}{
		"polite":     {Human{Name: "Taro", First: fixed(second(1)), Every: fixed(second(90)), Short: 10, Long: 10}, second(5) + polite},
		"interrupts": {Human{Name: "Taro", First: fixed(second(1)), Every: fixed(second(90)), Short: 10, Long: 10, Interrupts: true}, second(1)},
		"types":      {Human{Name: "Taro", First: fixed(second(1)), Every: fixed(second(90)), Short: 10, Long: 10, Types: true}, second(1)},
	} {
		t.Run(name, func(t *testing.T) {
			c := pair()
			c.Humans = []Human{want.h}
			l := &listener{start: func(w *World) {
				w.Say(Line{From: "aki", Text: string(make([]rune, 50))}, Saying{Kind: abi.KindTurn})
			}}
			r := Run(Config{Cast: c, Seed: "x", Speech: speech}, l)
			if got := r.Turns[1]; got.Begun != want.from || (got.Ended == got.Begun) != want.h.Types {
				t.Errorf("speaks from %v to %v, want from %v", got.Begun, got.Ended, want.from)
			}
		})
	}
}

func TestVoices(t *testing.T) {
	var whole, cut, never, part, slow *Turn
	l := &listener{start: func(w *World) {
		line := Line{From: "aki", Text: "0123456789"}
		whole = w.Say(line, Saying{Kind: abi.KindTurn})
		cut = w.Say(line, Saying{Kind: abi.KindTurn})
		never = w.Say(line, Saying{Kind: abi.KindTurn, Wait: second(5)})
		part = w.Say(line, Saying{Kind: abi.KindTurn})
		slow = w.Say(line, Saying{Kind: abi.KindTurn, Ready: second(3)})
		w.After(second(0.4), func() {
			w.Cut(cut)
			w.Cut(never)
			w.Shorten(part, "01234")
		})
		w.After(second(2), func() { w.Cut(whole) })
	}}
	Run(Config{Cast: pair(), Seed: "x", Speech: speech}, l)
	for name, c := range map[string]struct {
		got      *Turn
		from, to float64
		cut      bool
	}{
		"whole": {whole, 0, 1, false}, "cut": {cut, 0, 0.4, true}, "never": {never, 5, 5, true}, "part": {part, 0, 0.5, true}, "slow": {slow, 0, 3, false},
	} {
		if c.got.Begun != second(c.from) || c.got.Ended != second(c.to) || c.got.Cut != c.cut {
			t.Errorf("%s: from %v to %v, cut %v", name, c.got.Begun, c.got.Ended, c.got.Cut)
		}
	}
}

// What members are asked for comes when it is to, or never.
func TestMembersAnswer(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Member)
		want   string
	}{
		"as usual": {func(*Member) {}, "vote 0.5, first 1, done 1.11"},
		"dead":     {func(m *Member) { m.Dead = true }, ""},
		"passes":   {func(m *Member) { m.Pass = 1 }, "vote 0.5, pass 1"},
		"breaks":   {func(m *Member) { m.Breaks = 1 }, "vote 0.5, first 1"},
		"cold":     {func(m *Member) { m.Cold = second(3) }, "vote 3.5, first 4, done 4.11"},
	} {
		t.Run(name, func(t *testing.T) {
			cast, got := pair(), ""
			c.change(&cast.Members[0])
			note := func(w *World, what string) {
				if got != "" {
					got += ", "
				}
				got += fmt.Sprintf("%s %g", what, w.Now().Seconds())
			}
			r := Run(Config{Cast: cast, Seed: "x", Speech: speech}, &listener{start: func(w *World) {
				w.Say(Line{From: "ben", Text: "x"}, Saying{Kind: abi.KindTurn})
				w.Vote("aki", 1, func(abi.Vote) { note(w, "vote") })
				w.Line("aki", 1, 0, func(l Line) {
					note(w, "first")
					if len(l.First) >= len(l.Text) != (name == "breaks") || l.Basis != 1 {
						t.Errorf("first sentence %q of %q, basis %d", l.First, l.Text, l.Basis)
					}
				}, func(l Line) {
					if l.Pass {
						note(w, "pass")
						return
					}
					note(w, "done")
				})
			}})
			if got != c.want || r.Calls != 2 {
				t.Errorf("%s, %d calls; want %s", got, r.Calls, c.want)
			}
		})
	}
}

func TestWishes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := pair()
		c.Members[0].Talk = rapid.SampledFrom([]float64{0, 1}).Draw(t, "talk")
		c.Members[0].Answer = rapid.SampledFrom([]float64{0, 1}).Draw(t, "answer")
		c.Members[0].Claims = rapid.Bool().Draw(t, "claims")
		c.Members[0].Dead = rapid.Bool().Draw(t, "dead")
		to := rapid.SampledFrom([][]string{nil, {"aki"}}).Draw(t, "to")
		from := rapid.SampledFrom([]string{"aki", "ben"}).Draw(t, "from")
		Run(Config{Cast: c, Seed: rapid.String().Draw(t, "seed"), Speech: speech}, &listener{start: func(w *World) {
			n := w.Say(Line{From: from, To: to, Text: "x"}, Saying{Kind: abi.KindTurn}).N
			v, m := w.Wish("aki", n), c.Members[0]
			if v.Check() != nil || !reflect.DeepEqual(v, w.Wish("aki", n)) {
				t.Fatalf("%+v: %v", v, v.Check())
			}
			often := m.Talk
			if to != nil && !m.Claims {
				often = m.Answer
			}
			if want := often == 1 && !m.Dead && from != "aki"; (v.State == abi.Speak) != want || slices.Contains(w.Turn(n).Wants, "aki") != want {
				t.Fatalf("%+v to %v of %s: %+v, wants %v", m, to, from, v, w.Turn(n).Wants)
			}
			if v.Selected != ((m.Claims || to != nil) && !m.Dead && from != "aki") {
				t.Fatalf("selected %v", v.Selected)
			}
		}})
	})
}

// Farewells come one stage after another, and only in a talk among members.
func TestFarewells(t *testing.T) {
	c := pair()
	c.Members[0].Closes = 2
	var got []abi.Closing
	Run(Config{Cast: c, Seed: "x", Speech: speech}, &listener{start: func(w *World) {
		for range 6 {
			got = append(got, w.Wish("aki", w.Say(Line{From: "ben", Text: "x"}, Saying{Kind: abi.KindTurn}).N).Closing)
		}
	}})
	if want := []abi.Closing{"", abi.ClosingPre, abi.ClosingClosing, abi.ClosingTerminal, abi.ClosingTerminal, abi.ClosingTerminal}; !slices.Equal(got, want) {
		t.Errorf("%v", got)
	}
}

func TestDrawsAreEven(t *testing.T) {
	var low, n int
	for i := range 10_000 {
		d := Draw("seed", fmt.Sprint(i))
		if d < 0 || d >= 1 {
			t.Fatal(d)
		}
		if n++; d < 0.25 {
			low++
		}
	}
	if low < n/5 || low > n*3/10 {
		t.Errorf("%d of %d are below a quarter", low, n)
	}
	if Draw("a", "b") == Draw("a", "c") || Draw("a", "b") == Draw("ab", "") {
		t.Error("what is drawn for does not matter")
	}
}

func TestTexts(t *testing.T) {
	w := &World{cfg: Config{Seed: "x"}}
	for _, size := range []int{1, 19, 20, 29, 30, 75} {
		text, first := w.text("", size, fmt.Sprint(size))
		if first == "" || text[:len(first)] != first || runes(first) > sentence+sentence/2+1 {
			t.Errorf("%d: %q, first %q", size, text, first)
		}
	}
}

// What is to happen at one moment happens in the order in which it was asked for.
func TestOrderOfAMoment(t *testing.T) {
	var got []int
	Run(Config{Cast: pair(), Seed: "x", Speech: speech}, &listener{start: func(w *World) {
		for i := range 20 {
			w.After(second(float64(i%2)), func() { got = append(got, i) })
		}
	}})
	want := []int{0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19}
	if !slices.Equal(got, want) {
		t.Errorf("%v", got)
	}
}

// A STOP is told as one, and nobody wishes to say anything after it.
func TestStop(t *testing.T) {
	c := pair()
	c.Members[0].Talk, c.Members[1].Talk = 1, 1
	h := person()
	h.Stops = 1
	c.Humans = []Human{h}
	l := &listener{}
	r := Run(Config{Cast: c, Seed: "x", Speech: speech}, l)
	if len(l.said) > 0 || len(l.stopped) == 0 || !r.Turns[0].Stop || len(r.Turns[0].Wants) > 0 {
		t.Errorf("%d said, %d stopped, %v wish to speak after it", len(l.said), len(l.stopped), r.Turns[0].Wants)
	}
}

// mind answers at once but for what is said.
type mind struct {
	asked []string
	fails string
}

func (m *mind) Vote(who string, s abi.Scene) (abi.Vote, time.Duration, error) {
	m.asked = append(m.asked, fmt.Sprintf("%s votes about %s's %d", who, s.Message.From, s.Message.Seq))
	if who == m.fails {
		return abi.Vote{}, 0, errors.New("broken")
	}
	return abi.Vote{State: abi.Speak, Importance: 7, Selected: s.Addressed}, second(2), nil
}

func (m *mind) Line(who string, s abi.Scene) (abi.Line, time.Duration, error) {
	m.asked = append(m.asked, fmt.Sprintf("%s speaks after %d of %d", who, len(s.Recent), len(s.Members)))
	if who == m.fails {
		return abi.Line{}, 0, errors.New("broken")
	}
	return abi.Line{Text: "Ben, what about you?"}, second(3), nil
}

// Minds are asked once about a turn, and what they take passes on the world's clock.
func TestMinds(t *testing.T) {
	c := pair()
	c.Humans = []Human{{Name: "Taro", First: fixed(0), Every: fixed(second(90)), Types: true, Lines: []string{"hello"}}}
	for _, fails := range []string{"", "aki"} {
		m, got := &mind{fails: fails}, []string(nil)
		l := &listener{}
		l.start = func(w *World) {
			w.After(second(1), func() {
				for range 2 {
					w.Vote("aki", 1, func(v abi.Vote) {
						got = append(got, fmt.Sprintf("%s %v at %g", v.State, v.Importance, w.Now().Seconds()))
					})
				}
				w.Line("aki", 1, 0, func(l Line) {
					got = append(got, fmt.Sprintf("%s to %v at %g", l.Text, l.To, w.Now().Seconds()))
				}, func(l Line) { w.Say(l, Saying{Kind: abi.KindTurn}) })
			})
		}
		r := Run(Config{Cast: c, Seed: "x", Speech: speech, Minds: m}, l)
		want := []string{"speak 7 at 3", "speak 7 at 3", "Ben, what about you? to [ben] at 4"}
		asked := []string{"aki votes about Taro's 1", "ben votes about Taro's 1", "aki speaks after 1 of 3", "ben votes about aki's 2"}
		if fails != "" {
			want, asked = nil, asked[:3]
		}
		if !slices.Equal(got, want) || !slices.Equal(m.asked, asked) || r.Turns[0].Text != "hello" || r.Calls != len(asked) {
			t.Errorf("%q\n%q\n%d calls", got, m.asked, r.Calls)
		}
	}
}
