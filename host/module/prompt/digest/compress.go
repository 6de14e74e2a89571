package digest

import (
	"context"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/abi/plain"
	"github.com/companiond/companiond/host/card/tree"
	"github.com/companiond/companiond/host/history/parts"
	"github.com/companiond/companiond/host/model/tokens"
)

// Compress tells turns in fewer words. What is too long for the model's context is told in parts,
// one behind the other, and that once more where it is too long. The model is told once when its
// text is longer than was asked for; what it gives then is what it is: it may be longer still.
//
// # Errors
//
// CodeInvalid for a request that breaks the rules, and for an answer that is none; CodeTooLarge
// where the context has no room. Those of Model.Ask are handed on.
func (m Model) Compress(ctx context.Context, c abi.Compressing) (abi.Compressed, error) {
	if err := c.Check(); err != nil {
		return abi.Compressed{}, err
	}
	if m.fits(c) {
		return m.compress(ctx, c, 0, 0)
	}
	all, err := m.split(c)
	if err != nil {
		return abi.Compressed{}, err
	}
	var texts []abi.Compressed
	lengths := m.lengths(c, all)
	for i, p := range all {
		part := c
		part.Turns, part.Keep, part.Draft, part.Length = p.Turns, p.Keep, "", lengths[i] // the draft was one of all of them
		text, err := m.compress(ctx, part, i+1, len(all))
		if err != nil {
			return abi.Compressed{}, err
		}
		if text.Text != "" {
			texts = append(texts, text)
		}
	}
	joined := parts.Texts(texts)
	again := c
	again.Turns = []abi.PastTurn{{N: span(c.Turns)[0], Upto: span(c.Turns)[1], Text: joined.Text}}
	if again.Draft = ""; m.length(joined.Text, c.Unit) <= c.Length || !m.fits(again) {
		return joined, joined.Check()
	}
	return m.compress(ctx, again, 0, 0)
}

// lengths gives how long each part of a text may be: what the policy names in it, and of the rest a share as large as its turns are.
func (m Model) lengths(c abi.Compressing, all []parts.Part) (lengths []int) {
	named := make([]int, len(all))
	turns, left := 0, c.Length-len(all)+1 // between them are line ends
	for i, p := range all {
		turns += m.length(said(p.Turns), c.Unit)
		for _, k := range p.Keep {
			if k.Policy {
				named[i] += m.length(k.Text, c.Unit) + 1
			}
		}
		left -= named[i]
	}
	for i, p := range all {
		own, share := m.length(said(p.Turns), c.Unit), 0
		if left > 0 {
			share = parts.Share(left, own, turns)
		}
		lengths = append(lengths, max(min(named[i]+share, own), 1))
	}
	return lengths
}

func said(turns []abi.PastTurn) string {
	var b strings.Builder
	for _, t := range turns {
		b.WriteString(t.Text)
	}
	return b.String()
}

// length is how long a text is.
func (m Model) length(text, unit string) int {
	if unit == abi.UnitTokens {
		return m.Meter.Tokens(tokens.Of(text))
	}
	return utf8.RuneCountInString(text)
}

// answer is how many tokens a text of the length that was asked for may take: a half more than it
// should, for models do not count well and JSON has escapes.
func (m Model) answer(c abi.Compressing) int {
	text := said(c.Turns)
	all, long := m.length(text, abi.UnitTokens), m.length(text, c.Unit)
	n := min(c.Length, long) // no longer than what it stands for
	if c.Unit == abi.UnitCharacters && long > 0 {
		n = parts.Share(n, all, long)
	}
	return n*3/2 + leastAnswer
}

// leastAnswer is room for the shortest answer.
const leastAnswer = 100

// fixed is what a request comes to without its turns and what has to be kept.
func (m Model) fixed(c abi.Compressing) int {
	n := m.ofRules(compressRules, compressSchema()) + m.line(policyLine{c.Policy}) + m.line(taskOf(c, 1000, 1000))
	if c.Draft != "" || c.Feedback != "" {
		n += m.line(refusedLine{c.Draft, c.Feedback})
	}
	return n
}

func taskOf(c abi.Compressing, part, of int) task {
	return task{Task: "compress", Turns: span(c.Turns), Part: part, Parts: of, Length: c.Length, Unit: c.Unit, Language: c.Language}
}

