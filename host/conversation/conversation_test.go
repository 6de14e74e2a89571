package conversation

import (
	"encoding/json"
	"errors"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// stage is a conversation in which a second passes between two inputs.
type stage struct {
	*testing.T
	Conversation
	now time.Time
}

func open(t *testing.T, terms Terms) *stage {
	t.Helper()
	if terms.MaxTurns == 0 {
		terms.MaxTurns = UsualTurns
	}
	terms.Pending, terms.Idle = UsualPending.Milliseconds(), UsualIdle.Milliseconds()
	s := &stage{T: t, now: time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)}
	s.do(Input{Kind: Start, Who: terms.Members[0], Terms: &terms})
	s.is(Pending)
	return s
}

func two(t *testing.T) *stage {
	return open(t, Terms{Project: "p", Members: []string{"a", "b"}})
}

func (s *stage) do(in Input) {
	s.Helper()
	s.now = s.now.Add(time.Second)
	if in.At.IsZero() {
		in.At = s.now
	}
	if err := s.Apply(in); err != nil {
		s.Errorf("%s by %q: %v", in.Kind, in.Who, err)
	}
}

func (s *stage) each(kind Kind, who ...string) {
	s.Helper()
	for _, w := range who {
		s.do(Input{Kind: kind, Who: w})
	}
}

func (s *stage) is(want State) {
	s.Helper()
	if s.State != want {
		s.Errorf("it is %q; want %q", s.State, want)
	}
}

// refuses demands that an input is refused with a code, and changes nothing.
func (s *stage) refuses(code string, in Input) {
	s.Helper()
	before := shape(s.T, &s.Conversation)
	in.At = s.now
	err := s.Apply(in)
	var f *Fault
	if !errors.As(err, &f) || f.Code != code {
		s.Errorf("%s by %q while %s: %v; want %s", in.Kind, in.Who, s.State, err, code)
	}
	if after := shape(s.T, &s.Conversation); after != before {
		s.Errorf("%s by %q was refused and changed %s to %s", in.Kind, in.Who, before, after)
	}
}

func (s *stage) ending(who, by string, reason Reason) {
	s.Helper()
	if e := s.Untold(who); e == nil || *e != (Ending{by, reason}) {
		s.Errorf("%s is told %+v; want %s by %q", who, e, reason, by)
	}
}

