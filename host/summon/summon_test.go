//go:build unix

package summon

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/companiond/companiond/host/logtest"
	"github.com/companiond/companiond/host/waittest"
)

// TestMain lets the test's own program be the agent's: its first argument says what it
// does, its second where it calls the test.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 {
		if act, ok := acts[os.Args[1]]; ok {
			if err := act(os.Args[2]); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
			return
		}
	}
	os.Exit(m.Run())
}

// report is what a program tells the test of itself.
type report struct {
	PID  int
	Args []string
	Env  []string
}

var acts = map[string]func(at string) error{
	// calls and stays until the test hangs up.
	"calls": func(at string) error { return call(at, os.Getpid()) },
	"fails": func(string) error { return errors.New("no luck today with cmp_abcdefghijklmnop") },
	"talks": func(at string) error {
		fmt.Println("hello")
		fmt.Println(strings.Repeat("あ", 1000) + "\ntoken=cms_0123456789abcdefghij.")
		for range 2 * maxLines {
			fmt.Fprintln(os.Stderr, "a\tcomplaint\x1b[2J")
		}
		return call(at, os.Getpid())
	},
	"is deaf": func(at string) error { // and so is its child
		signal.Ignore(syscall.SIGTERM)
		c := exec.Command(os.Args[0], "calls", at)
		if err := c.Start(); err != nil {
			return err
		}
		return c.Wait()
	},
	"says goodbye": func(at string) error {
		asked := make(chan os.Signal, 1)
		signal.Notify(asked, syscall.SIGTERM)
		go func() { _ = call(at, os.Getpid()) }()
		<-asked
		fmt.Println("goodbye")
		return nil
	},
}

func call(at string, pid int) error {
	c, err := net.Dial("tcp", at)
	if err != nil {
		return err
	}
	if err := json.NewEncoder(c).Encode(report{pid, os.Args[1:], os.Environ()}); err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, c)
	return err
}

// stage is a summoner that runs, and the programs that call.
type stage struct {
	*Summoner
	t     *testing.T
	log   logtest.Log
	door  net.Listener
	stop  context.CancelFunc
	ended chan error

	mu    sync.Mutex
	clock time.Time
}

func newStage(t *testing.T, change func(*Config)) *stage {
	t.Helper()
	door, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &stage{t: t, door: door, ended: make(chan error, 1), clock: time.Unix(0, 0)}
	c := Config{
		URL: "http://127.0.0.1:3000", MCP: "http://127.0.0.1:3000/mcp", Log: s.log.Logger(),
		Environ: []string{"PATH=/bin", "LC_ALL=C", "OPENAI_API_KEY=geheim", "COMPANIOND_TOKEN=geheim", "HOME=/h"},
	}
	for act := range acts {
		c.Agents = append(c.Agents, Agent{act, []string{os.Args[0], act, door.Addr().String()}})
	}
	c.Agents = append(c.Agents, Agent{"nobody", []string{"/there/is/no/such/program"}}, Agent{Name: "waits"})
	if change != nil {
		change(&c)
	}
	s.Summoner = New(c)
	s.now = func() time.Time {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.clock
	}
	ctx, cancel := context.WithCancel(t.Context())
	s.stop = cancel
	go func() { s.ended <- s.Run(ctx) }()
	t.Cleanup(func() { s.close() })
	return s
}

// close ends it all and waits for that.
func (s *stage) close() {
	s.stop()
	select {
	case err := <-s.ended:
		if err != nil {
			s.t.Error(err)
		}
		s.ended <- nil
	case <-time.After(waittest.Long):
		s.t.Error("it does not end")
	}
	_ = s.door.Close()
}

func (s *stage) pass(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clock = s.clock.Add(d)
}

// caller is a program that called.
type caller struct {
	report
	net.Conn
}

// calls waits for the next program.
func (s *stage) calls() caller {
	s.t.Helper()
	_ = s.door.(*net.TCPListener).SetDeadline(time.Now().Add(waittest.Long))
	c, err := s.door.Accept()
	if err != nil {
		s.t.Fatalf("nobody calls: %v\n%s", err, s.log.String())
	}
	s.t.Cleanup(func() { _ = c.Close() })
	line, err := bufio.NewReader(c).ReadBytes('\n')
	p := caller{Conn: c}
	if err != nil || json.Unmarshal(line, &p.report) != nil {
		s.t.Fatalf("%q %v", line, err)
	}
	return p
}

