package js_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/module"
	companion "github.com/companiond/companiond/sdk/go"
	"github.com/companiond/companiond/sdk/go/talk"
	"github.com/companiond/companiond/sdk/go/words"
)

// helping is a module that calls the helper it is told to, once for each list of arguments.
const helping = `import * as helpers from "companion";
export const event = ({ call, with: all }) => all.map(args => helpers[call](...args) ?? null);
`

// store is the keys of a character.
type store struct {
	kv     map[string]string
	denies bool
}

func (s *store) HostCall(_ context.Context, _ module.Caller, op string, data json.RawMessage) (json.RawMessage, error) {
	var ask struct {
		Key, Value, Prefix string
		Limit              int
	}
	if err := json.Unmarshal(data, &ask); err != nil {
		return nil, err
	}
	if s.denies {
		return nil, abi.Errorf(abi.CodeExhausted, "no keys today")
	}
	value, found := s.kv[ask.Key]
	switch op {
	case abi.HostKVSet:
		if err := (abi.KVPair{Key: ask.Key, Value: ask.Value}).Check(); err != nil {
			return nil, err
		}
		s.kv[ask.Key] = ask.Value
		return json.RawMessage("{}"), nil
	case abi.HostKVDel:
		delete(s.kv, ask.Key)
	case abi.HostKVList:
		keys := abi.KVKeys{Keys: []string{}}
		for _, key := range slices.Sorted(maps.Keys(s.kv)) {
			if strings.HasPrefix(key, ask.Prefix) && len(keys.Keys) < cmp.Or(ask.Limit, 100) {
				keys.Keys = append(keys.Keys, key)
			}
		}
		return json.Marshal(keys)
	}
	return json.Marshal(abi.KVValue{Found: found, Value: value})
}

// helper calls helpers of one module.
type helper struct {
	t  testing.TB
	m  module.Module
	kv *store
}

func newHelper(t testing.TB) *helper {
	t.Helper()
	kv := &store{kv: map[string]string{}}
	m, err := load(t, newEngine(t, kv), "mio.ts", helping)
	if err != nil {
		t.Fatal(err)
	}
	return &helper{t, m, kv}
}

// all gives what a helper answers to each list of arguments.
func all[T any](h *helper, call string, with [][]any) (answers []T) {
	h.t.Helper()
	data, err := json.Marshal(map[string]any{"call": call, "with": with})
	if err != nil {
		h.t.Fatal(err)
	}
	got, err := h.m.Call(h.t.Context(), abi.Request{Op: abi.OpEvent, Data: data})
	if err == nil {
		err = json.Unmarshal(got, &answers)
	}
	if err != nil || len(answers) != len(with) {
		h.t.Fatalf("%s: %d of %d, %v", call, len(answers), len(with), err)
	}
	return answers
}

// one gives what a helper answers.
func one[T any](h *helper, call string, with ...any) T {
	h.t.Helper()
	return all[T](h, call, [][]any{with})[0]
}

// alike asks a helper about texts, and compares what the function of package words says.
func alike[T any](h *helper, t rapid.TB, call string, texts []string, of func(text string) T) {
	t.Helper()
	with := make([][]any, len(texts))
	for i, text := range texts {
		with[i] = []any{text}
	}
	for i, got := range all[T](h, call, with) {
		if want := of(texts[i]); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s of %q is %v, and in Go %v", call, texts[i], got, want)
		}
	}
}

func compare(h *helper, t rapid.TB, texts []string) {
	t.Helper()
	alike(h, t, "normal", texts, words.Normal)
	alike(h, t, "language", texts, words.Language)
	alike(h, t, "question", texts, words.Question)
	alike(h, t, "topics", texts, words.TopicsOf)
	alike(h, t, "hash", texts, func(text string) uint32 { return words.Hash(text) })
	alike(h, t, "introduced", texts, func(text string) string { name, _ := words.Introduced(text); return name })
	var two [][]any
	for i, text := range texts {
		two = append(two, []any{text, texts[(i+1)%len(texts)]})
	}
	for i, got := range all[float64](h, "similarity", two) {
		if want := words.Similarity(texts[i], two[i][1].(string)); got != want {
			t.Errorf("similarity of %q is %v, and in Go %v", two[i], got, want)
		}
	}
	for i, got := range all[bool](h, "has", two) {
		if want := words.Has(texts[i], two[i][1].(string)); got != want {
			t.Errorf("has of %q is %v, and in Go %v", two[i], got, want)
		}
	}
}

