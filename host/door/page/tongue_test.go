package page_test

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// parsed are the files of a folder of the house, without tests.
func parsed(t *testing.T, folder string) []*ast.File {
	t.Helper()
	names, err := filepath.Glob(filepath.Join("../../..", folder, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	var all []*ast.File
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, f)
	}
	if len(all) == 0 {
		t.Fatalf("%s has no Go", folder)
	}
	return all
}

// constants are the values of a package's constants whose names begin so.
func constants(t *testing.T, folder, prefix string) (all []string) {
	t.Helper()
	for _, f := range parsed(t, folder) {
		ast.Inspect(f, func(n ast.Node) bool {
			if v, ok := n.(*ast.ValueSpec); ok {
				for i, name := range v.Names {
					if strings.HasPrefix(name.Name, prefix) && i < len(v.Values) {
						if s := sentence(v.Values[i]); s != "" {
							all = append(all, s)
						}
					}
				}
			}
			return true
		})
	}
	if len(all) < 3 {
		t.Fatalf("%s has %q of %s", folder, all, prefix)
	}
	return all
}

// sentence is a text that code puts together, with X wherever something else is put in; "" for what is no text of its own.
func sentence(e ast.Expr) string {
	text := ""
	switch e := e.(type) {
	case *ast.BasicLit:
		text, _ = strconv.Unquote(e.Value)
		return text
	case *ast.BinaryExpr:
		return cmpX(sentence(e.X)) + cmpX(sentence(e.Y))
	case *ast.CallExpr:
		if fun, ok := e.Fun.(*ast.SelectorExpr); ok && fun.Sel.Name == "Sprintf" {
			text = sentence(e.Args[0])
			for _, verb := range []string{"%.64q", "%d", "%s", "%q", "%v"} {
				text = strings.ReplaceAll(text, verb, "X")
			}
			return text
		}
		for _, arg := range e.Args { // call.Clip("broke down: " + ...)
			if text = sentence(arg); strings.Contains(text, " ") {
				return text
			}
		}
	}
	return ""
}

func cmpX(s string) string {
	if s == "" {
		return "X"
	}
	return s
}

// spoken are the sentences that a folder's code says: behind a code where it returns one, as Why, or as a note to a vote.
func spoken(t *testing.T, folder string) (all []string) {
	t.Helper()
	add := func(e ast.Expr) {
		if s := sentence(e); strings.Contains(s, " ") {
			all = append(all, s)
		}
	}
	coded := func(e ast.Expr) bool {
		s, ok := e.(*ast.SelectorExpr)
		return ok && strings.HasPrefix(s.Sel.Name, "Code")
	}
	named := func(e ast.Expr, names ...string) bool {
		switch e := e.(type) {
		case *ast.Ident:
			return slices.Contains(names, e.Name)
		case *ast.SelectorExpr:
			return slices.Contains(names, e.Sel.Name)
		}
		return false
	}
	for _, f := range parsed(t, folder) {
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.ReturnStmt:
				if len(n.Results) == 2 && coded(n.Results[0]) {
					add(n.Results[1])
				}
			case *ast.AssignStmt:
				for i, to := range n.Lhs {
					if i < len(n.Rhs) && named(to, "Why", "Note", "Lost") {
						add(n.Rhs[i])
					}
				}
			case *ast.KeyValueExpr:
				if named(n.Key, "Why", "Note") {
					add(n.Value)
				}
			case *ast.CallExpr:
				if named(n.Fun, "with") && len(n.Args) == 2 {
					add(n.Args[1])
				}
			case *ast.FuncDecl:
				if named(n.Name, "noFloor", "afford") {
					ast.Inspect(n, func(n ast.Node) bool {
						if r, ok := n.(*ast.ReturnStmt); ok && len(r.Results) == 1 {
							add(r.Results[0])
						}
						return true
					})
				}
			}
			return true
		})
	}
	return all
}

