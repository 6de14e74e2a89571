package prompt

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/model"
)

// emo has an action speak that says how.
const emo = `{"name": "ニコニ立体ちゃん", "language": "ja", "actions": [
	{"title": "speak", "description": "話します。", "properties": {"message": {"type": "string"}, "emotion": {"type": "string", "enum": ["joy", "anger"]}}, "required": ["message"]},
	{"title": "move", "properties": {"x": {"type": "number"}}}],
	"perceptions": [{"title": "input"}], "events": [{"perception": "input", "action": ["move"], "condition": "asked to"}]}`

func speaks(message, emotion string) model.ToolCall {
	args, _ := json.Marshal(map[string]string{"message": message, "emotion": emotion})
	return tool("speak", string(args))
}

// A character with the floor may say how its line is said, where its card can tell that;
// no prompt tells of it, for there are models without tools.
func TestSpeakIsOfferedInTurns(t *testing.T) {
	r := load(t, []byte(emo), reply{deltas: []string{"やあ！"}}, reply{deltas: []string{"やあ！"}})
	for from, want := range map[string]string{"taro": "speak move", "aya": "speak"} {
		line, err := r.speak(scene(from, "やあ"))
		if err != nil || line.Text != "やあ！" || line.Parameters != nil {
			t.Errorf("as text: %+v, %v", line, err)
		}
		all := r.models.requests()
		req := all[len(all)-1]
		if names(req.Tools) != want || req.NeedsTools || !strings.HasPrefix(req.Tools[0].Description, "話します。\n") || !strings.Contains(req.Tools[0].Description, "文章で書くだけ") {
			t.Errorf("from %s: %+v", from, req.Tools)
		}
	}
	r = load(t, nikoni(t), reply{deltas: []string{"やあ！"}})
	if _, err := r.speak(scene("aya", "やあ")); err != nil || names(r.models.requests()[0].Tools) != "" {
		t.Errorf("a card with a message alone: %v, %v", names(r.models.requests()[0].Tools), err)
	}
}

// What the model puts into the action is the line, with how it is said; what it wrote as
// text besides is not said twice.
func TestHowALineIsSaid(t *testing.T) {
	const joy = "joy"
	for name, tc := range map[string]struct {
		text       []string // streamed before the actions
		calls      []model.ToolCall
		line, said string // said in pieces
	}{
		"the tool alone":              {nil, []model.ToolCall{speaks("やあ！元気？", joy)}, "やあ！元気？", ""},
		"the same":                    {[]string{"やあ！", "元気？"}, []model.ToolCall{speaks("やあ！元気？", joy)}, "やあ！元気？", "やあ！元気？"},
		"the same, nothing was heard": {[]string{"やあ、元気"}, []model.ToolCall{speaks("やあ、元気？", joy)}, "やあ、元気？", ""},
		"the end of it":               {[]string{"やあ！", "元気？"}, []model.ToolCall{speaks("元気？", joy)}, "やあ！元気？", "やあ！元気？"},
		"more of it":                  {[]string{"やあ！げ"}, []model.ToolCall{speaks("やあ！げんき？", joy)}, "やあ！げんき？", "やあ！げんき？"},
		"much the same":               {[]string{"みんな、今日は来てくれてありがとう！", "うれしい"}, []model.ToolCall{speaks("みんな、今日は来てくれて、ありがとうね！うれしいよ。", joy)}, "みんな、今日は来てくれてありがとう！うれしい", "みんな、今日は来てくれてありがとう！うれしい"},
		"a thought that nobody heard": {[]string{"元気に答えます"}, []model.ToolCall{speaks("やあ！", joy)}, "やあ！", ""},
		"something else":              {[]string{"うん！", "ね"}, []model.ToolCall{speaks("公園に行こう。", joy)}, "うん！ね 公園に行こう。", "うん！ね 公園に行こう。"},
		"and an action":               {nil, []model.ToolCall{tool("move", `{"x":1}`), speaks("着いたよ。", joy)}, "着いたよ。", ""},
		"the last of two":             {nil, []model.ToolCall{speaks("なに？", "anger"), speaks("なんてね。", joy)}, "なに？なんてね。", ""},
	} {
		r := load(t, []byte(emo), reply{deltas: tc.text, calls: tc.calls})
		line, err := r.speak(scene("taro", "公園に行こう"))
		want, _ := json.Marshal(map[string]string{"message": tc.line, "emotion": joy})
		if err != nil || line.Text != tc.line || !same(line.Parameters, want) {
			t.Errorf("%s: %q with %s, %v", name, line.Text, line.Parameters, err)
		}
		if got := strings.Join(r.host.said, ""); got != tc.said {
			t.Errorf("%s: said %q in pieces, want %q", name, got, tc.said)
		}
	}
}

// same holds two JSON objects of texts against each other.
func same(a, b json.RawMessage) bool {
	var x, y map[string]string
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil || len(x) != len(y) {
		return false
	}
	for k := range x {
		if x[k] != y[k] {
			return false
		}
	}
	return true
}

// Words before an action, and the line by a tool behind it, are one line.
func TestHowTheSecondAnswerIsSaid(t *testing.T) {
	r := load(t, []byte(emo), reply{deltas: []string{"行くね。"}, calls: []model.ToolCall{tool("move", `{"x":1}`)}}, reply{calls: []model.ToolCall{speaks("着いたよ！", "joy")}})
	line, err := r.speak(scene("taro", "移動して"))
	if err != nil || line.Text != "行くね。着いたよ！" || !strings.Contains(string(line.Parameters), "行くね。着いたよ！") || strings.Join(r.host.said, "") != line.Text {
		t.Errorf("%+v, %s, %v", line, line.Parameters, err)
	}
}

// In a room that pays, the line is as long as it may be, and how it is said goes with it.
func TestHowAPaidLineIsSaid(t *testing.T) {
	s := scene("taro", "やあ")
	s.Budget = &abi.Budget{Chars: 4}
	r := load(t, []byte(emo), reply{deltas: []string{"えっと"}, calls: []model.ToolCall{speaks("やあ！元気？", "joy")}})
	line, err := r.speak(s)
	if err != nil || line.Text != "やあ！" || !same(line.Parameters, json.RawMessage(`{"message":"やあ！","emotion":"joy"}`)) || len(r.host.said) != 0 {
		t.Errorf("%+v, %s, %v", line, line.Parameters, err)
	}
}

// A model that is asked for a vote with the line behind it may say the line with the tool,
// also where it writes nothing besides.
func TestHowADraftIsSaid(t *testing.T) {
	for text, importance := range map[string]float64{"speak 8 none": 8, "speak 8 none\n": 8, "": judgementImportance} {
		r := load(t, []byte(emo), reply{deltas: []string{text}, calls: []model.ToolCall{speaks("やあ！", "joy")}})
		r.models.inOne = 1
		s := scene("aya", "やあ")
		r.host.history = s.Recent
		v, err := call_[abi.Vote](r, t.Context(), abi.OpVote, s)
		if err != nil || v.State != abi.Speak || v.Importance != importance {
			t.Errorf("%q: %+v, %v", text, v, err)
		}
		line, err := r.speak(s)
		if err != nil || line.Text != "やあ！" || !same(line.Parameters, json.RawMessage(`{"message":"やあ！","emotion":"joy"}`)) || len(r.models.requests()) != 1 {
			t.Errorf("%q: %+v, %s, %v after %d requests", text, line, line.Parameters, err, len(r.models.requests()))
		}
	}
}
