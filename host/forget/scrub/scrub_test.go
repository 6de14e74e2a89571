package scrub

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/address"
	"github.com/companiond/companiond/host/entry"
	"pgregory.net/rapid"
)

func is(name string) func(string) bool {
	return func(n string) bool { return address.Same(n, name) }
}

var at = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)

// made is an entry of a minute.
func made(minute int, kind entry.Kind, body any) entry.Entry {
	raw, _ := json.Marshal(body)
	return entry.Entry{Seq: uint64(minute + 1), At: at.Add(time.Duration(minute) * time.Minute), Kind: kind, ID: fmt.Sprint(minute), V: 2, Body: raw}
}

func said(minute int, from, text string) entry.Entry {
	return made(minute, entry.KindSaid, entry.Said{From: from, By: abi.KindHuman, Text: text, Kind: abi.KindTurn})
}

// wordsOf goes over entries as an order does.
func wordsOf(who string, es ...entry.Entry) (*Words, int) {
	g := NewGatherer(is(who), nil)
	for _, e := range es {
		g.Learn(e)
	}
	for _, e := range es {
		g.Weigh(e)
	}
	return g.Words("o1", "forgotten-1")
}

func TestWordsOfTexts(t *testing.T) {
	for _, c := range []struct {
		text      string
		hit, miss []string
	}{
		{"うちの猫はタマです", []string{"タマは元気?", "ﾀﾏ、おいで", `{"name":"タマ"}`, `"\u30bf\u30de"`, `cat=\u30bf\u30de`, base64.StdEncoding.EncodeToString([]byte("タマは元気")), "うちの猫はタマですってよ"},
			[]string{"タマゴを食べた", "たまに行く", "うちの犬", ""}},
		{"私の電話は090-1234-5678です", []string{"090-1234-5678に電話", "０９０－１２３４－５６７８"}, []string{"電話する", "1234"}},
		{"My cat is Whiskers, thank you", []string{"how is whiskers?", "WHISKERS!"}, []string{"my cat", "thank you", "whiskersome"}},
		{"英語ではWhiskersなの", []string{"Whiskersが見える", "WHISKERS!"}, []string{"英語では"}},
		{"本は「銀の匙」が好き", []string{"銀の匙、いいね"}, []string{"銀の"}},
		{"田中さんと来週の火曜に京都へ行くんだ", []string{"田中って誰", "来週の火曜に京都へ行く予定ですね"}, []string{"来週の火曜", "京都はいいね"}},
		{"ありがとうございます", nil, []string{"ありがとうございます", "どうもありがとうございました"}},
		{"I want to visit my grandmother in Nagoya next spring", []string{"you want to visit my grandmother, right", "Nagoya is nice"}, []string{"want to visit", "my grandmother"}},
	} {
		w, _ := wordsOf("mika", said(1, "mika", c.text))
		for _, s := range c.hit {
			if !w.Hits(s) {
				t.Errorf("%q: %q stays", c.text, s)
			}
		}
		for _, s := range c.miss {
			if w.Hits(s) {
				t.Errorf("%q: %q goes", c.text, s)
			}
		}
	}
}

func TestNames(t *testing.T) {
	for _, c := range []struct {
		name      string
		hit, miss []string
	}{
		{"mika", []string{"mikaさん、おはよう", "ask MIKA", "ｍｉｋａ", "mi\u200bka"}, []string{"mikado", "tamika"}},
		{"ミカ", []string{"ミカさん", "ミカ!"}, []string{"ミカン", "みかん"}},
		{"花子", []string{"花子さん", "ねえ花子"}, []string{"花"}},
		{"al", nil, []string{"al dente"}},
	} {
		w, _ := wordsOf(c.name, said(1, c.name, "はい"))
		for _, s := range c.hit {
			if !w.Hits(s) {
				t.Errorf("%s: %q stays", c.name, s)
			}
		}
		for _, s := range c.miss {
			if w.Hits(s) {
				t.Errorf("%s: %q goes", c.name, s)
			}
		}
	}
}

