package talk

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/companiond/companiond/abi"
	companion "github.com/companiond/companiond/sdk/go"
	"github.com/companiond/companiond/sdk/go/talk/person"
	"github.com/companiond/companiond/sdk/go/words"
)

// Bounds of what a mind keeps.
const (
	maxBeats = 40   // messages
	maxHeard = 4096 // hashes of texts heard in a room
	lookBack = 60   // messages read when a room is met for the first time
	maxMinds = 64   // rooms; the others can be rebuilt
)

// beat is one message as the mind remembers it.
type beat struct {
	seq      uint64
	at       time.Time
	own      bool // said in this call's wake, not seen in the room yet
	from     string
	to       []string
	text     string
	norm     string // text in normal form
	lang     words.Lang
	topics   []string
	intents  map[words.Intent]bool
	question bool
	human    bool
}

// mind is what a character remembers of a room. It is soft: a new instance
// rebuilds it from the room's history and its own store.
type mind struct {
	beats []beat          // by seq
	heard map[uint32]bool // hashes of normal texts
	said  []uint32        // ids of own lines, oldest first
	lang  words.Lang
	voted uint64 // message of the last vote
	phase phase  // of the last vote

	// About the newest message of a person that wants a serious answer.
	seriousSeq uint64
	concern    concern
	meant      bool // it was addressed to this character, which has not answered
	answered   bool // by a companion

	nodded string // the last backchannel
	visit  visit  // of the newest message of a person

	// Made of beats by derive.
	talk  []beat // since a human last spoke, that message first
	topic string // of the thread
	depth int    // turns the thread has had
	used  []string
	byes  map[string]bool // who said goodbye in this talk
}

// room gives the mind for the call's room, meeting it if it is new, with the
// scene's messages taken in.
func (p *persona) room(h *companion.Host, s companion.Scene) *mind {
	m := p.minds[h.Room()]
	if m == nil {
		m = p.meet(h, s)
	}
	if len(s.Recent) > 0 {
		m.beats = slices.DeleteFunc(m.beats, func(b beat) bool { return b.own })
	}
	for _, msg := range s.Recent {
		p.hear(m, s, msg)
	}
	p.hear(m, s, s.Message)
	m.derive()
	if _, ok := m.serious(); ok && len(s.Recent) == 0 {
		p.recall(h, m, s)
	}
	return m
}

// meet starts a mind from what the daemon keeps.
func (p *persona) meet(h *companion.Host, s companion.Scene) *mind {
	m := &mind{heard: map[uint32]bool{}}
	if len(p.minds) >= maxMinds {
		clear(p.minds)
	}
	p.minds[h.Room()] = m
	past, err := h.History(lookBack)
	if err != nil {
		h.Debugf("history: %v", err)
	}
	for _, msg := range past {
		if msg.Seq < s.Message.Seq {
			p.hear(m, s, msg)
		}
	}
	text, _, err := h.Get(saidKey(h.Room()))
	if err != nil {
		h.Debugf("said lines: %v", err)
	}
	for _, id := range strings.Fields(text) {
		if n, err := strconv.ParseUint(id, 36, 32); err == nil {
			m.said = append(m.said, uint32(n))
		}
	}
	return m
}

func saidKey(room string) string { return "said/" + room }

// remember notes an own line, also in the store, and forgets the oldest beyond
// keep, so that a room that lasts for weeks does not fall silent.
func (p *persona) remember(h *companion.Host, s companion.Scene, m *mind, l *line, text string, keep int, to ...string) {
	m.said = append(slices.DeleteFunc(m.said, func(id uint32) bool { return id == l.ID }), l.ID)
	m.said = m.said[max(0, len(m.said)-keep):]
	own := p.understand(text)
	own.seq, own.own, own.from, own.to, own.at = s.Message.Seq, true, h.Self(), to, s.Message.At
	m.heard[words.Hash(own.norm)] = true
	m.beats = append(m.beats, own)
	var b strings.Builder
	for _, id := range m.said {
		b.WriteString(strconv.FormatUint(uint64(id), 36))
		b.WriteByte(' ')
	}
	if err := h.Set(saidKey(h.Room()), b.String()); err != nil {
		h.Debugf("said lines: %v", err)
	}
}

