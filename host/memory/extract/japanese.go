package extract

import (
	"regexp"
	"strings"

	"github.com/companiond/companiond/host/memory/wording"
)

// tidy takes off a name what is not part of it: an ending behind katakana or kanji, an honorific.
func tidy(name string) string {
	for _, tail := range []string{"よ", "ね", "さ"} {
		if rest, ok := strings.CutSuffix(name, tail); ok && endsHard.MatchString(rest) {
			name = rest
		}
	}
	for _, tail := range []string{"ちゃん", "くん", "さん"} {
		if rest, ok := strings.CutSuffix(name, tail); ok && len([]rune(rest)) > 1 {
			name = rest
		}
	}
	return strings.Trim(name, " 「」『』\"“”・")
}

var (
	// particled is what tells of somebody or something else besides: 兄は東京.
	particled = regexp.MustCompile(`[はをが、]|も$|の$`)
	endsHard  = regexp.MustCompile(`[\p{Han}\p{Katakana}ー]$`)
	notNamed  = regexp.MustCompile(`^(?:[\p{Hiragana}]{1}|.*(?:です|ます|した|して|いて|から|けど|ので|った|ている|てる|たい|ください|場合|予定|方法|感じ|関係|最高|大事|大切|可愛い|かわいい|いい|変|同じ|普通|好き|忘れ|決め|付け|つけ|考え中).*|元気|かわいい|大好き|女の子|男の子|オス|メス|三毛|黒猫|白猫|シャム)$`)
)

func named(name string) (string, bool) {
	name = tidy(name)
	return name, name != "" && !notNamed.MatchString(name)
}

// filled makes a rule's claim of its first group.
func filled(slot, before, after string, importance int, keys ...string) func([]string) (claim, bool) {
	return func(m []string) (claim, bool) {
		v := strings.Trim(m[1], " 「」『』\"“”、,")
		return claim{slot: slot, value: v, text: before + v + after, keys: keys, importance: importance}, v != "" && !particled.MatchString(v)
	}
}

func nameJa(m []string) (claim, bool) {
	v, ok := named(m[1])
	return claim{slot: "name", value: v, text: "名前は" + v, keys: []string{"名前", "name"}, importance: 5}, ok && !ofAnother(v)
}

// calledJa is nameJa where no 名前 says whose name it is, or that it is one: 私 may be the beginning of
// 私の猫は, and people tell what they say, too: 無理と言います.
func calledJa(m []string) (claim, bool) {
	c, ok := nameJa(m)
	return c, ok && !ofMine.MatchString(m[0]) && !saidWords.MatchString(c.value) && !saidEnds.MatchString(c.value)
}

// saidJa is calledJa where what is said is mostly no name, least of all in hiragana: 俺はいくって言うんだ.
func saidJa(m []string) (claim, bool) {
	c, ok := calledJa(m)
	return c, ok && !petWord.MatchString(c.value) && !others.MatchString(c.value) && (endsHard.MatchString(c.value) || c.value[0] >= 'A' && c.value[0] <= 'Z')
}

var (
	ofMine    = regexp.MustCompile(opens + selfWords + `の`)
	saidWords = regexp.MustCompile(`^(?:ダメ|駄目|バカ|馬鹿|アホ|イヤ|ヤダ|嫌|無理|ムリ|ノー|イエス|オッケー|オーケー|OK|NO|YES|反対|賛成|絶対|大丈夫|最高|最低|正直|結構|禁止|平気|本当|ホント|マジ|幸せ|不安|心配|孤独|天才|正解|間違い|了解|感謝|残念|可能|不可能|必要|不要|大人|子供|人間|男|女|男子|女子|好き|大好き|嫌い|大嫌い)$`)
	saidEnds  = regexp.MustCompile(`\p{Han}[うくすつぬむるぐぶいた]$|.だ$|^(?:いや|だめ|むり|やだ|うん|はい|いいえ|すき|きらい)$`)
	particles = regexp.MustCompile(`[はのがをもに]`)
	kanaName  = regexp.MustCompile(`^\p{Hiragana}[\p{Hiragana}ー]*$`)
)

// ofAnother says whether what should be a name is that of somebody or something else, with what says of
// whom: の妹はサクラコ, 先生は鈴木. In hiragana alone a short one may have such a letter: はるか, こはる, あやの.
func ofAnother(name string) bool {
	if kanaName.MatchString(name) {
		return len([]rune(name)) > 4 && particles.MatchString(string([]rune(name)[1:len([]rune(name))-1]))
	}
	return particles.MatchString(name)
}

