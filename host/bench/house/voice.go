package house

import (
	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/bench/world"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/room/rules"
	"github.com/companiond/companiond/host/speech"
)

// voice is what a body plays of a line.
type voice struct {
	who   string
	turn  *world.Turn
	parts int
	whole bool // no more of it comes
}

// sound has a body play a part of a line, behind those before, and tell when it has.
func (h *Room) sound(grant string, part world.Line) *world.Turn {
	v := h.voices[grant]
	if v == nil {
		v = &voice{who: part.From, turn: h.w.Begin(part)}
		h.voices[grant] = v
	} else {
		h.w.Add(v.turn, part.Text)
	}
	v.parts++
	n := v.parts
	h.w.After(v.turn.Ended-h.w.Now(), func() {
		if h.voices[grant] == v {
			h.tell(grant, n)
			h.settle()
		}
	})
	return v.turn
}

// tell is a body's word that it has played so many parts of a line.
func (h *Room) tell(grant string, n int) {
	v, l := h.voices[grant], h.m.State.Playing
	if l == nil || l.ID != grant {
		return
	}
	word := entry.Played{Line: grant, Who: v.who, Body: bodyOf(v.who), Part: n}
	if v.whole && n == v.parts {
		word.Part, word.Done = 0, true
	}
	h.input(entry.KindPlayed, word)
}

// heard ends a voice: what history has of it is what the rules say was heard.
func (h *Room) heard(b entry.Heard) {
	v := h.voices[b.Line]
	if v == nil {
		return
	}
	delete(h.voices, b.Line)
	h.w.Cut(v.turn)
	if v.turn.Kept = b.Text; b.End == entry.EndSaid {
		v.turn.Kept = v.turn.Written
	}
}

// holds says whether a line has to wait before it sounds, or is behind what waits.
func (h *Room) holds(grant string) bool {
	ok, _ := h.m.State.MayBegin(grant, h.at())
	return !ok || h.held != nil && h.held.grant == grant
}

// piece shows a part of a line that is being made, or keeps it until it may sound.
func (h *Room) piece(l *line, text string) {
	switch {
	case !h.mine(l) || h.m.State.PaysTurns():
	case h.holds(l.grant):
		h.held = l
		l.pieces = append(l.pieces, text)
	default:
		h.show(l, text)
	}
}

// show has a part of a line sound; false where it may not.
func (h *Room) show(l *line, text string) bool {
	s := h.m.State
	f := s.Floor
	if !h.mine(l) || f.Segments == 0 && s.Behind(f.Basis, f.Who) && s.Rules.Stale != entry.StaleAccept {
		return false
	}
	h.input(entry.KindSegment, entry.Segment{Grant: f.Token, Who: f.Who, N: f.Segments + 1, Text: text, Voice: speech.Beats(text)})
	h.sound(f.Token, world.Line{From: f.Who, To: l.line.To, Text: text, Basis: l.told})
	return true
}

// sayHeld lets the line that waits sound once it may.
func (h *Room) sayHeld() {
	l := h.held
	if l == nil {
		return
	}
	if !h.mine(l) {
		h.held = nil
		return
	}
	if ok, _ := h.m.State.MayBegin(l.grant, h.at()); !ok {
		return
	}
	pieces := l.pieces
	h.held, l.pieces = nil, nil
	for _, text := range pieces {
		if !h.show(l, text) {
			break
		}
	}
	if l.whole {
		h.finish(l)
	}
}

// finish takes the end of a line, or that there is none.
func (h *Room) finish(l *line) {
	s := h.m.State
	switch {
	case !h.mine(l):
		h.late(l)
	case l.failed != "" && !s.Begun(l.grant):
		h.input(entry.KindFailed, entry.Failed{Grant: l.grant, Who: l.who, Code: abi.CodeTimeout, Error: l.failed})
	case l.line.Pass && !s.Begun(l.grant):
		h.input(entry.KindFailed, entry.Failed{Grant: l.grant, Who: l.who, Error: "passed", Pass: true})
	case h.holds(l.grant):
		h.held, l.whole = l, true
	case !s.Begun(l.grant):
		h.say(rules.Line{Said: said(l.line, l.basis, l.grant)}, nil)
	default:
		if rest := l.line.Text[len(s.Floor.Spoken):]; l.failed == "" && rest != "" {
			h.show(l, rest)
		}
		h.endLine(l.failed)
	}
}

// breakOff ends a line that has begun to sound: the part that went out is the message.
func (h *Room) breakOff(why string) {
	if f := h.m.State.Floor; f != nil && h.m.State.Begun(f.Token) {
		h.endLine(why)
	}
}

// endLine says a line of which all parts have gone out.
func (h *Room) endLine(broken string) {
	f := h.m.State.Floor
	v := h.voices[f.Token]
	b := said(world.Line{From: f.Who, To: v.turn.To, Text: f.Spoken}, f.Basis, f.Token)
	b.Segments, b.Broken = f.Segments, broken
	h.say(rules.Line{Said: b}, v.turn)
}

func said(l world.Line, basis uint64, grant string) entry.Said {
	return entry.Said{From: l.From, By: abi.KindCompanion, To: l.To, Text: l.Text, Kind: abi.KindTurn, Basis: basis, Grant: grant}
}
