package wording

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Words gives the words of a text by which it can be found, folded, each once: Latin words in
// their plainest form, numbers, and runs of kanji, katakana or hiragana between particles and
// endings; none of those that are in every text.
func Words(text string) []string {
	var words []string
	seen := map[string]bool{}
	for _, r := range runs(norm.NFKC.String(text)) {
		for _, w := range r.words() {
			if !seen[w] {
				seen[w], words = true, append(words, w)
			}
		}
	}
	return words
}

// Bigrams gives the pairs of letters of the Japanese among some words, each once.
func Bigrams(words []string) []string {
	var pairs []string
	seen := map[string]bool{}
	for _, w := range words {
		letters := []rune(w)
		if len(letters) < 3 || letters[0] <= unicode.MaxLatin1 {
			continue // a word of two letters is its own pair
		}
		for i := range len(letters) - 1 {
			if p := string(letters[i : i+2]); !seen[p] {
				seen[p], pairs = true, append(pairs, p)
			}
		}
	}
	return pairs
}

// script is what runs of letters are told apart by.
type script int

const (
	other script = iota
	latin
	number
	hiragana
	katakana
	han
)

func scriptOf(r rune, before script) script {
	switch {
	case (r == 'ー' || unicode.IsMark(r)) && before != other:
		return before
	case r == '々':
		return han
	case r == 'ー' || unicode.Is(unicode.Katakana, r):
		return katakana
	case unicode.Is(unicode.Hiragana, r):
		return hiragana
	case unicode.Is(unicode.Han, r):
		return han
	case unicode.IsNumber(r):
		return number
	case r == '\'' && before == latin:
		return latin
	case unicode.IsLetter(r):
		return latin
	}
	return other
}

// run is letters of one script in a row.
type run struct {
	text   string
	script script
	joined bool // nothing stands between it and the one before
}

func runs(text string) (all []run) {
	before, from, joined := other, 0, false
	for i, r := range text {
		s := scriptOf(r, before)
		if s != before && before != other {
			all = append(all, run{text[from:i], before, joined})
		}
		if s != before {
			from, joined = i, before != other
		}
		before = s
	}
	if before != other {
		all = append(all, run{text[from:], before, joined})
	}
	return all
}

// words gives what of a run says something.
func (r run) words() []string {
	folded := Fold(r.text)
	switch r.script {
	case latin:
		if w := plainest(folded); len(w) > 1 && !everywhere[folded] && !everywhere[w] {
			return []string{w}
		}
	case number:
		return []string{folded}
	case katakana:
		if utf8.RuneCountInString(folded) > 1 && !everywhere[folded] {
			return []string{folded}
		}
	case han:
		for _, s := range honorifics {
			if rest, ok := strings.CutSuffix(folded, s); ok && rest != "" {
				folded = rest
			}
		}
		if !everywhere[folded] {
			return []string{folded}
		}
	case hiragana:
		return between(folded)
	}
	return nil
}

// plainest takes the endings off an English word that make no other word of it.
func plainest(w string) string {
	w = strings.TrimSuffix(strings.TrimRight(w, "'"), "'s")
	switch n := len(w); {
	case n > 4 && strings.HasSuffix(w, "ies"):
		return w[:n-3] + "y"
	case n > 4 && (strings.HasSuffix(w, "ches") || strings.HasSuffix(w, "shes") || strings.HasSuffix(w, "sses") || strings.HasSuffix(w, "xes")):
		return w[:n-2]
	case n > 3 && strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "ss") && !strings.HasSuffix(w, "us") && !strings.HasSuffix(w, "is"):
		return w[:n-1]
	case n > 5 && strings.HasSuffix(w, "ing"):
		return undoubled(w[:n-3])
	case n > 4 && strings.HasSuffix(w, "ed"):
		return undoubled(w[:n-2])
	}
	return w
}

func undoubled(w string) string {
	if n := len(w); n > 3 && w[n-1] == w[n-2] && w[n-1] != 'l' && w[n-1] != 's' {
		return w[:n-1]
	}
	return w
}

