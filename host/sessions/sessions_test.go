package sessions

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/conversation"
	"github.com/companiond/companiond/host/identity"
)

const expiry = 15 * time.Minute

// here is a guest of this machine.
var here = func() identity.Caller {
	c := identity.Guest(nil)
	c.Address, c.Sharer = identity.Local, identity.Local
	return c
}()

// stage is sessions that run, in fake time, and who was told to be gone.
type stage struct {
	*Sessions
	t    *testing.T
	mu   sync.Mutex
	gone []string
}

func (s *stage) left(project, agent string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gone = append(s.gone, project+"/"+agent)
}

// play runs sessions in a bubble of fake time.
func play(t *testing.T, tokens *identity.Register, f func(s *stage)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := &stage{t: t}
		n := uint64(0)
		s.Sessions = New(Config{Tokens: tokens, Expiry: expiry, Gone: s.left, Random: func(b []byte) {
			n++
			binary.BigEndian.PutUint64(b, n)
		}})
		var running sync.WaitGroup
		running.Go(func() {
			if err := s.Run(t.Context()); err != nil {
				t.Error(err)
			}
		})
		synctest.Wait()
		f(s)
	})
}

func (s *stage) login(agent string) string {
	s.t.Helper()
	x, err := s.Open(Login{Project: "p", Agent: agent, Caller: here})
	if err != nil {
		s.t.Fatal(err)
	}
	return x.Token
}

// told demands who was told to be gone since it was asked last.
func (s *stage) told(want ...string) {
	s.t.Helper()
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Equal(s.gone, want) {
		s.t.Errorf("gone are %q, want %q", s.gone, want)
	}
	s.gone = nil
}

func (s *stage) is(agent string, want bool) {
	s.t.Helper()
	if got := s.Here("p", agent); got != want {
		s.t.Errorf("%s here: %v", agent, got)
	}
}

// fault demands a code of the table of errors.
func fault(t *testing.T, err error, code string) {
	t.Helper()
	var f *conversation.Fault
	if !errors.As(err, &f) || f.Code != code {
		t.Errorf("%v, want %s", err, code)
	}
}

func TestASession(t *testing.T) {
	play(t, nil, func(s *stage) {
		s.is("a", false)
		x, err := s.Open(Login{Project: "p", Agent: "a", Passkey: "whatever", Caller: here})
		if err != nil || !strings.HasPrefix(x.Token, prefix) || len(x.Token) < len(prefix)+43 || x.Project != "p" || x.Agent != "a" || !x.Expires.Equal(time.Now().Add(expiry)) {
			t.Fatalf("%+v %v", x, err)
		}
		time.Sleep(expiry - time.Millisecond)
		again, err := s.Use(x.Token)
		if err != nil || again.Agent != "a" || again.Token != x.Token || !again.Expires.After(x.Expires) {
			t.Errorf("%+v %v", again, err)
		}
		time.Sleep(expiry - time.Millisecond)
		s.is("a", true)
		s.told()
		time.Sleep(time.Millisecond)
		s.is("a", false)
		_, err = s.Use(x.Token)
		fault(t, err, conversation.NoSession)
		fault(t, s.Close(x.Token), conversation.NoSession)
		_, _, err = s.Hold(x.Token)
		fault(t, err, conversation.NoSession)
		s.told("p/a")
		if strings.Contains(fmt.Sprint(err), x.Token) || len(s.all)+len(s.who)+len(s.going) > 0 {
			t.Errorf("%v; left behind are %v %v", err, s.all, s.who)
		}
		for _, token := range []string{"", "cms_", x.Token + "x", "cmp_" + x.Token[4:]} {
			_, err := s.Use(token)
			fault(t, err, conversation.NoSession)
		}
	})
}

// TestByTokenAlone: one process that ends ends its own session, and no other of the same agent (E12).
func TestByTokenAlone(t *testing.T) {
	play(t, nil, func(s *stage) {
		first, second, other := s.login("a"), s.login("a"), s.login("b")
		if err := s.Close(first); err != nil {
			t.Fatal(err)
		}
		s.told()
		s.is("a", true)
		if _, err := s.Use(second); err != nil {
			t.Error(err)
		}
		fault(t, s.Close(first), conversation.NoSession)
		if err := s.Close(second); err != nil {
			t.Fatal(err)
		}
		s.told("p/a")
		if _, err := s.Use(other); err != nil {
			t.Error(err)
		}
		x, err := s.Open(Login{Project: "q", Agent: "b", Caller: here})
		if err != nil || s.Close(other) != nil {
			t.Fatal(err)
		}
		s.told("p/b")
		if _, err := s.Use(x.Token); err != nil { // in another project
			t.Error(err)
		}
	})
}

// TestHold: a call that runs, such as a long poll, keeps its session however long it takes.
func TestHold(t *testing.T) {
	play(t, nil, func(s *stage) {
		token := s.login("a")
		_, one, err := s.Hold(token)
		if err != nil {
			t.Fatal(err)
		}
		_, two, _ := s.Hold(token)
		time.Sleep(3 * expiry)
		one()
		one() // once only
		time.Sleep(2 * expiry)
		s.told()
		s.is("a", true)
		two()
		time.Sleep(expiry - time.Millisecond)
		s.told()
		time.Sleep(time.Millisecond)
		s.told("p/a")

		token = s.login("a")
		_, release, _ := s.Hold(token)
		if err := s.Close(token); err != nil { // its agent says goodbye all the same
			t.Error(err)
		}
		s.told("p/a")
		release()
		time.Sleep(2 * expiry)
		s.told()
	})
}

