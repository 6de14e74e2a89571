package keep

import (
	"regexp"
	"strings"

	"github.com/companiond/companiond/host/history/marks"
)

// unknowing is how somebody says of a thing only that they know nothing of it, as companions do that are asked for what they were never told. What is
// open yet, or for somebody else to say, is another matter.
var (
	unknowing = regexp.MustCompile(`(?:情報|記録|資料|知識|データ|手がかり|心当たり)(?:が|は|も)[^。、]{0,8}(?:ない|無い|ありません|ございません|持ってい?ません|持ってい?ない)` +
		`|(?:は|も|って|については|に関しては|のことは)、?(?:私|わたし|僕|ぼく|俺|おれ)?(?:には|では|は|も)?(?:ちょっと|よく|あまり|全然|まったく|何も|なにも|はっきり|詳しくは)?(?:は)?(?:分か|わか|知|存じ)(?:らない|りません|らん|ません)(?:です|んです|んだ|の|わ|ね|よ|な|けど|が)*[。!…]*$` +
		`|^(?:(?:sorry|hmm|well|oh)[,.]? )?(?:but )?i(?:'m afraid i)? (?:really )?(?:don't|do not) (?:really )?(?:know (?:anything |much )?(?:about|of)|have (?:any |much )?(?:information|details|data|records?|knowledge))\b` +
		`|^(?:(?:sorry|hmm|well|oh)[,.]? )?i (?:have|know) (?:no (?:information|details|data|records?|knowledge)|nothing) (?:about|on|of)\b|^(?:(?:sorry|hmm|well|oh)[,.]? )?i(?:'m| am) not sure about\b`)
	still = regexp.MustCompile(`まだ|か(?:は|も|が|どうか)|ないと|てみ|確認|\b(?:yet|whether|if|until|ask)\b`)
)

// ignorant says whether a sentence says of something only that nobody here knows it: it has no number and no day, and nobody else who would know.
func ignorant(sentence string) bool {
	low := strings.ToLower(marks.Plain(sentence))
	if !unknowing.MatchString(low) || still.MatchString(low) {
		return false
	}
	for _, m := range marks.Hard(marks.Find(sentence)) {
		if m.Kind != marks.Name {
			return false
		}
	}
	return true
}
