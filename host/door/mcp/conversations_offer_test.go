package mcp

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// seedTools are seed E's, in the order of the documents.
var seedTools = []string{
	"authenticate", "logout", "get_next_action", "start_conversation", "send_message", "respond_chat", "get_pending_messages",
	"end_conversation", "decline_conversation", "get_conversation_history", "list_conversations",
}

// TestConversationsAreOffered: the tools are there with a project and not without, what
// they answer is what they declare, and the documents say what they take and answer.
func TestConversationsAreOffered(t *testing.T) {
	offered := func(a *agent) (all []*sdk.Tool) {
		list, err := a.session.ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, tool := range list.Tools {
			if slices.Contains(seedTools, tool.Name) {
				all = append(all, tool)
			}
		}
		return all
	}
	if all := offered(openHome(t, nil).connect(nil)); len(all) != 0 {
		t.Errorf("without a project there are %d tools", len(all))
	}
	h := openDesks(t, newDesks())
	a := h.connect(nil)
	if !strings.Contains(a.session.InitializeResult().Instructions, "get_next_action") {
		t.Error("nobody is told of conversations")
	}
	rows := map[string]string{}
	for _, tool := range offered(a) {
		rows[tool.Name] = toolRow(t, tool)
	}
	text, err := os.ReadFile("../../../docs/CONVERSATIONS.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "\n## Tools\n")
	_, table, _ := strings.Cut(section, "|---|---|---|\n")
	table, _, _ = strings.Cut(table, "\n\n")
	var want []string
	for _, name := range seedTools {
		want = append(want, rows[name])
	}
	if table != strings.Join(want, "\n") {
		t.Errorf("docs/CONVERSATIONS.md says\n%s\nthe tools are\n%s", table, strings.Join(want, "\n"))
	}
}

// toolRow is a tool as the documents have it.
func toolRow(t *testing.T, tool *sdk.Tool) string {
	t.Helper()
	names := func(of any, skip ...string) string {
		raw, err := json.Marshal(of)
		if err != nil {
			t.Fatal(err)
		}
		var schema jsonschema.Schema
		if err := json.Unmarshal(raw, &schema); err != nil {
			t.Fatal(err)
		}
		var all []string
		for name := range schema.Properties {
			if slices.Contains(skip, name) {
				continue
			}
			if !slices.Contains(schema.Required, name) && schema.Required != nil {
				name += "?"
			}
			all = append(all, "`"+name+"`")
		}
		slices.Sort(all)
		return strings.Join(all, ", ")
	}
	refusal := []string{"code", "message", "detail", "retry"}
	out := names(tool.OutputSchema, refusal...)
	if !strings.HasPrefix(tool.Name, "start") && !strings.HasPrefix(tool.Name, "end") && !strings.HasPrefix(tool.Name, "decline") {
		out = names(tool.OutputSchema, append(refusal, "status")...)
	}
	return strings.ReplaceAll(fmt.Sprintf("| `%s` | %s | %s |", tool.Name, names(tool.InputSchema, "session_token"), out), "|  |", "| |")
}
