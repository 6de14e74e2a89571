package mcp

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/door/doortest"
	"github.com/companiond/companiond/host/door/mcp/follows"
	"github.com/companiond/companiond/host/door/mcp/watch"
	"github.com/companiond/companiond/host/rooms"
)

var eras = []string{sessionEra, modernEra}

// stand is a door before real rooms in a bubble of fake time, where only the door
// follows rooms.
type stand struct {
	t     *testing.T
	house *doortest.House
	rooms *detour
	door  *Door
	pipe  *doortest.Pipe
	stop  context.CancelFunc // ends Run
	ended chan error
}

// detour is the way to the rooms, on which a test may get in between.
type detour struct {
	*doortest.House
	fail atomic.Int64  // so many look-ups fail
	late time.Duration // what each takes that does not
	slow time.Duration // what a follower takes to begin
}

func (d *detour) Room(ctx context.Context, name string) (rooms.Room, error) {
	if d.fail.Add(-1) >= 0 {
		return nil, abi.Errorf(abi.CodeUnavailable, "the disk is full")
	}
	time.Sleep(d.late)
	talk, err := d.House.Room(ctx, name)
	return &slowTalk{talk, d.slow}, err
}

type slowTalk struct {
	rooms.Room
	slow time.Duration
}

func (s *slowTalk) History(ctx context.Context, ask abi.HistoryAsk) (abi.History, error) {
	if ask.Limit == follows.Recent { // as followers ask
		select {
		case <-time.After(s.slow):
		case <-ctx.Done():
		}
	}
	return s.Room.History(ctx, ask)
}

// inBubble runs a test before a stand, in a bubble of its own; in the end everything
// that it started must have gone.
func inBubble(t *testing.T, f func(t *testing.T, s *stand)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := &stand{t: t, house: doortest.NewHouse(t, "main", "side"), pipe: doortest.NewPipe(), ended: make(chan error, 1)}
		s.rooms = &detour{House: s.house}
		s.door = New(Config{Rooms: s.rooms, Version: "test", Cards: noCards, Stopping: context.Background()})
		mux := http.NewServeMux()
		s.door.Register(mux)
		server := &http.Server{Handler: mux}
		served := make(chan error, 1)
		go func() { served <- server.Serve(s.pipe) }()
		var ctx context.Context
		ctx, s.stop = context.WithCancel(context.Background())
		go func() { s.ended <- s.door.Run(ctx) }()
		t.Cleanup(func() {
			_ = s.door.Close(context.Background())
			_ = server.Close()
			<-served
			s.stop()
			if err := <-s.ended; err != nil {
				t.Error(err)
			}
		})
		f(t, s)
	})
}

// connect opens a client of an era, and says what it is told of.
func (s *stand) connect(era string) (*agent, told) {
	s.t.Helper()
	updated := make(told, 1024)
	c := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, &sdk.ClientOptions{
		ResourceUpdatedHandler: func(_ context.Context, r *sdk.ResourceUpdatedNotificationRequest) { updated <- r.Params.URI },
	})
	cs, err := c.Connect(s.t.Context(), &sdk.StreamableClientTransport{Endpoint: "http://door/mcp", HTTPClient: s.pipe.Client()}, &sdk.ClientSessionOptions{ProtocolVersion: era})
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = cs.Close() })
	return &agent{s.t, cs}, updated
}

// human says something in a room.
func (s *stand) human(name, text string) abi.Message {
	s.t.Helper()
	m, err := s.house.Get(name).Say(s.t.Context(), rooms.Utterance{From: "taro", Text: text})
	if err != nil {
		s.t.Fatal(err)
	}
	return m
}

// followed demands that so many rooms are followed, by one each.
func (s *stand) followed(want int, when string) {
	s.t.Helper()
	synctest.Wait()
	if got := s.house.Get("main").Followers(); got != want {
		s.t.Errorf("%s: %d are followed, not %d", when, got, want)
	}
}

// count gives how many times a client was told of something since it was asked last.
func (c told) count() int {
	synctest.Wait()
	n := len(c)
	for range n {
		<-c
	}
	return n
}

