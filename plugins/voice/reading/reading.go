// Package reading makes of a text that is looked at one that is read aloud: marks of Markdown, web addresses, emoji,
// code and stage directions in brackets are left out, words of a dictionary are written as they sound, and a long text
// is cut where a voice may pause. It changes no other words, and does not know how they are said.
package reading

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Fenced tells whether code goes on behind a text, a part of a line, where inside says whether it does before.
func Fenced(text string, inside bool) bool {
	for _, line := range strings.Split(text, "\n") {
		if fence.MatchString(line) {
			inside = !inside
		}
	}
	return inside
}

// fence is the line that begins a block of code, or ends it.
var fence = regexp.MustCompile("^\\s*(?:>\\s*)*(?:```|~~~)[^`]*$")

// Aloud gives what is read of a text, which may be nothing. Where inside, the text begins in a block of code.
func Aloud(text string, inside bool, words Dictionary) string {
	text = withoutCode(text, inside)
	text = image.ReplaceAllString(text, " ")
	text = link.ReplaceAllString(text, "$1")
	text = reference.ReplaceAllString(text, "$1")
	text = address.ReplaceAllStringFunc(text, func(found string) string {
		if found[0] == '<' {
			return " "
		}
		return " " + found[len(strings.TrimRight(found, ".,;:!?'\")]>}*_~")):] // the sentence's, and not the address's
	})
	text = words.apply(text)
	text = withoutMarks(text)
	text = withoutBrackets(text)
	text = strings.Map(read, text)
	text = joined(text)
	if !strings.ContainsFunc(text, sounds) {
		return ""
	}
	return text
}

// sounds says whether a voice says something for a letter: for a full stop or a line it says nothing.
func sounds(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }

// withoutCode leaves out blocks of code, with the lines that fence them.
func withoutCode(text string, inside bool) string {
	var kept []string
	for _, line := range strings.Split(text, "\n") {
		isFence := fence.MatchString(line)
		if isFence {
			inside = !inside
		}
		if !isFence && !inside {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "\n")
}

var (
	image     = regexp.MustCompile(`!\[[^\]\n]*\](?:\((?:[^()\n]|\([^()\n]*\))*\))?`)
	link      = regexp.MustCompile(`\[([^\]\n]+)\]\((?:[^()\n]|\([^()\n]*\))*\)`)
	reference = regexp.MustCompile(`\[([^\]\n]+)\]\[[^\]\n]*\]`)
	address   = regexp.MustCompile(`(?i)<(?:https?|ftp|mailto):[^<>\s]+>|\b(?:https?://|ftp://|www\.)[!-~]+`)
	tag       = regexp.MustCompile(`</?[a-zA-Z][^<>\n]*>`)
	rule      = regexp.MustCompile(`(?m)^[ \t]*(?:[-*_=][ \t]*){3,}$`)
	table     = regexp.MustCompile(`(?m)^[ \t]*\|?(?:[ \t]*:?-+:?[ \t]*\|)+(?:[ \t]*:?-+:?[ \t]*)?$`)
	beginning = regexp.MustCompile(`(?m)^[ \t]*(?:>[ \t]*)*(?:#{1,6}[ \t]+|[-*+•][ \t]+(?:\[[ xX]\][ \t]+)?)?`)
	marks     = strings.NewReplacer("**", "", "__", "", "~~", "", "`", "", "|", " ")
	emphasis  = regexp.MustCompile(`(^|[^*\pL\pN])\*([^*\s](?:[^*\n]*[^*\s])?)\*`)
	underline = regexp.MustCompile(`(^|[^_\pL\pN])_([^_\s](?:[^_\n]*[^_\s])?)_($|[^_\pL\pN])`)
)

func withoutMarks(text string) string {
	text = tag.ReplaceAllString(text, "")
	text = table.ReplaceAllString(text, "")
	text = rule.ReplaceAllString(text, "")
	text = beginning.ReplaceAllString(text, "")
	text = marks.Replace(text)
	text = emphasis.ReplaceAllString(text, "$1$2")
	return underline.ReplaceAllString(text, "$1$2$3")
}

// brackets are those whose content is not read, as （笑） and [laughs]. Quotations are read, whatever their brackets.
var brackets = map[rune]rune{'(': ')', '（': '）', '[': ']', '［': '］', '〔': '〕', '{': '}', '｛': '｝'}

// withoutBrackets leaves out brackets with what is in them. One that is never closed is left out alone, for it may be a
// face, or the end stands in another part.
func withoutBrackets(text string) string {
	ends := closed(text)
	var b strings.Builder
	past := 0 // where the brackets that are left out end
	for i, r := range text {
		if i < past {
			continue
		}
		switch _, opens := brackets[r]; {
		case opens:
			past = ends[i]
			b.WriteByte(' ')
		case strings.ContainsRune(")）]］〕}｝", r):
			b.WriteByte(' ')
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// closed gives where each bracket that is closed ends, by where it begins.
func closed(text string) map[int]int {
	type opened struct {
		at  int
		end rune
	}
	var open []opened
	ends := map[int]int{}
	for i, r := range text {
		if end, opens := brackets[r]; opens {
			open = append(open, opened{i, end})
		} else if n := len(open) - 1; n >= 0 && r == open[n].end {
			ends[open[n].at] = i + utf8.RuneLen(r)
			open = open[:n]
		}
	}
	return ends
}

// read gives what of a text stays as a letter of it: an emoji is none, nor what changes one or does not show.
func read(r rune) rune {
	switch {
	case r == '\n' || r == '\t':
		return r
	case unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Co, r) || unicode.Is(unicode.Variation_Selector, r):
		return -1
	case r == utf8.RuneError, r == 0x20e3: // the frame of a key
		return -1
	case r >= 0x1f000 && r <= 0x1faff, r >= 0xe0000:
		return -1
	case r >= 0x2190 && r <= 0x2bff && !unicode.IsNumber(r) && !(r >= 0x2200 && r <= 0x22ff): // arrows, stars, notes; no ① and no ≦
		return ' '
	case r == '*' || r == '#' || r == '\\' || r == '〽' || r == '㊗' || r == '㊙':
		return ' '
	}
	return r
}

// joined makes one line of several, with a pause where each ends, and no space where none is said.
func joined(text string) string {
	var b strings.Builder
	last := rune(0)
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimSpace(strings.Join(strings.Fields(line), " "))
		if line == "" {
			continue
		}
		switch {
		case last == 0:
		case wide(last):
			if sounds(last) {
				b.WriteString("。")
			}
		case sounds(last):
			b.WriteString(". ")
		default:
			b.WriteByte(' ')
		}
		previous := rune(0)
		for i, r := range line {
			if r == ' ' {
				next, _ := utf8.DecodeRuneInString(line[i+1:])
				if wide(previous) || wide(next) || strings.ContainsRune(".,;:!?", next) {
					continue
				}
			}
			b.WriteRune(r)
			previous = r
		}
		last = previous
	}
	return b.String()
}

// wide says whether a letter is written without spaces, as those of Japanese are.
func wide(r rune) bool {
	return unicode.In(r, unicode.Hiragana, unicode.Katakana, unicode.Han) || r >= 0x3000 && r <= 0x303f || r >= 0xff00 && r <= 0xffef || r == 'ー'
}

// Language tells in which language a text is: "ja", "ko", "ru" or "en". A single kana makes it Japanese, and so do
// Chinese characters alone.
func Language(text string) string {
	found := "en"
	for _, r := range text {
		switch {
		case unicode.In(r, unicode.Hiragana, unicode.Katakana):
			return "ja"
		case unicode.Is(unicode.Han, r) && found == "en":
			found = "ja"
		case unicode.Is(unicode.Hangul, r):
			found = "ko"
		case unicode.Is(unicode.Cyrillic, r) && found == "en":
			found = "ru"
		}
	}
	return found
}
