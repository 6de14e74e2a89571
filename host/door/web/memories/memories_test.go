package memories_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/door/guard"
	"github.com/companiond/companiond/host/door/web"
)

const of = "/v1/companions/kyoko/memories"

// operation is one thing that can be asked of the door, about what mika said (m1), what ken
// said of mika (m2), or ken alone (m3).
type operation struct{ name, method, path, body string }

func operations() []operation {
	return []operation{
		{"list", "GET", of, ""},
		{"see mine", "GET", of + "/m1", ""},
		{"see of me", "GET", of + "/m2", ""},
		{"see ken's", "GET", of + "/m3", ""},
		{"add", "POST", of, `{"text":"Mika is tall."}`},
		{"edit mine", "PATCH", of + "/m1", `{"importance":5}`},
		{"erase mine", "DELETE", of + "/m1", ""},
		{"erase ken's", "DELETE", of + "/m3", ""},
		{"forget me", "POST", "/v1/forget", `{"who":"mika","confirm":"mika"}`},
		{"forget ken", "POST", "/v1/forget", `{"who":"ken","confirm":"ken"}`},
		{"would forget ken", "POST", "/v1/forget", `{"who":"ken","dry_run":true}`},
		{"forget my fact", "POST", "/v1/forget", `{"fact":"m1","companion":"kyoko","confirm":"m1"}`},
		{"forget ken's fact", "POST", "/v1/forget", `{"fact":"m3","companion":"kyoko","confirm":"m3"}`},
		{"look at an order", "GET", "/v1/forget/o1", ""},
		{"list orders", "GET", "/v1/forget", ""},
		{"forget me and copies", "POST", "/v1/forget", `{"who":"mika","confirm":"mika","copies":true}`},
		{"prompts", "GET", "/v1/rooms/main/entries/12/prompts", ""},
	}
}

// TestWhoMay has each row of the table of rights of docs/MEMORY.md: who may do what, and
// nothing else.
func TestWhoMay(t *testing.T) {
	h := &house{kyoko: remembered()}
	door, everything := newDoor(t, h), []string{}
	for _, o := range operations() {
		everything = append(everything, o.name)
	}
	for whoever, may := range map[string][]string{
		"admin":     everything,
		"here":      slices.DeleteFunc(slices.Clone(everything), func(name string) bool { return name == "forget me and copies" }),
		"mika":      {"list", "see mine", "see of me", "erase mine", "forget me", "forget my fact", "look at an order"},
		"looker":    {"list", "look at an order"}, // of whom nothing is remembered
		"actor":     {},
		"elsewhere": {},
		"bot":       {},
		"kyoko":     {},
	} {
		for _, o := range operations() {
			h.asked = nil
			a := ask(t, door, whoever, o.method, o.path, o.body)
			allowed := slices.Contains(may, o.name)
			if ok := a.status < 300; ok != allowed {
				t.Errorf("%s, %s: %d %s", whoever, o.name, a.status, a.text)
			}
			if !allowed && a.Code != "denied" && a.Code != "not_found" {
				t.Errorf("%s, %s: %s", whoever, o.name, a.text)
			}
			if !allowed && slices.ContainsFunc(h.asked, func(s string) bool {
				return strings.HasPrefix(s, "forget") || strings.HasPrefix(s, "edit") || strings.HasPrefix(s, "add") || strings.HasPrefix(s, "prompts")
			}) {
				t.Errorf("%s, %s: was refused, and done: %q", whoever, o.name, h.asked)
			}
			if !allowed && strings.Contains(a.text, "Ken moved") {
				t.Errorf("%s, %s: shows it in the refusal: %s", whoever, o.name, a.text)
			}
		}
	}
}

// A house that lets no guests in lets them in here neither, whereever they call from.
func TestWithoutGuests(t *testing.T) {
	h := &house{kyoko: remembered()}
	door := newDoor(t, h, func(c *guard.Config) { c.TokensOnly = true })
	for _, o := range operations() {
		if a := ask(t, door, "here", o.method, o.path, o.body); a.status != http.StatusUnauthorized {
			t.Errorf("%s: %d %s", o.name, a.status, a.text)
		}
	}
	if len(h.asked) > 0 {
		t.Errorf("%q", h.asked)
	}
}

