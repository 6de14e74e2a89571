package extract_test

import (
	"strings"
	"testing"

	"github.com/companiond/companiond/host/memory/extract"
	"github.com/companiond/companiond/host/memory/fact"
)

// after gives what is so, and what is no longer so, after some turns of ken, each read when the one before is
// remembered.
func after(t *testing.T, lines ...string) (so, past string) {
	t.Helper()
	for i := range lines {
		lines[i] = "ken: " + lines[i]
	}
	turns, table := talk(lines...), fact.NewTable(0)
	for i := range turns {
		write(t, table, extract.Facts(turns[i:i+1], table.All()), turns)
	}
	var is, was []string
	for _, f := range table.All() {
		if f.ValidTo.IsZero() {
			is = append(is, f.Text)
		} else {
			was = append(was, f.Text)
		}
	}
	return strings.Join(is, "; "), strings.Join(was, "; ")
}

// What somebody or something else is called is no name of whoever says it, and closes none.
func TestWhoseName(t *testing.T) {
	for said, want := range map[string]string{
		"うちの猫の名前はミケといいます。": "猫の名前はミケ", "私の妹はサクラコといいます。": "妹の名前はサクラコ", "我が家の犬はレオといいます。": "犬の名前はレオ", "祖父の名前は源三郎と申します。": "祖父の名前は源三郎",
		"彼女の名前はサクラコっていいます。": "彼女の名前はサクラコ", "母は花子と申します。": "母の名前は花子", "私の先生は鈴木といいます。": "", "友達はケイといいます。": "", "隣の人は田中といいます。": "", "あの人は田中さんといいます。": "",
		"この曲の名前は月光といいます。": "", "この曲はボレロといいます。": "", "会社の名前はオルフェウス商会と申します。": "", "これはペンといいます。": "", "この花は桜といいます。": "", "ここはハチ公前といいます。": "",
		"私の車はポチといいます。": "", "うちの子はハナといいます。": "", "私の出身は沖縄といいます。": "", "飼い主はケンと呼んでください。": "", "猫はミケと呼んでください。": "", "母は元気っていいます。": "",
		"犬を飼ってるよ。名前はポチ。": "犬を飼っている; 犬の名前はポチ", "妹がいます。名前はサクラです。": "妹がいる", "I have a dog. His name is Rex.": "has a dog", "My dog's name is Odin.": "has a dog called Odin",
		"私は無理って言います。": "", "私は反対だと言います。": "", "私は行くと言います。": "", "俺はいやだと言います。": "",
		"My name is Bond, James Bond, says the film.": "", "My name is Ulrich, said my friend.": "", "「私の名前は次郎です」って映画のセリフ。": "", "私の名前はボンド、と映画で言うんだ。": "",
	} {
		so, past := after(t, "私の名前は洋子です。", said)
		if past != "" || so != strings.TrimSuffix("名前は洋子; "+want, "; ") {
			t.Errorf("%s: it is so that %q, no longer that %q", said, so, past)
		}
	}
	for said, want := range map[string]string{
		"私はミカといいます。": "名前はミカ", "私は山田太郎と申します。": "名前は山田太郎", "はじめまして、私の名前は洋子といいます。": "名前は洋子", "私、ハルカって言います。": "名前はハルカ", "鈴木と申します。": "名前は鈴木",
		"こはると申します。": "名前はこはる", "いろはといいます。": "名前はいろは", "のぞみといいます。": "名前はのぞみ", "まりのと申します。": "名前はまりの", "実は私、本名は花子といいます。": "名前は花子", "名前は健二といいます。": "名前は健二",
		"私のことはケンと呼んでください。": "名前はケン", "俺のことはケンって呼んで。": "名前はケン", "私はケンと呼んでください": "名前はケン", "My name is Tanaka, Yuki Tanaka.": "is called Yuki Tanaka", "My name is Klaus, nice to meet you.": "is called Klaus",
		"猫を飼っています。私の名前は洋子です。": "猫を飼っている; 名前は洋子", "私はミカといいますが、妹はリカといいます。": "妹の名前はリカ",
	} {
		if so, _ := after(t, said); so != want {
			t.Errorf("%s: it is so that %q", said, so)
		}
	}
}

// What is denied closes that, where it is known, and says nothing else: least of all that what somebody is called is "。".
func TestDenied(t *testing.T) {
	for _, said := range []string{"私の名前は太郎ではありません。", "私の名前は太郎じゃない。", "名前は太郎じゃないですよ。", "名前は太郎じゃないんです。", "太郎じゃないよ!", "太郎じゃないって。", "太郎じゃないのに。", "My name is not Taro.", "My name isn't Taro.", "I am not Taro.", "It is not Taro.",
		"猫の名前はミケではありません。", "妹の名前はサクラではありません。", "誕生日は5月2日ではありません。", "出身は大阪じゃない。", "仕事は教師ではありません。", "好きな色は赤ではありません。", "趣味は釣りじゃないよ。", "My cat is not Luna.", "洋子じゃありません。", "I am not Yoko."} {
		if so, past := after(t, "私の名前は洋子です。", said); so != "名前は洋子" || past != "" {
			t.Errorf("%s: it is so that %q, no longer that %q", said, so, past)
		}
	}
	for _, c := range [][4]string{
		{"私の名前はケンタです。", "私の名前はケンタではありません。", "私の名前はケンタではありません", "名前はケンタ"}, {"私の名前はケンタです。", "名前はケンタじゃない。", "名前はケンタじゃない", "名前はケンタ"},
		{"My name is Erik.", "My name is not Erik.", "My name is not Erik", "is called Erik"}, {"My cat is called Luna.", "My cat's name isn't Luna.", "My cat's name isn't Luna", "has a cat called Luna"},
		{"うちの猫の名前はミケです。", "うちの猫の名前はミケじゃないよ。", "うちの猫の名前はミケじゃないよ", "猫の名前はミケ"},
		{"私の名前はケンタです。", "ケンタじゃないよ、ケンジだよ。", "名前はケンジ", "名前はケンタ"}, {"私の名前はケンタです。", "名前はケンタではなく、ケンジです。", "名前はケンジ", "名前はケンタ"}, {"My name is Erik.", "No, it's Eric, not Erik.", "is called Eric", "is called Erik"},
		{"納豆が好き。", "納豆は好きじゃない。", "納豆が好きではない", "納豆が好き"},
	} {
		if so, past := after(t, c[0], c[1]); so != c[2] || past != c[3] {
			t.Errorf("%s / %s: it is so that %q, no longer that %q", c[0], c[1], so, past)
		}
	}
}
