package talk

import (
	"github.com/companiond/companiond/sdk/go/talk/lines"

	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/companiond/companiond/abi"
	companion "github.com/companiond/companiond/sdk/go"
	"github.com/companiond/companiond/sdk/go/talk/person"
	"github.com/companiond/companiond/sdk/go/talk/stage"
	"github.com/companiond/companiond/sdk/go/words"
)

// Bounds of a talk's shape.
const (
	deepThread  = 5   // turns after which a thread may be left
	forHuman    = 4   // more of them for what the human brought up
	youngThread = 3   // turns in which a character does what it does best
	openingPart = 5   // messages in which the human's first words are answered
	tooAlike    = 0.6 // similarity with something said lately
	lately      = 14  // messages
)

// turn is one call's view of the talk.
type turn struct {
	h    *companion.Host
	p    *persona
	m    *mind
	s    companion.Scene
	sc   *script
	roll bool // draw lots; a vote only needs to know that there is a line

	fact  person.Fact       // what of the person is spoken of
	heard map[string]string // what placeholders stand for, as far as it was asked
}

// speak gives the line.
func (p *persona) speak(h *companion.Host, s companion.Scene) companion.Line {
	s = stage.Room(s, h.Self())
	m := p.room(h, s)
	if c, ok := m.serious(); ok {
		return p.speakSerious(h, m, s, c)
	}
	p.receive(h, m, s)
	if m.voted != s.Message.Seq {
		m.phase = phaseOf(m, s, h.Self(), h.Room())
	}
	ph := m.phase
	if ph == over {
		return companion.Pass("I have said goodbye")
	}
	t := turn{h: h, p: p, m: m, s: s, sc: p.script(m), roll: true}
	l, text := t.choose()
	if l == nil {
		return companion.Pass(t.whyNot())
	}
	l, text = t.withRecall(l, text)
	out := companion.Line{Text: t.hello(l, text), To: t.addressee(l), Closing: ph.closing()}
	if ph == leaving && lastToLeave(m, s, h.Self(), h.Room()) {
		out.Closing = abi.ClosingTerminal
	}
	if l.Act == recall {
		m.visit.who.Use(t.fact.Kind + t.fact.ID)
		person.Keep(h, m.opener().from, m.visit.who)
	}
	p.remember(h, s, m, l, out.Text, t.sc.Keep, out.To...)
	return out
}

// whyNot says why there is no line.
func (t *turn) whyNot() string {
	if b := t.s.Budget; b != nil && b.Chars >= 0 {
		return "nothing new to say in " + strconv.Itoa(b.Chars) + " characters"
	}
	return "nothing new to say"
}

// hello puts the answer to a human's greeting before a line without one.
func (t *turn) hello(l *line, text string) string {
	if !t.m.last().human || slices.Contains(l.Needs, "hi") || slices.Contains([]act{farewell, rude, again, greet, name, namesake, vent}, l.Act) {
		return text
	}
	hi := words.Hello(t.m.last().text, t.sc.Lang)
	if hi == "" || strings.HasPrefix(text, hi) {
		return text
	}
	whole := hi + text
	if t.sc.Lang == words.English {
		whole = hi + " " + text
	}
	if !t.fits(whole) || t.remembered(words.Normal(whole)) {
		return text
	}
	return whole
}

// addressee gives whom the line goes to: nobody in particular but for questions.
func (t *turn) addressee(l *line) []string {
	switch {
	case l.To != "":
		return []string{l.To}
	case l.Act == recall, l.Act == forgot:
		return []string{t.m.opener().from}
	case l.Act == ask && slices.Contains(l.Needs, "who"):
		return []string{t.m.last().from}
	}
	return nil
}

// step is one thing the character may do now.
type step struct {
	act   act
	topic string
	hit   bool // only lines whose words were heard
}

// draw says which lines may be drawn.
type draw int

const (
	unsaid    draw = iota
	requoted       // said, but new by what it quotes
	forgotten      // said so long ago that nobody here heard it: when one must speak
)

// may says whether a line is in the draw and can be said to who is here.
func (t *turn) may(l *line, d draw) bool {
	said := slices.Contains(t.m.said, l.ID)
	switch {
	case l.To != "" && (l.To == t.h.Self() || !present(t.s, l.To)):
		return false
	case l.Act == ask && len(l.On) == 0 && l.To == t.m.last().from && len(t.m.talk) <= 3:
		return false // it has just answered
	case l.Act == greet && t.m.visit.who.Name != "" && asksName(words.Normal(l.Text)):
		return false
	case d == requoted:
		return said && l.Reused
	case d == forgotten:
		return said && (t.m.phase != talking || t.s.Addressed || t.m.last().human)
	}
	return !said
}

// choose finds the line: of the first step that has one, new lines before
// those that are new only by what they quote.
func (t *turn) choose() (*line, string) {
	steps := t.plan()
	if len(steps) > 0 && (steps[0].act == again || steps[0].act == farewell && steps[0].hit) { // rather the same welcome as some days ago than that of a stranger
		for _, d := range []draw{unsaid, forgotten} {
			if l, text := t.pick(steps[0], d); l != nil {
				return l, text
			}
		}
	}
	for _, d := range []draw{unsaid, requoted, forgotten} {
		for _, st := range steps {
			if l, text := t.pick(st, d); l != nil {
				return l, text
			}
		}
	}
	return nil, ""
}

