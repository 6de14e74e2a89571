// Package words is what stands between a companion and its room: whatever it says goes through the handlers that
// filter before the room's loop hears of it, beside the loop, and by pieces where it comes by pieces.
//
// It never records anything and never decides who has the floor. It remembers of each line that is being made what
// its module said and what was made of that, so that the line which the module answers at last can be told apart from both.
package words

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/card"
	"github.com/companiond/companiond/host/entry"
)

// Filter asks handlers about words of a companion's. *filter.Filter implements it.
type Filter interface {
	// Line gives what is to be said in place of a text, what each handler did, and why it is not to be said at all. Where
	// ctx ended before all were asked there are steps, and the rest is of no use.
	Line(ctx context.Context, companion, room, text string) (said string, steps []entry.Step, refused string)
}

// Words are those of one room. Make them with [New]; they are safe for concurrent use.
type Words struct {
	room   string
	filter Filter

	mu    sync.Mutex
	lines map[string]*line // by the call that makes it
}

// line is one that is being made.
type line struct {
	grant string

	mu      sync.Mutex // held while its words are looked at, so that pieces keep their order
	own     string     // its module's words that went out so far
	said    string     // as they went out
	refused string     // why nothing more of it does
	over    bool

	time spent // that handlers took about it
}

// spent is the time that handlers took about a line. It may be asked for while they take some.
type spent struct {
	mu    sync.Mutex
	whole time.Duration
	since time.Time // when they were asked last; zero: none is asked now
	by    map[string]int64
}

func (s *spent) begin() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.since = time.Now()
}

func (s *spent) end(steps []entry.Step) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.whole += time.Since(s.since)
	s.since = time.Time{}
	if s.by == nil {
		s.by = map[string]int64{}
	}
	for _, step := range steps {
		s.by[step.Handler] += step.MS
	}
}

// told tells of it, and of whoever took most; empty where it is less than least.
func (s *spent) told(least time.Duration) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	whole := s.whole
	if !s.since.IsZero() {
		whole += time.Since(s.since)
	}
	if whole < least {
		return ""
	}
	told, most := fmt.Sprintf("handlers looked at its words for %v of that", whole.Round(100*time.Millisecond)), ""
	for name, ms := range s.by {
		if most == "" || ms > s.by[most] || ms == s.by[most] && name < most {
			most = name
		}
	}
	if most != "" && s.by[most] > 0 {
		told += ", most of all " + most
	}
	return told
}

// New makes words of a room; a nil filter lets all pass.
func New(room string, f Filter) *Words {
	return &Words{room: room, filter: f, lines: map[string]*line{}}
}

// leastTold is more than handlers take that are well.
const leastTold = time.Second

// Took tells how long handlers looked at the words of the line of a call, where that is worth telling.
func (w *Words) Took(call string) string {
	l := w.line(call)
	if l == nil {
		return ""
	}
	return l.time.told(leastTold)
}

// Begin says that a call makes the line of a grant, until the end of it is asked for.
func (w *Words) Begin(call, grant string) {
	if w.filter == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lines[call] = &line{grant: grant}
}

func (w *Words) line(call string) *line {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.lines[call]
}

// Piece has a piece of a line said as the handlers leave it. tell says it, with what they did, nil for nothing; where one
// refuses the piece tell is given an empty one.
//
// # Errors
//
// Those of tell and of ctx; CodeDenied where a handler refused this piece or one before, and for a call that makes no line.
func (w *Words) Piece(ctx context.Context, who, call string, a abi.SayAsk, tell func(abi.SayAsk, *entry.Handled) error) error {
	if w.filter == nil {
		return tell(a, nil)
	}
	l := w.line(call)
	if l == nil {
		return abi.Errorf(abi.CodeDenied, "say: %s does not have the floor", who)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.refused != "":
		return denied(l.refused)
	case l.over:
		return abi.Errorf(abi.CodeDenied, "say: the line of %s is over", who)
	}
	own := a.Text
	said, handled, refused, err := w.ask(ctx, who, own, l)
	if err != nil {
		return err
	}
	if handled != nil {
		handled.Line = l.grant
	}
	if refused != "" {
		l.refused = refused
		_ = tell(abi.SayAsk{}, handled) // the piece is not said either way
		return denied(refused)
	}
	a.Text = said
	if err = tell(a, handled); err == nil {
		l.own, l.said = l.own+own, l.said+said
	}
	return err
}

func denied(why string) error { return abi.Errorf(abi.CodeDenied, "say: %s", why) }

// Whole is a line as it is to be said.
type Whole struct {
	abi.Line
	Handled *entry.Handled // what handlers did about what no piece said; nil: none was asked
	Refused string         // why what pieces did not say is not said, empty where it is
	Astray  bool           // the module's line does not begin with its own pieces, and so has no more than they
}

// Rest ends the line of a call: it asks about what the module's line has beside its pieces, which passed, and gives the line
// that begins with these as they were said.
//
// The error is that of ctx, which ended before all was asked.
func (w *Words) Rest(ctx context.Context, who, call string, own abi.Line) (whole Whole, err error) {
	whole.Line = own
	l := w.line(call)
	if l == nil {
		return whole, nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.over = true
	rest, follows := strings.CutPrefix(own.Text, l.own)
	switch {
	case l.refused != "":
		whole.Text, whole.Refused = "", l.refused
	case own.Text == "":
	case !follows:
		whole.Text, whole.Astray = "", true
	case strings.TrimSpace(rest) == "":
		whole.Text = l.said + rest
	default:
		if rest, whole.Handled, whole.Refused, err = w.ask(ctx, who, rest, l); err != nil {
			return Whole{}, err
		}
		if whole.Text = l.said + rest; whole.Refused != "" {
			whole.Text = ""
		}
	}
	if whole.Handled != nil {
		whole.Handled.Line = l.grant
	}
	whole.Parameters = retold(own, l, whole.Text)
	return whole, nil
}

// End forgets the line of a call.
func (w *Words) End(call string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.lines, call)
}

// retold gives the parameters of a line with what is said as their message, where their message was the module's own words.
func retold(own abi.Line, l *line, said string) []byte {
	mine := own.Text
	if mine == "" {
		mine = l.own
	}
	if said == "" {
		said = l.said
	}
	if len(own.Parameters) == 0 || strings.TrimSpace(card.Message(own.Parameters)) != strings.TrimSpace(mine) {
		return own.Parameters
	}
	return card.Saying(own.Parameters, said)
}

// Ask asks about words that come at once. handled is what is to be written down, nil where no handler was asked. The error is
// that of ctx, which ended before all were.
func (w *Words) Ask(ctx context.Context, who, text string) (said string, handled *entry.Handled, refused string, err error) {
	return w.ask(ctx, who, text, &line{})
}

// ask is Ask for words of a line.
func (w *Words) ask(ctx context.Context, who, text string, l *line) (said string, handled *entry.Handled, refused string, err error) {
	if w.filter == nil {
		return text, nil, "", nil
	}
	l.time.begin()
	said, steps, refused := w.filter.Line(ctx, who, w.room, text)
	l.time.end(steps)
	switch {
	case len(steps) == 0:
		return text, nil, "", nil
	case ctx.Err() != nil:
		return "", nil, "", ctx.Err()
	}
	return said, &entry.Handled{Who: who, Of: entry.OfLine, Steps: steps}, refused, nil
}