func (m Model) fits(c abi.Compressing) bool {
	return m.fixed(c)+m.ofAll(c.Turns, c.Keep)+m.answer(c) <= m.usable()
}

// split cuts what does not fit. At most two thirds of what is left of the context are for the turns and what
// is written of them, the rest for what has to be kept.
func (m Model) split(c abi.Compressing) ([]parts.Part, error) {
	c.Draft = ""
	room := m.usable() - m.fixed(c) - leastAnswer
	if room < leastRoom {
		return nil, m.tooSmall("the policy, with the feedback,")
	}
	written := 1.5 * min(1, float64(c.Length)/float64(max(m.length(said(c.Turns), c.Unit), 1))) // tokens of a text, for one of its turns
	past := float64(room) * 2 / 3 / (1 + written)
	return parts.Of(c.Turns, c.Keep, parts.Most{
		Turns: abi.MaxPast, Keep: abi.MaxKeep, Past: int(past), All: room - int(written*past), Turn: m.ofTurn, Item: m.ofItem,
	})
}

// leastRoom is less than a turn and what has to be kept of it commonly need, in tokens.
const leastRoom = 200

// compress asks once; part of 0 is all.
func (m Model) compress(ctx context.Context, c abi.Compressing, part, of int) (abi.Compressed, error) {
	var s sheet
	s.add(policyLine{c.Policy})
	for _, k := range c.Keep {
		s.add(keepOf(k))
	}
	for _, t := range c.Turns {
		s.add(lineOf(t))
	}
	if c.Draft != "" || c.Feedback != "" {
		s.add(refusedLine{c.Draft, c.Feedback})
	}
	s.add(taskOf(c, part, of))
	room := m.usable() - m.fixed(c) - m.ofAll(c.Turns, c.Keep)
	req := s.request(compressRules, "compressed", compressSchema(), max(min(m.answer(c), room), leastAnswer))
	told := false
	req.Check = func(raw json.RawMessage) error {
		text, err := m.read(raw, part)
		if n := m.length(text.Text, c.Unit); err == nil && n > c.Length && !told {
			told = true // once: a text that is too long is better than none
			err = abi.Errorf(abi.CodeTooLarge, "the text has %d %s, and may have %d: write a shorter one that keeps what has to stay", n, c.Unit, c.Length)
		}
		return err
	}
	raw, err := m.ask(ctx, req)
	if err != nil {
		return abi.Compressed{}, err
	}
	return m.read(raw, part)
}

// read reads a text, without what nobody sees of it. That of a part may be empty, where all of it is noise.
func (Model) read(raw json.RawMessage, part int) (abi.Compressed, error) {
	if n, err := read(raw); part > 0 && err == nil {
		if said, err := text(n, "text"); err == nil && strings.TrimSpace(plain.Text(said)) == "" {
			return abi.Compressed{}, nil
		}
	}
	c, err := ReadCompressed(raw)
	c.Text = plain.Text(c.Text)
	return c, err
}

// ReadCompressed reads a model's text.
func ReadCompressed(raw json.RawMessage) (c abi.Compressed, err error) {
	n, err := read(raw)
	if err != nil {
		return c, err
	}
	if c.Text, err = text(n, "text"); err != nil {
		return c, err
	}
	c.Text = strings.TrimSpace(c.Text)
	return c, c.Check()
}

// read reads an answer, in which no key is there twice.
func read(raw json.RawMessage) (*tree.Node, error) {
	var faults tree.Faults
	n := tree.Read(raw, "answer", &faults)
	if err := faults.Err(abi.CodeInvalid, "answer"); len(faults) > 0 {
		return nil, err
	}
	if n == nil || n.Kind != tree.Object {
		return nil, abi.Errorf(abi.CodeInvalid, "the answer is no object")
	}
	return n, nil
}

// text gives a member that has to be a string. Its name is taken as it is written: "Verdict" is
// not "verdict".
func text(n *tree.Node, name string) (string, error) {
	v := n.Get(name)
	if v == nil || v.Kind != tree.Text {
		return "", abi.Errorf(abi.CodeInvalid, "%s: must be there, and a string", name)
	}
	return v.Text, nil
}
