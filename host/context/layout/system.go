package layout

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"github.com/companiond/companiond/host/card"
	"github.com/companiond/companiond/host/context/window"
	"github.com/companiond/companiond/host/model/tokens"
)

const (
	cardShare   = .25 // of a budget, that the card may have. What is longer is told in fewer words
	othersShare = .30 // that it leaves to the history and the tail
	leastCard   = 60  // tokens
)

// System is what a character's requests begin with: the house's rules and the card, once. It
// is the same whatever is said. notes say what of the card was left out. What was chosen for a
// budget stays, though the guess of its tokens changes a little.
func (m *Mind) System(b Budget) (text string, notes []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	count := func(text string) int { return b.Meter.Tokens(tokens.Of(text)) }
	if c := m.chosen; c.context == b.Context && count(c.card) <= c.most+c.most/10 {
		return c.text, c.notes
	}
	if m.panel != nil {
		m.chosen = choice{context: b.Context}
		m.chosen.text, m.chosen.notes = m.panelSystem(b.usable(), b.Meter)
		return m.chosen.text, m.chosen.notes
	}
	rules := m.words.rules(m.Card.Name)
	if m.Card.Language != "" {
		rules += "\n\n" + m.words.language(m.Card.Language)
	}
	rules += "\n\n" + m.words.pick("あなたの定義です。上の決まりの中で、このとおりにふるまいます:", "This is who you are, and how you behave within the rules above:") + "\n"
	all := b.usable()
	left := all - count(rules) - b.Meter.Tokens(sizeOf(m.Offer(b, m.all)))
	quarter := int(float64(all) * cardShare)
	c := choice{context: b.Context, whole: true, most: max(min(quarter, left-int(float64(all)*othersShare)), leastCard)}
	switch full, brief := compact(m.Card.Source()), encode(outline(m.Card)); {
	case count(full) <= c.most:
		c.card = full
	case count(brief) <= c.most:
		c.card, c.notes = brief, []string{"the schemas of the card's actions and perceptions: " + tooLong(count(full), quarter, b)}
	default: // who it is comes before what it remembers, but for a huge card
		c.most = max(c.most, min(quarter, left-int(float64(all)*leastShare)-firstTail))
		c.card = encode(persona(m.Card, c.most, b.Meter))
		c.whole = c.card == encode(persona(m.Card, math.MaxInt32, b.Meter))
		told := "all of the card but who the character is: "
		if !c.whole {
			told = "all of the card but who the character is, and the middle of that: "
		}
		c.notes = []string{told + tooLong(count(brief), quarter, b)}
	}
	c.text = rules + c.card
	m.chosen = c
	return c.text, c.notes
}

// tooLong says why something of a card that comes to so many tokens is not told.
func tooLong(tokens, quarter int, b Budget) string {
	if tokens > quarter {
		return "it is longer than a quarter of the model's context"
	}
	return fmt.Sprintf("beside the rules and the talk there is no room for it in the model's context of %d tokens", b.Context)
}

// Shortened says why who the character is cannot be told whole within a budget; empty: it is.
func (m *Mind) Shortened(b Budget) string {
	_, notes := m.System(b)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.chosen.whole || len(notes) == 0 {
		return ""
	}
	return notes[0]
}

// choice is how a card is told in a context of a length.
type choice struct {
	context, most int
	card, text    string
	notes         []string
	whole         bool // who the character is, is told whole
}

// compact writes a card in one line.
func compact(source json.RawMessage) string {
	var b bytes.Buffer
	if json.Compact(&b, source) != nil {
		return string(source)
	}
	return b.String()
}

// brief is a card without what its tools say.
type brief struct {
	Name        string   `json:"name"`
	Aliases     []string `json:"aliases,omitempty"`
	Personality string   `json:"personality,omitempty"`
	Story       string   `json:"story,omitempty"`
	Role        string   `json:"role,omitempty"`
	Sample      string   `json:"sample,omitempty"`
	Actions     []named  `json:"actions,omitempty"`
	Perceptions []named  `json:"perceptions,omitempty"`
	Events      []rule   `json:"events,omitempty"`
}

type named struct {
	Title       string `json:"title"`
	Description string `json:"description,omitempty"`
}

type rule struct {
	Perception string   `json:"perception"`
	Actions    []string `json:"actions"`
	Condition  string   `json:"condition,omitempty"`
}

func outline(c *card.Card) brief {
	b := brief{Name: c.Name, Aliases: c.Aliases, Personality: c.Personality, Story: c.Story, Role: c.Role, Sample: c.Sample}
	for _, a := range c.Actions {
		b.Actions = append(b.Actions, named{a.Title, a.Description})
	}
	for _, p := range c.Perceptions {
		b.Perceptions = append(b.Perceptions, named{p.Title, p.Description})
	}
	for _, e := range c.Events {
		b.Events = append(b.Events, rule(e))
	}
	return b
}

// persona keeps who the character is, each part as long as it can be.
func persona(c *card.Card, most int, meter *tokens.Meter) brief {
	b := brief{Name: c.Name, Personality: c.Personality, Story: c.Story, Role: c.Role, Sample: c.Sample}
	parts := []*string{&b.Sample, &b.Story, &b.Role, &b.Personality} // the first gives way first
	for i, p := range parts {
		over := meter.Tokens(tokens.Of(encode(b))) - most
		if over <= 0 {
			break
		}
		have := meter.Tokens(tokens.Of(*p))
		least := most / len(parts) / 2
		if i == len(parts)-1 {
			least = most / 2
		}
		*p, _ = window.Shorten(*p, max(min(have, least), have-over), meter)
	}
	return b
}

// encode writes a value as a card is written.
func encode(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(v) // it is made of texts
	return strings.TrimSuffix(b.String(), "\n")
}
