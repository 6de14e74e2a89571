package extract

import (
	"regexp"
	"strings"
	"sync"
)

// rule reads one thing out of a clause.
type rule struct {
	pattern *regexp.Regexp
	claim   func(m []string) (claim, bool)
	// own says that the clause has no subject of its own: where somebody else was spoken of,
	// it may be theirs.
	own bool
	// each says that everybody has one: it is theirs also in the next message of whoever spoke of them.
	each bool
	// greets says that whoever says it has just said hello.
	greets bool
	// alone says that it begins the turn, or stands behind a greeting.
	alone bool
	// last says that no further rule reads the clause.
	last bool
}

// rules are all there are, the narrower first. They are made when the first is needed: there
// are many, and a daemon without companions that remember needs none.
var rules = sync.OnceValue(func() []rule { return append(japanese(), english()...) })

// What patterns are made of. An apostrophe stands for both that people write.
const (
	marks = `[\s。．.!！♪☆★♡♥…~〜ー）)」』"”\x{FE0F}\x{2600}-\x{27BF}\x{1F000}-\x{1FAFF}]*$`
	// END is behind nouns and verbs, ENDN behind a name.
	endNoun = `(?:なん|なの|ん|の)?(?:です|でーす|っす|だ|で)?(?:けれども?|けど|から|ので|し|が|よ|ね|な|さ|わ|の|ぞ|っ)*` + marks
	endName = `(?:(?:なん)?(?:です|でーす|っす|だ|で)(?:けれども?|けど|から|ので|し|が|よ|ね|な|さ|わ)*|なの(?:よ|ね)?|(?:って|と)(?:いう|言う|いい|言い|申し|呼んで)(?:ます|んだ|んです|の|名前|ます|る|ください)*(?:です|だ)?(?:けど|よ|ね|から|ので)*)?` + marks
	// SELF are words for oneself. opens is what a clause begins with; the short ones of them are
	// the beginning of too many words to stand without a mark.
	selfWords = `(?:私|わたし|わたくし|僕|ぼく|ボク|俺|おれ|オレ|あたし|自分|うち|ウチ|わし)`
	opens     = `^[\s「（(]*(?:(?:あのね|あのさ|えっと|えーと|実は|じつは|ちなみに|そういえば|そうだ|そうそう|それと|それから|そして|つまり|じゃあ|今は|いまは|今|いま|現在|最近|ずっと|昔から|もう|やっぱり?|でも|しかし|けど|けれど|だけど|だから|ところが|なのに|それでも|とにかく|ほんとに|本当に|はじめまして|初めまして|こんにちは|こんばんは|おはよう|改めまして)[、 ー!！。]*|(?:あの|あと|で|うん|はい|ええ|まあ|いや|ねえ|ねぇ|ああ|あ|お)[、 ー!！。]+)*`
	nameForm  = `[「『"“]?([\p{Han}\p{Hiragana}\p{Katakana}ー・々A-Za-z][\p{Han}\p{Hiragana}\p{Katakana}ー・々A-Za-z0-9]{0,14}?)[」』"”]?`
	animals   = `(猫|ねこ|ネコ|犬|いぬ|イヌ|わんこ|にゃんこ|鳥|小鳥|インコ|文鳥|オウム|うさぎ|ウサギ|ハムスター|金魚|熱帯魚|メダカ|亀|カメ|フェレット|ハリネズミ|トカゲ|ヤモリ|馬|チンチラ|モルモット)`
	relatives = `(妹|弟|姉|兄|お姉ちゃん|お姉さん|お兄ちゃん|お兄さん|母|父|お母さん|お父さん|娘|息子|妻|夫|旦那|嫁|奥さん|彼女|彼氏|子供|子ども|双子|祖母|祖父|おばあちゃん|おじいちゃん|孫|甥|姪|婚約者)`
)

// ja compiles a pattern for a clause in Japanese that begins as clauses do: S is oneself as the
// subject, or nothing.
func ja(pattern string) *regexp.Regexp {
	pattern = strings.NewReplacer("<NAME>", nameForm, "<ENDN>", endName, "<END>", endNoun, "<ANIMAL>", animals, "<KIN>", relatives,
		"<SELF>", selfWords, "<S>", `(?:`+selfWords+`(?:は|も|って|、|\s)?[、\s]*)?(?:実は|今は?|いまは?|もう|まだ|昔から|ずっと|最近|本当に|やっぱり?)?`).Replace(pattern)
	return regexp.MustCompile(opens + pattern)
}

