package handlers

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/companiond/companiond/cmd/companiond/paint"
)

const some = `{"handlers":[
	{"name":"chat","module":"chat","companions":["aya","kyoko"],"actions":[
		{"name":"chat.mute","description":"Mutes a viewer.\u001b","schema":{"properties":{"minutes":{"type":"integer"},"viewer":{"type":"string"}},"required":["viewer"]}},
		{"name":"chat.all","schema":{"properties":{"b":{"type":"boolean"},"m":{"type":["number","null"]},"e":{"enum":["on","off"]},"x":{},"o":{"type":"object"},"t":{"type":["string","integer"]}}}}]},
	{"name":"desk","companions":[],"actions":[{"name":"lamp.set"},{"name":"both"}]},
	{"name":"hall","error":"its module is not loaded","actions":[]},
	{"name":"loft","actions":[{"name":"both"}]}]}`

// types runs a verb before a daemon that has these handlers, and gives what it prints and what the daemon was asked to do.
func types(t *testing.T, list string, refuses error, args ...string) (printed, asked string, err error) {
	t.Helper()
	var out bytes.Buffer
	d := Desk{
		Paint: paint.Painter{Out: &out},
		Usage: func(format string, args ...any) error { return fmt.Errorf("usage: "+format, args...) },
		Parse: func(fs *flag.FlagSet, args []string, _ int) ([]string, error) {
			err := fs.Parse(args)
			return fs.Args(), err
		},
		Call: func(_ context.Context, method, path string, in, out any) error {
			if method == "GET" && path == "/v1/handlers" {
				return json.Unmarshal([]byte(list), out)
			}
			b, _ := json.Marshal(in)
			if asked = path + " " + string(b); refuses != nil {
				return refuses
			}
			return json.Unmarshal([]byte(`{"message":"done\u001b it"}`), out)
		},
	}
	fs := flag.NewFlagSet("test", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	if run := d.Act; args[0] == "act" {
		err = run(t.Context(), fs, args[1:])
	} else {
		err = d.Handlers(t.Context(), fs, args[1:])
	}
	return out.String(), asked, err
}

// TestHandlers: each action is shown as it is typed.
func TestHandlers(t *testing.T) {
	const want = `chat  for aya, kyoko
  chat.mute viewer=STRING [minutes=INTEGER]
      Mutes a viewer.\u001b
  chat.all [b=BOOLEAN] [e=on|off] [m=NUMBER|NULL] [o=OBJECT] [t=STRING|INTEGER] [x=VALUE]
desk  for nobody now
  lamp.set
  both
hall  can do nothing now: its module is not loaded
loft  for nobody now
  both
`
	if got, _, err := types(t, some, nil, "handlers"); got != want || err != nil {
		t.Errorf("%v\n%s\nwant\n%s", err, got, want)
	}
	if got, _, err := types(t, `{"handlers":[]}`, nil, "handlers"); !strings.Contains(got, "[handler.NAME]") || err != nil {
		t.Errorf("%s %v", got, err)
	}
	if got, _, err := types(t, some, nil, "handlers", "-json"); !json.Valid([]byte(got)) || err != nil {
		t.Errorf("%s %v", got, err)
	}
}

// TestAct: what is typed becomes what the schema wants, and the handler is found where one alone has the action.
func TestAct(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"chat.mute viewer=troll minutes=10", `/v1/handlers/chat/actions/chat.mute {"minutes":10,"viewer":"troll"}`},
		{"chat.mute viewer=10", `/v1/handlers/chat/actions/chat.mute {"viewer":"10"}`},
		{"chat chat.mute viewer=a=b", `/v1/handlers/chat/actions/chat.mute {"viewer":"a=b"}`},
		{"chat.mute more=1", `/v1/handlers/chat/actions/chat.mute {"more":1}`}, // the daemon says that there is no such thing
		{"chat.all b=true m=1.5 e=on x=yes o={\"a\":[1]} t=7", `/v1/handlers/chat/actions/chat.all {"b":true,"e":"on","m":1.5,"o":{"a":[1]},"t":7,"x":"yes"}`},
		{"chat.all m=null t=seven x=", `/v1/handlers/chat/actions/chat.all {"m":null,"t":"seven","x":""}`},
		{"loft both", `/v1/handlers/loft/actions/both {}`},
		{"nobody a/b", `/v1/handlers/nobody/actions/a%2Fb {}`},
	} {
		printed, asked, err := types(t, some, nil, append([]string{"act"}, strings.Fields(c.args)...)...)
		if asked != c.want || err != nil || printed != "done\\u001b it\n" {
			t.Errorf("%s: %s %v %q, want %s", c.args, asked, err, printed, c.want)
		}
	}
}

// TestActIsRefused: what cannot be is told with what to type, and the daemon is asked for nothing.
func TestActIsRefused(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"", "usage: companiond act [HANDLER] ACTION"},
		{"a b c", "usage: companiond act [HANDLER] ACTION"},
		{"viewer=troll", "usage: companiond act [HANDLER] ACTION"},
		{"both", "usage: desk and loft have both; say which: companiond act desk both"},
		{"lamp.off", `no handler has "lamp.off", and hall can do nothing now; companiond handlers says why`},
		{"chat.mute viewer=troll minutes=ten", `usage: minutes: "ten" is not what it must be, integer`},
		{"chat.mute viewer=troll for 10", `usage: "for" is no NAME=VALUE`},
		{"chat.mute viewer", `usage: "viewer" is no NAME=VALUE; type: companiond act chat.mute viewer=STRING [minutes=INTEGER]`},
		{"chat.mute troll", `usage: "troll" is no NAME=VALUE; type: companiond act chat.mute viewer=STRING [minutes=INTEGER]`},
		{"chat.mute viewer minutes=10", `usage: "viewer" is no NAME=VALUE; type: companiond act chat.mute viewer=STRING`},
		{"chat.mute viewer troll", `usage: "viewer" is no NAME=VALUE; type: companiond act chat.mute viewer=STRING`},
		{"chat chat.mute viewer", `usage: "viewer" is no NAME=VALUE; type: companiond act chat chat.mute viewer=STRING`},
		{"lamp.set on", `usage: "on" is no NAME=VALUE; type: companiond act lamp.set`},
		{"chat.mute viewer=a viewer=b", "usage: viewer is there twice"},
	} {
		_, asked, err := types(t, some, nil, append([]string{"act"}, strings.Fields(c.args)...)...)
		if err == nil || !strings.HasPrefix(err.Error(), c.want) || asked != "" {
			t.Errorf("%s: %v %s", c.args, err, asked)
		}
	}
	for says, want := range map[string]string{
		"parameters.minutes: is 99999, at most 43200":           "minutes: is 99999, at most 43200",
		"the token of bot is none of a person":                  "COMPANIOND_TOKEN (companiond token NAME -kind human makes one)",
		`there is nothing at "/v1/handlers/chat"`:               "is it an older one?",
		"chat can do nothing now: its module is not loaded yet": "chat can do nothing now",
	} {
		if _, _, err := types(t, some, errors.New(says), "act", "chat.mute"); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "parameters.") {
			t.Errorf("%s: %v", says, err)
		}
	}
}
