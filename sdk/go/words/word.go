package words

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxWord is how many characters a word may have that somebody is asked about.
const maxWord = 20

// Word picks what a text is about, as it is written there: the thing that is asked for, a word in katakana or of
// several kanji before a particle, in English a name or what stands behind "my", "the" or "about".
//
// It has no dictionary. A word that could be half of another, such as 引 of 引っ越す, is passed over: "" is only
// a word that nobody names, and a wrong one is repeated to whoever said something else.
func Word(s string) string {
	s = Clip(s)
	if w := marked(s); w != "" {
		return w
	}
	sentence := asked(s)
	if Language(sentence) == Japanese {
		return japaneseWord(sentence)
	}
	return englishWord(sentence)
}

// asked gives the sentence of a text that asks, all of it if there is none.
func asked(s string) string {
	for _, sentence := range strings.SplitAfter(strings.NewReplacer(". ", ".\n", "! ", "!\n", "。", "。\n", "！", "！\n").Replace(s), "\n") {
		if strings.ContainsAny(sentence, "?？") {
			return sentence
		}
	}
	return s
}

// marked gives what a Japanese sentence asks after with 「とは」「って」「について」: 量子もつれって何？
func marked(s string) string {
	for _, particle := range []string{"について", "とは", "って", "のこと"} {
		before, after, ok := strings.Cut(s, particle)
		if !ok || (particle == "って" || particle == "とは") && !asksAfter(after) {
			continue
		}
		if i := strings.LastIndexAny(before, "。、！？!?, 　"); i >= 0 {
			_, size := utf8.DecodeRuneInString(before[i:])
			before = before[i+size:]
		}
		first, _ := utf8.DecodeRuneInString(before)
		if n := utf8.RuneCountInString(before); n >= 2 && n <= 12 && !isHiragana(first) && !stopWords[Normal(before)] && !strings.ContainsAny(before, "はがをに") {
			return before
		}
	}
	return ""
}

// asksAfter says whether what stands behind a word asks what it is, or whether it is known.
func asksAfter(after string) bool {
	return slices.ContainsFunc([]string{"何", "なに", "なん", "どう", "どんな", "知って", "しって", "わかる", "分かる", "面白い", "いい", "?", "？", "誰", "だれ"},
		func(w string) bool { return strings.HasPrefix(after, w) })
}

// part is a run of letters of one kind of writing; hiragana is one of them.
type part struct {
	text string
	kind int
}

// The kinds of writing.
const (
	marks = iota
	hiragana
	kanji
	katakana
	latin
)

func kindOf(r rune) int {
	switch {
	case isHiragana(r):
		return hiragana
	case isHan(r):
		return kanji
	case isKatakana(r), r >= 'ｦ' && r <= 'ﾟ':
		return katakana
	case unicode.IsLetter(r), unicode.IsDigit(r), unicode.IsMark(r):
		return latin
	}
	return marks
}

// partsOf splits a text into runs of one kind of writing.
func partsOf(s string) (out []part) {
	for _, r := range s {
		k := kindOf(r)
		if r == 'ー' && len(out) > 0 && out[len(out)-1].kind == hiragana {
			k = hiragana
		}
		if n := len(out); n > 0 && out[n-1].kind == k {
			out[n-1].text += string(r)
		} else {
			out = append(out, part{string(r), k})
		}
	}
	return out
}

// particles may stand behind a word of kanji that is whole: behind a single one, or what begins with another letter,
// it may as well go on as a verb.
var particles = []string{"が", "を", "は", "の", "に", "で", "も", "だ", "です", "って", "とか", "から", "まで", "より", "さん", "行", "見", "じゃ", "なん", "と", "へ"}

// strong are those that nothing else begins with.
var strong = []string{"が", "を", "は", "の話", "について", "って"}

// single are words of one kanji that are things by themselves; most others are part of a verb.
const single = "猫犬鳥魚虫花桜山海川空雨雪風車本曲歌絵詩酒米肉卵茶薬服靴傘鍋庭家城祭旅夢星月虹波島森"

