package turns_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/room/turns"
)

// stage hands entries of a room to a reader, each a second after the one before.
type stage struct {
	t    *testing.T
	r    turns.Reader
	seq  uint64
	over []string
}

func (s *stage) add(kind entry.Kind, body any) {
	s.t.Helper()
	s.seq++
	e, err := entry.Entry{Seq: s.seq, At: time.Unix(int64(s.seq), 0), Kind: kind, V: entry.Version}.WithBody(body)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, t := range s.r.Read("main", e) {
		took := "-"
		if t.Timed {
			took = t.Took.String()
		}
		if t.Seq != s.seq || t.Room != "main" || !slices.Contains(turns.All(), t.Outcome) {
			s.t.Errorf("%+v", t)
		}
		s.over = append(s.over, fmt.Sprintf("%d %d %s %s %s %v", s.seq, t.Number, t.Who, t.Outcome, took, t.Floor()))
	}
}

func (s *stage) round() uint64 { s.add(entry.KindRound, entry.Round{}); return s.seq }

func (s *stage) grant(round uint64, who string) (token string) {
	token = fmt.Sprintf("g%d", s.seq+1)
	s.add(entry.KindDecision, entry.Decision{Round: round, Outcome: entry.OutcomeGrant, Speaker: who, Grant: &abi.Grant{Token: token}})
	return token
}

func (s *stage) says(who, token string, b entry.Said) {
	b.From, b.By, b.Kind, b.Grant, b.Turn = who, abi.KindCompanion, abi.KindTurn, token, 7
	s.add(entry.KindSaid, b)
}

