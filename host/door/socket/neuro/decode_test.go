package neuro

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/force"
)

// TestDecode: each command as the protocol has it, with all it may have and no more than it must.
func TestDecode(t *testing.T) {
	for message, want := range map[string]command{
		`{"command":"startup","game":"Tic Tac Toe"}`:                                                       startup{},
		`{"command":"startup","game":"Tic Tac Toe","data":{"x":1}}`:                                        startup{},
		`{"command":"shutdown/ready","game":"Tic Tac Toe"}`:                                                ready{},
		`{"command":"context","game":"Tic Tac Toe","data":{"message":"You drew an ace.","silent":true}}`:   context_{force.Context{Text: "You drew an ace.", Silent: true}},
		`{"command":"context","game":"Tic Tac Toe","data":{"message":"引いた","silent":null}}`:                context_{force.Context{Text: "引いた"}},
		`{"command":"actions/unregister","game":"Tic Tac Toe","data":{"action_names":["play"]}}`:           unregister{[]string{"play"}},
		`{"command":"actions/force","game":"Tic Tac Toe","data":{"query":"Your turn.","action_names":[]}}`: forces{force.Force{Query: "Your turn.", Actions: []string{}}},
		`{"command":"actions/force","game":"Tic Tac Toe","data":{"state":"## Board","query":"Your turn.","ephemeral_context":true,"priority":"critical","action_names":["play","pass"]}}`: forces{force.Force{
			State: "## Board", Query: "Your turn.", Ephemeral: true, Priority: force.Critical, Actions: []string{"play", "pass"}}},
		`{"command":"action/result","game":"Tic Tac Toe","data":{"id":"a1","success":false,"message":"Cell taken; free: b2"}}`: result{"a1", "Cell taken; free: b2", false},
		`{"command":"action/result","game":"Tic Tac Toe","data":{"id":"a1","success":true}}`:                                   result{"a1", "", true},
	} {
		game, c, wrong := decode([]byte(message))
		if wrong != nil || game != "Tic Tac Toe" || !reflect.DeepEqual(c, want) {
			t.Errorf("%s\nis  %+v, %v\nwant %+v", message, c, wrong, want)
		}
	}
}

// TestDecodeFaults: what is wrong is called by its rule, and names the field.
func TestDecodeFaults(t *testing.T) {
	long := strings.Repeat("x", maxText+1)
	for message, want := range map[string]string{
		``:                               "message/rubbish",
		`hello`:                          "message/rubbish",
		`[]`:                             "message/rubbish",
		`"startup"`:                      "message/rubbish",
		`{"command":"startup","game":"}`: "message/rubbish",
		"{\"command\":\"startup\",\"game\":\"\xff\"}":                            "message/rubbish",
		strings.Repeat("[", 100_000):                                             "message/rubbish",
		`{"game":"G"}`:                                                           "message/field: command is missing",
		`{"command":7,"game":"G"}`:                                               "message/field: command is a JSON number, must be a string",
		`{"command":"startup","game":7}`:                                         "message/field: game is a JSON number",
		`{"command":"action","game":"G"}`:                                        `message/command: "action" is no command`,
		`{"command":"context","game":"G"}`:                                       "message/field: data is missing",
		`{"command":"context","game":"G","data":null}`:                           "message/field: data is missing",
		`{"command":"context","game":"G","data":[]}`:                             "message/field: data is no object",
		`{"command":"context","game":"G","data":{"message":1}}`:                  "message/field: data.message is a JSON number, must be a string",
		`{"command":"context","game":"G","data":{"message":"x","silent":"yes"}}`: "message/field: data.silent is a JSON string, must be true or false",
		`{"command":"context","game":"G","data":{"message":" "}}`:                "context/empty",
		`{"command":"context","game":"G","data":{"message":"` + long + `"}}`:     "context/long",
		`{"command":"actions/register","game":"G","data":{}}`:                    "register/empty",
		`{"command":"actions/register","game":"G","data":{"actions":{}}}`:        "message/field: data.actions is a JSON object, must be a list",
		`{"command":"actions/register","game":"G","data":{"actions":[` + strings.Repeat("{},", force.MaxNames) + `{}]}}`: "register/full",
		`{"command":"actions/unregister","game":"G","data":{"action_names":[]}}`:                                         "message/field: data.action_names is empty",
		`{"command":"actions/unregister","game":"G","data":{"action_names":["a",1]}}`:                                    "message/field: data.action_names",
		`{"command":"actions/force","game":"G","data":{"action_names":["a"]}}`:                                           "message/field: data.query is empty",
		`{"command":"actions/force","game":"G","data":{"query":"q","state":"` + long + `","action_names":["a"]}}`:        "context/long",
		`{"command":"actions/force","game":"G","data":{"query":"q","ephemeral_context":1,"action_names":["a"]}}`:         "message/field: data.ephemeral_context is a JSON number, must be true or false",
		`{"command":"action/result","game":"G","data":{"success":true}}`:                                                 "message/field: data.id has 0 bytes",
		`{"command":"action/result","game":"G","data":{"id":"` + strings.Repeat("x", 129) + `","success":true}}`:         "message/field: data.id has 129 bytes",
		`{"command":"action/result","game":"G","data":{"id":"a1"}}`:                                                      "message/field: data.success is missing",
		`{"command":"action/result","game":"G","data":{"id":"a1","success":true,"message":"` + long + `"}}`:              "context/long",
	} {
		_, c, wrong := decode([]byte(message))
		if c != nil || wrong == nil || !strings.HasPrefix(wrong.Error(), want) {
			t.Errorf("%.120s\nis %v, want %s", message, wrong, want)
		}
	}
}