// between gives what is left of a run of hiragana without particles and endings, where it is
// of two letters or more.
func between(text string) (words []string) {
	rest := text
	from := 0
	cut := func(to int) {
		if w := text[from:to]; utf8.RuneCountInString(w) > 1 && !everywhere[w] {
			words = append(words, w)
		}
	}
	for at := 0; at < len(text); {
		rest = text[at:]
		if n := known(rest); n > 0 { // it has letters of particles: ねこ
			cut(at)
			from, at = at, at+n
			cut(at)
			from = at
			continue
		}
		n := 0
		for _, g := range grammar {
			if len(g) > n && strings.HasPrefix(rest, g) {
				n = len(g)
			}
		}
		if n == 0 {
			_, size := utf8.DecodeRuneInString(rest)
			at += size
			continue
		}
		cut(at)
		at += n
		from = at
	}
	cut(len(text))
	return words
}

// kana are the words of the table of things that are in hiragana, and what is asked for the most.
var kana = func() []string {
	words := []string{"なまえ"}
	for _, t := range things {
		for _, w := range t.words {
			if !strings.ContainsFunc(w, func(r rune) bool { return !unicode.Is(unicode.Hiragana, r) }) {
				words = append(words, w)
			}
		}
	}
	return words
}()

// known gives how long the word of kana is that a text begins with.
func known(text string) (n int) {
	for _, w := range kana {
		if len(w) > n && strings.HasPrefix(text, w) {
			n = len(w)
		}
	}
	return n
}

var honorifics = []string{"様", "君", "達"}

// grammar is what stands between words in hiragana.
var grammar = strings.Fields(`は が を に へ と の で も や か な ね よ わ ぞ さ って から まで より けど けれど けれども ので のに だけ しか ばかり など とか
	です でした ます ました ません だ だった だよ だね だっけ でしょう だろう じゃない じゃなくて じゃ ではない では ない なかった なくて ください くれる くれ
	して した する しよう います いる いた いて ある あった あります あって てる ている てた ていた っけ んだ んです のだ なの なん これ それ あれ どれ この その あの どの
	ここ そこ あそこ どこ なに なんだ なんて どう どんな どうして だれ いつ いくつ とても すごく ちょっと もう まだ また いま そう こう うん いや えっと ねえ わたし ぼく おれ あたし うち
	こと もの ため よう みたい らしい そして でも だから それで いい よい ほしい たい たく せん しい った って おぼえて しって おしえて きいて いって いった いう いえば という といえば`)

// everywhere are words that are in every text, or that every question has.
var everywhere = set(`私 僕 俺 自分 君 貴方 今日 昨日 今 昔 前 後 時 時間 人 事 物 者 方 何 誰 何処 何時 本当 全部 一番 一 二 三 今度 最近 先 次 話 言 思 知 覚 教 聞 見 来 行 出 入 会 使 作 持 待 分 同 違 名 日 年 月 週 回 度
	大 小 新 好 嫌 苦手 大好 大嫌 住 飼 呼 食 飲 働 様 君 的 他 皆 気 元気 天気 感 良 悪 上 下 中 間 所 場所 お なまえ すき きらい おはよ こんにちは こんばんは ありがと ありがとう
	the a an and or but if of to in on at for with from by as is am are was were be been being do does did done have has had having will would can could should shall may might must
	i i'm i've i'd i'll im ive me my mine you your yours you're he she it its it's they them their we us our his her this that these those there here what what's who who's whom which when where why how
	not no yes yeah ok okay oh ah hey hi hello so very really too also just about again please tell know think thing things remember say said ask get got go going want like love hate one some any all more most much many
	don't doesn't didn't isn't aren't wasn't can't won't up out over then than now today yesterday ever never still well good nice time day week call called name`)

func set(words string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(words) {
		m[Fold(w)] = true
	}
	return m
}