func petNameJa(animal, name string) (claim, bool) {
	v, ok := named(name)
	thing := wording.Thing(animal)
	return claim{slot: "pet.name:" + thing, value: v, text: animal + "の名前は" + v, keys: []string{animal, thing, "名前", "name", "ペット", "pet"}, importance: 4}, ok && v != animal && !ofAnother(v)
}

func kinNameJa(m []string) (claim, bool) {
	v, ok := named(m[2])
	return claim{slot: "family.name:" + wording.Thing(m[1]), value: v, text: m[1] + "の名前は" + v, keys: []string{m[1], wording.Thing(m[1]), "名前", "name", "家族"}, importance: 4}, ok && !ofAnother(v)
}

// kinCalledJa is kinNameJa where no 名前 says that it is one: 妹は嫌っていうの.
func kinCalledJa(m []string) (claim, bool) {
	c, ok := kinNameJa(m)
	return c, ok && !saidWords.MatchString(c.value) && endsHard.MatchString(c.value)
}

// taste makes a claim of what somebody likes or not: both have one slot, so that they
// contradict each other.
func tasteJa(likes bool) func([]string) (claim, bool) {
	return func(m []string) (claim, bool) {
		what := strings.Trim(m[1], " 「」『』、")
		text, key, value := what+"が好き", "好き", "likes:"+what
		if !likes {
			text, key, value = what+"が"+said(m, "嫌い"), "嫌い", "dislikes:"+what
		}
		if len([]rune(what)) > 15 || !sensible(what) || noTaste.MatchString(what) {
			return claim{}, false
		}
		return claim{slot: "taste:" + wording.Thing(what), value: value, text: text, keys: append([]string{key, what}, wording.Things(what)...), importance: 3}, true
	}
}

// said gives the word of a rule's second group as it is mostly written.
func said(m []string, usual string) string {
	word := usual
	if len(m) > 2 && m[2] != "" {
		word = m[2]
	}
	return strings.NewReplacer("きらい", "嫌い", "にがて", "苦手", "すき", "好き").Replace(word)
}

// notLikedJa reads 「納豆は好きじゃない」.
func notLikedJa(m []string) (claim, bool) {
	return tasteJa(false)([]string{m[0], m[1], "好きではない"})
}

// noLongerJa reads 「いちごはもう好きじゃなくなった」.
func noLongerJa(m []string) (claim, bool) {
	c, ok := tasteJa(false)(m[:2])
	c.text = strings.TrimSuffix(c.text, "が嫌い") + "はもう好きではない"
	return c, ok
}

// noTaste are subjects of somebody else, or none that can be told apart from one.
var noTaste = regexp.MustCompile(`は|も$|って|とか言|^(?:人|彼|彼女|誰|みんな|皆|妹|弟|姉|兄|母|父|娘|息子|妻|夫|友達|先生|子供|猫|犬)が|[るた]人$|^(?:その|この|あの|そういう|こういう|ああいう|そこ|ここ)|ちゃんが|さんが|くんが|^[ぁ-ん]$`)

// refusal makes a claim of what somebody must not have.
func refusalJa(slot, ending string, keys ...string) func([]string) (claim, bool) {
	return func(m []string) (claim, bool) {
		what := strings.Trim(m[1], " 「」『』、")
		if noTaste.MatchString(what) {
			return claim{}, false
		}
		behind := ending
		if len(m) > 2 && strings.HasPrefix(m[2], "飲") {
			behind = strings.Replace(ending, "食べられない", "飲めない", 1)
		}
		return claim{slot: slot + ":" + wording.Thing(what), value: what, text: what + behind, keys: append(append([]string{what}, keys...), wording.Things(what)...), importance: 5}, true
	}
}

const jobs = `([\p{Han}\p{Katakana}ー]*(?:師|士|員|者|家|官|屋|手|長|業|主婦|主夫|エンジニア|デザイナー|プログラマー?|ナース|教師|教諭|学生|高校生|中学生|小学生|大学院生|浪人生|フリーター|ニート|バイト|パート|ライター|イラストレーター|ドライバー|シェフ|パティシエ|モデル|アナウンサー|プロデューサー|マネージャー|コンサル|ディレクター|カメラマン|トレーナー|セラピスト|アーティスト|ミュージシャン|作曲家|声優|俳優|女優|漫画家|警官|社長))`

