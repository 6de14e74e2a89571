package config

import (
	"reflect"
	"strings"
	"testing"
	"time"
)

func agentRows() []row {
	second := map[string]any{`"1ms"`: time.Millisecond, `"24h"`: day}
	return []row{
		{"conversations.pending", second, map[string]string{`"0s"`: `"0s" is outside 1ms..24h`, `300`: `300 is not a duration (try "300s")`}},
		{"conversations.idle", second, map[string]string{`"25h"`: `"25h" is outside 1ms..24h`}},
		{"conversations.session", map[string]any{`"720h"`: 30 * day}, map[string]string{`"721h"`: `"721h" is outside 1ms..720h`}},
		{"project.NAME.agents", map[string]any{
			`["worker-a", "京子"]`: []string{"worker-a", "京子"},
			`["a", "b", "c"]`:    []string{"a", "b", "c"},
		}, map[string]string{
			`[]`:                  `must name two agents at least (set project.main.agents to ids, such as ["worker-a", "worker-b"])`,
			`["a"]`:               `must name two agents at least (set project.main.agents to ids, such as ["worker-a", "worker-b"])`,
			`["a", "a"]`:          `"a" is in the list twice`,
			`["a", "b c"]`:        `"b c" may not contain ' '`,
			`["*", "b"]`:          `"*" may not contain '*'`,
			`["aya", "Aya"]`:      `"Aya" reads or looks like "aya" (name each otherwise, or all the same)`,
			`["kyoko", "kуoko"]`:  `"kуoko" mixes scripts in a word: k (U+006B) is Latin, у (U+0443) is Cyrillic; type the whole word in letters of one of them`,
			`["エミ", "工ミ"]`:        `"工ミ" reads or looks like "エミ" (name each otherwise, or all the same)`,
			`["system", "b"]`:     `"system" reads as the daemon, its keepers, everybody or nobody; take a name of your own, such as "mika"`,
			`["user", "b"]`:       `"user" stands for a human; take a name that is your own, such as "mika-bot"`,
			`"a"`:                 `"a" is not a list (try ["a"])`,
			`[{id = "a"}, "b"]`:   `a table is not a text`,
			`["a", "b", "", "d"]`: `"" is not a name: must not be empty`,
		}},
		{"agent.NAME.type", map[string]any{`"ai"`: "ai", `"human"`: "human"}, map[string]string{
			`"AI"`:   `"AI" is unknown, have: ai, human (did you mean "ai"?)`,
			`""`:     `"" is unknown, have: ai, human`,
			`"humn"`: `"humn" is unknown, have: ai, human (did you mean "human"?)`,
		}},
		{"agent.NAME.name", map[string]any{`""`: "main", `"Worker A"`: "Worker A", `"実装係"`: "実装係"}, map[string]string{
			`"a\nb"`: `U+000A does not show, or is no space of its own (leave it out)`, `" a"`: `" a" has spaces around it (leave them out)`, `7`: `7 is not a text (try "7")`,
		}},
		{"agent.NAME.start", map[string]any{
			`[]`:                       []string{},
			`["node", "a, b", "", ""]`: []string{"node", "a, b", "", ""},
			`["a", "-v", "-v"]`:        []string{"a", "-v", "-v"},
		}, map[string]string{
			`"node worker.mjs"`:                   `"node worker.mjs" is not a list (try ["node worker.mjs"])`,
			`["", "a"]`:                           `begins with an empty text (the first is the program)`,
			`["a\u0000"]`:                         `"a\x00" has a byte 0 in it, which no argument may have`,
			`["a", "-k", "sk-0123456789abcdefg"]`: `looks like a token or a key (everybody on the machine sees arguments: let the program read it from a file)`,
		}},
	}
}

const team = `[project.team]
agents = ["worker-a", "worker-b", "nikoni", "taro"]
[agent.worker-a]
name = "Analysis Worker"
start = ["node", "worker.mjs", "-v", "-v"]
[agent.worker-b]
[agent.taro]
type = "human"
`

func TestAgents(t *testing.T) {
	c := good(t, "[conversations]\nidle = \"1h\"\n"+team+"[project.duo]\nagents = [\"nikoni\", \"worker-b\"]\n",
		"COMPANIOND_AGENT_WORKER_B_START=./b, -x", "COMPANIOND_AGENT_WORKER_B_NAME=Bee", "COMPANIOND_CONVERSATIONS_SESSION=1m", "COMPANIOND_PROJECT_DUO_AGENTS=nikoni,kyoko")
	if want := (Conversations{5 * time.Minute, time.Hour, time.Minute}); c.Conversations != want {
		t.Errorf("got %+v", c.Conversations)
	}
	if want := []Project{{"duo", []string{"nikoni", "kyoko"}}, {"team", []string{"worker-a", "worker-b", "nikoni", "taro"}}}; !reflect.DeepEqual(c.Projects, want) {
		t.Errorf("got %+v", c.Projects)
	}
	if want := []Agent{
		{"taro", TypeHuman, "taro", []string{}},
		{"worker-a", TypeAI, "Analysis Worker", []string{"node", "worker.mjs", "-v", "-v"}},
		{"worker-b", TypeAI, "Bee", []string{"./b", "-x"}},
	}; !reflect.DeepEqual(c.Agents, want) {
		t.Errorf("got %+v", c.Agents)
	}
}