// en compiles a pattern for a clause in English, in which case counts after (?-i).
func en(pattern string) *regexp.Regexp {
	const opens = `(?i)^[\s"“(]*(?:(?:hi|hello|hey|oh|ah|well|so|and|but|or|yes|yeah|yep|yup|no|nope|nah|actually|btw|by the way|also|ok|okay|fun fact|honestly|anyway|anyways|now|please|remember|please remember|always remember|don't forget|keep in mind|remember this|note|you know|because|though|nice to meet you|good (?:morning|evening|afternoon)|hi there|hey there|hello there|hi everyone|hello everyone|just so you know|for the record)(?: that)?[,!.: ]+)*`
	pattern = strings.NewReplacer("<NAME>", `(?-i:([A-Z][\p{L}\x27’-]{0,20}(?: [A-Z][\p{L}\x27’-]{1,20})?))`, "<END>", `[\s.!)~♪"”\x{FE0F}\x{2600}-\x{27BF}\x{1F000}-\x{1FAFF}]*$`,
		"<ANIMAL>", `(cat|kitten|dog|puppy|bird|parrot|rabbit|bunny|hamster|fish|goldfish|turtle|tortoise|ferret|hedgehog|lizard|gecko|horse|guinea pig|snake)`,
		"<KIN>", `(sister|brother|mother|mom|mum|father|dad|son|daughter|wife|husband|girlfriend|boyfriend|fiancée?|partner|child|kid|grandmother|grandma|grandfather|grandpa|aunt|uncle|cousin|niece|nephew|twin|roommate)`).Replace(pattern)
	return regexp.MustCompile(strings.ReplaceAll(opens+pattern, "'", "['’]"))
}

// breaks are where a clause ends, and begins where another one does.
var (
	breaks = regexp.MustCompile(`[、，；;]|(?:けど|けれど|けれども|だから|ですから|だし|ですし|なので)[、 ]?`)
	begins = regexp.MustCompile(`(?i)(?:,? (?:and|but|so|because|though|although)|,) ((?:i|i['’]m|i['’]ve|my|we|we['’]ve|our|he|she|it['’]s|his|her|(?:you can )?call me|everyone|people)\b)`)
	// incomplete is what says nothing without what follows: 実は私、
	incomplete = regexp.MustCompile(opens + `(?:` + selfWords + `(?:は|も|って|ね|さ)?)?[、，]?$`)
)

// clauses cuts a sentence where another statement may begin.
func clauses(sentence string) (all []string) {
	from := 0
	for from < len(sentence) {
		rest := sentence[from:]
		end, next := len(rest), len(rest)
		if at := breaks.FindStringIndex(rest); at != nil {
			end, next = at[1], at[1]
			for incomplete.MatchString(rest[:end]) {
				more := breaks.FindStringIndex(rest[end:])
				if more == nil {
					end, next = len(rest), len(rest)
					break
				}
				end, next = end+more[1], end+more[1]
			}
		}
		if at := begins.FindStringSubmatchIndex(rest); at != nil && at[0] < end && at[0] > 0 {
			end, next = at[0], at[2]
		}
		if c := strings.TrimRight(strings.TrimSpace(rest[:end]), "、，；;,"); c != "" {
			all = append(all, c)
		}
		from += next
	}
	return all
}

// others are those of whom a clause without a subject may tell.
var others = regexp.MustCompile(`妹|弟|姉|兄|母|父|お母さん|お父さん|ママ|パパ|親|娘|息子|妻|夫|旦那|嫁|彼|彼女|彼氏|子供|子ども|祖母|祖父|おばあちゃん|おじいちゃん|友達|友人|友だち|ともだち|先輩|後輩|上司|部長|同僚|先生|いとこ|推し|猫|ねこ|ネコ|犬|いぬ|イヌ|うさぎ|ウサギ|ハムスター|インコ|(?i:\b(?:he|she|they|his|her|their|my (?:\w+ )?(?:sister|brother|mother|mom|mum|father|dad|son|daughter|wife|husband|friend|boss|cat|dog|girlfriend|boyfriend|partner|aunt|uncle|cousin|roommate|neighbou?r|teacher|colleague))\b)`)

// self are words by which somebody speaks of themselves again.
var self = regexp.MustCompile(`(?:^|[、。\s])(?:私|わたし|僕|ぼく|俺|おれ|あたし|自分)(?:は|も|が|の)|(?i:\b(?:i|i['’]m|i['’]ve)\b)|(?i:^my (?:name|birthday|job|favou?rite|hobby|hobbies)\b)`)

// nothing are values that are none.
var nothing = regexp.MustCompile(`(?i)^(?:何|なに|なん|だれ|誰|どこ|秘密|ひみつ|内緒|ないしょ|まだ.*|未定|あれ|これ|それ|ここ|そこ|あそこ|こっち|どれ|みんな|皆|君|きみ|あなた|お前|貴方|人|方|もの|こと|の|あと|後で|また|今度|嘘|うそ|ちょっと|そんな|こんな|あんな|普通|まあ|確か|たしか|一番|いちばん|it|that|this|these|those|him|her|them|you|u|one|some|something|someone|anything|everything|nothing|what|how|when|where|who|to|the way|all|both|myself|yourself|me|us|later|maybe|crazy|old|too|a lot|so much|very much)$|ない$|ません$|ないん|(?:じゃ|では)(?:ない|ありません)|(?:と|って)(?:いい|言い|申し)ます$|って$|[?？<>{}\[\]]|(?i:\b(?:you|your|yours|him|them|it when|that you|this (?:song|one|game|place|app|room|story|idea))\b)|(?:あなた|君|きみ|お前)(?:$|の|が|と)|ちゃんの(?:こと|声|話)`)
