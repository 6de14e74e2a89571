package talk

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/companiond/companiond/abi"
	companion "github.com/companiond/companiond/sdk/go"
	"github.com/companiond/companiond/sdk/go/talk/plain"
	"github.com/companiond/companiond/sdk/go/words"
)

// A talk stays serious for a while after a person wrote of wanting to die. The next
// message of anybody is answered seriously whatever it says, for "ok", "..." and
// even "what's for dinner?" may be how a person goes on. So are the person's two
// after that, unless they ask about a topic, which is taken for a change. After
// half a day the talk begins anew.
const (
	aftercareMessages = 3
	recentTalk        = 12 * time.Hour
)

// wantSerious is the importance of answering a person who may be in danger.
const wantSerious = 10.0

// concern is what is serious in a talk.
type concern struct {
	act  act
	lang words.Lang // that the person writes
}

// serious says whether the newest message of a person wants a serious answer. It
// is judged once: the lines before it may be forgotten while others talk on.
func (m *mind) serious() (concern, bool) {
	o := m.opener()
	if o.seq != 0 && o.seq == m.seriousSeq {
		return m.concern, true
	}
	c := concern{grave, o.lang}
	if b, ok := m.aftercare(); ok {
		c.act = distress
		if o.lang == "" || o.lang == words.English && strings.Count(o.norm, " ") == 0 { // "ok" is said in Japanese as well
			c.lang = b.lang
		}
	} else if !o.intents[words.Grave] {
		return concern{}, false
	}
	m.seriousSeq, m.concern, m.meant, m.answered = o.seq, c, false, false
	return c, true
}

// aftercare gives the message of distress that the newest message of a person is,
// or comes soon after.
func (m *mind) aftercare() (beat, bool) {
	o := m.opener()
	if o.intents[words.Distress] {
		return o, true
	}
	after, own, turned, turns := 1, 1, turnsAway(o), false
	for _, b := range slices.Backward(m.beats[:len(m.beats)-len(m.talk)]) {
		switch {
		case !b.human:
		case b.intents[words.Distress]:
			stays := b.from == o.from && own <= aftercareMessages && !turned
			return b, o.human && o.at.Sub(b.at) < recentTalk && (after == 1 || stays)
		default:
			after++
			if b.from == o.from {
				own++
				turned, turns = turned || turns, turnsAway(b) // the first after it does not count
			}
		}
	}
	return beat{}, false
}

// turnsAway says whether a message clearly changes the subject.
func turnsAway(b beat) bool { return b.question && len(b.topics) > 0 }

// recall takes in what was really said since, so that a character knows whether
// the person was answered: it is not asked for a vote on its own lines, and one
// of them may have been refused.
func (p *persona) recall(h *companion.Host, m *mind, s companion.Scene) {
	past, err := h.History(abi.RecentInAsk)
	if err != nil {
		h.Debugf("history: %v", err)
	}
	if !slices.ContainsFunc(past, func(msg companion.Message) bool { return msg.Seq == s.Message.Seq }) {
		return
	}
	m.beats = slices.DeleteFunc(m.beats, func(b beat) bool { return b.own })
	for _, msg := range past {
		if msg.Seq <= s.Message.Seq {
			p.hear(m, s, msg)
		}
	}
	m.derive()
}

// forget drops the oldest beat, but for one that is waited on: until a person
// writes again, nobody goes back to small talk.
func (m *mind) forget() {
	i := 0
	if m.beats[0].human && m.beats[0].seq == m.seriousSeq {
		i = 1
	}
	m.beats = slices.Delete(m.beats, i, i+1)
}

// settled says whether what there was to say to the person has been said: one
// companion answers, and whom the person called besides. An agent's words count
// for nothing, for nobody knows what it says.
func (m *mind) settled(s companion.Scene, self string) bool {
	if s.Message.Seq == m.seriousSeq {
		m.meant = s.Addressed
	}
	if m.spoke(self) {
		m.meant = false
	}
	m.answered = m.answered || slices.ContainsFunc(m.talk, func(b beat) bool { return b.own || !b.human && kindOf(s, b.from) == abi.KindCompanion })
	return m.answered && !m.meant
}

// voteSerious votes where the talk is serious: to answer before everything else, and
// to be quiet once somebody has. There is no backchannel and no farewell in it.
func (p *persona) voteSerious(m *mind, s companion.Scene, self string) companion.Vote {
	m.voted, m.phase = s.Message.Seq, talking
	v := companion.Want(wantSerious, "a person speaks of something serious")
	switch {
	case s.Message.From == self:
		v = companion.Listen("my own words")
	case m.settled(s, self):
		v = companion.Listen("a serious answer was given, and small talk can wait")
	}
	v.Closing, v.Selected = abi.ClosingNone, s.Addressed
	return v
}

// speakSerious says a serious line and nothing with it: no name, no greeting, no
// question of the talk before.
func (p *persona) speakSerious(h *companion.Host, m *mind, s companion.Scene, c concern) companion.Line {
	if m.settled(s, h.Self()) {
		return companion.Pass("a serious answer was given, and small talk can wait")
	}
	t := turn{h: h, p: p, m: m, s: s, sc: p.script(m), roll: true}
	l := t.seriousLine(c)
	if l == nil {
		return companion.Pass(t.whyNot())
	}
	p.remember(h, s, m, l, l.Text, t.sc.Keep)
	return companion.Line{Text: l.Text, Closing: abi.ClosingNone}
}

// seriousLine draws a serious line, of the script for the person's language or, where
// that has none that the room's pool can pay for, of the package. They never run out:
// where all were said, the one that was said longest ago comes again.
func (t *turn) seriousLine(c concern) *line {
	if c.lang == "" {
		c.lang = t.sc.Lang
	}
	var own []*line
	if sc := t.p.scripts[c.lang]; sc != nil {
		own = sc.Lines[anyTopic][c.act]
	}
	sets := [][]*line{own}
	for _, texts := range plain.Lines(c.lang, string(c.act)) {
		sets = append(sets, linesOf(c.act, texts))
	}
	for _, lines := range sets {
		if lines = slices.DeleteFunc(slices.Clone(lines), func(l *line) bool { return !t.fits(l.Text) }); len(lines) > 0 {
			return t.longestAgo(lines)
		}
	}
	return nil
}

func linesOf(a act, texts []string) []*line {
	lines := make([]*line, len(texts))
	for i, text := range texts {
		lines[i] = &line{Act: a, Topic: anyTopic, Text: text, ID: words.Hash(text)}
	}
	return lines
}

// longestAgo draws one of the lines that were said longest ago in this room, by
// whomever.
func (t *turn) longestAgo(lines []*line) *line {
	said := map[string]int{} // the newest beat with a text, from 1
	for i, b := range t.m.beats {
		said[b.norm] = i + 1
	}
	at := func(l *line) int { return said[words.Normal(l.Text)] }
	oldest := at(slices.MinFunc(lines, func(a, b *line) int { return cmp.Compare(at(a), at(b)) }))
	lines = slices.DeleteFunc(lines, func(l *line) bool { return at(l) != oldest })
	return lines[t.h.Intn(len(lines))]
}
