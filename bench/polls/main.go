// Command polls measures conversations between agents: companiond's, or those of the servers on
// Node beside it. It opens some, in each of which both members wait in long polls, sends messages
// at a steady rate, each of which has to come to the other member once, ends the conversations,
// and prints one line of JSON.
//
// It calls nothing but loopback addresses, and stops by itself.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/netip"
	"net/url"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// The most that a run may ask for.
const (
	maxConversations = 5000
	maxRate          = 2000
	maxTime          = 5 * time.Minute
)

// maxTurns is how many messages a conversation may have; the last one would end it.
const maxTurns = 40

// stuck is how long the last messages of a run, and the ends of its conversations, may take.
const stuck = 20 * time.Second

func main() { os.Exit(doMain(os.Args[1:], os.Stdout, os.Stderr)) }

// settings are a run's.
type settings struct {
	url           string
	project       string
	bare          bool // without MCP sessions: revision 2026-07-28
	conversations int
	rate          float64 // messages a second in all
	poll          time.Duration
	pid           int
	length        time.Duration
	warm          time.Duration
	settle        time.Duration
	stuck         time.Duration
}

// report is the line that is printed. Woke is from the call of send_message until the partner's poll
// has returned, text until the partner has the words, answer until send_message has its own answer.
type report struct {
	Era           string  `json:"era"`
	Conversations int     `json:"conversations"`
	Setup         float64 `json:"setup_s"`
	Seconds       float64 `json:"seconds"`
	Messages      int     `json:"messages"`
	Rate          float64 `json:"per_second"`
	WokeP50       float64 `json:"woke_p50_ms"`
	WokeP99       float64 `json:"woke_p99_ms"`
	TextP50       float64 `json:"text_p50_ms"`
	TextP99       float64 `json:"text_p99_ms"`
	AnswerP50     float64 `json:"answer_p50_ms"`
	AnswerP99     float64 `json:"answer_p99_ms"`
	LateP99       float64 `json:"late_p99_ms"` // by which this program called later than it should
	CPU           float64 `json:"cpu_us"`      // of the server, a message
	Before        float64 `json:"rss_mib"`     // of the server, when nobody was there
	Open          float64 `json:"open_mib"`    // all conversations are open
	Waiting       float64 `json:"waiting_mib"` // and all polls wait
	Used          float64 `json:"used_mib"`    // at the end of the messages
	PollKiB       float64 `json:"poll_kib"`    // from Open to Waiting, a poll
	MemberKiB     float64 `json:"member_kib"`  // from Before to Waiting, a poll
	UsedKiB       float64 `json:"used_kib"`    // from Before to Used, a poll
}

func doMain(args []string, out, errOut io.Writer) int {
	s := settings{stuck: stuck}
	var toml string
	f := flag.NewFlagSet("polls", flag.ContinueOnError)
	f.SetOutput(errOut)
	f.StringVar(&s.url, "url", "http://127.0.0.1:3000/mcp", "the MCP `endpoint`, on this machine")
	f.StringVar(&s.project, "project", "bench", "`name` of the project of the agents")
	f.BoolVar(&s.bare, "bare", false, "call without MCP sessions, as the newest revision does")
	f.IntVar(&s.conversations, "n", 1000, "how many conversations, of two members each")
	f.Float64Var(&s.rate, "rate", 200, "messages a second in all")
	f.DurationVar(&s.poll, "poll", 45*time.Second, "how long a poll waits, in whole seconds")
	f.IntVar(&s.pid, "pid", 0, "the server's process, for its CPU time and memory")
	f.DurationVar(&s.length, "d", 30*time.Second, "how long to measure")
	f.DurationVar(&s.warm, "warm", 5*time.Second, "how long to send before measuring")
	f.DurationVar(&s.settle, "settle", 3*time.Second, "how long all wait before the memory is looked at")
	f.StringVar(&toml, "toml", "", "write companiond's configuration for a run, to listen at this `address`, and end")
	if err := f.Parse(args); err != nil {
		return 2
	}
	do := func() error { return measure(s, out) }
	if toml != "" {
		do = func() error { return configure(out, s, toml) }
		s.length, s.warm = 1, 0 // of no run
	}
	if err := s.check(f.NArg()); err != nil {
		fmt.Fprintln(errOut, "polls:", err)
		return 2
	}
	if err := do(); err != nil {
		fmt.Fprintln(errOut, "polls:", err)
		return 1
	}
	return 0
}

func measure(s settings, out io.Writer) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	r, err := run(ctx, s)
	if err != nil {
		return err
	}
	return json.NewEncoder(out).Encode(r)
}

func (s settings) check(rest int) error {
	turns := s.rate * (s.warm + s.length).Seconds() / float64(max(s.conversations, 1))
	switch {
	case rest > 0:
		return errors.New("no arguments are taken, only flags")
	case s.conversations < 1 || s.conversations > maxConversations:
		return fmt.Errorf("-n: not within 1..%d", maxConversations)
	case !(s.rate > 0 && s.rate <= maxRate):
		return fmt.Errorf("-rate: not within 0..%d", maxRate)
	case s.poll < time.Second || s.poll > 45*time.Second:
		return errors.New("-poll: not within 1s..45s")
	case s.length <= 0 || s.length > maxTime:
		return fmt.Errorf("-d: not within 0..%v", maxTime)
	case s.warm < 0 || s.warm > maxTime:
		return fmt.Errorf("-warm: not within 0..%v", maxTime)
	case s.settle < 0 || s.settle > time.Minute:
		return fmt.Errorf("-settle: not within 0..%v", time.Minute)
	case turns > maxTurns-2:
		return fmt.Errorf("-d: each conversation would have %.0f messages, and %d end it: shorter, slower, or more conversations", turns, maxTurns)
	}
	u, err := url.Parse(s.url)
	if err != nil {
		return fmt.Errorf("-url: %w", err)
	}
	if at, err := netip.ParseAddrPort(u.Host); u.Scheme != "http" || err != nil || !at.Addr().IsLoopback() {
		return fmt.Errorf("-url: %q is not http://, a loopback address and a port", s.url)
	}
	return nil
}

// configure writes a configuration of companiond with the agents and the limits that a run needs.
func configure(out io.Writer, s settings, listen string) error {
	w := bufio.NewWriter(out)
	fmt.Fprintf(w, "[door]\nlisten = %q\nmax_clients = %d\nmax_rooms = %d\n[project.%s]\nagents = [\n", listen, 6*s.conversations+64, 2*s.conversations+64, s.project)
	for i := range 2 * s.conversations {
		fmt.Fprintf(w, "  %q,\n", agentID(i))
	}
	fmt.Fprint(w, "]\n")
	for i := range 2 * s.conversations {
		fmt.Fprintf(w, "[agent.%s]\ntype = \"ai\"\n", agentID(i))
	}
	return w.Flush()
}

func agentID(i int) string { return fmt.Sprintf("agent-%d", i+1) }
