package tree

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// broken says at which byte a text stops being JSON, and why. The text is written
// by hand, in an editor that may put in quotes or commas of its own: so it says what
// to write instead where that can be told. err is what encoding/json said.
func broken(data []byte, err error) (at int, why string) {
	var syntax *json.SyntaxError
	if !errors.As(err, &syntax) {
		return len(data), err.Error()
	}
	at = max(int(syntax.Offset)-1, 0)
	looked := invalid.FindStringSubmatch(err.Error())
	// encoding/json puts a space after a text that breaks off in a word.
	if err.Error() == "unexpected end of JSON input" || at >= len(data) || looked != nil && looked[1] == " " && data[at] != ' ' {
		return len(data), "it ends too early" + begin(data).ending()
	}
	if looked == nil { // a newer encoding/json
		return at, err.Error()
	}
	b := breach{beginning: begin(data[:at]), rest: data[at:], looked: looked[2]}
	b.found, _ = utf8.DecodeRune(b.rest)
	if last := b.lastByte(); last == ',' && (b.found == '}' || b.found == ']') {
		return b.last, fmt.Sprintf("there is a comma before %c; take it out", b.found)
	}
	return at, b.why()
}

// invalid is how encoding/json tells of a byte, and what it looked for.
var invalid = regexp.MustCompile(`^invalid character '(.[^ ]*)' (.*)$`)

// beginning is a text up to where it stops being JSON.
type beginning struct {
	data   []byte
	open   []int  // the brackets that are not closed
	quote  int    // of the string that is not closed, or -1
	said   []byte // the last string that is closed
	last   int    // the last byte that is no space, or -1
	closed int    // the last bracket that closed another, or -1
}

// begin reads a text that is JSON as far as it goes, or breaks off.
func begin(data []byte) beginning {
	b := beginning{data: data, quote: -1, last: -1, closed: -1}
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case b.quote >= 0 && c == '\\':
			i++
		case b.quote >= 0 && c == '"':
			b.said, b.quote = data[b.quote:i+1], -1
		case b.quote >= 0:
		case c == '"':
			b.quote = i
		case c == '{' || c == '[':
			b.open = append(b.open, i)
		case (c == '}' || c == ']') && len(b.open) > 0:
			b.open, b.closed = b.open[:len(b.open)-1], i
		case bytes.IndexByte([]byte(" \t\r\n"), c) >= 0:
			continue
		}
		b.last = min(i, len(data)-1)
	}
	return b
}

// lastByte is the last one that is no space, 0 when there is none.
func (b *beginning) lastByte() byte {
	if b.last < 0 {
		return 0
	}
	return b.data[b.last]
}

// where names a place that was read before: its line, or its column where there is
// only one line.
func (b *beginning) where(at int) string {
	if !bytes.Contains(b.data, []byte("\n")) {
		return fmt.Sprintf("in column %d", 1+utf8.RuneCount(b.data[:at]))
	}
	return fmt.Sprintf("in line %d", 1+bytes.Count(b.data[:at], []byte("\n")))
}

// unclosed names the innermost bracket that is not closed; "" when there is none.
func (b beginning) unclosed() string {
	if len(b.open) == 0 {
		return ""
	}
	at := b.open[len(b.open)-1]
	return fmt.Sprintf("the %c %s is not closed", b.data[at], b.where(at))
}

// ending says what is missing at the end.
func (b beginning) ending() string {
	switch {
	case b.last < 0:
		return ": there is nothing in it"
	case b.quote >= 0:
		return ": the string " + b.where(b.quote) + " is not closed" + curled(b.data[b.quote:], "; write \" where it has %s")
	case len(b.open) > 1:
		return fmt.Sprintf(": %s, nor are %d around it", b.unclosed(), len(b.open)-1)
	case len(b.open) == 1:
		return ": " + b.unclosed()
	}
	return ""
}

// breach is the place where a text stops being JSON.
type breach struct {
	beginning
	rest   []byte // from there on
	found  rune   // what stands there
	looked string // what encoding/json says that it looked for
}

// sought says in plain words what has to stand where something else was found.
var sought = map[string]string{
	"looking for beginning of value":             "where a value has to begin",
	"looking for beginning of object key string": "where a key has to begin",
	"after object key":                           "where : has to follow the key",
	"after object key:value pair":                "where , or } has to follow",
	"after array element":                        "where , or ] has to follow",
	"after top-level value":                      "after the end",
	"exceeded max depth":                         "lies too deep",
	"in string escape code":                      `after a \ in a string`,
	`in \u hexadecimal character escape`:         `in a string where \u needs four digits, 0 to 9 and a to f`,
}

