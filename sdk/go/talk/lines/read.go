package lines

import (
	"fmt"
	"slices"
	"strings"

	"github.com/companiond/companiond/sdk/go/words"
)

// Bounds of a text. A vote looks at the lines of a topic some times over.
const (
	MaxLines  = 2000 // to say, in all scripts of a text
	MaxTopics = 200  // of a script
)

// Mistake is one thing that is wrong with a script.
type Mistake struct {
	Line int // from 1
	Why  string
}

// Mistakes are what is wrong with a text of scripts, in the order of its lines.
type Mistakes []Mistake

// mostMistakes is how many are told of at once.
const mostMistakes = 10

// Error gives the mistakes, a line each.
func (m Mistakes) Error() string {
	rows := make([]string, len(m))
	for i, one := range m {
		rows[i] = fmt.Sprintf("line %d: %s", one.Line, one.Why)
	}
	return strings.Join(rows, "\n")
}

// reader reads a text of scripts row by row.
type reader struct {
	scripts  []*Script
	section  string
	unknown  bool // the section is, and what is in it is passed over
	lines    int
	mistakes Mistakes
}

// Parse reads a text of one script, or of several in different languages; errors are [Mistakes].
func Parse(text string) ([]*Script, error) {
	r := &reader{}
	rows := 0
	for row := range strings.Lines(strings.TrimPrefix(text, "\ufeff")) { // which Windows puts before a text
		rows++
		row = strings.TrimSpace(row)
		if row == "" || strings.HasPrefix(row, "#") {
			continue
		}
		if err := r.row(rows, row); err != nil {
			r.wrong(rows, err)
		}
		if len(r.mistakes) >= mostMistakes {
			break
		}
	}
	if len(r.scripts) == 0 {
		r.wrong(1, fmt.Errorf("the head has no name: nothing is written"))
	} else {
		r.finish()
	}
	if len(r.mistakes) > 0 {
		return nil, r.mistakes
	}
	return r.scripts, nil
}

func (r *reader) wrong(line int, err error) {
	r.mistakes = append(r.mistakes, Mistake{line, err.Error()})
}

// begin begins a script, when the one before it is over.
func (r *reader) begin(line int) {
	r.finish()
	r.scripts, r.section, r.unknown = append(r.scripts, newScript(line)), "", false
}

// finish checks the script that is over.
func (r *reader) finish() {
	if len(r.scripts) == 0 || len(r.mistakes) >= mostMistakes {
		return
	}
	last := len(r.scripts) - 1
	s := r.scripts[last]
	if err := s.finish(); err != nil {
		r.wrong(s.Begins, err)
	}
	if slices.ContainsFunc(r.scripts[:last], func(o *Script) bool { return o.Lang == s.Lang }) {
		r.wrong(s.Begins, fmt.Errorf("a second script for %q", s.Lang))
	}
}

// row reads one that says something.
func (r *reader) row(line int, row string) error {
	if len(r.scripts) == 0 || r.section != "" && strings.HasPrefix(row, "lang:") {
		r.begin(line)
	}
	s := r.scripts[len(r.scripts)-1]
	if name, ok := strings.CutPrefix(row, "["); ok {
		r.section = strings.TrimSuffix(name, "]")
		r.unknown = r.section != AnyTopic && !slices.ContainsFunc(s.Topics, func(t words.Topic) bool { return t.ID == r.section })
		if r.unknown {
			err := fmt.Errorf("section %q is no topic", r.section)
			r.section = row // which is not empty
			return err
		}
		return nil
	}
	switch {
	case r.section == "":
		return s.head(row)
	case r.unknown:
		return nil
	}
	if r.lines++; r.lines > MaxLines {
		if r.lines == MaxLines+1 {
			return fmt.Errorf("there are more than %d lines to say", MaxLines)
		}
		return nil
	}
	return s.add(r.section, row)
}
