//go:build !race

package characters_test

import (
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/companiond/companiond/sdk/go/words"
)

// openings are first words of a human; addressed is who must answer, if any.
var openings = []struct {
	text      string
	lang      words.Lang
	addressed string
}{
	{"こんにちは！あなたたちは誰ですか？", words.Japanese, ""},
	{"P2Pって何が面白いの？", words.Japanese, ""},
	{"きょうこさん、猫は好き？", words.Japanese, "kyoko"},
	{"ナツミ、おすすめのラーメンは？", words.Japanese, "natsumi"},
	{"私はタロウです。よろしくお願いします", words.Japanese, ""},
	{"量子もつれについてどう思う？", words.Japanese, ""},
	{"今日は仕事で疲れた…", words.Japanese, ""},
	{"ばーか", words.Japanese, ""},
	{"🐱🐱🐱", words.Japanese, ""},
	{"。。。", words.Japanese, ""},
	{"ｱﾔさん、ブロックチェーンのこと教えて", words.Japanese, "aya"},
	{"明日は雨かなあ", words.Japanese, ""},
	{strings.Repeat("昨日ライブに行ったんだけど、本当に音楽って素晴らしいなと思って、", 40), words.Japanese, ""},
	{"ありがとう！", words.Japanese, ""},
	{"Hello! Who are you?", words.English, ""},
	{"What do you think about privacy?", words.English, ""},
	{"Natsumi, what's your favorite food?", words.English, "natsumi"},
	{"My name is Taro and I like quantum gravity.", words.English, ""},
	{"hmm", words.English, ""},
}

// A talk is at least twelve turns of all three, repeats nothing, keeps to the
// language, answers who asked, and ends by itself.
func TestTalks(t *testing.T) {
	seeds := 200
	if testing.Short() {
		seeds = 20
	}
	for seed := range seeds {
		o := openings[seed%len(openings)]
		r := newRoom(t, uint64(seed), "aya", "kyoko", "natsumi")
		r.byVote = seed%3 == 0
		rows := r.say(o.text)
		if o.addressed != "" && rows[0].who != o.addressed {
			t.Errorf("seed %d: %s was addressed, %s answers", seed, o.addressed, rows[0].who)
		}
		check(t, r, rows, o.lang)
		if t.Failed() {
			t.Fatalf("seed %d:\n%s", seed, r.transcript())
		}
	}
}

// check holds a whole talk of three against the promises.
func check(t *testing.T, r *room, rows []row, lang words.Lang) {
	t.Helper()
	least := 12
	if o := r.rows[len(r.rows)-len(rows)-1].text; o == "hmm" {
		least = 6 // a remark in passing is not talked about for long
	}
	if len(rows) < least || len(rows) >= r.max {
		t.Errorf("%d turns", len(rows))
	}
	if r.ended != "terminal" {
		t.Errorf("ended by %s", r.ended)
	}
	count := map[string]int{}
	byes := map[string]int{}
	long := 0
	for i, x := range rows {
		count[x.who]++
		if got := words.Language(x.text); got != lang {
			t.Errorf("row %d is %s: %s", i, got, x.text)
		}
		n := utf8.RuneCountInString(x.text)
		if n > 300 {
			t.Errorf("row %d has %d characters", i, n)
		}
		if x.who == "natsumi" && (lang == words.Japanese && n > 40 || n > 60) {
			long++
		}
		if strings.ContainsAny(x.text, "{}") {
			t.Errorf("row %d has a placeholder: %s", i, x.text)
		}
		if words.Intents(x.text)[words.Bye] {
			byes[x.who]++
		}
	}
	for _, who := range []string{"aya", "kyoko", "natsumi"} {
		if count[who] < 2 {
			t.Errorf("%s speaks %d times", who, count[who])
		}
		if byes[who] != 1 {
			t.Errorf("%s says goodbye %d times", who, byes[who])
		}
	}
	if long > 1 {
		t.Errorf("natsumi has %d long lines", long)
	}
	unique(t, r)
}

// unique finds lines that were said before, in the whole room.
func unique(t *testing.T, r *room) {
	t.Helper()
	seen := map[string]bool{}
	for i, x := range r.rows {
		text := words.Normal(x.text)
		if x.who != human && seen[text] {
			t.Errorf("row %d repeats: %s", i, x.text)
		}
		seen[text] = true
	}
}

// Nobody is addressed who is not there.
func TestAbsent(t *testing.T) {
	names := map[string][]string{"aya": {"アヤ", "Aya"}, "kyoko": {"キョウコ", "Kyoko"}, "natsumi": {"ナツミ", "Natsumi"}}
	for seed := range 90 {
		cast := [][]string{{"aya", "natsumi"}, {"kyoko", "natsumi"}, {"aya", "kyoko"}, {"aya"}, {"kyoko"}, {"natsumi"}}[seed%6]
		o := openings[[]int{0, 1, 5, 6, 14, 15}[seed/6%6]]
		r := newRoom(t, uint64(seed), cast...)
		rows := r.say(o.text)
		for _, x := range rows {
			for who, ns := range names {
				if slices.Contains(cast, who) {
					continue
				}
				if slices.Contains(x.line.To, who) || slices.ContainsFunc(ns, func(n string) bool { return strings.Contains(x.text, n) }) {
					t.Errorf("seed %d: %s is absent: %s", seed, who, x.text)
				}
			}
		}
		if r.ended == "capped" || len(cast) == 2 && len(rows) < 8 {
			t.Errorf("seed %d: %s after %d turns", seed, r.ended, len(rows))
		}
		unique(t, r)
	}
}

