package avatar

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/plugins/face"
	"github.com/companiond/companiond/plugins/vts/studio"
	companion "github.com/companiond/companiond/sdk/go"
)

// Names by which VTube Studio knows the handler, and its person too.
const (
	pluginName = "companiond"
	developer  = "companiond"
)

// Times of a connection.
const (
	soonest   = 500 * time.Millisecond // until it is tried again, and longer every time,
	latest    = 30 * time.Second       // up to this
	afterNo   = 5 * time.Minute        // until a person who said no is asked again
	decides   = 10 * time.Minute       // how long a person may take to say yes
	answering = 10 * time.Second       // how long VTube Studio may take to answer
)

// link is what one Run keeps: a connection, whenever there can be one.
type link struct {
	s          settings
	dial       studio.Dial
	h          *companion.Host
	companions []string
	face       *face.Face
	told       string // what the log was told last; keep's alone

	mu  sync.Mutex
	now *session
	why *abi.Error // there is none
}

func newLink(s settings, dial studio.Dial, h *companion.Host, companions []string) *link {
	l := &link{s: s, dial: dial, h: h, companions: companions, face: face.New(face.Options{Guess: s.Guess, Rest: s.rest()})}
	l.why = l.absent()
	return l
}

func (l *link) absent() *abi.Error {
	return abi.Errorf(abi.CodeUnavailable, "VTube Studio is not there at %s: start it, and switch on Start API in its settings of plugins", l.s.Address)
}

// session gives the one that there is, or why there is none.
func (l *link) session() (*session, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.now == nil {
		return nil, l.why
	}
	return l.now, nil
}

func (l *link) set(n *session, why *abi.Error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.now, l.why = n, why
}

// lost is why there is no connection, for whoever plays an action, for the log, and how soon it is tried again.
type lost struct {
	why   *abi.Error
	cause error
	after time.Duration // 0: soon
}

// keep connects, and connects again, until ctx ends.
func (l *link) keep(ctx context.Context) {
	wait := soonest
	for ctx.Err() == nil {
		was, x := l.once(ctx)
		if ctx.Err() != nil {
			return
		}
		l.set(nil, x.why)
		if was {
			wait = soonest
			l.h.Log(abi.LevelWarn, fmt.Sprintf("the connection to VTube Studio is lost: %v", x.cause))
			l.told = x.why.Message
		}
		l.say(x.why.Message, fmt.Sprintf("%s (%v)", x.why.Message, x.cause))
		after := x.after
		if after == 0 {
			after = wait
			wait = min(2*wait, latest)
		}
		select {
		case <-ctx.Done():
		case <-time.After(after):
		}
	}
}

// say tells the log that there is no connection, once for each reason, and not at every try.
func (l *link) say(reason, text string) {
	if l.told != reason {
		l.told = reason
		l.h.Log(abi.LevelWarn, text)
	}
}

// once connects and stays until the connection ends. Was says that VTube Studio had let the handler in.
func (l *link) once(ctx context.Context) (was bool, x lost) {
	n := newSession(l)
	c, err := studio.Open(ctx, l.dial, l.s.Address, n.event)
	if err != nil {
		return false, lost{why: l.absent(), cause: err}
	}
	n.c = c
	defer c.Close(errors.New("the handler ends"))
	defer context.AfterFunc(ctx, func() { c.Close(ctx.Err()) })()
	if x := l.enter(ctx, c); x != nil {
		return false, *x
	}
	if err := n.begin(ctx); err != nil {
		return false, lost{why: abi.Errorf(abi.CodeUnavailable, "VTube Studio does not tell what the model can do"), cause: err}
	}
	l.set(n, nil)
	l.told = ""
	l.h.Log(abi.LevelInfo, "connected to VTube Studio: "+n.about().words())
	n.live(ctx)
	return true, lost{why: l.absent(), cause: c.Err()}
}

// key is that of the token in the store. Each VTube Studio gives its own.
func (l *link) key() string { return "token " + l.s.Address }

// enter shows the token, and asks for one where there is none that is taken.
func (l *link) enter(ctx context.Context, c *studio.Conn) *lost {
	failed := func(err error) *lost {
		if id := studio.ID(err); id == studio.ErrAPIOff {
			return &lost{why: abi.Errorf(abi.CodeUnavailable, "VTube Studio's API is off: switch on Start API in its settings of plugins"), cause: err}
		}
		return &lost{why: l.absent(), cause: err}
	}
	token, found, err := l.h.Get(l.key())
	if err != nil {
		return failed(err)
	}
	if found {
		if ok, err := l.shows(ctx, c, token); err != nil || ok {
			if err != nil {
				return failed(err)
			}
			return nil
		}
		if _, err := l.h.Del(l.key()); err != nil {
			return failed(err)
		}
		l.h.Log(abi.LevelInfo, "VTube Studio does not take the token any more: the permission was taken back")
	}
	if token, err = l.asks(ctx, c); err != nil {
		if studio.ID(err) == studio.ErrDenied {
			why := abi.Errorf(abi.CodeUnavailable, "somebody said no to %s in VTube Studio: it is asked again in %v, or when the handler is loaded anew", pluginName, afterNo)
			return &lost{why: why, cause: err, after: afterNo}
		}
		if studio.ID(err) == studio.ErrAsking {
			return &lost{why: waits(), cause: err}
		}
		return failed(err)
	}
	if err := l.h.Set(l.key(), token); err != nil {
		return failed(err)
	}
	ok, err := l.shows(ctx, c, token)
	if err == nil && !ok {
		err = errors.New("it does not take the token that it gave")
	}
	if err != nil {
		return failed(err)
	}
	return nil
}

func waits() *abi.Error {
	return abi.Errorf(abi.CodeUnavailable, "VTube Studio asks whether %s may come in: press Allow in its window", pluginName)
}

// asks has VTube Studio ask its person.
func (l *link) asks(ctx context.Context, c *studio.Conn) (string, error) {
	l.set(nil, waits())
	l.say(waits().Message, waits().Message)
	ctx, cancel := context.WithTimeout(ctx, decides)
	defer cancel()
	var t studio.Token
	err := c.Ask(ctx, studio.TokenRequest, studio.Plugin{Name: pluginName, Developer: developer}, &t)
	if err == nil && t.Token == "" {
		err = errors.New("it gave no token")
	}
	return t.Token, err
}

// shows shows a token; ok says whether it is taken.
func (l *link) shows(ctx context.Context, c *studio.Conn, token string) (ok bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, answering)
	defer cancel()
	var s studio.Session
	err = c.Ask(ctx, studio.SessionRequest, studio.Plugin{Name: pluginName, Developer: developer, Token: token}, &s)
	return s.Authenticated, err
}
