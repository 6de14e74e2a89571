package address

import (
	"regexp"
	"slices"

	"golang.org/x/text/unicode/norm"

	"github.com/companiond/companiond/abi"
)

// nameLike are words that look like names: in katakana, in Latin letters with a capital, and
// in any Japanese script before an honorific.
var nameLike = regexp.MustCompile(`[\p{Katakana}ー]{2,12}|\b[A-Z][a-z]{1,15}\b|([\p{Han}\p{Hiragana}]{1,5}?)(?:さん|ちゃん|くん|君|さま|様|先輩|先生)`)

// noNames are words that look like names and are called out as names are, folded.
var noNames = append(slices.Concat(interjections, everyone, englishCalls), "まじ", "やば", "やばい", "ほんと", "すごい", "すごっ", "おっけー", "さんきゅー", "だめ", "へー", "わー",
	"well", "so", "oh", "ah", "yes", "yeah", "no", "ok", "okay", "wow", "now", "then", "and", "but", "or", "today", "tonight", "tomorrow", "yesterday", "actually", "anyway",
	"also", "first", "next", "finally", "look", "listen", "wait", "stop", "cool", "nice", "great", "good", "haha", "lol", "hmm", "um", "morning", "evening", "night", "friends", "お客")

// Stranger says whether a text calls somebody by a name, though it is not known to be one:
// キョウコ、聞こえる？ It is meant for the time before all names are known, when one answer
// too many to that question makes a person wait for a moment, and one too few has another
// answer.
func Stranger(text string) bool {
	for _, m := range nameLike.FindAllStringSubmatch(norm.NFKC.String(text), -1) {
		word := m[0]
		if m[1] != "" {
			word = m[1] // without the honorific
		}
		if slices.Contains(noNames, string(fold(word).folded)) {
			continue
		}
		if _, how := Meant(abi.Message{Text: text}, []Member{{ID: "\x00", Names: []string{word}}}, ""); how == Call {
			return true
		}
	}
	return false
}
