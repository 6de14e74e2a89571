package extract_test

import (
	"strings"
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/memory/extract"
	"github.com/companiond/companiond/host/memory/fact"
	"github.com/companiond/companiond/host/memory/wording"
)

// talk makes turns of "who: words"; aya is the companion and bot an agent.
func talk(lines ...string) (turns []fact.Turn) {
	for i, l := range lines {
		who, text, _ := strings.Cut(l, ": ")
		by := map[string]abi.ParticipantKind{"aya": abi.KindCompanion, "bot": abi.KindAgent}[who]
		if by == "" {
			by = abi.KindHuman
		}
		turns = append(turns, fact.Turn{Room: "main", Seq: uint64(i + 1), From: who, By: by, At: monday.Add(time.Duration(i) * time.Minute), Text: text})
	}
	return turns
}

// facts gives what was found as "who slot value".
func facts(found []fact.New) string {
	var all []string
	for _, n := range found {
		all = append(all, n.SaidBy+" "+n.Slot+" "+n.Value)
	}
	return strings.Join(all, "; ")
}

func TestOnlyPeople(t *testing.T) {
	turns := talk("aya: 私は猫を飼っているよ。名前はアヤです。", "bot: I have a cat. My name is Bot.", "ken: うちで猫を飼ってる")
	if got := facts(extract.Facts(turns, nil)); got != "ken pet:cat 猫" {
		t.Error(got)
	}
}

func TestWholeFact(t *testing.T) {
	got := said("はじめまして!うちの猫の名前はタマだよ。よろしくね。")
	if len(got) != 1 {
		t.Fatalf("%v", got)
	}
	n := got[0]
	if n.Text != "猫の名前はタマ" || n.Quote != "うちの猫の名前はタマだよ。" || n.Kind != abi.MemoryFact || n.How != entry.HowRules || n.SaidBy != "ken" || n.Room != "main" || n.Turns[0] != 7 || !n.SaidAt.Equal(monday) || n.Importance != 4 || len(n.About) != 1 {
		t.Errorf("%+v", n)
	}
	for _, k := range []string{"猫", "cat", "名前", "たま"} {
		if !strings.Contains(strings.Join(n.Keys, " "), k) {
			t.Errorf("keys %q without %s", n.Keys, k)
		}
	}
}

func TestTalks(t *testing.T) {
	for _, c := range []struct {
		name  string
		turns []fact.Turn
		want  string
	}{
		{"a joke taken back", talk("ken: 私は宇宙飛行士です。", "aya: すごい!", "ken: なんて冗談だよ"), ""},
		{"only the turn before", talk("ken: ラーメンが好き。", "ken: 私は宇宙飛行士です。", "ken: just kidding"), "ken taste:ramen likes:ラーメン"},
		{"a name for an answer", talk("aya: お名前は?", "ken: ケンジです"), "ken name ケンジ"},
		{"in English", talk("aya: What's your cat's name?", "ken: Tama."), "ken pet.name:cat Tama"},
		{"a pet's for an answer", talk("aya: 猫ちゃんの名前は?", "ken: タマだよ"), "ken pet.name:cat タマ"},
		{"somebody else's", talk("aya: 妹さんのお名前は?", "ken: ケイです"), ""},
		{"a pet's behind it", talk("ken: ところで猫を飼いはじめたんだ、名前はミケ"), "ken pet.name:cat ミケ"},
		{"in two sentences", talk("ken: うちで犬を飼ってるよ。名前はポチだよ。"), "ken pet:dog 犬; ken pet.name:dog ポチ"},
		{"a friend's", talk("ken: 友達が猫を飼いはじめた。名前はミケ"), ""},
		{"with something between", talk("ken: 猫を飼いはじめた。妹が来た。名前はハナ"), ""},
		{"an answer to nothing", talk("aya: こんにちは。", "ken: ケンジです"), ""},
		{"of a sister, with no subject", talk("ken: 妹がいるよ。12歳だよ。"), "ken family:sister 妹"},
		{"oneself again", talk("ken: 妹は12歳。僕は20歳です。"), "ken age 20"},
		{"asked of a sister", talk("aya: 妹さんは何歳?", "ken: 12歳だよ。"), ""},
		{"put right", talk("ken: 猫の名前はミケだよ。", "ken: ごめん、ミケじゃなくてタマ。"), "ken pet.name:cat ミケ; ken pet.name:cat タマ"},
		{"put right in English", talk("ken: My dog's name is Rex.", "aya: Max is a good boy.", "ken: No, it's Rexy, not Rex."), "ken pet.name:dog Rex; ken pet.name:dog Rexy"},
		{"put right, of what?", talk("ken: タマじゃなくてミケ。"), ""},
		{"a plan is moved", talk("ken: 来週の土曜に試験がある。", "ken: 試験は12月12日に変わった。"), "ken plan:exam 2026-12-05:試験; ken plan:exam 2026-12-12:試験 変"},
		{"a plan is off", talk("ken: 来週の土曜に沖縄へ行く。", "ken: 沖縄は中止になった。"), "ken plan:沖縄 2026-12-05:沖縄; ken plan:沖縄 off"},
		{"what is past is no plan", talk("ken: 昨日、試験があった。"), ""},
		{"a friend's plan", talk("ken: 友達が明日試験を受ける。"), ""},
	} {
		got := extract.Facts(c.turns, nil)
		if facts(got) != c.want {
			t.Errorf("%s: %q, want %q", c.name, facts(got), c.want)
		}
	}
}

