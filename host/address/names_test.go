package address

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/waittest"
)

// cast is a room with names in every script. mika is the human who speaks
// unless a case says otherwise.
var cast = []Member{
	{ID: "aya", Names: []string{"Aya", "あや"}},
	{ID: "kyoko", Names: []string{"Kyoko", "京子", "きょうこ"}},
	{ID: "natsumi", Names: []string{"なつみ", "夏美"}},
	{ID: "nikoni_bot", Names: []string{"Nikoni", "ニコニ"}},
	{ID: "mika", Names: []string{"Mika", "みか", "美香"}},
	{ID: "haruka", Names: []string{"Haruka Sato", "遥", "はるか"}},
	{ID: "r", Names: []string{"R"}},
}

// addressedTable: text -> who, separated by spaces.
var addressedTable = []struct{ text, want string }{
	// English: what is a name and what is not.
	{"Aya, what do you think?", "aya"},
	{"aya what do you think", "aya"},
	{"AYA!", "aya"},
	{"What do you think, Aya?", "aya"},
	{"I like ayaka's songs", ""},
	{"The Himalaya is high", ""},
	{"I met aya_fan there", ""},
	{"open aya.wasm please", ""},
	{"write to aya@example.com", ""},
	{"write to foo@aya.com", ""},
	{"see https://example.com/aya/kyoko for more", ""},
	{"Aya's song is great", ""},
	{"I love *Aya*", "aya"},
	{"_Aya_ is here", ""},
	{"aya2 is a robot", ""},
	{"Ayá is another name", ""},
	{"Ask Haruka Sato about it", "haruka"},
	{"hello there", ""},
	{"", ""},
	{"   ", ""},
	{"r is the speed", ""},
	{"@r is it you", "r"},
	{"nikoni_bot, sing", "nikoni_bot"},
	{"Is Nikoni around?", "nikoni_bot"},
	// English: vocatives are stronger.
	{"Kyoko, did you like Aya's song?", "kyoko"},
	{"Hey Kyoko did you like Aya's song", "kyoko"},
	{"Did you like Aya's song, Kyoko?", "kyoko"},
	{"I think Aya and Kyoko are great", ""},
	{"Aya and Kyoko, shall we start?", "aya kyoko"},
	{"Aya, Kyoko, shall we start?", "aya kyoko"},
	{"Aya, Kyoko and Natsumi, shall we start?", "aya kyoko natsumi"},
	{"I met Kyoko, Aya and Nikoni.", ""},
	{"Thanks Aya! Kyoko was not there.", "aya"},
	{"Kyoko was not there. Aya?", "aya"},
	{"Aya: your turn", "aya"},
	{"Aya-san, have you seen Kyoko?", "aya"},
	{"Is that so, Aya-chan?", "aya"},
	{"Good morning Natsumi, how is Kyoko", "natsumi"},
	{"Hi Aya's brother is Kyoko", ""},
	{"Everyone, let us hear Aya's song", ""},
	{"everyone: start", ""},
	{"Hi all! Kyoko, go on.", "kyoko"},
	{"Thanks everybody", ""},
	{"Kyoko is not here, Aya", "aya"},
	// @names.
	{"@aya what about Kyoko?", "aya"},
	{"@Aya @京子 どう？", "aya kyoko"},
	{"＠あや どう？", "aya"},
	{"@あやさん、京子さんは元気？", "aya"},
	{"@nobody Aya, hello", ""},
	{"@everyone Aya, hello", ""},
	{"@みんな 京子の誕生日です", ""},
	// Japanese: what is a name and what is not.
	{"Ayaさんの話すごいですね", ""},
	{"あやしい人がいる", ""},
	{"あやとりが好き", ""},
	{"アヤしい人がいる", ""},
	{"なつみかんを食べた", ""},
	{"京子園に行った", ""},
	{"東京子ども図書館", ""},
	{"あやまちはだれにもある", ""},
	{"おばけがあやつる", ""},
	{"みかんとみかづき", ""},
	{"あやめの花", ""},
	{"花のあやめ", ""},
	{"夏美味しいもの", ""},
	{"なつみのうたが好き", ""},
	{"京子が笑った", ""},
	{"昨日京子と会った", ""},
	{"昨日あやが来た", ""},
	{"昨日アヤが来た", ""},
	{"それはなつみの本です", ""},
	{"京子様子がおかしいよ", ""},
	{"さあやちゃんおはよう", ""},
	{"あやのさん、こんにちは", ""},
	{"あやかさんは来た？", ""},
	{"まあやちゃん！", ""},
	{"ｱﾔさん、おはよう", "aya"},
	{"Ａｙａさん、おはよう", "aya"},
	{"にこにさん元気？", "nikoni_bot"},
	{"ニコニコしてる", ""},
	{"キョウコさん！", "kyoko"},
	// Japanese: calls.
	{"「あや、どう思う?」", "aya"},
	{"「あやはどう?」", "aya"},
	{"ねえなつみ", "natsumi"},
	{"きょうこちゃん！", "kyoko"},
	{"あやちゃんおはよう", "aya"},
	{"あやー！", "aya"},
	{"なつみぃ、おいで", "natsumi"},
	{"京子さーん", "kyoko"},
	{"京子ちゃーん！あやが呼んでる", "kyoko"},
	{"京子先輩、あやの歌どうでした？", "kyoko"},
	{"あや、京子の話どう思う？", "aya"},
	{"京子の話どう思う、あや？", "aya"},
	{"京子の話どう思う？あや", "aya"},
	{"京子はどう思う？あやの話。", "kyoko"},
	{"あやと京子、どう？", "aya kyoko"},
	{"あやと京子はどう？", "aya kyoko"},
	{"あや、なつみ、京子の話聞いた？", "aya natsumi"},
	{"なつみくん、京子くんは？", "natsumi"},
	{"あや おはよう", "aya"},
	{"おはよう あや", "aya"},
	{"おはようなつみ！京子は寝てる", "natsumi"},
	{"聞いてあや！", "aya"},
	{"ありがとうあや", "aya"},
	{"ねえはるかちゃん、聞いて", "haruka"},
	{"遥は？", "haruka"},
	{"「あや」っていい名前だね", ""},
	{"はなつみさん、どうも", ""},
	{"うわ、はなつみさん、どうも", ""},
	{"ねえのなつみさん、どうも", ""},
	{"あやもさん、どうも", ""},
	{"あやはちゃんと来る？", "aya"},
	{"あやがさんぽしてる", ""},
	{"あや♪ 京子の歌だよ", "aya"},
	{"夏美、起きて", "natsumi"},
	{"あやお姉ちゃん、遊ぼう", "aya"},
	{"Aya、京子が来たよ", "aya"},
	{"ねえAya、聞いて", "aya"},
	{"あやどう思う？京子の歌", "aya"},
	{"どう思うあや？", "aya"},
	{"なつみどこ？", "natsumi"},
	{"京子氏いわく", ""},
	{"なつみたん萌え", ""},
	{"京子様おはよう", "kyoko"},
	{"あやよりなつみがいい", ""},
	{"あや・なつみ・京子、集合！", "aya kyoko natsumi"},
	{"Rさん、どう", "r"},
	{"あやが…京子ちゃん、助けて！", "kyoko"},
	{"昨日は京子さん、あやの歌を歌ってた", "kyoko"},
	{"京子の話だよ Aya", "aya"},
	{"京子と「あや」が好き", ""},
	// Known limits, held so that a change is seen.
	{"あや元気？", "aya"},
	{"すごいあや", ""},
	{"はるか、遠い国", "haruka"},
	{"Tell Aya, Kyoko", "kyoko"},
	// Japanese: everybody.
	{"みんな、おはよう", ""},
	{"みんなはどう思う？", ""},
	{"全員、あやの話を聞いて", ""},
	{"みなさん、京子さんの歌です", ""},
	{"みんな聞いて、あやちゃん、歌って", "aya"},
	{"二人ともどう思う？", ""},
	{"あや、なつみ、二人ともどう？", "aya natsumi"},
	// The speaker (mika) is never addressed.
	{"みかです。よろしく", ""},
	{"みか、がんばる！京子の分も", ""},
	{"Mika here, hi Aya", "aya"},
	{"@mika @mika", ""},
}

