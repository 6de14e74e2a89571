package web_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/identity"
	"github.com/companiond/companiond/host/rooms"
)

// The POST /add of chat-relay: its body, its answers, its words for what is wrong.
func TestAdd(t *testing.T) {
	f := newDoor(t, nil)
	exactly(t, f.ask("POST", "/add", `{"from":"user","message":"こんにちは!"}`), 200,
		`{"success":true,"history":[{"from":"user","message":"こんにちは!"}]}`)
	exactly(t, f.ask("POST", "/add", `{"from":"user","message":"<b>","extra":1}`), 200,
		`{"success":true,"history":[{"from":"user","message":"こんにちは!"},{"from":"user","message":"\u003cb\u003e"}]}`)
	exactly(t, f.ask("POST", "/add?room=side", `{"from":"user","message":"隣"}`), 200,
		`{"success":true,"history":[{"from":"user","message":"隣"}]}`)
	if e := f.house.Get("main").Happened()[0]; e.Kind != entry.KindSaid || !strings.Contains(string(e.Body), `"by":"human"`) {
		t.Errorf("%s %s", e.Kind, e.Body)
	}
}

func TestAddRefuses(t *testing.T) {
	f := newDoor(t, nil)
	_, taken := f.house.Get("main").Say(t.Context(), rooms.Utterance{From: "aya", Text: "x"})
	_, why, found := strings.Cut(abi.AsError(taken).Message, "from: ")
	if !found {
		t.Fatal(taken)
	}
	for _, c := range []struct {
		path, body string
		status     int
		want       string
	}{
		{"/add", `{"message":"x"}`, 400, `{"code":"invalid","path":["from"],"message":"is missing"}`},
		{"/add", `{"from":"user"}`, 400, `{"code":"invalid","path":["message"],"message":"is missing"}`},
		{"/add", `{"from":1,"message":"x"}`, 400, `{"code":"invalid","path":["from"],"message":"must be a text, not number"}`},
		{"/add", `{"from":"a b","message":"x"}`, 400, `{"code":"invalid","path":["from"],"message":"\"a b\" may not contain ' '"}`},
		{"/add", `[]`, 400, `{"code":"invalid","path":["body"],"message":"must be a JSON object"}`},
		{"/add", `{"from":`, 400, `{"code":"invalid","path":["body"],"message":"is no JSON object: unexpected end of JSON input"}`},
		{"/add", `{"from":"user","message":"x"} and more`, 400, `{"code":"invalid","path":["body"],"message":"is no JSON object: invalid character 'a' after top-level value"}`},
		{"/add", `{"from":"aya","message":"x"}`, 403, fmt.Sprintf(`{"code":"denied","path":["from"],"message":%q}`, why)},
		{"/add?room=attic", `{"from":"user","message":"x"}`, 404, `{"code":"not_found","path":["room"],"message":"there is no \"attic\""}`},
	} {
		exactly(t, f.ask("POST", c.path, c.body), c.status, `{"success":false,"errors":[`+c.want+`]}`)
	}
	if w := f.ask("GET", "/add", ""); w.Code != http.StatusMethodNotAllowed {
		t.Errorf("GET: %d", w.Code)
	}
	if all := f.house.Get("main").Happened(); len(all) != 0 {
		t.Errorf("written: %v", all)
	}
}

// With a token the name is the holder's, and no guest may take it.
func TestAddKnowsTheCaller(t *testing.T) {
	f := newDoor(t, nil)
	register, err := identity.Parse("tokens", []byte("mika human read,talk sha256:"+identity.Hash("cmp_x")+"\nbot agent read sha256:"+identity.Hash("cmp_y")+"\n"))
	if err != nil {
		t.Fatal(err)
	}
	as := func(c identity.Caller) fixture {
		inner := f.Handler
		return fixture{f.house, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			inner.ServeHTTP(w, r.WithContext(identity.With(r.Context(), c)))
		})}
	}
	mika, _ := register.Find("cmp_x")
	bot, _ := register.Find("cmp_y")
	for _, c := range []struct {
		caller identity.Caller
		from   string
		status int
	}{
		{mika, "mika", 200}, {mika, "", 200}, {mika, "taro", 403}, {bot, "bot", 403},
		{identity.Guest(register), "ＭＩＫＡ", 403}, {identity.Guest(register), "taro", 200},
	} {
		if w := as(c.caller).ask("POST", "/add", `{"from":"`+c.from+`","message":"x"}`); w.Code != c.status {
			t.Errorf("%s as %q: %d %s", c.caller.Name, c.from, w.Code, w.Body)
		}
	}
	all := f.house.Get("main").Happened()
	if len(all) != 3 {
		t.Errorf("%d entries", len(all))
	}
	for _, e := range all {
		if m, _ := e.Message(); m.From != "mika" && m.From != "taro" || e.Kind != entry.KindSaid {
			t.Errorf("%s", e.Body)
		}
	}
}