// said are texts that the tables of package words are about, and the edges of them.
var said = []string{
	"", " ", "…", "🐱", "こんにちは！", "Hello, is this p2p?", "ＧＡＭＥ", "ﾈｺとﾊﾞﾅﾅ", "ガチャを回した", "education cats Cat's", "猫は液体ですか", "What is Zig?", "whats up", "tell me", "音楽もゲームも音楽で歌",
	"私はタロウです", "私は学生です", "わたしの名前は花子だよ、よろしく", "タロウと申します", "名前は佐藤", "俺は行くよ", "うちは猫です。ジローと呼んでください！", "my name is Taro", "My name’s O-Ren!", "I'm fine", "i'm taro", "I'm Taro Yamada",
	"call me Ishmael", "I am Ａｙａ", "KELVIN is İstanbul", "ΟΔΟΣ ΣΊΣΥΦΟΣ", "İ'm Taro", "a\u0085b\u00a0c\u3000d\ufeffe", "私の名前は\u3000もも\u3000です", "𠮷野家", "僕は𠮷田です", "か\u3099く", "ß ẞ Ⱥ", "I'm Taro Yamadaß ẞ Ⱥ", "peer to peers", "s", "cats", "ai", "aiな", "雨ai雪",
	"{who}って何？", "名前は", "名前はです", "私は、タロウです", "\x00\x01\x7f", "ー〜~～♪", "コンパニオン・ロボット", "123 ４５６", "ヶヵヷヺヽヿゝゟ", "ｦﾝﾞﾟ",
}

// TestHelpersAnswerAsGo: what the helpers say of a text is what package words says of it: of what its tables are about, of all that the
// characters of the house say, and of anything.
func TestHelpersAnswerAsGo(t *testing.T) {
	h := newHelper(t)
	compare(h, t, said)
	scripts, err := filepath.Glob("../../../characters/*.talk.txt")
	if err != nil || len(scripts) == 0 {
		t.Fatal(scripts, err)
	}
	for _, script := range scripts {
		compare(h, t, strings.Split(mustRead(t, script), "\n"))
	}
	parts := rapid.OneOf(rapid.SampledFrom(said), rapid.SampledFrom([]string{"。", "？", "!", " ", "\n", "s", "は", "です", "私は", "I'm ", "my name is ", "「", "」", "タロウ", "Taro"}), rapid.StringN(0, 6, -1))
	text := rapid.Custom(func(t *rapid.T) string {
		return strings.ToValidUTF8(strings.Join(rapid.SliceOfN(parts, 0, 6).Draw(t, "parts"), ""), "")
	})
	rapid.Check(t, func(t *rapid.T) { compare(h, t, rapid.SliceOfN(text, 1, 20).Draw(t, "texts")) })
}

// TestTopicsOfOnesOwn are found beside the shared ones.
func TestTopicsOfOnesOwn(t *testing.T) {
	h, own := newHelper(t), map[string][]string{"tea": {"お茶", "ＴＥＡ", ""}}
	find := words.NewFinder(append(words.Topics(), words.NewTopic("tea", "お茶", "tea", "お茶", "ＴＥＡ")))
	for _, text := range []string{"お茶と猫", "お茶と猫と子猫", "TEA time", "a team", "猫", ""} {
		if got, want := one[[]string](h, "topics", text, own), find.In(words.Normal(text)); !slices.Equal(got, want) {
			t.Errorf("%q is about %q, and in Go about %q", text, got, want)
		}
	}
}

