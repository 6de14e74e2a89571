package wording

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Topics gives those of the [Words] of a text that somebody would name when asked what it is about: nouns and
// names, as far as that can be seen from letters alone. Pieces of verbs and adjectives (食べた, 行ってきた) and
// words for what everybody does all day (went, down) are none. It rather leaves one out.
func Topics(text string) (topics []string) {
	all := runs(norm.NFKC.String(text))
	for i, r := range all {
		for _, w := range r.words() {
			if !idle[w] && r.noun(w, all, i) && !slices.Contains(topics, w) {
				topics = append(topics, w)
			}
		}
	}
	return topics
}

// noun says whether a word of the run all[i] may be a noun.
func (r run) noun(w string, all []run, i int) bool {
	ending := ""
	if i+1 < len(all) && all[i+1].joined && all[i+1].script == hiragana {
		ending = all[i+1].text
	}
	switch r.script {
	case han: // a verb or an adjective goes on in hiragana: 食べた, 美味しい; behind two kanji there may be する
		if verbs.MatchString(ending) || ending == "に" && stems.MatchString(r.text+all[i+1].text+after(all, i+2)) || made(w) {
			return false
		}
		begins := func(p string) bool { return strings.HasPrefix(ending, p) }
		return ending == "" || slices.ContainsFunc(behindNouns, begins) || utf8.RuneCountInString(r.text) > 1 && slices.ContainsFunc(behindLong, begins)
	case hiragana: // most of it is grammar: a word is what a run begins with that goes on with no kanji
		last, _ := utf8.DecodeLastRuneInString(w)
		piece := r.joined && all[i-1].script == han || !strings.HasPrefix(r.text, w) || strings.Contains(w, "っ")
		return known(w) == len(w) || !piece && utf8.RuneCountInString(w) > 2 && !strings.ContainsRune("いうくぐすつぬむるたてでしかりなにとばちよねわぞさえけせれめょゅゃ", last)
	case katakana: // サボった, ググる
		return !verbs.MatchString(ending)
	}
	return true
}

// after gives the text of a run that touches the one before, "" where none does.
func after(all []run, i int) string {
	if i < len(all) && all[i].joined {
		return all[i].text
	}
	return ""
}

// made says whether a word in kanji is of two that say little: 今度一緒.
func made(w string) bool {
	little := func(part string) bool { return idle[part] || everywhere[part] }
	for i := range w {
		if i > 0 && little(w[:i]) && little(w[i:]) {
			return true
		}
	}
	return false
}

var (
	// behindNouns is what stands behind a noun, with which no ending of a common verb or adjective begins.
	behindNouns = strings.Fields(`は が を に へ と の で も や だ よ ね から まで より じゃ など とか だけ ばかり なら なの なん`)
	// behindLong stands behind words of two kanji and more, too: they are done, or are such.
	behindLong = strings.Fields(`って した して しま しよ しな する すれ され させ せず な か`)
	verbs      = regexp.MustCompile(`^(?:った|っちゃ|って[るたいき]|る)`)
	stems      = regexp.MustCompile(`^[観見買食飲遊泳会習聞読乗働撮取迎探]に[行来出帰]`) // 映画を観に行く
)

// idle are words that say little of what a talk was about, in their plainest form.
var idle = func() map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(`went gone come came comes coming take took taken takes taking make made makes making see saw seen sees seeing look looked looks looking watch find found finds give gave given gives
		tell told tells telling talk talks talked talking speak spoke ate eaten drank drunk bought sold brought bring kept keep left leave leaves stay stayed put puts set sets let lets sat sit stood stand ran run slept sleep woke wake fell fall felt feel feels feeling
		heard hear meet met lost lose won win paid pay sent send spent spend wore wear wrote write read rode ride drove drive flew fly grew grow broke broken break knew threw held hold began begin begun start started stop stopped end ended
		try tried tries use used uses using need needed needs seem seems seemed become became happen happened happens turn turned move moved show showed shown ask asked call called help helped work worked live lived mean meant believe guess hope wish wait waited finish finished
		down off away back around here there again almost already always often sometimes usually maybe perhaps quite rather pretty enough even ever far soon later early late once twice together alone outside inside upstairs downstairs forward along through across between behind above below under near
		before after during until since while though although because however instead without within against toward towards onto upon
		first last next other another same different own each every both few several such little big small long short old new young high low hard easy fast slow right wrong true real sure full free best better worse worst bad great nice fine cool hot cold warm
		happy sad tired busy sorry glad fun funny lovely amazing awesome beautiful favourite favorite actually really probably definitely certainly totally literally basically honestly finally suddenly especially exactly only still yet else
		man men woman women people person guy guys thing things stuff lot lots bit kind sort way ways place places part parts side point case fact reason idea problem question answer word words name names moment minute minutes hour hours second seconds morning afternoon evening night
		week weeks weekend month months year years monday tuesday wednesday thursday friday saturday sunday tonight yesterday tomorrow today half whole
		haha lol wow hmm huh yep nope please thanks thank welcome hello bye okay alright gonna wanna gotta kinda him myself yourself himself herself itself themselves everyone everybody everything someone somebody something anyone anybody anything nobody nothing whatever
		couldn't wouldn't shouldn't haven't hasn't hadn't weren't ain't they're they've we're we've we'll you've you'll you'd he's she's there's here's where's`) {
		m[plainest(w)], m[w] = true, true
	}
	for _, w := range strings.Fields(`午前 午後 朝 昼 夜 夕方 毎日 毎週 毎年 今朝 今夜 今晩 明日 明後日 昨夜 先週 来週 今週 先月 来月 今月 去年 来年 今年 週末 平日 以前 以後 以外 以上 以下 最初 最後 途中 場合 感じ 自体 全然 絶対 結構 多分 普通 大変 大丈夫 最高 最低 本気 一緒 一人 二人 三人 何度 何回 何個 友 急 特 別 既 共 実 逆 少 多 色々 様々 次回 前回 今回
		ほんと マジ ヤバ スゴ メッチャ ちょっと やっぱり さっき ずっと みんな なんか`) {
		m[Fold(w)] = true
	}
	return m
}()
