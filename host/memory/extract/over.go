package extract

import (
	"regexp"
	"strings"

	"github.com/companiond/companiond/host/memory/wording"
)

// This file reads that something is no longer so. But for tastes that says something only of what
// is known: nobody is asked to remember where somebody does not live.

var (
	over = []*regexp.Regexp{
		regexp.MustCompile(overOpens + `i no longer (` + overVerbs + `) (.+?)(?:,? any ?more)?` + overEnds),
		regexp.MustCompile(overOpens + `i (?:(?:really|just) )?(?:don['’]t|do not) (?:really )?(` + overVerbs + `) (.+?),? (?:any ?more|any longer)` + overEnds),
		regexp.MustCompile(overOpens + `(?:i['’]m|i am) no longer (` + overBeing + `) ?(.+?)(?:,? any ?more)?` + overEnds),
		regexp.MustCompile(overOpens + `(?:i['’]m not|i am not) (` + overBeing + `) ?(.+?),? (?:any ?more|any longer)` + overEnds),
		regexp.MustCompile(opens + `(?:` + selfWords + `は、?)?(?:もう)?()([\p{Han}\p{Katakana}ーA-Za-z]{1,14})(?:に|には)(?:もう|今は)?住んで(?:い?ません|い?ない)` + endNoun),
		regexp.MustCompile(opens + `(?:` + selfWords + `は、?)?(?:もう)?()([\p{Han}\p{Katakana}ーA-Za-z]{1,14})(?:では|ではもう|ではありません|じゃない|として)(?:もう)?(?:働いて(?:い?ません|い?ない))` + endNoun),
		regexp.MustCompile(opens + `(?:` + selfWords + `は、?)?()([\p{Han}\p{Katakana}ーA-Za-z]{1,14})(?:の仕事)?(?:を|は)(?:もう)?(?:辞め|やめ|退職し)(?:た|ました|ちゃった)` + endNoun),
		regexp.MustCompile(opens + `(?:` + selfWords + `は、?)?もう()([\p{Han}\p{Katakana}ーA-Za-z]{1,14})(?:ではない|ではありません|じゃない|じゃありません)` + endNoun),
	}
	tasteWords = regexp.MustCompile(`(?i)^(?:like|love|enjoy|adore|into|(?:a )?(?:big )?fan of|fond of|care for)$`)
	article    = regexp.MustCompile(`(?i)^(?:a|an|the|my|any) `)
)

const (
	overOpens = `(?i)^\W*(?:(?:and|but|so|well|oh|no|actually|also|sorry|btw|by the way|now|anyway)\W+)*`
	overVerbs = `like|love|enjoy|adore|care for|live in|work as|work at|work for|work in|study at|study|go to|attend|have|own|play`
	overBeing = `into|a big fan of|a fan of|fond of|living in|based in|working as|working at|working for|studying|a|an|the|in`
	overEnds  = `[\s.!~]*$`
)

// over reads that something is no longer so; over is true for each sentence that says that of anything, of
// which its clauses do not say the opposite.
func (r *reader) over(text string) (c claim, isOver, ok bool) {
	for _, p := range over {
		m := p.FindStringSubmatch(strings.TrimSpace(text))
		if m == nil {
			continue
		}
		what := article.ReplaceAllString(strings.TrimSpace(m[2]), "")
		if tasteWords.MatchString(m[1]) {
			return r.notLiked(what), true, sensible(what) && !vague.MatchString(what)
		}
		h, ok := r.holding(what)
		if !ok || strings.HasPrefix(h.slot, "taste:") || strings.HasPrefix(h.slot, "name") {
			continue
		}
		said := strings.TrimFunc(text, blank)
		return claim{slot: h.slot, value: "no longer:" + what, text: said, keys: h.keys, importance: 3}, true, true
	}
	return claim{}, noMore.MatchString(text), false
}

// noMore finds that something has ended, whatever it is.
var noMore = regexp.MustCompile(`(?i)\bno longer\b|\b(?:not|n['’]t)\b.*\bany ?(?:more|longer)\b`)

// notLiked is a taste that somebody had.
func (r *reader) notLiked(what string) claim {
	return claim{slot: "taste:" + wording.Thing(what), value: "dislikes:" + what, text: "no longer likes " + what, keys: append([]string{"dislikes"}, wording.Things(what)...), importance: 3}
}
