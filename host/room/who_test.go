package room

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
)

// obliging speaks when it is addressed and never else.
func obliging(id string) *actor {
	a := wants_(id, 5)
	a.vote = func(_ context.Context, s abi.Scene) (abi.Vote, error) {
		if s.Addressed {
			return abi.Vote{State: abi.Speak, Importance: 5}, nil
		}
		return abi.Vote{State: abi.Listen}, nil
	}
	return a
}

// TestABareQuestionIsForWhoSpoke: a question that names nobody goes to the companion that
// spoke to this human, across what humans said since, and not to one that spoke to another.
func TestABareQuestionIsForWhoSpoke(t *testing.T) {
	play(t, testRules, []*actor{obliging("aki"), obliging("ben")}, func(s *stage) {
		for _, c := range []struct{ from, text, want string }{
			{"taro", "why?", "[] "},
			{"taro", "Aki, hello", "[aki] call"},
			{"taro", "why do you think so?", "[aki] reply"},
			{"taro", "Ben, what do you think of Aki?", "[ben] call"},
			{"taro", "I saw Aki's video yesterday", "[] "},
			{"taro", "なんで？", "[ben] reply"},
			{"mika", "いい天気だね", "[] "},
			{"taro", "本当に？", "[ben] reply"}, // ben had answered taro
			{"kenji", "hello", "[] "},
			{"mika", "why?", "[] "}, // and not mika
			{"mika", "どう思う？", "[] "},
			{"mika", "akiはどう思う？", "[aki] topic"},
			{"kenji", "how so?", "[aki] reply"}, // it was the newest turn
			{"taro", "@ben hi", "[ben] at"},
			{"taro", "みんなどう思う？", "[] "},
		} {
			s.say(c.from, c.text)
			b := bodies[entry.Said](t, s.entries(), entry.KindSaid)
			i := len(b) - 1
			for b[i].By != abi.KindHuman { // somebody has answered already
				i--
			}
			if fmt.Sprint(b[i].Addressed, " ", b[i].How) != c.want || b[i].Text != c.text {
				t.Errorf("%s, %q: %v by %q, want %s", b[i].From, b[i].Text, b[i].Addressed, b[i].How, c.want)
			}
			time.Sleep(3 * time.Second)
		}
		s.say("taro", "Aki, wait!")
		m := s.say("taro", "why exactly?") // before aki could answer
		if len(m.Addressed) != 1 || m.Addressed[0] != "aki" {
			t.Errorf("%+v", m)
		}
		s.load(obliging("mari")) // and that is still so when somebody comes
		for _, c := range bodies[entry.Cast](t, s.entries(), entry.KindCast) {
			if c.Addressed != nil && len(c.Joined) == 1 && c.Joined[0].ID == "mari" {
				t.Errorf("addressed anew: %v", *c.Addressed)
			}
		}
	})
}

// TestACompanionAsksNobodyInParticular: only a human's bare question is a reply.
func TestACompanionAsksNobodyInParticular(t *testing.T) {
	aki := obliging("aki")
	aki.speak = func(context.Context, abi.Scene) (abi.Line, error) { return abi.Line{Text: "why?"}, nil }
	play(t, testRules, []*actor{aki, obliging("ben")}, func(s *stage) {
		s.say("taro", "Ben, hello")
		time.Sleep(3 * time.Second)
		s.say("taro", "Aki, go on")
		time.Sleep(3 * time.Second)
		b := s.said()
		if last := b[len(b)-1]; last.From != "aki" || len(last.Addressed) > 0 || last.How != "" {
			t.Errorf("%+v", last)
		}
	})
}

// loads is a house in which a companion is still being loaded.
type loads struct{}

func (loads) Loading() []string              { return []string{"kyoko"} }
func (loads) Residents() []string            { return []string{"kyoko", "natsumi"} }
func (loads) Resident(string) (string, bool) { return "", false }
func (loads) Holder(string) (string, bool)   { return "", false }

// TestACallBeforeAllNamesAreKnown: who is called may be the one whose name nobody knows
// yet. It answers; what calls nobody is answered by those who are there.
func TestACallBeforeAllNamesAreKnown(t *testing.T) {
	for text, first := range map[string]string{"キョウコ、聞こえる？": "kyoko", "みんな、聞こえる？": "natsumi"} {
		synctest.Test(t, func(t *testing.T) {
			rules := testRules
			rules.MaxTurns = 1
			s := &stage{t: t, journal: newMemory(), rules: rules, actors: map[string]*actor{"natsumi": wants_("natsumi", 9)}, house: loads{}}
			s.start()
			s.say("taro", text)
			time.Sleep(30 * time.Second)
			kyoko := obliging("kyoko")
			kyoko.names = []string{"キョウコ"}
			s.load(kyoko)
			time.Sleep(30 * time.Second)
			if said := s.texts(); len(said) != 2 || said[1] != first+": "+first+" line 1" {
				t.Errorf("%s: %q", text, said)
			}
			s.finish()
		})
	}
}