func (c caller) env(name string) string {
	for _, pair := range c.Env {
		if value, ok := strings.CutPrefix(pair, name+"="); ok {
			return value
		}
	}
	return ""
}

// quiet waits until no program runs.
func (s *stage) quiet() {
	s.t.Helper()
	waittest.Until(s.t, "no program runs", func() bool {
		s.Summoner.mu.Lock()
		defer s.Summoner.mu.Unlock()
		return len(s.running) == 0
	})
}

func (s *stage) invite(agent, conversation string) {
	s.Invite(Invitation{Project: "p", Agent: agent, Conversation: conversation})
}

func (s *stage) logs(words ...string) {
	s.t.Helper()
	for _, w := range words {
		if s.log.Count(w) == 0 {
			s.t.Errorf("missing %q in\n%s", w, s.log.String())
		}
	}
}

func TestInvited(t *testing.T) {
	s := newStage(t, nil)
	s.invite("waits", "conv_0") // has no program
	s.invite("calls", "conv_1")
	p := s.calls()
	want := []string{
		"COMPANIOND_AGENT=calls", "COMPANIOND_CONVERSATION=conv_1", "COMPANIOND_MCP_URL=http://127.0.0.1:3000/mcp", "COMPANIOND_PROJECT=p",
		"COMPANIOND_URL=http://127.0.0.1:3000", "HOME=/h", "LC_ALL=C", "PATH=/bin",
	}
	if slices.Sort(p.Env); !slices.Equal(p.Env, want) {
		t.Errorf("its environment is %q", p.Env)
	}
	if !slices.Equal(p.Args, []string{"calls", s.door.Addr().String()}) {
		t.Errorf("its arguments are %q", p.Args)
	}
	_ = p.Close()
	s.quiet()
	s.logs("an agent is started", "an agent's program has ended", "agent=calls", "conv_1")
	if strings.Contains(s.log.String(), "geheim") || strings.Contains(s.log.String(), "conv_0") {
		t.Error(s.log.String())
	}
}

// TestOneAtATime: whoever runs polls; what comes too late for that is asked about when it has
// ended, and nothing is started again by itself.
func TestOneAtATime(t *testing.T) {
	asked := make(chan string, 9)
	s := newStage(t, func(c *Config) {
		c.Wanted = func(i Invitation) bool {
			asked <- i.Conversation
			return i.Conversation == "conv_3"
		}
	})
	s.invite("calls", "conv_1")
	first := s.calls()
	s.invite("calls", "conv_2")
	s.Invite(Invitation{Project: "q", Agent: "calls", Conversation: "conv_q"}) // beside it
	q := s.calls()
	if q.env("COMPANIOND_PROJECT") != "q" || q.env("COMPANIOND_CONVERSATION") != "conv_q" {
		t.Errorf("got %q", q.Env)
	}
	_ = first.Close()
	if got := <-asked; got != "conv_2" {
		t.Errorf("asked about %s", got)
	}
	_ = q.Close()
	s.quiet()
	s.invite("calls", "conv_2")
	second := s.calls()
	s.invite("calls", "conv_2")
	s.invite("calls", "conv_3")
	_ = second.Close()
	third := s.calls()
	if got := <-asked; got != "conv_3" || third.env("COMPANIOND_CONVERSATION") != "conv_3" {
		t.Errorf("asked about %s, started for %q", got, third.Env)
	}
	_ = third.Close()
	s.quiet()
	if n := s.log.Count("an agent is started"); n != 4 || len(asked) > 0 {
		t.Errorf("%d were started, %d asked about\n%s", n, len(asked), s.log.String())
	}
}