// A room is followed when an agent uses it, not before, and for so long.
func TestRoomsAreFollowedWhileTheyAreUsed(t *testing.T) {
	for _, era := range eras {
		t.Run(era, func(t *testing.T) {
			inBubble(t, func(t *testing.T, s *stand) {
				s.human("main", "誰かいる?")
				a, _ := s.connect(era)
				if _, err := a.session.ListResources(t.Context(), nil); err != nil {
					t.Error(err)
				}
				a.call("history", map[string]any{"room": "attic"}) // there is none
				time.Sleep(time.Hour)
				s.followed(0, "nobody uses a room")
				a, _ = s.connect(era)
				a.call("history", nil)
				s.followed(1, "a tool is used")
				if _, err := a.session.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "room://side/status"}); err != nil {
					t.Error(err)
				}
				s.followed(2, "a resource is read")
				a.call("status", nil)
				s.followed(2, "once more")

				time.Sleep(follows.Idle - time.Second)
				s.followed(2, "not long enough ago")
				a.call("status", map[string]any{"room": "side"})
				time.Sleep(time.Second)
				s.followed(1, "nobody uses main any more")
				time.Sleep(follows.Idle - time.Second - time.Millisecond)
				s.followed(1, "side was used since")
				time.Sleep(time.Millisecond)
				s.followed(0, "nobody uses any")
				if n := s.door.follows.Rooms(); n != 0 {
					t.Errorf("%d rooms are remembered", n)
				}
				a.call("status", nil)
				s.followed(1, "main is used again")
			})
		})
	}
}

// A client that subscribed is told of everything for as long as it is there, also
// where there are no sessions.
func TestSubscribedRoomsAreFollowed(t *testing.T) {
	for _, era := range eras {
		t.Run(era, func(t *testing.T) {
			inBubble(t, func(t *testing.T, s *stand) {
				one, updated := s.connect(era)
				two, _ := s.connect(era)
				one.subscribe("room://main/history")
				two.subscribe("room://main/status")
				s.followed(1, "it is subscribed to")
				for n := range 10 { // also in the moment in which it is asked whether that is over
					time.Sleep(follows.Idle)
					s.human("main", fmt.Sprint("いますか ", n))
					if got := updated.count(); got != 1 {
						t.Errorf("%d: told %d times", n, got)
					}
				}
				s.followed(1, "for long")
				_ = one.session.Close()
				time.Sleep(2 * follows.Idle)
				s.followed(1, "the other is there")
				_ = two.session.Close()
				time.Sleep(follows.Idle)
				s.followed(0, "both have gone")
			})
		})
	}
}

// Nothing that is said after a subscription was answered goes untold, however late the
// follower begins: also where a tool let it begin that was called before.
func TestNothingIsMissedByWhoSubscribed(t *testing.T) {
	for _, era := range eras {
		t.Run(era, func(t *testing.T) {
			inBubble(t, func(t *testing.T, s *stand) {
				s.rooms.slow = time.Second
				s.human("main", "やあ")
				for _, before := range []func(*agent){func(*agent) {}, func(a *agent) { a.call("status", nil) }} {
					a, updated := s.connect(era)
					before(a)
					a.subscribe("room://main/history")
					s.human("main", "聞こえる?")
					time.Sleep(2 * time.Second)
					if got := updated.count(); got != 1 {
						t.Errorf("told %d times", got)
					}
					_ = a.session.Close()
					time.Sleep(2 * follows.Idle)
					s.followed(0, "it is gone")
					s.human("main", "誰もいない")
				}
			})
		})
	}
}

// An agent that comes back is told what was said while nobody followed the room, and
// waits for what is said then.
func TestNothingIsMissedByWhoComesBack(t *testing.T) {
	inBubble(t, func(t *testing.T, s *stand) {
		a, _ := s.connect(sessionEra)
		s.human("main", "やあ")
		a.call("history", nil)
		time.Sleep(2 * follows.Idle)
		s.followed(0, "it was away")
		m := s.human("main", "いないの?")
		s.followed(0, "a human uses the room, and no agent")
		got, _ := a.call("wait_for_turn", map[string]any{"from": "bot"})
		if list := got["messages"].([]any); got["reason"] != string(watch.Asked) || len(list) != 1 || list[0].(map[string]any)["seq"] != float64(m.Seq) {
			t.Errorf("%v", got)
		}
		s.followed(1, "it is back")
		if s.door.Waiting("main", math.MaxUint64) {
			t.Error("it has seen everything")
		}
		time.Sleep(time.Second) // no answer of before is good any more
		s.human("main", "いた!")
		synctest.Wait()
		if !s.door.Waiting("main", math.MaxUint64) {
			t.Error("it has not seen this")
		}
	})
}