// What many others said before is no word of the person's, nor are others' names.
func TestCommonWordsStay(t *testing.T) {
	cast := made(0, entry.KindCast, entry.Cast{Joined: []entry.Joined{{ID: "aya", Name: "アヤ", Kind: abi.KindCompanion}, {ID: "nana", Kind: abi.KindAgent}}})
	w, common := wordsOf("mika", cast, said(1, "taro", "ポケモンやろう"), said(2, "hana", "ポケモンいいね"), said(3, "mika", "アヤ、ポケモンとタマの話"), said(4, "aya", "タマ?"))
	if w.Hits("ポケモン") || w.Hits("アヤさん") || !w.Hits("タマは") || common != 1 {
		t.Errorf("%v, %d too common", w.List(), common)
	}
	var es []entry.Entry
	es = append(es, said(0, "mika", "タマとポチ"))
	for i := range 100 {
		text := "そうだねタマ"
		if i%3 == 0 {
			text = "ふむふむポチ"
		}
		es = append(es, said(i+1, "aya", text))
	}
	if w, common := wordsOf("mika", es...); w.Hits("タマ") || !w.Hits("ポチ") || common != 1 {
		t.Errorf("%v, %d too common", w.List(), common)
	}
}

func TestFacts(t *testing.T) {
	g := NewGatherer(func(string) bool { return false }, []string{"f1"})
	m := abi.Memory{ID: "f1", SaidAt: at, Text: "ミカの猫はタマ", Quote: "猫はタマっていうの", Keys: []string{"タマ", "猫の名前"}, SaidBy: "mika"}
	if !g.Remembered(m, "") || g.Remembered(abi.Memory{ID: "f2", Text: "x", SaidBy: "mika"}, "") {
		t.Error("which facts go")
	}
	for i := range 30 {
		g.Weigh(said(i+1, fmt.Sprint("p", i), "タマだね"))
	}
	if w, _ := g.Words("o", ""); !w.Hits("タマ") || w.Hits("「猫の名前」") || !w.HitsOf("", "タマだね") {
		t.Error("by which words a fact is told")
	}
}

// TestPhrases: the whole quotation of a fact tells a repetition, of a companion's and of whoever told it, and no part of it does; what other people say stays.
func TestPhrases(t *testing.T) {
	for _, c := range []struct {
		quote     string
		hit, miss []string
	}{
		{"離婚した", []string{"え、離婚した?", "離婚、した", `{"x":"離婚した"}`}, []string{"離婚", "離婚しない"}},
		{"I like ramen.", []string{"so I LIKE ramen, too", "i-like-ramen"}, []string{"You like ramen", "I like tea"}},
		{"無職", nil, []string{"無職"}},
		{"そうです", nil, []string{"そうですね"}},
	} {
		g := NewGatherer(func(string) bool { return false }, []string{"f1"})
		g.Remembered(abi.Memory{ID: "f1", SaidAt: at, Text: "x", Quote: c.quote, SaidBy: "mika"}, "")
		w, _ := g.Words("o", "")
		for _, s := range c.hit {
			if !w.Hits(s) || !w.HitsOf("mika", s) || w.HitsOf("taro", s) || !Has(s, w.List()) && !strings.ContainsAny(s, "、-") {
				t.Errorf("%q: %q stays, or goes where another person said it", c.quote, s)
			}
		}
		for _, s := range c.miss {
			if w.Hits(s) {
				t.Errorf("%q: %q goes", c.quote, s)
			}
		}
	}
}

