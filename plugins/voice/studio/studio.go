// Package studio is the handler voice: the parts of companions' lines are made into sounds, several at once, and told in
// their order. The sound of a line that is over is dropped, also while it is made. It keeps no sound, makes none again,
// and does not play it: that is for bodies.
package studio

import (
	"context"
	"encoding/json"
	"slices"
	"sync"

	"github.com/companiond/companiond/abi"
	companion "github.com/companiond/companiond/sdk/go"

	"github.com/companiond/companiond/plugins/voice/reading"
)

// mostLines bounds the lines that are kept: of one that is never over the daemon does not tell, as when it was
// handled by a program before this one.
const mostLines = 64

// Handler gives the handler, with a studio of its own.
func Handler() companion.Handler {
	s := &Studio{changed: make(chan struct{})}
	return companion.Handler{
		Name: "Voice", Version: "1", Needs: []string{abi.HostBlobPut, abi.HostSoundEmit}, Settings: schema,
		Show: func(_ *companion.Host, shown abi.Showing) { s.show(shown) },
		Run:  s.run,
	}
}

// Studio knows the lines that are said, and how far the sounds of their parts are.
type Studio struct {
	mu      sync.Mutex
	lines   []*line       // the oldest first
	changed chan struct{} // closed when there is something to make, and made anew
}

// key names a line for a handler: two of them may have one module, with settings of their own.
type key struct{ settings, companion, line string }

// line is a line that is being said. Its fields are the Studio's mu's.
type line struct {
	key
	voice   json.RawMessage // of the companion's card; empty: it has none
	parts   []*part
	told    int  // parts that are told, or whose turn it is
	telling bool // somebody tells the next one
	inside  bool // in a block of code, behind the last part
	ctx     context.Context
	over    context.CancelFunc
}

// part is a part of a line.
type part struct {
	number        int
	text, emotion string
	inside        bool // it begins in a block of code
	state         state
	made          made
}

// state is how far a part is.
type state int

const (
	waiting state = iota
	working
	ready // made holds what came of it
)

// show takes in what a room shows.
func (s *Studio) show(shown abi.Showing) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, it := range shown.Shown {
		k := key{string(shown.Settings), shown.Companion, it.Line}
		switch it.Kind {
		case abi.ShowPiece:
			s.piece(k, shown.Voice, it)
		case abi.ShowEnd:
			s.drop(func(l *line) bool { return l.key == k })
		case abi.ShowStop:
			s.drop(func(l *line) bool { return l.settings == k.settings && l.companion == k.companion })
		}
	}
}

// piece adds a part to its line. One that is there already is not made twice.
func (s *Studio) piece(k key, voice json.RawMessage, it abi.Shown) {
	at := slices.IndexFunc(s.lines, func(l *line) bool { return l.key == k })
	if at < 0 {
		if len(s.lines) >= mostLines {
			oldest := s.lines[0]
			s.drop(func(l *line) bool { return l == oldest })
		}
		ctx, over := context.WithCancel(context.Background())
		s.lines = append(s.lines, &line{key: k, voice: voice, ctx: ctx, over: over})
		at = len(s.lines) - 1
	}
	l := s.lines[at]
	if slices.ContainsFunc(l.parts, func(p *part) bool { return p.number == it.Part }) {
		return
	}
	l.parts = append(l.parts, &part{number: it.Part, text: it.Text, emotion: it.Emotion, inside: l.inside})
	l.inside = reading.Fenced(it.Text, l.inside)
	s.wake()
}

// drop forgets lines, and ends what is made of them.
func (s *Studio) drop(which func(l *line) bool) {
	s.lines = slices.DeleteFunc(s.lines, func(l *line) bool {
		if !which(l) {
			return false
		}
		l.over()
		return true
	})
}

// wake has everybody look who waits for a part.
func (s *Studio) wake() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// takes says which lines somebody makes: those of a handler's companions.
type takes struct {
	settings   string
	companions []string
}

func takesOf(r abi.Running) takes { return takes{string(r.Settings), r.Companions} }

func (t takes) line(l *line) bool {
	return l.settings == t.settings && slices.Contains(t.companions, l.companion)
}

// next waits for a part that is to be made, the oldest line's first, and takes it; nil when ctx ends.
func (s *Studio) next(ctx context.Context, mine takes) (*line, *part) {
	for ctx.Err() == nil {
		s.mu.Lock()
		for _, l := range s.lines {
			if !mine.line(l) {
				continue
			}
			if at := slices.IndexFunc(l.parts, func(p *part) bool { return p.state == waiting }); at >= 0 {
				p := l.parts[at]
				p.state = working
				s.mu.Unlock()
				return l, p
			}
		}
		changed := s.changed
		s.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
		}
	}
	return nil, nil
}

// back gives back a part that could not be made because who makes it has to end.
func (s *Studio) back(p *part) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p.state = waiting
	s.wake()
}

// finish keeps what came of a part.
func (s *Studio) finish(p *part, m made) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p.state, p.made = ready, m
}

// tell tells the parts of a line that are ready, in their order, while nobody else does. A part for which do gives an
// error is told later, by another.
func (s *Studio) tell(l *line, do func(p *part, m made) error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for !l.telling && l.ctx.Err() == nil && l.told < len(l.parts) && l.parts[l.told].state == ready {
		p := l.parts[l.told]
		m := p.made
		l.telling = true
		s.mu.Unlock()
		err := do(p, m)
		s.mu.Lock()
		l.telling = false
		if err != nil {
			return
		}
		p.made = made{}
		l.told++
	}
}

// untold gives the lines that somebody makes.
func (s *Studio) untold(mine takes) []*line {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(s.lines), func(l *line) bool { return !mine.line(l) })
}
