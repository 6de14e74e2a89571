package twitch_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/companiond/companiond/plugins/chat/ircdtest"
	"github.com/companiond/companiond/plugins/chat/line"
	"github.com/companiond/companiond/plugins/chat/twitch"
)

// reading is a Chat that runs.
type reading struct {
	up     chan struct{}
	events chan line.Event
	ended  chan error
	end    context.CancelFunc
}

func run(t *testing.T, c twitch.Chat) *reading {
	ctx, cancel := context.WithCancel(t.Context())
	r := &reading{make(chan struct{}, 10), make(chan line.Event, 1000), make(chan error, 1), cancel}
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.ended <- c.Run(ctx, func() { r.up <- struct{}{} }, func(e line.Event) { r.events <- e })
	}()
	t.Cleanup(func() { cancel(); <-done })
	return r
}

// joined waits until a channel is joined.
func (r *reading) joined(t *testing.T) {
	t.Helper()
	select {
	case <-r.up:
	case err := <-r.ended:
		t.Fatalf("it ended: %v", err)
	}
}

func TestNgircd(t *testing.T) {
	s := ircdtest.Start(t)
	r := run(t, twitch.Chat{Address: s.Address, Plain: true, Channels: []string{"#VTuber", "second"}})
	r.joined(t)
	r.joined(t) // both channels
	ann := s.Viewer("ann", "vtuber")
	for i := range 50 {
		ann.Send(fmt.Sprintf("PRIVMSG #vtuber :line %d", i))
	}
	for i := range 50 {
		got := (<-r.events).Line
		if got == nil || got.Text != fmt.Sprint("line ", i) || got.Name != "ann" || got.Viewer != "ann" || got.Place != "vtuber" {
			t.Fatalf("line %d is %+v", i, got)
		}
	}
	s.Viewer("bob", "second").Send("PRIVMSG #second :\x01ACTION waves\x01")
	if got := (<-r.events).Line; got.Place != "second" || got.Text != "waves" {
		t.Errorf("the other channel: %+v", got)
	}
	r.end()
	if err := <-r.ended; !errors.Is(err, context.Canceled) {
		t.Errorf("ended by its context: %v", err)
	}
}

func TestNgircdIsKilled(t *testing.T) {
	s := ircdtest.Start(t)
	chat := twitch.Chat{Address: s.Address, Plain: true, Channels: []string{"vtuber"}}
	r := run(t, chat)
	r.joined(t)
	s.Kill()
	if err := <-r.ended; err == nil {
		t.Error("the server was killed, and all is well")
	}
	if err := <-run(t, chat).ended; err == nil {
		t.Error("there is no server, and all is well")
	}
	s.Again()
	again := run(t, chat)
	again.joined(t)
	s.Viewer("ann", "vtuber").Send("PRIVMSG #vtuber :still there?")
	if got := (<-again.events).Line; got.Text != "still there?" {
		t.Errorf("after a new start: %+v", got)
	}
}

// serve plays a server that says lines, and gives what the client said.
func serve(t *testing.T, listener net.Listener, say ...string) <-chan string {
	heard := make(chan string, 100)
	done := make(chan struct{})
	go func() {
		defer close(done)
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		in := bufio.NewScanner(conn)
		for in.Scan() {
			heard <- in.Text()
			if strings.HasPrefix(in.Text(), "NICK ") {
				_, _ = io.WriteString(conn, strings.Join(say, "\r\n")+"\r\n")
			}
		}
	}()
	t.Cleanup(func() { listener.Close(); <-done })
	return heard
}

func listen(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// TestLikeTwitch plays what Twitch says to somebody who reads: capabilities are acknowledged, lines have tags, there are pings.
func TestLikeTwitch(t *testing.T) {
	l := listen(t)
	heard := serve(t, l, ":tmi.twitch.tv CAP * ACK :twitch.tv/tags twitch.tv/commands", ":tmi.twitch.tv 001 justinfan1 :Welcome, GLHF!", ":justinfan1.tmi.twitch.tv 366 justinfan1 #vtuber :End of /NAMES list",
		tagged(ann, annFrom, "PRIVMSG #vtuber :hi"), "PING :tmi.twitch.tv", "@target-msg-id=b34 :tmi.twitch.tv CLEARMSG #vtuber :hi", ":tmi.twitch.tv RECONNECT")
	r := run(t, twitch.Chat{Address: l.Addr().String(), Plain: true, Channels: []string{"vtuber"}})
	r.joined(t)
	if got := (<-r.events).Line; got.Name != "アン" {
		t.Errorf("the line: %+v", got)
	}
	if got := (<-r.events).Gone; got == nil || got.ID != "b34" {
		t.Errorf("the deletion: %+v", got)
	}
	if err := <-r.ended; err == nil || !strings.Contains(err.Error(), "connect anew") {
		t.Errorf("asked to connect anew: %v", err)
	}
	var all []string
	for len(all) < 5 {
		all = append(all, <-heard)
	}
	if got := strings.Join(all, "\n"); !strings.Contains(got, "CAP REQ :twitch.tv/tags twitch.tv/commands") || !strings.Contains(got, "NICK justinfan") || !strings.HasSuffix(got, "JOIN #vtuber\nPONG :tmi.twitch.tv") || strings.Contains(got, "USER") {
		t.Errorf("the client said:\n%s", got)
	}
}

func TestRefusals(t *testing.T) {
	for name, c := range map[string]struct{ say, want string }{
		"no login": {":tmi.twitch.tv NOTICE * :Login authentication failed", "authentication failed"},
		"an error": {"ERROR :Closing link", "Closing link"},
		"taken":    {":x 433 * justinfan1 :Nickname already in use", "is taken"},
		"too long": {strings.Repeat("x", 20<<10), "a line of more than"},
	} {
		l := listen(t)
		serve(t, l, c.say)
		if err := <-run(t, twitch.Chat{Address: l.Addr().String(), Plain: true, Channels: []string{"vtuber"}}).ended; err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTLS(t *testing.T) {
	web := httptest.NewTLSServer(http.NotFoundHandler())
	defer web.Close()
	l := tls.NewListener(listen(t), &tls.Config{Certificates: web.TLS.Certificates})
	serve(t, l, ":tmi.twitch.tv 001 justinfan1 :Welcome, GLHF!", ":x 366 justinfan1 #vtuber :End", tagged(ann, annFrom, "PRIVMSG #vtuber :hi"))
	known := x509.NewCertPool()
	known.AddCert(web.Certificate())
	r := run(t, twitch.Chat{Address: l.Addr().String(), TLS: &tls.Config{RootCAs: known}, Channels: []string{"vtuber"}})
	r.joined(t)
	if got := (<-r.events).Line; got.Text != "hi" {
		t.Errorf("over TLS: %+v", got)
	}
	other := tls.NewListener(listen(t), &tls.Config{Certificates: web.TLS.Certificates})
	serve(t, other)
	if err := <-run(t, twitch.Chat{Address: other.Addr().String(), Channels: []string{"vtuber"}}).ended; err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("a certificate of nobody's: %v", err)
	}
}

// TestDialIsGivenUp holds that a server that accepts and says nothing keeps nobody once the context ends.
func TestDialIsGivenUp(t *testing.T) {
	l := listen(t)
	heard := serve(t, l)
	r := run(t, twitch.Chat{Address: l.Addr().String(), Plain: true, Channels: []string{"vtuber"}})
	<-heard
	r.end()
	select {
	case err := <-r.ended:
		if !errors.Is(err, context.Canceled) {
			t.Errorf("given up: %v", err)
		}
	case <-time.After(time.Minute):
		t.Fatal("it goes on")
	}
}
