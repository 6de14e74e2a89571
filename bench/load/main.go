// Command load measures how many MCP tool calls a relay answers: chat-relay's
// server beside this file, or companiond. It opens a session on each of some
// connections, calls one tool in a closed loop, and prints one line of JSON.
//
// It calls nothing but loopback addresses, and stops by itself.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"net/netip"
	"net/url"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/companiond/companiond/bench/wire"
)

// The most that a run may ask for.
const (
	maxConns = 1024
	maxTime  = 5 * time.Minute
)

// stuck is how long after the end of a run its last calls may still take.
const stuck = time.Second

func main() { os.Exit(doMain(os.Args[1:], os.Stdout, os.Stderr)) }

// settings are a run's.
type settings struct {
	url    string
	tool   string
	bare   bool // without sessions: revision 2026-07-28
	amount int
	conns  int
	length time.Duration
	warm   time.Duration
}

// report is the line that is printed. Refused counts answers with success
// false: they are answers, but of another kind than one would measure.
type report struct {
	Tool     string  `json:"tool"`
	Era      string  `json:"era"`
	Conns    int     `json:"c"`
	Seconds  float64 `json:"seconds"`
	Requests int     `json:"requests"`
	Rate     float64 `json:"rps"`
	P50      float64 `json:"p50_ms"`
	P99      float64 `json:"p99_ms"`
	Errors   int     `json:"errors"`
	Refused  int     `json:"refused"`
}

func doMain(args []string, out, errOut io.Writer) int {
	var s settings
	f := flag.NewFlagSet("load", flag.ContinueOnError)
	f.SetOutput(errOut)
	f.StringVar(&s.url, "url", "http://127.0.0.1:3000/mcp", "the MCP `endpoint`, on this machine")
	f.StringVar(&s.tool, "tool", "status", "`name` of the tool to call: status, consume or history")
	f.BoolVar(&s.bare, "bare", false, "call without sessions, as revision "+wire.BareEra+" of MCP does; else as "+wire.Era)
	f.IntVar(&s.amount, "amount", 0, "`points` that consume offers")
	f.IntVar(&s.conns, "c", 16, "how many connections, each with a session")
	f.DurationVar(&s.length, "d", 3*time.Second, "how long to measure")
	f.DurationVar(&s.warm, "warm", time.Second, "how long to call before measuring")
	if err := f.Parse(args); err != nil {
		return 2
	}
	if err := s.check(f.NArg()); err != nil {
		fmt.Fprintln(errOut, "load:", err)
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	r, first, err := run(ctx, s)
	if err != nil {
		fmt.Fprintln(errOut, "load:", err)
		return 1
	}
	if err := json.NewEncoder(out).Encode(r); err != nil {
		fmt.Fprintln(errOut, "load:", err)
		return 1
	}
	if first != nil {
		fmt.Fprintln(errOut, "load: the first error:", first)
		return 1
	}
	return 0
}

func (s settings) check(rest int) error {
	switch {
	case rest > 0:
		return errors.New("no arguments are taken, only flags")
	case s.conns < 1 || s.conns > maxConns:
		return fmt.Errorf("-c: not within 1..%d", maxConns)
	case s.length <= 0 || s.length > maxTime:
		return fmt.Errorf("-d: not within 0..%v", maxTime)
	case s.warm < 0 || s.warm > maxTime:
		return fmt.Errorf("-warm: not within 0..%v", maxTime)
	}
	if _, err := newCall(s); err != nil {
		return err
	}
	u, err := url.Parse(s.url)
	if err != nil {
		return fmt.Errorf("-url: %w", err)
	}
	if u.Scheme != "http" {
		return fmt.Errorf("-url: %q is not http://", s.url)
	}
	if host := u.Hostname(); host != "localhost" && !loopback(host) {
		return fmt.Errorf("-url: %s is not a loopback address", host)
	}
	return nil
}

func (s settings) era() string {
	if s.bare {
		return wire.BareEra
	}
	return wire.Era
}

func loopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback()
}

