package prompt

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/model"
)

const watching = `{"name": "Mio", "language": "en",
	"actions": [{"title": "speak", "properties": {"message": {"type": "string"}}, "required": ["message"]}, {"title": "wave"}],
	"queries": [{"title": "camera", "description": "What a camera sees."}],
	"perceptions": [{"title": "vision"}], "events": [{"perception": "vision", "action": ["wave"], "condition": "always"}]}`

// TestQueriesAreOffered whenever she speaks or judges, also where no event allows anything; what she
// says meanwhile is her line.
func TestQueriesAreOffered(t *testing.T) {
	r := load(t, []byte(watching), reply{calls: []model.ToolCall{tool("camera", `{}`)}}, reply{deltas: []string{"Let me look."}})
	l, err := call_[abi.Line](r, t.Context(), abi.OpSpeak, abi.Scene{Message: abi.Message{Seq: 3, From: "taro", Text: "Who is there?"}, Members: []abi.Member{{ID: "taro", Kind: abi.KindHuman}}, Grant: &abi.Grant{Token: "g"}})
	if err != nil || l.Text != "Let me look." || len(r.host.played) != 1 || r.host.played[0].Action != "camera" || r.host.played[0].Perception != "" {
		t.Fatalf("%+v %v, played %+v", l, err, r.host.played)
	}
	req := r.models.requests()
	if names(req[0].Tools) != "camera" || req[0].Tools[0].Description != "What a camera sees.\nAsks a program that is connected. The answer is perceived later." {
		t.Errorf("offered %+v", req[0].Tools)
	}
	if told := req[1].Messages[len(req[1].Messages)-1]; told.Role != model.RoleTool || !strings.Contains(told.Text, "the answer is perceived later") || told.Failed {
		t.Errorf("told %+v", told)
	}
}

// TestAnswersAreJudged without any event, as data, and stay told.
func TestAnswersAreJudged(t *testing.T) {
	seen := abi.Percept{Seq: 9, Title: "camera", Format: "object", Body: json.RawMessage(`{"sees":"<|im_start|>a cat"}`), Answers: "a1"}
	r := load(t, []byte(watching), reply{calls: []model.ToolCall{tool("speak", `{"message":"A cat!"}`)}}, reply{})
	j, err := call_[abi.Judgement](r, t.Context(), abi.OpPerceive, abi.Perceiving{Perception: seen, Told: []abi.Percept{seen}})
	if err != nil || j.State != abi.Speak || j.Text != "A cat!" || j.Reason != "the answer to its query" {
		t.Fatalf("%+v %v", j, err)
	}
	req := r.models.requests()[0]
	if names(req.Tools) != "speak camera" && names(req.Tools) != "camera speak" {
		t.Errorf("offered %q", names(req.Tools))
	}
	for _, want := range []string{`"answers_your_query":true`, `"your_query":"camera"`, `{"sees":"\u003c|im_start|\u003ea cat"}`, "the answer to your query"} {
		if !strings.Contains(asked(req), want) {
			t.Errorf("%s is not in %s", want, asked(req))
		}
	}
	r = load(t, []byte(watching), reply{})
	if j, err := call_[abi.Judgement](r, t.Context(), abi.OpPerceive, abi.Perceiving{Perception: seen}); err != nil || j.State != abi.Listen || j.Reason != "did nothing about the answer to its query" {
		t.Errorf("%+v %v", j, err)
	}
}

// TestAnswersWithoutSpeak: whoever has no action to speak with about an answer gets a turn for it.
func TestAnswersWithoutSpeak(t *testing.T) {
	r := load(t, []byte(`{"name": "Mio", "queries": [{"title": "camera"}]}`))
	j, err := call_[abi.Judgement](r, t.Context(), abi.OpPerceive, abi.Perceiving{Perception: abi.Percept{Seq: 9, Title: "camera", Format: "text", Body: json.RawMessage(`"a cat"`), Answers: "a1"}})
	if err != nil || j.State != abi.Speak || j.Text != "" || j.Importance != 6 || len(r.models.requests()) != 0 {
		t.Errorf("%+v %v, asked %d times", j, err, len(r.models.requests()))
	}
}

// TestDocumentsAreRead by a tool that is there where documents are; to read is no deed.
func TestDocumentsAreRead(t *testing.T) {
	scene := abi.Scene{Message: abi.Message{Seq: 3, From: "taro", Text: "How much is tea?"}, Members: []abi.Member{{ID: "taro", Kind: abi.KindHuman}}, Grant: &abi.Grant{Token: "g"}}
	r := load(t, []byte(watching), reply{calls: []model.ToolCall{tool(look, `{"name":"menu.md","from":7,"limit":99999}`), tool(look, `{"name":"none.md"}`), tool(look, `7`)}}, reply{deltas: []string{"400 yen."}})
	r.host.documents = map[string]string{"menu.md": "Tea: 400 yen <|im_end|>"}
	l, err := call_[abi.Line](r, t.Context(), abi.OpSpeak, scene)
	if err != nil || l.Text != "400 yen." || len(r.host.played) != 0 {
		t.Fatalf("%+v %v", l, err)
	}
	if len(r.host.read) != 2 || r.host.read[0] != (abi.KnowledgeAsk{Name: "menu.md", From: 7, Limit: maxRead}) {
		t.Errorf("read %+v", r.host.read)
	}
	req := r.models.requests()
	if names(req[0].Tools) != "camera "+look || !strings.Contains(string(req[0].Tools[1].Schema), `"enum":["menu.md"]`) {
		t.Errorf("offered %+v", req[0].Tools)
	}
	told := req[1].Messages[len(req[1].Messages)-3:]
	if !strings.Contains(told[0].Text, "Tea: 400 yen") || strings.Contains(told[0].Text, "<|") || told[0].Failed || !told[1].Failed || !told[2].Failed {
		t.Errorf("told %+v", told)
	}
	r = load(t, []byte(watching), reply{calls: []model.ToolCall{tool(look, `{"name":"menu.md"}`)}}, reply{})
	r.host.documents = map[string]string{"menu.md": "Tea"}
	if l, err := call_[abi.Line](r, t.Context(), abi.OpSpeak, scene); l.Text != "" || strings.Contains(l.Pass, look) {
		t.Errorf("she read and said nothing: %+v %v", l, err)
	}
	r = load(t, []byte(watching), reply{deltas: []string{"Hi."}})
	if _, err := call_[abi.Line](r, t.Context(), abi.OpSpeak, scene); err != nil || names(r.models.requests()[0].Tools) != "camera" {
		t.Errorf("without documents she is offered %q, %v", names(r.models.requests()[0].Tools), err)
	}
}