func (b *breach) why() string {
	found := strconv.QuoteRune(b.found)
	word, literal := strings.CutPrefix(b.looked, "in literal ")
	words, plain := sought[b.looked]
	switch {
	case b.looked == "in string literal":
		return b.control(found)
	case b.looked == "in string escape code":
		return found + " " + words + `; a \ that is meant is written \\`
	case b.quote < 0 && b.comment():
		return "there is a comment, and JSON has none; take it out"
	case literal:
		word, _, _ = strings.Cut(word, " ")
		return found + " in what begins like " + word + `; a text stands in "`
	case strings.HasSuffix(b.looked, "numeric literal"):
		return found + " in a number"
	case !plain: // a newer encoding/json
		return found + " " + b.looked
	}
	if hint := b.hint(); hint != "" {
		return found + " " + words + "; " + hint
	}
	return found + " " + words
}

// control tells of what may not stand in a string as it is.
func (b *breach) control(found string) string {
	within := " in the string that begins " + b.where(b.quote)
	switch b.found {
	case '\n', '\r':
		return "a line end" + within + curled(b.data[b.quote:], "; is %s meant to be its closing \"?", "; close it, or write \\n")
	case '\t':
		return "a tab" + within + `; write \t`
	}
	return found + within + fmt.Sprintf(`; write \u%04x`, b.found)
}

func (b *breach) comment() bool {
	return b.found == '#' || bytes.HasPrefix(b.rest, []byte("//")) || bytes.HasPrefix(b.rest, []byte("/*"))
}

// hint says what to do, "" where that cannot be told.
func (b *breach) hint() string {
	if instead := ascii(b.found); instead != "" {
		return instead
	}
	begins := unicode.IsLetter(b.found) || unicode.IsDigit(b.found) || strings.ContainsRune(`"{[-_「『`, b.found)
	switch b.looked {
	case "looking for beginning of value":
		return b.forValue()
	case "looking for beginning of object key string":
		if begins {
			return `a key stands in "`
		}
	case "after object key":
		if begins {
			return "a : is missing before it" + curled(b.said, ", or is %s meant to be \"?")
		}
	case "after object key:value pair", "after array element":
		return b.forMore(begins)
	case "after top-level value":
		if b.closed >= 0 && b.closed == b.last {
			return fmt.Sprintf("the %c %s closes all that was open", b.data[b.closed], b.where(b.closed))
		}
	}
	return ""
}

// forValue hints at what was meant for a value.
func (b *breach) forValue() string {
	end := bytes.IndexFunc(b.rest, func(r rune) bool { return !unicode.IsLetter(r) })
	if end < 0 {
		end = len(b.rest)
	}
	word := strings.ToLower(string(b.rest[:end]))
	switch {
	case slices.Contains([]string{"true", "false", "null"}, word):
		return "write " + word
	case word == "none" || word == "undefined":
		return "write null"
	case unicode.IsLetter(b.found) || b.found == '「' || b.found == '『':
		return `a text stands in "`
	case b.found == '.' || b.found == '+':
		return "a number begins with a digit, or with -"
	}
	return ""
}

// forMore hints at why a list or an object does not go on.
func (b *breach) forMore(begins bool) string {
	switch {
	case b.found == '}' || b.found == ']' || b.found == ':' && b.looked == "after array element":
		return b.unclosed()
	case b.lastByte() == '0' && unicode.IsDigit(b.found):
		return "a number does not begin with 0"
	case !begins:
		return ""
	case b.lastByte() == '"' && b.found != '"' && !unicode.IsDigit(b.found):
		return "a comma is missing before it" + curled(b.said, ", or is %s meant to be \"?", `, or a " in the text before is not written \"`)
	}
	return "a comma is missing before it"
}

const curls = "“”„‟″＂〝〞〟"

// curled looks for a typographic quote in a text, where a " was probably meant, and
// gives the first of two sentences with it, the second where there is none.
func curled(text []byte, sentence string, none ...string) string {
	if i := bytes.IndexAny(text, curls); i >= 0 {
		r, _ := utf8.DecodeRune(text[i:])
		return fmt.Sprintf(sentence, string(r))
	}
	return strings.Join(none, "")
}

// ascii says what to write for a character that looks like one of JSON's.
func ascii(r rune) string {
	const wide = '！' - '!'
	switch {
	case strings.ContainsRune(curls+"«»‘’‚‛＇'`", r):
		return `write " instead`
	case r == '、':
		return "write , instead"
	case r > '！' && r <= '～' && !unicode.IsLetter(r):
		return fmt.Sprintf("write %c instead, which is not full-width", r-wide)
	case r > unicode.MaxASCII && unicode.IsSpace(r):
		return "write an ordinary space instead"
	case r == '\ufeff' || r == '\u200b':
		return "it cannot be seen; take it out"
	case r == ';':
		return "write , instead"
	}
	return ""
}