// A person is remembered: the name they told, also bare after a question, and
// across a reload of the modules.
func TestPerson(t *testing.T) {
	r := newRoom(t, 7, "aya", "kyoko", "natsumi")
	rows := r.say("私はタロウです。はじめまして！")
	if !mentions(rows, "タロウ") {
		t.Errorf("nobody took up the name:\n%s", r.transcript())
	}
	r.reload()
	r.clock = r.clock.Add(20 * time.Hour)
	rows = r.say("こんばんは！")
	if !mentions(rows[:2], "タロウ") {
		t.Errorf("the person is not remembered:\n%s", r.transcript())
	}
	unique(t, r)

	r = newRoom(t, 8, "kyoko")
	for !mentions(r.rows, "お名前") && len(r.said) < 60 {
		r.say("こんにちは！")
	}
	if rows = r.say("ハナコ"); !mentions(rows, "ハナコさん") {
		t.Errorf("a bare name was not understood:\n%s", r.transcript())
	}
}

func mentions(rows []row, word string) bool {
	return slices.ContainsFunc(rows, func(x row) bool { return strings.Contains(x.text, word) })
}

// A person called like a companion is not called by that name.
func TestNamesake(t *testing.T) {
	r := newRoom(t, 3, "aya", "kyoko", "natsumi")
	rows := r.say("私はアヤです")
	if mentions(rows[:1], "アヤさん、") || !mentions(rows[:1], "同じ") && !mentions(rows[:1], "名前かぶってる") {
		t.Errorf("the namesake was not noticed:\n%s", r.transcript())
	}
}

// A goodbye is answered by everybody, at once, once.
func TestGoodbye(t *testing.T) {
	for i, say := range []string{"もう寝るね、おやすみ！", "bye bye!", "じゃあね"} {
		r := newRoom(t, uint64(i), "aya", "kyoko", "natsumi")
		r.say("こんにちは！")
		rows := r.say(say)
		if len(rows) != 3 || r.ended != "terminal" {
			t.Errorf("%d turns, %s:\n%s", len(rows), r.ended, r.transcript())
		}
	}
}

// A room that goes on and on never repeats a line that anybody can remember,
// and somebody who is addressed always answers.
func TestLongRoom(t *testing.T) {
	r := newRoom(t, 11, "aya", "kyoko", "natsumi")
	for i, say := range []string{"こんにちは！", "アヤ、P2Pって何？", "ナツミ、ゲームは好き？", "キョウコさん、天気はどう？", "アヤ、障害って怖い？", "ナツミ、眠くない？", "アヤ、合意って何？", "キョウコさん、音楽は好き？",
		"ナツミ、P2Pって何？", "アヤ、猫は好き？", "キョウコさん、AIって何？", "ナツミ、合意って何？", "アヤ、P2Pって何？", "アヤ、P2Pって何？"} {
		before := len(r.rows)
		rows := r.say(say)
		if i == 5 {
			r.reload()
		}
		if len(rows) < 3 {
			t.Errorf("%q: %d turns", say, len(rows))
		}
		for j, x := range r.rows[before:] {
			for _, y := range r.rows[max(0, before+j-30) : before+j] {
				if x.who != human && x.text == y.text {
					t.Errorf("%q again: %s", say, x.text)
				}
			}
		}
		if rows[0].who != map[string]string{"ア": "aya", "ナ": "natsumi", "キ": "kyoko", "こ": rows[0].who}[string([]rune(say)[:1])] {
			t.Errorf("%q is answered by %s", say, rows[0].who)
		}
	}
}

// A talk is paced for the room's cap, whatever it is.
func TestCaps(t *testing.T) {
	for seed := range 30 {
		r := newRoom(t, uint64(seed), "aya", "kyoko", "natsumi")
		r.max = []int{10, 16, 24, 40}[seed%4]
		rows := r.say(openings[seed%6].text)
		if r.ended != "terminal" || len(rows) < r.max/3 {
			t.Errorf("cap %d: %s after %d turns:\n%s", r.max, r.ended, len(rows), r.transcript())
		}
	}
}

// TestNamesAreNoTopics asks after companions by name: nobody takes the name for
// the thing that was asked about.
func TestNamesAreNoTopics(t *testing.T) {
	for _, text := range []string{"Natsumi, are you there?", "Aya, are you there?", "きょうこさん、いる？", "ナツミ、いますか？"} {
		for seed := range uint64(50) {
			r := newRoom(t, seed, "aya", "kyoko", "natsumi")
			for _, row := range r.say(text) {
				for _, name := range []string{"Natsumi", "Aya", "きょうこ", "ナツミ"} {
					if strings.Contains(row.text, `"`+name+`"`) || strings.Contains(row.text, "「"+name+"」") {
						t.Fatalf("%q is answered by %s: %s", text, row.who, row.text)
					}
				}
			}
		}
	}
}
