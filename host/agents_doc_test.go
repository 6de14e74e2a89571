package host_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/companiond/companiond/abi"
)

// modelOfDocs is the model that docs/AGENTS.md leaves to its reader. As a language model it
// is given the rules, and what there is to do.
const modelOfDocs = `
import * as ready from "ai/test";

const MockLanguageModel = ready.MockLanguageModelV4 ?? ready.MockLanguageModelV3;

export const think = async (messages) => "I have heard " + messages.length + " messages.";

export const model = new MockLanguageModel({
  doGenerate: async ({ prompt, tools }) => {
    const answer = (content, reason) => ({ content: [content], finishReason: { unified: reason, raw: undefined }, usage: { inputTokens: {}, outputTokens: {} }, warnings: [] });
    const rules = prompt.find((m) => m.role === "system").content;
    const me = JSON.parse(rules.match(/{.*?}/)[0]).id;
    const news = JSON.parse(prompt.findLast((m) => m.role === "user").content[0].text);
    if (prompt.at(-1).role === "tool" || !["asked", "granted"].includes(news.reason)) {
      return answer({ type: "text", text: "done" }, "stop");
    }
    const [toolName, input] = news.reason === "asked"
      ? ["vote", { from: me, about: news.round.about, state: "speak", importance: 5 }]
      : ["say", { from: me, grant: news.grant.token, message: "I have heard it." }];
    if (!tools.some((t) => t.name === toolName)) {
      throw new Error("there is no tool " + toolName);
    }
    return answer({ type: "tool-call", toolCallId: "1", toolName, input: JSON.stringify(input) }, "tool-calls");
  },
});
`

// TestWhatTheDocumentNames: docs/AGENTS.md has each reason that wait_for_turn gives, and the
// tools take what it says they do.
func TestWhatTheDocumentNames(t *testing.T) {
	text, err := os.ReadFile("../docs/AGENTS.md")
	if err != nil {
		t.Fatal(err)
	}
	h := newHome(t)
	h.open("[room.main]\npolicy = \"pool\"\n")
	session, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), &sdk.StreamableClientTransport{Endpoint: h.url + "/mcp"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	list, err := session.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	type schema struct {
		Properties map[string]struct{ Enum []string }
	}
	tools := map[string]schema{}
	for _, tool := range list.Tools {
		tools[tool.Name] = schemaOf[schema](t, tool.InputSchema)
		if tool.Name != "wait_for_turn" {
			continue
		}
		for _, reason := range schemaOf[schema](t, tool.OutputSchema).Properties["reason"].Enum {
			if !strings.Contains(string(text), "`"+reason+"`") {
				t.Errorf("the reason %s is not there", reason)
			}
		}
	}
	for argument, of := range map[string][]string{
		"from":      {"about", "history", "status", "wait_for_turn", "vote", "say", "consume"},
		"room":      {"about", "history", "status", "wait_for_turn", "vote", "say", "consume"},
		"basis_seq": {"say", "consume"},
		"turns":     {"read_session_turns", "create_verified_summary"},
		"proposal":  {"create_verified_summary", "replace_session_turns", "revert_compression"},
		"turn":      {"fork_session"},
	} {
		for _, name := range of {
			if _, ok := tools[name].Properties[argument]; !ok {
				t.Errorf("%s does not take %s", name, argument)
			}
		}
	}
}

// schemaOf reads a JSON Schema.
func schemaOf[T any](t *testing.T, from any) (s T) {
	t.Helper()
	b, err := json.Marshal(from)
	if err == nil {
		err = json.Unmarshal(b, &s)
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestAgentsOfTheDocument: the agents of docs/AGENTS.md answer a person, in a room where
// turns are voted on and, those that can, in one where they are paid for.
func TestAgentsOfTheDocument(t *testing.T) {
	text, err := os.ReadFile("../docs/AGENTS.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)### ([^\n]*)\n|```js\n// ([a-z.]+)\n(.*?)```").FindAllStringSubmatch(string(text), -1)
	loop := slices.IndexFunc(blocks, func(b []string) bool { return b[2] == "agent.mjs" })
	tested, of := 0, ""
	for _, b := range blocks[loop+1:] {
		switch b[2] {
		case "":
			of = b[1]
			continue
		case "connect.mjs":
			files := map[string]string{b[2]: b[3], "agent.mjs": blocks[loop][3]}
			for _, policy := range []string{"vote", "pool"} {
				t.Run(of+"/"+policy, func(t *testing.T) { answersAPerson(t, aiSDK7, policy, files) })
			}
		default:
			for _, on := range []agentsOn{aiSDK6, aiSDK7} {
				t.Run(of+"/"+on.name, func(t *testing.T) { answersAPerson(t, on, "vote", map[string]string{b[2]: b[3]}) })
			}
		}
		tested++
	}
	if tested != 3 {
		t.Errorf("%d ways to connect were tested", tested)
	}
}

// answersAPerson runs agent.mjs of these files where the packages are that it imports.
func answersAPerson(t *testing.T, on agentsOn, policy string, files map[string]string) {
	on.needs(t)
	t.Parallel()
	packages, err := filepath.Abs(on.dir)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.Symlink(filepath.Join(packages, "node_modules"), filepath.Join(dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
	write := func(name, code string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(code), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("model.mjs", modelOfDocs)
	for name, code := range files {
		write(name, code)
	}
	h := newHome(t)
	h.open("[room.main]\npolicy = \"" + policy + "\"\ncompanions = []\n")
	cmd := exec.Command(on.command[0], "agent.mjs", h.url+"/mcp", "mochi")
	cmd.Dir = dir
	var complaints strings.Builder
	cmd.Stderr = &complaints
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it goes on for ever
		_ = cmd.Wait()
		if complaints.Len() > 0 {
			t.Error(complaints.String())
		}
	})
	h.until("mochi is there", func() bool {
		return slices.ContainsFunc(h.info("main").Members, func(m abi.Member) bool { return m.ID == "mochi" })
	})
	h.say("main", "taro", "Mochi, how are you?")
	h.until("mochi answers", func() bool {
		return slices.ContainsFunc(h.messages("main"), func(m abi.Message) bool { return m.From == "mochi" })
	})
}
