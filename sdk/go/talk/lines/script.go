// Package lines reads the scripts of characters that speak without a language model: what they are, and the lines
// that they have to say.
//
// It says what is wrong with a text and where, and never what is said when.
package lines

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/companiond/companiond/sdk/go/talk/person"
	"github.com/companiond/companiond/sdk/go/words"
)

// Act is what a line does in a talk.
type Act string

// The acts of lines about a topic.
const (
	Tell    Act = "tell"   // says something of its own
	Ask     Act = "ask"    // asks its target
	Answer  Act = "answer" // answers a question with its words in it
	React   Act = "react"  // takes up what was said
	Opening Act = "open"   // brings the topic up
)

// The acts of lines for any topic; ask, answer and react are there too.
const (
	Greet     Act = "greet"
	Intro     Act = "intro"   // introduces oneself, once
	Reintro   Act = "reintro" // the same when asked again
	Again     Act = "again"   // to somebody it knows by name
	Name      Act = "name"    // was told a name
	Namesake  Act = "namesake"
	HowAreYou Act = "howareyou"
	Thanks    Act = "thanks"
	Praise    Act = "praise"
	Rude      Act = "rude"
	Wordless  Act = "wordless"
	Emoji     Act = "emoji"
	Long      Act = "long"
	Unknown   Act = "unknown" // a question or statement about {word}
	Dodge     Act = "dodge"   // was asked something it has no line for
	Pre       Act = "pre"     // moves the talk towards its end
	Closing   Act = "closing"
	Farewell  Act = "bye"
	Nod       Act = "nod"      // a backchannel, said beside who speaks
	Self      Act = "self"     // was asked about itself; the words are of [person.Questions]
	Recall    Act = "recall"   // brings up what a person told; the words are of [person.Told]
	Knows     Act = "knows"    // was asked what it knows of the person
	Forgot    Act = "forgot"   // the same, and it knows nothing
	Told      Act = "told"     // a person answers what it asked
	Vent      Act = "vent"     // to a person who lets off steam
	Distress  Act = "distress" // to a person who writes of wanting to die or of hurting themselves
	Grave     Act = "grave"    // to a person who speaks of suicide or self-harm as of others'
)

// AnyTopic is the section of lines that fit everywhere.
const AnyTopic = "*"

// TopicActs are those that a topic may have.
var TopicActs = []Act{Tell, Ask, Answer, React, Opening}

// GeneralActs are those of AnyTopic.
var GeneralActs = []Act{Ask, React, Greet, Intro, Reintro, Again, Name, Namesake, HowAreYou, Thanks, Praise, Rude, Wordless, Emoji, Long, Unknown, Dodge, Pre, Closing, Farewell, Nod, Self, Recall, Knows, Forgot, Told, Vent, Distress, Grave}

// Kinds are the words that an act may have, where it is not said to what is heard.
var Kinds = map[Act][]string{Self: person.Questions(), Recall: person.Told()}

// IsSerious says whether the lines of an act answer what nobody jokes about. Such
// a line is said alone, and may be said again.
func IsSerious(a Act) bool { return a == Distress || a == Grave }

// Line is one thing a character can say.
type Line struct {
	Act    Act
	Topic  string
	To     string   // id of the companion it goes to
	On     []string // words to be heard, in normal form
	Text   string
	ID     uint32
	Needs  []string // placeholders in text
	Reused bool     // has {quote} or {word}: makes a new line each time
}

// Script is a parsed script: one character in one language.
type Script struct {
	Lang    words.Lang
	Name    string
	Aliases []string
	Calls   map[string]string
	Human   string
	Likes   map[string]float64
	After   map[string]float64
	Habit   map[Act]int
	Lines   map[string]map[Act][]*Line // by topic
	Topics  []words.Topic
	Keep    int // own lines to remember
	Begins  int // the line of the text where it does
}

func newScript(begins int) *Script {
	return &Script{
		Lang: words.Japanese, Human: "{name}", Calls: map[string]string{}, Likes: map[string]float64{}, After: map[string]float64{},
		Habit: map[Act]int{Tell: 1, Ask: 1, React: 1}, Lines: map[string]map[Act][]*Line{}, Topics: words.Topics(), Begins: begins,
	}
}

