package web_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/door/doortest"
	"github.com/companiond/companiond/host/door/guard"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/identity"
)

const (
	says  = "/v1/rooms/main/messages"
	stops = "/v1/rooms/main/stop"
)

// as asks as a caller, whom a guard would have found.
func (f fixture) as(c identity.Caller, method, path, body string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	if body == "" {
		r = httptest.NewRequest(method, path, http.NoBody)
	} else {
		r.Header.Set("Content-Type", "application/json")
	}
	w := httptest.NewRecorder()
	f.ServeHTTP(w, r.WithContext(identity.With(r.Context(), c)))
	return w
}

func holder(name string, kind abi.ParticipantKind, scopes ...identity.Scope) identity.Caller {
	return identity.Caller{Name: name, Kind: kind, Scopes: scopes}
}

// Every operation wants its scope, and no other does.
func TestScopes(t *testing.T) {
	f := newDoor(t, nil)
	f.ask("POST", says, `{"from":"ken","text":"hi"}`)
	for _, op := range []struct {
		method, path, body string
		scope              identity.Scope
	}{
		{"GET", "/v1/rooms", "", identity.Read},
		{"GET", "/v1/rooms/main", "", identity.Read},
		{"GET", says, "", identity.Read},
		{"GET", "/v1/rooms/main/entries", "", identity.Read},
		{"GET", "/v1/rooms/main/entries/1/why", "", identity.Read},
		{"GET", "/v1/companions", "", identity.Read},
		{"GET", "/v1/version", "", identity.Read},
		{"POST", says, `{"text":"hi"}`, identity.Talk},
		{"POST", stops, "", identity.Talk},
		{"POST", "/v1/rooms", `{"name":"den"}`, identity.Act},
		{"DELETE", "/v1/rooms/attic", "", identity.Act},
	} {
		for _, scope := range identity.Scopes() {
			w := f.as(holder("mika", abi.KindHuman, scope), op.method, op.path, op.body)
			if scope == op.scope {
				if w.Code == 403 || w.Code == 401 {
					t.Errorf("%s %s with %s: %d %s", op.method, op.path, scope, w.Code, w.Body)
				}
				continue
			}
			var d guard.Details
			if err := json.Unmarshal(w.Body.Bytes(), &d); err != nil || w.Code != 403 || d.Code != abi.CodeDenied || !strings.Contains(d.Detail, `"`+string(op.scope)+`"`) {
				t.Errorf("%s %s with %s: %d %s", op.method, op.path, scope, w.Code, w.Body)
			}
		}
		if w := f.as(identity.Caller{}, op.method, op.path, op.body); w.Code != 403 {
			t.Errorf("%s %s by nobody: %d", op.method, op.path, w.Code)
		}
		if w := f.as(identity.Guest(nil), op.method, op.path, strings.Replace(op.body, `{"text"`, `{"from":"ken","text"`, 1)); w.Code == 403 {
			t.Errorf("%s %s by a guest: %s", op.method, op.path, w.Body)
		}
	}
}

// The token's name and kind are recorded, whatever the body says. In a room
// with a pool an agent needs no floor to say something.
func TestFromIsTheTokens(t *testing.T) {
	pool := doortest.Settings("main", "*")
	pool.Rules.Policy = "pool"
	f := newDoorOf(t, doortest.NewHouseOf(t, pool), nil)
	r, err := identity.Parse("tokens", []byte("あやボット agent talk sha256:"+identity.Hash("t")))
	if err != nil {
		t.Fatal(err)
	}
	bot, _ := r.Find("t")
	mika := holder("mika", abi.KindHuman, identity.Talk)
	for _, c := range []struct {
		name       string
		caller     identity.Caller
		path, body string
		status     int
		detail     string
	}{
		{"left out", bot, says, `{"text":"hi"}`, 201, ""},
		{"its own", bot, says, `{"text":"hi","from":"あやボット"}`, 201, ""},
		{"another's", bot, says, `{"text":"hi","from":"mika"}`, 403, "this token is あやボット's"},
		{"a human's", mika, says, `{"text":"hi"}`, 201, ""},
		{"a guest", identity.Guest(r), says, `{"text":"hi","from":"ken"}`, 201, ""},
		{"a guest who takes a name", identity.Guest(r), says, `{"text":"hi","from":"アヤボット"}`, 403, "has a token"},
		{"a human's STOP", mika, stops, ``, 200, ""},
		{"STOP for another", mika, stops, `{"from":"ken"}`, 200, ""},
		{"an agent's STOP", bot, stops, ``, 403, "only people"},
		{"an agent's STOP for a human", bot, stops, `{"from":"mika"}`, 403, "only people"},
		{"a guest's STOP in a taken name", identity.Guest(r), stops, `{"from":"アヤボット"}`, 200, ""},
	} {
		before := len(f.house.Get("main").Happened())
		w := f.as(c.caller, "POST", c.path, c.body)
		journal := f.house.Get("main").Happened()
		if w.Code != c.status || !strings.Contains(w.Body.String(), c.detail) {
			t.Errorf("%s: %d %s", c.name, w.Code, w.Body)
		}
		if refused := w.Code >= 300; refused != (len(journal) == before) {
			t.Errorf("%s: %d entries before, %d after", c.name, before, len(journal))
		}
	}
	var got []string
	for _, e := range f.house.Get("main").Happened() {
		var b struct {
			From string
			By   abi.ParticipantKind
		}
		if err := json.Unmarshal(e.Body, &b); err != nil {
			t.Fatal(err)
		}
		got = append(got, b.From+" "+string(b.By))
	}
	if want := "あやボット agent, あやボット agent, mika human, ken human, mika , mika , somebody "; strings.Join(got, ", ") != want {
		t.Errorf("recorded: %q", got)
	}
}

// Where turns are voted on, an agent without the floor is refused over HTTP as at
// every other door, and its words are kept under its own name.
func TestAgentsNeedTheFloor(t *testing.T) {
	f := newDoor(t, nil)
	w := f.as(holder("bot", abi.KindAgent, identity.Talk), "POST", says, `{"text":"beep"}`)
	if d := decode[guard.Details](t, w, 403); d.Code != abi.CodeDenied || !strings.Contains(d.Detail, "floor") {
		t.Errorf("%+v", d)
	}
	var kept entry.Refused
	if err := json.Unmarshal(f.newest(t, entry.KindRefused).Body, &kept); err != nil || kept.Who != "bot" || kept.By != abi.KindAgent || kept.Text != "beep" {
		t.Errorf("%+v %v", kept, err)
	}
	if all := f.house.Get("main").Happened(); len(all) != 1 {
		t.Errorf("%v", all)
	}
}

// The page keeps a token for as long as the tab lives, and in no address.
func TestPageKeepsTokens(t *testing.T) {
	html := newDoor(t, nil).ask("GET", "/", "").Body.String()
	for _, want := range []string{`sessionStorage.setItem("token"`, `Authorization: "Bearer " + token`, `["` + guard.Subprotocol + `", "bearer." + token]`, `type="password"`} {
		if !strings.Contains(html, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	for _, never := range []string{`localStorage.setItem("token"`, "?token", "&token", "document.cookie"} {
		if strings.Contains(html, never) {
			t.Errorf("the page has %s", never)
		}
	}
}
