// Package doubt says of the sentences of a text whether they say that something is so, or only
// ask it, suppose it, hope it, deny it, joke, or tell what somebody else said, in Japanese and English.
//
// It would rather doubt a sentence that can be believed than believe one that cannot: on what is
// believed others build. It reads the letters alone and asks no model.
package doubt

import (
	"regexp"
	"strings"
	"unicode"

	"github.com/companiond/companiond/host/speech"
)

// Why is the reason not to take a sentence as it is; "" is none.
type Why string

// The reasons.
const (
	Asks     Why = "asks"     // it is a question
	Supposes Why = "supposes" // もし猫を飼ったら, "if I had a cat"
	Hopes    Why = "hopes"    // a wish, or what may be
	Hears    Why = "hears"    // what somebody else said, or is said to be
	Jokes    Why = "jokes"    // it, or what stands beside it, is said to be a joke
	Quotes   Why = "quotes"   // all of it is quoted
)

// Sentence is a sentence of a text.
type Sentence struct {
	From, To int // its bytes there, without the space around it
	// Text is as long as the sentence; what is quoted or acted in it (*sighs*) is blank.
	Text string
	Why  Why
}

// Sentences gives the sentences of a text, none of them blank.
func Sentences(text string) []Sentence {
	shown := blanked(text)
	joking := jokes.MatchString(text)
	var all []Sentence
	from := 0
	for _, end := range speech.Sentences(text) {
		lo, hi := trimmed(text, from, end)
		from = end
		if lo == hi {
			continue
		}
		s := Sentence{From: lo, To: hi, Text: shown[lo:hi]}
		switch {
		case strings.TrimSpace(s.Text) == "":
			s.Why = Quotes
		case joking:
			s.Why = Jokes
		default:
			s.Why = why(s.Text)
		}
		all = append(all, s)
	}
	return all
}

// Joke says whether a text takes back as a joke what was said before it.
func Joke(text string) bool { return takesBack.MatchString(strings.TrimSpace(text)) }

// trimmed gives the part of text[from:to] without the space around it.
func trimmed(text string, from, to int) (lo, hi int) {
	lo = to - len(strings.TrimLeftFunc(text[from:to], unicode.IsSpace))
	return lo, lo + len(strings.TrimRightFunc(text[lo:to], unicode.IsSpace))
}

func why(sentence string) Why {
	s := strings.ToLower(sentence)
	switch {
	case asks.MatchString(s) || begins.MatchString(s) && (!tells.MatchString(s) || addressed.MatchString(s)):
		return Asks
	case supposes.MatchString(s):
		return Supposes
	case hears.MatchString(named.ReplaceAllString(s, "")):
		return Hears
	case hopes.MatchString(wanted.ReplaceAllString(s, "")):
		return Hopes
	}
	return ""
}

func either(alternatives ...string) *regexp.Regexp {
	return regexp.MustCompile("(?:" + strings.Join(alternatives, "|") + ")")
}

const (
	end   = `[\s。、!！.．…‥~〜ー―♪☆★♡♥)）」』"”'’\x{1F000}-\x{1FFFF}]*$`
	start = `^[\s「『"“'‘(（]*`
	fill  = `(?:(?:so|and|but|well|ok|okay|hey|oh|wait)[, ]+)*`
)

