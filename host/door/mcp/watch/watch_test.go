package watch

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/door/doortest"
	"github.com/companiond/companiond/host/door/mcp/readers"
	"github.com/companiond/companiond/host/rooms"
)

// talk is a room in which all is as a test says, and history takes a second.
type talk struct {
	rooms.Room
	info rooms.Info
	old  uint64    // what is newer shows at a glance only
	from time.Time // from then on
}

func (s *talk) Info() rooms.Info {
	i := s.info
	if i.Head = s.Room.Info().Head; time.Now().Before(s.from) {
		i.Head, i.Round, i.Grant, i.Floor = s.old, nil, nil, ""
	}
	return i
}

func (s *talk) History(ctx context.Context, ask abi.HistoryAsk) (abi.History, error) {
	time.Sleep(time.Second)
	return s.Room.History(ctx, ask)
}

// inBubble runs a test with the waiter of an agent in a room.
func inBubble(t *testing.T, f func(t *testing.T, room *doortest.Room, s *talk, wait func(limit time.Duration) News)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		room := doortest.NewHouse(t, "main").Get("main")
		s := &talk{Room: room}
		r := readers.New(func() map[string]bool { return nil }, func(string) []readers.Line { return nil })
		w := Waiter{
			Talk: s, Who: "bot", At: readers.Place{Who: readers.Who{Name: "bot"}, Room: "main"}, Readers: r,
			Here: func(rooms.Info) error { return nil }, Stopping: context.Background(),
		}
		f(t, room, s, func(limit time.Duration) News {
			n, err := w.Wait(t.Context(), limit)
			if err != nil {
				t.Error(err)
			}
			return n
		})
	})
}

// Of two waits that find the same at once, one tells it.
func TestOneOfTwoWaitsTells(t *testing.T) {
	inBubble(t, func(t *testing.T, room *doortest.Room, _ *talk, wait func(time.Duration) News) {
		reasons := make(chan Reason, 2)
		for range 2 {
			go func() { reasons <- wait(10 * time.Second).Reason }()
		}
		synctest.Wait()
		room.Chat(1)
		if one, two := <-reasons, <-reasons; one != Unseen || two != Timeout {
			t.Errorf("%s and %s", one, two)
		}
	})
}

// What a room shows at a glance is late by as much as its loop: a round, or a grant, that is in
// the journal is told once it shows, and not when the next entry comes.
func TestAGlanceThatIsLate(t *testing.T) {
	inBubble(t, func(t *testing.T, room *doortest.Room, s *talk, wait func(time.Duration) News) {
		late := func(change func(), want Reason, messages int) {
			t.Helper()
			s.old, s.from = s.Room.Info().Head, time.Now().Add(6*time.Second)
			change()
			got := make(chan News, 1)
			go func() { got <- wait(20 * time.Second) }()
			synctest.Wait()
			room.Chat(1)
			if n := <-got; n.Reason != want || len(n.Messages) != messages || time.Since(s.from) > 3*time.Second {
				t.Errorf("%s with %d messages, %v after it shows; want %s with %d", n.Reason, len(n.Messages), time.Since(s.from), want, messages)
			}
		}
		late(func() { s.info.Round = &rooms.OpenRound{ID: 7, About: 6, Awaits: []string{"bot"}} }, Asked, 1)
		late(func() { s.info.Round, s.info.Floor, s.info.Grant = nil, "bot", &abi.Grant{Token: "g1"} }, Granted, 1)
	})
}

// A grant, and a round, is told at once and then only when a wait is over; something else
// is told meanwhile.
func TestWhatIsToDoIsToldOnce(t *testing.T) {
	inBubble(t, func(t *testing.T, room *doortest.Room, s *talk, wait func(time.Duration) News) {
		told := func(want Reason, after time.Duration) News {
			t.Helper()
			began := time.Now()
			n := wait(20 * time.Second)
			if took := time.Since(began).Truncate(10 * time.Second); n.Reason != want || took != after {
				t.Errorf("%s after %v; want %s after %v", n.Reason, took, want, after)
			}
			return n
		}
		s.info.Round = &rooms.OpenRound{ID: 7, About: 6, Awaits: []string{"aya", "bot"}}
		told(Asked, 0)
		told(Asked, 20*time.Second)
		room.Chat(1)
		if n := told(Unseen, 0); n.Round == nil || len(n.Messages) != 1 {
			t.Errorf("it still waits for a vote: %+v", n)
		}
		told(Asked, 20*time.Second)
		s.info.Round = &rooms.OpenRound{ID: 9, About: 8, Awaits: []string{"bot"}}
		told(Asked, 0)
		s.info.Round, s.info.Floor, s.info.Grant = nil, "bot", &abi.Grant{Token: "g1"}
		told(Granted, 0)
		told(Granted, 20*time.Second)
		s.info.Grant = &abi.Grant{Token: "g1", Basis: 3} // its line was stale: it is to make another
		told(Granted, 0)
		s.info.Grant = &abi.Grant{Token: "g2"}
		told(Granted, 0)
		s.info.Floor = "aya"
		told(Timeout, 20*time.Second)
	})
}

// Who is told of something while there are too few points for a turn hears when there are
// enough, once; who finds that nothing is new is not told of points that it has no use for.
func TestPointsAfterNewsOfTooFew(t *testing.T) {
	inBubble(t, func(t *testing.T, room *doortest.Room, s *talk, wait func(limit time.Duration) News) {
		told := func(want Reason) {
			t.Helper()
			n := wait(20 * time.Second)
			if n.Reason != want {
				t.Errorf("%s; want %s", n.Reason, want)
			}
			if (n.Price != nil) != s.info.FreeTurns || n.Price != nil && *n.Price != 60 {
				t.Errorf("the price is %v where turns are paid for: %v", n.Price, s.info.FreeTurns)
			}
		}
		level := func(points float64) {
			pool := abi.DefaultPool()
			s.info.Pool = &abi.Budget{Level: points, Size: pool.Size, Prices: pool.Prices}
		}
		s.info.FreeTurns = true
		level(100)
		room.Chat(1)
		told(Unseen)
		level(40)
		told(Timeout)
		level(100)
		told(Timeout)
		level(40)
		room.Chat(1)
		told(Unseen)
		told(Timeout)
		level(100)
		told(Points)
		told(Timeout)
		s.info.FreeTurns = false // the pool pays for backchannels alone
		level(0)
		room.Chat(1)
		told(Unseen)
		level(100)
		told(Timeout)
	})
}
