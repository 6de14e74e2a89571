package line

import (
	"html"
	"strings"
)

// maxMarkup bounds what is read of one text, in bytes: more than MaxText letters with their pictures.
const maxMarkup = 8 << 10

// Unmarked makes plain text of HTML as chat programs write it: tags are left out, a picture is its alt text, a break is a
// space, and entities are what they stand for. A < that begins no tag is text. It is no parser of whole pages, and what it gives
// is data: <b> written as &lt;b&gt; is the text <b>.
func Unmarked(s string) string {
	if len(s) > maxMarkup {
		s = s[:maxMarkup]
	}
	var b strings.Builder
	for s != "" {
		at := strings.IndexByte(s, '<')
		if at < 0 {
			break
		}
		b.WriteString(html.UnescapeString(s[:at]))
		s = s[at:]
		end := tagEnd(s)
		if end == 0 {
			b.WriteByte('<')
			s = s[1:]
			continue
		}
		b.WriteString(shown(s[1 : end-1]))
		s = s[end:]
	}
	b.WriteString(html.UnescapeString(s))
	return b.String()
}

// tagEnd gives how long the tag is that s begins with, 0 where it begins with none.
func tagEnd(s string) int {
	if len(s) < 2 || !letter(s[1]) && s[1] != '/' && s[1] != '!' {
		return 0
	}
	if strings.HasPrefix(s, "<!--") {
		if end := strings.Index(s[4:], "-->"); end >= 0 {
			return 4 + end + len("-->")
		}
		return len(s)
	}
	quote := byte(0)
	for i := 1; i < len(s); i++ {
		switch c := s[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case (c == '"' || c == '\'') && s[i-1] == '=': // an apostrophe elsewhere opens nothing
			quote = c
		case c == '>':
			return i + 1
		}
	}
	return 0
}

func letter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// shown is what a reader sees of a tag, which comes without its angles.
func shown(tag string) string {
	name := strings.ToLower(tag)
	if end := strings.IndexAny(name, " \t\r\n/"); end > 0 {
		name = name[:end]
	}
	switch name {
	case "img":
		return " " + html.UnescapeString(attribute(tag, "alt")) + " "
	case "br", "p", "/p", "div", "/div", "li":
		return " "
	}
	return ""
}

// attribute gives the value of an attribute of a tag, "" where it has none.
func attribute(tag, name string) string {
	lower := strings.ToLower(tag)
	for from := 0; ; {
		at := strings.Index(lower[from:], name+"=")
		if at < 0 {
			return ""
		}
		at += from
		from = at + len(name) + 1
		if at > 0 && !strings.ContainsRune(" \t\r\n\"'", rune(lower[at-1])) {
			continue // the end of another's name
		}
		value := tag[from:]
		if value == "" {
			return ""
		}
		if q := value[0]; q == '"' || q == '\'' {
			value = value[1:]
			if end := strings.IndexByte(value, q); end >= 0 {
				return value[:end]
			}
			return value
		}
		if end := strings.IndexAny(value, " \t\r\n"); end >= 0 {
			value = value[:end]
		}
		return strings.TrimSuffix(value, "/")
	}
}