func shape(t interface{ Fatal(...any) }, v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestUC016 is the use case of seed E, whoever is told first (E1, E2).
func TestUC016(t *testing.T) {
	for _, order := range [][]string{{"a", "b"}, {"b", "a"}} {
		for _, by := range order {
			s := two(t)
			s.each(Join, "b")
			s.is(Active)
			s.each(Say, "a", "b", "a")
			s.each(End, by)
			s.is(Terminating)
			reason := InitiatorEnded
			if by == "b" {
				reason = ParticipantEnded
			}
			for _, who := range order {
				s.is(Terminating)
				s.ending(who, by, reason)
				s.each(Tell, who)
				s.refuses(NotOpen, Input{Kind: Tell, Who: who})
			}
			s.is(Ended)
			if !s.Done() || s.Turns != 3 {
				t.Errorf("%+v", s.Conversation)
			}
		}
	}
}

// TestNothingComesBack: what is over stays over (E4).
func TestNothingComesBack(t *testing.T) {
	s := two(t)
	s.each(Say, "b")
	s.each(End, "a")
	for range 3 {
		for _, kind := range []Kind{Say, Join, Decline, End, Lapse, Stop} {
			s.refuses(NotOpen, Input{Kind: kind, Who: "b"})
		}
		if s.Untold("a") != nil {
			s.each(Tell, "a")
		} else if s.Untold("b") != nil {
			s.each(Tell, "b")
		}
	}
	s.is(Ended)
	s.refuses(NotParticipant, Input{Kind: Say, Who: "c"})
	s.refuses(AlreadyActive, Input{Kind: Start, Who: "a"})
}

// TestWhileItIsPending: whoever asked may speak and take it back, the other may decline (E9, E13).
func TestWhileItIsPending(t *testing.T) {
	s := two(t)
	s.each(Say, "a", "a")
	s.each(Gone, "b") // has not come yet, and may
	s.is(Pending)
	s.each(Say, "b")
	s.is(Active)

	for _, kind := range []Kind{Decline, End} {
		s = two(t)
		s.each(kind, "b")
		s.is(Declined)
		s.ending("a", "b", WasDeclined)
		s.ending("b", "b", WasDeclined)
		s.each(Tell, "a", "b")
		s.is(Declined)
		if !s.Done() {
			t.Error("somebody is to be told")
		}
	}

	s = two(t)
	s.do(Input{Kind: End, Who: "a", Absent: []string{"b"}})
	s.is(Terminating)
	if s.Untold("b") != nil {
		t.Error("b, which was never there, is waited for")
	}
	s.each(Tell, "a")
	s.is(Ended)

	s = two(t)
	s.do(Input{Kind: Gone, Who: "a", Absent: []string{"a", "b"}})
	s.is(Ended)
}

// TestTimeOuts come when they are due and not before; each message puts the second off (E6).
func TestTimeOuts(t *testing.T) {
	s := two(t)
	due, _ := s.Due()
	if due != s.Opened.Add(UsualPending) {
		t.Errorf("due at %v", due)
	}
	s.refuses(NotOpen, Input{Kind: Lapse})
	s.do(Input{Kind: Lapse, At: due})
	s.is(Expired)
	s.ending("a", "", Timeout)
	s.ending("b", "", Timeout)

	s = two(t)
	s.each(Join, "b")
	s.now = s.now.Add(UsualIdle - 2*time.Second)
	s.each(Say, "a")
	due, _ = s.Due()
	if due != s.now.Add(UsualIdle) {
		t.Errorf("due at %v", due)
	}
	s.do(Input{Kind: Lapse, At: due})
	s.is(Terminating)
	s.ending("b", "", Timeout)
	if _, ok := s.Due(); ok {
		t.Error("something is due")
	}
}

// TestTheLastTurn ends it for all (E11), and each fifth is a reminder.
func TestTheLastTurn(t *testing.T) {
	s := open(t, Terms{Members: []string{"a", "b"}, MaxTurns: MaxMaxTurns})
	reminders := 0
	for i := range MaxMaxTurns {
		s.each(Say, []string{"a", "b"}[i%2])
		if s.Reminds() {
			reminders++
		}
	}
	if s.Turns != MaxMaxTurns || s.Left() != 0 || reminders != MaxMaxTurns/Remind-1 {
		t.Errorf("%d turns, %d left, %d reminders", s.Turns, s.Left(), reminders)
	}
	s.is(Terminating)
	s.ending("a", "b", MaxTurns)
	s.ending("b", "b", MaxTurns)
}

// TestASessionThatIsGone ends it, and is not waited for.
func TestASessionThatIsGone(t *testing.T) {
	s := two(t)
	s.each(Join, "b")
	s.each(Gone, "b")
	s.is(Terminating)
	s.ending("a", "b", SessionExpired)
	s.each(Tell, "a")
	s.is(Ended)

	s = two(t)
	s.each(Join, "b")
	s.each(End, "a")
	s.each(Tell, "a")
	s.each(Gone, "b")
	s.is(Ended)
}

// TestWhoHasAnsweredIsTold, also where it is not there at that moment.
func TestWhoHasAnsweredIsTold(t *testing.T) {
	s := two(t)
	s.each(Join, "b")
	s.do(Input{Kind: End, Who: "a", Absent: []string{"b"}})
	s.ending("b", "a", InitiatorEnded)
}

// TestGroup: whoever was invited leaves, whoever asked ends it, and two are the fewest.
func TestGroup(t *testing.T) {
	group := func() *stage { return open(t, Terms{Members: []string{"a", "b", "c"}}) }
	s := group()
	s.each(Decline, "b")
	s.is(Pending)
	s.ending("b", "b", WasDeclined)
	s.each(Tell, "b")
	s.refuses(NotOpen, Input{Kind: Say, Who: "b"})
	s.each(Decline, "c")
	s.is(Declined)
	s.ending("a", "c", WasDeclined)

	s = group()
	s.each(Join, "b", "c")
	s.each(End, "c")
	s.is(Active)
	s.ending("c", "c", ParticipantEnded)
	s.each(Say, "a", "b")
	s.each(Gone, "b")
	s.is(Terminating)
	s.ending("a", "b", SessionExpired)
	s.ending("c", "c", ParticipantEnded) // its own, and no other
	s.each(Tell, "a", "c")
	s.is(Ended)

	s = group()
	s.each(Say, "b")
	s.each(End, "a")
	s.is(Terminating)
	s.ending("c", "a", InitiatorEnded)
}

// TestAHumanStops: one of the project, who is no member.
func TestAHumanStops(t *testing.T) {
	s := two(t)
	s.each(Join, "b")
	s.each(Stop, "taro")
	s.is(Terminating)
	s.ending("a", "taro", ParticipantEnded)
	s.refuses(NotParticipant, Input{Kind: End, Who: "taro"})
}

// TestInTurn: one after the other, those who have not come being passed over.
func TestInTurn(t *testing.T) {
	s := open(t, Terms{Members: []string{"a", "b", "c"}, InTurn: true})
	s.refuses(NotYourTurn, Input{Kind: Say, Who: "b"})
	s.each(Say, "a")
	s.refuses(NotYourTurn, Input{Kind: Say, Who: "a"})
	s.each(Say, "b", "a")
	s.each(Say, "c") // it joins, and need not wait for a turn that it never had
	s.each(Say, "a", "b", "c", "a")
	s.each(End, "b")
	s.each(Say, "c", "a")
}

// TestStarts that are refused.
func TestStarts(t *testing.T) {
	for _, c := range []struct {
		code  string
		who   string
		terms Terms
	}{
		{WithSelf, "a", Terms{Members: []string{"a", "a"}}},
		{WithSelf, "a", Terms{Members: []string{"a"}}},
		{NotParticipant, "x", Terms{Members: []string{"a", "b"}}},
		{Invalid, "a", Terms{Members: []string{"a", "b", "b"}}},
		{Invalid, "a", Terms{Members: []string{"a", "b"}, MaxTurns: 1}},
		{Invalid, "a", Terms{Members: []string{"a", "b"}, MaxTurns: 41}},
	} {
		if c.terms.MaxTurns == 0 {
			c.terms.MaxTurns = 2
		}
		c.terms.Pending, c.terms.Idle = 1, 1
		s := &stage{T: t}
		s.refuses(c.code, Input{Kind: Start, Who: c.who, Terms: &c.terms})
	}
	s := &stage{T: t}
	s.refuses(NotFound, Input{Kind: Say, Who: "a"})
}

// TestTable holds whatever happens to the rules that no row may break: an ending is given
// once and never changes, each is told once or gone, turns are bounded, and a time-out and telling
// everybody end every conversation.
func TestTable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		members := []string{"a", "b", "c", "d"}[:rapid.IntRange(2, 4).Draw(t, "members")]
		terms := Terms{
			Members: members, MaxTurns: rapid.IntRange(MinTurns, 6).Draw(t, "turns"), Pending: 5000, Idle: 9000,
			InTurn: rapid.Bool().Draw(t, "in turn"),
		}
		var c Conversation
		now := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
		if err := c.Apply(Input{Kind: Start, Who: "a", Terms: &terms, At: now}); err != nil {
			t.Fatal(err)
		}
		told, endings := map[string]int{}, map[string]Ending{}
		step := func(in Input) {
			before, was := shape(t, &c), c.State
			checked := c.Check(in)
			err := c.Apply(in)
			if (checked == nil) != (err == nil) {
				t.Fatalf("%+v: checked %v, then %v", in, checked, err)
			}
			if err != nil {
				if shape(t, &c) != before {
					t.Fatalf("%+v was refused and changed something", in)
				}
				return
			}
			if in.Kind == Tell {
				told[in.Who]++
			}
			if c.State != was && !slices.Contains(moves[was], c.State) {
				t.Fatalf("%+v: from %s to %s", in, was, c.State)
			}
			for _, m := range c.Members {
				if had, ok := endings[m.ID]; ok && (m.Ending == nil || *m.Ending != had) {
					t.Fatalf("%+v: the ending of %s was %+v and is %+v", in, m.ID, had, m.Ending)
				}
				if m.Ending != nil {
					endings[m.ID] = *m.Ending
				}
				if m.Told && m.Ending == nil || told[m.ID] > 1 || !c.Open() && m.Ending == nil {
					t.Fatalf("%+v: %s", in, shape(t, &c))
				}
			}
			if c.Turns > terms.MaxTurns || c.Open() && c.Turns == terms.MaxTurns || c.Open() == (c.Ending != nil) || c.Open() != c.Over.IsZero() {
				t.Fatalf("%+v: %s", in, shape(t, &c))
			}
			var again Conversation // as it comes out of a snapshot
			if err := json.Unmarshal([]byte(shape(t, &c)), &again); err != nil || shape(t, &again) != shape(t, &c) {
				t.Fatalf("%v: %s", err, shape(t, &again))
			}
			c = again
		}
		kinds := []Kind{Start, Join, Say, Say, Say, Decline, End, Stop, Gone, Lapse, Tell}
		for range rapid.IntRange(0, 30).Draw(t, "steps") {
			now = now.Add(time.Duration(rapid.IntRange(1, 4000).Draw(t, "ms")) * time.Millisecond)
			step(Input{
				Kind: rapid.SampledFrom(kinds).Draw(t, "kind"), Who: rapid.SampledFrom(append([]string{"x"}, members...)).Draw(t, "who"), At: now,
				Absent: rapid.SliceOfDistinct(rapid.SampledFrom(members), func(s string) string { return s }).Draw(t, "absent"),
			})
		}
		if due, ok := c.Due(); ok {
			step(Input{Kind: Lapse, At: due})
		}
		for _, who := range rapid.Permutation(members).Draw(t, "order") {
			if c.Untold(who) != nil {
				step(Input{Kind: Tell, Who: who, At: now})
			}
		}
		if !c.Done() || c.State == Terminating || c.Open() {
			t.Fatalf("not over: %s", shape(t, &c))
		}
	})
}