// TestAgentsBetweenKeys: what is told of projects and agents together, each where it stands.
func TestAgentsBetweenKeys(t *testing.T) {
	const both = "[project.p]\nagents = [\"a\", \"b\"]\n"
	for src, want := range map[string]string{
		both: "",
		both + "[project.q]\nagents = [\"b\", \"a\", \"c\"]\n": "",
		both + "[project.q]\nagents = [\"c\", \"B\"]\n":        `c:4:16: project.q.agents: "B" reads or looks like "b" (name each otherwise, or all the same)`,
		both + "[agent.A]\n":                                                      `c:2:11: project.p.agents: "a" reads or looks like "A" (name each otherwise, or all the same)` + "\n" + `c:3:8: agent.A: is in no project (a project names "a")`,
		both + "[agent.worker]\n":                                                 `c:3:8: agent.worker: is in no project (add it to the agents of a [project.NAME])`,
		"[agent.worker]\n":                                                        `c:1:8: agent.worker: is in no project (add it to the agents of a [project.NAME])`,
		both + "[agent.a]\nname = \"B\"\n[agent.b]\n":                             `c:5:8: agent.b: "b" reads or looks like "a" (name each otherwise, or all the same)`,
		both + "[agent.a]\n[agent.b]\nname = \"A\"\n":                             `c:5:8: agent.b.name: "A" reads or looks like "a"`,
		both + "[agent.a]\nname = \"A\"\n":                                        "",
		both + "[agent.a]\nstart = [\"x\"]\ntype = \"human\"\n":                   `c:4:9: agent.a.start: starts nobody, because agent.a.type is "human" (leave it out)`,
		"[project.p]\nagents = [\"you\", \"b\"]\n[agent.you]\n":                   `c:3:8: agent.you: "you" stands for a human; take a name that is your own, such as "mika-bot"`,
		"[project.p]\nagents = [\"you\", \"b\"]\n[agent.you]\ntype = \"human\"\n": "",
		"[project.p]\nagents = [\"a\", \"b\"]\n[agent.\"m\u0456ka\"]\n":           `c:3:8: agent."mіka": "mіka" mixes scripts in a word: m (U+006D) is Latin, і (U+0456) is Cyrillic; type the whole word in letters of one of them` + "\n" + "",
		"[project]\nagents = [\"a\", \"b\"]\n":                                    `c:2:1: project.agents: belongs to one project, not to all (write [project.NAME] above it)`,
		"[projects.p]\nagents = [\"a\", \"b\"]\n":                                 `c:1:2: projects: unknown table "projects" (did you mean "project"?)`,
		"[project.\"a b\"]\nagents = [\"a\", \"b\"]\n":                            `c:1:10: project."a b": "a b" may not contain ' '`,
		"[agent.a]\ntitle = \"x\"\n" + both:                                       `c:2:1: agent.a.title: unknown key "title"`,
	} {
		want = strings.TrimSuffix(want, "\n")
		if want == "" {
			good(t, src)
		} else if got := bad(t, src); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", src, got, want)
		}
	}
	if got, want := bad(t, both, "COMPANIOND_PROJECT_P_AGENTS=a,A"), `environment: COMPANIOND_PROJECT_P_AGENTS: "A" reads or looks like "a" (name each otherwise, or all the same)`; got != want {
		t.Errorf("got %s", got)
	}
	// An agent too many keeps nothing from starting.
	if c, problems := Parse("c", []byte("[agent.worker]\n"), nil); Failed(problems) || len(c.Agents) != 1 {
		t.Errorf("%+v %v", c.Agents, problems)
	}
}

// TestArgumentsAreNotShown: neither what is refused nor why shows a key.
func TestArgumentsAreNotShown(t *testing.T) {
	const key = "cmp_0123456789abcdefghijklmnopqrstuvwxyzABCDEFG"
	if got := bad(t, "[project.p]\nagents = [\"a\", \"b\"]\n[agent.a]\nstart = [\"x\", \"--token="+key+"\"]\n"); strings.Contains(got, key[4:12]) || !strings.HasPrefix(got, "c:4:15: agent.a.start: ") {
		t.Errorf("got %s", got)
	}
}

func TestAgentsAndTheFolder(t *testing.T) {
	c := good(t, team)
	if got := c.CheckFolder([]string{"nikoni", "aya"}, ""); len(got) > 0 {
		t.Errorf("got %v", got)
	}
	got := lines(c.CheckFolder([]string{"nikomi", "Taro"}, ""))
	want := `companiond.toml:2:10: project.team.agents: "nikoni" has no file in "characters" and no [agent.nikoni] (did you mean "nikomi"?)
companiond.toml:7:8: agent.taro: is, reads or looks like "Taro", which has a file in "characters" (name it otherwise, or leave the table out where the companion is meant)
`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