// A person is shown what that one said and what is about that one, under whatever look of
// the name, and never another's, whatever the store finds.
func TestOnesOwn(t *testing.T) {
	h := &house{kyoko: remembered()}
	door := newDoor(t, h)
	ids := func(whoever, query string) (all string) {
		t.Helper()
		a := ask(t, door, whoever, "GET", of+query, "")
		for _, m := range a.Memories {
			all += m.ID + " "
		}
		return all + a.Next
	}
	if got := ids("mika", ""); got != "m1 m2 " {
		t.Errorf("mika sees %s", got)
	}
	if got := h.asked; !slices.Equal(got, []string{"list kyoko {Who:mika Text: Past:false Limit:50 After:}"}) {
		t.Errorf("%q", got)
	}
	if got := ids("mika", "?who=MIKA&limit=1"); got != "m1 m1" {
		t.Errorf("mika sees %s", got)
	}
	if a := ask(t, door, "mika", "GET", of+"?who=ken", ""); a.status != 403 || a.Detail != "query.who: this token is mika's, which sees what is remembered of mika alone" {
		t.Errorf("%s", a.text)
	}
	if a := ask(t, door, "looker", "GET", of, ""); a.text != `{"memories":[]}`+"\n" { // nor how many there are
		t.Errorf("%s", a.text)
	}
	// That there is one of another's is not told.
	theirs, none := ask(t, door, "mika", "GET", of+"/m3", ""), ask(t, door, "mika", "GET", of+"/m4", "")
	nobody := ask(t, door, "mika", "GET", "/v1/companions/nobody/memories/m3", "")
	if theirs.status != 404 || strings.ReplaceAll(theirs.text, "m3", "m4") != none.text || strings.ReplaceAll(nobody.text, "nobody", "kyoko") != theirs.text {
		t.Errorf("%s%s%s", theirs.text, none.text, nobody.text)
	}
}

// Nobody sees, or has erased, what is another's, whatever the names are: law of the table.
func TestNobodySeesAnothers(t *testing.T) {
	h := &house{}
	door := newDoor(t, h)
	rapid.Check(t, func(rt *rapid.T) {
		name := rapid.SampledFrom([]string{"ken", "mik", "mikaa", "m.ika", "みか", "", "tama", "mi-ka"})
		m := abi.Memory{ID: "m1", Text: "x", SaidBy: name.Draw(rt, "said by"), About: rapid.SliceOfN(name, 0, 4).Draw(rt, "about")}
		h.kyoko, h.asked = []abi.Memory{m}, nil
		if a := ask(t, door, "mika", "GET", of, ""); len(a.Memories) > 0 {
			rt.Fatalf("%+v is shown", m)
		}
		if a := ask(t, door, "mika", "DELETE", of+"/m1", ""); a.status != 404 || strings.Contains(strings.Join(h.asked, " "), "forget") {
			rt.Fatalf("%+v is erased: %s", m, a.text)
		}
	})
}

func TestListed(t *testing.T) {
	h := &house{kyoko: remembered()}
	door := newDoor(t, h)
	a := ask(t, door, "here", "GET", of+"?who=mika&text=cat&past=true&limit=3&after=m0", "")
	if len(a.Memories) != 3 || a.Next != "m3" || a.Total != 3 || !strings.Contains(a.text, `"text":"Mika's cat is called Tama.","quote":"my cat Tama","about":["mika"],"keys":["Tama"],"room":"main","turns":[12],"said_by":"mika","said_at":"2026-01-02T03:04:05.006Z","importance":4,"visibility":"person"}`) {
		t.Errorf("%s", a.text)
	}
	if got := strings.Join(h.asked, "; "); got != "list kyoko {Who:mika Text:cat Past:true Limit:3 After:m0}" {
		t.Error(got)
	}
	if a := ask(t, door, "here", "GET", of+"/m2", ""); a.status != 200 || a.Text != "Mika likes <b>tea</b>." {
		t.Errorf("%s", a.text)
	}
}