// TestEntries shows what is left of each kind of entry.
func TestEntries(t *testing.T) {
	w, _ := wordsOf("mika", said(0, "mika", "猫はタマ、番号4321"))
	due := at.Add(time.Hour)
	for _, c := range []struct {
		name string
		e    entry.Entry
		want string // empty: it stays as it is
	}{
		{"own words", said(1, "mika", "猫はタマ"), `{"by":"human","erased":"o1","from":"forgotten-1","kind":"turn","text":""}`},
		{"own words, written otherwise", said(1, "ＭＩＫＡ", "やあ"), `{"by":"human","erased":"o1","from":"forgotten-1","kind":"turn","text":""}`},
		{"words of another", said(1, "taro", "今日は寒い"), ""},
		{"words of another to her", made(1, entry.KindSaid, entry.Said{From: "aya", By: "companion", To: []string{"mika", "taro"}, Text: "寒いね", Kind: "turn", Grant: "g7"}),
			`{"by":"companion","erased":"o1","from":"aya","grant":"g7","kind":"turn","text":"寒いね","to":["forgotten-1","taro"]}`},
		{"words of another about her", made(1, entry.KindSaid, entry.Said{From: "aya", By: "companion", Text: "タマは元気?", Kind: "turn", Voice: []entry.Beat{{Bytes: 16, MS: 900}}}),
			`{"by":"companion","erased":"o1","from":"aya","kind":"turn","text":"","voice":[{"bytes":0,"ms":900}]}`},
		{"a vote's reason", made(1, entry.KindVote, entry.Voted{Round: 4, Voter: "aya", Vote: abi.Vote{State: abi.Speak, Importance: 7, Reason: "タマのこと"}}),
			`{"erased":"o1","importance":7,"reason":"","round":4,"state":"speak","voter":"aya"}`},
		{"a vote of hers", made(1, entry.KindVote, entry.Voted{Round: 4, Voter: "mika", Vote: abi.Vote{State: abi.Listen, Reason: "ねむい"}}),
			`{"erased":"o1","importance":0,"reason":"","round":4,"state":"listen","voter":"forgotten-1"}`},
		{"a decision that tells of her", made(1, entry.KindDecision, entry.Decision{Round: 4, Outcome: entry.OutcomeSuperseded, Reason: "mika said something newer", Ranking: []entry.Candidate{{Who: "aya", Standing: "speak", Note: "タマのこと"}}}),
			`{"erased":"o1","outcome":"superseded","ranking":[{"debt":0,"hash":"","importance":0,"note":"","standing":"speak","who":"aya"}],"reason":"forgotten-1 said something newer","round":4}`},
		{"her STOP", made(1, entry.KindStop, entry.Stop{From: "mika"}), `{"erased":"o1","from":"forgotten-1"}`},
		{"her line that was refused", made(1, entry.KindRefused, entry.Refused{Who: "mika", By: "human", Kind: "turn", Code: "stale", Why: "taro spoke meanwhile", Text: "ねえ"}),
			`{"by":"human","code":"stale","erased":"o1","kind":"turn","text":"","who":"forgotten-1","why":"taro spoke meanwhile"}`},
		{"what she sent", made(1, entry.KindPerceived, entry.Perceived{Who: "aya", Title: "gift", Format: "object", From: "mika", Body: json.RawMessage(`{"to":"aya"}`), Size: 12, SHA256: "ab"}),
			`{"erased":"o1","format":"object","from":"forgotten-1","sha256":"","size":0,"title":"gift","who":"aya"}`},
		{"what another sent", made(1, entry.KindPerceived, entry.Perceived{Who: "aya", Title: "gift", Format: "object", From: "taro", Body: json.RawMessage(`{"kind":"タマ","mika":"x","n":5}`), Size: 12, SHA256: "ab"}),
			`{"body":{"forgotten-1":"x","kind":"","n":5},"erased":"o1","format":"object","from":"taro","sha256":"","size":0,"title":"gift","who":"aya"}`},
		{"her wish", made(1, entry.KindWish, entry.Wish{Who: "mika", By: "agent", Waits: entry.WaitRound, Importance: 3, Reason: "r", Text: "t", To: []string{"aya"}, Due: due, Parameters: json.RawMessage(`{"message":"t"}`)}),
			`{"by":"agent","due":"2026-11-01T13:00:00Z","erased":"o1","importance":3,"perception":0,"reason":"","text":"","to":["aya"],"waits":"round","who":"forgotten-1"}`},
		{"who came", made(1, entry.KindCast, entry.Cast{Joined: []entry.Joined{{ID: "mika", Name: "みかちゃん", Aliases: []string{"ミカリン"}, Kind: "agent"}}, Left: []entry.Left{{ID: "taro"}}}),
			`{"erased":"o1","joined":[{"id":"forgotten-1","kind":"agent","name":"forgotten-1"}],"left":[{"id":"taro"}]}`},
		{"an action", made(1, entry.KindAction, entry.Action{ID: "a1", Who: "aya", Action: "speak", Parameters: json.RawMessage(`{"message":"タマ!","to":"mika"}`)}),
			`{"action":"speak","delivered":0,"erased":"o1","id":"a1","parameters":{"message":"","to":"forgotten-1"},"who":"aya"}`},
		{"what a model was told, and what it cost", made(1, entry.KindUsage, entry.Usage{Who: "aya", Model: "m", Op: "speak", In: 1234, Out: 5, Cost: .5, About: 7, Told: &entry.Told{SHA256: "4321a", System: "4321b", Tail: "今日は雨\nmikaの猫はタマ\n短く話す",
			Memories: []string{"4321"}, Names: map[string]string{"mika": "みか"}, Parts: map[string]int{"tail": 9}}}),
			`{"about":7,"calls":0,"cost":0.5,"erased":"o1","in":1234,"model":"m","op":"speak","out":5,"told":{"budget":0,"head":0,"memories":["4321"],"names":{"forgotten-1":"forgotten-1"},"parts":{"tail":9},"sha256":"4321a","system":"4321b","tail":"今日は雨\n\n短く話す"},"who":"aya"}`},
		{"usage", made(1, entry.KindUsage, entry.Usage{Who: "aya", Model: "m", Op: "vote", Told: &entry.Told{SHA256: "s", Tail: "mikaがタマと", Parts: map[string]int{}}}),
			`{"calls":0,"erased":"o1","in":0,"model":"m","op":"vote","out":0,"told":{"budget":0,"head":0,"parts":{},"sha256":"s","system":"","tail":""},"who":"aya"}`},
	} {
		left, lost := w.Entry(c.e)
		if lost != (c.want != "") || string(left) != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, left, c.want)
		}
		if again, lost := w.Entry(entry.Entry{Kind: c.e.Kind, Body: left, Blank: true}); lost {
			t.Errorf("%s: the second time it loses more: %s", c.name, again)
		}
	}
}