// TestRegister: each action for itself, so that a bad one takes no good one with it.
func TestRegister(t *testing.T) {
	_, c, wrong := decode([]byte(`{"command":"actions/register","game":"G","data":{"actions":[
		{"name":"play","description":"Place O","schema":{"type":"object","properties":{"cell":{"enum":["a1","b2"]}},"required":["cell"]}},
		{"name":"pass"}, {"name":"Join Lobby"}, {"description":"x"}, {"name":7}, 5,
		{"name":"far","schema":{"$ref":"http://example.com/x"}}, {"name":"text","schema":{"type":"string"}}, {"name":"none","schema":{}}]}}`))
	if wrong != nil {
		t.Fatal(wrong)
	}
	var got []string
	for _, o := range c.(register).actions {
		if got = append(got, fmt.Sprintf("%s %v %s", o.Title, o.bad == "" && o.Bare(), o.bad)); (o.bad == "") != (o.why == "") {
			t.Errorf("%s, for %q", o.bad, o.why)
		}
	}
	want := []string{"play false ", "pass true ", "Join Lobby false register/name", " false message/field", " false message/field", " false message/field",
		"far false register/schema", "text false register/schema", "none true "}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// TestTidy: a game is called by letters that can be printed, in one line, and few.
func TestTidy(t *testing.T) {
	for name, want := range map[string]string{
		"Tic Tac Toe": "Tic Tac Toe", " a\nb\x1b[31m ": "ab[31m", "将棋": "将棋", "\u202e": "", strings.Repeat("あ", 30): strings.Repeat("あ", 21),
	} {
		if got := tidy(name); got != want {
			t.Errorf("%q is called %q, want %q", name, got, want)
		}
	}
}

// TestFrames are the golden frames of the server.
func TestFrames(t *testing.T) {
	a := entry.Action{ID: "a1", Action: "play", Parameters: json.RawMessage(`{"cell":"<b2>"}`)}
	for want, got := range map[string][]byte{
		`{"command":"startup","data":{"session":{"sessionId":"s1","characterId":"aya","displayName":"Aya"}}}`: started("s1", "aya", "Aya"),
		`{"command":"action","data":{"id":"a1","name":"play","data":"{\"cell\":\"<b2>\"}"}}`:                  act(a, false),
		`{"command":"action","data":{"id":"a1","name":"play"}}`:                                               act(a, true),
		`{"command":"speech_finished","data":{"isFinal":true,"cancelled":false}}`:                             spoken(entry.Heard{End: entry.EndSaid}),
		`{"command":"speech_finished","data":{"isFinal":true,"cancelled":true,"reason":"interrupted"}}`:       spoken(entry.Heard{End: entry.EndCut}),
		`{"command":"actions/reregister_all"}`:                                                                reregister(),
		`{"command":"companiond/diagnostic","data":{"rule":"force/empty","message":"why"}}`:                   diagnosed(force.ForceEmpty, "why"),
	} {
		if string(got) != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

// FuzzDecode: whatever comes is a command or a fault, of a game whose name can stand anywhere.
func FuzzDecode(f *testing.F) {
	for _, s := range []string{
		`{"command":"startup","game":"G"}`, `{"command":"context","game":"G","data":{"message":"m","silent":true}}`,
		`{"command":"actions/register","game":"G","data":{"actions":[{"name":"a","description":"d","schema":{"type":"object","properties":{"x":{"pattern":"a+"}}}}]}}`,
		`{"command":"actions/force","game":"G","data":{"query":"q","action_names":["a"]}}`, `{"command":"action/result","game":"G","data":{"id":"1","success":true}}`, `{`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, message []byte) {
		game, c, wrong := decode(message)
		if (c == nil) == (wrong == nil) {
			t.Fatalf("%v and %v", c, wrong)
		}
		if game != tidy(game) || len(game) > 64 {
			t.Fatalf("called %q", game)
		}
		if r, ok := c.(register); ok {
			for _, o := range r.actions {
				if o.bad == "" && o.Check([]byte(`{}`)) == nil && o.Title == "" {
					t.Fatalf("an action without a name")
				}
			}
		}
	})
}
