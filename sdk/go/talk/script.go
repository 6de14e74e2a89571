package talk

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/companiond/companiond/sdk/go/words"
)

// act is what a line does in a talk.
type act string

// The acts of lines about a topic.
const (
	tell    act = "tell"   // says something of its own
	ask     act = "ask"    // asks its target
	answer  act = "answer" // answers a question with its words in it
	react   act = "react"  // takes up what was said
	opening act = "open"   // brings the topic up
)

// The acts of lines for any topic; ask, answer and react are there too.
const (
	greet     act = "greet"
	intro     act = "intro"   // introduces oneself, once
	reintro   act = "reintro" // the same when asked again
	again     act = "again"   // to somebody it knows by name
	name      act = "name"    // was told a name
	namesake  act = "namesake"
	howAreYou act = "howareyou"
	thanks    act = "thanks"
	praise    act = "praise"
	rude      act = "rude"
	wordless  act = "wordless"
	emoji     act = "emoji"
	long      act = "long"
	unknown   act = "unknown" // a question or statement about {word}
	dodge     act = "dodge"   // was asked something it has no line for
	pre       act = "pre"     // moves the talk towards its end
	closing   act = "closing"
	farewell  act = "bye"
	nod       act = "nod"      // a backchannel, said beside who speaks
	distress  act = "distress" // to a person who writes of wanting to die or of hurting themselves
	grave     act = "grave"    // to a person who speaks of suicide or self-harm as of others'
)

// anyTopic is the section of lines that fit everywhere.
const anyTopic = "*"

var topicActs = []act{tell, ask, answer, react, opening}

var generalActs = []act{ask, react, greet, intro, reintro, again, name, namesake, howAreYou, thanks, praise, rude, wordless, emoji, long, unknown, dodge, pre, closing, farewell, nod, distress, grave}

// line is one thing a character can say.
type line struct {
	act    act
	topic  string
	to     string   // id of the companion it goes to
	on     []string // words to be heard, in normal form
	text   string
	id     uint32
	needs  []string // placeholders in text
	reused bool     // has {quote} or {word}: makes a new line each time
}

// script is a parsed script: one character in one language.
type script struct {
	lang    words.Lang
	name    string
	aliases []string
	calls   map[string]string
	human   string
	likes   map[string]float64
	after   map[string]float64
	habit   map[act]int
	lines   map[string]map[act][]*line // by topic
	topics  []words.Topic
	keep    int // own lines to remember
	begins  int // the line of the text where it does
}

func newScript(begins int) *script {
	return &script{
		lang: words.Japanese, human: "{name}", calls: map[string]string{}, likes: map[string]float64{}, after: map[string]float64{},
		habit: map[act]int{tell: 1, ask: 1, react: 1}, lines: map[string]map[act][]*line{}, topics: words.Topics(), begins: begins,
	}
}

// finish checks what can be checked at the script's end.
func (s *script) finish() error {
	if s.name == "" {
		return fmt.Errorf("the head has no name")
	}
	for _, acts := range s.lines {
		for act, lines := range acts {
			if act != nod && !isSerious(act) { // these come again and again
				s.keep += len(lines)
			}
		}
	}
	s.keep = s.keep * 3 / 4
	return nil
}

// head reads a "key: value" line of the script's head.
func (s *script) head(row string) error {
	key, value, ok := strings.Cut(row, ":")
	if !ok {
		return fmt.Errorf("%q has no colon%s", row, wideColon(row))
	}
	value = strings.TrimSpace(value)
	switch key {
	case "lang":
		s.lang = words.Lang(value)
		if s.lang != words.Japanese && s.lang != words.English {
			return fmt.Errorf("lang %q is neither ja nor en", value)
		}
	case "name":
		s.name = value
	case "aliases":
		s.aliases = strings.Fields(value)
	case "human":
		s.human = value
	case "calls":
		return pairsOf(value, func(k, v string) error { s.calls[k] = v; return nil })
	case "likes":
		return numbers(value, s.likes)
	case "after":
		return numbers(value, s.after)
	case "habit":
		return pairsOf(value, s.habitual)
	case "topic": // "topic: id label words..."
		f := strings.Fields(value)
		if len(f) < 2 {
			return fmt.Errorf("topic needs an id and a label")
		}
		if len(s.topics) >= maxTopics {
			return fmt.Errorf("there are %d topics, the usual ones among them, and may be no more", maxTopics)
		}
		s.topics = append(s.topics, words.NewTopic(f[0], f[1], f[1], f[1:]...))
	default:
		return fmt.Errorf("key %q is not known", key)
	}
	return nil
}

