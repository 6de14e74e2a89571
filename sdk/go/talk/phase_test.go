package talk

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/companiond/companiond/abi"
	companion "github.com/companiond/companiond/sdk/go"
	"github.com/companiond/companiond/sdk/go/words"
)

// A talk winds down about half way to its cap, and early enough for the goodbyes,
// whatever the cap is.
func TestPace(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &mind{talk: []beat{{human: true, question: true, text: rapid.String().Draw(t, "opener")}}}
		most := rapid.IntRange(-1, 100).Draw(t, "cap")
		wind, limit := pace(m, companion.Scene{MaxTurns: most}, rapid.String().Draw(t, "room"))
		if most > 0 && limit != most || most <= 0 && limit != usualTurns {
			t.Errorf("a cap of %d is taken for %d", most, limit)
		}
		if wind < 1 || wind > 14 || limit > 9 && wind+8 > limit || limit >= usualTurns && wind < 12 {
			t.Errorf("of %d turns it winds down after %d", limit, wind)
		}
	})
}

// The same words later in a talk never bring a phase back, and neither does a room
// that is further in closing.
func TestPhasesGoOneWay(t *testing.T) {
	stages := []abi.Closing{abi.ClosingNone, abi.ClosingPre, abi.ClosingClosing, abi.ClosingTerminal}
	rapid.Check(t, func(t *rapid.T) {
		last := beat{from: "aya", question: rapid.Bool().Draw(t, "question"), to: rapid.SampledFrom([][]string{nil, {"momo"}}).Draw(t, "to")}
		m := &mind{talk: []beat{{human: true, text: "hi"}, last}, byes: map[string]bool{}}
		turns, later := rapid.IntRange(0, 40).Draw(t, "turns"), rapid.IntRange(0, 10).Draw(t, "later")
		stage, further := rapid.IntRange(0, 3).Draw(t, "stage"), rapid.IntRange(0, 3).Draw(t, "further")
		s := companion.Scene{MaxTurns: rapid.IntRange(0, 40).Draw(t, "cap"), Turns: turns, Closing: stages[stage]}
		before := phaseOf(m, s, "momo", "main")
		s.Turns, s.Closing = turns+later, stages[min(stage+further, 3)]
		if after := phaseOf(m, s, "momo", "main"); after < before {
			t.Errorf("%+v: %d, and before %d", s, after, before)
		}
	})
}

// A phase is read from the room's closing, the turns and the last words.
func TestPhaseOf(t *testing.T) {
	person := beat{human: true, text: "hi"}
	for parting(person, "main") != ending {
		person.seq++
	}
	bye := beat{human: true, text: "bye", intents: map[words.Intent]bool{words.Bye: true}}
	statement, question, forMomo := beat{from: "aya"}, beat{from: "aya", question: true}, beat{from: "aya", question: true, to: []string{"momo"}}
	wind, limit := pace(&mind{talk: []beat{person}}, companion.Scene{}, "main")
	for _, tc := range []struct {
		name  string
		talk  []beat
		turns int
		stage abi.Closing
		want  phase
	}{
		{"a person has just spoken", []beat{person}, limit, abi.ClosingClosing, talking},
		{"a person says goodbye", []beat{bye}, 0, "", leaving}, {"and another agrees", []beat{bye, statement}, 1, "", leaving},
		{"young", []beat{person, statement}, wind - 1, "", talking}, {"half way", []beat{person, statement}, wind, "", ending},
		{"thanks", []beat{person, statement}, wind + 3, "", thanking}, {"leaving", []beat{person, statement}, wind + 5, "", leaving}, {"at the cap", []beat{person, statement}, limit - 3, "", leaving},
		{"a question first", []beat{person, question}, wind + 2, "", talking}, {"but not for ever", []beat{person, question}, wind + 3, "", thanking},
		{"the room winds down", []beat{person, statement}, 1, abi.ClosingPre, thanking}, {"a question in it", []beat{person, question}, 1, abi.ClosingPre, thanking},
		{"a question to it", []beat{person, forMomo}, 1, abi.ClosingPre, talking}, {"the room closes", []beat{person, forMomo}, 1, abi.ClosingClosing, leaving},
		{"it is over", []beat{person, statement}, 1, abi.ClosingTerminal, over},
	} {
		m := &mind{talk: tc.talk, byes: map[string]bool{}}
		if got := phaseOf(m, companion.Scene{Turns: tc.turns, Closing: tc.stage}, "momo", "main"); got != tc.want {
			t.Errorf("%s: %d, want %d", tc.name, got, tc.want)
		}
		m.byes["momo"] = true
		if got := phaseOf(m, companion.Scene{Turns: tc.turns, Closing: tc.stage}, "momo", "main"); got != over {
			t.Errorf("%s, after its goodbye: %d", tc.name, got)
		}
	}
}

