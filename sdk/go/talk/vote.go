package talk

import (
	"slices"
	"unicode/utf8"

	"github.com/companiond/companiond/abi"
	companion "github.com/companiond/companiond/sdk/go"
	"github.com/companiond/companiond/sdk/go/talk/stage"
	"github.com/companiond/companiond/sdk/go/words"
)

// Weights of a vote. The topics a character likes and the others it answers come
// from its script.
const (
	wantAddressed = 9.0
	wantHuman     = 5.0
	wantOther     = 4.0
	wantLeave     = 5.0
	wantMost      = 8.5 // of who was not addressed
	perQuietTurn  = 0.8
	notYetHeard   = 1.5
	toThePoint    = 1.0
	maxJitter     = 1.2
)

// vote says whether the character wants to speak, and how much.
func (p *persona) vote(h *companion.Host, s companion.Scene) companion.Vote {
	s = stage.Room(s, h.Self())
	m := p.room(h, s)
	if _, ok := m.serious(); ok {
		return p.voteSerious(m, s, h.Self())
	}
	p.receive(h, m, s)
	m.voted, m.phase = s.Message.Seq, phaseOf(m, s, h.Self(), h.Room())
	v := p.judge(h, m, s)
	v.Closing = m.phase.closing()
	v.Selected = s.Addressed
	v.Backchannel = p.nod(h, m, s)
	return v
}

// nodEvery is how many turns of others go by for each nod, on average.
const nodEvery = 3

// nod gives a backchannel for the case that another speaks next: now and then,
// in a room that can pay for one, never the same twice in a row.
func (p *persona) nod(h *companion.Host, m *mind, s companion.Scene) string {
	lines := p.script(m).Lines[anyTopic][nod]
	if s.Budget == nil || len(s.Budget.Prices) == 0 || len(lines) == 0 || m.phase != talking || s.Message.From == h.Self() || m.last().question {
		return ""
	}
	price := s.Budget.Prices[0]
	lot := int(words.Hash(s.Message.ID, h.Self(), "nod"))
	if lot%nodEvery != 0 || s.Budget.Level < price.Cost {
		return ""
	}
	for i := range lines {
		text := lines[(lot/nodEvery+i)%len(lines)].Text
		if text != m.nodded && utf8.RuneCountInString(text) <= price.Chars {
			m.nodded = text
			return text
		}
	}
	return ""
}

func (p *persona) judge(h *companion.Host, m *mind, s companion.Scene) companion.Vote {
	last, self := m.last(), h.Self()
	quiet := float64(min(m.quiet(self), 4)) * perQuietTurn
	jitter := float64(words.Hash(s.Message.ID, self)%1000) / 1000 * maxJitter
	switch {
	case s.Message.From == self:
		return companion.Listen("my own words")
	case m.phase == over:
		return companion.Listen("I have said goodbye")
	case last.human && m.visit.asker == self && !last.question:
		return companion.Want(wantAddressed, "they answer me")
	case m.heardOut(self):
		return companion.Listen("the person is heard, and small talk can wait")
	case m.forPerson(s):
		(&turn{h: h, p: p, m: m, s: s, sc: p.script(m)}).overhear()
		return companion.Listen("that was for the person")
	case m.phase != talking:
		return companion.Want(min(wantLeave+quiet+jitter, wantMost), "time to wind down")
	case s.Conversation.Invites(self):
		return p.answer(h, m, s)
	case s.Addressed:
		return companion.Want(wantAddressed, "they mean me")
	}
	if who := p.askedOther(s, last, self); who != "" {
		return companion.Listen("that was for " + who)
	}
	t := turn{h: h, p: p, m: m, s: s, sc: p.script(m)}
	l, _ := t.choose()
	if l == nil {
		return companion.Listen("nothing new to say")
	}
	want, why := wantOther, "I have something to add"
	if last.human {
		want, why = wantHuman, "somebody speaks to us"
		for in := range last.intents {
			want += p.main.Likes[string(in)]
		}
	}
	if m.topic != "" && p.main.Likes[m.topic] != 0 {
		want += p.main.Likes[m.topic]
		why = "I like to talk about " + m.topic
	}
	if len(l.On) > 0 { // a line for these very words
		want += toThePoint
	}
	want += p.main.After[last.from] + quiet + jitter
	if !m.spoke(self) && len(m.talk) > 1 {
		want += notYetHeard
	}
	return companion.Want(min(want, wantMost), why)
}

// answer accepts an invitation to a conversation, which is about its purpose, or what was written
// with it. It is declined where there is nothing to say to that.
func (p *persona) answer(h *companion.Host, m *mind, s companion.Scene) companion.Vote {
	t := turn{h: h, p: p, m: m, s: s, sc: p.script(m)}
	if l, _ := t.choose(); l == nil {
		return companion.Listen("nothing to say to that")
	}
	return companion.Want(wantAddressed, "they invite me")
}

// askedOther names a companion in the room whom the message is for, if it is
// for one and not this one.
func (p *persona) askedOther(s companion.Scene, last beat, self string) string {
	if slices.Contains(last.to, self) {
		return ""
	}
	for _, o := range s.Members {
		if o.ID == self || o.ID == last.from || o.Kind == abi.KindHuman {
			continue
		}
		if slices.Contains(last.to, o.ID) || last.question && len(last.to) == 0 && words.Has(words.Normal(last.text), words.Normal(o.Name)) && o.Name != "" {
			return o.ID
		}
	}
	return ""
}