func TestWritten(t *testing.T) {
	h := &house{kyoko: remembered()}
	door := newDoor(t, h)
	if a := ask(t, door, "admin", "POST", of, `{"text":"Mika is tall.","about":["mika"],"keys":["tall"],"kind":"episode","importance":5,"visibility":"person"}`); a.status != 201 || a.ID != "m9" {
		t.Errorf("%d %s", a.status, a.text)
	}
	if a := ask(t, door, "here", "POST", "/v1/companions/gone/memories", `{"text":"Mika is tall."}`); a.status != 201 {
		t.Errorf("%d %s", a.status, a.text)
	}
	if got := strings.Join(h.asked, "; "); got != "add kyoko {Kind:episode Text:Mika is tall. Quote: Turn:0 About:[mika] Keys:[tall] Importance:5 Replaces:[]} person admin; add gone {Kind: Text:Mika is tall. Quote: Turn:0 About:[] Keys:[] Importance:0 Replaces:[]}  guest" {
		t.Error(got)
	}
	a := ask(t, door, "admin", "PATCH", of+"/m1", `{"text":"Mika's dog is called Pochi.","keys":["Pochi"],"importance":1,"visibility":"all","valid_to":"2026-02-03T04:05:06.7891+09:00"}`)
	if a.status != 200 || a.Text != "Mika's dog is called Pochi." || !slices.Equal(a.Keys, []string{"Pochi"}) || a.Importance != 1 || a.Visibility != abi.VisibleAll || !a.ValidTo.Equal(time.Date(2026, 2, 2, 19, 5, 6, 789_000_000, time.UTC)) {
		t.Errorf("%s", a.text)
	}
	if a := ask(t, door, "admin", "PATCH", of+"/m3", `{"valid_to":""}`); !a.ValidTo.IsZero() || a.Text != "Ken moved." || a.Importance != 1 {
		t.Errorf("%s", a.text)
	}
	if a := ask(t, door, "admin", "PATCH", of+"/m1", `{"keys":[]}`); a.status != 200 || len(a.Keys) != 0 {
		t.Errorf("%s", a.text)
	}
}

func TestForgotten(t *testing.T) {
	h := &house{kyoko: remembered()}
	door := newDoor(t, h)
	if a := ask(t, door, "mika", "POST", "/v1/forget", `{"who":"mika","dry_run":true}`); a.text != `{"state":"would","kind":"person","stores":[{"store":"entries","count":3}],"left":[]}`+"\n" {
		t.Errorf("%d %s", a.status, a.text)
	}
	const done = `{"order":"o1","at":"2026-01-02T03:04:05.006Z","state":"done","kind":"person","as":"forgotten-3f9a1c","stores":[{"store":"entries","count":3}],"left":["a copy"]}`
	for _, c := range []struct{ whoever, method, path, body string }{
		{"mika", "POST", "/v1/forget", `{"who":"MIKA","confirm":"MIKA"}`},
		{"mika", "POST", "/v1/forget", `{"who":"@Mikaさん","confirm":"@Mikaさん"}`},
		{"here", "POST", "/v1/forget", `{"fact":"m3","companion":"kyoko","confirm":"m3"}`},
		{"admin", "POST", "/v1/forget", `{"who":"ken","confirm":"ken","copies":true}`},
		{"mika", "DELETE", of + "/m2", ""},
		{"mika", "GET", "/v1/forget/o1", ""},
	} {
		if a := ask(t, door, c.whoever, c.method, c.path, c.body); a.status != 200 || a.text != done+"\n" {
			t.Errorf("%s: %d %s", c.body, a.status, a.text)
		}
	}
	want := []string{
		"forget mika by mika copies=false dry=true", "forget MIKA by mika copies=false dry=false", "forget @Mikaさん by mika copies=false dry=false",
		"get kyoko m3", "forget kyokom3 by a guest copies=false dry=false", "forget ken by admin copies=true dry=false",
		"get kyoko m2", "forget kyokom2 by mika copies=false dry=false",
	}
	if !slices.Equal(h.asked, want) {
		t.Errorf("%q", h.asked)
	}
	if a := ask(t, door, "here", "GET", "/v1/forget", ""); len(a.Orders) != 2 || strings.Contains(a.text, "null") {
		t.Errorf("%s", a.text)
	}
}

// An erasure is waited for, though not for ever, and does not end with whoever asked for it.
func TestForgettingIsWaitedFor(t *testing.T) {
	const body = `{"who":"endless","confirm":"endless"}`
	synctest.Test(t, func(t *testing.T) {
		stops, stop := context.WithCancel(context.Background())
		door := newDoor(t, &house{stops: stops})
		begun := time.Now()
		if a := ask(t, door, "admin", "POST", "/v1/forget", body); a.status != 200 || a.State != "running" || a.Order != "o1" || time.Since(begun) != 20*time.Second {
			t.Errorf("%s after %s", a.text, time.Since(begun))
		}
		time.AfterFunc(time.Second, stop)
		begun = time.Now()
		if a := ask(t, door, "admin", "POST", "/v1/forget", body); a.State != "running" || time.Since(begun) != time.Second {
			t.Errorf("%s after %s", a.text, time.Since(begun))
		}
	})
	synctest.Test(t, func(t *testing.T) {
		gone, cancel := context.WithCancel(context.Background())
		cancel()
		r := httptest.NewRequestWithContext(gone, "POST", "/v1/forget", strings.NewReader(body))
		r.Host, r.RemoteAddr = "localhost", "127.0.0.1:1"
		r.Header.Set("Content-Type", "application/json")
		begun := time.Now()
		newDoor(t, &house{}).ServeHTTP(httptest.NewRecorder(), r)
		if time.Since(begun) != 20*time.Second {
			t.Errorf("given up after %s", time.Since(begun))
		}
	})
}

