package layout

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/companiond/companiond/host/card"
	"github.com/companiond/companiond/host/context/quote"
	"github.com/companiond/companiond/host/context/window"
	"github.com/companiond/companiond/host/model"
	"github.com/companiond/companiond/host/model/tokens"
)

// toolsShare is how much of a budget all actions of a card may take. What is longer is offered
// without what the card says of parameters.
const toolsShare = .2

// toolsOf are all actions of a card.
func toolsOf(c *card.Card) []model.Tool {
	tools := make([]model.Tool, 0, len(c.Actions))
	for _, a := range c.Actions {
		tools = append(tools, model.Tool{Name: a.Title, Description: a.Description, Schema: a.Schema})
	}
	return tools
}

// Offer gives tools as they are offered within a budget.
func (m *Mind) Offer(b Budget, tools []model.Tool) []model.Tool {
	most := int(float64(b.usable()) * toolsShare)
	if b.Meter.Tokens(m.whole) <= most && b.Meter.Tokens(sizeOf(tools)) <= most { // games may offer more than the card
		return tools
	}
	brief := make([]model.Tool, len(tools))
	for i, t := range tools {
		var schema map[string]any
		if json.Unmarshal(t.Schema, &schema) == nil {
			t.Schema = json.RawMessage(encode(undescribed(schema)))
		}
		brief[i] = t
	}
	return m.fewer(b, brief, most)
}

// fewer shortens what games say of their actions, where these are too much for a budget, and
// leaves out those that were offered last.
func (m *Mind) fewer(b Budget, tools []model.Tool, most int) []model.Tool {
	count := func() int { return b.Meter.Tokens(sizeOf(tools)) }
	if len(tools) <= len(m.all) || count() <= most {
		return tools
	}
	for i, t := range tools {
		if !slices.ContainsFunc(m.all, func(own model.Tool) bool { return own.Name == t.Name }) {
			tools[i].Description, _ = window.Shorten(t.Description, max(most/len(tools), leastWord), b.Meter)
		}
	}
	for len(tools) > len(m.all)+1 && count() > 2*most {
		tools = tools[:len(tools)-1]
	}
	return tools
}

// undescribed takes the descriptions out of a schema. A parameter that is called "description"
// stays: what it is said to be is no text.
func undescribed(v any) any {
	switch v := v.(type) {
	case map[string]any:
		slim := map[string]any{}
		for key, x := range v {
			if _, text := x.(string); !text || key != "description" && key != "title" {
				slim[key] = undescribed(x)
			}
		}
		return slim
	case []any:
		for i, x := range v {
			v[i] = undescribed(x)
		}
	}
	return v
}

// WriteTools writes out what a model may call.
func WriteTools(all []model.Tool) string {
	type tool struct {
		Name        string `json:"name"`
		Description string `json:"description,omitempty"`
		Schema      any    `json:"schema,omitempty"`
	}
	lines := make([]string, len(all))
	for i, t := range all {
		lines[i] = quote.JSON(tool{t.Name, t.Description, t.Schema})
	}
	return strings.Join(lines, "\n")
}

// perTool is what a tool takes besides what it says.
const perTool = 8

func sizeOf(tools []model.Tool) tokens.Size {
	return model.Request{Tools: tools}.Size().Plus(tokens.Size{Rest: float64(perTool * len(tools))})
}
