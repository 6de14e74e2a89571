package readers

import (
	"fmt"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/door/doortest"
	"github.com/companiond/companiond/host/rooms"
)

// pooled is a room with a pool.
type pooled struct {
	rooms.Room
	level float64
}

func (p *pooled) Budget() (abi.Budget, bool) {
	return abi.Budget{Level: p.level, Size: 100, Prices: abi.DefaultPool().Prices}, true
}

// stage is a room main with readers, in a bubble of fake time.
type stage struct {
	*testing.T
	*Readers
	house *doortest.House
	talk  *pooled
	live  map[string]bool
	lines []Line
}

func onStage(t *testing.T, f func(s *stage)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		house := doortest.NewHouse(t, "main", "side")
		s := &stage{T: t, house: house, talk: &pooled{house.Get("main"), 0}, live: map[string]bool{"s1": true, "s2": true, "s3": true}}
		s.Readers = New(func() map[string]bool { return s.live }, func(name string) []Line {
			if name != "main" {
				return nil
			}
			return s.lines
		})
		f(s)
	})
}

// waits demands that somebody waits, or nobody, before anybody asks: no notice is sent.
func (s *stage) waits(want bool, what string) {
	s.Helper()
	time.Sleep(fresh)
	pool, _ := s.talk.Budget()
	s.mu.Lock()
	defer s.mu.Unlock()
	if got := s.anyWaits("main", s.Readers.said("main"), pool); got != want {
		s.Errorf("%s: waiting is %v", what, got)
	}
}

// again demands that a notice is sent again, or none.
func (s *stage) again(want bool, what string) {
	s.Helper()
	time.Sleep(fresh)
	if got := s.Waiting(s.talk, math.MaxUint64); got != want {
		s.Errorf("%s: again is %v", what, got)
	}
}

func (s *stage) said(from string) uint64 {
	seq := uint64(1)
	if n := len(s.lines); n > 0 {
		seq = s.lines[n-1].Seq + 1
	}
	s.lines = append(s.lines, Line{seq, from, time.Now()})
	return seq
}

// spoke is said by somebody at a place.
func (s *stage) spoke(p Place) {
	seq := s.said(p.Name)
	s.Tried(p, rooms.Utterance{From: p.Name}, abi.Budget{}, abi.Message{Seq: seq}, nil)
}

func (s *stage) refused(p Place, code abi.Code, offer float64) {
	s.Tried(p, rooms.Utterance{From: p.Name, Offer: &offer}, abi.Budget{}, abi.Message{}, abi.Errorf(code, "not now"))
}

// agent is what reads on: it has read twice behind something new, a while ago.
func (s *stage) agent(p Place) Place {
	for range regular + 1 {
		s.Read(p, s.said("taro"))
		time.Sleep(step)
	}
	return p
}

// Who waits, and who does not, as time goes by.
func TestWhoWaits(t *testing.T) {
	onStage(t, func(s *stage) {
		one, two := in(Who{Session: "s1"}), in(Who{Session: "s2", Name: "aya"})
		s.waits(false, "nobody reads")
		s.Read(one, 7)
		s.waits(false, "an empty room that was read")
		s.lines = []Line{{8, "taro", time.Now()}}
		s.waits(true, "something newer was said")
		s.Read(one, 8)
		s.waits(false, "it has seen it")
		s.spoke(in(Who{Session: "s1", Name: "bot"}))
		s.waits(false, "its own line is nothing new")
		s.Read(two, 9)
		s.said("bot")
		s.waits(true, "but it is for the other")
		s.Read(two, 10)
		s.refused(two, abi.CodeExhausted, 60)
		s.waits(false, "a refused line that the pool cannot pay for")
		s.refused(two, abi.CodeStale, 0)
		s.waits(true, "a refused line that could be heard")
		s.refused(two, abi.CodeInvalid, 0)
		s.waits(false, "a line that would be refused again")
		s.said("taro")
		s.waits(true, "both missed this")
		s.live["s1"] = false
		s.Read(two, 11)
		s.waits(false, "a session that is gone waits for nothing")
		s.said("taro")
		s.waits(true, "one missed this")
		time.Sleep(away)
		s.waits(false, "one was not heard of for long")
		s.Read(in(Who{Holder: "bot"}), 12)
		s.said("taro")
		s.waits(true, "a token's holder needs no session")
		if s.Waiting(s.house.Get("side"), math.MaxUint64) {
			t.Error("another room's reader counts")
		}
	})
}

