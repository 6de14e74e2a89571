package tools_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/door/mcp/past"
	"github.com/companiond/companiond/host/door/mcp/tools"
	"github.com/companiond/companiond/host/history"
	"github.com/companiond/companiond/host/rooms"
)

// The tools of seed D have its names, say in both languages what they are for, and declare all that they answer;
// only those that read change nothing.
func TestToolsOfThePast(t *testing.T) {
	finding := history.Finding{ID: "M1", Item: "x", Turn: 1, Status: history.Kept, Quote: "x", Policy: true}
	standing := past.Standing{
		Proposal: "p", Room: "main", Status: past.Approved, Turns: history.Range{From: 1, To: 5}, Policy: "p", Summary: "s", Lost: []history.Loss{{Kind: "number", Item: "42", Turn: 1}}, Drafts: 1, ApprovedBy: "taro", Why: "w", Next: "n",
		Verification: &past.Verification{Verdict: history.Yes, Feedback: "f", Named: past.Named{Of: 1, Kept: 0, Not: []history.Finding{{ID: "M1", Item: "x", Turn: 1, Status: history.Missing, Policy: true}}}, Findings: []history.Finding{finding}, By: "model"},
	}
	branch := rooms.Branch{Name: "b", Of: "a", At: 1, Turn: 1, Turns: 1, By: "taro", Closed: true}
	for _, c := range []struct {
		tool    tools.Tool
		name    string
		changes bool
		answers []any // the fullest, and the emptiest
	}{
		{tools.ReadSessionTurns(), "read_session_turns", false, []any{past.ReadOut{Turns: []abi.PastTurn{{N: 1, Upto: 2, From: "a", Text: "t"}, {}}}, past.ReadOut{Turns: []abi.PastTurn{}}}},
		{tools.CreateVerifiedSummary(), "create_verified_summary", true, []any{standing, past.Standing{Status: past.Drafting, Lost: []history.Loss{}}}},
		{tools.ReplaceSessionTurns(), "replace_session_turns", true, []any{standing}},
		{tools.RevertCompression(), "revert_compression", true, []any{standing}},
		{tools.ForkSession(), "fork_session", true, []any{past.ForkOut{Branch: branch, Next: "n"}}},
		{tools.ListBranches(), "list_branches", false, []any{past.BranchesOut{Room: "a", Branches: []rooms.Branch{branch, {Name: "a"}}}, past.BranchesOut{Branches: []rooms.Branch{}}}},
	} {
		tool := c.tool
		if tool.Name != c.name || tool.Title == "" || tool.Changes != c.changes || !strings.ContainsAny(tool.About, "のをに") || !strings.HasSuffix(tool.About, ".") {
			t.Errorf("%s (%v): %s", tool.Name, tool.Changes, tool.About)
		}
		in := tool.In.(*jsonschema.Schema)
		if in.Properties["room"] == nil || len(in.Required) != 0 {
			t.Errorf("%s needs %v", tool.Name, in.Required)
		}
		for name, p := range in.Properties {
			if p.Type == "" || p.Description == "" {
				t.Errorf("%s: %s is %+v", tool.Name, name, p)
			}
		}
		if _, err := in.Resolve(nil); err != nil {
			t.Errorf("%s: %v", tool.Name, err)
		}
		out, err := tool.Out.Resolve(nil)
		if err != nil {
			t.Fatalf("%s: %v", tool.Name, err)
		}
		for _, answer := range c.answers {
			b, _ := json.Marshal(answer)
			var as any
			if err := json.Unmarshal(b, &as); err != nil {
				t.Fatal(err)
			}
			if err := out.Validate(as); err != nil {
				t.Errorf("%s: %s: %v", tool.Name, b, err)
			}
		}
	}
	// Each state of a proposal has a status.
	statuses := tools.ReplaceSessionTurns().Out.Properties["status"].Enum
	for _, s := range []history.State{history.Failed, history.Approved, history.Denied, history.Reverted} {
		if !slices.Contains(statuses, any(string(s))) {
			t.Errorf("%s is no status", s)
		}
	}
}