var (
	asks = either(
		`[?？]`,
		`(?:です|ます|でした|ました|ません|でしょう|だろう|の|ん|だっけ|っけ|だれ|どこ|いつ|なん|何|どう)か(?:な|ね|しら)?あ?`+end,
		`(?:っけ|かな|かなあ|かしら|でしょ|だろうか|ないの|たの|るの|いの)`+end,
		`(?:何|なに|どう|どこ|誰|だれ|いつ|なぜ|なんで|どんな|どれ|いくつ|どっち)[^。]*の`+end,
		`\b(?:i wonder|do you|don't you|can you|could you|isn't it|right\?)`,
	)
	// begins is how a sentence begins that asks, also without a sign for it; tells, what begins so and forbids, or is a day; but not where
	// somebody is addressed.
	begins    = either(start + fill + `(?:what|what's|who|who's|whose|which|where|where's|when|why|how|do|does|did|is|are|was|were|am|can|could|would|should|shall|will|have|has|had|may|don't|doesn't|didn't|isn't|aren't|can't|won't|haven't|guess|tell me|wonder|i wonder)\b`)
	tells     = either(start + fill + `(?:do not|don't|may [0-9])`)
	addressed = either(start + fill + `(?:do not|don't) (?:you|we|they|i|he|she|it|people|your|the|these|those|some|any|all|most)\b`)
	supposes  = either(
		`(?:^|[^かし])もし(?:も[^し]|[^くっもゃ]|$)`, `[いきしちにびみりえけせてねべめれげじっ]たら(?:[、 ]|ば|[^こしずばん])`, `んだら(?:[、 ]|[^けず])`, `(?:だ|なら|だった|とした|よかった)ら[、ば ]`, `[^う]なら[^なんずびぶべうっ]`, `れば`, `えば[、 ]`, `けば[、 ]`, `せば[、 ]`, `だとして`, `としても`, `仮に`, `たとえば`, `例えば`,
		`妄想`, `夢の中`, `夢で`, `夢を見`, `という設定`, `って設定`, `ってことにし`, `ごっこ`, `つもりになって`, `ふりをし`, `小説`, `(?:映画|アニメ|漫画|ドラマ|ゲーム)の中`, `主人公`,
		`\bif\b`, `\bunless\b`, `\bsuppos(?:e|ing)\b`, `\bimagin(?:e|ing|ary)\b`, `\bwhat if\b`, `\blet's say\b`, `\bpretend`, `\bhypothetical`, `\bfor example\b`, `\bfor instance\b`, `\bin (?:my|a|the) (?:dream|story|game|movie|film|novel|book|show)\b`, `\bdream(?:ed|t)\b`, `\bwould\b`, `\bcould have\b`, `\bi'd\b`, `\bas though\b`, `\bas if\b`,
		`\bi wish\b`, `\brole-?play`, `\bin character\b`, `\bmy character\b`, `\bin another life\b`, `\bwere i\b`)
	hopes = either(
		`たい(?:な|なあ|です|よ|ね|けど|んだ|の|と思|って|$)`+`[^にがを]*`+end, `かも(?:しれ|ね|な|`+end+`)`, `だろう`, `でしょう`, `ほしい`, `欲しい`, `憧れ`, `あこがれ`, `だといい`, `ならいい`, `といいな`, `はず`, `に違いない`, `気がする`, `多分`, `たぶん`, `おそらく`, `おもわく`, `ようと(?:思|か)`, `か(?:どうか|なやんで|悩んで|迷って|考えて)`,
		`\bmaybe\b`, `\bperhaps\b`, `\bmight\b`, `\bprobably\b`, `\bpossibly\b`, `\bi hope\b`, `\bhopefully\b`, `\bnot sure\b`, `\bthinking (?:of|about)\b`, `\bconsidering\b`, `\bi guess\b`, `\bkind of want\b`, `\bwanna\b`, `\bwant to\b`, `\bwant a\b`, `\bwanted\b`, `\bwish\b`, `\bone day\b`, `\bsomeday\b`, `\bi should\b`, `\bdreaming of\b`, `\b(?:i|we|he|she|they|it|there) used to\b`)
	hears = either(
		`(?:って|と)(?:言っ|いって|言わ|いわれ|聞い|聞き|きい|書い|書か|噂|うわさ|話し|話で|教え|答え|返)`, `らしい`, `[るただい]そう(?:だ|です|な|で|`+end+`)`, `だそう`, `だって`+end, `によると`, `によれば`, `とのこと`, `みたい(?:だ|です|な|`+end+`)`, `とか言`, `(?:という|って|の)(?:セリフ|せりふ|台詞)`, `(?:って|と)(?:映画|歌|小説|アニメ|漫画|ドラマ|ゲーム|本)(?:で|が|に|は|の)(?:言|いう|いっ|歌|ある|あっ|出)`, `という歌`, `歌詞`,
		`\b(?:he|she|they|someone|somebody|everyone|friend|sister|brother|mom|mother|dad|father|boss|teacher|wife|husband|[a-z]+) (?:said|says|told|tells|claims|claimed|asked|asks|wrote|writes|goes like|was like|mentioned)\b`, `\b(?:i|we)(?:'ve)? (?:heard|read)\b`, `[,"”] (?:(?:says|said|sings|sang|shouts|shouted|cries|cried) (?:the|a|an|this|that|my|your|his|her|our|their|he|she|they|someone|everyone|[a-z]+`+end+`)|goes (?:the|this|that) )`, `\baccording to\b`, `\bapparently\b`, `\breportedly\b`, `\bsupposedly\b`, `\bquote\b`, `\blyrics?\b`, `\bi (?:said|told|thought|lied)\b`)
	// named is how people say what they are called, which is no hearsay.
	named = either(`(?:って|と)(?:言い|いい|申し|呼ん|よん)(?:ます|で)`, `\b(?:everyone|everybody|people|friends?) calls? me\b`)

	// wanted is what is wished of a listener, who is told something with it.
	wanted = either(`(?:覚えて|おぼえて|知って)おいて(?:ほしい|欲しい)`, `\bwant you to (?:remember|know)\b`)

	jokes     = either(`[（(](?:笑|爆笑|嘘|うそ|冗談|ウソ)[）)]`, `笑笑`, `[ｗwW]{3,}`, `冗談`, `なんちゃって`, `なーんて(?:ね|な|`+end+`)`, `なんてね`, `うそうそ`, `嘘(?:だよ|です|でした|だけど|ぴょん)`, `うそ(?:だよ|ぴょん)`, `ウソ(?:だよ|です)`, `(?i)\bjust kidding\b`, `(?i)\b(?:only|i'm|im) (?:kidding|joking)\b`, `(?i)\bj/?k\b`, `(?i)\blol\b`, `(?i)\blmao\b`, `(?i)\brofl\b`, `(?i)\bhaha+`, ` /s\b`, `(?i)\bsarcas`, `(?i)\bapril fool`)
	takesBack = either(`^(?:なんて|なーんて|あ、|ごめん、?|いや、?|今のは?|さっきの(?:話)?は?|という|っていう|まあ)*[、 ]*(?:冗談|嘘|うそ|ウソ|ネタ|作り話|なんちゃって)(?:だよ|です|でした|だけど|ね|`+end+`)`, `(?i)^(?:ha+h?a*|sorry|no|nah|ok|okay)?[,.! ]*(?:just |only |i'm |i was |im )*(?:kidding|joking|jk|j/k|made that up|lying|a joke)\b`, `(?i)^that was a (?:joke|lie)\b`, `(?i)^i lied\b`)

	// quoted is what others said: lines quoted in a chat, and longer words in quotation marks
	// or what somebody is said to have said; acted is what is done and not said.
	quoted = regexp.MustCompile(`(?m)^[>＞].*$|「[^「」]{11,}」|『[^『』]*』|「[^「」]*」(?:って|と|と、|なんて|みたいな)|“[^“”]{20,}”|"[^"\n]{20,}"|(?:said|says|saying|asked|like|told me|wrote)[,:]? ["“][^"”\n]*["”]|["“][^"”\n]*["”],? (?:he|she|they|said|says|asked)`)
	acted  = regexp.MustCompile(`\*[^*\n]+\*|https?://\S+`)
)

// names are introduced in quotation marks, too: 「タマ」って名前.
var introduces = regexp.MustCompile(`^「[^「」]{1,10}」(?:って|と)(?:いう|言う|いい|言い|申し|呼)`)

// blanked gives a text of the same length in which what is quoted or acted is blank.
func blanked(text string) string {
	b := []byte(text)
	for _, p := range []*regexp.Regexp{quoted, acted} {
		for _, at := range p.FindAllStringIndex(text, -1) {
			if introduces.MatchString(text[at[0]:]) {
				continue
			}
			for i := at[0]; i < at[1]; i++ {
				if b[i] != '\n' {
					b[i] = ' '
				}
			}
		}
	}
	return string(b)
}