// Each turn is told of once, with what became of it, and how long it took since votes were asked for.
func TestOutcomes(t *testing.T) {
	for name, c := range map[string]struct {
		play func(*stage)
		want []string
	}{
		"a line": {func(s *stage) {
			s.add(entry.KindSaid, entry.Said{From: "Ken", By: abi.KindHuman, Kind: abi.KindTurn, Turn: 6, Text: "hi"})
			r := s.round()
			s.add(entry.KindVote, entry.Voted{Round: r, Voter: "aya"})
			s.says("aya", s.grant(r, "aya"), entry.Said{})
		}, []string{"1 6 Ken human - true", "5 7 aya said 3s true"}},
		"a wish, which no round was for": {func(s *stage) { s.says("aya", s.grant(0, "aya"), entry.Said{}) }, []string{"2 7 aya said 1s true"}},
		"paid for":                       {func(s *stage) { s.says("agent", "", entry.Said{}) }, []string{"1 7 agent said - true"}},
		"a listener's word":              {func(s *stage) { s.add(entry.KindSaid, entry.Said{By: abi.KindCompanion, Kind: abi.KindBackchannel}) }, nil},
		"broken off": {func(s *stage) {
			s.says("aya", s.grant(s.round(), "aya"), entry.Said{Broken: "boom"})
			s.says("aya", s.grant(s.round(), "aya"), entry.Said{Broken: "Ken spoke over it", Ends: entry.EndCut})
			s.says("aya", s.grant(s.round(), "aya"), entry.Said{Broken: "STOP", Ends: entry.EndStopped})
			s.add(entry.KindStop, entry.Stop{From: "Ken"}) // the line told of it
		}, []string{"3 7 aya broken 2s true", "6 7 aya cut 2s true", "9 7 aya stopped 2s true"}},
		"the next one": {func(s *stage) {
			r := s.round()
			s.add(entry.KindFailed, entry.Failed{Round: r, Who: "natsumi"}) // a vote
			s.add(entry.KindFailed, entry.Failed{Grant: s.grant(r, "aya"), Who: "aya", Code: abi.CodeInternal})
			s.add(entry.KindFailed, entry.Failed{Grant: s.grant(r, "kyoko"), Who: "kyoko", Pass: true})
			s.add(entry.KindDecision, entry.Decision{Round: r, Outcome: entry.OutcomeSilence})
		}, []string{"4 0 aya failed 3s true", "6 0 kyoko passed 5s true"}},
		"late": {func(s *stage) {
			s.grant(s.round(), "aya")
			s.add(entry.KindDue, entry.Due{What: entry.DueRound, Of: 1})
			s.add(entry.KindDue, entry.Due{What: entry.DueGrant, Of: 1}) // of another grant
			s.add(entry.KindDue, entry.Due{What: entry.DueGrant, Of: 2})
			s.says("aya", "g2", entry.Said{Wish: 3})
		}, []string{"5 0 aya late 4s true", "6 7 aya said - true"}},
		"refused": {func(s *stage) {
			g := s.grant(s.round(), "aya")
			s.add(entry.KindRefused, entry.Refused{Who: "aya", Kind: abi.KindTurn, Grant: g, Again: true})
			s.add(entry.KindRefused, entry.Refused{Who: "agent", Kind: abi.KindTurn})
			s.add(entry.KindRefused, entry.Refused{Who: "agent", Kind: abi.KindBackchannel})
			s.add(entry.KindRefused, entry.Refused{Who: "aya", Kind: abi.KindTurn, Grant: g})
		}, []string{"4 0 agent refused - false", "6 0 aya refused 5s false"}},
		"nobody": {func(s *stage) {
			for _, o := range []entry.Outcome{entry.OutcomeSilence, entry.OutcomeClosed, entry.OutcomeCapped, entry.OutcomeSuperseded, entry.OutcomeAbsent, entry.OutcomeWaits} {
				s.add(entry.KindDecision, entry.Decision{Round: s.round(), Outcome: o})
			}
			s.add(entry.KindDecision, entry.Decision{Round: 1, Outcome: entry.OutcomeSilence}) // a round of before
		}, []string{"2 0  silence 1s false", "4 0  closed 1s false", "6 0  capped 1s false", "8 0  superseded 1s false", "10 0  absent 1s false", "12 0  waits 1s false", "13 0  silence - false"}},
		"the floor passes without a word": {func(s *stage) { s.grant(s.round(), "aya"); s.grant(s.round(), "kyoko") }, []string{"4 0 aya superseded 1s true"}},
		"stopped": {func(s *stage) {
			s.grant(s.round(), "aya")
			s.add(entry.KindStop, entry.Stop{From: "Ken"})
			s.round()
			s.add(entry.KindArchived, entry.Archived{By: "Ken"})
			s.add(entry.KindStop, entry.Stop{From: "Ken"})
			s.grant(0, "aya")
			s.add(entry.KindLifecycle, entry.Lifecycle{To: "active"})
			s.add(entry.KindLifecycle, entry.Lifecycle{To: "terminating"})
		}, []string{"3 0 aya stopped 2s true", "5 0  stopped 1s true", "9 0 aya stopped 2s true"}},
		"another owner": {func(s *stage) {
			g := s.grant(s.round(), "aya")
			s.add(entry.KindOwner, entry.Owner{})
			s.says("aya", g, entry.Said{})
		}, []string{"4 7 aya said - true"}},
		"bodies that cannot be read": {func(s *stage) { s.add(entry.KindSaid, []int{1}); s.add(entry.KindDecision, "x") }, nil},
	} {
		s := &stage{t: t}
		c.play(s)
		if !slices.Equal(s.over, c.want) {
			t.Errorf("%s:\n%s\nwant\n%s", name, strings.Join(s.over, "\n"), strings.Join(c.want, "\n"))
		}
	}
}

// Rooms in which nothing goes on are forgotten, and of very many at once some are not known.
func TestManyRooms(t *testing.T) {
	var r turns.Reader
	round, _ := entry.Entry{Seq: 1, Kind: entry.KindRound}.WithBody(entry.Round{})
	end, _ := entry.Entry{Seq: 2, Kind: entry.KindDecision, At: time.Time{}.Add(time.Second)}.WithBody(entry.Decision{Round: 1, Outcome: entry.OutcomeSilence})
	var all sync.WaitGroup
	for i := range 5000 {
		all.Go(func() { r.Read(fmt.Sprint(i), round) })
	}
	all.Wait()
	if n := r.Known(); n != turns.MaxRooms {
		t.Errorf("%d rooms are known", n)
	}
	for i := range 5000 {
		if over := r.Read(fmt.Sprint(i), end); len(over) != 1 {
			t.Fatal(over)
		}
	}
	if n := r.Known(); n != 0 {
		t.Errorf("%d rooms are known in which nothing goes on", n)
	}
}
