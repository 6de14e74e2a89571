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
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/companiond/companiond/host/waittest"
	"github.com/companiond/companiond/plugins/chat/line"
	"github.com/companiond/companiond/plugins/chat/twitch"
)

// ircd is Debian's ngircd on loopback.
type ircd struct {
	t       *testing.T
	program string
	address string
	config  string
	cmd     *exec.Cmd
}

func startIRCD(t *testing.T) *ircd {
	t.Helper()
	program, err := exec.LookPath("ngircd")
	if err != nil {
		if program, err = exec.LookPath("/usr/sbin/ngircd"); err != nil {
			t.Skip("no ngircd: apt-get install ngircd")
		}
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := free.Addr().(*net.TCPAddr).Port
	free.Close()
	s := &ircd{t: t, program: program, address: fmt.Sprintf("127.0.0.1:%d", port), config: filepath.Join(t.TempDir(), "ngircd.conf")}
	text := fmt.Sprintf("[Global]\nName = tmi.twitch.tv\nInfo = test\nPassword = oauth:anonymous\nListen = 127.0.0.1\nPorts = %d\nServerUID = %d\nServerGID = %d\nMotdPhrase = hello\n"+
		"[Limits]\nMaxNickLength = 30\nMaxPenaltyTime = 0\nMaxConnectionsIP = 0\n[Options]\nIdent = no\nDNS = no\nPAM = no\nSyslogFacility = local7\n", port, os.Getuid(), os.Getgid())
	if err := os.WriteFile(s.config, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	s.start()
	t.Cleanup(s.kill)
	return s
}

func (s *ircd) start() {
	s.t.Helper()
	s.cmd = exec.Command(s.program, "-n", "-f", s.config)
	if err := s.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	waittest.Until(s.t, "ngircd listens", func() bool {
		conn, err := net.Dial("tcp", s.address)
		if err == nil {
			conn.Close()
		}
		return err == nil
	})
}

func (s *ircd) kill() {
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait()
}

// viewer writes in a channel.
type viewer struct {
	t    *testing.T
	conn net.Conn
	in   *bufio.Reader
}

func (s *ircd) viewer(nick, channel string) *viewer {
	s.t.Helper()
	conn, err := net.Dial("tcp", s.address)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { conn.Close() })
	v := &viewer{s.t, conn, bufio.NewReader(conn)}
	v.send("PASS oauth:anonymous", "NICK "+nick, "USER "+nick+" 0 * :"+nick)
	v.until(" 001 ")
	v.send("JOIN #" + channel)
	v.until(" 366 ")
	return v
}

func (v *viewer) send(lines ...string) {
	v.t.Helper()
	if _, err := v.conn.Write([]byte(strings.Join(lines, "\r\n") + "\r\n")); err != nil {
		v.t.Fatal(err)
	}
}

func (v *viewer) until(part string) {
	v.t.Helper()
	for {
		got, err := v.in.ReadString('\n')
		if err != nil {
			v.t.Fatalf("%v while waiting for %q", err, part)
		}
		if rest, ping := strings.CutPrefix(got, "PING "); ping {
			v.send("PONG " + rest)
		}
		if strings.Contains(got, part) {
			return
		}
	}
}

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
	s := startIRCD(t)
	r := run(t, twitch.Chat{Address: s.address, Plain: true, Channels: []string{"#VTuber", "second"}})
	r.joined(t)
	r.joined(t) // both channels
	ann := s.viewer("ann", "vtuber")
	for i := range 50 {
		ann.send(fmt.Sprintf("PRIVMSG #vtuber :line %d", i))
	}
	for i := range 50 {
		got := (<-r.events).Line
		if got == nil || got.Text != fmt.Sprint("line ", i) || got.Name != "ann" || got.Viewer != "ann" || got.Place != "vtuber" {
			t.Fatalf("line %d is %+v", i, got)
		}
	}
	s.viewer("bob", "second").send("PRIVMSG #second :\x01ACTION waves\x01")
	if got := (<-r.events).Line; got.Place != "second" || got.Text != "waves" {
		t.Errorf("the other channel: %+v", got)
	}
	r.end()
	if err := <-r.ended; !errors.Is(err, context.Canceled) {
		t.Errorf("ended by its context: %v", err)
	}
}

func TestNgircdIsKilled(t *testing.T) {
	s := startIRCD(t)
	chat := twitch.Chat{Address: s.address, Plain: true, Channels: []string{"vtuber"}}
	r := run(t, chat)
	r.joined(t)
	s.kill()
	if err := <-r.ended; err == nil {
		t.Error("the server was killed, and all is well")
	}
	if err := <-run(t, chat).ended; err == nil {
		t.Error("there is no server, and all is well")
	}
	s.start()
	again := run(t, chat)
	again.joined(t)
	s.viewer("ann", "vtuber").send("PRIVMSG #vtuber :still there?")
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
