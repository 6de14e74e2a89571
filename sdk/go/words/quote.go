package words

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Bounds of a quotable phrase, in characters for Japanese and words for English.
const (
	minQuote, maxQuote           = 4, 17
	minQuoteWords, maxQuoteWords = 2, 6
)

// Quote picks a phrase of s that is worth repeating: a short clause without a
// greeting, a question or a quotation in it, and one with content before one
// without. It is empty where there is none.
func Quote(s string) string {
	s = Clip(s)
	lang := Language(s)
	best, bestScore := "", 0
	for _, clause := range clauses(s, lang) {
		if score := worth(clause, lang); score > bestScore {
			best, bestScore = clause, score
		}
	}
	return best
}

// clauses cuts a text at its marks and trims what only holds it together.
func clauses(s string, lang Lang) []string {
	var out []string
	from := 0
	for i, r := range s {
		if strings.ContainsRune("。！？!?、，,.;:…—\n♪", r) {
			// The clause before a question mark is a question: not quotable.
			if r != '?' && r != '？' {
				out = append(out, trim(s[from:i], lang))
			}
			from = i + utf8.RuneLen(r)
		}
	}
	return append(out, trim(s[from:], lang))
}

// tails are ends of Japanese clauses that a quotation drops, longest first.
var tails = []string{"ということですよね", "ということなんだ", "からなんだよ", "んですよね", "なんですよ", "なんですね", "んだけどね", "と思うんだ", "んですけど", "ましたよね", "なんだよね", "からなんだ", "んですよ", "なんだよ",
	"なんだね", "と思うよ", "ですよね", "ですけど", "だけどね", "ってこと", "なんだ", "んだよ", "んだね", "だよね", "ですね", "ですよ", "なんて", "だけど", "だから", "じゃん", "でしょ", "んだ", "だね", "だよ", "です", "って", "けど", "よね", "から", "ので", "は", "が", "を", "も", "ね", "よ", "な", "し", "で", "に", "と", "だ"}

// heads are words a quotation does not start with.
var heads = []string{"でも", "だから", "それに", "つまり", "そして", "たとえば", "例えば", "あと", "実は", "じつは", "なるほど", "うん", "ええと", "えっと", "まあ", "ちょっと待って", "そう",
	"And ", "But ", "So ", "Well ", "Because ", "and ", "but ", "so ", "because ", "that ", "which "}

func trim(s string, lang Lang) string {
	s = strings.TrimSpace(s)
	for _, h := range heads {
		s = strings.TrimSpace(strings.TrimPrefix(s, h))
	}
	if lang != Japanese {
		return s
	}
	for _, t := range tails {
		if cut, ok := strings.CutSuffix(s, t); ok && utf8.RuneCountInString(cut) >= minQuote {
			return cut
		}
	}
	return s
}

// topicWord says whether a clause is no more than the name of a topic.
func topicWord(s string) bool {
	s = Normal(s)
	return slices.ContainsFunc(topics, func(t Topic) bool { return slices.Contains(t.Words, s) })
}

// worth rates a clause as a quotation; 0 means never.
func worth(s string, lang Lang) int {
	if s == "" || topicWord(s) || strings.ContainsAny(s, "「」『』()（）\"{}") || len(Intents(s)) > 0 {
		return 0
	}
	if lang == English {
		words := len(strings.Fields(s))
		switch first, _, _ := strings.Cut(strings.ToLower(s), " "); first {
		case "if", "when", "what", "how", "who", "why", "where", "do", "does", "is", "are", "would", "may", "can", "could", "for", "in", "at":
			return 0
		}
		if words < minQuoteWords || words > maxQuoteWords {
			return 0
		}
		return words + 2*len(TopicsOf(s))
	}
	n, content := utf8.RuneCountInString(s), 0
	if n < minQuote || n > maxQuote {
		return 0
	}
	for _, r := range s {
		if isHan(r) || isKatakana(r) {
			content++
		}
	}
	score := content + 3*len(TopicsOf(s))
	if last, _ := utf8.DecodeLastRuneInString(s); strings.ContainsRune("てでずばらく", last) {
		score /= 3 // half a sentence
	}
	return score
}

// Clip keeps the beginning of a long text: enough to know what it is about.
func Clip(s string) string {
	const most = 1200
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "")
}
