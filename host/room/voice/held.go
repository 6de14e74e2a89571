package voice

import (
	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/call"
	"github.com/companiond/companiond/host/room/fold"
)

// heldLine is one that was made ahead. It is not in the journal: a daemon that is
// killed has it made again.
type heldLine struct {
	grant  string
	pieces []abi.SayAsk
	bytes  int
	whole  *Answer // nil: more of it comes
}

// holds says whether the line of who has the floor has to wait before it sounds, or is
// behind what waits.
func (v *Voice) holds(f *fold.Floor) bool {
	return !v.MayBegin(f) || v.held != nil && v.held.grant == f.Token
}

// toHold says whether what came of a call waits: a line that may not sound yet, or the end,
// whatever it is, of one whose pieces wait.
func (v *Voice) toHold(a Answer) bool {
	f := v.state().Floor
	if v.loop.Trouble() != nil || f == nil || f.Token != a.Grant || f.Basis != a.Basis || f.Lost != "" {
		return false
	}
	pieces := v.held != nil && v.held.grant == a.Grant
	return pieces || a.Err == nil && a.Line.Text != "" && v.holds(f)
}

// hold keeps a piece of a line, or its end.
func (v *Voice) hold(grant string, piece abi.SayAsk, whole *Answer) {
	if v.held == nil || v.held.grant != grant {
		v.LetGo()
		v.held = &heldLine{grant: grant}
	}
	if whole != nil {
		v.held.whole = whole
		return
	}
	v.held.pieces, v.held.bytes = append(v.held.pieces, piece), v.held.bytes+len(piece.Text)
}

// LetGo forgets the line that waits: something newer was said, or the daemon stops.
func (v *Voice) LetGo() {
	h := v.held
	v.held = nil
	if h == nil || h.whole == nil {
		return
	}
	v.drop(*h.whole)
	if v.loop.Trouble() == nil && !v.cfg.Draining() && len(h.pieces) == 0 {
		v.stillOfUse(*h.whole) // which may have it wait again
	}
}

// SayHeld lets the line that waits sound once it may.
func (v *Voice) SayHeld() {
	h, f := v.held, v.state().Floor
	switch {
	case h == nil:
		return
	case v.cfg.Draining() || f == nil || f.Token != h.grant || f.Lost != "" || h.whole != nil && h.whole.Basis != f.Basis:
		v.LetGo()
		return
	}
	if !v.MayBegin(f) || v.loop.Trouble() != nil {
		return
	}
	v.held = nil
	for _, piece := range h.pieces {
		if v.sound(f.Who, call.LineID(v.cfg.Room, h.grant, f.Basis), piece) != nil {
			break // the line is over, and its call hears of it
		}
	}
	if h.whole != nil {
		v.Take(*h.whole)
	}
}