// A room that cannot be read when it is to be followed is followed once it can be,
// and what was said before is no news then.
func TestFollowersOutliveTrouble(t *testing.T) {
	inBubble(t, func(t *testing.T, s *stand) {
		s.human("main", "やあ")
		s.rooms.fail.Store(3)
		s.door.follows.Use("side")
		time.Sleep(2*follows.Retry + follows.Retry/2)
		s.followed(0, "side cannot be looked up")
		time.Sleep(follows.Retry)
		s.followed(1, "it can be")

		main := s.house.Get("main")
		main.Trouble(abi.Errorf(abi.CodeUnavailable, "the disk is full"))
		s.door.follows.Use("main")
		time.Sleep(10*follows.Retry + follows.Retry/2)
		main.Trouble(nil)
		a, updated := s.connect(sessionEra)
		a.subscribe("room://main/history")
		time.Sleep(2 * follows.Retry)
		s.followed(2, "the trouble is over")
		if got := updated.count(); got != 0 {
			t.Errorf("told %d times of what it knows", got)
		}
		main.Trouble(abi.Errorf(abi.CodeUnavailable, "the disk is full"))
		time.Sleep(time.Minute)
		main.Trouble(nil)
		time.Sleep(time.Minute)
		s.human("main", "元気?")
		if got := updated.count(); got != 1 {
			t.Errorf("told %d times after trouble", got)
		}
	})
}

// A subscription that cannot be kept is refused as such: the room may be there.
func TestSubscribeWhileTheJournalIsInTrouble(t *testing.T) {
	inBubble(t, func(t *testing.T, s *stand) {
		a, _ := s.connect(sessionEra)
		s.house.Get("main").Trouble(abi.Errorf(abi.CodeUnavailable, "the disk is full"))
		for _, name := range []string{"main", "attic"} { // attic would be in the journal's index
			err := a.session.Subscribe(t.Context(), &sdk.SubscribeParams{URI: uriOf(name, historyPart)})
			if err == nil || err.Error() != `calling "resources/subscribe": unavailable: the disk is full` {
				t.Errorf("%s: %v", name, err)
			}
		}
		s.followed(0, "nobody subscribed")
	})
}

// Use in the very moment in which a room is given up leaves it followed, by one.
func TestUseWhileARoomIsGivenUp(t *testing.T) {
	inBubble(t, func(t *testing.T, s *stand) {
		for n := range 300 {
			time.Sleep(follows.Idle - time.Duration(rand.IntN(3)-1))
			var all sync.WaitGroup
			for range 3 {
				all.Go(func() { s.door.follows.Use("main") })
			}
			all.Wait()
			s.followed(1, fmt.Sprint("round ", n))
		}
	})
}

// Run ends with its context, whatever its followers are at, and nobody follows
// afterwards.
func TestRunEndsWithItsContext(t *testing.T) {
	inBubble(t, func(t *testing.T, s *stand) {
		a, _ := s.connect(sessionEra)
		a.subscribe("room://side/status")
		s.followed(1, "it is subscribed to")
		s.rooms.fail.Store(1000) // one that tries again and again
		s.door.follows.Use("main")
		synctest.Wait()
		began := time.Now()
		s.stop()
		synctest.Wait()
		select {
		case err := <-s.ended:
			s.ended <- err
		default:
			t.Fatal("it has not ended")
		}
		if took := time.Since(began); took != 0 {
			t.Errorf("it took %v", took)
		}
		s.rooms.fail.Store(0)
		s.followed(0, "it has ended")
		a.call("history", map[string]any{"room": "main"})
		a.subscribe("room://main/status")
		s.door.follows.Use("another")
		s.followed(0, "it has ended")
	})
}

// Run waits for a follower that is in the middle of something.
func TestRunWaitsForItsFollowers(t *testing.T) {
	inBubble(t, func(t *testing.T, s *stand) {
		s.rooms.late = time.Minute
		s.door.follows.Use("main")
		synctest.Wait()
		s.stop()
		began := time.Now()
		s.ended <- <-s.ended
		if took := time.Since(began); took != time.Minute {
			t.Errorf("it ended after %v", took)
		}
		s.followed(0, "it has ended")
	})
}

// Rooms that were used before Run are followed from then on.
func TestRunFollowsWhatWasUsedBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		house := doortest.NewHouse(t, "main")
		door := New(Config{Rooms: house, Cards: noCards, Stopping: context.Background()})
		door.follows.Use("main")
		synctest.Wait()
		if n := house.Get("main").Followers(); n != 0 {
			t.Errorf("%d follow", n)
		}
		run(t, door.Run)
		synctest.Wait()
		if n := house.Get("main").Followers(); n != 1 {
			t.Errorf("%d follow", n)
		}
	})
}
