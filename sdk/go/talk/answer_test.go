package talk

import (
	"slices"
	"strings"
	"testing"

	"github.com/companiond/companiond/abi"
	companion "github.com/companiond/companiond/sdk/go"
	"github.com/companiond/companiond/sdk/go/talk/person"
	"github.com/companiond/companiond/sdk/go/words"
)

// A person's first words are answered by the act for them.
func TestAPersonIsAnswered(t *testing.T) {
	for says, want := range map[string]string{
		"こんにちは！": "こんにちは！ももだよ！", "おはよう": "おはよう！ももだよ！", "私はタロウです": "タロウさんっていうんだ。", "私はモモです": "同じ名前だね。",
		"あなたは誰ですか？": "ももといいます。", "元気ですか？": "絶好調だよ。", "ありがとう！": "どういたしまして。", "かわいいね": "照れるなあ。", "ばーか": "しょんぼり。",
		"…": "何か言ってよ。", "🐱": "絵文字だけかな。", strings.Repeat("それでね、", 60): "長い話だね。", "量子もつれって何？": "量子もつれは知らないなあ。",
		"ももはどう思う？": "うーん、どうかな。", "猫は好き？": "猫は大好き！", "紅茶はいかが？": "紅茶派かな。", "もう寝るね、おやすみ": "またね！",
		"今日は仕事で疲れた。でも新しい机が届いたんだ。": "「今日は仕事で疲れた」だって！", "こんばんは、量子もつれって何？": "こんばんは！量子もつれは知らないなあ。",
	} {
		c := newChat(t, lively)
		if v := c.hears("taro", says, false); v.State != abi.Speak || v.Importance < wantHuman || v.Importance > wantMost {
			t.Errorf("%q: %+v", says, v)
		}
		if line := c.says(); line.Text != want || len(line.To) > 0 {
			t.Errorf("%q is answered by %q to %q, want %q", says, line.Text, line.To, want)
		}
	}
}

// A person who comes back is known, and one who asks again hears that.
func TestAPersonIsRemembered(t *testing.T) {
	named := strings.Replace(lively, "bye: またね！\n", "", 1)
	c := newChat(t, named)
	for _, step := range []struct{ says, want string }{
		{"私はタロウです", "タロウさんっていうんだ。"}, {"あなたは誰ですか？", "ももといいます。"}, {"で、あなたは誰ですか？", "さっきも言ったけど、ももだよ。"},
		{"おやすみ", "タロウさん、またね！"}, {"こんにちは", "おかえり、タロウさん。会いたかったよ！"},
	} {
		c.hears("taro", step.says, false)
		if line := c.says(); line.Text != step.want {
			t.Errorf("%q is answered by %q, want %q", step.says, line.Text, step.want)
		}
	}
	other := newChat(t, named)
	other.l.KV = c.l.KV // the module starts anew, and in another room
	other.hears("taro", "ばいばい", false)
	if line := other.says(); line.Text != "タロウさん、またね！" {
		t.Errorf("it forgot the name: %q", line.Text)
	}
}

// A name alone is one when a companion has just asked for it.
func TestABareName(t *testing.T) {
	for asked, want := range map[string]string{"お名前を聞いてもいい？": "ハナコ", "Hm, your name?": "ハナコ", "猫は好き？": "", "お名前、すてきだね。": ""} {
		c := newChat(t, lively)
		c.put("taro", "こんにちは")
		c.hears("aya", asked, false)
		c.hears("taro", "ハナコ", false)
		if got := person.Known(host(c), "taro").Name; got != want {
			t.Errorf("after %q it takes the name for %q", asked, got)
		}
	}
}

// host reads a character's store as the character does.
func host(c *chat) (h *companion.Host) {
	probe := companion.NewLocal(companion.Character{Name: "Momo", Vote: func(got *companion.Host, _ companion.Scene) companion.Vote {
		h = got
		return companion.Listen("only looking")
	}})
	probe.KV = c.l.KV
	if _, err := probe.Vote(companion.Scene{}); err != nil {
		c.t.Fatal(err)
	}
	return h
}

// How somebody is called, and who is better not called at all.
func TestNameOf(t *testing.T) {
	for _, tc := range []struct {
		is   companion.Member
		want string
	}{
		{companion.Member{ID: "aya", Name: "Aya", Kind: abi.KindCompanion}, "アヤさん"}, // the script knows
		{companion.Member{ID: "ken", Name: "Ken", Kind: abi.KindCompanion}, "Kenさん"},
		{companion.Member{ID: "bot", Kind: abi.KindAgent}, "botさん"},
		{companion.Member{ID: "u1", Name: "花子", Kind: abi.KindHuman}, "花子さん"},
		{companion.Member{ID: "u1", Name: "u1", Kind: abi.KindHuman}, ""}, // no name but an id
		{companion.Member{ID: "u1", Kind: abi.KindHuman}, ""},
		{companion.Member{ID: "u1", Name: "名無し", Kind: abi.KindHuman}, ""},
		{companion.Member{ID: "u1", Name: "ＧＵＥＳＴ", Kind: abi.KindHuman}, ""},
		{companion.Member{ID: "u1", Name: "もも", Kind: abi.KindHuman}, ""},  // like the character itself
		{companion.Member{ID: "u1", Name: "アヤ", Kind: abi.KindHuman}, ""},  // like one it knows
		{companion.Member{ID: "u1", Name: "REI", Kind: abi.KindHuman}, ""}, // like one who is here
	} {
		c := newChat(t, lively)
		c.members = []companion.Member{tc.is, {ID: "rei", Name: "Rei", Kind: abi.KindAgent}}
		c.put(tc.is.ID, "猫と一緒に暮らしている。")
		p := played(t, lively)
		if got := p.nameOf(host(c), p.main, c.scene(false), tc.is.ID); got != tc.want {
			t.Errorf("%+v is called %q, want %q", tc.is, got, tc.want)
		}
	}
}