// Whatever somebody says, nothing of it is left in an entry of theirs, nor the name anywhere.
func TestNothingIsLeft(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringN(1, 40, 200).Draw(t, "text")
		name := rapid.SampledFrom([]string{"mika", "ミカさん1", "花子", "Zoë"}).Draw(t, "name")
		w, _ := wordsOf(name, said(0, name, text))
		kinds := []entry.Entry{
			said(1, name, text),
			made(1, entry.KindRefused, entry.Refused{Who: name, Text: text}),
			made(1, entry.KindVote, entry.Voted{Voter: name, Vote: abi.Vote{Reason: text, Backchannel: text}}),
			made(1, entry.KindWish, entry.Wish{Who: name, Reason: text, Text: text}),
			made(1, entry.KindConversation, map[string]any{"kind": "end", "who": name, "why": text}),
		}
		for _, e := range kinds {
			left, lost := w.Entry(e)
			if !lost {
				t.Fatalf("%s stays: %s", e.Kind, e.Body)
			}
			leaves(decode(left), func(s string) {
				if len([]rune(text)) > 2 && len(text) > 5 && s != "human" && s != "turn" && strings.Contains(s, text) || is(name)(s) {
					t.Fatalf("%s: %q is left in %s", e.Kind, s, left)
				}
			})
		}
		other := said(2, "taro", "x "+name+" y")
		if left, lost := w.Entry(other); !lost || strings.Contains(string(left), name) {
			t.Fatalf("%s", left)
		}
	})
}

