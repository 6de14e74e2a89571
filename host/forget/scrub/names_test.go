package scrub

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"pgregory.net/rapid"
)

// TestLongerNames: who is called taro2 keeps its name, wherever it stands, and what is said to it, when taro is forgotten.
func TestLongerNames(t *testing.T) {
	for _, c := range []struct{ who, other string }{
		{"taro", "taro2"}, {"taro", "taro-b"}, {"taro", "taro.c"}, {"taro", "Taro3"}, {"taro", "taro_d"}, {"taro", "2taro"}, {"ゆき", "ゆきこ"}, {"kyo", "kyo-ko"}, {"花子", "小花子"},
	} {
		es := []entry.Entry{
			said(1, c.who, "hello"), said(2, c.other, "My favourite food is curry."), said(3, c.other, "I met bob yesterday"),
			made(4, entry.KindSaid, entry.Said{From: "bob", By: abi.KindHuman, Text: "@" + c.other + " good day", Kind: abi.KindTurn, To: []string{c.other}, Addressed: []string{c.other}}),
			made(5, entry.KindSaid, entry.Said{From: "aya", By: abi.KindCompanion, Text: c.other + ", hi", Kind: abi.KindTurn}),
			made(6, entry.KindVote, entry.Voted{Round: 3, Voter: c.other, Vote: abi.Vote{State: abi.Speak, Reason: "was addressed"}}),
			made(7, entry.KindDecision, entry.Decision{Round: 3, Speaker: c.other, Reason: c.other + " was asked", Ranking: []entry.Candidate{{Who: c.other, Standing: "speak", Called: c.other}}}),
			made(8, entry.KindCast, entry.Cast{Joined: []entry.Joined{{ID: c.other, Name: c.other, Kind: abi.KindCompanion}}}),
			made(9, entry.KindUsage, entry.Usage{Who: c.other, Model: "m", Op: "speak", Told: &entry.Told{Names: map[string]string{c.other: c.other}, Parts: map[string]int{}}}),
		}
		w, _ := wordsOf(c.who, es...)
		for _, e := range es[1:] {
			if left, lost := w.Entry(e); lost {
				t.Errorf("%s goes, and of %s's %s there is left %s", c.who, c.other, e.Kind, left)
			}
		}
		if w.Hits("friend:" + c.other) {
			t.Errorf("%s goes, and a key of %s's with it", c.who, c.other)
		}
		then, _ := wordsOf(c.other, es...)
		if left, lost := then.Entry(es[1]); !lost || then.Hits(string(left)) {
			t.Errorf("%s cannot be forgotten any more: %s", c.other, left)
		}
	}
}

// TestNamesInFields: a name is compared whole, and with what people put behind one.
func TestNamesInFields(t *testing.T) {
	w, _ := wordsOf("mika", said(1, "mika", "hello"), said(1, "mika-san", "I am another"))
	e := made(2, entry.KindSaid, entry.Said{From: "bob", By: abi.KindHuman, To: []string{"mika", "ＭＩＫＡ", "mikaさん", "@mika", "mika-chan", "mika-san", "mika-b", "mika2", "tamika"}, Text: "x", Kind: abi.KindTurn})
	left, lost := w.Entry(e)
	got, err := entry.Decode[entry.Said](entry.Entry{Kind: e.Kind, V: e.V, Body: left})
	as := w.As()
	if want := []string{as, as, as, as, as, "mika-san", "mika-b", "mika2", "tamika"}; err != nil || !lost || !slices.Equal(got.To, want) {
		t.Errorf("%v %v", got.To, err)
	}
}

// TestRename: what the house says of somebody else is not touched, and the name goes however it is written.
func TestRename(t *testing.T) {
	w, _ := wordsOf("mika", said(1, "mika", "hello"), said(1, "mika2", "hi"))
	for text, want := range map[string]string{
		"mika, mika2 and tamika": "forgotten-1, mika2 and tamika", "ＭＩＫＡ!": "forgotten-1!", "mi\u200bka's": "forgotten-1's", "ask Mikaさん": "ask forgotten-1さん", "": "", "㍿ mika㍿": "㍿ forgotten-1㍿",
	} {
		if got := w.rename(text, none); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestPlainly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringOf(rapid.OneOf(rapid.Rune(), rapid.RuneFrom([]rune("ｍ\u200bかか\u3099㍿e\u0301ΣK\ufe0f")))).Draw(t, "s")
		text, from, to := plainly(s)
		if text != plain(s) || len(from) != len(text) || len(to) != len(text) {
			t.Fatalf("%q: %q, want %q", s, text, plain(s))
		}
		for i := range text {
			if from[i] < 0 || from[i] >= to[i] || to[i] > len(s) || i > 0 && (from[i] < from[i-1] || to[i] < to[i-1]) {
				t.Fatalf("%q: byte %d is of [%d, %d)", s, i, from[i], to[i])
			}
		}
	})
}

