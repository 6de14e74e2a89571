// Package playout is the voice of a room's companions, for tools: a client of GET /v1/actions that has the sound of each
// part of a line played when its turn comes, tells the room so, and falls silent when the line ends.
//
// It makes no sound itself, serves nobody, and chooses neither what is said nor when.
package playout

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/speech"
)

// Client is the voice of the companions in a room, or of one of them.
type Client struct {
	// URL is the daemon's, "http://127.0.0.1:3000".
	URL string
	// Header goes with every request, an Authorization for example.
	Header http.Header
	// Room is its name, empty for the companion's home. Companion is empty for all there.
	Room, Companion string
	// Play plays a WAV, and returns when it has sounded, or when ctx ends, and then at once.
	Play func(ctx context.Context, wav []byte) error
	// Dial makes connections. Nil means a net.Dialer.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
	// Connected is told that the connection is there. Nil means nobody is told.
	Connected func()
	// Retry is told why the connection was lost or could not be made, and how long it waits now. Nil means nobody is told.
	Retry func(err error, wait time.Duration)
	// Wrong is told why a part of a companion's line has no sound, or, with no companion, what the daemon has
	// refused. Nil means nobody is told.
	Wrong func(companion string, why error)
}

// How long a client waits before it connects again, the first time and at most; how long the daemon, which pings every
// 27 s, may be silent, and how long it may take to take a word or to give a sound.
const (
	firstWait = 250 * time.Millisecond
	lastWait  = 3 * time.Second
	patience  = 60 * time.Second
	prompt    = 10 * time.Second
)

const (
	maxFrame = 16 << 20
	maxFails = 3 // that Play fails so often in a row ends Run
)

// Run plays what is said from now on, until ctx ends. Over a lost connection it goes on with the part that sounds, connects
// again, and goes on where it was.
//
// # Errors
//
// It returns ctx's error when ctx ends, an [*abi.Error] when the daemon refuses in a way that will not change, at first also
// where somebody is the voice already ([abi.CodeConflict]), and what Play has failed with three times in a row.
func (c Client) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	p := &player{Client: c, ctx: ctx, events: make(chan func(), 16)}
	p.mouth.on = p
	defer p.busy.Wait()
	defer cancel()
	defer p.hush()
	wait := firstWait
	for {
		before := p.seen
		err := p.once()
		var final *finalError
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.As(err, &final):
			return final.err
		case p.seen > before:
			wait = firstWait
		}
		if c.Retry != nil {
			c.Retry(err, wait)
		}
		if err := p.pass(wait); err != nil {
			return err
		}
		wait = min(2*wait, lastWait)
	}
}

// finalError is an error that connecting again cannot help.
type finalError struct{ err error }

func (f *finalError) Error() string { return f.err.Error() }

// player is a client that runs. Run's goroutine alone has its fields, and runs what comes in events.
type player struct {
	Client
	ctx    context.Context
	events chan func()
	busy   sync.WaitGroup

	mouth mouth
	conn  *websocket.Conn // nil: there is none
	seen  uint64          // the seq of the newest frame
	been  bool            // it was connected before
	fails int             // of Play, in a row
	ends  context.CancelFunc
	fatal error
}

// pass lets d pass, while what sounds goes on.
func (p *player) pass(d time.Duration) error {
	over := time.NewTimer(d)
	defer over.Stop()
	for {
		select {
		case <-p.ctx.Done():
			return p.ctx.Err()
		case <-over.C:
			return p.fatal
		case f := <-p.events:
			f()
		}
	}
}

// once connects and plays until the connection ends.
func (p *player) once() error {
	conn, err := p.connect()
	if err != nil {
		return err
	}
	p.conn, p.been = conn, true
	defer func() { p.conn = nil }()
	defer conn.Close()
	defer func() {
		_ = conn.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(websocket.CloseNormalClosure, ""), time.Now().Add(time.Second))
	}()
	if p.Connected != nil {
		p.Connected()
	}
	p.mouth.again()
	frames, lost := make(chan frame), make(chan error, 1)
	gone := make(chan struct{})
	defer close(gone)
	p.busy.Go(func() { lost <- read(conn, frames, gone) })
	for {
		select {
		case <-p.ctx.Done():
			return p.ctx.Err()
		case err := <-lost:
			return err
		case f := <-p.events:
			f()
		case f := <-frames:
			p.seen = max(p.seen, f.Seq)
			if f.Error != nil {
				p.wrong("", f.Error.Message)
				continue
			}
			p.mouth.take(f)
		}
		if p.fatal != nil {
			return &finalError{p.fatal}
		}
	}
}

// read reads frames until the connection ends.
func read(conn *websocket.Conn, frames chan<- frame, gone <-chan struct{}) error {
	conn.SetReadLimit(maxFrame)
	pong := conn.PingHandler()
	conn.SetPingHandler(func(data string) error {
		_ = conn.SetReadDeadline(time.Now().Add(patience))
		return pong(data)
	})
	for {
		_ = conn.SetReadDeadline(time.Now().Add(patience))
		_, b, err := conn.ReadMessage()
		if err != nil {
			return fmt.Errorf("read what is said: %w", err)
		}
		var f frame
		if err := json.Unmarshal(b, &f); err != nil {
			continue // an action whose parameters are no speech's
		}
		select {
		case frames <- f:
		case <-gone:
			return nil
		}
	}
}