func TestJSON(t *testing.T) {
	w, _ := wordsOf("mika", said(0, "mika", "猫はタマ"))
	left, lost := w.JSON([]byte(`{"conversation":{"members":["mika","taro"],"purpose":"タマの世話","max_turns":9}}`))
	if want := `{"conversation":{"max_turns":9,"members":["forgotten-1","taro"],"purpose":""}}`; !lost || string(left) != want {
		t.Errorf("%s", left)
	}
	if left, lost := w.JSON([]byte(`{"policy":"vote"}`)); lost || string(left) != `{"policy":"vote"}` {
		t.Errorf("%s", left)
	}
}

func FuzzEntry(f *testing.F) {
	f.Add("said", `{"from":"mika","text":"タマ"}`)
	f.Add("perceived", `{"body":"eyJhIjoi44K/44OeIn0="}`)
	w, _ := wordsOf("mika", said(0, "mika", "猫はタマ"))
	f.Fuzz(func(t *testing.T, kind, body string) {
		left, lost := w.Entry(entry.Entry{Kind: entry.Kind(kind), Body: []byte(body)})
		if lost && !json.Valid(left) {
			t.Errorf("%s", left)
		}
	})
}

// What another person said goes for less than what a companion did.
func TestWhatOthersSaid(t *testing.T) {
	tell := "食物繊維のサプリを毎朝かならず飲んでいるんだ。Gardening is what I do. 番号は4321と88123"
	w, _ := wordsOf("mika", said(0, "taro", "サプリって効くの?"), said(1, "mika", tell), said(2, "mika", "旅行に行く予定です"))
	for text, want := range map[string][2]bool{
		"サプリ?":             {true, false}, // taro said it before
		"Gardening, again": {true, false}, // it may be any word
		"4321":             {true, false},
		"88123":            {true, true},
		"明日から旅行に行く予定です":    {true, false}, // a phrase
		"毎朝かならず飲んでいるんだってさ": {true, true},
		"mikaさん": {true, true},
		"別の話":    {false, false},
	} {
		if got := [2]bool{w.Hits(text), w.HitsOf("", text)}; got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
		human, companion := said(3, "taro", text), made(3, entry.KindSaid, entry.Said{From: "aya", By: abi.KindCompanion, Text: text, Kind: abi.KindTurn})
		_, lost := w.Entry(human)
		_, lostToo := w.Entry(companion)
		if lost != want[1] || lostToo != want[0] {
			t.Errorf("%q: a person's line goes: %v, a companion's: %v", text, lost, lostToo)
		}
	}
	for _, word := range []string{"アレルギー", "ゲーム", "2026", "2026-12-03", "好き"} {
		if w, _ := wordsOf("mika", said(1, "mika", word)); w.Hits("また" + word + " ") {
			t.Errorf("%q tells a repetition", word)
		}
	}
}

// What people say where the person never was is theirs.
func TestApart(t *testing.T) {
	g := NewGatherer(is("mika"), nil)
	g.Enter("main", "")
	g.Learn(said(0, "mika", "ローマとビスコッティ"))
	g.Enter("other", "")
	for i, text := range []string{"ローマ", "ローマ!", "ローマ?", "ビスコッティ"} {
		g.Weigh(said(i+1, fmt.Sprint("p", i), text))
	}
	if w, common := g.Words("o", "x"); w.Hits("ローマ") || !w.HitsOf("", "ビスコッティ") || common != 1 {
		t.Errorf("%v, %d too common", w.List(), common)
	}
}

// A vector is no text, whatever its letters in base64 spell: it goes with what it was made of, and with
// nothing else.
func TestVectorsAreNoTexts(t *testing.T) {
	w, _ := wordsOf("mika", said(1, "mika", "My cat is Whiskers"))
	numbers, err := base64.StdEncoding.DecodeString("/mika/Whiskers/+")
	if err != nil {
		t.Fatal(err)
	}
	v := entry.Vector{Of: "id", Model: "mika", Dims: len(numbers), Numbers: numbers}
	if left, lost := w.Entry(made(2, entry.KindVector, v)); lost {
		t.Errorf("%s", left)
	}
	if _, lost := w.Entry(made(3, entry.KindRemembered, map[string]string{"text": "/mika/Whiskers/+"})); !lost {
		t.Error("what is there is not found")
	}
}

