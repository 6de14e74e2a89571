package layout_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/context/layout"
	"github.com/companiond/companiond/host/context/window"
	"github.com/companiond/companiond/host/model"
	"github.com/companiond/companiond/host/model/tokens"
)

// TestGamesSayWhatTheyLike: whatever a game says of itself and its actions, it stays inside of
// the JSON that it stands in.
func TestGamesSayWhatTheyLike(t *testing.T) {
	m := nikoni(t)
	for _, say := range injections() {
		text, _ := json.Marshal(say)
		schema := fmt.Sprintf(`{"type":"object","title":%s,"properties":{"n":{"type":"integer","maximum":9007199254740993,"description":%[1]s,"enum":[{"description":"stays"}]},"description":{"type":"string"}}}`, text)
		tools := m.Offered([]abi.Offer{{Name: "play", Description: say, Game: say, Schema: json.RawMessage(schema)}}, nil)
		if len(tools) != 1 {
			t.Fatalf("%d tools", len(tools))
		}
		head, data, _ := strings.Cut(tools[0].Description, "{")
		var told struct{ Game, Says string }
		if err := json.Unmarshal([]byte("{"+data), &told); err != nil || told.Game != say || told.Says != say || strings.ContainsAny(data, "\n") || head == "" {
			t.Errorf("%q reads %q: %v", say, tools[0].Description, err)
		}
		got := string(tools[0].Schema)
		var back struct {
			Title      string
			Properties map[string]struct {
				Type        string
				Description string
				Maximum     json.Number
				Enum        []map[string]string
			}
		}
		if err := json.Unmarshal([]byte(got), &back); err != nil || back.Properties["n"].Maximum != "9007199254740993" || back.Properties["n"].Enum[0]["description"] != "stays" || back.Properties["description"].Type != "string" {
			t.Errorf("%s: %v", got, err)
		}
		for _, said := range []string{back.Title, back.Properties["n"].Description} {
			if strings.Contains(said, "<|") || strings.ContainsAny(said, "\n\u2028") {
				t.Errorf("a model reads %q", said)
			}
		}
		tail := m.ForPerceptions(abi.Perceiving{
			Perception: abi.Percept{Title: "force", Format: "text", Body: text, Game: say, Force: &abi.Force{Actions: []string{"play"}, Failed: say}},
			Told:       []abi.Percept{{Body: text, Game: say}},
		}, noon, nil, nil)
		p := m.Build(layout.Parts{Budget: layout.Budget{Context: 8000, Meter: new(tokens.Meter)}, Human: func(string) bool { return false }, Tail: tail})
		if texts, lines := leaves(t, p.Messages); len(lines) != 1 || len(texts) == 0 {
			t.Errorf("lines that are no data: %q", lines)
		}
	}
}

// TestMuchIsOffered: however much games offer and tell, a request fits.
func TestMuchIsOffered(t *testing.T) {
	m := nikoni(t)
	var offers []abi.Offer
	var told []abi.Percept
	for i := range 128 {
		offers = append(offers, abi.Offer{Name: fmt.Sprint("act", i), Description: strings.Repeat("does something. ", 100), Schema: json.RawMessage(`{"type":"object","properties":{"x":{"type":"string","description":"` + strings.Repeat("x ", 500) + `"}}}`)})
		told = append(told, abi.Percept{Game: "g", Body: json.RawMessage(`"` + strings.Repeat("word ", 100) + `"`)})
	}
	for _, context := range []int{2000, 8000} {
		b := layout.Budget{Context: context, Meter: new(tokens.Meter)}
		tail := m.ForPerceptions(abi.Perceiving{Perception: abi.Percept{Title: "force", Format: "text", Body: json.RawMessage(`"now"`), Game: "g", Force: &abi.Force{Actions: []string{"act0"}}}, Told: told}, noon, nil, nil)
		p := m.Build(layout.Parts{Budget: b, Tools: m.Offered(offers, nil), Human: func(string) bool { return false }, Tail: tail, Told: window.Told{}})
		size := model.Request{System: p.System, Messages: p.Messages, Tools: p.Tools}.Size()
		if n := b.Meter.Tokens(size); n > context || len(p.Tools) == 0 || p.Tools[0].Name != "act0" {
			t.Errorf("a context of %d: %d tokens, %d tools", context, n, len(p.Tools))
		}
		if !strings.Contains(strings.Join(p.Told.Notes, " "), "words of games") {
			t.Errorf("notes: %q", p.Told.Notes)
		}
	}
}