func addressed(from, text string, to ...string) string {
	return strings.Join(meantIn(cast, abi.Message{From: from, To: to, Text: text}), " ")
}

// TestAddressedFromText holds the rule in Addressed's comment.
func TestAddressedFromText(t *testing.T) {
	if n := len(addressedTable); n < 80 {
		t.Fatalf("%d cases, want at least 80", n)
	}
	for _, c := range addressedTable {
		if got := addressed("mika", c.text); got != c.want {
			t.Errorf("%q: got [%s], want [%s]", c.text, got, c.want)
		}
	}
}

func TestAddressedByTo(t *testing.T) {
	for _, c := range []struct {
		to         []string
		text, want string
	}{
		{[]string{"aya"}, "Kyoko, hello", "aya"},
		{[]string{"京子"}, "", "kyoko"},
		{[]string{"キョウコ", "AYA"}, "", "aya kyoko"},
		{[]string{"京子さん"}, "", "kyoko"},
		{[]string{"Aya-san"}, "", "aya"},
		{[]string{"@aya"}, "", "aya"},
		{[]string{" aya "}, "", "aya"},
		{[]string{"aya", "aya", "あや"}, "", "aya"},
		{[]string{"ghost", "aya"}, "", "aya"},             // an invented id is ignored
		{[]string{"ghost"}, "Kyoko, hello", "kyoko"},      // and alone decides nothing
		{[]string{"", "-", "@"}, "Kyoko, hello", "kyoko"}, // nor does rubbish
		{[]string{"everyone"}, "Kyoko, hello", ""},        // said to all
		{[]string{"みんな"}, "Kyoko, hello", ""},
		{[]string{"みんな", "aya"}, "Kyoko, hello", "aya"},
		{[]string{"mika"}, "Kyoko, hello", "kyoko"}, // the speaker itself
		{[]string{"ayak"}, "", ""},
	} {
		if got := addressed("mika", c.text, c.to...); got != c.want {
			t.Errorf("to %q, text %q: got [%s], want [%s]", c.to, c.text, got, c.want)
		}
	}
}

