package speech

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// reworded are lines and what a character makes of them that has run out of things to
// say. All other pairs of a language's lines say something else.
var reworded = map[string][][2]string{
	"ja": {
		{"今日は駅前の新しい喫茶店に行ってきたよ。", "駅前の新しい喫茶店に今日行ってきたんだよ！"},
		{"昨日見た映画、最後の場面で泣いちゃった。", "昨日見た映画の最後の場面で、ほんとに泣いちゃったよ。"},
		{"アキの歌、すごく上手だったね！", "すごく上手だったよ、ベンの歌！"},
		{"次の配信では新しいゲームをやってみたいな。", "新しいゲームを次の配信でやってみたいなあ。"},
		{"雨の日は家で本を読むのが好きなんだ。", "雨の日はやっぱり家で本を読むのが好き。"},
		{"みんなはどんな食べ物が好きなのかな？", "みんな、どんな食べ物が好きなのか教えて？"},
		{"宇宙の果てには何があるんだろうね。", "宇宙の果てって、何があるんだろう。"},
		{"朝ごはんにパンとごはん、どっちを食べる？", "朝ごはんはパンとごはんのどっちを食べる派？"},
		{"猫を飼うなら名前はもう決めてあるの。", "もし猫を飼うなら、名前はもう決めてあるんだ。"},
		{"ピアノの練習を毎日三十分続けているよ。", "毎日三十分、ピアノの練習を続けてるよ。"},
		{"夏休みには海へ花火を見に行きたいです。", "夏休みは海に花火を見に行きたいですね。"},
		{"カレーに何を入れるとおいしくなるかな。", "カレーって何を入れるとおいしくなるんだろう？"},
		{"わたし、実は高いところがとても苦手なんです。", "実はわたし、高いところがすごく苦手なんです。"},
		{"さっきの話の続きをもっと聞かせてほしいな。", "さっきの話の続き、もっと聞かせてよ。"},
		{"夜空の星を見ていると時間を忘れてしまう。", "星を見ていると、つい時間を忘れてしまうよね。"},
		{"コーヒーより紅茶のほうが落ち着く気がする。", "紅茶のほうがコーヒーより落ち着く気がするなあ。"},
		{"最近よく眠れなくて、少し疲れているみたい。", "最近あまりよく眠れなくて少し疲れてるみたいです。"},
		{"プログラミングを始めたきっかけは何だったの？", "ねえ、プログラミングを始めたきっかけって何？"},
		{"大切な友だちには正直でいたいと思っている。", "友だちには正直でいたいと思ってるよ、大切だから。"},
		{"旅行の写真を整理していたら懐かしくなった。", "旅行の写真を整理してたら、なんだか懐かしくなっちゃった。"},
	},
	"en": {
		{"I went to the new coffee shop by the station today.", "Today I went to that new coffee shop by the station!"},
		{"The last scene of the film made me cry yesterday.", "Yesterday the last scene of that film really made me cry."},
		{"Your song was so beautiful, Aki!", "That song of yours was so beautiful, Ben!"},
		{"I want to try a new game on the next stream.", "On the next stream I'd like to try a new game."},
		{"On rainy days I love to stay home and read.", "I just love to stay home and read on rainy days."},
		{"What kind of food do you all like best?", "So, what kind of food do you like best, everyone?"},
		{"I wonder what lies at the edge of the universe.", "What lies at the edge of the universe, I wonder?"},
		{"Do you have bread or rice for breakfast?", "For breakfast, do you have bread or rice?"},
		{"If I ever get a cat, I already have a name for it.", "I already have a name for a cat, if I ever get one."},
		{"I practise the piano for half an hour every day.", "Every day I practise the piano for about half an hour."},
		{"This summer I want to watch the fireworks at the beach.", "I want to watch fireworks at the beach this summer!"},
		{"Which spice makes a curry taste really good?", "Which spice would make a curry taste so good?"},
		{"To be honest, I am terribly afraid of heights.", "I'm terribly afraid of heights, to be honest with you."},
		{"Please tell me more of the story you began earlier.", "Tell me more of that story you began earlier, please."},
		{"I forget the time when I look at the stars.", "When I look at the stars I always forget the time."},
		{"Somehow tea calms me down more than coffee does.", "Tea somehow calms me down much more than coffee."},
		{"I haven't been sleeping well, so I'm a little tired.", "I'm a little tired because I haven't been sleeping well."},
		{"How did you get started with programming?", "And how did you first get started with programming?"},
		{"I always try to be honest with my closest friends.", "With my closest friends I always try to be honest."},
		{"Sorting my travel photos made me feel nostalgic.", "Sorting out those travel photos made me feel so nostalgic."},
	},
}

