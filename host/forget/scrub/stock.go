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

// everyday are words that are names, too: in what other people say they are the name only where somebody is called by it, or honored.
var everyday = set(strings.Fields(`hope joy grace faith rose may april june august summer autumn winter mark bill rich frank art drew pat rob jack bob max ray
	guy dean earl king prince duke angel star sky sunny rain snow storm river forest lily daisy ivy iris violet ruby amber pearl jade crystal cherry
	honey candy ginger olive clay cliff glen heath dale holly robin jay wolf fox bear cat dog love luck lucky happy free chance chase
	hunter mason cook baker smith page carol melody harmony destiny serenity justice patience prudence victory guest user anonymous someone everybody
	tokyo osaka kyoto nara london paris berlin rome york america japan china france korea python ruby java
	東京 大阪 京都 奈良 日本 中国 名前 友達 太陽 世界 未来 希望 今日 明日 先生 学校 会社 電車 時間 自分 みんな わたし あなた だれか
	さくら はな そら うみ ゆき ゆめ つき ほし もも みどり ひかり のぞみ あい まい ねこ いぬ くま うさぎ とり うた こころ なつ はる あき ふゆ あさ よる
	サクラ ソラ ネコ イヌ モモ ヒカリ`)...)

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
