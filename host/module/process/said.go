package process

import (
	"encoding/json"
	"io"
	"log/slog"
	"sync"

	"github.com/companiond/companiond/host/module/guestlog"
	"github.com/companiond/companiond/sdk/go/process/wire"
)

// said is what a module's programs say, from several sides at once.
type said struct {
	mu       sync.Mutex
	log      *guestlog.Log
	out, err *guestlog.Stream
}

func newSaid(log *slog.Logger, rate int) *said {
	g := guestlog.New(log, rate)
	return &said{log: g, out: &g.Out, err: &g.Err}
}

// writer takes what is said on a stream.
func (s *said) writer(on *guestlog.Stream) io.Writer { return saidOn{s, on} }

type saidOn struct {
	*said
	on *guestlog.Stream
}

func (s saidOn) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.log.Write(s.on, p)
	return len(p), nil
}

// line takes a line that came in a frame. Rubbish is taken as it is.
func (s *said) line(frame []byte) {
	var l wire.LogLine
	if json.Unmarshal(frame, &l) != nil {
		l = wire.LogLine{Text: string(frame)}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.log.Line(guestlog.Level(l.Level), "log", []byte(l.Text[:min(len(l.Text), guestlog.MaxLine)]))
}

// lastWords gives what best says why a program ended, and forgets it.
func (s *said) lastWords() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.log.End()
	words := s.log.LastWords()
	s.log.Begin()
	return words
}