// understand gives what there is in a text, whoever says it.
func (p *persona) understand(text string) beat {
	norm := words.Normal(text)
	return beat{text: text, norm: norm, lang: words.Language(text), topics: p.find.In(norm), intents: words.Intents(text), question: words.Question(text)}
}

// hear takes a message in, once.
func (p *persona) hear(m *mind, s companion.Scene, msg companion.Message) {
	if msg.Kind == abi.KindBackchannel {
		return // a nod is nothing to answer
	}
	at, found := slices.BinarySearchFunc(m.beats, msg.Seq, func(b beat, seq uint64) int { return cmp.Compare(b.seq, seq) })
	for found && at < len(m.beats) && m.beats[at].seq == msg.Seq {
		if !m.beats[at].own {
			return
		}
		at++
	}
	if len(m.heard) > maxHeard {
		clear(m.heard)
	}
	m.heard[words.Hash(words.Normal(msg.Text))] = true
	b := p.understand(words.Clip(msg.Text))
	b.seq, b.at, b.from, b.to, b.human = msg.Seq, msg.At, msg.From, msg.To, kindOf(s, msg.From) == abi.KindHuman
	switch {
	case len(msg.Text) > len(b.text) && words.Distressed(msg.Text): // at the end of a long text
		b.intents = map[words.Intent]bool{words.Distress: true}
	case utf8.RuneCountInString(msg.Text) > words.LongText:
		b.intents[words.Long] = true
	}
	m.beats = slices.Insert(m.beats, at, b)
	if len(m.beats) > maxBeats {
		m.forget()
	}
}

// derive reads the talk since a human last spoke.
func (m *mind) derive() {
	start := 0
	for i, b := range m.beats {
		if b.human {
			start = i
		}
		if b.lang != "" && (b.human || m.lang == "") && !(b.human && person.Acronym(b.text, len(b.topics))) {
			m.lang = b.lang
		}
	}
	m.talk, m.topic, m.depth, m.used, m.byes = m.beats[start:], "", 0, nil, map[string]bool{}
	for _, b := range m.talk {
		if b.intents[words.Bye] && !b.question {
			m.byes[b.from] = true
		}
		// The thread's topic wins while it is in the text at all, so that a
		// word in passing does not turn the talk.
		switch {
		case len(b.topics) == 0 || slices.Contains(b.topics, m.topic):
			m.depth++
		default:
			m.topic, m.depth = b.topics[0], 1
			m.used = append(m.used, m.topic)
		}
	}
}

// memberOf gives what is known of somebody. One that is not in the room any more
// counts as a human: people come and go.
func memberOf(s companion.Scene, id string) companion.Member {
	for _, m := range s.Members {
		if m.ID == id {
			return m
		}
	}
	return companion.Member{ID: id, Kind: abi.KindHuman}
}

func kindOf(s companion.Scene, id string) abi.ParticipantKind { return memberOf(s, id).Kind }

// opener gives the message the talk started with, the human's if there is one.
func (m *mind) opener() beat {
	if len(m.talk) == 0 || !m.talk[0].human {
		return beat{}
	}
	return m.talk[0]
}

// last gives the newest beat.
func (m *mind) last() beat {
	if len(m.talk) == 0 {
		return beat{}
	}
	return m.talk[len(m.talk)-1]
}

// quiet is how many messages ago id spoke in this talk; the talk's length if
// it did not.
func (m *mind) quiet(id string) int {
	for i := len(m.talk) - 1; i >= 0; i-- {
		if m.talk[i].from == id {
			return len(m.talk) - 1 - i
		}
	}
	return len(m.talk)
}

// spoke says whether id has spoken in this talk.
func (m *mind) spoke(id string) bool { return m.quiet(id) < len(m.talk) }
