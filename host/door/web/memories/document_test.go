package memories_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/config"
	"github.com/companiond/companiond/host/door/doortest"
	"github.com/companiond/companiond/host/door/guard"
	"github.com/companiond/companiond/host/door/web"
)

const document = "../../../../docs/MEMORY.md"

// TestDocument holds the table of requests of docs/MEMORY.md to the API.
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
		t.Errorf("docs/MEMORY.md has\n%s\nthe door has\n%s", strings.Join(rows, "\n"), strings.Join(want, "\n"))
	}
}

// TestDocumentOfRights holds the table of who may do what to what the door answers.
func TestDocumentOfRights(t *testing.T) {
	callers := map[string]string{
		"a person's token with `admin`": "admin", "a guest on this machine": "here", "a person's token with `read`": "mika", "a person's token without either": "actor",
		"a guest from elsewhere": "elsewhere", "an agent's token, whatever its scopes": "bot",
	}
	columns := []string{"", "see mine", "edit mine", "erase mine", "forget me", "forget me and copies", "prompts"}
	rows, door := doortest.Table(t, document, "| see memories"), newDoor(t, &house{kyoko: remembered()})
	if len(rows) != len(callers) {
		t.Fatalf("%q", rows)
	}
	for _, row := range rows {
		whoever := callers[row[0]]
		if whoever == "" || len(row) != len(columns) {
			t.Fatalf("%q", row)
		}
		for _, o := range operations() {
			column := slices.Index(columns, o.name)
			if column < 1 {
				continue
			}
			a := ask(t, door, whoever, o.method, o.path, o.body)
			if may := row[column] != "no"; may != (a.status < 300) {
				t.Errorf("%s, %s: the table says %q, the door %s", row[0], o.name, row[column], a.text)
			}
		}
	}
}

// TestDocumentOfFields holds the tables of fields, scopes and errors to the code.
func TestDocumentOfFields(t *testing.T) {
	var fields, have []string
	for field := range reflect.TypeFor[abi.Memory]().Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		fields = append(fields, name)
	}
	for _, row := range doortest.Table(t, document, "field |") {
		have = append(have, doortest.Code(row[0])...)
	}
	if !slices.Equal(have, fields) {
		t.Errorf("docs/MEMORY.md has %q, a memory %q", have, fields)
	}
	have = nil
	for _, row := range doortest.Table(t, document, "`scope` |") {
		have = append(have, doortest.Code(row[0])...)
	}
	if !slices.Equal(have, []string{string(abi.VisibleRoom), string(abi.VisiblePerson), string(abi.VisibleAll), config.MemoryOff}) {
		t.Errorf("docs/MEMORY.md has the scopes %q", have)
	}
	for _, row := range doortest.Table(t, document, "code | status") {
		if status := fmt.Sprint(guard.Status(abi.Code(doortest.Code(row[0])[0]))); status != row[1] {
			t.Errorf("docs/MEMORY.md has %q, the doors %s", row, status)
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
	for path, methods := range api.Paths {
		if !strings.Contains(path, "/memories") && !strings.HasPrefix(path, "/v1/forget") && !strings.HasSuffix(path, "/prompts") {
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
