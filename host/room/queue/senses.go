package queue

import (
	"slices"

	"github.com/companiond/companiond/host/entry"
)

// Senses are what the companions of a room perceived and are still to judge.
type Senses struct {
	// Perceived are those that were written down to be kept, oldest first. Whoever
	// writes them down bounds them.
	Perceived []Percept `json:"perceived,omitempty"`
}

// Percept is a KindPerceived that waits to be judged.
type Percept struct {
	Seq uint64 `json:"seq"`
	Who string `json:"who"` // the companion
}

// Perceive notes what waits. Perceptions of before there was Kept were judged, or
// lost, by whoever wrote them down.
func (s *Senses) Perceive(seq uint64, b entry.Perceived) {
	if b.Kept {
		s.Perceived = append(s.Perceived, Percept{seq, b.Who})
	}
}

// Judge ends perceptions that wait.
func (s *Senses) Judge(seqs ...uint64) {
	s.Perceived = slices.DeleteFunc(s.Perceived, func(p Percept) bool { return slices.Contains(seqs, p.Seq) })
}

// ToJudge says whether a perception is still to be judged by a companion.
func (s *Senses) ToJudge(seq uint64, who string) bool {
	return slices.Contains(s.Perceived, Percept{seq, who})
}