// TestOften: an agent that breaks down is not started for ever.
func TestOften(t *testing.T) {
	s := newStage(t, nil)
	fail := func(n int) {
		for range n {
			s.invite("fails", "conv_1")
			s.quiet()
			s.pass(time.Second)
		}
	}
	fail(PerMinute + 5)
	if n := s.log.Count("an agent is started"); n != PerMinute || len(s.log.Warnings("6 times within a minute")) != 1 {
		t.Errorf("%d were started\n%s", n, s.log.String())
	}
	s.logs("ended, and not well", "no luck today with cmp_…")
	s.invite("nobody", "conv_1") // another agent is another
	s.quiet()
	if len(s.log.Warnings("could not be started")) != 1 {
		t.Error(s.log.String())
	}
	s.pass(time.Minute - time.Duration(PerMinute+5)*time.Second)
	fail(2) // the first of them a minute after the first, and then one more
	if n := s.log.Count("an agent is started"); n != PerMinute+3 {
		t.Errorf("%d were started\n%s", n, s.log.String())
	}
}

// TestMany: so many at once, whoever they are.
func TestMany(t *testing.T) {
	s := newStage(t, func(c *Config) {
		for n := range AtOnce + 1 {
			c.Agents = append(c.Agents, Agent{fmt.Sprint("many-", n), c.Agents[slices.IndexFunc(c.Agents, func(a Agent) bool { return a.Name == "calls" })].Start})
		}
	})
	var all []caller
	for n := range AtOnce + 1 {
		s.invite(fmt.Sprint("many-", n), "conv_1")
	}
	for range AtOnce {
		all = append(all, s.calls())
	}
	if len(s.log.Warnings("16 programs of agents run")) != 1 || s.log.Count("an agent is started") != AtOnce {
		t.Error(s.log.String())
	}
	_ = all[0].Close()
	waittest.Until(t, "one has ended", func() bool { return s.log.Count("has ended") == 1 })
	waittest.Until(t, "there is room", func() bool {
		s.invite("many-16", "conv_2")
		return s.log.Count("an agent is started") > AtOnce
	})
	if p := s.calls(); p.env("COMPANIOND_AGENT") != "many-16" {
		t.Errorf("got %q", p.Env)
	}
}

// TestTheEnd: no program outlives the daemon, whether it hears or not, nor what it started.
func TestTheEnd(t *testing.T) {
	s := newStage(t, nil)
	s.grace = waittest.Long
	s.invite("says goodbye", "conv_1")
	polite := s.calls()
	s.close()
	s.logs("line=goodbye", "was ended")
	s.invite("calls", "conv_2") // too late

	s = newStage(t, nil)
	s.grace = 50 * time.Millisecond
	s.invite("is deaf", "conv_1")
	deaf := s.calls()
	s.close()
	for _, p := range []caller{polite, deaf} {
		if _, err := p.Read(make([]byte, 1)); err == nil { // the system hung up
			t.Error("it lives")
		}
		waittest.Gone(t, p.PID)
	}
}

// TestWhatItSays: the log has it, short, without secrets, and not all.
func TestWhatItSays(t *testing.T) {
	s := newStage(t, nil)
	s.invite("talks", "conv_1")
	p := s.calls()
	waittest.Until(t, "the log is full", func() bool { return s.log.Count("an agent's program complains") >= maxLines })
	_ = p.Close()
	s.quiet()
	s.logs("level=DEBUG msg=\"an agent's program says\" agent=talks project=p line=hello", strings.Repeat("あ", maxLine)+"…", "token=cms_….", `level=INFO msg="an agent's program complains"`)
	got := s.log.String()
	if strings.Contains(got, "0123456789") || strings.Contains(got, strings.Repeat("あ", maxLine+1)) || strings.Contains(got, "\x1b") {
		t.Error(got)
	}
	if said, complained := s.log.Count("an agent's program says"), s.log.Count("an agent's program complains"); said != 3 || complained != maxLines {
		t.Errorf("it said %d lines and complained of %d", said, complained)
	}
}

func TestLinesOfAMinute(t *testing.T) {
	var log logtest.Log
	now := time.Unix(0, 0)
	v := &voice{now: func() time.Time { return now }}
	say := func(n int) {
		for range n {
			v.tell(log.Logger(), 0, "says", "x")
		}
	}
	say(maxLines + 7)
	now = now.Add(time.Minute)
	say(1)
	if n := log.Count("msg=says"); n != maxLines+1 || log.Count("left_out=7") != 1 {
		t.Errorf("%d lines\n%s", n, log.String())
	}
}
