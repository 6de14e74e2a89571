package web_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/door/guard"
	"github.com/companiond/companiond/host/door/web"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/identity"
	"github.com/companiond/companiond/host/rooms"
)

const opens = "/v1/rooms"

var (
	mika  = holder("mika", abi.KindHuman, identity.Read, identity.Talk, identity.Act)
	ken   = holder("ken", abi.KindHuman, identity.Read, identity.Talk, identity.Act)
	admin = holder("root-of-it", abi.KindHuman, identity.Scopes()...)
)

// opened opens a room and gives it as the door shows it.
func (f fixture) opened(t *testing.T, by identity.Caller, body string) rooms.Info {
	t.Helper()
	return decode[rooms.Info](t, f.as(by, "POST", opens, body), 201)
}

// isRefused checks a refusal: its status and code, where it is, and a part of what it says.
func isRefused(t *testing.T, w *httptest.ResponseRecorder, status int, code abi.Code, where, says string) {
	t.Helper()
	d := decode[guard.Details](t, w, status)
	var at []string
	for _, e := range d.Errors {
		at = append(at, e.Location)
	}
	if d.Code != code || strings.Join(at, " ") != where || !strings.Contains(d.Detail, says) || w.Header().Get("Content-Type") != "application/problem+json" {
		t.Errorf("%s, want %s at %q, with %q", w.Body, code, where, says)
	}
}

func TestOpenRoom(t *testing.T) {
	f := newDoor(t, nil)
	f.house.Get("main").Live("aya", "kyoko")
	w := f.as(mika, "POST", opens, `{"name":"居間","companions":["kyoko"],"max_turns":3}`)
	got := decode[rooms.Info](t, w, 201)
	if got.Name != "居間" || got.MaxTurns != 3 || got.Policy != "vote" || got.State != "resting" || strings.Contains(w.Body.String(), "null") {
		t.Errorf("%s", w.Body)
	}
	if len(got.Members) != 1 || got.Members[0].ID != "kyoko" {
		t.Errorf("in it are %+v", got.Members)
	}
	var by entry.Opened
	for _, e := range f.house.Get("居間").Journal() {
		if e.Kind == entry.KindOpened {
			if err := json.Unmarshal(e.Body, &by); err != nil {
				t.Fatal(err)
			}
		}
	}
	if by.By != "mika" || string(by.Settings) != `{"companions":["kyoko"],"max_turns":3}` {
		t.Errorf("written down is %+v", by)
	}
	plain := f.opened(t, identity.Guest(nil), `{"name":"den"}`)
	if plain.MaxTurns != 24 || len(plain.Members) != 0 {
		t.Errorf("%+v", plain)
	}
	if w := f.ask("POST", "/v1/rooms/den/messages", `{"from":"taro","text":"hi"}`); w.Code != 201 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// A mistake in what a room is to be is told with its key, and no room comes of
// it.
func TestOpenRoomRefusals(t *testing.T) {
	f := newDoor(t, nil)
	f.opened(t, ken, `{"name":"den"}`)
	for _, c := range []struct {
		name, body  string
		status      int
		code        abi.Code
		where, says string
	}{
		{"an unknown key", `{"name":"x1","polcy":"vote"}`, 400, "invalid", "body.polcy", "polcy: "},
		{"a bad value", `{"name":"x1","max_turns":"many"}`, 400, "invalid", "body.max_turns", "max_turns: "},
		{"another bad value", `{"name":"x1","companions":5,"max_turns":3}`, 400, "invalid", "body.companions", "companions: "},
		{"no cap without admin", `{"name":"x1","max_turns":0}`, 403, "denied", "body.max_turns", "admin"},
		{"no name", `{}`, 400, "invalid", "body.name", "name: "},
		{"a number for a name", `{"name":7}`, 400, "invalid", "body.name", "name: must be a text"},
		{"no name at all", `{"name":null}`, 400, "invalid", "body.name", "name: must be a text"},
		{"an empty name", `{"name":""}`, 400, "invalid", "body.name", "name: must not be empty"},
		{"a space", `{"name":"x 1"}`, 400, "invalid", "body.name", "may not contain"},
		{"a path", `{"name":"../x1"}`, 400, "invalid", "body.name", "may not contain"},
		{"a slash", `{"name":"x/1"}`, 400, "invalid", "body.name", "may not contain"},
		{"a long name", `{"name":"` + strings.Repeat("x", abi.MaxName+1) + `"}`, 400, "invalid", "body.name", "at most"},
		{"mixed scripts", `{"name":"dіary"}`, 400, "invalid", "body.name", "mixes scripts"},
		{"what shows as nothing", `{"name":"x\u200b1"}`, 400, "invalid", "body.name", "U+200B"},
		{"the daemon's", `{"name":"system"}`, 400, "invalid", "body.name", "reads as the daemon"},
		{"everybody's", `{"name":"みんな"}`, 400, "invalid", "body.name", "reads as the daemon"},
		{"of the configuration", `{"name":"main"}`, 409, "conflict", "body.name", `"main"`},
		{"looks like one of the configuration", `{"name":"ma1n"}`, 409, "conflict", "body.name", `"main"`},
		{"capitals", `{"name":"Side"}`, 409, "conflict", "body.name", `"side"`},
		{"full width", `{"name":"ｍａｉｎ"}`, 409, "conflict", "body.name", `"main"`},
		{"is there", `{"name":"den"}`, 409, "conflict", "body.name", `"den"`},
		{"looks like one that was opened", `{"name":"DEN"}`, 409, "conflict", "body.name", `"DEN"`},
		{"nothing", ``, 400, "invalid", "", "body"},
		{"null", `null`, 400, "invalid", "body", "object"},
		{"a list", `[{"name":"x1"}]`, 400, "invalid", "body", "object"},
		{"no JSON", `{"name":`, 400, "invalid", "body", ""},
		{"two values", `{"name":"x1"}{}`, 400, "invalid", "body", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			isRefused(t, f.as(mika, "POST", opens, c.body), c.status, c.code, c.where, c.says)
		})
	}
	if got := f.names(t, ""); !slices.Equal(got, []string{"den", "main", "side"}) {
		t.Errorf("there are %q", got)
	}
	isRefused(t, f.as(mika, "POST", opens+"?name=x1", `{"name":"x1"}`), 400, "invalid", "query.name", "")
}