// japaneseWord picks the likeliest of the words that are surely whole.
func japaneseWord(s string) string {
	parts := partsOf(s)
	best, most := "", 0
	for i := 0; i < len(parts); i++ {
		from := i
		text := ""
		for i < len(parts) && (parts[i].kind == kanji || parts[i].kind == katakana || parts[i].kind == latin) {
			text += parts[i].text
			i++
		}
		if text == "" || numbers(text) {
			continue
		}
		rest := ""
		if i < len(parts) && parts[i].kind == hiragana {
			rest = parts[i].text
		}
		word, score := whole(text, rest, from > 0 && parts[from-1].kind == hiragana, i >= len(parts) || parts[i].kind == marks)
		if score > most {
			best, most = word, score
		}
	}
	return best
}

// numbers says whether a run is a number of something, or a day: 9月3日.
func numbers(text string) bool {
	parts := partsOf(text)
	return len(parts) > 1 && unicode.IsDigit([]rune(text)[0]) && parts[1].kind == kanji
}

// whole gives the word of a run without what is none of it, and how likely it is what is spoken of: 0 where it is
// not sure that it is a word.
func whole(text, rest string, behind, ends bool) (string, int) {
	for again := true; again; {
		again = false
		for _, w := range whens {
			if cut, ok := strings.CutPrefix(text, w); ok {
				text, again = cut, true
			}
		}
	}
	text = strings.TrimLeftFunc(text, func(r rune) bool { return unicode.IsDigit(r) || r == 'ー' })
	run := partsOf(text)
	if len(run) == 0 {
		return "", 0
	}
	tail := run[len(run)-1]
	n := utf8.RuneCountInString(tail.text)
	particle := slices.ContainsFunc(particles, func(p string) bool { return strings.HasPrefix(rest, p) })
	switch tail.kind {
	case kanji:
		does := n >= 2 && slices.ContainsFunc(doing, func(d string) bool { return strings.HasPrefix(rest, d) }) && !strings.ContainsAny(tail.text, notDone)
		switch {
		case strings.HasPrefix(rest, "って") && slices.Contains(stems, tail.text):
			return "", 0
		case does, particle && (n >= 2 || strings.Contains(single, tail.text) && startsStrong(rest)), ends && n >= 2:
		case len(run) > 1 && n == 1: // ホームラン打った
			text = strings.TrimSuffix(text, tail.text)
			run, tail = run[:len(run)-1], run[len(run)-2]
			rest, particle = "", false
		default:
			return "", 0
		}
	case katakana:
		if n <= 3 && strings.HasPrefix(rest, "っ") || rest != "" && strings.ContainsRune("らりるれろ", []rune(rest)[0]) && !strings.HasPrefix(rest, "らしい") {
			return "", 0 // サボった
		}
	}
	return rated(text, run, rest, behind, ends)
}

func startsStrong(rest string) bool {
	return slices.ContainsFunc(strong, func(p string) bool { return strings.HasPrefix(rest, p) })
}

// rated gives how likely a word is what is spoken of.
func rated(text string, run []part, rest string, behind, ends bool) (string, int) {
	n := utf8.RuneCountInString(text)
	norm := Normal(text)
	switch {
	case n > maxWord, stopWords[norm], vague[norm], n < 2 && run[0].kind != kanji, laughs(norm):
		return "", 0
	case run[0].kind == kanji && len(run) == 1 && (strings.HasPrefix(rest, "な") && !strings.HasPrefix(rest, "なん") && !strings.HasPrefix(rest, "なの")):
		return "", 0 // 大事な
	case run[0].kind == kanji && len(run) == 1 && slices.ContainsFunc(counters, func(c string) bool { return strings.HasSuffix(text, c) }):
		return "", 0
	case n <= 2 && run[0].kind == katakana:
		return "", 0
	}
	score := 2 + min(n, 8)
	if len(TopicsOf(text)) > 0 {
		score += 4
	}
	switch {
	case startsStrong(rest):
		score += 4
	case strings.HasPrefix(rest, "の"): // belongs to something that follows
		score++
	case strings.HasPrefix(rest, "で"), strings.HasPrefix(rest, "から"), strings.HasPrefix(rest, "まで"), strings.HasPrefix(rest, "に"):
		score -= 2
	}
	for _, p := range run {
		if p.kind == katakana || p.kind == latin {
			score += 3
			break
		}
	}
	return text, score
}