func TestPrompts(t *testing.T) {
	a := ask(t, newDoor(t, &house{}), "admin", "GET", "/v1/rooms/main/entries/12/prompts", "")
	if len(a.Prompts) != 2 || a.Prompts[0].Usage.About != 12 || a.Prompts[0].Parts[0].Text != "You are <Kyoko>." || !a.Prompts[0].Exact {
		t.Errorf("%s", a.text)
	}
	if !strings.Contains(a.text, `"parts":[],"exact":false,"why":"it was trimmed"}`) {
		t.Errorf("%s", a.text)
	}
}

// TestRefusals: everything that is wrong is told at its place, and nothing is done.
func TestRefusals(t *testing.T) {
	long, many := strings.Repeat("x", abi.MaxMemoryText+1), strings.Repeat(`"k",`, abi.MaxMemoryKeys)+`"k"`
	name := strings.Repeat("n", abi.MaxName+1)
	h := &house{kyoko: remembered()}
	door := newDoor(t, h)
	for _, c := range []struct {
		method, path, body string
		status             int
		code, at, detail   string
	}{
		{"GET", of + "?limit=0", "", 400, "invalid", "query.limit", ""},
		{"GET", of + "?limit=201", "", 400, "invalid", "query.limit", ""},
		{"GET", of + "?whom=mika", "", 400, "invalid", "query.whom", ""},
		{"GET", of + "?past=perhaps", "", 400, "invalid", "query.past", ""},
		{"GET", "/v1/companions/nobody/memories", "", 404, "not_found", "path.id", `path.id: there is no companion "nobody"`},
		{"GET", of + "?after=m4", "", 404, "not_found", "query.after", ""},
		{"POST", "/v1/companions/nobody/memories", `{"text":"x"}`, 404, "not_found", "path.id", ""},
		{"GET", "/v1/forget/o2", "", 404, "not_found", "path.order", ""},
		{"POST", "/v1/forget", `{"fact":"m1","companion":"kyoko","confirm":"m1","copies":true}`, 400, "invalid", "body.copies", ""},
		{"GET", of + "/m4", "", 404, "not_found", "path.memory", `path.memory: kyoko remembers no "m4"`},
		{"POST", of, `{}`, 400, "invalid", "body.text", "text: is missing"},
		{"POST", of, `{"text":" "}`, 400, "invalid", "body.text", ""},
		{"POST", of, `{"text":"` + long + `"}`, 413, "too_large", "body.text", "text: 2049 bytes, at most 2048"},
		{"POST", of, `{"text":"x","kind":"rumour"}`, 400, "invalid", "body.kind", ""},
		{"POST", of, `{"text":"x","about":["a b"]}`, 400, "invalid", "body.about[0]", ""},
		{"POST", of, `{"text":"x","about":["` + name + `"]}`, 413, "too_large", "body.about[0]", "about[0]: 65 bytes, at most 64"},
		{"POST", of, `{"text":"x","about":[` + many + `]}`, 413, "too_large", "body.about", ""},
		{"POST", of, `{"text":"x","keys":[` + many + `]}`, 413, "too_large", "body.keys", ""},
		{"POST", of, `{"text":"x","keys":["` + name + `"]}`, 413, "too_large", "body.keys[0]", ""},
		{"POST", of, `{"text":"x","keys":["k",""]}`, 400, "invalid", "body.keys[1]", ""},
		{"POST", of, `{"text":"x","keys":["a\nb"]}`, 400, "invalid", "body.keys[0]", ""},
		{"POST", of, `{"text":"x","importance":6}`, 400, "invalid", "body.importance", ""},
		{"POST", of, `{"text":"x","visibility":"none"}`, 400, "invalid", "body.visibility", ""},
		{"POST", of, `{"text":"x","quote":"x"}`, 400, "invalid", "body.quote", "quote: is not a known field"},
		{"PATCH", of + "/m1", `{}`, 400, "invalid", "body", "body: says nothing to change"},
		{"PATCH", of + "/m1", `{"text":""}`, 400, "invalid", "body.text", ""},
		{"PATCH", of + "/m1", `{"keys":[""]}`, 400, "invalid", "body.keys[0]", ""},
		{"PATCH", of + "/m1", `{"importance":0}`, 400, "invalid", "body.importance", ""},
		{"PATCH", of + "/m1", `{"visibility":""}`, 400, "invalid", "body.visibility", ""},
		{"PATCH", of + "/m1", `{"valid_to":"tomorrow"}`, 400, "invalid", "body.valid_to", "valid_to: is no time like"},
		{"PATCH", of + "/m1", `{"said_by":"ken"}`, 400, "invalid", "body.said_by", ""},
		{"PATCH", of + "/m4", `{"text":"x"}`, 404, "not_found", "path.memory", ""},
		{"DELETE", of + "/m4", "", 404, "not_found", "path.memory", ""},
		{"POST", "/v1/forget", `{}`, 400, "invalid", "body.who", "who: is missing"},
		{"POST", "/v1/forget", `{"who":"mika"}`, 400, "invalid", "body.confirm", `confirm: must be "mika" once more`},
		{"POST", "/v1/forget", `{"who":"mika","confirm":"Mika"}`, 400, "invalid", "body.confirm", ""},
		{"POST", "/v1/forget", `{"who":"mika","fact":"m1","dry_run":true}`, 400, "invalid", "body.fact", ""},
		{"POST", "/v1/forget", `{"who":"mika","companion":"kyoko","dry_run":true}`, 400, "invalid", "body.companion", ""},
		{"POST", "/v1/forget", `{"fact":"m1","confirm":"m1"}`, 400, "invalid", "body.companion", ""},
		{"POST", "/v1/forget", `{"fact":"m1","companion":"kyoko"}`, 400, "invalid", "body.confirm", ""},
		{"POST", "/v1/forget", `{"fact":"m4","companion":"kyoko","confirm":"m4"}`, 404, "not_found", "body.fact", `fact: kyoko remembers no "m4"`},
		{"POST", "/v1/forget", `{"fact":"m1","companion":"nobody","confirm":"m1"}`, 404, "not_found", "body.fact", ""},
		{"POST", "/v1/forget", `{"who":"mi ka","dry_run":true}`, 400, "invalid", "body.who", ""},
		{"POST", "/v1/forget", `{"who":"nobody","dry_run":true}`, 404, "not_found", "body.who", "who: nobody of this name"},
		{"POST", "/v1/forget", `{"who":"mika","sure":true}`, 400, "invalid", "body.sure", ""},
		{"GET", "/v1/rooms/attic/entries/1/prompts", "", 404, "not_found", "path.room", ""},
		{"GET", "/v1/rooms/main/entries/0/prompts", "", 400, "invalid", "path.seq", ""},
	} {
		h.asked = nil
		a := ask(t, door, "admin", c.method, c.path, c.body)
		where := ""
		if len(a.Errors) == 1 {
			where = a.Errors[0].Location
		}
		if a.status != c.status || a.Code != c.code || where != c.at || !strings.HasPrefix(a.Detail, c.detail) {
			t.Errorf("%s %s %.80s: %d %s\nwant %d %s at %s", c.method, c.path, c.body, a.status, a.text, c.status, c.code, c.at)
		}
		if done := strings.Join(h.asked, "; "); strings.Contains(done, "add") || strings.Contains(done, "edit") || strings.Contains(done, "forget") {
			t.Errorf("%s %s: %s", c.method, c.path, done)
		}
	}
	a := ask(t, door, "admin", "POST", of, `{"text":"","about":["a b"],"keys":[""]}`)
	if a.Detail == "" || len(a.Errors) != 3 {
		t.Errorf("three mistakes: %s", a.text)
	}
}

// What is wrong with the house is told without its words.
func TestTrouble(t *testing.T) {
	for _, c := range []struct {
		err    error
		status int
	}{{errors.New("sql: /var/lib/secret"), 500}, {abi.Errorf(abi.CodeUnavailable, "the journal is closed"), 503}} {
		h := &house{kyoko: remembered(), err: c.err}
		door := newDoor(t, h)
		for _, o := range operations() {
			for _, whoever := range []string{"here", "mika"} {
				a := ask(t, door, whoever, o.method, o.path, o.body)
				if strings.Contains(a.text, "secret") || a.status != c.status && a.Code != "denied" {
					t.Errorf("%s, %s: %d %s", whoever, o.name, a.status, a.text)
				}
			}
		}
	}
}

// Where nothing is remembered nothing of it is offered.
func TestNothingRemembered(t *testing.T) {
	mux := http.NewServeMux()
	if err := web.Register(mux, web.Config{}); err != nil {
		t.Fatal(err)
	}
	for _, o := range operations() {
		if a := ask(t, guard.Mux(mux), "here", o.method, o.path, o.body); a.status != 404 {
			t.Errorf("%s: %d", o.name, a.status)
		}
	}
}
