package words

import (
	"slices"
	"strings"
	"unicode"
)

// japaneseReadings folds a text with its spaces as ends of clauses, and once
// more without them, for who writes 死 に た い.
func japaneseReadings(s string) []string {
	if !strings.ContainsFunc(s, func(r rune) bool { return isKana(r) || isHan(r) }) {
		return nil
	}
	text := writeJapanese(s, stop)
	if spaced := strings.ContainsFunc(strings.TrimSpace(s), unicode.IsSpace); spaced {
		return []string{stop + text + stop, stop + writeJapanese(s, "") + stop}
	}
	return []string{stop + text + stop}
}

// writeJapanese is [Normal] for words that are drawn out or written by halves:
// しにたーい, 死にたぁい, 死にてぇ, ｼﾞｻﾂ. Marks end a clause, and space stands for a gap.
func writeJapanese(s, space string) string {
	var b strings.Builder
	var last rune
	put := func(r rune) {
		if r != '。' || last != '。' {
			b.WriteRune(r)
		}
		last = r
	}
	text := []rune(Normal(selfHarm.Replace(s)))
	for i, r := range text {
		switch {
		case i+1 < len(text) && isVoicing(text[i+1]) && strings.ContainsRune("かきくけこさしすせそたちつてとはひふへほ", r):
			put(r + 1) // が follows か, and so on
		case isVoicing(r), unicode.In(r, unicode.Cf, unicode.Mn):
		case strings.ContainsRune("ぁぃぅぇぉ", r):
			put(r + 1)
		case strings.ContainsRune("ー〜~", r) && last == 'て':
			put('え')
		case strings.ContainsRune("ー〜~", r):
		case r == ' ' && space == "":
		case unicode.IsLetter(r), unicode.IsDigit(r):
			put(r)
		default:
			put('。')
		}
	}
	return b.String()
}

// selfHarm names what リスカ is before its kana are folded: リスか is a squirrel, and
// アリスかな is a girl.
var selfHarm = strings.NewReplacer("クリスカ", "クリスカ", "アリスカ", "アリスカ", "リスカ", "自傷", "ﾘｽｶ", "自傷")

// isVoicing says whether r makes か a が where it stands by itself.
func isVoicing(r rune) bool { return r == 'ﾞ' || r == '゛' || r == '\u3099' }

// japaneseMine finds the writer by the words for oneself, and somebody else by
// those for others.
func japaneseMine(w whose, _, clause string) bool {
	has := func(words string) bool {
		return slices.ContainsFunc(strings.Fields(words), func(w string) bool { return strings.Contains(clause, w) })
	}
	switch w {
	case maybe:
		return !has("あいつ こいつ そいつ おまえ お前 てめえ 貴様 きさま あの人 ああいう人 政治家")
	case surely:
		return has("私 わたし あたし 俺 おれ 僕 ぼく 自分 うち")
	}
	return true
}

// wish ends a verb of which somebody says that they want it. たく stands only
// where no ない follows: 死にたくない is the wish to live.
const wish = "{たい|たかっ|たくて|たくなる|たくなり|たくなっ|たくもな|たくなん|たすぎ|た過ぎ|たみ|てえ|たあい|たひ}"

// loosely ends a wish in kana, which could be the middle of something else:
// わたしにたいして is about me and not about dying.
const loosely = "{。|です|でし|よ|な|ね|わ|と思|とおも|って|けど|し。|の。|ん|ほど|くらい|ぐらい}"

// notMeant comes after a wish that is none. 死にたいほど恥ずかしい is not among it:
// shame is one of the reasons.
var notMeant = []string{
	"{と|とは|とも|なんて|とか|なんか}{思わな|思ってな|思っていな|思いませ|思えな|言うな|言わな}",
	"{ほど|くらい|ぐらい|れべるで}{好き|幸せ|嬉し|うれし|楽し|美味|おいし|面白|おもしろ|かわい|可愛|眠|ねむ|尊|笑}",
	"{やつ|奴|者}{は|から|だけ|が}",
}

// notNow are words around a wish that make it one for a good end late in life, a
// figure of delight, or part of a game.
const notNow = "老衰で|畳の上で|ぽっくり|ぴんぴんころり|ぴんころ|大往生|孫に囲まれ|家族に囲まれ|尊すぎ|尊くて|かわいすぎ|可愛すぎ|面白すぎ|嬉しすぎ|うれしすぎ|幸せすぎ|楽しすぎ|美味しすぎ|おいしすぎ|" + inGame

