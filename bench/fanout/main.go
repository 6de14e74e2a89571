// Command fanout measures how a server gives messages to many WebSockets: companiond,
// or ws-server.mjs beside it. It connects some clients, posts messages, each of which has
// to come to every client before the next of the same poster, and prints one line of JSON.
//
// It calls nothing but loopback addresses, and stops by itself.
package main

import (
	"cmp"
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
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/companiond/companiond/bench/usage"
)

// The most that a run may ask for.
const (
	maxClients = 10000
	maxOnWay   = 64
	maxSize    = 16 << 10
	maxTime    = 5 * time.Minute
)

// stuck is how long a message may take to come to all.
const stuck = 10 * time.Second

func main() { os.Exit(doMain(os.Args[1:], os.Stdout, os.Stderr)) }

// settings are a run's.
type settings struct {
	url     string
	post    string // the path that takes messages
	body    string // of a message, with an @ for the text
	clients int
	stalled int // clients besides, that read nothing
	onWay   int
	size    int
	pid     int
	length  time.Duration
	warm    time.Duration
}

// report is the line that is printed. A delivery is one message at one client. Late is
// from the beginning of the post to the arrival.
type report struct {
	Clients    int     `json:"clients"`
	Stalled    int     `json:"stalled"`
	OnWay      int     `json:"on_way"`
	Seconds    float64 `json:"seconds"`
	Messages   int     `json:"messages"`
	Deliveries int     `json:"deliveries"`
	Rate       float64 `json:"per_second"`
	P50        float64 `json:"p50_ms"`
	P99        float64 `json:"p99_ms"`
	CPU        float64 `json:"cpu_us"`   // of the server, a delivery
	Memory     float64 `json:"rss_mib"`  // of the server, at the end
	Grown      float64 `json:"more_mib"` // than before there were clients
	Left       int     `json:"stalled_left"`
}

func doMain(args []string, out, errOut io.Writer) int {
	var s settings
	f := flag.NewFlagSet("fanout", flag.ContinueOnError)
	f.SetOutput(errOut)
	f.StringVar(&s.url, "url", "http://127.0.0.1:3000", "the server's `address`, on this machine")
	f.StringVar(&s.post, "post", "/v1/rooms/main/messages", "the `path` that takes messages")
	f.StringVar(&s.body, "body", `{"from":"load","text":"@"}`, "a message as `JSON`, with an @ for its text")
	f.IntVar(&s.clients, "n", 500, "how many WebSockets")
	f.IntVar(&s.stalled, "stalled", 0, "how many more that read nothing")
	f.IntVar(&s.onWay, "way", 1, "how many messages are on the way at once")
	f.IntVar(&s.size, "size", 64, "length of a text in `bytes`")
	f.IntVar(&s.pid, "pid", 0, "the server's process, for its CPU time and memory")
	f.DurationVar(&s.length, "d", 3*time.Second, "how long to measure")
	f.DurationVar(&s.warm, "warm", time.Second, "how long to post before measuring")
	if err := f.Parse(args); err != nil {
		return 2
	}
	if err := s.check(f.NArg()); err != nil {
		fmt.Fprintln(errOut, "fanout:", err)
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	r, err := run(ctx, s)
	if err == nil {
		err = json.NewEncoder(out).Encode(r)
	}
	if err != nil {
		fmt.Fprintln(errOut, "fanout:", err)
		return 1
	}
	return 0
}

func (s settings) check(rest int) error {
	switch {
	case rest > 0:
		return errors.New("no arguments are taken, only flags")
	case s.clients < 1 || s.clients > maxClients:
		return fmt.Errorf("-n: not within 1..%d", maxClients)
	case s.stalled < 0 || s.stalled > maxClients:
		return fmt.Errorf("-stalled: not within 0..%d", maxClients)
	case s.onWay < 1 || s.onWay > maxOnWay:
		return fmt.Errorf("-way: not within 1..%d", maxOnWay)
	case s.size < minSize || s.size > maxSize:
		return fmt.Errorf("-size: not within %d..%d", minSize, maxSize)
	case s.length <= 0 || s.length > maxTime:
		return fmt.Errorf("-d: not within 0..%v", maxTime)
	case s.warm < 0 || s.warm > maxTime:
		return fmt.Errorf("-warm: not within 0..%v", maxTime)
	case strings.Count(s.body, "@") != 1:
		return errors.New("-body: must have one @")
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

// run connects, posts, and gives what was measured.
func run(ctx context.Context, s settings) (report, error) {
	before, err := usage.Of(s.pid)
	if err != nil {
		return report{}, err
	}
	m := newMeter(s.clients)
	var reading sync.WaitGroup
	clients, err := connect(ctx, s)
	defer func() {
		for _, c := range clients {
			c.close()
		}
		reading.Wait()
	}()
	if err != nil {
		return report{}, err
	}
	for i, c := range clients[:s.clients] {
		reading.Go(func() { m.end(c.read(func(n int64) { m.came(i, n) })) })
	}

	from := time.Now().Add(s.warm)
	until := from.Add(s.length)
	posts, cancel := context.WithDeadline(ctx, until.Add(stuck))
	defer cancel()
	var used usage.Usage
	var posting sync.WaitGroup
	posting.Go(func() {
		select {
		case <-time.After(time.Until(from)):
			used, _ = usage.Of(s.pid) // it was there before, and is looked at again
		case <-posts.Done():
		}
	})
	for range s.onWay {
		posting.Go(func() {
			if err := post(posts, s, m, until); err != nil {
				m.end(err)
			}
		})
	}
	posting.Wait()
	after, err := usage.Of(s.pid)
	if ctx.Err() != nil {
		return report{}, errors.New("interrupted")
	}
	if err := cmp.Or(m.wrong(), err); err != nil {
		return report{}, err
	}
	r := m.sum(from, time.Now())
	r.Clients, r.Stalled, r.OnWay = s.clients, s.stalled, s.onWay
	if r.Deliveries > 0 {
		r.CPU = (after.CPU - used.CPU).Seconds() * 1e6 / float64(r.Deliveries)
	}
	r.Memory, r.Grown = after.Memory, after.Memory-before.Memory
	r.Left = left(clients[s.clients:])
	return r, nil
}

// connect opens all connections. With an error it gives those that it has opened.
func connect(ctx context.Context, s settings) (clients []*client, err error) {
	for i := range s.clients + s.stalled {
		c, err := dial(ctx, s.url)
		if err != nil {
			return clients, fmt.Errorf("client %d: %w", i+1, err)
		}
		clients = append(clients, c)
	}
	return clients, nil
}

// left counts the clients whose connections the server has not ended.
func left(clients []*client) (n int) {
	open := make(chan bool)
	for _, c := range clients {
		go func() { open <- c.open() }()
	}
	for range clients {
		if <-open {
			n++
		}
	}
	return n
}