// A question for another companion is left to it, and one for nobody is not.
func TestAskedOther(t *testing.T) {
	for _, tc := range []struct {
		from, text string
		to         []string
		listens    string // the reason, "" where it wants to speak
	}{
		{"taro", "アヤは猫が好き？", nil, "that was for aya"}, {"taro", "猫は好き？", []string{"aya"}, "that was for aya"},
		{"taro", "アヤは猫が好きなんだ。", nil, ""}, {"taro", "猫は好き？", []string{"momo", "aya"}, ""}, {"aya", "アヤは猫が好き？", nil, ""}, {"taro", "ハナは猫が好き？", nil, ""},
	} {
		c := newChat(t, lively)
		c.members[1].Name, c.members[4].Name = "アヤ", "ハナ"
		c.put(tc.from, tc.text)
		c.l.History[0].To = tc.to
		v, err := c.l.Vote(c.scene(false))
		if err != nil || tc.listens != "" && (v.State != abi.Listen || v.Reason != tc.listens) || tc.listens == "" && v.State != abi.Speak {
			t.Errorf("%s says %q to %q: %+v, %v", tc.from, tc.text, tc.to, v, err)
		}
	}
}

// A line for somebody goes to it, and is not said while it is away.
func TestTargets(t *testing.T) {
	for _, kyoko := range []bool{false, true} {
		c := newChat(t, "name: Momo\ncalls: kyoko=キョウコ aya=アヤ\n[cat]\nask @kyoko: キョウコ、猫は飼わないの？\ntell: {kyoko}は猫に似てる。\nask @aya 液体: {aya}、猫は液体？")
		if kyoko {
			c.members = append(c.members, companion.Member{ID: "kyoko", Name: "Kyoko", Kind: abi.KindCompanion})
		}
		c.put("taro", "猫はいいよ。")
		c.hears("bot", "猫はいいよ。ずっと見ていられる。", false)
		line := c.says()
		if kyoko != (line.Text != "") || kyoko && !strings.Contains(line.Text, "キョウコ") || strings.HasSuffix(line.Text, "？") != slices.Equal(line.To, []string{"kyoko"}) {
			t.Errorf("with kyoko %v: %+v", kyoko, line)
		}
		c.hears("bot", "猫は液体だよ。どこにでも入る。", false)
		if line := c.says(); line.Text != "アヤ、猫は液体？" || !slices.Equal(line.To, []string{"aya"}) {
			t.Errorf("to the word: %+v", line)
		}
	}
}

// Each placeholder has its value, and a line whose placeholder has none is not said.
func TestPlaceholders(t *testing.T) {
	type heard struct{ from, text string }
	cat := []heard{{"taro", "猫の話をしよう。"}}
	for _, tc := range []struct {
		line  string
		heard []heard
		want  string
	}{
		{"{hi}よろしく", []heard{{"taro", "おはよう"}}, "おはよう！よろしく"},
		{"{aya}に聞こう", cat, "アヤさんに聞こう"}, {"{kyoko}に聞こう", cat, ""}, {"{momo}だ", cat, ""}, {"{taro}だ", cat, ""},
		{"{human}、やあ", []heard{{"hana", "猫の話をしよう。"}}, "花子さん、やあ"}, {"{human}、やあ", cat, ""}, {"{human}、やあ", []heard{{"bot", "猫がいる"}}, ""},
		{"{who}はいい", append(cat, heard{"aya", "猫がいる"}), "アヤさんはいい"}, {"{who}はいい", cat, ""},
		{"「{quote}」！", []heard{{"taro", "全体で柔軟に助け合うんだ。"}}, "「全体で柔軟に助け合う」！"}, {"「{quote}」！", []heard{{"taro", "「柔軟に助け合う」と言った"}}, ""}, {"「{quote}」！", cat[:0], ""},
		{"{word}？", []heard{{"taro", "量子もつれって何？"}}, "量子もつれ？"}, {"{word}？", []heard{{"taro", "アヤって何？"}}, ""}, {"{word}？", []heard{{"taro", "そうなの？"}}, ""},
		{"{first}から{last}まで", append(cat, heard{"aya", "音楽もいいな"}), "猫から音楽まで"}, {"{first}まで", cat, "猫まで"}, {"{last}まで", cat, ""},
		{"{first}まで", []heard{{"taro", "抹茶がいい"}}, "お茶まで"}, {"{nonsense}", cat, ""}, {" 素のまま ", cat, "素のまま"},
		{"{who}と{word}と{who}", []heard{{"taro", "{who}って何？"}, {"aya", "さあ"}}, ""}, // what is heard is no placeholder
	} {
		p := played(t, "name: Momo\ncalls: aya=アヤさん\nhuman: {name}さん\ntopic: tea お茶 抹茶\n[*]\nreact: "+tc.line)
		c := newChat(t, lively)
		c.members[4].Name, c.members[1].Name = "花子", "アヤ"
		h := host(c)
		m := p.meet(h, companion.Scene{})
		for i, b := range tc.heard {
			p.hear(m, c.scene(false), companion.Message{Seq: uint64(i + 1), From: b.from, Text: b.text})
		}
		m.derive()
		view := turn{h: h, p: p, m: m, s: c.scene(false), sc: p.main}
		if got, ok := view.fill(p.main.Lines[anyTopic][react][0]); got != tc.want || ok != (tc.want != "") {
			t.Errorf("%q after %q is %q, %v, want %q", tc.line, tc.heard, got, ok, tc.want)
		}
	}
}