func TestCorrectsWhatIsKnown(t *testing.T) {
	known := []fact.Fact{{Slot: "pet.name:cat", Value: "ミケ", Memory: abi.Memory{ID: "a", Kind: abi.MemoryFact, SaidBy: "ken", Keys: []string{"猫"}}},
		{Slot: "pet.name:dog", Value: "ポチ", Memory: abi.Memory{ID: "b", Kind: abi.MemoryFact, SaidBy: "mari"}}}
	got := extract.Facts(talk("ken: ミケじゃなくてタマだよ。"), known)
	if len(got) != 1 || got[0].Slot != "pet.name:cat" || got[0].Value != "タマ" || got[0].Corrects[0] != "ミケ" || got[0].Text != "猫の名前はタマ" {
		t.Errorf("%+v", got)
	}
	if got := extract.Facts(talk("ken: ポチじゃなくてタロだよ。"), known); len(got) != 0 {
		t.Errorf("ken put mari's dog right: %+v", got)
	}
}

func TestRemember(t *testing.T) {
	for text, want := range map[string]string{
		"ケンに3000円貸してるの、覚えておいて。":                         "ケンに3000円貸してるの",
		"鍵は植木鉢の下にあるよ。覚えておいて。":                           "鍵は植木鉢の下にあるよ",
		"Remember that the spare key is under the mat.": "the spare key is under the mat",
		"猫の名前はタマだよ、覚えておいてね":                             "猫の名前はタマ",
	} {
		got := said(text)
		if len(got) != 1 || got[0].Text != want || got[0].Importance != 5 {
			t.Errorf("%q: %+v", text, got)
		}
	}
}

func TestEpisode(t *testing.T) {
	turns := talk("ken: 沖縄のシュノーケリングってどう?", "aya: いいね!", "mari: シュノーケリングしたい", "ken: 沖縄はいつがいいかな", "mari: 夏かな", "ken: <script>")
	n, ok := extract.Episode(turns, map[string]string{"aya": "アヤ"})
	if !ok || n.Kind != abi.MemoryEpisode || n.Text != "2026-11-23: ken、mariと、シュノーケリング、沖縄の話をした" || n.Quote != "" || n.SaidBy != "" || len(n.About) != 2 || len(n.Turns) == 0 {
		t.Errorf("%v %+v", ok, n)
	}
	n, ok = extract.Episode(talk("mika: Aya, my cats are loud.", "aya: Oh!", "mika: Mika here, with biscuit number 5.", "mika: Kyoto was nice.", "mika: the cat again, aya", "mika: In Kyoto, Yuki ate."), map[string]string{"mika": "Mika", "aya": "Aya"})
	if !ok || n.Text != "2026-11-23: talked with Mika about Kyoto, cats" {
		t.Errorf("%v %q", ok, n.Text)
	}
	for _, pieces := range [][]string{{"ken: 京都に行ってきた", "ken: 大阪にも行ってきた", "ken: ラーメン食べた", "ken: うどんも食べたし、楽しかった"}, {"ken: We went down.", "ken: It went well.", "ken: Then I sat down.", "ken: I took it back."}} {
		if n, ok := extract.Episode(talk(pieces...), nil); ok {
			t.Errorf("pieces of verbs: %q", n.Text)
		}
	}
	n, ok = extract.Episode(talk("ken: 京都に行ってきた。", "ken: 京都でラーメンを食べた。", "mari: ラーメン食べたい", "mari: 楽しかった?"), nil)
	if !ok || n.Text != "2026-11-23: ken、mariと、ラーメン、京都の話をした" {
		t.Errorf("%v %q", ok, n.Text)
	}
	table := fact.NewTable(0)
	if _, _, err := table.Add(n, "", "e", monday); err != nil {
		t.Error(err)
	}
	if _, ok := extract.Episode(talk("ken: 沖縄", "aya: 沖縄"), nil); ok {
		t.Error("two lines are no talk")
	}
	if _, ok := extract.Episode(nil, nil); ok {
		t.Error("nothing is no talk")
	}
	if n, ok := extract.Episode(talk("ken: biscuit", "ken: number", "ken: yuki", "ken: rain", "ken: stone"), nil); ok {
		t.Errorf("words that were said once: %q", n.Text)
	}
}

// FuzzFacts: whatever people say, each fact rests on words that they said, and is one that a
// table takes.
func FuzzFacts(f *testing.F) {
	f.Add("猫の名前は?", "うちの猫の名前はタマだよ。来週の土曜に沖縄へ行く、覚えておいて!")
	f.Add("What's your name?", "My name's Ken, I'm 30 and I love jazz. I have an exam tomorrow. Remember that.")
	f.Add("ミケ?", "違うよ、猫はミケじゃなくて「タマ」。I'm allergic to \x00 nuts")
	f.Add("", "名前はＫＥＮです 僕の好きな色はİ! I'll go on ſunday")
	f.Fuzz(func(t *testing.T, asked, text string) {
		if abi.CheckText("text", text) != nil || len(asked) > 1000 {
			return
		}
		turns := []fact.Turn{{Room: "main", Seq: 1, From: "aya", By: abi.KindCompanion, At: monday, Text: asked}, {Room: "main", Seq: 2, From: "ken", By: abi.KindHuman, At: monday, Text: text}}
		table := fact.NewTable(0)
		for i, n := range extract.Facts(turns, nil) {
			if _, ok := wording.Quoted(n.Quote, text); !ok {
				t.Fatalf("%q is not in %q", n.Quote, text)
			}
			if _, _, err := table.Add(n, text, string(rune('a'+i%26)), monday); err != nil {
				t.Fatalf("%q: %v", text, err)
			}
		}
		extract.Episode(turns, nil)
	})
}
