package readers

import (
	"fmt"
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/rooms"
)

// A line has been seen by a crowd when it was read as many times as there are sockets; by
// who said it too.
func TestACrowdIsCounted(t *testing.T) {
	onStage(t, func(s *stage) {
		nobody := in(Who{Address: "local"})
		aya := in(Who{Address: "local", Name: "aya"})
		var leave func()
		for range 3 {
			leave = s.Listens("main", "local")
		}
		read := func() { s.Read(nobody, s.lines[len(s.lines)-1].Seq) }
		s.said("taro")
		for range 3 {
			read()
		}
		s.waits(false, "all three have read it")
		s.spoke(aya)
		s.waits(true, "two have not")
		read()
		s.waits(true, "one has not")
		read()
		s.waits(false, "aya knows what it said")
		s.said("kyoko")
		s.spoke(aya)
		read()
		read()
		s.waits(true, "aya has not seen what kyoko said meanwhile")
		read()
		s.waits(false, "now it has")

		s.refused(aya, abi.CodeStale, 0)
		s.waits(true, "aya could be heard")
		s.Tried(aya, rooms.Utterance{From: "aya"}, abi.Budget{}, abi.Message{Seq: 4}, nil)
		s.waits(false, "it was")
		leave()
		s.said("taro")
		read()
		read()
		s.waits(false, "two are left")
		defer s.Listens("main", "192.0.2.1")()
		s.waits(false, "the other is elsewhere")
	})
}

// Whoever is busy misses a notice, and the others read again at the next: only what was read
// after the same notice adds up, and who said the line reads it as well when it is told again.
func TestACrowdReadsAfterANotice(t *testing.T) {
	onStage(t, func(s *stage) {
		nobody := in(Who{Address: "local"})
		for range 3 {
			defer s.Listens("main", "local")()
		}
		read := func(times int) {
			for range times {
				s.Read(nobody, s.lines[len(s.lines)-1].Seq)
			}
		}
		s.said("taro")
		read(3)
		s.spoke(in(Who{Address: "local", Name: "aya"}))
		read(1)
		s.again(true, "kyoko is busy and has not seen it")
		read(2)
		s.again(true, "it was aya who read it, and again the other: kyoko is still busy")
		read(2)
		s.again(true, "kyoko has still not seen it")
		read(3)
		s.again(false, "she has, with the others")
	})
}

// Clients that say different things of themselves are different ones.
func TestACrowdOfClients(t *testing.T) {
	onStage(t, func(s *stage) {
		one, two := in(Who{Address: "local", Client: "one"}), in(Who{Address: "local", Client: "two"})
		defer s.Listens("main", "local")()
		defer s.Listens("main", "local")()
		for range 2 {
			seq := s.said("taro")
			s.Read(one, seq)
			s.Read(two, seq)
		}
		s.Read(in(Who{Address: "local", Client: "ghost"}), 2) // which read once
		seq := s.said("taro")
		s.Read(one, seq)
		s.Read(one, seq)
		s.waits(true, "two has not read it")
		s.Read(two, seq)
		s.waits(false, "both have")
	})
}

// A socket at which nobody reads is waited for once, and not again; until another opens, or
// more read.
func TestASocketAtWhichNobodyReads(t *testing.T) {
	onStage(t, func(s *stage) {
		nobody := in(Who{Address: "local"})
		defer s.Listens("main", "local")()
		defer s.Listens("main", "local")()
		next := func(reads int) {
			seq := s.said("taro")
			for range reads {
				s.Read(nobody, seq)
			}
		}
		next(1)
		s.waits(true, "one has not read")
		time.Sleep(trial - fresh)
		s.waits(false, "it was told five times")
		next(1)
		s.waits(false, "it is not told again")
		next(2)
		s.waits(false, "it has read")
		next(1)
		s.waits(true, "so it is there")
		time.Sleep(trial)
		s.waits(false, "or was")
		defer s.Listens("main", "local")()
		next(1)
		s.waits(true, "somebody came")
		time.Sleep(away)
		next(0)
		s.waits(false, "nobody has read for long")
	})
}

// Where agents share a socket there are as many as speak.
func TestACrowdAtOneSocket(t *testing.T) {
	onStage(t, func(s *stage) {
		nobody := in(Who{Address: "local"})
		defer s.Listens("main", "local")()
		s.Read(nobody, s.said("taro"))
		s.spoke(in(Who{Address: "local", Name: "aya"}))
		s.waits(false, "aya is alone")
		s.spoke(in(Who{Address: "local", Name: "kyoko"}))
		s.waits(true, "aya has not seen it")
		s.Read(nobody, 3)
		s.Read(nobody, 3)
		s.waits(false, "both have")
	})
}

// Who has a session for each call, and names nobody, is one of the crowd.
func TestASessionACallIsTheCrowd(t *testing.T) {
	onStage(t, func(s *stage) {
		defer s.Listens("main", "local")()
		defer s.Listens("main", "local")()
		read := func(session string) {
			s.Read(in(Who{Address: "local", Session: session}), s.lines[len(s.lines)-1].Seq)
		}
		s.said("taro")
		read("gone1")
		s.waits(true, "one has not read it")
		read("gone2")
		s.waits(false, "both have")
		s.spoke(in(Who{Address: "local", Session: "gone3", Name: "aya"}))
		s.waits(true, "one did not say it")
		read("gone4")
		s.waits(false, "it has read it")
		s.refused(in(Who{Address: "local", Session: "gone5", Name: "aya"}), abi.CodeStale, 0)
		s.waits(true, "aya could be heard")
	})
}

// However many had a session for each call, what the last of them read counts.
func TestManySessionsAreTheCrowdInTheirOrder(t *testing.T) {
	onStage(t, func(s *stage) {
		defer s.Listens("main", "local")()
		defer s.Listens("main", "local")()
		read := func(session string) {
			s.Read(in(Who{Address: "local", Session: session}), s.lines[len(s.lines)-1].Seq)
			time.Sleep(time.Millisecond)
		}
		s.said("taro")
		for i := range 10 * looks {
			read(fmt.Sprint("old", i))
		}
		s.said("taro")
		read("new1")
		s.waits(true, "one has not read it")
		read("new2")
		s.waits(false, "both have")
	})
}