// Talks do not all end in the same three steps, and one about nothing ends sooner.
func TestPartings(t *testing.T) {
	began := map[phase]bool{}
	for seq := range uint64(30) {
		began[parting(beat{human: true, text: "hi", seq: seq}, "main")] = true
	}
	if len(began) != 3 || parting(beat{}, "main") != ending {
		t.Errorf("%v", began)
	}
	asked, said := beat{human: true, question: true, text: "hm"}, beat{human: true, text: "hm"}
	long, _ := pace(&mind{talk: []beat{asked}}, companion.Scene{}, "main")
	short, _ := pace(&mind{talk: []beat{said}}, companion.Scene{}, "main")
	if short >= long {
		t.Errorf("a remark is talked about for %d turns, and a question for %d", short, long)
	}
}

// The last companion to say goodbye ends the talk, and so does one with no time left.
func TestTheLastEndsTheTalk(t *testing.T) {
	for _, tc := range []struct {
		byes  string // "aya says goodbye first"
		turns int
		want  abi.Closing
	}{{"", 20, abi.ClosingClosing}, {"aya", 20, abi.ClosingTerminal}, {"", 23, abi.ClosingTerminal}} {
		c := newChat(t, lively)
		c.put("taro", "猫の話をしよう。")
		c.turns = tc.turns
		if tc.byes != "" {
			c.put(tc.byes, "さようなら。")
		}
		v := c.hears("bot", "今日もいい話だった。", false)
		line := c.says()
		if v.Closing != abi.ClosingClosing || line.Closing != tc.want || !words.Intents(line.Text)[words.Bye] {
			t.Errorf("%+v: votes %s, says %+v", tc, v.Closing, line)
		}
		if v := c.hears("bot", "うん。", true); v.State != abi.Listen || v.Closing != abi.ClosingTerminal {
			t.Errorf("%+v, and then %+v", tc, v)
		}
		if line := c.says(); line.Pass != "I have said goodbye" {
			t.Errorf("%+v, and then says %+v", tc, line)
		}
		c.turns = 0
		if v := c.hears("taro", "やっぱり猫の話をしよう。", false); v.State != abi.Speak {
			t.Errorf("%+v, and a person comes back: %+v", tc, v)
		}
	}
}

// A topic of the script's own is a topic in its own lines too, before the room has
// shown them.
func TestOwnTopics(t *testing.T) {
	p := played(t, lively)
	c := newChat(t, lively)
	h := host(c)
	c.put("taro", "こんにちは。")
	m := p.room(h, c.scene(false))
	l := p.main.Lines["tea"][opening][0]
	p.remember(h, c.scene(false), m, l, l.Text, 10)
	c.put("aya", "そうだね。")
	if m = p.room(h, c.scene(false)); m.topic != "tea" || m.depth != 2 || fmt.Sprint(m.used) != "[tea]" {
		t.Errorf("topic %q of %q, for %d messages", m.topic, m.used, m.depth)
	}
}