// names lists the rooms.
func (f fixture) names(t *testing.T, query string) (names []string) {
	t.Helper()
	got := decode[struct{ Rooms []rooms.Info }](t, f.ask("GET", opens+query, ""), 200)
	for _, r := range got.Rooms {
		names = append(names, r.Name)
	}
	return names
}

// A caller that may act may open rooms and close its own; the cap on turns is for admins to take
// off.
func TestRoomScopes(t *testing.T) {
	f := newDoor(t, nil)
	for _, scope := range identity.Scopes() {
		by := holder("mika", abi.KindHuman, scope)
		if scope == identity.Act {
			if w := f.as(by, "POST", opens, `{"name":"own"}`); w.Code != 201 {
				t.Errorf("%s: %d %s", scope, w.Code, w.Body)
			}
			continue
		}
		isRefused(t, f.as(by, "POST", opens, `{"name":"own-`+string(scope)+`"}`), 403, "denied", "", `"act"`)
	}
	for _, scope := range []identity.Scope{identity.Read, identity.Talk} {
		isRefused(t, f.as(holder("mika", abi.KindHuman, scope), "DELETE", opens+"/own", ""), 403, "denied", "", `"act"`)
	}
	isRefused(t, f.as(identity.Caller{}, "POST", opens, `{"name":"nobodys"}`), 403, "denied", "", "")
	isRefused(t, f.as(mika, "POST", opens, `{"name":"endless","max_turns":0}`), 403, "denied", "body.max_turns", "admin")
	if got := f.opened(t, admin, `{"name":"endless","max_turns":0}`); got.MaxTurns != 0 {
		t.Errorf("%+v", got)
	}
	if w := f.as(holder("mika", abi.KindHuman, identity.Act), "DELETE", opens+"/own", ""); w.Code != 204 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// Each caller has a number of rooms, and guests have it together. One that is closed
// does not count; an admin is not counted.
func TestRoomQuota(t *testing.T) {
	f := newDoor(t, nil)
	for i := range 3 {
		f.opened(t, mika, fmt.Sprintf(`{"name":"mikas%d"}`, i))
		f.opened(t, identity.Guest(nil), fmt.Sprintf(`{"name":"guests%d"}`, i))
	}
	for _, by := range []identity.Caller{mika, identity.Guest(nil)} {
		isRefused(t, f.as(by, "POST", opens, `{"name":"fourth"}`), 429, "exhausted", "", "3 are open")
	}
	if n := len(f.names(t, "")); n != 2+3+3 {
		t.Errorf("%d rooms", n)
	}
	f.opened(t, ken, `{"name":"kens"}`)
	for i := range 5 {
		f.opened(t, admin, fmt.Sprintf(`{"name":"admins%d"}`, i))
	}
	if w := f.as(mika, "DELETE", opens+"/mikas2", ""); w.Code != 204 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	f.opened(t, mika, `{"name":"fourth"}`)
	isRefused(t, f.as(mika, "POST", opens, `{"name":"mikas2"}`), 429, "exhausted", "", "3 are open") // opened again it would count
}

// Of many who open rooms that look alike at once, one does.
func TestOpenAtOnce(t *testing.T) {
	f := newDoor(t, nil)
	var all sync.WaitGroup
	codes := make(chan int, 16)
	for i := range cap(codes) {
		all.Go(func() {
			by := holder(fmt.Sprint("holder", i), abi.KindHuman, identity.Act)
			codes <- f.as(by, "POST", opens, fmt.Sprintf(`{"name":%q}`, []string{"den", "Den", "DEN", "ｄｅｎ"}[i%4])).Code
		})
	}
	all.Wait()
	close(codes)
	got := map[int]int{}
	for c := range codes {
		got[c]++
	}
	if got[201] != 1 || got[409] != cap(codes)-1 {
		t.Errorf("%v", got)
	}
}

func TestCloseRoom(t *testing.T) {
	f := newDoor(t, nil)
	f.opened(t, mika, `{"name":"den"}`)
	const den, talks = opens + "/den", opens + "/den/messages"
	said := decode[struct{ Seq uint64 }](t, f.as(mika, "POST", talks, `{"text":"remember me"}`), 201)
	for _, c := range []struct {
		by         identity.Caller
		path       string
		status     int
		code, says string
	}{
		{ken, den, 403, "denied", "not yours"},
		{identity.Guest(nil), den, 403, "denied", "not yours"},
		{mika, opens + "/main", 403, "denied", "configuration"},
		{admin, opens + "/main", 403, "denied", "configuration"},
		{mika, opens + "/attic", 404, "not_found", "attic"},
	} {
		isRefused(t, f.as(c.by, "DELETE", c.path, ""), c.status, abi.Code(c.code), "", c.says)
	}
	if w := f.as(mika, "POST", talks, `{"text":"still here"}`); w.Code != 201 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	for range 2 { // to close it twice is to close it
		if w := f.as(mika, "DELETE", den, ""); w.Code != 204 || w.Body.Len() != 0 {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	}
	closed := 0
	for _, e := range f.house.Get("den").Journal() {
		if e.Kind == entry.KindArchived {
			closed++
		}
	}
	if closed != 1 {
		t.Errorf("it is written down %d times", closed)
	}
	// All that was said can be read, and nothing is said any more.
	got := decode[struct{ Messages []abi.Message }](t, f.ask("GET", talks, ""), 200)
	if len(got.Messages) != 2 || got.Messages[0].Seq != said.Seq || got.Messages[0].Text != "remember me" {
		t.Errorf("%+v", got)
	}
	for _, by := range []identity.Caller{mika, ken, admin} {
		isRefused(t, f.as(by, "POST", talks, `{"text":"hello?"}`), 403, "denied", "", "den was closed")
		isRefused(t, f.as(by, "POST", den+"/stop", ""), 403, "denied", "", "den was closed")
	}
	for _, r := range decode[struct{ Rooms []rooms.Info }](t, f.ask("GET", opens, ""), 200).Rooms {
		one := decode[rooms.Info](t, f.ask("GET", opens+"/"+r.Name, ""), 200)
		if (r.State == "archived") != (r.Name == "den") || one.State != r.State || one.Head != r.Head {
			t.Errorf("%s is %s, and %s by itself", r.Name, r.State, one.State)
		}
	}
}

// The caller that closed a room may open it again, with its history; nobody else may but an
// admin, who may also close any.
func TestOpenAgain(t *testing.T) {
	f := newDoor(t, nil)
	f.opened(t, mika, `{"name":"den","max_turns":3}`)
	const den, talks = opens + "/den", opens + "/den/messages"
	first := decode[struct{ Seq uint64 }](t, f.as(mika, "POST", talks, `{"text":"remember me"}`), 201)
	for n, by := range []struct{ closes, opens identity.Caller }{{mika, mika}, {admin, mika}, {mika, admin}} {
		if w := f.as(by.closes, "DELETE", den, ""); w.Code != 204 {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
		isRefused(t, f.as(ken, "POST", opens, `{"name":"den"}`), 403, "denied", "body.name", "mika")
		isRefused(t, f.as(ken, "POST", opens, `{"name":"Den"}`), 409, "conflict", "body.name", "looks like")
		got := f.opened(t, by.opens, fmt.Sprintf(`{"name":"den","max_turns":%d}`, 10+n))
		if got.State == "archived" || got.MaxTurns != 10+n || got.Head <= first.Seq {
			t.Errorf("%+v", got)
		}
		again := decode[struct{ Seq uint64 }](t, f.as(ken, "POST", talks, `{"text":"and me"}`), 201)
		past := decode[struct{ Messages []abi.Message }](t, f.ask("GET", talks, ""), 200).Messages
		if len(past) != 2+n || past[0].Seq != first.Seq || past[len(past)-1].Seq != again.Seq {
			t.Errorf("%+v", past)
		}
	}
}

func TestRoomsArePaged(t *testing.T) {
	f := newDoor(t, nil)
	for i := range 4 {
		f.opened(t, admin, fmt.Sprintf(`{"name":"n%d"}`, i))
	}
	all := []string{"main", "n0", "n1", "n2", "n3", "side"}
	type page struct {
		Rooms []rooms.Info
		Next  *string
	}
	for limit := 1; limit <= len(all)+1; limit++ {
		var got []string
		for after := ""; ; {
			p := decode[page](t, f.ask("GET", fmt.Sprintf("%s?limit=%d&after=%s", opens, limit, after), ""), 200)
			if len(p.Rooms) > limit || len(p.Rooms) == 0 || len(got) > len(all) {
				t.Fatalf("%d rooms after %q, at most %d", len(p.Rooms), after, limit)
			}
			for _, r := range p.Rooms {
				got = append(got, r.Name)
			}
			if p.Next == nil {
				break
			}
			if after = *p.Next; after != got[len(got)-1] {
				t.Errorf("next is %q after %q", after, got)
			}
		}
		if !slices.Equal(got, all) {
			t.Errorf("%d at once: %q", limit, got)
		}
	}
	if got := f.names(t, "?after=n1"); !slices.Equal(got, []string{"n2", "n3", "side"}) {
		t.Errorf("%q", got)
	}
	if got := f.names(t, "?after=n"); len(got) != 5 { // no room has that name
		t.Errorf("%q", got)
	}
	exactly(t, f.ask("GET", opens+"?after=zzz", ""), 200, `{"rooms":[]}`)
	for _, query := range []string{"limit=0", "limit=1001", "limit=x"} {
		isRefused(t, f.ask("GET", opens+"?"+query, ""), 400, "invalid", "query.limit", "")
	}
	isRefused(t, f.ask("GET", opens+"?since=1", ""), 400, "invalid", "query.since", "")
}

// The description of the API has the keys that a room may be opened with, and the
// name, and nothing else.
func TestRoomKeysAreDescribed(t *testing.T) {
	f := newDoor(t, nil)
	mux := http.NewServeMux()
	keys := []web.RoomKey{{Name: "max_turns", Doc: "How long they may talk."}, {Name: "companions", Doc: "Who lives there."}}
	if err := web.Register(mux, web.Config{Rooms: f.house, RoomKeys: keys}); err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	mux.ServeHTTP(w, httptest.NewRequest("GET", "/openapi.json", nil))
	type operation struct {
		RequestBody struct {
			Required bool
			Content  map[string]struct {
				Schema struct {
					Type                 string
					Required             []string
					AdditionalProperties any
					Properties           map[string]struct{ Type, Description string }
				}
			}
		}
		Parameters []struct{ Name, In string }
		Responses  map[string]struct{ Content map[string]any }
	}
	doc := decode[struct {
		Paths map[string]map[string]operation
	}](t, asPlainJSON(w), 200)
	open, shut, list := doc.Paths[opens]["post"], doc.Paths[opens+"/{room}"]["delete"], doc.Paths[opens]["get"]
	s := open.RequestBody.Content["application/json"].Schema
	if !open.RequestBody.Required || len(open.RequestBody.Content) != 1 || s.Type != "object" || !slices.Equal(s.Required, []string{"name"}) || s.AdditionalProperties != false {
		t.Errorf("%+v", open.RequestBody)
	}
	if p := s.Properties; len(p) != 3 || p["name"].Type != "string" || p["max_turns"].Description != "How long they may talk." || p["companions"].Description != "Who lives there." {
		t.Errorf("%+v", p)
	}
	if open.Responses["201"].Content["application/json"] == nil || len(open.Responses) != 2 {
		t.Errorf("%+v", open.Responses)
	}
	if r, ok := shut.Responses["204"]; !ok || len(r.Content) != 0 || len(shut.Responses) != 2 || len(shut.Parameters) != 1 {
		t.Errorf("%+v", shut)
	}
	var asked []string
	for _, p := range list.Parameters {
		asked = append(asked, p.In+" "+p.Name)
	}
	slices.Sort(asked)
	if !slices.Equal(asked, []string{"query after", "query limit"}) {
		t.Errorf("%q", asked)
	}
}

// To look at a room that sleeps wakes nobody and writes nothing; to do something there
// does, and a refusal at the door does not.
func TestReadingWakesNobody(t *testing.T) {
	f := newDoor(t, nil)
	main := f.house.Get("main")
	main.Chat(3)
	before := len(main.Journal())
	for _, c := range []struct {
		method, path, body string
		status             int
	}{
		{"GET", opens, "", 200}, {"GET", opens + "/main", "", 200}, {"GET", says, "", 200}, {"GET", "/v1/rooms/main/entries", "", 200},
		{"GET", "/v1/rooms/main/entries/2/why", "", 404}, {"POST", says, `{"from":"mі","text":"hi"}`, 400},
		{"POST", says, `{"from":"mika","text":""}`, 400}, {"DELETE", opens + "/main", "", 403}, {"POST", opens, `{"name":"main"}`, 409},
	} {
		if w := f.ask(c.method, c.path, c.body); w.Code != c.status {
			t.Errorf("%s %s: %d %s", c.method, c.path, w.Code, w.Body)
		}
		if f.house.Awake("main") || len(main.Journal()) != before {
			t.Errorf("%s %s: awake %v, %d entries of %d", c.method, c.path, f.house.Awake("main"), len(main.Journal()), before)
		}
	}
	if w := f.ask("POST", says, `{"from":"mika","text":"hi"}`); w.Code != 201 || len(main.Journal()) == before {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// A room that cannot be read is listed as that, beside the others.
func TestRoomsThatCannotBeRead(t *testing.T) {
	f := newDoor(t, nil)
	f.house.Get("side").Corrupt()
	w := f.ask("GET", opens, "")
	all := decode[struct{ Rooms []rooms.Info }](t, w, 200).Rooms
	if len(all) != 2 || all[0].State != "resting" || all[1].State != "unavailable" || all[1].Error == "" || strings.Contains(w.Body.String(), "null") {
		t.Errorf("%s", w.Body)
	}
	one := f.ask("GET", opens+"/side", "")
	if got := decode[rooms.Info](t, one, 200); got.State != "unavailable" || got.Error != all[1].Error || strings.Contains(one.Body.String(), "null") {
		t.Errorf("%s", one.Body)
	}
}