// Each of several in one session is waited for.
func TestPersonasOfASession(t *testing.T) {
	onStage(t, func(s *stage) {
		aya, kyoko := in(Who{Session: "s1", Name: "aya"}), in(Who{Session: "s1", Name: "kyoko"})
		s.Read(aya, 1)
		s.Read(kyoko, 1)
		seq := s.said("taro") + 1
		s.said("taro")
		s.Read(aya, seq)
		s.waits(true, "kyoko has not seen it")
		s.Read(kyoko, seq)
		s.waits(false, "both have")
	})
}

// Who found the pool too low for a turn waits until it is not, also when it nodded
// meanwhile, and is not told for ever.
func TestWhoWaitsForThePool(t *testing.T) {
	for name, who := range map[string]Who{"session": {Session: "s1", Name: "bot"}, "name": {Name: "bot"}, "crowd": {}, "session of bot": {Session: "s1"}} {
		t.Run(name, func(t *testing.T) {
			onStage(t, func(s *stage) {
				one := in(who)
				if name == "session of bot" {
					s.Tried(in(Who{Session: "s1", Name: "bot"}), rooms.Utterance{From: "bot"}, abi.Budget{}, abi.Message{Seq: 1}, nil)
				}
				if name == "crowd" {
					defer s.Listens("main", "")()
				}
				waits := func(level float64, want bool, what string) {
					t.Helper()
					s.talk.level = level
					s.waits(want, what)
				}
				told := func(level float64) {
					s.talk.level = level
					b, _ := s.talk.Budget()
					s.Told(one, b)
				}
				told(60)
				waits(100, false, "there was enough for a turn")
				told(59)
				waits(59, false, "there still is not")
				if name == "session" || name == "name" {
					s.Tried(one, rooms.Utterance{From: "bot"}, abi.Budget{}, abi.Message{Seq: 1}, nil)
					waits(59, false, "nor after a backchannel")
				}
				waits(60, true, "there is enough now")
				told(60)
				waits(100, false, "it knows")
				told(0)
				waits(100, true, "once more")
				if p := in(Who{Session: "s1", Name: "bot"}); name == "session of bot" {
					if !s.Standing(p).Poor || !s.Hand(p, s.Standing(p), 1, "", true) || s.Standing(p).Poor {
						t.Error("a wait does not know it")
					}
					waits(100, false, "a wait told it")
				}
				time.Sleep(away)
				waits(100, false, "it was not heard of for long")
			})
		})
	}
}

// A notice is for those who have a socket: agents that read on are waited for as long as
// theirs is open, and who is gone is not.
func TestWhoHasASocket(t *testing.T) {
	onStage(t, func(s *stage) {
		aya := s.agent(in(Who{Address: "local", Name: "aya"}))
		kyoko := s.agent(in(Who{Address: "local", Name: "kyoko"}))
		_ = s.Listens("main", "local")
		leave := s.Listens("main", "local")
		seq := s.said("taro")
		s.waits(true, "both missed this")
		s.Read(aya, seq)
		s.waits(true, "kyoko missed this")
		leave()
		s.waits(false, "kyoko left")
		leave()
		seq = s.said("taro")
		s.waits(true, "aya is there")
		s.Read(aya, seq)
		s.waits(false, "nobody is there who has not seen it")
		s.Read(kyoko, seq-1)
		s.waits(true, "kyoko is heard of")
		s.Read(kyoko, seq)

		far := s.agent(in(Who{Address: "192.0.2.1", Name: "far"}))
		s.Read(aya, seq+9)
		s.Read(kyoko, seq+9)
		s.Read(far, seq+3)
		s.lines = append(s.lines, Line{seq + 8, "taro", time.Now()})
		s.waits(false, "no socket is left for who is elsewhere")
		defer s.Listens("main", "192.0.2.2")()
		s.waits(true, "this one may be its")
	})
}

// Who waits for its turn needs no notices.
func TestWaitersNeedNoNotices(t *testing.T) {
	onStage(t, func(s *stage) {
		p := s.agent(in(Who{Address: "local", Name: "aya"}))
		defer s.Listens("main", "local")()
		if !s.Hand(p, s.Standing(p), 3, "", false) {
			t.Error("told nothing")
		}
		s.said("taro")
		s.waits(false, "a wait tells it")
		s.Read(p, 3)
		s.waits(true, "it reads by itself")
	})
}

