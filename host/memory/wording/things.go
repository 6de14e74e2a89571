package wording

import (
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// things are words for one and the same thing, which both languages have: the first names it. Each
// line is one, so that the table can be read.
var things = rows(
	"cat cats kitty kitten 猫 ねこ ネコ にゃんこ 子猫", "dog dogs puppy pup 犬 いぬ イヌ わんこ 子犬 ワンちゃん", "bird birds parrot 鳥 小鳥 インコ 文鳥 オウム", "rabbit rabbits bunny 兎 うさぎ ウサギ", "hamster hamsters ハムスター",
	"fish goldfish 金魚 熱帯魚 メダカ", "turtle turtles tortoise 亀 カメ", "ferret フェレット", "hedgehog ハリネズミ", "lizard gecko トカゲ ヤモリ", "horse horses 馬", "pet pets ペット",
	"sister sisters 妹 姉 姉妹 お姉ちゃん お姉さん", "brother brothers 弟 兄 兄弟 お兄ちゃん お兄さん", "mother mom mum 母 お母さん 母親 ママ", "father dad 父 お父さん 父親 パパ", "son sons 息子", "daughter daughters 娘",
	"child children kid kids 子供 子ども こども", "wife 妻 嫁 奥さん", "husband 夫 旦那 主人", "grandmother grandma granny 祖母 おばあちゃん", "grandfather grandpa 祖父 おじいちゃん", "girlfriend 彼女", "boyfriend 彼氏", "friend friends 友達 友人 友だち", "family 家族", "twin twins 双子",
	"job work working works occupation profession 仕事 職業 勤務 働いて 働く", "school schools college university 学校 大学 高校 中学 小学校", "nurse 看護師", "teacher 教師 先生 教員", "student 学生 大学生 高校生 中学生", "engineer エンジニア",
	"age 年齢 歳 何歳 年いくつ", "birthday birthdays born 誕生日 生まれ バースデー", "allergy allergies allergic アレルギー", "promise promised 約束",
	"food foods eat eating 食べ物 食べる 食べられ 料理 好物", "drink drinks drinking 飲み物 飲む 飲め", "music song songs band 音楽 曲 歌 バンド", "movie movies film films 映画", "book books novel reading 本 小説 読書", "game games gaming ゲーム",
	"color colour colors colours 色", "sport sports スポーツ 運動", "hobby hobbies 趣味", "season seasons 季節", "anime アニメ", "manga comics 漫画 マンガ",
	"trip travel travelling traveling vacation holiday 旅行 旅", "exam exams test tests 試験 テスト 受験", "interview interviews 面接", "concert concerts gig ライブ コンサート", "wedding weddings 結婚式", "surgery operation 手術", "dentist 歯医者 歯科", "hospital doctor 病院", "party parties パーティー 飲み会", "deadline 締め切り 締切", "moving move 引っ越し 引っ越す 引越し", "plan plans 予定 計画",
	"coffee コーヒー 珈琲", "tea お茶 紅茶", "beer ビール", "sake alcohol wine お酒 酒 ワイン", "ramen ラーメン", "sushi 寿司 鮨 すし", "curry カレー", "cake ケーキ", "chocolate チョコ チョコレート", "egg eggs 卵 たまご 玉子", "milk dairy 牛乳", "peanut peanuts ピーナッツ 落花生", "shrimp prawn shellfish エビ 海老 甲殻類", "crab カニ 蟹", "wheat gluten 小麦", "soba buckwheat そば 蕎麦", "coriander cilantro パクチー", "natto 納豆", "tomato tomatoes トマト", "spicy 辛い 辛いもの",
	"soccer football サッカー", "baseball 野球", "tennis テニス", "piano ピアノ", "guitar ギター", "bike bicycle cycling 自転車", "car cars 車", "sea ocean beach 海", "mountain mountains hiking 山 登山", "insect insects bug bugs 虫", "spider spiders クモ 蜘蛛", "thunder 雷", "summer 夏", "winter 冬", "spring 春", "autumn 秋",
)

// thing is how a thing is called.
type thing struct {
	name  string
	words []string
}

func rows(lines ...string) (all []thing) {
	for _, line := range lines {
		words := strings.Fields(line)
		all = append(all, thing{words[0], words})
	}
	return all
}

// Things gives what of the things that both languages have a word for a text names, each by
// its English word: 猫 and "cats" are "cat".
func Things(text string) (names []string) {
	text = strings.ToLower(norm.NFKC.String(text))
	for _, t := range things {
		if slices.ContainsFunc(t.words, func(w string) bool { return stands(text, w) }) {
			names = append(names, t.name)
		}
	}
	return names
}

// Thing gives the name of the thing that a word is for, or the word itself, folded.
func Thing(word string) string {
	plain := strings.ToLower(norm.NFKC.String(word))
	for _, t := range things {
		if slices.Contains(t.words, plain) {
			return t.name
		}
	}
	return Fold(word)
}

// stands says whether a word stands in a text by itself: no letter of its script touches one
// in Latin, in katakana or of a single kanji (海 is not in 上海).
func stands(text, word string) bool {
	first, size := utf8.DecodeRuneInString(word)
	script := scriptOf(first, other)
	alone := script == latin || script == katakana || script == han && size == len(word)
	for at := 0; ; {
		i := strings.Index(text[at:], word)
		if i < 0 {
			return false
		}
		from := at + i
		at = from + len(word)
		before, _ := utf8.DecodeLastRuneInString(text[:from])
		after, _ := utf8.DecodeRuneInString(text[at:])
		if !alone || scriptOf(before, other) != script && (scriptOf(after, script) != script || after == '\'') {
			return true
		}
	}
}

// In gives how a thing is called in Japanese or English, "" for one that the table does not have.
func In(name string, japanese bool) string {
	for _, t := range things {
		if t.name != name {
			continue
		}
		for _, w := range t.words {
			if first, _ := utf8.DecodeRuneInString(w); scriptOf(first, other) != latin == japanese {
				return w
			}
		}
	}
	return ""
}

// labels are words for what a fact is of, folded. Without what it says they say nothing.
var labels = set(`名前 なまえ 名 呼称 呼 年齢 歳 才 誕生日 住所 住 出身 出身地 仕事 職業 学校 飼 ペット 好 好物 嫌 苦手 趣味 予定 計画 約束 本人 話者 ユーザー 現在
	name age old year birthday home job occupation school pet favourite favorite like dislike hobby plan promise person user speaker named call`)

// Label says whether a word of [Words] only says what a fact is of: name, 仕事.
func Label(word string) bool { return labels[word] || labels[word+"e"] } // "named" is nam