// Every code, outcome, rule and standing has its word, and every sentence about the floor its own, in Japanese: a new one in the Go code
// makes this red until tongue.js or words.js has it.
func TestJapaneseForAllThatIsSaid(t *testing.T) {
	var said []string
	for _, folder := range []string{"host/room/rules", "host/turn", "host/call", "host/room/fold"} {
		said = append(said, spoken(t, folder)...)
	}
	if len(said) < 25 {
		t.Errorf("only %d sentences were found: %q", len(said), said)
	}
	asked, err := json.Marshal(map[string][]string{
		"wrong": constants(t, "abi", "Code"), "rule": constants(t, "host/entry", "Rule"), "wish": constants(t, "host/turn", "Standing"),
		"outcome": constants(t, "host/entry", "Outcome"), "said": said, "state": constants(t, "host/module", "State"),
	})
	if err != nil {
		t.Fatal(err)
	}
	out := runIn(t, "", `
const asked = `+string(asked)+`, lacks = [];
for (const of of ["wrong", "rule", "wish", "state"]) for (const k of asked[of]) if (!words.ja[of][k]) lacks.push(of + " " + k);
for (const k of asked.outcome) if (k !== "grant" && !words.ja[k]) lacks.push("outcome " + k);
for (const s of asked.said) if (!known(s)) lacks.push(s); else if (/[A-WYZa-z]{2,}/.test(known(s))) lacks.push(s + " -> " + known(s));
console.log(lacks.join("\n")); process.exit(0);`, "ja")
	if strings.TrimSpace(out) != "" {
		t.Errorf("without Japanese:\n%s", out)
	}
}

// Every field of a card's form has a name in Japanese, and every one that the schema explains an explanation.
func TestJapaneseForCards(t *testing.T) {
	schema, err := os.ReadFile("../../card/companion.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	out := runIn(t, "", `
const ja = words.ja, lacks = [];
(function look(s, name) {
  for (const [k, v] of Object.entries(s.properties ?? {})) if (!["$schema", "id", "type"].includes(k)) {
    if (!ja.cardkeys[k]) lacks.push(k);
    if (v.description && ![v.type].flat().includes("array") && v.type !== "object" && !ja.cardhelp[k]) lacks.push(k + ": " + v.description);
    if (k !== "properties") look(v);
  }
  for (const v of [s.items, ...Object.values(s.$defs ?? {})]) if (v) look(v);
})(`+string(schema)+`);
console.log(lacks.join("\n")); process.exit(0);`, "ja")
	if strings.TrimSpace(out) != "" {
		t.Errorf("without Japanese:\n%s", out)
	}
}

// A refusal is shown in the reader's language, by its sentence, else by its code and the field that it names, with the daemon's own words beside it; in English as it is.
func TestRefusalsAreRendered(t *testing.T) {
	const show = `
const say = (...all) => { const r = rendered(...all); console.log(r.message + (r.original ? " | " + r.original : "")); };
say("text: must not be empty", "invalid"); say("from: mika has a token; connect with it, or take another name", "denied"); say("name: reads like <b>", "invalid"); say("aya spoke meanwhile", "stale");
say("a guest may not do this: connect with a token that has the scope \"act\"", "denied"); say("something new", "unheard_of"); say("talkativeness: is 7, must be from 0 to 1", ""); say("odd", "", "!"); say("aya.json:4:2: is no JSON: a comma", "", "!"); say("");
console.log(remarked("I have an idea; called by mika; vote kept from the round before"));
process.exit(0);`
	if got, want := runIn(t, "", show, "ja"), `発言: 空にはできません | text: must not be empty
名前: mika はトークンを持つ人の名前です。そのトークンで接続するか、ほかの名前にしてください | from: mika has a token; connect with it, or take another name
名前: 入力に誤りがあります | name: reads like <b>
その間に aya が話しました | aya spoke meanwhile
ゲストにはできません。権限のあるトークンで接続してください | a guest may not do this: connect with a token that has the scope "act"
something new
talkativeness: 7 は使えません。使えるのは 0〜1 です | talkativeness: is 7, must be from 0 to 1
! | odd
4 行目: JSON として読めません | aya.json:4:2: is no JSON: a comma

I have an idea; mika に呼ばれました; 前の回の投票です
`; got != want {
		t.Errorf("%s", got)
	}
	if got := run(t, show); !strings.HasPrefix(got, "text: must not be empty\n") || strings.Contains(got, "|") {
		t.Errorf("%s", got)
	}
}
