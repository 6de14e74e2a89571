package talk

import (
	"slices"
	"time"

	"github.com/companiond/companiond/abi"
	companion "github.com/companiond/companiond/sdk/go"
	"github.com/companiond/companiond/sdk/go/talk/person"
	"github.com/companiond/companiond/sdk/go/words"
)

// visitGap is how long a person says nothing before the next message is one of somebody who comes back.
const visitGap = 30 * time.Minute

// visit is what a mind knows of the person who opened the talk, and of that message.
type visit struct {
	seq   uint64 // of the message
	back  bool   // a visit begins with it that is not the first
	who   person.Person
	facts []person.Fact // what is remembered of them, and may be told here
	about string        // what the message asks of the character
	own   bool          // it asks what the character knows of the person
	vents bool          // it lets off steam
	asker string        // the companion that it answers, "" where nobody asked
	rests int           // how many answers it gets before the talk rests, 0 where it goes on
	byes  bool          // the character has said goodbye in this visit, unasked
}

// receive looks at a new message of a person: whether a visit begins with it, what name is told, what is remembered.
func (p *persona) receive(h *companion.Host, m *mind, s companion.Scene) {
	o := m.opener()
	if o.seq == 0 || o.seq == m.visit.seq {
		return
	}
	v := visit{seq: o.seq, who: person.Known(h, o.from), about: person.Asks(o.text), own: person.AsksOfOwn(o.text), vents: person.Vents(o.text)}
	before, talked := m.before(o.from)
	begins := o.at.Sub(time.Unix(v.who.Came, 0)) >= visitGap
	if talked {
		begins = o.at.Sub(before.at) >= visitGap || before.intents[words.Bye] && !before.question
	}
	v.back = begins && (talked || v.who.Name != "")
	name, told := m.told()
	if told && v.who.Name != name || begins && v.who.Name != "" {
		if told {
			v.who.Name = name
		}
		v.who.Came = o.at.Unix()
		person.Keep(h, o.from, v.who)
	}
	v.follow(m, h.Self(), begins, before)
	if v.back || v.own {
		v.facts = p.recollect(h, m, o.from, v.own)
	}
	m.visit = v
}

// follow says how the talk is to follow the message: what it answers, and whether small talk would be out of place.
func (v *visit) follow(m *mind, self string, begins bool, before beat) {
	o := m.opener()
	past := m.beats[:len(m.beats)-len(m.talk)]
	plain := !o.question && len(o.topics) == 0
	if n := len(past); n > 0 && !begins && !o.question && slices.Contains(past[n-1].to, o.from) {
		v.asker = past[n-1].from
	}
	switch {
	case v.own, v.asker != "" && plain:
		v.rests = 1
	case v.vents, plain && !begins && person.Vents(before.text):
		v.rests = 2
	}
	for _, b := range slices.Backward(past) {
		if begins || o.at.Sub(b.at) >= visitGap || v.byes {
			break
		}
		v.byes = b.from == self && b.intents[words.Bye]
	}
}

// before gives the message of a person before the one that opened the talk.
func (m *mind) before(who string) (beat, bool) {
	for _, b := range slices.Backward(m.beats[:len(m.beats)-len(m.talk)]) {
		if b.human && b.from == who {
			return b, true
		}
	}
	return beat{}, false
}

// recollect asks the daemon what it remembers of a person; asked says that the person wants to know, so that the first
// is the answer. Where that is not granted nothing is remembered.
func (p *persona) recollect(h *companion.Host, m *mind, who string, asked bool) []person.Fact {
	if p.denied {
		return nil
	}
	ask := abi.MemoryAsk{About: []string{who}, Limit: abi.MaxMemories}
	if o := m.opener(); asked && !person.AsksOfAll(o.text) {
		ask.Text = o.text
	}
	found, err := h.Recall(ask)
	if err != nil {
		p.denied = abi.CodeOf(err) == abi.CodeDenied
		h.Debugf("what is remembered: %v", err)
	}
	return person.Facts(found, who, p.script(m).Lang, h.Now().Local())
}

// known gives what answers a person who asks what the character knows of them: what is remembered, a name, or what was
// said before and is still at hand.
func (t *turn) known() (person.Fact, bool) {
	o, v := t.m.opener(), t.m.visit
	if person.AsksName(o.text) || person.AsksOfAll(o.text) && len(v.facts) == 0 {
		return person.Fact{Quote: v.who.Name}, v.who.Name != ""
	}
	if len(v.facts) > 0 {
		return v.facts[0], true
	}
	var said []string
	for _, b := range slices.Backward(t.m.beats[:len(t.m.beats)-len(t.m.talk)]) {
		if b.human && b.from == o.from && b.lang == t.sc.Lang {
			said = append(said, b.text)
		}
	}
	quote := person.Earlier(o.text, said)
	return person.Fact{Quote: quote}, quote != ""
}