// laughs says whether a word is nothing but a laugh: www.
func laughs(norm string) bool { return strings.Trim(norm, "wｗ笑草") == "" }

// doing are what makes a verb of a word: 転職しよう.
var doing = []string{"する", "した", "して", "しよ", "しま", "しな", "すれ", "され", "でき"}

// notDone are kanji that end verbs which go on with し and す: 見直して.
const notDone = "直出返消越引渡通起落戻残示貸回外隠殺試探話移動飛乾壊倒許過果促増減貫指押差刺癒"

// stems are verbs of two kanji that go on with って.
var stems = strings.Fields("手伝 似合 出会 見習 間違 話合 付合 役立 目立 旅立 泡立 引取 受取 買取 見合 待合 出来上 盛上 見守 乗切 張切 裏切 締切 売切 思切")

// whens are words for when and how often, which come before others without a particle.
var whens = strings.Fields(`今日 明日 昨日 一昨日 明後日 今朝 今夜 今晩 昨夜 昨晩 今週末 週末 今週 来週 先週 再来週 毎週 今月 来月 先月 毎月 今年 来年 去年 昨年 毎年 毎日 毎朝 毎晩 最近 最後 最初 毎回 今回 今度 前回 次回
午前 午後 朝方 夕方 深夜 夜中 早朝 月曜日 火曜日 水曜日 木曜日 金曜日 土曜日 日曜日 月曜 火曜 水曜 木曜 金曜 土曜 日曜 平日 休日 全然 全部 一番 結局 絶対 正直 実際 多分 普段 結構 相当 突然 当然 一応 一旦 即 超 初 今 朝 昼 夜 最近また`)

// counters end what is a number of something.
var counters = strings.Fields(`時 分 秒 回 個 人 日 月 年 円 歳 才 度 本目 番 枚 匹 杯 冊 台 階 点 倍 割 週間 時間 日間 年間 ヶ月`)

// vague are words that are never what somebody speaks of, beside stopWords.
var vague = Set(`本当 普通 元気 大丈夫 無理 最高 最悪 最強 完全 大変 大好 大嫌 面倒 簡単 必要 可能 不可能 意味不明 心配 残念 不安 久々 久 何時 何度 何回 何年 何人 途中 以上 以下 一人 二人 三人 一日 一緒 一回 一度 二度 彼 彼女 彼氏 皆 皆様
自分 自分達 私達 俺達 僕達 貴方 相手 誰か 気持 感 感覚 気分 時間 場所 場合 理由 原因 結果 全員 全体 全力 部分 方法 仕方 大量 少々 無事 特別 変 暇 楽 嫌 嘘 謎 草 笑 泣 怖 無駄 無敵 神 神回 綺麗 素敵 立派 不思議 丁寧 親切 便利 不便 得意 苦手 適当 真剣 本気 勝手 上手 下手 素直
真面目 毎度 先程 後半 前半 半分 大体 大抵 一瞬 永遠 永久 勢 力 体 頭 顔 目 手 足 口 耳 声 心 腹 腰 肩 上 下 中 前 後 横 外 内 隣 間 方 所 物 事 者 時期 瞬間 問題 話題 言葉 名前 内容 状態 状況 予定 約束 確認 理解 想像 記憶 経験 期待 納得 感動 感謝 興味 関係 影響 最近 当時 昔 現在 将来 未来
マジ マジデ ガチ ホント ホントウ ダメ ヤバイ ヤバ ヤバす ムリ ウケル サイコー スゴイ スゴ イイ イヤ オレ ボク キミ アナタ ワタシ ワイ ミンナ コレ ソレ アレ ドレ ココ ソコ アソコ コト モノ トコ ヒト ヤツ ナニ ナゼ ドウ ワクワク ドキドキ イライラ ボロボロ フラフラ ヘトヘト クタクタ ギリギリ バタバタ
モヤモヤ ゴロゴロ ダラダラ ソワソワ ムカムカ キラキラ ニヤニヤ パンパン ガクガク ザーザー ハマ ショック ラッキー オッケー オーケー カワイイ キモ クソ バカ アホ タイプ パターン レベル シーン ok no yes lol omg wtf btw hi hey sns w ww www wwww`)