// connect connects: in the middle of a line behind what was read of it, and else to what is said from now on.
func (p *player) connect() (*websocket.Conn, error) {
	at, err := url.Parse(p.URL)
	if err != nil || at.Scheme != "http" && at.Scheme != "https" || at.Host == "" {
		return nil, &finalError{abi.Errorf(abi.CodeInvalid, "url: %q is not http://host:port", p.URL)}
	}
	asks := url.Values{"playback": {"1"}, "sounds": {"1"}, "answers": {"0"}}
	if p.Room != "" {
		asks.Set("room", p.Room)
	}
	if p.Companion != "" {
		asks.Set("companion", p.Companion)
	}
	if p.mouth.line != nil {
		asks.Set("since", strconv.FormatUint(p.seen, 10))
	}
	at = at.JoinPath("v1", "actions")
	at.Scheme, at.RawQuery = strings.Replace(at.Scheme, "http", "ws", 1), asks.Encode()
	d := websocket.Dialer{Proxy: http.ProxyFromEnvironment, NetDialContext: p.Dial, HandshakeTimeout: prompt}
	type dialled struct {
		conn   *websocket.Conn
		answer *http.Response
		err    error
	}
	done := make(chan dialled, 1)
	go func() { // its own time bounds it
		conn, answer, err := d.DialContext(p.ctx, at.String(), p.Header)
		done <- dialled{conn, answer, err}
	}()
	for {
		select {
		case f := <-p.events: // what sounds goes on
			f()
		case c := <-done:
			if c.err == nil {
				return c.conn, nil
			}
			if c.answer == nil {
				return nil, fmt.Errorf("connect to %s: %w", at.Host, c.err)
			}
			return nil, p.refused(c.answer)
		}
	}
}

// refused makes an error of an answer that is no connection.
func (p *player) refused(answer *http.Response) error {
	var problem struct {
		Code   abi.Code
		Detail string
	}
	body, _ := io.ReadAll(io.LimitReader(answer.Body, 64<<10))
	known := abi.Errorf(abi.CodeUnavailable, "the server answered %s", answer.Status)
	if json.Unmarshal(body, &problem) == nil && problem.Code != "" {
		known = abi.Errorf(problem.Code, "%s", problem.Detail)
	}
	switch answer.StatusCode {
	case http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusMethodNotAllowed:
		return &finalError{known}
	case http.StatusConflict:
		if p.been { // the daemon may not know yet that the connection before is gone, or has another journal now
			p.mouth.fall()
			return known
		}
		return &finalError{known}
	}
	return known
}

// begin has something done beside, and then end run by Run's goroutine.
func (p *player) begin(ctx context.Context, do func(ctx context.Context) (end func())) {
	p.busy.Go(func() {
		end := do(ctx)
		select {
		case p.events <- end:
		case <-p.ctx.Done():
		}
	})
}

// current gives the context of what sounds now, which hush ends.
func (p *player) current() context.Context {
	p.hush()
	ctx, cancel := context.WithCancel(p.ctx)
	p.ends = cancel
	return ctx
}

func (p *player) hush() {
	if p.ends != nil {
		p.ends()
	}
}

func (p *player) load(line string, n int, path string) {
	p.begin(p.ctx, func(ctx context.Context) func() {
		wav, err := p.get(ctx, path)
		why := ""
		if err != nil {
			why = err.Error()
		}
		return func() { p.mouth.has(line, n, wav, why) }
	})
}

// get gets a sound.
func (p *player) get(ctx context.Context, path string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, prompt)
	defer cancel()
	if !strings.HasPrefix(path, "/v1/blobs/") { // the token goes nowhere else
		return nil, fmt.Errorf("get its sound: %.100q is no place of sounds", path)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimRight(p.URL, "/")+path, nil)
	if err != nil {
		return nil, err
	}
	req.Header = p.Header.Clone()
	client := http.Client{Transport: &http.Transport{Proxy: http.ProxyFromEnvironment, DialContext: p.Dial, DisableKeepAlives: true}, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer, err := client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("get its sound: %w", err)
	}
	defer answer.Body.Close()
	wav, err := io.ReadAll(io.LimitReader(answer.Body, abi.MaxBlob+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("get its sound: %w", err)
	case answer.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("get its sound: the server answered %s", answer.Status)
	case len(wav) > abi.MaxBlob:
		return nil, fmt.Errorf("its sound has more than %d bytes", abi.MaxBlob)
	}
	return wav, nil
}

func (p *player) play(run int, wav []byte) {
	p.begin(p.current(), func(ctx context.Context) func() {
		err := p.Play(ctx, wav)
		stopped := ctx.Err() != nil
		return func() {
			switch {
			case stopped:
			case err == nil:
				p.fails = 0
				p.mouth.over(run)
			case p.fails+1 == maxFails:
				p.fatal = err
			default:
				p.fails++
				p.mouth.failed(run, err.Error())
			}
		}
	})
}

func (p *player) rest(run int, text string) {
	p.after(speech.Estimate(text), func() { p.mouth.over(run) })
}

func (p *player) wait(run int, d time.Duration) { p.after(d, func() { p.mouth.late(run) }) }

// after has f run when d has passed, unless there is a hush before.
func (p *player) after(d time.Duration, f func()) {
	p.begin(p.current(), func(ctx context.Context) func() {
		select {
		case <-time.After(d):
			return f
		case <-ctx.Done():
			return func() {}
		}
	})
}

func (p *player) tell(w word) {
	if p.conn == nil {
		return
	}
	_ = p.conn.SetWriteDeadline(time.Now().Add(prompt))
	_ = p.conn.WriteJSON(w) // a connection that is lost is told by read
}

func (p *player) wrong(companion, why string) {
	if p.Wrong != nil {
		p.Wrong(companion, errors.New(why))
	}
}