// pairsOf reads "a=1 b=2".
func pairsOf(text string, set func(k, v string) error) error {
	for _, f := range strings.Fields(text) {
		k, v, ok := strings.Cut(f, "=")
		if !ok {
			return fmt.Errorf("%q is no key=value", f)
		}
		if err := set(k, v); err != nil {
			return fmt.Errorf("%s: %w", k, err)
		}
	}
	return nil
}

func numbers(text string, into map[string]float64) error {
	return pairsOf(text, func(k, v string) error {
		n, err := strconv.ParseFloat(v, 64)
		if err != nil || math.IsNaN(n) || math.IsInf(n, 0) {
			return fmt.Errorf("%q is no number", v)
		}
		into[k] = n
		return nil
	})
}

// maxHabit is the largest weight of a habit.
const maxHabit = 100

// habitual reads the weight of what a character rather does.
func (s *script) habitual(k, v string) error {
	n, err := strconv.Atoi(v)
	if err != nil || n < 0 || n > maxHabit {
		return fmt.Errorf("%q is no whole number from 0 to %d", v, maxHabit)
	}
	if !slices.Contains([]act{tell, ask, react}, act(k)) {
		return fmt.Errorf("only tell, ask and react can be a habit")
	}
	s.habit[act(k)] = n
	return nil
}

// wideColon says what is wrong with a row written as Japanese is.
func wideColon(row string) string {
	if strings.Contains(row, "：") {
		return "; write a half-width colon and a space in place of ："
	}
	return ""
}

// add reads a line of a section: "act @target words: text".
func (s *script) add(section, row string) error {
	left, text, ok := strings.Cut(row, ": ")
	head := strings.Fields(left)
	if !ok || len(head) == 0 || strings.TrimSpace(text) == "" {
		return fmt.Errorf("%q is no \"act: text\"%s", row, wideColon(row))
	}
	l := &line{act: act(head[0]), topic: section, text: strings.TrimSpace(text)}
	allowed := topicActs
	if section == anyTopic {
		allowed = generalActs
	}
	if !slices.Contains(allowed, l.act) {
		return fmt.Errorf("%q is no act of section %q", l.act, section)
	}
	for _, w := range head[1:] {
		if to, ok := strings.CutPrefix(w, "@"); ok {
			l.to = to
		} else {
			l.on = append(l.on, words.Normal(w))
		}
	}
	if err := l.prepare(); err != nil {
		return err
	}
	if isSerious(l.act) && (l.to != "" || len(l.on) > 0 || len(l.needs) > 0) {
		return fmt.Errorf("a line for %q stands alone: no @, no words and no placeholders", l.act)
	}
	if s.lines[section] == nil {
		s.lines[section] = map[act][]*line{}
	}
	s.lines[section][l.act] = append(s.lines[section][l.act], l)
	return nil
}

// prepare finds the placeholders and makes the line's stable name.
func (l *line) prepare() error {
	for rest := l.text; ; {
		_, after, ok := strings.Cut(rest, "{")
		if !ok {
			break
		}
		key, tail, ok := strings.Cut(after, "}")
		if !ok {
			return fmt.Errorf("%q has an open brace", l.text)
		}
		l.needs = append(l.needs, key)
		l.reused = l.reused || key == "quote" || key == "word"
		rest = tail
	}
	l.id = words.Hash(l.text)
	return nil
}
