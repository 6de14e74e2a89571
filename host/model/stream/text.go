package stream

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"unicode"
)

// Text collects the text of an answer and hands it on while it streams in: without the thoughts that
// local models write between tags, and without the key, should the endpoint echo it.
type Text struct {
	thoughts thoughtFilter
	key      keyFilter
	out      func(string) error
	text     strings.Builder
	told     bool
}

// NewText makes a Text. out is given the text, nil when nobody listens. A key shorter than 8 bytes is
// a dummy such as "ollama" or "none", which a model may say: it is left in the text. thinks says
// that the text begins within a thought: it is held back until that ends, or the text does.
func NewText(key string, thinks bool, out func(string) error) *Text {
	if len(key) < shortestSecret {
		key = ""
	}
	return &Text{key: keyFilter{key: key}, out: out, thoughts: thoughtFilter{assumed: thinks}}
}

// Write takes more text. Its error is out's.
func (t *Text) Write(delta string) error {
	said, forget := t.thoughts.write(delta)
	if forget && !t.told { // all before it was a thought: that can be mended where nobody was told
		t.thoughts.thought.WriteString(t.text.String())
		t.text.Reset()
		t.key.end()
	}
	return t.give(t.key.write(said))
}

// Cut says, before End, that the text broke off at a limit: what is held back because it may be a
// thought is one then, for its end did not come.
func (t *Text) Cut() {
	if f := &t.thoughts; f.assumed {
		f.thought.WriteString(f.held.String())
		f.held.Reset()
		f.assumed, f.in = false, true
	}
}

// End hands on what was held back.
func (t *Text) End() error {
	return t.give(t.key.write(t.thoughts.end()) + t.key.end())
}

func (t *Text) give(said string) error {
	if said == "" {
		return nil
	}
	t.text.WriteString(said)
	if t.out == nil {
		return nil
	}
	t.told = true
	return t.out(said)
}

// String gives the text so far. When out was given anything, it is all that out was given.
func (t *Text) String() string { return t.text.String() }

// Thought gives what was taken out because it was a thought; not always in order, for counting alone.
func (t *Text) Thought() string { return t.thoughts.thought.String() }

// Told says whether out was given something.
func (t *Text) Told() bool { return t.told }

// Thinks says that the text began within a thought, for its end came without a beginning.
func (t *Text) Thinks() bool { return t.thoughts.unopened }

// Whole takes the key out of another text of the same answer.
func (t *Text) Whole(s string) string { return Scrub(s, t.key.key) }

// thoughtFilter takes thoughts out of streamed text: what is between <think> and </think>, or
// <thinking> and </thinking>, and the space that follows it. Some chat templates write the opening
// tag for the model, so that only the closing one comes: then unopened is set, and a filter that
// begins with assumed holds everything back until that tag, or the end.
type thoughtFilter struct {
	assumed  bool
	unopened bool // a closing tag came without an opening one

	in      bool            // within a thought
	trim    bool            // a thought just ended: space is dropped
	tag     string          // the end of the text so far, which may begin a tag
	held    strings.Builder // while assumed: what may have been a thought
	thought strings.Builder // what certainly was one
	said    strings.Builder // what write gives
	forgets bool
}

// write gives the text that is certainly none of a thought. Forget says that all text given before
// was a thought.
func (f *thoughtFilter) write(delta string) (said string, forget bool) {
	f.said.Reset()
	f.forgets = false
	rest := f.tag + delta
	f.tag = ""
	for rest != "" {
		i := strings.IndexByte(rest, '<')
		if i < 0 {
			f.add(rest)
			break
		}
		f.add(rest[:i])
		rest = rest[i:]
		switch tag, opens := tagAt(rest); {
		case tag != "":
			f.pass(opens)
			rest = rest[len(tag):]
		case mayBeTag(rest):
			f.tag, rest = rest, ""
		default:
			f.add(rest[:1])
			rest = rest[1:]
		}
	}
	return f.said.String(), f.forgets
}

// end gives what was held back: an assumed thought that never closed was none, an open one is lost.
func (f *thoughtFilter) end() string {
	f.said.Reset()
	f.add(f.tag)
	f.release()
	return f.said.String()
}

// pass goes through a tag.
func (f *thoughtFilter) pass(opens bool) {
	switch {
	case opens:
		f.release() // it opens its thoughts itself
		f.in = true
		return
	case !f.in && f.assumed:
		f.thought.WriteString(f.held.String())
		f.held.Reset()
		f.assumed, f.unopened = false, true
	case !f.in:
		f.thought.WriteString(f.said.String())
		f.said.Reset()
		f.forgets, f.unopened = true, true
	}
	f.in, f.trim = false, true
}

func (f *thoughtFilter) release() {
	held := f.held.String()
	f.held.Reset()
	f.assumed = false
	f.add(held)
}

// add takes text that is no tag.
func (f *thoughtFilter) add(s string) {
	if f.in {
		f.thought.WriteString(s)
		return
	}
	if s == "" {
		return
	}
	if f.trim {
		s = strings.TrimLeftFunc(s, unicode.IsSpace)
		f.trim = s == ""
	}
	if f.assumed {
		f.held.WriteString(s)
	} else {
		f.said.WriteString(s)
	}
}

// thoughtTags gives the tags; those with a slash close.
func thoughtTags() []string { return []string{"<think>", "<thinking>", "</think>", "</thinking>"} }

// tagAt gives the tag that s begins with.
func tagAt(s string) (tag string, opens bool) {
	for _, t := range thoughtTags() {
		if strings.HasPrefix(s, t) {
			return t, t[1] != '/'
		}
	}
	return "", false
}

// mayBeTag says whether more text can make a tag of s.
func mayBeTag(s string) bool {
	return slices.ContainsFunc(thoughtTags(), func(t string) bool { return strings.HasPrefix(t, s) })
}

// hidden stands where a key was.
const hidden = "***"

// shortestSecret is the length from which on a key is taken out of answers.
const shortestSecret = 8

// keyFilter takes a key out of streamed text.
type keyFilter struct {
	key  string // "": nothing to hide
	held string // the end of the text so far, which may begin the key
}

func (f *keyFilter) write(s string) string {
	if f.key == "" {
		return s
	}
	s = strings.ReplaceAll(f.held+s, f.key, hidden)
	n := len(s) - partial(s, f.key)
	f.held = s[n:]
	return s[:n]
}

func (f *keyFilter) end() string {
	s := f.held
	f.held = ""
	return s
}

// partial gives the length of the longest end of s that may be the beginning of word.
func partial(s, word string) int {
	for n := min(len(word)-1, len(s)); n > 0; n-- {
		if strings.HasSuffix(s, word[:n]) {
			return n
		}
	}
	return 0
}

// Scrub takes a key, however short, out of a text that is complete, also where it is written as in
// JSON or in a URL.
func Scrub(s, key string) string {
	if key == "" {
		return s
	}
	quoted, _ := json.Marshal(key) // a string can always be marshalled
	for _, k := range []string{key, string(quoted[1 : len(quoted)-1]), url.QueryEscape(key), url.PathEscape(key)} {
		s = strings.ReplaceAll(s, k, hidden)
	}
	return s
}