// TestAddressedLongerNameHides: a name inside a longer one is not called, also
// when the longer one is the speaker's.
func TestAddressedLongerNameHides(t *testing.T) {
	members := []Member{{ID: "aya", Names: []string{"あや"}}, {ID: "ayaka", Names: []string{"あやか"}}, {ID: "aya-2"}}
	for _, c := range []struct{ from, text, want string }{
		{"x", "あやか、どう？", "ayaka"},
		{"x", "あや、どう？", "aya"},
		{"ayaka", "あやか、がんばる", ""},
		{"x", "aya-2, go", "aya-2"},
		{"x", "aya, go", "aya"},
		{"x", "あやとあやか、どう？", "aya ayaka"},
	} {
		if got := strings.Join(meantIn(members, abi.Message{From: c.from, Text: c.text}), " "); got != c.want {
			t.Errorf("%s says %q: got [%s], want [%s]", c.from, c.text, got, c.want)
		}
	}
}

// TestAddressedSharedName: members that share a name are addressed alike.
func TestAddressedSharedName(t *testing.T) {
	members := []Member{{ID: "b", Names: []string{"Aya"}}, {ID: "a", Names: []string{"アヤ", "Aya"}}, {ID: "c", Names: []string{"Kyoko"}}}
	for _, text := range []string{"Aya, how is Kyoko?", "@aya hi", "Hey Aya"} {
		if got := meantIn(members, abi.Message{From: "x", Text: text}); !slices.Equal(got, []string{"a", "b"}) {
			t.Errorf("%q: got %q", text, got)
		}
	}
	if got := meantIn(nil, abi.Message{Text: "Aya"}); got != nil {
		t.Errorf("no members: got %q", got)
	}
}

// TestAddressedIsQuick: nobody can write a text that keeps a room busy (law 6).
func TestAddressedIsQuick(t *testing.T) {
	members := append(slices.Clone(cast), Member{ID: "ー"}, Member{ID: "x", Names: []string{"て", "か", "の", "あ", " "}})
	for _, unit := range []string{"あや", "てあ", "ー", "あやー", "@aya ", "://", "aya,", " ", "か\u3099", "あやと", "さーん", "ﷺ", "「あや」", "ねえ"} {
		text := strings.Repeat(unit, abi.MaxText/len(unit))
		start := time.Now()
		Meant(abi.Message{From: "mika", Text: text, To: slices.Repeat([]string{strings.Repeat(unit, 20)}, abi.MaxTo)}, members, "")
		if d := time.Since(start); waittest.Late(d, 3*time.Second) { // 10 to 50 ms
			t.Errorf("16 KiB of %q took %v", unit, d)
		}
	}
}

// FuzzAddressed: never a panic, and every answer is a member, sorted, once,
// and not the speaker.
func FuzzAddressed(f *testing.F) {
	for _, c := range addressedTable {
		f.Add("mika", c.text, "", "あや")
	}
	f.Add("mika", "why? アヤ元気？ does Aya sing", "", "あや")
	f.Add("aya", "ねえ\xff\u3099ー", "京子さん", "ー")
	f.Fuzz(func(t *testing.T, from, text, to, alias string) {
		members := append(slices.Clone(cast), Member{ID: "extra", Names: []string{alias, to}}, Member{ID: alias})
		got, how := Meant(abi.Message{From: from, Text: text, To: []string{to}}, members, alias)
		if (len(got) == 0) != (how == "") {
			t.Fatalf("%q by %q", got, how)
		}
		if !slices.IsSorted(got) || len(slices.Compact(slices.Clone(got))) != len(got) {
			t.Fatalf("not sorted or not once each: %q", got)
		}
		for _, id := range got {
			if id == from || !slices.ContainsFunc(members, func(m Member) bool { return m.ID == id }) {
				t.Fatalf("%q says %q: %q is the speaker or no member", from, text, id)
			}
		}
		again, _ := Meant(abi.Message{From: from, Text: text, To: []string{to}}, members, alias)
		if !slices.Equal(got, again) {
			t.Fatalf("%q and then %q", got, again)
		}
	})
}

func TestSame(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{{"あや", "アヤ", true}, {"ｱﾔ", "あや", true}, {"Ａya", "aYA", true}, {"", " ", true}, {"あや", "あやか", false}, {"aya", "あや", false}} {
		if Same(c.a, c.b) != c.want || Same(c.b, c.a) != c.want {
			t.Errorf("%q and %q: want %v", c.a, c.b, c.want)
		}
	}
}

// BenchmarkAddressed measures an ordinary message in a full room.
func BenchmarkAddressed(b *testing.B) {
	m := abi.Message{From: "mika", Text: "ねえ京子ちゃん、昨日のあやの歌すごかったよね。Nikoniはどう思った？"}
	b.ReportAllocs()
	for b.Loop() {
		Meant(m, cast, "")
	}
}

// meantIn asks whom a message is meant for where nobody spoke before.
func meantIn(members []Member, m abi.Message) []string {
	who, _ := Meant(m, members, "")
	return who
}