// aloneOf is wordsOf where the person gave the order.
func aloneOf(who string, es ...entry.Entry) *Words {
	g := NewGatherer(is(who), nil)
	g.Alone = true
	for _, e := range es {
		g.Learn(e)
	}
	for _, e := range es {
		g.Weigh(e)
	}
	w, _ := g.Words("o1", "forgotten-1")
	return w
}

// TestNamesInWords: the name is looked for as a name in what other people say, and is no piece of a word.
func TestNamesInWords(t *testing.T) {
	for name, lines := range map[string]map[string]string{ // empty: as it is
		"あい":   {"あいさつは大事だよ": "", "いいぐあいだね": "", "であいに感謝": "", "あい言葉": "", "あい、いる?": "forgotten-1、いる?", "あいちゃんは元気": "forgotten-1ちゃんは元気", "昨日のあいさん": "昨日のforgotten-1さん"},
		"まゆ":   {"まゆつば": "", "うまゆに": "", "まゆは元気": "forgotten-1は元気", "まゆにも言った": "forgotten-1にも言った", "今日まゆと会う": "今日forgotten-1と会う", "まゆ毛": "", "うまゆさん": ""},
		"まい":   {"まいにち暑いね": "", "うまいラーメン": "", "せまい部屋です": "", "まい日": "", "@まい 来て": "@forgotten-1 来て"},
		"エミ":   {"エミリーと会った": "", "アカデミーの話": "", "プレミアムだよ": "", "エミ、おはよう": "forgotten-1、おはよう", "今日はエミと": "今日はforgotten-1と"},
		"ゆき":   {"ゆきさき不明です": "", "なりゆきに任せる": "", "いきゆきて": "", "ゆきが多い": "", "ゆきさんが来た": "forgotten-1さんが来た"},
		"花子":   {"花子園に行く": "", "小花子": "", "花子が来た": "forgotten-1が来た", "山田花子さん": "山田forgotten-1さん"},
		"taro": {"taro2 was here": "", "Taroko gorge": "", "I ate taro root": "I ate forgotten-1 root", "Ask TARO!": "Ask forgotten-1!"},
		"will": {"I will do it, will you?": "", "Will, are you there?": "forgotten-1, are you there?", "ask @will": "ask @forgotten-1", "so it is, Will": "so it is, forgotten-1"},
		"hope": {"I hope so": "", "hope-san said so": "forgotten-1-san said so"},
	} {
		w := aloneOf(name, said(1, name, "hello"))
		for text, want := range lines {
			if want == "" {
				want = text
			}
			left, lost := w.Entry(said(2, "bob", text))
			got, err := entry.Decode[entry.Said](entry.Entry{Kind: entry.KindSaid, V: 2, Body: left})
			if !lost {
				got.Text = text
			}
			if err != nil && lost || got.Text != want || lost != (text != want) {
				t.Errorf("%s: of %q there is left %q, want %q", name, text, got.Text, want)
			}
		}
	}
}

// TestOthersLines: on a person's own order the lines of other people keep their texts, whatever the person is called or said before.
func TestOthersLines(t *testing.T) {
	for _, who := range []string{"the", "will", "hope", "まい", "Tokyo", "weather", "fine"} {
		es := []entry.Entry{said(1, who, "hello")}
		for i := range 5 {
			es = append(es, said(2+2*i, "bob", "I hope the weather in Tokyo will be fine, まいにち暑い"), said(3+2*i, "ann", "Yes, the sun will shine, I hope, in Tokyo, fine weather まい日"))
		}
		w := aloneOf(who, es...)
		for _, e := range es[1:] {
			if left, lost := w.Entry(e); lost {
				t.Errorf("%s goes, and of another's line there is left %s", who, left)
			}
		}
		if stays := w.Stays(es[1]); stays == empty[who] { // of the and will nobody wants to know
			t.Errorf("%s: nobody says that it stays", who)
		}
	}
	words := []string{"Python", "London", "Docker", "Christmas", "Ubuntu", "Netflix", "Pizza", "Yoga", "Kyoto", "Whiskers", "88123", "食物繊維のサプリを毎朝かならず飲む"}
	var es []entry.Entry
	for i, word := range words {
		es = append(es, said(i, "eve", "we "+word+" and so on"), said(100+i, "bob", "this week I study "+word+" with friends, eve"))
	}
	w := aloneOf("eve", es...)
	for i, e := range es {
		left, lost := w.Entry(e)
		got, err := entry.Decode[entry.Said](entry.Entry{Kind: e.Kind, V: e.V, Body: left})
		if word := words[i/2]; i%2 == 1 && (err != nil || !lost || got.Text != "this week I study "+word+" with friends, forgotten-1" || !w.Stays(entry.Entry{Kind: e.Kind, V: e.V, Body: left})) {
			t.Errorf("of another's line there is left %s", left)
		}
	}
	if by, _ := wordsOf("eve", es...); by.HitsOf("bob", "Whiskers") == w.HitsOf("bob", "Whiskers") {
		t.Error("an admin's order does not do more")
	}
	if !w.Hits("Whiskers, hm") {
		t.Error("what companions said of it stays")
	}
}