// dear are those whose easy death somebody speaks of who mourns.
const dear = "祖父|祖母|じい|ばあ|父|母|猫|犬|ぺっと|あの子|うちの子|彼|叔|伯"

// inGame are words of somebody who plays.
const inGame = "げむで|げむの中|げむ内|まいくらで|ぼす戦で|りすぽん"

// reported are words around what others did, or wrote about.
const reported = "にゅす|記事|芸能人|俳優|作家|有名人|統計|防止|予防|対策|小説|映画|どらま|あにめ|きゃら|主人公|れみんぐ"

// chores are what people want to be done with, or to have easier, without
// meaning more.
const chores = "仕事|宿題|会議|課題|れぽと|作業|練習|家事|掃除|片付|通勤|家計|生活|腰|肩|手順|運用|げむ|連載|しりず"

// japaneseDistress is what people write who want to die or to hurt themselves.
var japaneseDistress = []phrase{
	// The wish.
	{say: "{死に|逝き|死んでしまい|死んじまい|死んじゃい|しんじゃい|しんでしまい}" + wish, after: notMeant, prior: "必|瀕|決|半", near: notNow},
	{say: "{私|わたし|あたし|俺|僕|ぼく|自分}{を|の存在を|ごと}{殺し|ころし|消し|消え}" + wish},
	{say: "存在{したくな|を消した|ごと消え}"},
	{say: "{苦しみ|くるしみ|つらさ}{を|から}{終わらせ|解放され|逃れ|逃げ}" + wish},
	{say: "死{を選び|を選ぼ|を望ん|ばかり考|を待って}", near: reported},
	{say: "死にたいと思わない{日|時|とき|夜|瞬間}{は|が|なんて|も|}{ない|なか|無|あり}"},
	{say: "{しに|氏に|市に|4に|たひに|たひり|たひ}{たい|てえ|たすぎ|たひ|たあい}" + loosely, after: notMeant, prior: "わた|あた|彼|各|両|同", near: notNow},
	{say: "{しに|氏に|たひに}{たかった|たくて|たくなる|たくなっ|たくなり|たみ}", prior: "わた|あた|彼", near: notNow},
	{say: "{消え|きえ|消えてしまい|きえてしまい|消えちゃい|消え去り|消えてなくなり|消えて無くなり|いなくなり|居なくなり|いなくなっちゃい|いなくなってしまい}" + wish, after: notMeant,
		prior: "あいこんが|ぼたんが|通知が|ばぐが|表示が|文字が|しみが|痛みが|聞", near: inGame},
	{say: "{自殺し|じさつし|安楽死し|永眠し|投身し}" + wish, after: notMeant},
	{say: "{首を|首|くびを|くび}{吊り|つり|くくり|括り}" + wish, prior: "足|手"},
	{say: "飛び降り" + wish, near: "ばんじ|すかいだい|ぱらしゅと|ぶらんこ|ぷる|滝|げむ|まいくら|船"},
	{say: "{電車|列車|線路|ほむ|とらっく}{に|から|の前に|へ}{飛び込みた|飛び込もう|飛び込みそう|飛び込め|飛びこみた|飛び降りた|飛び降りよ|身を投げ}", near: "げむ|猫|犬"},
	{say: "{命|いのち}を{絶ちた|絶と|絶つし|絶つつ|絶ちま|絶つ。|断ちた|断と|捨てた|捨てよ|終わらせ|終えた}"},
	{say: "人生{を|}{終わらせ|終わりにし|終え|おわらせ|おわりにし|やめ|辞め|降り|終了し|捨て}{たい|たく|よう|るしか|ちゃい}"},
	{say: "{全部|ぜんぶ|すべて|全て|何もかも|もう}{終わりにし|終わらせ|おわらせ|おわりにし}" + wish, near: chores},
	{say: "{全部|ぜんぶ|すべて|全て|何もかも}{終わりにする|終わりにしま|終わりにしよ|終わらせる|終わらせま|終わらせよ|おわりにする|おわりにしま}", near: chores + "|話|説明|準備|勉強|試験|関係|取引"},
	{say: "{今夜|今晩}で{最後|終わり|おしまい}に{し|する}", near: chores + "|酒|たばこ|煙草|夜食|夜更かし|徹夜|配信|お菓子|おやつ|ちゃんねる|試験|まら"},
	{say: "{今夜|今晩|今日|明日|これ}で{最後|終わり|おしまい}{だ|です|なんだ|にする|にするね|にするよ|にします|にしますね|にしよう|にしようと思う|にしようと思ってる|にしようと思います|にしようと思っています|に決めた}。{みんな。|みんな|。|}{話せて|話を聞いてくれて|会えて|出会えて|さよなら|さようなら|ごめん|元気で|幸せに|忘れて}", near: chores + "|配信|学校|会社|部活|引っ越|引越|卒業|退職|ばいと|旅行"},
	{say: "もう{終わり|おわり}たい", near: chores},
	{say: "この世{から|を}{去り|離れ|おさらばし|旅立ち}" + wish},
	{say: "{もう|早く|はやく|いっそ|死んで|全部捨てて|。}楽に{なりた|なっちゃいた|なろう|してくれ|してほし|して下さ|してくださ}", near: chores},
	{say: "{殺され|ころされ}" + wish, near: "推し|笑顔|かわい|可愛|いけめん"},
	{say: "安楽死{させて|できたら|できる国|を選びた|希望}", near: "犬|猫|ぺっと|制度"},

	// Being alive as what is too much.
	{say: "{生き|生きて|生きてい|いきて|いきてい}たく{ない|なく|なか|ねえ|ありま|はない}"},
	{say: "{生きる|生きてる|生きている|生きてく|生きていく|いきる|いきてる}{意味|いみ|価値|理由|希望|気力|意欲|目的|資格|自信|勇気}" +
		"{が|も|は|なんて|なんか|とか|を|すら|さえ|}{もう|全然|ぜんぜん|}{ない|無い|なく|無く|なか|ねえ|ありま|わから|分から|わかん|分かん|わかりま|分かりま|見えな|見えませ|思いつか|見いだせ|見出せ|見つから|見つけられ|感じられ|感じな|失|なし|無し|もうな}", mine: maybe},
	{say: "生きる気が{しな|起きな|おきな|失}"},
	{say: "{生きてる|生きている|生きてく|生きていく}{意味|価値}{が|は|って|なんて|}{ある|あり|何|なに|なん}", mine: maybe},
	{say: "{生きるの|生きてるの|生きているの|生きていくの|生きてくの|いきるの|いきてるの|生きること|生きていること}{が|も|に|は|って|なんて|を|}" +
		"{もう|本当に|ほんとに|ほんと|まじで|}{つら|辛|しんど|苦し|くるし|嫌|いや|やだ|疲れ|つかれ|無理|むり|やめ|辞め|面倒|めんど|きつ|限界|耐え|だる|怖|こわ}"},
	{say: "人生{に|が|も|}{疲れ|つかれ|つら|辛|しんど|嫌にな|絶望|意味がな|意味な|耐え}"},
	{say: "{生きてて|生きていて}{いいの|いいん|ごめん|すみません|申し訳|つら|辛|しんど|楽しくな|つまらな}"},
	{say: "{生きてても|生きていても|いきてても|生きてたって|生きていたって}{意味|仕方|しかた|しょうが|しようが|無駄|むだ|何も|なにも|なんにも|いいこと|つら|辛|楽しくな|つまらな|迷惑|しんど|無意味}"},
	{say: "{生きていけ|生きてけ|いきていけ}{ない|ませ|ねえ|そうにな}", near: "ないと|なしで|なしじゃ|なしに|無しで|無しじゃ|なきゃ|なければ|なくちゃ|なくては|いない世界|抜きで"},
	{say: "{もう|これ以上|このまま}生きられ{ない|ませ|そうにな}"},
	{say: "{生まれて|産まれて|うまれて}{こなければ|こなきゃ|こないほうが|こない方が|こなくてよ|きたくな|くるんじゃな|くるべきじゃ|くるべきでは|きてごめん|きてすみ|きて申し訳}", mine: maybe},
	{say: "{生まれ|産まれ|うまれ}{なければよ|なきゃよ|たくなか}", mine: maybe},
	{say: "{このまま|二度と|永遠に|一生}{目が覚めな|目覚めな|目覚めたくな|目を覚まさな|目を覚ましたくな|起きたくな|目が覚めたくな}"},
	{say: "{目が|目}{覚めなければ|覚めなきゃ|覚めなくて|さめなければ|さめなきゃ}{いい|よか|よい}", near: "夢"},
	{say: "{永遠に|永久に}{眠り|眠って|寝て}{い|}{たい|たく}"},

	{say: "{明日|朝}{が|なんて|なんか|なんか。|なんて。|}{来な|こな}{ければ|きゃ|くていい}"},

	// Being dead as what would be better.
	{say: "{死んだ|しんだ|死んでしまった|死んじゃった}{ほう|方}が{いい|良|よい|よく|よか|まし|楽|らく|世}", mine: maybe},
	{say: "{私|わたし|あたし|俺|僕|ぼく|自分}が{死んだら|いなくなったら|消えたら|死んでも|いなくなっても|消えても}{誰|だれ|みんな|悲し|泣|困|どう|何も}", near: inGame},
	{say: "{死ねば|死んだら|しんだら|死ねたら|しねたら|死ねれば}{楽|らく|全部|すべて|解放|どんな|いいな|いいの。|幸せ}", mine: maybe, near: inGame},
	{say: "{死ねたら|死ねるなら|死んでしまえたら|消えてしまえたら|消えられたら|いなくなれたら}", near: inGame},
	{say: "{いない|居ない|いなくなった|消えた|死んだ}{ほう|方}が{いい|良|よい|よか|まし|楽|みんな|世}", mine: surely},
	{say: "{いなければ|居なければ|いなくなれば|消えれば|消えてしまえば|死ねば|しねば|死んでしまえば}{いい|良|よか|みんな|楽}", mine: surely},
	{say: "死んでも{誰も|だれも|悲しむ人|何も変わ}", near: inGame},
	{say: "死んでもいい{や|かな|かも|と思|とおも|って思|。|です|よね|気}", near: "幸せ|嬉し|うれし|推し|会え|尊|最高|食べ|たら死|美味|おいし|かっこ|好き|" + inGame},
	{say: "死ぬの{が|は|も|なんて|}怖くな"},

	// Plans.
	{say: "{死のう|死んでしまおう|死んじゃおう|死んでやろう}{と思|とおも|と考|と決|とし|かな|かと|か。|って|。|よ。|ぜ}", prior: "不|必"},
	{say: "しのう{と思|とおも|かな。}", prior: "た"},
	{say: "死んでやる"},
	{say: "死ぬ{しかな|しか無|しか道|以外|こともでき|ことすら|ことさえ|つもり|ことにし|ことに決|ことにな|ことばかり|ことばっか|ことしか|ことを考|こと考|準備|勇気|方法}", near: inGame + "|ぼす|きゃら|主人公|ぷろせす"},
	{say: "{楽に|らくに|確実に|簡単に|苦しまずに|苦しまないで|痛くなく|痛みなく|静かに|眠るように}死{ね|ぬ|に方|にかた|にま|んで}", near: inGame + "|ぼす|敵"},
	{say: "{楽に|らくに|確実に|簡単に|苦しまずに|苦しまないで|痛くなく|痛みなく|静かに|眠るように}逝{ける|けない|けま|けたら|く。|く方法|く薬|きた|き方|こう}", near: dear},
	{say: "{死ねる|逝ける|しねる|死ねそうな}{方法|やり方|場所|薬|高さ|量}", near: inGame + "|ぼす|敵|回"},
	{say: "{楽な|痛くない|苦しくない|苦しまない|簡単な|確実な}{死に方|死にかた|死にざま}", near: inGame},
	{say: "死に方{を|が|}{教え|知り|調べ|探}", near: inGame},
	{say: "死なせて{。|く|ほし|欲し|下さ|よ。|やって}"},
	{say: "{誰か|だれか|いっそ|もう|お願いだから|頼むから|早く|はやく}{私を|わたしを|俺を|僕を|自分を|}{殺して|ころして}", after: []string{"{しま|る|い|た|き}"},
		near: "蚊|虫|ごき|はえ|ぷろせす|敵|ぼす|ねずみ|くも|蜘蛛|むかで"},
	{say: "{私|わたし|俺|僕|ぼく|自分|あたし}{を|のことを|のこと|も}{殺して|ころして}{く|ほし|欲し|下さ|よ|。}"},
	{say: "。{殺して|ころして}{ほし|欲し|くれ|くだ|下さ}"},
	{say: "{今から|これから|今日|今夜|今晩|明日|あした|もう}死{にます|にに行|んでくる|んできま}", near: inGame},
	{say: "{今から|これから|今日|今夜|今晩|明日|あした}死ぬ{。|よ|ね|から|わ。|つもり|ことに|予定}", near: inGame},
	{say: "{自殺|じさつ}{しよう|しちゃい|しそう|するしか|するつもり|したら|すれば|しかけ|するよ|するね|します|する。|できない|できたら|できれば|を考|も考|を図|未遂し|未遂を|未遂で|願望が|しか考|しかな|のことばか|のことを考|のことしか|の方法|方法|の仕方|のやり方}",
		mine: maybe, prior: "人は|人が|なぜ|なんで", near: reported},
	{say: "{首を|首|くびを}{吊ろう|吊るしか|吊って死|吊りま|吊ってしま|吊るつもり|吊る。|吊った。|つろう|つるしか|くくろう|くくるしか|括ろう|括るしか}", prior: "足|手", near: reported},
	{say: "{屋上|べらんだ|びる|まんしょん|橋|崖}から飛{び降りる|びおりる|びたい|ぼう}", near: "ばんじ|猫|鳥|" + inGame + "|" + reported},
	{say: "死にきれ{な|ま}"},
	{say: "飛び降り{たら|れば|ると|ちゃえば|てしまえば}{楽|らく|死|しね|終わ|おわ|消え|全部|すべて|解放|誰か|だれか|みんな}", near: "ばんじ|すかいだい|ぱらしゅと|ぶらんこ|ぷる|滝|猫|鳥|" + inGame},
	{say: "飛び降り{ようと|ようか|るしか|て死|て楽|るつもり|れば}", near: "ばんじ|すかいだい|ぱらしゅと|ぶらんこ|ぷる|滝|猫|" + inGame},
	{say: "遺書{を|も|}{書いた|書いて|書こう|書き|残}", near: reported + "|祖父|祖母|弁護士|父|母"},
	{say: "希死念慮", after: []string{"{とは|って何|ってなに|の意味|という言葉}"}},
	{say: "{いのちの電話|命の電話|よりそいほっとらいん}{に|が|も|は|って|すら|の番号|}{つなが|繋が|かけた|かけて|電話した|話し中|出な|出て|無駄|何番|教えて}"},

	// Harm to oneself.
	{say: "{自傷|りすとかっと|あむか|れぐか|あむかっと|自傷|自傷行為}{を|も|ばかり|ばっかり|}{した|しちゃ|してしま|してる|している|しそう|しない|する。|するの|すると|しよう|します|しま|やめら|やめた|やめたい}", near: reported + "|人って|人は|人が"},
	{say: "{自傷|りすとかっと|あむか|自傷|自傷行為}{がやめ|がとま|が止|の衝動|衝動|したく|癖が|痕が|跡が|だらけ}", near: reported},
	{say: "{od|おばどず|おばどす}{を|も|ばかり|}{したい|したく|した|しちゃ|してしま|してる|しよう|しそう|する|します|やめ|がやめ|で死|すれば}", near: reported},
	{say: "{薬|睡眠薬|市販薬|くすり|錠剤|風邪薬|頭痛薬}{を|も|}{大量に|大量|全部|ぜんぶ|いっぱい|たくさん|一気に|一度に|まとめて|ありったけ|あるだけ|あるだけ全部|残り全部|山ほど|何十錠も|何十錠|何十も|100錠|50錠|30錠|一瓶|ひと瓶|1瓶|一箱|ひと箱|1箱|一袋|瓶ごと|箱ごと}{全部|ぜんぶ|まとめて|丸ごと|一気に|一度に|を|も|}{飲|のん|のみた|のも}", near: "犬|猫|子供が|子どもが|ぺっと"},
	{say: "手首{を|}切{りた|った|って|っちゃ|ろう|る|りそう|りま}", after: []string{"{動き|演技|役|しん}"}, near: reported},
	{say: "また{腕|うで|足|太もも|手首}{を|}切{った|っちゃ|って}", after: []string{"もら"}},
	{say: "{腕|うで|足|太もも}{を|}切{りたい|りたく|っちゃった|りそう|りたく|ってしまう|るのがやめ|るのやめ|るのをやめ|るのがとま|るのがと止|るの止め|るのを止め|るのが止|る癖|るくせ|りまく|らないと落ち着|ると落ち着|ると楽|ってる。|っている。}"},
	{say: "{自傷|りすとかっと|あむか|れぐか}{。|ばかり|ばっか|痕|跡}", near: reported},
	{say: "{自分|自分自身}{を|の体を|の身体を}{傷つけ|傷付け|きずつけ|切り刻|痛めつけ}"},
}

// japaneseGrave is what speaks of suicide or self-harm without being one's wish.
var japaneseGrave = []phrase{
	{say: "{自殺|じさつ}", after: []string{"{点|行為|ぷれい|的|ごる|こまんど|技|すいっち|ぼたん}"}},
	{say: "{自死|自傷|りすとかっと|首吊り|希死念慮|いのちの電話|命の電話|飛び降り自}"},
	{say: "{命|いのち}を{絶|断}{った|ち|つ}"},
	{say: "{死にたい|しにたい|消えたい}{と|って|とか|なんて}"},
}