// moves are seed E's transitions, with declining and a request that is taken back. Nobody is told
// of what is over at once where all are gone: then nothing stays terminating.
var moves = map[State][]State{
	Pending:     {Active, Expired, Declined, Terminating, Ended},
	Active:      {Terminating, Ended},
	Terminating: {Ended},
}

// TestWhatTheTableLacks is refused, whoever asks and in whichever state, and changes nothing: each
// state, with somebody in each role that there can be in it.
func TestWhatTheTableLacks(t *testing.T) {
	group := func() *stage { return open(t, Terms{Members: []string{"a", "b", "c", "d"}}) }
	left := group()
	left.each(Decline, "d")
	active := group()
	active.each(Decline, "d")
	active.each(Join, "b")
	over := group()
	over.each(Join, "b")
	over.each(End, "a")
	ended := two(t)
	ended.each(Join, "b")
	ended.each(End, "a")
	ended.each(Tell, "a", "b")
	expired := two(t)
	due, _ := expired.Due()
	expired.do(Input{Kind: Lapse, At: due})
	declined := two(t)
	declined.each(Decline, "b")
	none := &stage{T: t}
	refused, let := 0, 0
	for _, s := range []*stage{none, left, active, over, ended, expired, declined} {
		for _, kind := range []Kind{Join, Say, Decline, End, Stop, Gone, Lapse, Tell} {
			for _, who := range []string{"a", "b", "c", "d", "nobody"} {
				in := Input{Kind: kind, Who: who, At: due.AddDate(1, 0, 0)}
				by := s.role(in)
				row := slices.ContainsFunc(table, func(r row) bool { return r.from == s.State && r.on == kind && r.by == by })
				c := s.Clone()
				before := shape(t, &c)
				err := c.Apply(in)
				var f *Fault
				switch {
				case row && err == nil:
					let++
				case row && kind == Tell: // told already
				case row || !errors.As(err, &f) || shape(t, &c) != before:
					t.Errorf("%s by %s while %q: %v", kind, by, s.State, err)
				default:
					refused++
				}
			}
		}
	}
	if refused < 150 || let < 60 {
		t.Errorf("%d were refused, %d let through", refused, let)
	}
}