// TestWordsBefore: a name that two others used as a word before the person came is that word; where it is called it is the name.
func TestWordsBefore(t *testing.T) {
	es := []entry.Entry{said(1, "bob", "the zither is loud"), said(2, "ann", "my zither is not"), said(3, "ann", "mikuさんはまだ?"), said(3, "bob", "mikuさん?"), said(4, "zither", "hello"), said(4, "miku", "hello")}
	if w := aloneOf("zither", es...); w.HitsOf("bob", "a zither again") || !w.HitsOf("bob", "zither, hello") || !w.Hits("a zither again") {
		t.Error("of a word of before")
	}
	if w := aloneOf("miku", es...); !w.HitsOf("bob", "I met miku again") {
		t.Error("who was called before is taken for a word")
	}
	if w, _ := wordsOf("zither", es...); !w.HitsOf("bob", "a zither again") {
		t.Error("on an admin's order it stays")
	}
}

// TestWhoTold: where one fact goes, what the person said who told it is not other people's.
func TestWhoTold(t *testing.T) {
	g := NewGatherer(func(string) bool { return false }, []string{"f1"})
	g.Alone = true
	g.Remembered(abi.Memory{ID: "f1", SaidAt: at, SaidBy: "hana", Text: "her cat is Whiskers", Quote: "My cat is Whiskers"}, "")
	es := []entry.Entry{said(0, "hana", "My cat is Whiskers"), said(1, "hana", "Whiskers is well"), said(2, "bob", "hello Whiskers")}
	for _, e := range es {
		g.Learn(e)
	}
	for _, e := range es {
		g.Weigh(e)
	}
	w, _ := g.Words("o1", "")
	for i, e := range es {
		left, lost := w.Entry(e)
		e.Body = left
		other, _ := w.OfOther(e)
		if hanas := i < 2; lost != hanas || other {
			t.Errorf("%d: lost: %v, another's: %v", i, lost, other)
		}
	}
	if !w.Stays(es[2]) {
		t.Error("nobody says that bob's line stays")
	}
}

// TestOthersKeepTheirNames: whatever companions, agents and rooms are called, and whatever the person said with that, their names
// are no words of the person's, and who is here is told as it was.
func TestOthersKeepTheirNames(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.StringOfN(rapid.RuneFrom([]rune("ニコ立体ちゃんたまのZorab Land-1990「」")), 1, 40, 64)
		names := rapid.SliceOfN(name, 1, 4).Draw(t, "names")
		around := rapid.SampledFrom([]string{"", " ", "、こんにちは", "さん", "は元気? ", "「", "」", "名前は", "です。"})
		var text strings.Builder
		for range rapid.IntRange(1, 6).Draw(t, "words") {
			text.WriteString(around.Draw(t, "before") + rapid.SampledFrom(names).Draw(t, "name") + around.Draw(t, "behind"))
		}
		var joined []entry.Joined
		for i, n := range names {
			joined = append(joined, entry.Joined{ID: fmt.Sprintf("c%d", i), Name: n, Aliases: []string{n + "っち"}, Kind: abi.KindCompanion})
		}
		cast := made(0, entry.KindCast, entry.Cast{Joined: joined})
		w, _ := wordsOf("mika", cast, said(1, "mika", text.String()))
		if left, lost := w.Entry(cast); lost {
			t.Fatalf("who is here: %s, by %q", left, w.List())
		}
		for _, n := range names {
			if w.Hits(n) {
				t.Fatalf("%q goes, by %q", n, w.List())
			}
		}
	})
}
