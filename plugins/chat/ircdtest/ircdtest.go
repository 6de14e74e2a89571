// Package ircdtest starts Debian's IRC server ngircd on loopback for tests that read a chat, and plays viewers who write there.
// It is no Twitch: its lines have no tags.
package ircdtest

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Server is an ngircd that runs. Its Address is the same when it is started again.
type Server struct {
	Address string

	t       testing.TB
	program string
	config  string
	cmd     *exec.Cmd
}

// password is what those who read Twitch without an account say theirs is: this server takes no other.
const password = "oauth:anonymous"

const config = `[Global]
Name = tmi.twitch.tv
Info = test
MotdPhrase = hello
Password = %s
Listen = 127.0.0.1
Ports = %d
ServerUID = %d
ServerGID = %d
[Limits]
MaxNickLength = 30
MaxPenaltyTime = 0
MaxConnectionsIP = 0
[Options]
Ident = no
DNS = no
PAM = no
`

// Start starts a server that ends with the test, and skips the test where there is none to start.
func Start(t testing.TB) *Server {
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
	_ = free.Close() // the server takes it
	s := &Server{Address: fmt.Sprintf("127.0.0.1:%d", port), t: t, program: program, config: filepath.Join(t.TempDir(), "ngircd.conf")}
	if err := os.WriteFile(s.config, fmt.Appendf(nil, config, password, port, os.Getuid(), os.Getgid()), 0o644); err != nil {
		t.Fatal(err)
	}
	s.Again()
	t.Cleanup(s.Kill)
	return s
}

// Again starts the server once more after Kill.
func (s *Server) Again() {
	s.t.Helper()
	s.cmd = exec.Command(s.program, "-n", "-f", s.config)
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	s.cmd.Stderr = s.cmd.Stdout
	if err := s.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	said := bufio.NewScanner(out)
	for said.Scan() {
		if strings.Contains(said.Text(), "Now listening") {
			go func() { // so that it can go on printing
				for said.Scan() {
				}
			}()
			return
		}
	}
	s.t.Fatal("ngircd ended before it listened")
}

// Kill ends the server without a word.
func (s *Server) Kill() {
	_ = s.cmd.Process.Kill() // it may have ended
	_ = s.cmd.Wait()
}

// Viewer is somebody who writes in a channel.
type Viewer struct {
	t    testing.TB
	conn net.Conn
	in   *bufio.Reader
}

// Viewer has somebody come into a channel, who leaves with the test.
func (s *Server) Viewer(nick, channel string) *Viewer {
	s.t.Helper()
	conn, err := net.Dial("tcp", s.Address)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = conn.Close() })
	v := &Viewer{s.t, conn, bufio.NewReader(conn)}
	v.Send("PASS "+password, "NICK "+nick, "USER "+nick+" 0 * :"+nick)
	v.until(" 001 ")
	v.Send("JOIN #" + channel)
	v.until(" 366 ")
	return v
}

// Send sends lines of IRC.
func (v *Viewer) Send(lines ...string) {
	v.t.Helper()
	if _, err := v.conn.Write([]byte(strings.Join(lines, "\r\n") + "\r\n")); err != nil {
		v.t.Fatal(err)
	}
}

// until reads until a line has a part, and answers pings.
func (v *Viewer) until(part string) {
	v.t.Helper()
	for {
		got, err := v.in.ReadString('\n')
		if err != nil {
			v.t.Fatalf("%v while waiting for %q", err, part)
		}
		if rest, ping := strings.CutPrefix(got, "PING "); ping {
			v.Send("PONG " + rest)
		}
		if strings.Contains(got, part) {
			return
		}
	}
}
