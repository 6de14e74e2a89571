// Package hide takes secrets out of texts and of JSON that others may read.
//
// A secret is found as it stands and as it is written in Go, JSON, addresses and base64, and also where signs that nobody
// sees stand between its letters. What it cannot find is one that somebody changed on purpose, in a way of his own.
// It never reads a secret from anywhere, and never logs one.
package hide

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"github.com/companiond/companiond/abi"
)

// Mark stands where a secret was.
const Mark = "(secret)"

// Secrets are those of one handler. The zero value has none, and so has nil; it is safe for concurrent use.
type Secrets struct {
	mu    sync.RWMutex
	forms []string // as they may be written, without signs that nobody sees; the longest first
}

// Add has a secret taken out from now on.
func (s *Secrets) Add(secret string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	written, _ := json.Marshal(secret) // a text can always be written
	for _, form := range []string{
		secret, inside(strconv.Quote(secret)), inside(string(written)), url.QueryEscape(secret), url.PathEscape(secret),
		base64.StdEncoding.EncodeToString([]byte(secret)), base64.RawURLEncoding.EncodeToString([]byte(secret)),
	} {
		if form = seen(form); form != "" && !slices.Contains(s.forms, form) {
			s.forms = append(s.forms, form)
		}
	}
	slices.SortFunc(s.forms, func(a, b string) int { return len(b) - len(a) }) // one may be a part of another
}

// inside gives a text without its quotes.
func inside(quoted string) string { return quoted[1 : len(quoted)-1] }

// unseen says whether nobody sees a sign, so that a text reads the same without it.
func unseen(r rune) bool {
	return abi.Ignorable(r) || !unicode.IsPrint(r) && !unicode.IsSpace(r)
}

// seen gives what is seen of a text.
func seen(text string) string {
	return strings.Map(func(r rune) rune {
		if unseen(r) {
			return -1
		}
		return r
	}, text)
}

// all gives the forms, none where nothing is hidden.
func (s *Secrets) all() []string {
	if s == nil {
		return nil
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	return slices.Clone(s.forms)
}

// Any says whether there are secrets.
func (s *Secrets) Any() bool { return len(s.all()) > 0 }

// Text gives a text without them.
func (s *Secrets) Text(text string) string {
	for _, form := range s.all() {
		text = without(text, form)
	}
	return text
}

// without gives a text without a form of a secret. The rest of the text stays as it is.
func without(text, form string) string {
	if !strings.ContainsFunc(text, unseen) {
		return strings.ReplaceAll(text, form, Mark)
	}
	var plain strings.Builder // what is seen of it
	var at []int              // of each byte of that, where it stands in the text
	for i, r := range text {
		if unseen(r) {
			continue
		}
		width := len(string(r))
		if r == unicode.ReplacementChar && !strings.HasPrefix(text[i:], string(r)) {
			width = 1 // a byte that is no text
		}
		plain.WriteString(text[i : i+width])
		for b := range width {
			at = append(at, i+b)
		}
	}
	var out strings.Builder
	from := 0 // of what is left of the text
	for left, begin := plain.String(), 0; ; {
		i := strings.Index(left[begin:], form)
		if i < 0 {
			break
		}
		begin += i
		out.WriteString(text[from:at[begin]])
		out.WriteString(Mark)
		begin += len(form)
		from = at[begin-1] + 1
	}
	return out.String() + text[from:]
}

// Own gives a text that somebody made of another one without secrets, unless that other one has some already: then
// they were no secrets of his that he tells.
func (s *Secrets) Own(was, is string) string {
	if s.Text(was) != was {
		return is
	}
	return s.Text(is)
}

// JSON gives JSON without them, in its texts and its names, however they are written. It stays to the letter where there are none
// in it, and what is no JSON does, too.
func (s *Secrets) JSON(raw json.RawMessage) json.RawMessage {
	if !s.Any() || len(raw) == 0 {
		return raw
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	if dec.Decode(&v) != nil {
		return raw
	}
	v, changed := s.walk(v)
	if !changed {
		return raw
	}
	out, err := json.Marshal(v)
	if err != nil { // it was read a moment ago
		return json.RawMessage(`"` + Mark + `"`)
	}
	return out
}

func (s *Secrets) walk(v any) (is any, changed bool) {
	switch v := v.(type) {
	case string:
		hidden := s.Text(v)
		return hidden, hidden != v
	case json.Number: // a secret of digits alone
		if hidden := s.Text(v.String()); hidden == Mark {
			return hidden, true
		}
	case []any:
		for i := range v {
			one, did := s.walk(v[i])
			v[i], changed = one, changed || did
		}
	case map[string]any:
		for name, one := range v {
			hidden, did := s.walk(one)
			called := s.Text(name)
			if called != name {
				delete(v, name)
			}
			v[called], changed = hidden, changed || did || called != name
		}
	}
	return v, changed
}
