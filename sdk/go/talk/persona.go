package talk

import (
	"github.com/companiond/companiond/sdk/go/talk/lines"

	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/companiond/companiond/abi"
	companion "github.com/companiond/companiond/sdk/go"
	"github.com/companiond/companiond/sdk/go/talk/person"
	"github.com/companiond/companiond/sdk/go/words"
)

// persona is a character played from scripts.
type persona struct {
	scripts map[words.Lang]*script
	main    *script       // the first one
	aliases []string      // of all scripts
	topics  []words.Topic // of all scripts
	find    *words.Finder // of topics
	minds   map[string]*mind
	denied  bool // it may not ask what is remembered
}

// New makes a character of scripts, one for each language it speaks; the first
// gives its name and its language of last resort. A text may hold several, one
// behind the other. Errors name script and line, and those of a text are [Mistakes].
func New(scripts ...string) (companion.Character, error) {
	p, err := newPersona(scripts)
	if err != nil {
		return companion.Character{}, err
	}
	return companion.Character{Name: p.main.Name, Aliases: p.aliases, Version: "1", Vote: p.vote, Speak: p.speak}, nil
}

func newPersona(texts []string) (*persona, error) {
	p := &persona{scripts: map[words.Lang]*script{}, minds: map[string]*mind{}}
	for i, text := range texts {
		scripts, err := lines.Parse(text)
		if err != nil {
			return nil, fmt.Errorf("script %d: %w", i+1, err)
		}
		for _, s := range scripts {
			if p.scripts[s.Lang] != nil {
				return nil, fmt.Errorf("script %d: a second one for %q", i+1, s.Lang)
			}
			p.take(s)
		}
	}
	if p.main == nil {
		return nil, fmt.Errorf("no script")
	}
	p.find = words.NewFinder(p.topics)
	return p, nil
}

// take has the character speak a script's language.
func (p *persona) take(s *script) {
	p.scripts[s.Lang] = s
	if p.main == nil {
		p.main = s
	}
	p.aliases = append(p.aliases, s.Aliases...)
	for _, t := range s.Topics {
		i := slices.IndexFunc(p.topics, func(o words.Topic) bool { return o.ID == t.ID })
		if i < 0 {
			p.topics = append(p.topics, t)
			continue
		}
		p.topics[i].Take(t, s.Lang)
	}
}

// Must is New for scripts that are part of the program: an error is a fault of
// its maker and panics at start, where the daemon shows it.
func Must(scripts ...string) companion.Character {
	c, err := New(scripts...)
	if err != nil {
		panic("talk: " + err.Error())
	}
	return c
}

// script gives the script for the talk's language.
func (p *persona) script(m *mind) *script {
	if s := p.scripts[m.lang]; s != nil {
		return s
	}
	return p.main
}

// told gives the name the human told in the message that opened the talk.
func (m *mind) told() (string, bool) {
	o := m.opener()
	if o.seq == 0 {
		return "", false
	}
	if name, ok := words.Introduced(o.text); ok {
		return name, true
	}
	// The name alone will do where a companion has just asked for it.
	for i := len(m.beats) - len(m.talk) - 1; i >= 0 && !m.beats[i].human; i-- {
		if m.beats[i].question && asksName(m.beats[i].norm) {
			return words.BareName(o.text)
		}
	}
	return "", false
}

// asksName says whether a question in normal form is for a name.
func asksName(norm string) bool {
	return strings.Contains(norm, "お名前") || strings.Contains(norm, "your name")
}

// nameOf gives how to call somebody, "" where there is no good way. A human
// who is called like a companion in the room is not called by that name.
func (p *persona) nameOf(h *companion.Host, sc *script, s companion.Scene, id string) string {
	m := memberOf(s, id)
	if m.Kind != abi.KindHuman {
		if call := sc.Calls[id]; call != "" {
			return call
		}
		return strings.ReplaceAll(sc.Human, "{name}", cmp.Or(m.Name, id))
	}
	name := person.Known(h, id).Name
	if name == "" && m.Name != id && !person.Anonymous(m.Name) {
		name = m.Name
	}
	if name == "" || p.namesake(h, s, name) {
		return ""
	}
	return strings.ReplaceAll(sc.Human, "{name}", name)
}

// namesake says whether a companion in the room is called so.
func (p *persona) namesake(h *companion.Host, s companion.Scene, name string) bool {
	n := words.Normal(name)
	names := append([]string{h.Self(), p.main.Name}, p.aliases...)
	for _, sc := range p.scripts {
		for _, call := range sc.Calls {
			names = append(names, call, strings.TrimSuffix(call, "さん"))
		}
	}
	for _, m := range s.Members {
		if m.Kind != abi.KindHuman {
			names = append(names, m.ID, m.Name)
		}
	}
	return slices.ContainsFunc(names, func(s string) bool { return words.Normal(s) == n })
}

// present says whether a companion or agent with that id is in the room.
func present(s companion.Scene, id string) bool { return kindOf(s, id) != abi.KindHuman }