// A vote has in it the topic, the speaker before, and how long the character was quiet.
func TestWants(t *testing.T) {
	vote := func(from, text string, addressed bool, before ...string) float64 {
		c := newChat(t, lively)
		for len(before) < 6 {
			before = append([]string{"hana"}, before...)
		}
		c.put("hana", "今日は机が届いたよ。")
		for _, who := range before {
			c.put(who, "机はどこに置くかが大事だよ。")
		}
		c.l.History = append(c.l.History, companion.Message{Seq: 20, ID: "same", From: from, Text: text, To: []string{}, Kind: abi.KindTurn, At: c.at})
		s := c.scene(addressed)
		s.Recent = c.l.History
		v, err := c.l.Vote(s)
		if err != nil {
			t.Fatal(err)
		}
		return v.Importance
	}
	for _, tc := range []struct {
		what       string
		more, less float64
	}{
		{"meant", vote("bot", "机の色は大事。", true), vote("aya", "猫もいるよ。", false)},
		{"a topic it likes", vote("bot", "猫もいるよ。", false), vote("bot", "机の色は大事。", false)},
		{"who it answers", vote("aya", "机の色は大事。", false), vote("bot", "机の色は大事。", false)},
		{"a greeting", vote("taro", "こんにちは、みなさん。", false), vote("taro", "机の色は大事。", false)},
		{"having been quiet", vote("bot", "机の色は大事。", false, "bot", "bot"), vote("bot", "机の色は大事。", false, "momo", "bot")},
	} {
		if tc.more <= tc.less {
			t.Errorf("%s: %.2f is not more than %.2f", tc.what, tc.more, tc.less)
		}
	}
	if got := vote("taro", "机の色は大事。", true); got != wantAddressed {
		t.Errorf("meant: %.2f", got)
	}
	if got := vote("momo", "机の色は大事。", false); got != 0 {
		t.Errorf("its own words: %.2f", got)
	}
}

// Must is for scripts that are part of the program.
func TestMust(t *testing.T) {
	if c := Must(lively, "name: Momo\nlang: en\naliases: momo\n[*]\ngreet: {hi} I am Momo."); c.Name != "Momo" || !slices.Equal(c.Aliases, []string{"もも", "モモ", "momo"}) {
		t.Errorf("%+v", c)
	}
	defer func() {
		if got := recover(); got != "talk: script 2: a second one for \"ja\"" {
			t.Errorf("panic %v", got)
		}
	}()
	Must(lively, lively)
}

// Each language has its script, and a person who changes it is followed.
func TestLanguages(t *testing.T) {
	p := played(t, lively, "name: Momo\nlang: en\n[*]\ngreet: {hi} I am Momo.\nunknown: I never heard of {word}.\nbye: Bye, {human}!\nbye: See you!")
	if len(p.scripts) != 2 || p.main.Lang != words.Japanese {
		t.Fatalf("%+v", p.scripts)
	}
	l := companion.NewLocal(companion.Character{Name: "Momo", Vote: p.vote, Speak: p.speak})
	c := &chat{t: t, l: l, members: newChat(t, lively).members}
	for _, step := range []struct{ says, want string }{
		{"Good morning", "Good morning! I am Momo."}, {"What is Zig?", "I never heard of Zig."}, {"こんばんは", "こんばんは！ももだよ！"}, {"🐱", "絵文字だけかな。"}, {"Goodbye!", "See you!"},
	} {
		c.hears("taro", step.says, false)
		if line := c.says(); line.Text != step.want {
			t.Errorf("%q is answered by %q, want %q", step.says, line.Text, step.want)
		}
	}
}