func TestAssume(t *testing.T) {
	play(t, nil, func(s *stage) {
		s.Assume("p", "a")
		s.is("a", true)
		time.Sleep(expiry - time.Millisecond)
		s.Assume("p", "a") // it is assumed already
		s.told()
		time.Sleep(time.Millisecond)
		s.is("a", false)
		s.told("p/a")

		s.Assume("p", "a")
		token := s.login("a") // so it was here
		time.Sleep(time.Minute)
		if err := s.Close(token); err != nil {
			t.Fatal(err)
		}
		s.told("p/a")
		s.is("a", false)

		token = s.login("a")
		s.Assume("p", "a") // it is here
		if err := s.Close(token); err != nil {
			t.Fatal(err)
		}
		s.told("p/a")
		time.Sleep(2 * expiry)
		s.told()
	})
}

// TestWhoComesBackWaits: nothing that a new session takes part in is left by the old one.
func TestWhoComesBackWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		telling, told := make(chan struct{}), make(chan struct{})
		s := New(Config{Expiry: expiry, Random: func([]byte) {}, Gone: func(string, string) {
			telling <- struct{}{}
			<-told
		}})
		open := func() Session {
			x, err := s.Open(Login{Project: "p", Agent: "a", Caller: here})
			if err != nil {
				t.Error(err)
			}
			return x
		}
		x, closed, opened := open(), make(chan error), make(chan Session)
		go func() { closed <- s.Close(x.Token) }()
		<-telling
		go func() { opened <- open() }()
		synctest.Wait()
		select {
		case <-opened:
			t.Error("it is here again before all know that it was gone")
		default:
		}
		if s.Here("p", "a") {
			t.Error("it is here")
		}
		told <- struct{}{}
		if err := <-closed; err != nil {
			t.Error(err)
		}
		<-opened

		// Nor where Run is late: then who comes back sees to it.
		time.Sleep(2 * expiry)
		go func() { opened <- open() }()
		<-telling
		told <- struct{}{}
		<-opened
		if !s.Here("p", "a") {
			t.Error("it is not here")
		}
	})
}

// TestMost: where an agent has all it may have, one that is not used goes, and none that is.
func TestMost(t *testing.T) {
	play(t, nil, func(s *stage) {
		var all []string
		for range Most {
			all = append(all, s.login("a"))
			time.Sleep(time.Millisecond)
		}
		_, err := s.Open(Login{Project: "p", Agent: "a", Caller: here})
		if abi.CodeOf(err) != abi.CodeExhausted || !strings.Contains(err.Error(), "64") {
			t.Errorf("got %v", err)
		}
		s.login("b") // its own
		_, release, _ := s.Hold(all[0])
		time.Sleep(spare)
		for _, token := range all[2:] {
			if _, err := s.Use(token); err != nil {
				t.Fatal(err)
			}
		}
		s.login("a")
		_, err = s.Use(all[1])
		fault(t, err, conversation.NoSession)
		if _, err := s.Use(all[0]); err != nil {
			t.Errorf("a call ran: %v", err)
		}
		release()
		s.told()
		time.Sleep(2 * expiry)
		s.told("p/b", "p/a")
	})
}

// TestAtOnce is for the race detector: at the end all were told, and nothing is left behind.
func TestAtOnce(t *testing.T) {
	play(t, nil, func(s *stage) {
		var all sync.WaitGroup
		for n := range 8 {
			all.Go(func() {
				for range 20 {
					x, err := s.Open(Login{Project: "p", Agent: string(rune('a' + n%3)), Caller: here})
					if err != nil {
						t.Error(err)
						return
					}
					_, release, _ := s.Hold(x.Token)
					_, _ = s.Use(x.Token)
					time.Sleep(time.Duration(n) * time.Millisecond)
					if release(); n%2 == 0 {
						_ = s.Close(x.Token)
					}
				}
			})
		}
		all.Wait()
		time.Sleep(2 * expiry)
		synctest.Wait()
		if s.Here("p", "a") || len(s.all)+len(s.who)+len(s.going) > 0 {
			t.Errorf("left behind are %v %v", s.all, s.who)
		}
		for _, a := range []string{"p/a", "p/b", "p/c"} {
			if !slices.Contains(s.gone, a) {
				t.Errorf("%s is not told to be gone", a)
			}
		}
	})
}

// TestLeave: a program that has ended takes along the sessions that it opened, and neither older
// ones nor one in which a call runs.
func TestLeave(t *testing.T) {
	play(t, nil, func(s *stage) {
		s.Leave("p", "a", time.Now())
		old := s.login("a")
		time.Sleep(time.Second)
		began := time.Now()
		gone, waits := s.login("a"), s.login("a")
		_, release, err := s.Hold(waits)
		if err != nil {
			t.Fatal(err)
		}
		defer release()
		s.Leave("p", "a", began)
		if _, err := s.Use(gone); err == nil {
			t.Error("it outlives its program")
		}
		for _, x := range []string{old, waits} {
			if _, err := s.Use(x); err != nil {
				t.Error(err)
			}
		}
		s.is("a", true)
	})
}