// TestWhoIsMeant: whom a message is for is what the Go characters make of the same scene.
func TestWhoIsMeant(t *testing.T) {
	h, about := newHelper(t), abi.Request{Op: abi.OpVote, Self: "local", ID: "1", Room: "main"}
	members := []companion.Member{{ID: "local", Kind: abi.KindCompanion, Name: "モモ"}, {ID: "aya", Name: "アヤ", Kind: abi.KindCompanion}, {ID: "taro", Kind: abi.KindHuman}, {ID: "hana", Name: "ハナ", Kind: abi.KindHuman}}
	for _, c := range []struct {
		from, text string
		to         []string
		addressed  bool
		talk       *abi.Conversing
		members    []companion.Member
	}{
		{from: "taro", text: "アヤは猫が好き？"}, {from: "taro", text: "猫は好き？", to: []string{"aya"}}, {from: "taro", text: "アヤは猫が好きなんだ。"}, {from: "taro", text: "アヤは？", addressed: true},
		{from: "taro", text: "猫は好き？", to: []string{"local", "aya"}, addressed: true}, {from: "aya", text: "アヤは猫が好き？"}, {from: "taro", text: "ハナは猫が好き？"}, {from: "taro", text: "猫は？", to: []string{"hana"}},
		{from: "aya", text: "話そう", talk: &abi.Conversing{State: abi.ConversationPending, From: "aya"}}, {from: "aya", text: "話そう", talk: &abi.Conversing{State: abi.ConversationActive, From: "aya"}},
		{from: "aya", text: "話そう", talk: &abi.Conversing{State: abi.ConversationActive, From: "local"}, members: members[:2]},
	} {
		if c.members == nil {
			c.members = members
		}
		s := companion.Scene{Message: companion.Message{Seq: 1, ID: "m", From: c.from, Text: c.text, To: c.to, Kind: abi.KindTurn}, Addressed: c.addressed, Members: c.members, Conversation: c.talk}
		made, err := talk.New("name: Momo\n[*]\nreact: うん\nreact: へえ\nunknown: さあ")
		if err != nil {
			t.Fatal(err)
		}
		v, err := companion.NewLocal(made).Vote(s)
		if err != nil {
			t.Fatal(err)
		}
		other, _ := strings.CutPrefix(v.Reason, "that was for ")
		if other == v.Reason {
			other = ""
		}
		means := v.Reason == "they mean me" || v.Reason == "they invite me"
		if got := one[bool](h, "addressed", s, about); got != means {
			t.Errorf("%s to %q: addressed is %v, and in Go %q", c.text, c.to, got, v.Reason)
		}
		if got := one[string](h, "askedOther", s, about); got != other && !means {
			t.Errorf("%s to %q: asked is %q, and in Go %q", c.text, c.to, got, v.Reason)
		}
	}
	if !one[bool](h, "addressed", abi.Perceiving{Message: companion.Message{Text: "x", To: []string{"local"}}}, about) {
		t.Error("what was sent to it is not for it")
	}
}

// TestVotesOfHelpers are those of package companion.
func TestVotesOfHelpers(t *testing.T) {
	h := newHelper(t)
	for _, much := range []float64{-1, 0, 0.04, 0.05, 5.55, 7.449, 9.96, 10, 1e9} {
		if got, want := one[companion.Vote](h, "want", much, "x"), companion.Want(much, "x"); got != want {
			t.Errorf("want(%v) is %+v, and in Go %+v", much, got, want)
		}
	}
	if got := one[companion.Vote](h, "listen", "x"); got != companion.Listen("x") {
		t.Errorf("%+v", got)
	}
	if got := one[companion.Line](h, "pass", "x"); got.Text != "" || got.Pass != "x" {
		t.Errorf("%+v", got)
	}
}

// TestPeopleAreKnown until they are forgotten; a store that is full costs nothing else.
func TestPeopleAreKnown(t *testing.T) {
	h := newHelper(t)
	if got := one[map[string]any](h, "remember", "taro", map[string]any{"name": "タロウ", "times": 1}); got["name"] != "タロウ" {
		t.Error(got)
	}
	one[any](h, "remember", "taro", map[string]any{"cat": "ミケ"})
	one[any](h, "remember", "hana", map[string]any{"name": "ハナ"})
	want := map[string]string{"human/taro": `{"name":"タロウ","times":1,"cat":"ミケ"}`, "human/hana": `{"name":"ハナ"}`}
	if !maps.Equal(h.kv.kv, want) {
		t.Errorf("%q", h.kv.kv)
	}
	if got := one[map[string]any](h, "known", "taro"); got["cat"] != "ミケ" || got["times"] != 1.0 {
		t.Error(got)
	}
	for n := range 250 { // more than a page of keys
		h.kv.kv[fmt.Sprintf("human/a%d", n)] = "{}"
	}
	one[any](h, "forget", abi.Event{Kind: "weather"})
	one[any](h, "forget", abi.Event{Kind: abi.EventForget, Forget: &abi.Forget{Facts: []string{"m-1"}}})
	one[any](h, "forget", abi.Event{Kind: abi.EventForget, Forget: &abi.Forget{Who: "Ｔaro", Words: []string{"ミケ"}}})
	if h.kv.kv["human/taro"] != "" || len(h.kv.kv) != 251 {
		t.Errorf("%q", h.kv.kv)
	}
	for _, bad := range []string{"[]", "null", "no", "3"} {
		h.kv.kv["human/jiro"] = bad
		if got := one[map[string]any](h, "known", "jiro"); len(got) > 0 {
			t.Errorf("%s: %v", bad, got)
		}
	}
	h.kv.denies = true
	if got := one[map[string]any](h, "remember", "jiro", map[string]any{"name": "ジロー"}); got["name"] != "ジロー" {
		t.Error(got)
	}
	if got := one[map[string]any](h, "known", strings.Repeat("x", 300)); len(got) > 0 {
		t.Error(got)
	}
}