// call is the body of a tools/call with an @ for the id. A consume has the id in
// its message as well, so that no two lines are alike.
type call string

func newCall(s settings) (call, error) {
	var args string
	switch s.tool {
	case "status", "history":
		args = `{}`
	case "consume":
		args = fmt.Sprintf(`{"amount":%d,"from":"load","message":"line @"}`, s.amount)
	default:
		return "", fmt.Errorf("-tool: %q is not status, consume or history", s.tool)
	}
	if s.bare {
		args += `,"_meta":` + wire.BareMeta("load")
	}
	return call(`{"jsonrpc":"2.0","id":@,"method":"tools/call","params":{"name":"` + s.tool + `","arguments":` + args + `}}`), nil
}

func (c call) body(id int64) []byte {
	return []byte(strings.ReplaceAll(string(c), "@", strconv.FormatInt(id, 10)))
}

// tally is what one session saw while it was measured.
type tally struct {
	took    []time.Duration
	errors  int
	refused int
	first   error // the first error, also of the warming up
}

// run gives what was measured, and the first error among the answers.
func run(ctx context.Context, s settings) (report, error, error) {
	body, err := newCall(s)
	if err != nil {
		return report{}, nil, err
	}
	sessions := make([]*session, s.conns)
	defer func() {
		for _, open := range sessions {
			if open != nil {
				open.close()
			}
		}
	}()
	for i := range sessions {
		if sessions[i], err = dial(ctx, s); err != nil {
			return report{}, nil, err
		}
	}

	from := time.Now().Add(s.warm)
	until := from.Add(s.length)
	calls, cancel := context.WithDeadline(ctx, until.Add(stuck))
	defer cancel()
	tallies := make([]tally, s.conns)
	var wg sync.WaitGroup
	for i, open := range sessions {
		// Ids are unique over all sessions: a server may mix them up.
		wg.Go(func() { tallies[i] = loop(calls, open, body, int64(i)+1, int64(s.conns), from, until) })
	}
	wg.Wait()
	if ctx.Err() != nil {
		return report{}, nil, errors.New("interrupted")
	}
	r, first := sum(s, tallies)
	return r, first, nil
}

// loop calls again and again until a time. A call counts that began and ended
// between from and until, and every failure since from.
func loop(ctx context.Context, s *session, body call, id, step int64, from, until time.Time) tally {
	var t tally
	for ; ctx.Err() == nil && time.Now().Before(until); id += step {
		ask := body.body(id)
		start := time.Now()
		refused, err := s.call(ctx, ask, id)
		end := time.Now()
		if err != nil && t.first == nil {
			t.first = err
		}
		if err != nil && !errors.Is(err, wire.ErrAnswer) {
			time.Sleep(10 * time.Millisecond) // nobody answers: do not spin
		}
		switch {
		case start.Before(from):
		case err != nil:
			t.errors++
		case !end.After(until):
			t.took = append(t.took, end.Sub(start))
			if refused {
				t.refused++
			}
		}
	}
	return t
}

func sum(s settings, tallies []tally) (report, error) {
	r := report{Tool: s.tool, Era: s.era(), Conns: s.conns, Seconds: s.length.Seconds()}
	var took []time.Duration
	var first error
	for _, t := range tallies {
		took = append(took, t.took...)
		r.Errors += t.errors
		r.Refused += t.refused
		if first == nil {
			first = t.first
		}
	}
	slices.Sort(took)
	r.Requests = len(took)
	r.Rate = round(float64(len(took))/s.length.Seconds(), 1)
	r.P50, r.P99 = percentile(took, 0.50), percentile(took, 0.99)
	if first == nil && len(took) == 0 {
		first = errors.New("no call was answered in time")
	}
	return r, first
}

// percentile gives the value that a share of all is not above, in ms.
func percentile(sorted []time.Duration, share float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	at := max(int(math.Ceil(share*float64(len(sorted))))-1, 0)
	return round(float64(sorted[at])/float64(time.Millisecond), 3)
}

func round(x float64, digits int) float64 {
	unit := math.Pow10(digits)
	return math.Round(x*unit) / unit
}