func japanese() []rule {
	const place = `([\p{Han}\p{Katakana}\p{Hiragana}ーA-Za-z]{1,14}?)`
	const food = `([\p{Han}\p{Katakana}\p{Hiragana}ー々]{1,12}?)`
	const very = `(?:一番|いちばん|すごく|すごい|めっちゃ|めちゃくちゃ|とても|本当に|ほんとに|ほんと|超|かなり|特に|やっぱり?|昔から|あまり|あんまり|ちょっと|少し|どうしても|全然)*`
	name := []rule{
		{pattern: ja(`(?:<SELF>の|<SELF>、?)(?:本名|名前|なまえ|ニックネーム|あだ名|ハンドルネーム)は、?<NAME><ENDN>`), claim: nameJa, last: true},
		{pattern: ja(`(?:本名|名前|なまえ|ニックネーム|あだ名|ハンドルネーム)は、?<NAME><ENDN>`), claim: nameJa, own: true, each: true, last: true},
		{pattern: ja(`<S><NAME>(?:って|と)(?:言い|いい|申し)ます` + marks), claim: calledJa, last: true},
		{pattern: ja(`<SELF>(?:は|、|\s)?[、\s]*<NAME>(?:って|と)(?:いう|言う)(?:んだ|んです|の|のよ|んだよ|んですよ|よ|けど|んだけど|んですけど|から|よろしく)+` + marks), claim: saidJa, last: true},
		{pattern: ja(`<SELF>の(?:こと|事)は、?<NAME>(?:って|と)(?:呼んで|よんで)(?:ください|くださいね|下さい|ほしい|欲しい|くれ|もらえる|ね|よ|な|です)*` + marks), claim: nameJa, last: true},
		{pattern: ja(`<S>(?:気軽に)?<NAME>(?:って|と)(?:呼んで|よんで)(?:ください|くださいね|下さい|ほしい|欲しい|くれ|もらえる|ね|よ|な|です)*` + marks), claim: calledJa, last: true},
	}
	pets := []rule{
		{pattern: ja(`(?:<SELF>の|家の|我が家の|飼ってる|飼っている)?(?:ペットの)?<ANIMAL>(?:ちゃん|さん|くん)?の名前は、?<NAME><ENDN>`), claim: func(m []string) (claim, bool) { return petNameJa(m[1], m[2]) }, last: true},
		{pattern: ja(`(?:<SELF>の|家の|我が家の|飼ってる|飼っている)<ANIMAL>(?:ちゃん|さん|くん)?(?:は|、)<NAME>(?:って|と)(?:いう|言う|いい|言い|申し)(?:ます|んだ|んです|の|名前)*<END>`), claim: func(m []string) (claim, bool) { return petNameJa(m[1], m[2]) }, last: true},
		{pattern: ja(`(?:<SELF>(?:で|に)?(?:は|も)?、?|家で|家に(?:は)?)?<NAME>(?:って|と)(?:いう|言う)(?:名前の)?<ANIMAL>(?:を|が|も)?(?:\d匹)?(?:飼って(?:い?ます|い?る)|い(?:ます|る))<END>`), claim: func(m []string) (claim, bool) { return petNameJa(m[2], m[1]) }, last: true},
		{pattern: ja(`(?:<SELF>(?:で|に|の家)?(?:は|も|に)?、?|家(?:で|に)(?:は)?|我が家(?:には?|では?)?)?<ANIMAL>(?:を|も|が)?(?:[0-9０-９一二三四五]匹|[0-9０-９一二三四五]羽)?(?:飼って(?:い?ます|い?る)|飼い始めました|飼い始めた|を飼った)<END>`), claim: func(m []string) (claim, bool) { return petJa(m) }, own: true, last: true},
		{pattern: ja(`(?:<SELF>に(?:は|も)?|家に(?:は|も)?|我が家に(?:は|も)?)、?<ANIMAL>が?(?:[0-9０-９一二三四五]匹|[0-9０-９一二三四五]羽)?(?:います|いる)<END>`), claim: func(m []string) (claim, bool) { return petJa(m) }, last: true},
	}
	person := []rule{
		{pattern: ja(`<S>(?:今年で?|先週|先月|昨日|今日|去年|この前|ついに|とうとう)?([0-9０-９]{1,3}|[一二三四五六七八九十]{1,4})[歳才](?:になりました|になった|になる)?<END>`), claim: filled("age", "", "歳", 3, "年齢", "age", "歳"), own: true, each: true},
		{pattern: ja(`(?:<SELF>の)?誕生日は、?((?:[0-9０-９]{1,2}|[一二三四五六七八九十]{1,3})月(?:[0-9０-９]{1,2}|[一二三四五六七八九十]{1,3})日|[0-9]{1,2}/[0-9]{1,2})<END>`), claim: filled("birthday", "誕生日は", "", 4, "誕生日", "birthday"), own: true, each: true},
		{pattern: ja(`<S>(?:[0-9]{4}年)?([0-9０-９]{1,2}月[0-9０-９]{1,2}日)(?:生まれ|が誕生日)<END>`), claim: filled("birthday", "誕生日は", "", 4, "誕生日", "birthday"), own: true, each: true},
		{pattern: ja(`<S>` + place + `(?:に|で)(?:住んで|すんで|暮らして|一人暮らしして)(?:い?ます|い?る)<END>`), claim: filled("place", "", "に住んでいる", 4, "住所", "place", "住む"), own: true},
		{pattern: ja(`<S>` + `(?:[\p{Han}\p{Katakana}ー]{1,12}から)?` + place + `(?:に|へ)(?:引っ越しました|引っ越した|引っ越してきた|引っ越してきました|引越しました|引越した)<END>`), claim: filled("place", "", "に住んでいる", 4, "住所", "place", "引っ越し"), own: true},
		{pattern: ja(`<S>` + place + `在住<END>`), claim: filled("place", "", "に住んでいる", 4, "住所", "place"), own: true},
		{pattern: ja(`(?:<SELF>の)?(?:出身|地元|実家)は、?` + place + `<END>`), claim: filled("origin", "出身は", "", 3, "出身", "origin")},
		{pattern: ja(`<S>` + place + `(?:の)?出身<END>`), claim: filled("origin", "出身は", "", 3, "出身", "origin"), own: true},
		{pattern: ja(`(?:<SELF>の)?(?:仕事|職業)は、?([\p{Han}\p{Katakana}\p{Hiragana}ーA-Za-z]{1,14}?)(?:をして(?:い?ます|い?る)|をやって(?:い?ます|い?る)|やって(?:い?ます|い?る)|して(?:い?ます|い?る))?<END>`), claim: filled("job", "仕事は", "", 3, "仕事", "job")},
		{pattern: ja(`<S>([\p{Han}\p{Katakana}\p{Hiragana}ーA-Za-z]{1,14}?)(?:として|で|に)(?:働いて|勤めて|勤務して)(?:い?ます|い?る)<END>`), claim: filled("job", "仕事: ", "", 3, "仕事", "job", "働く"), own: true},
		{pattern: ja(`<S>` + jobs + `(?:を|として)?(?:して|やって)(?:い?ます|い?る)<END>`), claim: filled("job", "仕事は", "", 3, "仕事", "job"), own: true},
		{pattern: ja(`<S>(?:[0-9０-９]+[歳才]の)?` + jobs + `<END>`), claim: filled("job", "仕事は", "", 3, "仕事", "job"), own: true},
		{pattern: ja(`<S>([\p{Han}\p{Katakana}ー]{0,10}(?:大学|高校|中学校?|小学校|専門学校|大学院)(?:の?[0-9０-９一二三四五六]年生?)?)(?:に通って(?:い?ます|い?る)|の学生|に在学中|で.{1,8}を勉強して(?:い?ます|い?る))<END>`), claim: filled("school", "学校は", "", 3, "学校", "school"), own: true},
		{pattern: ja(`<S>((?:大学|高校|中学|小学)(?:の)?[0-9０-９一二三四五六]年生?)<END>`), claim: filled("school", "", "", 3, "学校", "school", "学年"), own: true},
	}
	family := []rule{
		{pattern: ja(`(?:<SELF>の|我が家の)?<KIN>の名前は、?<NAME><ENDN>`), claim: kinNameJa, last: true},
		{pattern: ja(`(?:<SELF>の|我が家の)?<KIN>(?:は|、)<NAME>(?:って|と)(?:いう|言う|いい|言い|申し)(?:ます|んだ|んです|の|名前)*<END>`), claim: kinCalledJa, last: true},
		{pattern: ja(`(?:<SELF>には?、?|<S>)(?:[0-9０-９]{1,2}[歳才]の)?<KIN>が(?:[0-9０-９一二三]人)?(?:います|いる)<END>`), claim: func(m []string) (claim, bool) {
			return claim{slot: "family:" + wording.Thing(m[1]), value: m[1], text: m[1] + "がいる", keys: []string{m[1], wording.Thing(m[1]), "家族", "family"}, importance: 3}, true
		}, last: true},
		{pattern: ja(`<S>([0-9０-９一二三四五]人(?:兄弟|姉妹|きょうだい)(?:の(?:長男|長女|次男|次女|末っ子|真ん中))?|一人っ子|長男|長女|次男|次女|末っ子)<END>`), claim: filled("family:siblings", "", "", 3, "家族", "兄弟", "family"), own: true},
		{pattern: ja(`<S>(?:今年|先週|先月|昨日|今日|去年|この前|ついに|とうとう)?、?(結婚して(?:い?ます|い?る)|結婚しました|婚約しました|独身)<END>`), claim: filled("family:married", "", "", 4, "結婚", "家族", "family"), own: true},
	}
	health := []rule{
		{pattern: ja(`<S>` + food + `(?:の)?アレルギー(?:が(?:ある|あります)|を?持ち|を持って(?:い?ます|い?る))?<END>`), claim: refusalJa("allergy", "アレルギー", "アレルギー", "allergy"), own: true, last: true},
		{pattern: ja(`<S>` + food + `に(?:は)?アレルギー(?:が(?:ある|あります))<END>`), claim: refusalJa("allergy", "アレルギー", "アレルギー", "allergy"), own: true, last: true},
		{pattern: ja(`<S>` + food + `(?:は|が)` + very + `(食べられ|食べれ|飲め|飲んじゃだめ|食べちゃだめ)(?:ない|ません|なくて|ないん)?<END>`), claim: refusalJa("must_not", "は食べられない", "だめ", "must_not"), own: true, last: true},
		{pattern: ja(`<S>(ベジタリアン|ヴィーガン|ビーガン|菜食主義|糖尿病|喘息|下戸)<END>`), claim: refusalJa("must_not", "", "食事", "must_not"), own: true, last: true},
	}
	tastes := []rule{
		{pattern: ja(`(?:<SELF>(?:の|が)|<S>)(?:一番|いちばん)?(?:大)?好きな(食べ物|飲み物|色|映画|曲|歌|本|ゲーム|季節|動物|アニメ|漫画|歌手|アーティスト|バンド|教科|スポーツ|場所|花|お菓子|料理|作家|俳優|もの|番組)は、?([^はがをも、]{1,15}?)<ENDN>`), claim: favouriteJa, own: true, last: true},
		{pattern: ja(`(?:<SELF>の)?(趣味|推し|特技|得意料理|好物|座右の銘)は、?([^はがも、]{1,15}?)<ENDN>`), claim: favouriteJa, last: true},
		{pattern: ja(`<S>([^、。は]{1,15}?)(?:が|は|も)` + very + `(?:もう|最近は?|今は)(?:` + very + `)(?:好き|すき)(?:では|じゃ)(?:ない|ありません|ないん|なくて)<END>`), claim: noLongerJa, own: true, last: true},
		{pattern: ja(`<S>([^、。は]{1,15}?)(?:が|は|も)` + very + `(?:もう|最近は?|今は)?(?:` + very + `)(?:好き|すき)(?:では|じゃ)(?:なくなった|なくなりました|なくなっちゃった|なくなって(?:きた|きました|しまった|しまいました))<END>`), claim: noLongerJa, own: true, last: true},
		{pattern: ja(`<S>([^、。は]{1,15}?)(?:が|は)` + very + `((?:好き|すき)では|(?:好き|すき)じゃ)(?:ない|ありません|ないん|なくて)<END>`), claim: notLikedJa, own: true, last: true},
		{pattern: ja(`<S>([^、。は]{1,15}?)(?:が|は|も|、)?` + very + `(?:大好き|だいすき|好き|すき|大好物|好物)(?:になった|になりました)?<END>`), claim: tasteJa(true), own: true, last: true},
		{pattern: ja(`<S>([^、。は]{1,15}?)に(?:ハマ|はま)って(?:い?ます|い?る)<END>`), claim: tasteJa(true), own: true, last: true},
		{pattern: ja(`<S>([^、。は]{1,15}?)(?:が|は|も)` + very + `(大嫌い|嫌い|きらい|苦手|にがて)(?:になった|になりました)?<END>`), claim: tasteJa(false), own: true, last: true},
	}
	return concat(name, pets, family, health, tastes, person)
}

func concat(parts ...[]rule) (all []rule) {
	for _, p := range parts {
		all = append(all, p...)
	}
	return all
}

func petJa(m []string) (claim, bool) {
	thing := wording.Thing(m[1])
	return claim{slot: "pet:" + thing, value: m[1], text: m[1] + "を飼っている", keys: []string{m[1], thing, "ペット", "pet"}, importance: 3}, true
}

func favouriteJa(m []string) (claim, bool) {
	what := strings.Trim(m[2], " 「」『』")
	label := m[1]
	text := label + "は" + what
	if !regexp.MustCompile(`^(?:趣味|推し|特技|得意料理|好物|座右の銘)$`).MatchString(label) {
		text = "好きな" + text
	}
	return claim{slot: "favourite:" + wording.Thing(label), value: what, text: text, keys: append([]string{label, "好き", wording.Thing(label)}, wording.Things(what)...), importance: 3}, true
}
