package answer

import (
	"cmp"
	"strings"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
)

// reply hears the answer to a message, from what follows it. That is the next turn
// for which the floor was given after the message, when everybody who decided knew
// of it, or for which it was asked again since. A line that was on its way before is
// no answer, and neither is one about something perceived.
type reply struct {
	Ask
	known  uint64            // what was written down when it began to listen is heard as a whole
	grants map[string]string // whose they are, by the token
	wishes map[uint64]bool   // to say a line that came late
	line   begun
	waits  None // for what the room waits
	got    Answer
}

// begun is a line that goes out piece by piece.
type begun struct {
	grant, from, text string
	shown             int // bytes of the text that Piece was told
}

func (r *reply) hear(e entry.Entry) (enough bool, err error) {
	switch e.Kind {
	case entry.KindSegment:
		b, err := entry.Decode[entry.Segment](e)
		if err != nil || r.grants[b.Grant] != b.Who {
			return false, nil
		}
		return r.segment(b), nil
	case entry.KindSaid:
		s, err := entry.Decode[entry.Said](e)
		if err != nil || !r.answers(s) {
			return false, nil
		}
		return true, r.said(e.Seq, s)
	case entry.KindWish:
		if b, _ := entry.Decode[entry.Wish](e); b.Answers >= r.Seq && r.is(b.Who) {
			r.wishes[e.Seq] = true
		}
	case entry.KindDecision:
		d, _ := entry.Decode[entry.Decision](e)
		return r.decided(d), nil
	case entry.KindRefused:
		if b, _ := entry.Decode[entry.Refused](e); b.Again && r.is(b.Who) {
			r.grants[b.Grant] = b.Who
		}
	}
	if none := gone(e, r.Who); none != "" {
		r.end(none, endOf(none))
		return true, nil
	}
	return false, nil
}

// endOf is how a line ends that goes out when none comes true.
func endOf(none None) entry.End {
	if none == Stopped || none == Closed {
		return entry.EndStopped
	}
	return entry.EndFailed
}

// is says whether somebody is meant.
func (r *reply) is(who string) bool { return r.Who == "" || r.Who == who }

// answers says whether a message is the answer.
func (r *reply) answers(s entry.Said) bool {
	if !(isTurnOf(s, r.Who) || r.Who == "" && s.By != abi.KindHuman && s.Kind == abi.KindTurn && s.From != "") {
		return false
	}
	return s.Grant == "" || r.grants[s.Grant] == s.From
}

func (r *reply) decided(d entry.Decision) (rests bool) {
	if d.Wish != 0 && !r.wishes[d.Wish] {
		return false
	}
	switch d.Outcome {
	case entry.OutcomeGrant:
		if r.waits = ""; d.Grant != nil && r.is(d.Speaker) {
			r.grants[d.Grant.Token] = d.Speaker
		}
		return false
	case entry.OutcomeWaits:
		r.waits = Waits
		return false
	case entry.OutcomeAbsent:
		if r.Patient {
			r.waits = Waits
			return false
		}
		r.end(Absent, entry.EndFailed)
	case entry.OutcomeSilence:
		r.end(Silent, entry.EndFailed)
	case entry.OutcomeClosed:
		r.end(Closed, entry.EndFailed)
	case entry.OutcomeCapped:
		r.end(Capped, entry.EndFailed)
	case entry.OutcomeStopped:
		r.end(Stopped, entry.EndStopped)
	default:
		return false
	}
	return true
}

// segment takes a part of a line. Another one than that of which a part was shown ends
// that: who reads along would take the two for one.
func (r *reply) segment(b entry.Segment) (enough bool) {
	if r.line.grant != b.Grant {
		if r.line.shown > 0 {
			r.end("", entry.EndFailed)
			return true
		}
		r.line = begun{grant: b.Grant, from: b.Who}
	}
	r.line.text += b.Text
	return false
}

// said takes the whole line.
func (r *reply) said(seq uint64, s entry.Said) error {
	if r.line.shown > 0 && r.line.grant != s.Grant {
		r.end("", entry.EndFailed)
		return nil
	}
	if _, whole := strings.CutPrefix(s.Text, r.line.text[:r.line.shown]); whole {
		r.line.text = s.Text
	}
	r.line.from = s.From
	r.got = Answer{From: s.From, Seq: seq, Text: s.Text}
	if s.Broken != "" {
		r.got.Cut = cmp.Or(s.Ends, entry.EndFailed)
	}
	return r.show()
}

// upto shows what has come of a line that is not whole. Of what was written down before
// somebody listened, that may be one that broke off when the daemon was killed.
func (r *reply) upto(seq uint64) error {
	if seq < r.known {
		return nil
	}
	return r.show()
}

func (r *reply) show() error {
	rest := r.line.text[r.line.shown:]
	if r.Piece == nil || rest == "" {
		return nil
	}
	r.line.shown = len(r.line.text)
	return r.Piece(rest)
}

// end ends the waiting without a whole line: what was shown of one is the answer then.
func (r *reply) end(none None, how entry.End) {
	if r.line.shown > 0 {
		r.got = Answer{From: r.line.from, Text: r.line.text[:r.line.shown], Cut: cmp.Or(how, entry.EndFailed)}
		return
	}
	r.got = Answer{None: cmp.Or(none, Late)}
}
