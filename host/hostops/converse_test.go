package hostops

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/conversation"
	"github.com/companiond/companiond/host/conversations"
	"github.com/companiond/companiond/host/module"
)

// spoken is conversations that are only asked for.
type spoken struct {
	asked []conversations.Ask
	by    []conversations.Member
	ended []string
	err   error
}

func (s *spoken) Start(_ context.Context, m conversations.Member, a conversations.Ask) (v conversations.View, err error) {
	s.by, s.asked = append(s.by, m), append(s.asked, a)
	v.ID, v.State = "conv_1", conversation.Pending
	return v, s.err
}

func (s *spoken) End(_ context.Context, m conversations.Member, id, final string) (v conversations.View, err error) {
	s.ended = append(s.ended, m.Project+"/"+m.Agent+"/"+id+"/"+final)
	v.ID, v.State = "conv_1", conversation.Terminating
	return v, s.err
}

func (s *spoken) Get(_ context.Context, id string) (v conversations.View, err error) {
	if id != "conv_1" && id != "conv_2" {
		return v, conversation.Refuse(conversation.NotFound, id)
	}
	v.ID, v.Terms.Project = id, map[string]string{"conv_1": "home", "conv_2": "office"}[id]
	return v, nil
}

func (s *spoken) Project(name string) (conversations.Project, bool) {
	agents, ok := map[string][]string{"home": {"aya", "kyoko", "natsumi"}, "garden": {"kyoko"}, "office": {"bob"}}[name]
	return conversations.Project{Name: name, Agents: agents}, ok
}

func (s *spoken) ProjectOf(agent string) (string, error) {
	if agent != "aya" {
		return "", conversation.Refuse(conversation.Invalid, "project: say which")
	}
	return "home", nil
}

// may has the companions of a house ask under their grants.
func may(t Talks, grants ...string) func(who, op, data string) (string, error) {
	calls := module.Grants(func(string) []string { return grants }).Guard(&Ops{Talks: t})
	return func(who, op, data string) (string, error) {
		got, err := calls.HostCall(context.Background(), module.Caller{Companion: who, Room: "main", Op: abi.OpSpeak}, op, json.RawMessage(data))
		return string(got), err
	}
}

// TestACompanionStartsAConversation with what it is granted, as a member of its project.
func TestACompanionStartsAConversation(t *testing.T) {
	s := &spoken{}
	do := may(s, abi.HostConversationStart, abi.HostConversationEnd)
	for data, want := range map[string]conversations.Ask{
		`{"target":"natsumi"}`: {Targets: []string{"natsumi"}},
		`{"target":["natsumi","kyoko"],"purpose":"しりとり","message":"りんご","max_turns":6,"project":"home"}`: {
			Targets: []string{"natsumi", "kyoko"}, Purpose: "しりとり", Text: "りんご", MaxTurns: 6},
	} {
		s.asked, s.by = nil, nil
		got, err := do("aya", abi.HostConversationStart, data)
		if err != nil || got != `{"conversation_id":"conv_1","status":"pending"}` {
			t.Fatalf("%s: %s, %v", data, got, err)
		}
		a := s.asked[0]
		if !slices.Equal(a.Targets, want.Targets) || a.Purpose != want.Purpose || a.Text != want.Text || a.MaxTurns != want.MaxTurns || s.by[0] != (conversations.Member{Project: "home", Agent: "aya"}) {
			t.Errorf("%s asks %+v as %+v", data, a, s.by[0])
		}
	}
	for data, want := range map[string]string{`{"conversation_id":"conv_1","final_message":"またね"}`: "home/aya/conv_1/またね", ``: "home/aya//"} {
		s.ended = nil
		if got, err := do("aya", abi.HostConversationEnd, data); err != nil || got != `{"conversation_id":"conv_1","status":"terminating"}` || !slices.Equal(s.ended, []string{want}) {
			t.Errorf("%s: %s, %v, %q", data, got, err, s.ended)
		}
	}
}

