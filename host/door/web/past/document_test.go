package past_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/door/doortest"
	"github.com/companiond/companiond/host/door/guard"
	"github.com/companiond/companiond/host/door/web"
	"github.com/companiond/companiond/host/history"
	"github.com/companiond/companiond/host/journal"
)

const document = "../../../../docs/HISTORY.md"

func text(t *testing.T) string {
	t.Helper()
	raw, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// TestDocument holds the table of requests of docs/HISTORY.md to the API.
func TestDocument(t *testing.T) {
	var rows []string
	for _, row := range doortest.Table(t, document, "request |") {
		fields := []string{}
		for _, w := range doortest.Code(row[1]) {
			fields = append(fields, strings.Split(strings.ReplaceAll(strings.Trim(w, "?"), "=", ""), "&")...)
		}
		slices.Sort(fields)
		rows = append(rows, doortest.Code(row[0])[0]+" "+strings.Join(fields, " "))
	}
	slices.Sort(rows)
	if want := described(t); !slices.Equal(rows, want) {
		t.Errorf("docs/HISTORY.md has\n%s\nthe door has\n%s", strings.Join(rows, "\n"), strings.Join(want, "\n"))
	}
	for _, row := range doortest.Table(t, document, "code | status") {
		if status := fmt.Sprint(guard.Status(abi.Code(doortest.Code(row[0])[0]))); status != row[1] {
			t.Errorf("docs/HISTORY.md has %q, the doors %s", row, status)
		}
	}
	if !strings.Contains(text(t), fmt.Sprintf("%d deep", journal.MaxDepth)) {
		t.Errorf("docs/HISTORY.md does not say that forks go %d deep", journal.MaxDepth)
	}
}

// TestDocumentOfStates holds the table of what may be done, and when, to what the door answers.
func TestDocumentOfStates(t *testing.T) {
	does := []string{"", "approve", "deny", "revert", "extract"}
	var states []string
	for _, row := range doortest.Table(t, document, "state | approve") {
		state := doortest.Code(row[0])[0]
		states = append(states, state)
		if len(row) != len(does)+1 {
			t.Fatalf("%q", row)
		}
		for i, cell := range row {
			if i == 0 {
				continue
			}
			s := newStage(t, 6)
			s.offer("p", 1, 3, history.State(state))
			method, path, body := "POST", all, `{"turns":"1-3"}`
			if i < len(does) {
				path, body = all+"/p/"+does[i], ""
			}
			a := s.ask("here", method, path, body)
			may := a.status < 300
			if i < len(does) && does[i] == "extract" {
				may = a.Code != abi.CodeConflict // a draft may not fit
			}
			if want := cell != "no"; may != want {
				t.Errorf("%s, column %d: the table says %q, the door %s", state, i, cell, a.text)
			}
			if now := s.ask("here", "GET", all+"/p", ""); !may && now.State != state {
				t.Errorf("%s, column %d: it was refused, and is %s now", state, i, now.State)
			}
		}
	}
	if want := []string{"drafting", "offered", "refused", "approved", "denied", "failed", "reverted"}; !slices.Equal(states, want) {
		t.Errorf("docs/HISTORY.md has the states %q", states)
	}
}

// TestDocumentOfRights holds the table of who may do what to what the door answers.
func TestDocumentOfRights(t *testing.T) {
	callers := map[string]string{
		"a person's token with `read` and `talk`": "mika", "a person's token with `read`": "looker", "an agent's token with all scopes": "bot", "an agent's token with `read`": "reader",
		"a person's token with `talk`": "talker", "an agent's token with `talk`": "mouth",
		"a guest on this machine": "here", "a guest from elsewhere": "elsewhere",
	}
	type request struct{ method, path, body string }
	columns := [][]request{nil, {
		{"GET", "/v1/rooms/main/turns", ""}, {"GET", all, ""}, {"GET", all + "/offered", ""}, {"GET", "/v1/rooms/main/branches", ""}, {"GET", "/v1/rooms/main/diff?with=side", ""},
	}, {
		{"POST", all, `{"turns":"20-25"}`}, {"POST", all + "/refused/drafts", `{"text":"x"}`}, {"POST", all + "/refused/extract", ""}, {"POST", "/v1/rooms/main/forks", "{}"},
	}, {
		{"POST", all + "/offered/approve", ""}, {"POST", all + "/refused/deny", ""}, {"POST", all + "/approved/revert", ""},
	}}
	rows := doortest.Table(t, document, "| look at turns")
	if len(rows) != len(callers) {
		t.Fatalf("%q", rows)
	}
	for _, row := range rows {
		whoever := callers[row[0]]
		if whoever == "" || len(row) != len(columns) {
			t.Fatalf("%q", row)
		}
		s := newStage(t, 30)
		s.offer("offered", 1, 5, history.Offered)
		s.offer("refused", 6, 10, history.Refused)
		s.offer("approved", 11, 15, history.Approved)
		for i, column := range columns {
			for _, r := range column {
				a := s.ask(whoever, r.method, r.path, r.body)
				if may := row[i] == "yes"; may == (a.Code == abi.CodeDenied) {
					t.Errorf("%s, %s %s: the table says %q, the door %s", row[0], r.method, r.path, row[i], a.text)
				}
				if strings.HasSuffix(row[0], "with `talk`") && a.Detail != fmt.Sprintf("the token of %s has not the scope %q", whoever, "read") {
					t.Errorf("%s, %s %s: it is not said what is missing: %s", row[0], r.method, r.path, a.text)
				}
			}
		}
	}
}

// TestDocumentOfBounds holds docs/HISTORY.md to how much longer a draft may be than was asked for, and to what is not kept.
func TestDocumentOfBounds(t *testing.T) {
	words := strings.Join(strings.Fields(text(t)), " ")
	for _, want := range []string{"A tenth more is let pass: where 100 characters are asked for, 110 are offered and 111 are not.", "One that the list does not have any more is `not_found`"} {
		if !strings.Contains(words, want) {
			t.Errorf("docs/HISTORY.md does not say: %s", want)
		}
	}
	s := newStage(t, 10)
	for n, state := range map[int]string{110: "offered", 111: "drafting"} {
		a := s.ask("mika", "POST", all, fmt.Sprintf(`{"turns":"1-9","target_length":100,"text":%q}`, strings.Repeat("x", n)))
		s.verified(a.ID, 1)
		if now := s.ask("mika", "GET", all+"/"+a.ID, ""); now.State != state {
			t.Errorf("%d of 100: %s", n, now.text)
		}
		s.ask("mika", "POST", all+"/"+a.ID+"/deny", "")
	}
	s = newStage(t, 10)
	for n := range 18 {
		if a := s.ask("mika", "GET", all+"/0", ""); n > 0 && n < 17 && a.State != "denied" {
			t.Fatalf("after %d: %s", n, a.text)
		}
		s.offer(fmt.Sprint(n), 1, 5, history.Denied)
	}
	if a := s.ask("mika", "GET", all, ""); len(a.Compressions) == 18 || a.Compressions[len(a.Compressions)-1].ID == "0" {
		t.Error(a.text)
	}
	if a := s.ask("mika", "GET", all+"/0", ""); a.Code != abi.CodeNotFound {
		t.Error(a.text)
	}
}

// TestDocumentOfForks holds docs/HISTORY.md to whom a fork needs.
func TestDocumentOfForks(t *testing.T) {
	for _, row := range doortest.Table(t, document, "what | in a fork") {
		if (row[0] == "of a conversation" || row[0] == "a room without a cap") != strings.Contains(row[1], "`admin`") {
			t.Errorf("%q", row)
		}
	}
}

// described gives what the API's description says of the door, an operation a row.
func described(t *testing.T) (rows []string) {
	t.Helper()
	asJSON, _, err := web.OpenAPI(web.Version{})
	if err != nil {
		t.Fatal(err)
	}
	var api struct {
		Paths map[string]map[string]struct {
			Parameters  []struct{ Name, In string }
			RequestBody struct {
				Content map[string]struct {
					Schema struct {
						Ref string `json:"$ref"`
					}
				}
			}
		}
		Components struct {
			Schemas map[string]struct{ Properties map[string]any }
		}
	}
	if err := json.Unmarshal(asJSON, &api); err != nil {
		t.Fatal(err)
	}
	ours := regexp.MustCompile(`^/v1/rooms/\{room\}/(turns|compressions|forks|branches|diff)(/|$)`)
	for path, methods := range api.Paths {
		if !ours.MatchString(path) {
			continue
		}
		for method, op := range methods {
			ref := strings.TrimPrefix(op.RequestBody.Content["application/json"].Schema.Ref, "#/components/schemas/")
			fields := slices.Collect(maps.Keys(api.Components.Schemas[ref].Properties))
			for _, p := range op.Parameters {
				if p.In == "query" {
					fields = append(fields, p.Name)
				}
			}
			slices.Sort(fields)
			rows = append(rows, fmt.Sprintf("%s %s %s", strings.ToUpper(method), path, strings.Join(fields, " ")))
		}
	}
	slices.Sort(rows)
	return rows
}