// TestNamesOfHelpers: how somebody is called, and who is better not called at all.
func TestNamesOfHelpers(t *testing.T) {
	h := newHelper(t)
	for _, c := range []struct {
		is    companion.Member
		told  string
		wants string
	}{
		{companion.Member{ID: "aya", Name: "Aya", Kind: abi.KindCompanion}, "", "Aya"},
		{companion.Member{ID: "bot", Kind: abi.KindAgent}, "", "bot"},
		{companion.Member{ID: "u1", Name: "花子", Kind: abi.KindHuman}, "", "花子"},
		{companion.Member{ID: "u1", Name: "花子", Kind: abi.KindHuman}, "ハナ", "ハナ"},
		{companion.Member{ID: "u1", Name: "u1", Kind: abi.KindHuman}, "", ""},
		{companion.Member{ID: "u1", Kind: abi.KindHuman}, "", ""},
		{companion.Member{ID: "u1", Name: "ＧＵＥＳＴ", Kind: abi.KindHuman}, "", ""},
		{companion.Member{ID: "u1", Name: "名無し", Kind: abi.KindHuman}, "ジロー", "ジロー"},
		{companion.Member{ID: "u1", Name: "REI", Kind: abi.KindHuman}, "", ""}, // like one who is here
		{companion.Member{ID: "u1", Name: "x", Kind: abi.KindHuman}, "れい", ""},
	} {
		clear(h.kv.kv)
		if c.told != "" {
			one[any](h, "remember", "u1", map[string]any{"name": c.told})
		}
		s := companion.Scene{Members: []companion.Member{c.is, {ID: "rei", Name: "レイ", Kind: abi.KindAgent}}}
		if got := one[string](h, "nameOf", s, c.is.ID); got != c.wants {
			t.Errorf("%+v is called %q, want %q", c.is, got, c.wants)
		}
	}
	if got := one[string](h, "nameOf", companion.Scene{}, "gone"); got != "" {
		t.Error(got)
	}
}

// TestLinesAreFresh: a line comes again when three quarters of the others have been said, and none that was heard lately, that wants what
// is missing or that the room's pool cannot pay for.
func TestLinesAreFresh(t *testing.T) {
	h, lines := newHelper(t), []string{"一つ目はとても長い台詞です", "二つ目の話をするね", "三つ目には猫が出る", "四つ目、{human}の番"}
	pick := func(room string, n int, s companion.Scene, values any) string {
		t.Helper()
		return one[string](h, "fresh", lines, s, abi.Request{Self: "local", ID: fmt.Sprint("c", n), Room: room}, values)
	}
	var s companion.Scene
	s.Message.Text = "はい"
	human := map[string]string{"human": "タロウ"}
	order := make([]string, 40)
	for n := range order {
		order[n] = pick("main", n, s, human)
		if order[n] == "" || slices.Contains(order[max(0, n-3):n], order[n]) {
			t.Fatalf("%d: %q after %q", n, order[n], order[max(0, n-3):n])
		}
	}
	if slices.Sort(order); len(slices.Compact(order)) != 4 || !slices.Contains(order, "四つ目、タロウの番") {
		t.Errorf("%q", order)
	}
	if strings.Contains(h.kv.kv["said/main"], "タロウ") || len(strings.Fields(h.kv.kv["said/main"])) != 4 {
		t.Errorf("%q", h.kv.kv)
	}
	for n := range 8 {
		if got := pick(fmt.Sprint("new", n), n, s, map[string]string{"human": "{x}"}); got == "" || strings.Contains(got, "番") {
			t.Errorf("%q", got)
		}
	}
	s.Recent = []companion.Message{{Text: "一つ目はとても長い台詞ですよ！"}, {Text: "２つ目の話"}, {Text: "三ツ目ニハ猫ガ出ル"}}
	for n := range 8 {
		if got := pick(fmt.Sprint("heard", n), n, s, nil); got != "二つ目の話をするね" {
			t.Errorf("%q", got)
		}
	}
	s.Recent = nil
	s.Budget = &abi.Budget{Chars: 9, Prices: abi.DefaultPool().Prices}
	for n := range 8 {
		if got := pick(fmt.Sprint("poor", n), n, s, nil); len([]rune(got)) != 9 {
			t.Errorf("%q", got)
		}
	}
	s.Budget.Chars = 2
	if got := pick("poor", 1, s, nil); got != "" {
		t.Errorf("%q", got)
	}
	s.Budget.Chars = -1
	h.kv.denies = true
	if got := pick("full", 1, s, nil); got == "" {
		t.Error("a store that is full costs the line")
	}
}