// recall chooses what to bring up of what the person told, once a visit and what was not spoken of for longest, and
// says whether there is a line for it.
func (t *turn) recall() bool {
	v := t.m.visit
	facts := append(slices.Clone(v.facts), t.lastTopic()...)
	slices.SortStableFunc(facts, func(a, b person.Fact) int { return t.turnOf(a) - t.turnOf(b) })
	for _, f := range facts {
		once := f.Kind == person.Plan || f.Kind == person.Went
		if f.Kind == "" || once && slices.Contains(v.who.Used, f.Kind+f.ID) || t.mentioned(t.m.talk, f) {
			continue
		}
		t.fact = f
		if l, _ := t.pick(step{act: recall, topic: anyTopic}, unsaid); l != nil {
			return true
		}
	}
	t.fact = person.Fact{}
	return false
}

// turnOf puts facts in order: first a plan, then what was not spoken of, here or at all.
func (t *turn) turnOf(f person.Fact) int {
	at := slices.Index(t.m.visit.who.Used, f.Kind+f.ID) + 1
	switch {
	case at == 0 && (f.Kind == person.Went || f.Kind == person.Plan):
		return 0
	case t.mentioned(t.m.beats, f):
		return 100 + at
	}
	return 1 + at
}

// overhear notes what another has just brought up, so that it is not asked for again.
func (t *turn) overhear() {
	v := &t.m.visit
	for _, f := range v.facts {
		if f.Kind != "" && !slices.Contains(v.who.Used, f.Kind+f.ID) && t.mentioned(t.m.talk[len(t.m.talk)-1:], f) {
			v.who.Use(f.Kind + f.ID)
			person.Keep(t.h, t.m.opener().from, v.who)
		}
	}
}

// mentioned says whether a companion has just spoken of a fact.
func (t *turn) mentioned(beats []beat, f person.Fact) bool {
	it := words.Normal(f.It)
	if it == "" {
		it = words.Normal(f.Quote)
	}
	return slices.ContainsFunc(beats, func(b beat) bool { return !b.human && words.Has(b.norm, it) })
}

// lastTopic gives what the person spoke of in the visit before, as far as it can be looked up.
func (t *turn) lastTopic() []person.Fact {
	o := t.m.opener()
	for _, b := range slices.Backward(t.m.beats[:len(t.m.beats)-len(t.m.talk)]) {
		if b.human && b.from == o.from && len(b.topics) > 0 && !b.intents[words.Bye] && o.at.Sub(b.at) >= visitGap {
			return []person.Fact{{ID: b.topics[0], Kind: person.Topic, It: t.called(b.topics[0])}}
		}
	}
	return nil
}

// alone says whether no other companion is here to bring up what the person told.
func (t *turn) alone() bool {
	return !slices.ContainsFunc(t.s.Members, func(o companion.Member) bool { return o.Kind == abi.KindCompanion && o.ID != t.h.Self() })
}

// withRecall puts behind a greeting what the person told, where nobody else could.
func (t *turn) withRecall(l *line, text string) (*line, string) {
	if !t.m.visit.back || l.Act != again && l.Act != greet || !t.alone() || !t.recall() {
		return l, text
	}
	l2, more := t.pick(step{act: recall, topic: anyTopic}, unsaid)
	if l2 == nil || !t.fits(text+" "+more) {
		return l, text
	}
	t.m.said = append(t.m.said, l.ID)
	if t.sc.Lang == words.English {
		more = " " + more
	}
	return l2, text + more
}

// heardOut says whether a person was answered who wants no small talk: one that let off steam, asked for what is known
// of them, or answered what they were asked.
func (m *mind) heardOut(self string) bool {
	rests := m.visit.rests
	return rests > 0 && m.visit.seq == m.opener().seq && !m.last().human && (m.spoke(self) || len(m.talk) > rests)
}

// forPerson says whether the last word is a question of a companion to a person, whose turn it is then.
func (m *mind) forPerson(s companion.Scene) bool {
	last := m.last()
	return !last.human && last.question && slices.ContainsFunc(last.to, func(id string) bool { return id == m.opener().from }) && kindOf(s, m.opener().from) == abi.KindHuman
}