// finish checks what can be checked at the script's end.
func (s *Script) finish() error {
	if s.Name == "" {
		return fmt.Errorf("the head has no name")
	}
	for _, acts := range s.Lines {
		for act, lines := range acts {
			if act != Nod && !IsSerious(act) { // these come again and again
				s.Keep += len(lines)
			}
		}
	}
	s.Keep = s.Keep * 3 / 4
	return nil
}

// head reads a "key: value" line of the script's head.
func (s *Script) head(row string) error {
	key, value, ok := strings.Cut(row, ":")
	if !ok {
		return fmt.Errorf("%q has no colon%s", row, wideColon(row))
	}
	value = strings.TrimSpace(value)
	switch key {
	case "lang":
		s.Lang = words.Lang(value)
		if s.Lang != words.Japanese && s.Lang != words.English {
			return fmt.Errorf("lang %q is neither ja nor en", value)
		}
	case "name":
		s.Name = value
	case "aliases":
		s.Aliases = strings.Fields(value)
	case "human":
		s.Human = value
	case "calls":
		return pairsOf(value, func(k, v string) error { s.Calls[k] = v; return nil })
	case "likes":
		return numbers(value, s.Likes)
	case "after":
		return numbers(value, s.After)
	case "habit":
		return pairsOf(value, s.habitual)
	case "topic": // "topic: id label words..."
		f := strings.Fields(value)
		if len(f) < 2 {
			return fmt.Errorf("topic needs an id and a label")
		}
		if len(s.Topics) >= MaxTopics {
			return fmt.Errorf("there are %d topics, the usual ones among them, and may be no more", MaxTopics)
		}
		s.Topics = append(s.Topics, words.NewTopic(f[0], f[1], f[1], f[1:]...))
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
func (s *Script) habitual(k, v string) error {
	n, err := strconv.Atoi(v)
	if err != nil || n < 0 || n > maxHabit {
		return fmt.Errorf("%q is no whole number from 0 to %d", v, maxHabit)
	}
	if !slices.Contains([]Act{Tell, Ask, React}, Act(k)) {
		return fmt.Errorf("only tell, ask and react can be a habit")
	}
	s.Habit[Act(k)] = n
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
func (s *Script) add(section, row string) error {
	left, text, ok := strings.Cut(row, ": ")
	head := strings.Fields(left)
	if !ok || len(head) == 0 || strings.TrimSpace(text) == "" {
		return fmt.Errorf("%q is no \"act: text\"%s", row, wideColon(row))
	}
	l := &Line{Act: Act(head[0]), Topic: section, Text: strings.TrimSpace(text)}
	allowed := TopicActs
	if section == AnyTopic {
		allowed = GeneralActs
	}
	if !slices.Contains(allowed, l.Act) {
		return fmt.Errorf("%q is no act of section %q", l.Act, section)
	}
	for _, w := range head[1:] {
		if to, ok := strings.CutPrefix(w, "@"); ok {
			l.To = to
		} else {
			l.On = append(l.On, words.Normal(w))
		}
	}
	if err := l.prepare(); err != nil {
		return err
	}
	if err := s.long(l); err != nil {
		return err
	}
	if of := Kinds[l.Act]; of != nil && (len(l.On) == 0 || slices.ContainsFunc(l.On, func(w string) bool { return !slices.Contains(of, w) })) {
		return fmt.Errorf("a line for %q says what for: one or more of %s", l.Act, strings.Join(of, ", "))
	}
	if IsSerious(l.Act) && (l.To != "" || len(l.On) > 0 || len(l.Needs) > 0) {
		return fmt.Errorf("a line for %q stands alone: no @, no words and no placeholders", l.Act)
	}
	if s.Lines[section] == nil {
		s.Lines[section] = map[Act][]*Line{}
	}
	s.Lines[section][l.Act] = append(s.Lines[section][l.Act], l)
	return nil
}

// prepare finds the placeholders and makes the line's stable name.
func (l *Line) prepare() error {
	for rest := l.Text; ; {
		_, after, ok := strings.Cut(rest, "{")
		if !ok {
			break
		}
		key, tail, ok := strings.Cut(after, "}")
		if !ok {
			return fmt.Errorf("%q has an open brace", l.Text)
		}
		l.Needs = append(l.Needs, key)
		l.Reused = l.Reused || key == "quote" || key == "word"
		rest = tail
	}
	l.ID = words.Hash(l.Text)
	return nil
}