// TestHelpersNameThePlace: what a helper cannot do with what it is given is told with the place in the maker's file.
func TestHelpersNameThePlace(t *testing.T) {
	e := newEngine(t, &store{kv: map[string]string{}})
	for body, want := range map[string]string{
		"normal(3 as any)":           "TypeError: normal: what it is given is no text (mio.ts:4:",
		"has('a', undefined as any)": "TypeError: has: the word is not given (mio.ts:4:",
		"topics('a', {x: 'y'})":      "TypeError: topics: the words of x is no list (mio.ts:4:",
		"fresh('a', scene, about)":   "TypeError: fresh: what there is to say is no list (mio.ts:4:",
		"fresh([3], scene, about)":   "TypeError: fresh: a line is no text (mio.ts:4:",
		"addressed(scene)":           "TypeError: addressed: it is not told what is known of the call, which an op is given behind its data: vote(scene, about) (mio.ts:4:",
		"addressed({}, about)":       "TypeError: addressed: what it is given is no scene (mio.ts:4:",
		"want('9')":                  "TypeError: want: the importance is no number (mio.ts:4:",
		"want(NaN)":                  "TypeError: want: the importance is no number (mio.ts:4:",
		"known(null)":                "TypeError: known: the id is no text (mio.ts:4:",
		"remember('a')":              "TypeError: remember: what is remembered is not given (mio.ts:4:",
	} {
		m, err := load(t, e, "mio.ts", `import { addressed, fresh, has, known, normal, remember, topics, want, type Scene } from "companion";
const all = [addressed, fresh, has, known, normal, remember, topics, want];
export function vote(scene: Scene, about: any): any {
  return `+body+`;
}`)
		if err != nil {
			t.Fatal(err)
		}
		_, err = m.Call(t.Context(), abi.Request{Op: abi.OpVote, Self: "mio", Data: json.RawMessage(`{"message":{"text":"a","from":"b"}}`)})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v\nwant %s", body, err, want)
		}
	}
	for text, want := range map[string]string{
		"import { nothing } from 'companion'; export function vote() {}": `SyntaxError: Could not find export 'nothing' in module "companion"`,
		"import x from 'companion'; export function vote() {}":           `SyntaxError: Could not find export 'default' in module "companion"`,
		"import { want } from 'companions'; export function vote() {}":   `mio.ts imports "companions"; a file may import files beside it, such as "./words.js", and "companion"`,
	} {
		if _, err := load(t, e, "mio.ts", text+"\nvoid x, want, nothing;"); abi.CodeOf(err) != abi.CodeInvalid || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		} else {
			t.Log(err)
		}
	}
}

// TestHelpersOfTypesAlone: what is imported for its types alone is no import.
func TestHelpersOfTypesAlone(t *testing.T) {
	for _, text := range []string{`import type { Scene } from "companion";`, `import { type Scene } from "companion";`, `import { Scene } from "companion";`} {
		m, err := load(t, newEngine(t, nil), "mio.ts", text+"\nexport const speak = (_: Scene): string => 'hello';")
		if err != nil {
			t.Fatal(err)
		}
		answers(t, m, "speak", "{}", `{"text":"hello"}`)
	}
}
