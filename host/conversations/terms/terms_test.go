package terms

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/conversation"
)

var rules = Rules{
	Projects: []Project{{"p", []string{"a", "b", "human", "other", "hosted"}}, {"q", []string{"elsewhere", "b"}}},
	Agent: func(id string) (Agent, bool) {
		return Agent{ID: id, Human: id == "human" || id == "other", Hosted: id == "hosted"}, id != "nobody" && id != "person"
	},
	Pending: time.Minute, Idle: time.Hour,
}

func TestTerms(t *testing.T) {
	for _, c := range []struct {
		who    string
		target string
		chat   bool
		person bool
		code   string
		humans []string
	}{
		{who: "a", target: "b"},
		{who: "a", target: "hosted"},
		{who: "a", target: "human", code: conversation.WithHuman},
		{who: "a", target: "human", chat: true, humans: []string{"human"}},
		{who: "human", target: "a", humans: []string{"human"}},
		{who: "human", target: "other", chat: true, code: conversation.WithHuman},
		{who: "person", target: "a", code: conversation.AgentNotFound},
		{who: "person", target: "a", person: true, humans: []string{"person"}},
		{who: "person", target: "elsewhere", person: true, code: conversation.NotInProject},
		{who: "elsewhere", target: "a", code: conversation.NotInProject},
		{who: "a", target: "nobody", code: conversation.AgentNotFound},
		{who: "a", target: "a", code: conversation.WithSelf},
	} {
		got, err := rules.Terms("p", c.who, Ask{Targets: []string{c.target}, Person: c.person}, c.chat)
		var f *conversation.Fault
		if errors.As(err, &f); (f == nil) != (c.code == "") || f != nil && f.Code != c.code {
			t.Errorf("%+v: %v", c, err)
		}
		if err == nil && (!slices.Equal(got.Humans, c.humans) || got.Members[0] != c.who) {
			t.Errorf("%+v: %+v", c, got)
		}
	}
}

func TestBound(t *testing.T) {
	var two, chat conversation.Terms
	chat.Humans = []string{"human"}
	if err := rules.Bound(&two, Ask{}); err != nil || two.MaxTurns != conversation.UsualTurns || two.Pending != 60_000 || two.Idle != 3_600_000 {
		t.Errorf("%+v, %v", two, err)
	}
	if err := rules.Bound(&chat, Ask{Idle: MaxPatience}); err != nil || chat.MaxTurns != 0 || chat.Idle != MaxPatience.Milliseconds() {
		t.Errorf("%+v, %v", chat, err)
	}
	if err := rules.Bound(&conversation.Terms{Members: make([]string, MaxMembers+1)}, Ask{}); err == nil {
		t.Error("a group may be too big")
	}
}

func TestKind(t *testing.T) {
	for _, c := range []struct {
		who    string
		person bool
		want   abi.ParticipantKind
	}{{"a", false, abi.KindAgent}, {"hosted", false, abi.KindCompanion}, {"human", false, abi.KindHuman}, {"person", true, abi.KindHuman}} {
		if got := rules.Kind(c.who, c.person); got != c.want {
			t.Errorf("%s speaks as %s", c.who, got)
		}
	}
	if !rules.Human("p", "human") || rules.Human("q", "human") || rules.Human("p", "a") || rules.Human("none", "human") {
		t.Error("a human is one of its projects alone")
	}
}
