package scrub

import "strings"

// empty are words that say nothing of anybody, though they begin a sentence with a capital letter.
var empty = func() map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(`the and but for nor yet you your yours she her hers him his they them their its our ours this that these those
		what when where which who whom whose why how yes not now then there here hello hey thanks thank please sorry okay well maybe
		can could will would shall should may might must did does done are was were have has had been let get got make see say
		one two three some any all each every many much more most other another good morning evening night day today tomorrow yesterday
		monday tuesday wednesday thursday friday saturday sunday january february march april june july august september october november december
		ゲーム アニメ テレビ ニュース メール サイト ネット スマホ パソコン コメント チャット ライブ イベント コーヒー ラーメン カレー
		ありがとう おはよう こんにちは こんばんは おやすみ さようなら よろしく お願い`) {
		m[plain(w)] = true
	}
	return m
}()

// stock are the runs of phrases that everybody says.
var stock = func() map[uint64]bool {
	m := map[uint64]bool{}
	for _, phrase := range []string{
		"ありがとうございます", "ありがとうございました", "どうもありがとうございます", "おはようございます", "よろしくお願いします", "よろしくおねがいします",
		"お疲れ様でした", "おつかれさまでした", "お疲れさまです", "おめでとうございます", "ごめんなさい", "すみませんでした", "はじめまして", "どういたしまして",
		"いってきます", "いってらっしゃい", "そうなんですね", "なるほどですね", "そうですよね", "大丈夫ですか", "大丈夫ですよ", "わかりました", "分かりました",
		"thank you very much", "how are you doing today", "nice to meet you too", "good morning everyone", "see you tomorrow everyone",
	} {
		windows(plain(phrase), func(h uint64) bool { m[h] = true; return true })
	}
	return m
}()
