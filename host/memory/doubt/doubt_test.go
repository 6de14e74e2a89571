package doubt

import (
	"strings"
	"testing"
)

func TestWhy(t *testing.T) {
	for why, texts := range map[Why][]string{
		"": {"猫を飼ってるよ。", "名前はケンジと言います。", "I have a cat.", "My friends call me Max.", "明日試験がある。", "ラーメンが好きなんだ", "覚えておいてほしいんだけど、水曜は夜勤だよ", "I'm used to it.",
			"もしもし、ケンジです。", "冬の歌が好き", "たらこが好き", "うちの猫は「タマ」っていう名前だよ",
			"Do not share the password with anybody.", "Don't call my mother, whatever happens.", "Please don't smoke.", "And do not use Redis.", "So don't feed the cat.", "May 3 is my birthday."},
		Asks:     {"猫飼ってる?", "何が好きですか", "名前なんだっけ", "What is it", "do you like cats", "どこに行くの", "I wonder what it is", "Don't you like cats", "do we need milk", "Do not they know", "don't people sleep", "May I come in", "Don't call me yet?"},
		Supposes: {"もし猫を飼ったら、タマって呼ぶ。", "猫なら好き。", "If I had a cat, it'd be Tama.", "I would live in Rome.", "夢で空を飛んだ", "Imagine I have a boat.", "お金があれば買う", "妄想だけど、私は王様"},
		Hopes:    {"猫を飼いたいな。", "引っ越すかもしれない。", "Maybe I'll move.", "I want to be a pilot.", "I used to have a dog.", "東京に行きたい"},
		Hears:    {"妹が大阪に住んでるって言ってた。", "彼は医者らしい。", "She said I am funny.", "I heard it is good.", "明日は雨だそうです", "猫がいるみたいだ"},
		Jokes:    {"私は宇宙人です(笑)", "冗談だけど、王様です。", "I'm a king lol", "just kidding", "なんちゃって"},
		Quotes:   {"「私は毎日三キロ走っています」", "> I have a cat", "*pets her cat*"},
	} {
		for _, text := range texts {
			for _, s := range Sentences(text) {
				if s.Why != why {
					t.Errorf("%q: %q, want %q", s.Text, s.Why, why)
				}
			}
			if len(Sentences(text)) == 0 {
				t.Errorf("%q has no sentence", text)
			}
		}
	}
}

// What others said is blank in a sentence that says more, and nothing moves.
func TestBlank(t *testing.T) {
	const text = `He was like "I have a cat named Tom and a dog" and I live in Rome.`
	s := Sentences(text)[0]
	if len(s.Text) != len(text) || strings.Contains(s.Text, "Tom") || !strings.Contains(s.Text, "Rome") {
		t.Errorf("%q", s.Text)
	}
}

func TestJoke(t *testing.T) {
	for text, want := range map[string]bool{"なんて冗談だよ": true, "Just kidding!": true, "ごめん、嘘です": true, "I'm joking": true, "that was a joke": true, "猫が好き": false, "嘘みたいな話を聞いた": false, "I hate lying around": false} {
		if Joke(text) != want {
			t.Errorf("%q: %v", text, !want)
		}
	}
}

func FuzzSentences(f *testing.F) {
	f.Add("もし。「あ」って\n> x\n*a* \" \xff ?")
	f.Fuzz(func(t *testing.T, text string) {
		last := 0
		for _, s := range Sentences(text) {
			if s.From < last || s.To <= s.From || s.To > len(text) || len(s.Text) != s.To-s.From {
				t.Fatalf("%q: %+v", text, s)
			}
			last = s.To
		}
		Joke(text)
	})
}