func TestAlike(t *testing.T) {
	names := []string{"アキ", "ベン", "Aki", "Ben"}
	for lang, pairs := range reworded {
		caught := 0
		var prints [][2]Lineprint
		for _, p := range pairs {
			prints = append(prints, [2]Lineprint{Shape(p[0], names), Shape(p[1], names)})
		}
		for i, a := range prints {
			if Alike(a[0], a[1]) {
				caught++
			} else {
				t.Logf("missed: %q", pairs[i])
			}
			for j, b := range prints {
				if i != j && (Alike(a[0], b[0]) || Alike(a[0], b[1]) || Alike(a[1], b[1])) {
					t.Errorf("%q and %q are alike", pairs[i], pairs[j])
				}
			}
		}
		if len(pairs) != 20 || 10*caught < 9*len(pairs) {
			t.Errorf("%s: %d of %d reworded lines are caught", lang, caught, len(pairs))
		}
	}
}

func TestShape(t *testing.T) {
	names := []string{"Aki", "アキ", "アキラ", "Mary Ann", "x", ""}
	for _, c := range []struct {
		a, b  string
		alike bool
	}{
		{"はい！", "ハイ", true},
		{"はい", "いいえ", false},
		{"そうだよね", "そうだよねえ", false}, // short: the same letters only
		{"そうだよね、アキ", "アキラ、そうだよね！", true},
		{"OK, Mary Ann", "ok", true},
		{"Ｏｋａｙ　ｔｈｅｎ", "okay then", true},
		{"…", "！", true},
		{"…", "あ", false},
		{"スゴーイ、ほんとにおもしろい", "すごい！ホントニオモシロイ？", true},
		{"はい", "はい、今日はとてもいい天気ですね", false},
		{"今日は本当にいい天気だった", "今日は本当にいい天気だった。" + line, false},
	} {
		a, b := Shape(c.a, names), Shape(c.b, names)
		if Alike(a, b) != c.alike || Alike(b, a) != c.alike {
			t.Errorf("%q and %q: alike is %v", c.a, c.b, !c.alike)
		}
	}
	for text, short := range map[string]bool{"": true, "一二三四五六七": true, "一二三四五六七八": false, "eleven lett": true, "twelve letters": false, "アキ一二三四五六七": true} {
		if Shape(text, names).Short() != short {
			t.Errorf("%q: short is %v", text, !short)
		}
	}
	var all strings.Builder
	for r := '一'; r < '一'+5000; r++ {
		all.WriteRune(r)
	}
	if n := len(Shape(all.String(), nil).grams); n != maxShape-1 {
		t.Errorf("%d pairs are kept of one line", n)
	}
}

// TestAlikeIsFair: it does not matter which line came first, nor how either is written.
func TestAlikeIsFair(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text, other := draw(t, "text"), draw(t, "other")
		names := rapid.SliceOfN(rapid.SampledFrom(parts), 0, 3).Draw(t, "names")
		a, b := Shape(text, names), Shape(other, names)
		if Alike(a, b) != Alike(b, a) || !Alike(a, a) || !slices.IsSorted(a.grams) || len(slices.Compact(slices.Clone(a.grams))) < len(a.grams) {
			t.Fatalf("%q and %q: %v, %v", text, other, Alike(a, b), Alike(b, a))
		}
		if again := Shape(strings.ToUpper(fold(text))+"ー！", nil); !Alike(again, Shape(text, nil)) {
			t.Fatalf("%q is not alike to itself in capitals", text)
		}
	})
}

func BenchmarkShape(b *testing.B) {
	for b.Loop() {
		Shape(line, []string{"アキ", "Aki"})
	}
}

// BenchmarkAlike compares a line with the eight before it.
func BenchmarkAlike(b *testing.B) {
	var earlier []Lineprint
	for _, p := range reworded["ja"][:8] {
		earlier = append(earlier, Shape(p[0], nil))
	}
	for p := Shape(reworded["ja"][8][0], nil); b.Loop(); {
		for _, e := range earlier {
			Alike(p, e)
		}
	}
}
