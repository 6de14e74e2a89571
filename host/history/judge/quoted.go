package judge

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/companiond/companiond/host/history/alike"
	"github.com/companiond/companiond/host/history/marks"
	"github.com/companiond/companiond/host/memory/wording"
)

// elided is where a quotation leaves something out.
var elided = regexp.MustCompile(`(?:\[\s*)?(?:…+|⋯+|\.{3,}|〜{2,})(?:\s*\])?|[（(\[]\s*(?:中略|略)\s*[）)\]]`)

// shortestQuote is from how many letters on a quotation says what it is of, and could not stand there by chance.
const shortestQuote = 4

// quoted finds a quotation in a source, letter by letter, and gives where the source has it. Width, capitals, space, quotation marks,
// marks of emphasis and what ends a sentence make no difference, for models do not copy these; where it leaves something
// out (…), all its parts have to stand there, one behind the other. One without letters stands only where just these signs do.
func quoted(quote, source string) (from, to int, ok bool) {
	if span, ok := wording.Quoted(quote, source); ok {
		from = strings.Index(source, span)
		return from, from + len(span), true
	}
	text, at := letters(source)
	from, begin := -1, 0
	for _, part := range elided.Split(quote, -1) {
		want, _ := letters(part)
		if want == "" {
			continue
		}
		i := strings.Index(text[begin:], want)
		if i < 0 {
			return 0, 0, false
		}
		if from < 0 {
			from = at[begin+i].from
		}
		begin += i + len(want)
		to = at[begin-1].to
	}
	return from, to, from >= 0
}

// stretch is the bytes of a source that a byte of its letters comes from.
type stretch struct{ from, to int }

// letters gives what of a text makes a difference in a quotation, and for each of its bytes where it comes from.
func letters(source string) (string, []stretch) {
	var b strings.Builder
	var all []stretch
	for at := 0; at < len(source); {
		n := max(1, norm.NFKC.NextBoundaryInString(source[at:], true))
		s := stretch{at, at + n}
		for _, r := range norm.NFKC.String(source[s.from:s.to]) {
			if unicode.IsSpace(r) || r == utf8.RuneError || strings.ContainsRune("\"'`*_“”‘’「」『』«»„‚。.,、!?", r) {
				continue
			}
			r = unicode.ToLower(r)
			b.WriteRune(r)
			for range utf8.RuneLen(r) {
				all = append(all, s)
			}
		}
		at = s.to
	}
	return b.String(), all
}

// bears says what code sees in the place of a draft that a verifier quotes for something: it is empty where that has its numbers, days
// and names and a part of its words, and denies, leaves open or promises what it does. Whether it says the same is for the verifier to
// judge; but a quotation of a letter or two bears out nothing, and neither does one about something else.
func (d *draft) bears(text string, from, to int) (why string) {
	all, words := marks.Hard(marks.Find(text)), alike.Units(text)
	sentences, clauses := d.touched(from, to)
	if lost := sentences.lost(all); len(lost) > 0 {
		return "where it is quoted it does not say " + strings.Join(lost, ", ")
	}
	if said, _ := letters(d.text[from:to]); utf8.RuneCountInString(said) < shortestQuote && len(readDraft(d.text[from:to]).lost(all)) == len(all) {
		return "what is quoted is too short to say it"
	}
	if len(all) == 0 && (4*within(words, sentences.text) <= len(words) || !sentences.speaks(text)) {
		return "what is quoted shares hardly a word with it"
	}
	return clauses.contrary(text, all)
}

// contrary says what a text denies, leaves open or promises and a draft, where it is nearest to it, does not; or what the draft denies of it.
func (d *draft) contrary(text string, all []marks.Mark) string {
	near := d.near(alike.Units(text), all)
	if len(near.pieces) == 0 {
		for i := range d.pieces {
			near.pieces = append(near.pieces, &d.pieces[i])
		}
	}
	signs := marks.Read(text)
	if why := unlike(signs, near); why != "" {
		return why
	}
	if signs.Negates && !signs.Asks && !signs.Unsettled && !near.any(func(p piece) bool { told := p.forbids(text); return told.Denies || told.Negates && !signs.Denies }) {
		return "what it forbids or denies is not forbidden or denied there"
	}
	if why := d.allergy(text); why != "" {
		return why
	}
	return d.negated(text)
}

// within counts the words that stand in a text, also as a part of longer ones.
func within(words map[string]bool, text string) (n int) {
	text = strings.ToLower(marks.Plain(text))
	for w := range words {
		if strings.Contains(text, strings.TrimPrefix(w, "=")) {
			n++
		}
	}
	return n
}

// touched gives the sentences of a draft of which something lies in a part of it, and the clauses.
func (d *draft) touched(from, to int) (sentences, clauses *draft) {
	var whole, parts []string
	at := 0
	for _, s := range marks.Sentences(d.text) {
		at += strings.Index(d.text[at:], s)
		if at < to && from < at+len(s) {
			whole = append(whole, s)
		}
		at += len(s)
	}
	at = 0
	for _, p := range d.pieces { // the next may begin within this one
		at += max(0, strings.Index(d.text[at:], p.text))
		if at < to && from < at+len(p.text) {
			parts = append(parts, p.text)
		}
	}
	return readDraft(strings.Join(whole, "\n")), readDraft(strings.Join(parts, "\n"))
}
