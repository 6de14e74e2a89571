package ask

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/companiond/companiond/host/memory/dates"
	"github.com/companiond/companiond/host/memory/doubt"
	"github.com/companiond/companiond/host/memory/fact"
	"github.com/companiond/companiond/host/memory/wording"
)

// This file holds the text that a model wrote to what was said: a text is told to models as what
// somebody said, and a true quotation below it would lend it weight.

// held is how a text stands to the turn that it is made of.
type held int

const (
	stands  held = iota // it says no more
	more                // or it does, or the opposite
	strange             // most of it is not of that turn
)

// hold holds a text to its turn: each name, number and word that says something stands there, or is
// a day that is named there, who said it, or a word for what a fact is of; and it denies what
// the sentences of its quotation deny, and nothing else.
func hold(text, sentences string, t fact.Turn) held {
	source := wording.Fold(t.Text) + "\n" + wording.Fold(t.From)
	for _, d := range dates.Find(t.Text, t.At) {
		source += "\n" + d.Key() + d.Date.Format("\n2006年1月2日\n1/2 January 2 Jan 2 Monday")
	}
	source = wording.Fold(source)
	things := wording.Things(t.Text)
	words, said, labels := 0, 0, 0
	for _, word := range wording.Words(text) {
		switch thing := wording.Thing(word); {
		case strings.Contains(source, word) || slices.Contains(things, thing):
			said++
		case wording.Label(word) || short(word):
			labels++
			continue
		}
		words++
	}
	switch {
	case words+labels > 0 && said == 0 || 2*(said+labels) < words+labels:
		return strange
	case said < words || denies.MatchString(text) != denies.MatchString(sentences):
		return more
	}
	return stands
}

// short says whether a word is one of two letters in hiragana, which is mostly an ending.
func short(word string) bool {
	return utf8.RuneCountInString(word) < 3 && !strings.ContainsFunc(word, func(r rune) bool { return !unicode.Is(unicode.Hiragana, r) })
}

// denies finds what turns a sentence into its opposite, and words that do.
var denies = regexp.MustCompile(`(?i)ない|ません|なくて|なかった|ぬ$|嫌い|きらい|苦手|にがて|\b(?:not|never|no|none|cannot|without|hates?|dislikes?|detests?|loathes?)\b|n['’]t\b`)

// around gives the sentences that a quotation is of: half of one may say the opposite.
func around(quote, text string) string {
	at := strings.Index(text, quote)
	from, to := at, at+len(quote)
	for _, s := range doubt.Sentences(text) {
		if at < s.To && s.From < at+len(quote) {
			from, to = min(from, s.From), max(to, s.To)
		}
	}
	return text[from:to]
}
