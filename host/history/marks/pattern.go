package marks

import (
	"regexp"
	"regexp/syntax"
	"strings"
	"sync"
	"unicode/utf8"
)

// Most sentences have nothing of most patterns, and to see that by going through them with each of some hundred expressions took most of
// the time. So of each text the runs of three bytes (of two, of one) are noted once, in a set that may say yes for what is not
// there and never no for what is; and an expression is only tried where a piece of text that it cannot do without may be there.

// Grams are the runs of up to three bytes of a text, in small letters.
type Grams [64]uint64

// GramsOf gives those of a text.
func GramsOf(text string) *Grams {
	var g Grams
	a, b := byte(0), byte(0)
	for i := range len(text) {
		c := lower(text[i])
		g.set(gram(0, 0, c))
		if i > 0 {
			g.set(gram(0, b, c))
		}
		if i > 1 {
			g.set(gram(a, b, c))
		}
		a, b = b, c
	}
	return &g
}

func lower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		c += 'a' - 'A'
	}
	return c
}

func gram(a, b, c byte) uint32 {
	return (uint32(a)<<16 | uint32(b)<<8 | uint32(c)) * 2654435761 >> 20
}

func (g *Grams) set(h uint32) { g[h>>6] |= 1 << (h & 63) }

func (g *Grams) has(need []uint32) bool {
	for _, h := range need {
		if g[h>>6]&(1<<(h&63)) == 0 {
			return false
		}
	}
	return true
}

// Pattern is a regular expression that knows what it cannot do without.
type Pattern struct {
	expression func() *regexp.Regexp
	needs      [][]uint32 // grams of which it needs one row; nil: not known
	alone      []*Pattern // the alternatives that it is made of, if it is
}

// Compile makes a pattern; one that is no expression panics where it is first used.
func Compile(expression string) *Pattern {
	p := &Pattern{expression: sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })}
	re, err := syntax.Parse(expression, syntax.Perl)
	if err != nil {
		panic(err)
	}
	if needs, ok := needs(re); ok {
		for _, n := range needs {
			p.needs = append(p.needs, rows(n))
		}
	}
	return p
}

// either makes a pattern of alternatives.
func either(alternatives ...string) *Pattern {
	p := Compile("(?:" + strings.Join(alternatives, "|") + ")")
	for _, a := range alternatives {
		p.alone = append(p.alone, Compile(a))
	}
	return p
}

// May says whether a pattern may be in a text with these grams.
func (p *Pattern) May(g *Grams) bool {
	for _, n := range p.needs {
		if g.has(n) {
			return true
		}
	}
	return p.needs == nil
}

// In says whether a pattern is in a text, of which the grams are.
func (p *Pattern) In(text string, g *Grams) bool {
	if !p.May(g) {
		return false
	}
	for _, a := range p.alone {
		if a.May(g) && a.expression().MatchString(text) {
			return true
		}
	}
	return p.alone == nil && p.expression().MatchString(text)
}

// without puts a blank where a pattern is in a text.
func (p *Pattern) without(text string, g *Grams) (string, *Grams) {
	if !p.In(text, g) {
		return text, g
	}
	text = p.expression().ReplaceAllString(text, " ")
	return text, GramsOf(text)
}

// blanked is [Pattern.without] that leaves everything else at its place.
func (p *Pattern) blanked(text string, g *Grams) string {
	if !p.In(text, g) {
		return text
	}
	return p.expression().ReplaceAllStringFunc(text, func(s string) string { return strings.Repeat(" ", len(s)) })
}

// all gives where a pattern is in a text, as [regexp.Regexp.FindAllStringSubmatchIndex] does.
func (p *Pattern) all(text string, g *Grams) [][]int {
	if !p.May(g) {
		return nil
	}
	return p.expression().FindAllStringSubmatchIndex(text, -1)
}

// replace puts something else where a pattern is in a text.
func (p *Pattern) replace(text string, g *Grams, by func(groups []string) string) (string, *Grams) {
	if !p.May(g) {
		return text, g
	}
	re := p.expression()
	text = re.ReplaceAllStringFunc(text, func(s string) string { return by(re.FindStringSubmatch(s)) })
	return text, GramsOf(text)
}

// longest is how many grams of a need are looked at.
const longest = 4

func rows(need string) (all []uint32) {
	b := []byte(need)
	for i := range b {
		b[i] = lower(b[i])
	}
	switch len(b) {
	case 1:
		return []uint32{gram(0, 0, b[0])}
	case 2:
		return []uint32{gram(0, b[0], b[1])}
	}
	for i := len(b) - 3; i >= 0 && len(all) < longest; i-- {
		all = append(all, gram(b[i], b[i+1], b[i+2]))
	}
	return all
}

// many is how many letters a class of them has at most that is looked for one by one.
const many = 64

// needs gives pieces of text of which one is in whatever an expression matches, ok false where there are none.
func needs(re *syntax.Regexp) (all []string, ok bool) {
	switch re.Op {
	case syntax.OpLiteral:
		return []string{string(re.Rune)}, len(re.Rune) > 0
	case syntax.OpCharClass:
		for i := 0; i < len(re.Rune); i += 2 {
			for r := re.Rune[i]; r <= re.Rune[i+1]; r++ {
				if all = append(all, string(r)); len(all) > many || !utf8.ValidRune(r) {
					return nil, false
				}
			}
		}
		return all, len(all) > 0
	case syntax.OpCapture, syntax.OpPlus:
		return needs(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min == 0 {
			return nil, false
		}
		return needs(re.Sub[0])
	case syntax.OpAlternate:
		for _, s := range re.Sub {
			n, ok := needs(s)
			if !ok {
				return nil, false
			}
			all = append(all, n...)
		}
		return all, true
	case syntax.OpConcat:
		best := 0
		for _, s := range re.Sub {
			if n, ok := needs(s); ok && shortest(n)*1000-len(n) > best {
				all, best = n, shortest(n)*1000-len(n)
			}
		}
		return all, all != nil
	}
	return nil, false
}

func shortest(all []string) int {
	n := len(all[0])
	for _, s := range all {
		n = min(n, len(s))
	}
	return n
}