// pick draws one of the step's lines that can be said now. Lines whose words
// were heard go first; lines that tell something keep roughly the script's order.
func (t *turn) pick(st step, d draw) (*line, string) {
	heard := t.m.last().norm
	if t.m.phase == leaving {
		heard = t.m.opener().norm // farewells follow what the person said
	}
	var hits, rest []*line
	for _, l := range t.sc.Lines[st.topic][st.act] {
		switch {
		case !t.may(l, d):
		case len(l.On) == 0:
			rest = append(rest, l)
		case lines.Kinds[l.Act] != nil:
			if slices.Contains(l.On, t.m.visit.about) && l.Act == self || slices.Contains(l.On, t.fact.Kind) && l.Act == recall {
				hits = append(hits, l)
			}
		case slices.ContainsFunc(l.On, func(w string) bool { return words.Has(heard, w) }):
			hits = append(hits, l)
		}
	}
	if st.hit {
		rest = nil
	}
	for _, lines := range [][]*line{hits, rest} {
		for len(lines) > 0 && t.h.Context().Err() == nil { // else nobody waits any more
			i := 0
			if t.roll {
				n := len(lines)
				if st.act == tell || st.act == opening {
					n = min(n, 2)
				}
				i = t.h.Intn(n)
			}
			if text, ok := t.fill(lines[i]); ok && t.fits(text) && t.fresh(lines[i], text, d) {
				return lines[i], text
			}
			lines = slices.Delete(slices.Clone(lines), i, i+1)
		}
	}
	return nil, ""
}

// fits says whether a text may be said at once, and the room's pool can pay for it.
func (t *turn) fits(text string) bool {
	if len(text) > abi.MaxText {
		return false
	}
	b := t.s.Budget
	if b == nil || b.Chars < 0 || len(b.Prices) == 0 {
		return true
	}
	most := b.Chars
	if !t.roll { // a vote: by the time of the turn there will be more
		most = b.Prices[len(b.Prices)-1].Chars
	}
	return utf8.RuneCountInString(text) <= most
}

// fresh says whether nobody has said this, or nearly this lately. A greeting is like
// the one it answers.
func (t *turn) fresh(l *line, text string, d draw) bool {
	norm := words.Normal(text)
	if d != forgotten && t.m.heard[words.Hash(norm)] || t.remembered(norm) {
		return false
	}
	if !t.roll || utf8.RuneCountInString(text) < 8 || slices.Contains(l.Needs, "hi") {
		return true
	}
	beats := t.m.beats[max(0, len(t.m.beats)-lately):]
	return !slices.ContainsFunc(beats, func(b beat) bool { return words.Similarity(b.text, text) > tooAlike })
}

// remembered says whether somebody has said a normal text as far back as the mind goes.
func (t *turn) remembered(norm string) bool {
	return slices.ContainsFunc(t.m.beats, func(b beat) bool { return b.norm == norm })
}

// fill puts what is heard into a line; ok is false where something is missing.
func (t *turn) fill(l *line) (text string, ok bool) {
	if len(l.Needs) == 0 {
		return l.Text, true
	}
	text = l.Text
	for _, key := range l.Needs {
		value, ok := t.heard[key]
		if !ok {
			if t.heard == nil {
				t.heard = map[string]string{}
			}
			if value, ok = t.value(key); !ok {
				value = nothing
			}
			t.heard[key] = value
		}
		if value == nothing {
			return "", false
		}
		text = strings.ReplaceAll(text, "{"+key+"}", value)
	}
	return strings.TrimSpace(text), true
}

// nothing is what no placeholder can stand for.
const nothing = "{"

// value gives what a placeholder stands for.
func (t *turn) value(key string) (string, bool) {
	last := t.m.last()
	value := ""
	switch key {
	case "hi":
		return words.Hello(t.m.opener().text, t.sc.Lang), true
	case "who":
		if last.from != t.h.Self() {
			value = t.p.nameOf(t.h, t.sc, t.s, last.from)
		}
	case "human":
		if id := t.m.opener().from; id != "" {
			value = t.p.nameOf(t.h, t.sc, t.s, id)
		}
	case "quote":
		if !strings.ContainsAny(last.text, "「“\"") {
			value = words.Quote(last.text)
		}
	case "word":
		value = words.Word(last.text)
		if len(t.m.talk) <= openingPart && t.m.opener().seq != 0 {
			value = words.Word(t.m.opener().text)
		}
		if t.names(value) {
			value = "" // "Natsumi, are you there?" is not about natsumi, the thing
		}
	case "it":
		value = t.fact.It
	case "memory":
		value = t.fact.Quote
	case "first", "last":
		value = t.label(key)
	default:
		if present(t.s, key) && key != t.h.Self() {
			value = t.sc.Calls[key]
		}
	}
	return value, value != "" && !strings.ContainsAny(value, "{}") // what is heard is no placeholder
}

// label names the first or the last topic of the talk, where they differ.
func (t *turn) label(key string) string {
	used := t.m.used
	if len(used) == 0 || used[0] == used[len(used)-1] && key == "last" {
		return ""
	}
	id := used[0]
	if key == "last" {
		id = used[len(used)-1]
	}
	return t.called(id)
}

// called gives how a topic is called.
func (t *turn) called(id string) string {
	i := slices.IndexFunc(t.p.topics, func(tp words.Topic) bool { return tp.ID == id })
	if t.sc.Lang == words.English {
		return t.p.topics[i].En
	}
	return t.p.topics[i].Ja
}

// names says whether a word is what somebody in the room is called.
func (t *turn) names(word string) bool {
	word = words.Normal(word)
	called := append([]string{t.sc.Name}, t.sc.Aliases...)
	for _, m := range t.s.Members {
		called = append(called, m.ID, m.Name, t.sc.Calls[m.ID])
	}
	return word != "" && slices.ContainsFunc(called, func(c string) bool { return c != "" && strings.HasPrefix(words.Normal(c), word) })
}