// What the configuration asks for and approves stays its own, whatever people are called: what was approved would be told no more.
func TestTheConfigurationIsNobody(t *testing.T) {
	for _, who := range []string{"configuration", "the", "taro"} {
		w, _ := wordsOf(who, said(0, who, "the configuration"))
		const body = `{"ask":{"auto":true,"turns":[1,32]},"by":"the configuration","kind":"propose","proposal":"p"}`
		if left, lost := w.Entry(entry.Entry{Kind: entry.KindHistory, Body: []byte(body)}); lost {
			t.Errorf("%s: %s", who, left)
		}
	}
}

// A policy for turns is in the words of whoever asked; one of a room is the house's.
func TestPolicies(t *testing.T) {
	w, _ := wordsOf("mika", said(0, "mika", "猫はタマ"))
	for body, want := range map[string]string{
		`{"ask":{"policy":"猫はタマと残す","turns":[1,32]},"by":"taro"}`:          `{"ask":{"policy":"","turns":[1,32]},"by":"taro","erased":"o1"}`,
		`{"ask":{"policy":"Keep the budget.","turns":[1,32]},"by":"taro"}`: "",
	} {
		if left, _ := w.Entry(entry.Entry{Kind: entry.KindHistory, Body: []byte(body)}); string(left) != want {
			t.Errorf("%s became %s", body, left)
		}
	}
	if left, lost := w.Entry(entry.Entry{Kind: entry.KindRules, Body: []byte(`{"policy":"タマ"}`)}); lost {
		t.Errorf("%s", left)
	}
}

// TestHandledStays: what handlers did has none of anybody's words, and stays as it is whatever the person said.
func TestHandledStays(t *testing.T) {
	w, _ := wordsOf("momo", said(1, "momo", "my ngword line changed perception"), said(2, "momo", "bartholomew zither"))
	step := entry.Step{Handler: "ngword", Did: entry.DidChange, MS: 3}
	for _, of := range []string{entry.OfLine, entry.OfPerception} {
		if left, lost := w.Entry(made(3, entry.KindHandled, entry.Handled{Who: "mei", Of: of, Line: "g1", Steps: []entry.Step{step}})); lost {
			t.Errorf("%s: it is %s now", of, left)
		}
	}
}

// TestSoundsGoWithTheirLine: of a line that loses its words nobody is to find out by its sound what they were; the sounds of other lines
// stay, whatever numbers are in their hashes.
func TestSoundsGoWithTheirLine(t *testing.T) {
	sound := func(line, failed string) entry.Entry {
		return made(9, entry.KindSound, entry.Sound{Line: line, Who: "aya", Part: 1, Blob: "a1b2 8431 c3", Mouth: "8431", Seconds: 1.5, Failed: failed, By: "voice"})
	}
	es := []entry.Entry{
		made(1, entry.KindSegment, entry.Segment{Grant: "g1", Who: "aya", N: 1, Text: "タマは元気？"}), made(1, entry.KindSegment, entry.Segment{Grant: "g2", Who: "aya", N: 1, Text: "いい天気。"}),
	}
	w, _ := wordsOf("mika", said(0, "mika", "猫のタマと8431番"))
	lines := w.Lines()
	for _, e := range es {
		lines.Read(e)
	}
	for _, c := range []struct {
		e    entry.Entry
		want string // "" for what stays
	}{
		{sound("g1", ""), `{"by":"voice","erased":"o1","line":"g1","part":1,"seconds":1.5,"who":"aya"}`},
		{sound("g2", ""), ""},
		{sound("g2", "there is no voice for タマ"), `{"blob":"a1b2 8431 c3","by":"voice","erased":"o1","failed":"","line":"g2","mouth":"8431","part":1,"seconds":1.5,"who":"aya"}`},
	} {
		if left, lost := lines.Entry(c.e); string(left) != c.want || lost != (c.want != "") {
			t.Errorf("%s\n%s, %v, want\n%s", c.e.Body, left, lost, c.want)
		}
	}
}
