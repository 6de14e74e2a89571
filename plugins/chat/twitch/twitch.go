// Package twitch reads the chat of channels of Twitch over IRC, as nobody in particular: no account is needed, and nothing is
// ever written there. The library go-twitch-irc says how lines are to be read; the connection is kept here, for it has to end with a
// context, to take no endless line, and to be tried again no faster than a rule says.
//
// The package picks nothing, and knows no companion.
package twitch

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strings"
	"time"

	"github.com/companiond/companiond/plugins/chat/line"
)

// Address is where Twitch's chat is, with TLS.
const Address = "irc.chat.twitch.tv:6697"

// MaxChannels is how many channels may be joined at once: as many as Twitch lets somebody join in ten seconds.
const MaxChannels = 20

// How long things may take.
const (
	dialing  = 10 * time.Second
	writing  = 10 * time.Second
	silence  = 6 * time.Minute // Twitch pings about every five
	maxLine  = 16 << 10        // bytes: tags have at most 8 KiB, what is said 512
	greeting = 15 * time.Second
)

// Chat reads channels.
type Chat struct {
	Address  string      // host and port; Address where it is empty
	Plain    bool        // no TLS, for a server on the same machine
	TLS      *tls.Config // nil is the usual one
	Channels []string    // names, with # or without, at most MaxChannels
}

// Run reads until ctx ends or the connection does, and says why. Up is called when the channels are joined, tell with each
// thing that happens there, one after the other.
func (c Chat) Run(ctx context.Context, up func(), tell func(line.Event)) error {
	conn, err := c.dial(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	s := session{conn: conn, channels: c.Channels, up: up, tell: tell}
	err = s.read()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

func (c Chat) dial(ctx context.Context) (net.Conn, error) {
	address := c.Address
	if address == "" {
		address = Address
	}
	dialer := &net.Dialer{Timeout: dialing}
	if c.Plain {
		return dialer.DialContext(ctx, "tcp", address)
	}
	ctx, cancel := context.WithTimeout(ctx, dialing)
	defer cancel()
	return (&tls.Dialer{NetDialer: dialer, Config: c.TLS}).DialContext(ctx, "tcp", address)
}

// session is one connection.
type session struct {
	conn     net.Conn
	channels []string
	up       func()
	tell     func(line.Event)
	welcome  bool
}

var (
	errReconnect = errors.New("the server asks to connect anew")
	errLong      = fmt.Errorf("a line of more than %d bytes", maxLine)
	errGreeting  = fmt.Errorf("the server did not welcome us within %v; is it an IRC server?", greeting)
)

func (s *session) read() error {
	nick := fmt.Sprintf("justinfan%d", 10000+rand.IntN(90000)) // a name of this form needs no password
	if err := s.write("CAP REQ :twitch.tv/tags twitch.tv/commands", "PASS oauth:anonymous", "NICK "+nick); err != nil {
		return err
	}
	_ = s.conn.SetReadDeadline(time.Now().Add(greeting))
	lines := bufio.NewReaderSize(s.conn, maxLine)
	for {
		raw, err := lines.ReadSlice('\n')
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			return errLong
		case err != nil && !s.welcome && errors.As(err, new(net.Error)):
			return errGreeting
		case err != nil:
			return err
		}
		if s.welcome {
			_ = s.conn.SetReadDeadline(time.Now().Add(silence))
		}
		if err := s.hear(strings.TrimRight(string(raw), "\r\n"), nick); err != nil {
			return err
		}
	}
}

// hear answers what keeps a connection, and tells of the rest.
func (s *session) hear(raw, nick string) error {
	switch command, rest := split(raw); command {
	case "PING":
		return s.write("PONG " + rest)
	case "RECONNECT":
		return errReconnect
	case "CAP": // an IRC server of another kind has no tags, and waits for the end of the talk about them
		if strings.Contains(rest, " NAK") {
			return s.write("USER "+nick+" 0 * :"+nick, "CAP END")
		}
	case "433": // the name is taken
		return fmt.Errorf("the name %s is taken", nick)
	case "001":
		s.welcome = true
		_ = s.conn.SetReadDeadline(time.Now().Add(silence))
		return s.write(join(s.channels))
	case "366": // the end of a channel's list of names: it is joined
		s.up()
	case "NOTICE", "ERROR":
		if strings.Contains(rest, "authentication failed") || strings.Contains(rest, "Improperly formatted auth") || command == "ERROR" {
			return fmt.Errorf("the server says %q", line.Plain(rest))
		}
	default:
		for _, e := range Events(raw) {
			s.tell(e)
		}
	}
	return nil
}

func (s *session) write(lines ...string) error {
	_ = s.conn.SetWriteDeadline(time.Now().Add(writing))
	_, err := s.conn.Write([]byte(strings.Join(lines, "\r\n") + "\r\n"))
	return err
}

func join(channels []string) string {
	var names []string
	for _, c := range channels {
		names = append(names, "#"+Channel(c))
	}
	return "JOIN " + strings.Join(names, ",")
}

// Channel gives the name of a channel as it is in chat, of what somebody wrote.
func Channel(name string) string {
	return strings.ToLower(strings.TrimPrefix(strings.TrimSpace(name), "#"))
}

// split gives the command of an IRC line, and what is behind it.
func split(raw string) (command, rest string) {
	for _, prefix := range []string{"@", ":"} {
		if strings.HasPrefix(raw, prefix) {
			_, raw, _ = strings.Cut(raw, " ")
			raw = strings.TrimLeft(raw, " ")
		}
	}
	command, rest, _ = strings.Cut(raw, " ")
	return command, rest
}
