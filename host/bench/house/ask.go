package house

import (
	"fmt"
	"maps"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/bench/world"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/room/queue"
	"github.com/companiond/companiond/host/room/rules"
	"github.com/companiond/companiond/host/speech"
)

// How long a call may take at least, as in host/call.
const (
	leastVote = time.Minute
	leastLine = 2 * time.Minute
)

// line is one that was asked for.
type line struct {
	call   string // the grant and basis that it is made for
	grant  string
	basis  uint64
	about  uint64 // the message that it answers
	who    string
	told   int // the newest turn of the world that its speaker knows
	line   world.Line
	pieces []string // that wait
	whole  bool     // no more of it comes
	failed string   // why there is none
}

// askVoters asks everybody whose vote the open round waits for, one call at a time.
func (h *Room) askVoters() {
	round := h.m.State.Round
	if round == nil {
		return
	}
	limit := max(10*time.Duration(h.m.State.Rules.Patience)*time.Millisecond, leastVote)
	for _, v := range round.Electorate {
		if !round.Awaits(v.ID) || h.asking[v.ID] {
			continue
		}
		h.asking[v.ID] = true
		who, id, answered := v.ID, round.ID, false
		answer := func(vote *abi.Vote) {
			if !answered {
				answered = true
				h.voted(id, who, vote)
				h.settle()
			}
		}
		h.w.Vote(who, h.numbered[round.About], func(vote abi.Vote) { answer(&vote) })
		h.w.After(limit, func() { answer(nil) })
	}
}

// voted takes a vote, or that there is none.
func (h *Room) voted(round uint64, who string, v *abi.Vote) {
	delete(h.asking, who)
	s := h.m.State
	switch {
	case !s.Takes(round):
	case v != nil:
		if v.Backchannel != "" && s.Round != nil {
			h.nods[who] = nod{round, v.Backchannel}
		}
		h.input(entry.KindVote, entry.Voted{Round: round, Voter: who, Vote: *v})
	case s.Round != nil && s.Round.ID == round && s.Round.Awaits(who):
		h.input(entry.KindFailed, entry.Failed{Round: round, Who: who, Code: abi.CodeTimeout, Error: "no answer in time"})
	}
}

// askSpeaker asks for the line of whoever has the floor.
func (h *Room) askSpeaker() {
	s := h.m.State
	f := s.Floor
	if f == nil || f.Lost != "" || f.Wish != nil && f.Wish.Text != "" && !f.Again {
		return
	}
	call := fmt.Sprintf("%s@%d", f.Token, f.Basis)
	if h.making != nil && h.making.call == call {
		return
	}
	l := &line{call: call, grant: f.Token, basis: f.Basis, about: f.Subject, who: f.Who, told: h.newest}
	h.making = l
	chars := 0
	if b, ok := s.Budget(h.at()); ok && s.PaysTurns() {
		chars = max(0, b.Chars)
	}
	answered := false
	answer := func() {
		if !answered {
			answered = true
			h.finish(l)
			h.settle()
		}
	}
	h.w.Line(f.Who, h.numbered[f.Basis], chars, func(made world.Line) {
		l.line = made
		h.pieces(l)
	}, func(made world.Line) {
		l.line = made
		answer()
	})
	h.w.After(max(3*time.Duration(s.Rules.Floor)*time.Millisecond, leastLine), func() {
		if !answered {
			l.failed = "no answer in time"
			answer()
		}
	})
}

// late takes a line that comes when the floor has passed on, as host/room does: where a
// human still waits for it and nothing was said since.
func (h *Room) late(l *line) {
	s := h.m.State
	if l.failed != "" || l.line.Text == "" || s.Newest().Seq > l.basis || !slices.ContainsFunc(s.Unanswered, func(u queue.Unanswered) bool { return u.Seq == l.about }) {
		return
	}
	if f := s.Floor; f != nil && f.Who == l.who && f.Wish == nil && f.Basis == l.basis && !s.Begun(f.Token) && h.held == nil {
		l.call, l.grant, l.pieces, h.making = fmt.Sprintf("%s@%d", f.Token, f.Basis), f.Token, nil, l
		h.finish(l)
		return
	}
	h.input(entry.KindWish, entry.Wish{
		Who: l.who, Importance: 10, Reason: "its line came late", Text: l.line.Text, To: l.line.To, Basis: l.basis, Answers: l.about,
		Due: h.at().Add(queue.WishPatience),
	})
}

// sayAtHand says the line that a request came with, once it has the floor.
func (h *Room) sayAtHand() {
	f := h.m.State.Floor
	if f == nil || f.Wish == nil || f.Wish.Text == "" || f.Lost != "" || f.Again {
		return
	}
	if ok, _ := h.m.State.MayBegin(f.Token, h.at()); ok {
		b := said(world.Line{From: f.Who, To: f.Wish.To, Text: f.Wish.Text}, f.Basis, f.Token)
		b.Wish = f.Wish.Seq
		h.say(rules.Line{Said: b}, nil)
	}
}

// pieces hands a line out sentence by sentence as it is written: the first now.
func (h *Room) pieces(l *line) {
	text, from := l.line.Text, 0
	for _, end := range speech.Sentences(text) {
		if end < len(l.line.First) {
			continue
		}
		piece := text[from:end]
		var after time.Duration // from now until it is written
		if rest := text[len(l.line.First):]; rest != "" {
			after = l.line.Rest * time.Duration(utf8.RuneCountInString(text[len(l.line.First):end])) / time.Duration(utf8.RuneCountInString(rest))
		}
		from = end
		if end < len(text) || after == 0 { // else the end of the line brings it
			h.w.After(after, func() {
				h.piece(l, piece)
				h.settle()
			})
		}
	}
}

// mine says whether a call is the one for the line of whoever has the floor.
func (h *Room) mine(l *line) bool {
	f := h.m.State.Floor
	return h.making == l && f != nil && f.Token == l.grant && f.Basis == l.basis && f.Lost == ""
}

// sayNods says the backchannels of those who did not get the floor.
func (h *Room) sayNods() {
	f := h.m.State.Floor
	for _, who := range slices.Sorted(maps.Keys(h.nods)) {
		s, n := h.m.State, h.nods[who]
		if s.Round != nil && s.Round.ID == n.round {
			continue
		}
		delete(h.nods, who)
		if _, pool := s.Budget(h.at()); pool && f != nil && f.Round == n.round && who != f.Who {
			h.say(rules.Line{Said: entry.Said{From: who, By: abi.KindCompanion, Text: n.text, Kind: abi.KindBackchannel, Basis: s.Last.Seq}}, nil)
		}
	}
}