// TestWhatACompanionMayNotStart: nothing reaches the conversations then, and the error says why.
func TestWhatACompanionMayNotStart(t *testing.T) {
	const start, end = abi.HostConversationStart, abi.HostConversationEnd
	all := []string{start, end}
	for name, tc := range map[string]struct {
		grants        []string
		none          bool // no project is configured
		who, op, data string
		code          abi.Code
		says          string
	}{
		"not granted":        {[]string{abi.HostSay}, false, "aya", start, `{"target":"natsumi"}`, abi.CodeDenied, `grant = ["say", "conversation.start"]`},
		"only the other one": {[]string{start}, false, "aya", end, `{}`, abi.CodeDenied, `"conversation.end" is not granted to aya`},
		"no project":         {all, true, "aya", start, `{"target":"natsumi"}`, abi.CodeUnavailable, "conversation.start: there is no project here"},
		"no project, end":    {all, true, "aya", end, ``, abi.CodeUnavailable, "[project.NAME]"},
		"of another project": {all, false, "aya", start, `{"target":"bob","project":"office"}`, abi.CodeDenied, `project: aya is in no project "office"`},
		"of none such":       {all, false, "aya", start, `{"target":"bob","project":"moon"}`, abi.CodeDenied, `[project.moon]`},
		"of several":         {all, false, "kyoko", start, `{"target":"aya"}`, abi.CodeInvalid, "invalid_argument: an argument is wrong (project: say which)"},
		"nobody":             {all, false, "aya", start, `{}`, abi.CodeInvalid, "target: must name"},
		"an empty list":      {all, false, "aya", start, `{"target":[]}`, abi.CodeInvalid, "target: must name"},
		"no id":              {all, false, "aya", start, `{"target":["a b"]}`, abi.CodeInvalid, "target"},
		"a number":           {all, false, "aya", start, `{"target":7}`, abi.CodeInvalid, "target: is neither an id nor a list of ids"},
		"somebody else's":    {all, false, "aya", end, `{"conversation_id":"conv_2"}`, abi.CodeDenied, `"office"`},
		"one there is not":   {all, false, "aya", end, `{"conversation_id":"conv_9"}`, abi.CodeNotFound, "conversation_not_found: "},
	} {
		s := &spoken{}
		var house Talks = s
		if tc.none {
			house = nil
		}
		got, err := may(house, tc.grants...)(tc.who, tc.op, tc.data)
		if abi.CodeOf(err) != tc.code || !strings.Contains(err.Error(), tc.says) || got != "" {
			t.Errorf("%s: %s, %v, want %s: %s", name, got, err, tc.code, tc.says)
		}
		if len(s.asked)+len(s.ended) > 0 {
			t.Errorf("%s: asked %v, ended %v", name, s.asked, s.ended)
		}
	}
}

// TestFaultsOfConversationsForModules: the code of each begins the message, and the border's own code fits its
// status.
func TestFaultsOfConversationsForModules(t *testing.T) {
	codes := map[int]abi.Code{400: abi.CodeInvalid, 401: abi.CodeDenied, 403: abi.CodeDenied, 404: abi.CodeNotFound, 409: abi.CodeConflict}
	for _, f := range conversation.Faults {
		s := &spoken{err: conversation.Refuse(f.Code, "")}
		_, err := may(s, abi.HostConversationStart)("aya", abi.HostConversationStart, `{"target":"natsumi"}`)
		e := abi.AsError(err)
		if e.Code != codes[f.Status] || e.Message != f.Code+": "+f.Text || e.Retry {
			t.Errorf("%s of %d: %+v", f.Code, f.Status, e)
		}
	}
	broken := errors.New("disk")
	if _, err := may(&spoken{err: broken}, abi.HostConversationStart)("aya", abi.HostConversationStart, `{"target":"natsumi"}`); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
}

// TestSoManyStartsAMinute each, whatever becomes of them and wherever they are asked for; the window moves.
func TestSoManyStartsAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &spoken{err: conversation.Refuse(conversation.AlreadyActive, "")}
		do := may(s, abi.HostConversationStart)
		start := func(data string) abi.Code {
			_, err := do("aya", abi.HostConversationStart, data)
			return abi.CodeOf(err)
		}
		for range abi.MaxStarts {
			if code := start(`{"target":"natsumi"}`); code != abi.CodeConflict {
				t.Fatal(code)
			}
			time.Sleep(time.Second)
		}
		_, err := do("aya", abi.HostConversationStart, `{"target":"natsumi"}`)
		if e := abi.AsError(err); e.Code != abi.CodeExhausted || !e.Retry || !strings.Contains(e.Message, "may come in 54s") {
			t.Errorf("%v", err)
		}
		if _, err := do("kyoko", abi.HostConversationStart, `{"target":"aya","project":"home"}`); abi.CodeOf(err) != abi.CodeConflict {
			t.Errorf("another companion: %v", err)
		}
		time.Sleep(54 * time.Second)
		if one, more := start(`{"target":"natsumi"}`), start(`{"target":"natsumi"}`); one != abi.CodeConflict || more != abi.CodeExhausted {
			t.Errorf("a minute after the first: %s, %s", one, more)
		}
		if n := len(s.asked); n != abi.MaxStarts+2 {
			t.Errorf("%d were asked for", n)
		}
	})
}

// TestLinesAreForTheSpeaker: a piece of a line is taken while a line is asked for.
func TestLinesAreForTheSpeaker(t *testing.T) {
	calls := &Ops{}
	for _, op := range []string{abi.OpVote, abi.OpPerceive, abi.OpResult, abi.OpDescribe} {
		if _, err := calls.HostCall(context.Background(), module.Caller{Op: op}, abi.HostSay, []byte(`{"text":"x"}`)); abi.CodeOf(err) != abi.CodeDenied {
			t.Errorf("say while %s: %v", op, err)
		}
	}
}