// Of three hundred who read once and left none is waited for, of a new agent each is.
func TestWhoReadOnce(t *testing.T) {
	for _, kind := range []func(i int) Who{
		func(i int) Who { return Who{Address: "local", Name: fmt.Sprint("ghost", i)} },
		func(i int) Who { return Who{Address: "local", Session: fmt.Sprint("ghost", i)} },
		func(int) Who { return Who{Address: "local"} },
	} {
		onStage(t, func(s *stage) {
			defer s.Listens("main", "local")()
			seq := s.said("taro")
			s.Read(in(kind(0)), seq)
			s.live["ghost0"] = true
			s.said("taro")
			s.waits(true, "it may be an agent that thinks")
			time.Sleep(trial)
			s.waits(false, "it was not heard of again")
			seq = s.said("taro")
			for i := 1; i <= 300; i++ {
				s.live[fmt.Sprint("ghost", i)] = true
				s.Read(in(kind(i)), seq)
			}
			s.said("taro")
			s.waits(false, "they passed by")
		})
	}
}

// slowPool is a room whose pool has to be looked up.
type slowPool struct {
	rooms.Room
	found chan struct{}
}

func (p *slowPool) Budget() (abi.Budget, bool) {
	<-p.found
	return abi.Budget{}, false
}

// While a room is asked for its pool, agents go on in every room.
func TestNobodyWaitsForAPool(t *testing.T) {
	onStage(t, func(s *stage) {
		talk := &slowPool{s.talk, make(chan struct{})}
		one := in(Who{Session: "s1", Name: "aya"})
		s.said("taro")
		s.said("taro")
		s.Read(one, 1)
		time.Sleep(fresh)
		asked, read := make(chan bool, 1), make(chan uint64, 1)
		go func() { asked <- s.Waiting(talk, math.MaxUint64) }()
		synctest.Wait()
		go func() { read <- s.Basis(one) }()
		synctest.Wait()
		select {
		case seq := <-read:
			if seq != 1 {
				t.Errorf("read up to %d", seq)
			}
		default:
			t.Error("an agent waits for the pool")
		}
		close(talk.found)
		if !<-asked {
			t.Error("nobody waits")
		}
	})
}

// While the newest line is on its way to a socket, the one before is not repeated there.
func TestWhatIsOnItsWayIsNotRepeated(t *testing.T) {
	onStage(t, func(s *stage) {
		defer s.Listens("main", "local")()
		one := in(Who{Holder: "aya", Address: "local"})
		for range 3 {
			s.Read(one, s.said("taro"))
			time.Sleep(step)
		}
		told := s.lines[len(s.lines)-1].Seq
		newest := s.said("taro")
		time.Sleep(fresh)
		for range 2 { // asked for, and kept
			if s.Waiting(s.talk, told) || !s.Waiting(s.talk, newest) {
				s.Errorf("told up to %d: %v, up to %d: %v", told, s.Waiting(s.talk, told), newest, s.Waiting(s.talk, newest))
			}
		}
	})
}

// Answers are kept for as long as they are good.
func TestAnswersAreForgotten(t *testing.T) {
	onStage(t, func(s *stage) {
		for _, name := range []string{"main", "side"} {
			s.Read(Place{Who{Holder: "bot"}, name}, 1)
			s.Waiting(s.house.Get(name), math.MaxUint64)
			time.Sleep(fresh)
		}
		if s.Waiting(s.house.Get("side"), math.MaxUint64); len(s.answers) != 1 {
			t.Errorf("%d answers", len(s.answers))
		}
	})
}

// Sockets that come and go leave no more behind than is bounded, also where nobody reads.
func TestSocketsAreForgotten(t *testing.T) {
	onStage(t, func(s *stage) {
		leave := s.Listens("main", "local")
		for i := range 2 * crowds {
			s.Listens("main", fmt.Sprint("192.0.2.", i))()
			s.Waiting(s.talk, math.MaxUint64)
		}
		if n := len(s.sockets); n > crowds {
			s.Errorf("%d are known", n)
		}
		if e := s.sockets[spot{"main", "local"}]; e == nil || e.open != 1 {
			s.Errorf("the one that is open: %+v", e)
		}
		leave()
	})
}
