package abi_test

import (
	"flag"
	"fmt"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write sdk/js/companion.d.ts anew")

const typesFile = "../sdk/js/companion.d.ts"

// TestTypesOfTypeScript: what makers' editors know of the border is this package, word for word. -update writes it anew.
func TestTypesOfTypeScript(t *testing.T) {
	want := newTypes(t).file()
	if *update {
		if err := os.WriteFile(typesFile, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(typesFile)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("%s is not what this package says: go test ./abi -run TypeScript -update", typesFile)
	}
}

// types writes this package as types of TypeScript: those that ops name, and what these are made of.
type types struct {
	t      *testing.T
	decls  map[string]*ast.TypeSpec
	docs   map[string]string
	values map[string][]string // of a type of texts, in their order
	ops    []op
	wanted []string
}

// op is a constant whose comment says what goes and what comes.
type op struct{ name, text, in, out string }

// arrow is such a comment: "Scene with Grant -> Line; only ...".
var arrow = regexp.MustCompile(`^(?:no data|(\w+)[\w ]*) -> (\{\}|\w+)`)

func newTypes(t *testing.T) *types {
	fset := token.NewFileSet()
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var files []*ast.File
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(fset, name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	p := &types{t: t, decls: map[string]*ast.TypeSpec{}, docs: map[string]string{}, values: map[string][]string{}}
	d, err := doc.NewFromFiles(fset, files, "abi", doc.AllDecls|doc.PreserveAST)
	if err != nil {
		t.Fatal(err)
	}
	for _, of := range d.Types {
		for _, spec := range of.Decl.Specs {
			s := spec.(*ast.TypeSpec)
			p.decls[s.Name.Name], p.docs[s.Name.Name] = s, of.Doc
		}
		for _, c := range of.Consts {
			p.constants(c.Decl)
		}
	}
	for _, c := range d.Consts {
		p.constants(c.Decl)
	}
	return p
}

func (p *types) constants(decl *ast.GenDecl) {
	of := ""
	for _, spec := range decl.Specs {
		v := spec.(*ast.ValueSpec)
		if id, ok := v.Type.(*ast.Ident); ok {
			of = id.Name
		}
		if len(v.Values) != 1 {
			continue
		}
		lit, ok := v.Values[0].(*ast.BasicLit)
		if !ok || lit.Kind != token.STRING {
			continue
		}
		text, err := strconv.Unquote(lit.Value)
		if err != nil {
			p.t.Fatal(err)
		}
		if v.Type != nil {
			p.values[of] = append(p.values[of], text)
		}
		if m := arrow.FindStringSubmatch(strings.TrimSpace(v.Comment.Text())); m != nil {
			p.ops = append(p.ops, op{v.Names[0].Name, text, m[1], strings.Trim(m[2], "{}")})
		}
	}
}

func (p *types) file() string {
	var asked, host strings.Builder
	for _, o := range p.ops {
		in, out := p.name(o.in, "{}"), p.name(o.out, "{}")
		if strings.HasPrefix(o.name, "Host") {
			fmt.Fprintf(&host, "    %q: [%s, %s];\n", o.text, in, out)
			continue
		}
		if o.text == "describe" || o.text == "run" { // which is for programs
			continue
		}
		back := out
		switch {
		case o.text == "speak":
			back += " | string"
		case out == "{}":
			back = "void"
		}
		fmt.Fprintf(&asked, "    %s?(data: %s, about: About): %s | Promise<%s>;\n", o.text, in, back, back)
	}
	p.name("Description", "")
	p.name("Code", "")
	var b strings.Builder
	b.WriteString(head)
	for i := 0; i < len(p.wanted); i++ { // more are wanted meanwhile
		p.declare(&b, p.wanted[i])
	}
	fmt.Fprintf(&b, "  /** What a file exports: the ops that it answers. */\n  interface Module {\n    describe?: Partial<Description> | (() => Partial<Description>);\n%s  }\n\n", asked.String())
	fmt.Fprintf(&b, "  /** What can be asked of the daemon: what is told, and what comes. */\n  interface HostOps {\n%s  }\n%s}\n%s", host.String(), helpers, tail)
	return b.String()
}

const head = `// What a character or a handler in JavaScript or TypeScript is asked, and what it finds. It is made of package abi, whose
// ABI.md says what all of it means: go test ./abi -run TypeScript -update

declare module "companion" {
  /** What is known of a call besides its data. */
  interface About {
    /** The module's id. */
    self: string;
    /** Where it is asked; absent where that is nowhere. */
    room?: string;
    /** Names the call in logs. */
    id: string;
    /** The room's clock, RFC 3339 in UTC. */
    now?: string;
  }

`

// helpers are the types of sdk/js/companion.js, which its own test holds to it.
const helpers = `
  // What can be imported: import { addressed, fresh, known } from "companion".

  /** What a character knows of somebody. */
  interface Person {
    name?: string;
    [what: string]: any;
  }

  /** Whether a message is for this character: the daemon found so, it was sent to it, or an agent that speaks to nobody else does, or invites it to a conversation. */
  function addressed(scene: Scene | Perceiving, about: About): boolean;
  /** The id of another character whom a message is for, "" where it is for none. */
  function askedOther(scene: Scene | Perceiving, about: About): string;
  /** A vote to speak, from 0 (would not mind) to 10 (must). */
  function want(importance: number, reason?: string): Vote;
  /** A vote to stay silent. */
  function listen(reason?: string): Vote;
  /** A line that gives the floor back without a word. */
  function pass(why?: string): Line;
  /** What this character has been told to remember of somebody, by id: {} where that is nothing. */
  function known(id: string): Person;
  /** Adds to what is known of somebody, and gives all of it; what is undefined is taken out. It stands in the key human/ID. */
  function remember(id: string, what: Person): Person;
  /** Takes out what is known of somebody whose words were erased: export { forget as event } from "companion". */
  function forget(event: Event): void;
  /** How somebody may be called, by the name that was remembered or the one that is shown; "" where there is no good way. */
  function nameOf(scene: Scene | Perceiving, id: string): string;
  /** The name that a person tells as their own, "" where there is none: 「私はタロウです」, "my name is Taro". */
  function introduced(text: string): string;
  /** Picks a line that was not said in this room until three quarters of the others have been, and that nobody has nearly said lately; "" where there is none. Values stand for {names} in lines; a line without its value is not said. */
  function fresh(lines: readonly string[], scene: Scene, about: About, values?: Record<string, string | number | undefined>): string;
  /** The topics of a text, the one with most words first; own ones are {tea: ["お茶", "tea"]}. */
  function topics(text: string, own?: Record<string, readonly string[]>): string[];
  /** The language of a text: "ja" by its scripts, "en" by Latin words, "" where there is neither. */
  function language(text: string): "ja" | "en" | "";
  /** Whether a text asks something. */
  function question(text: string): boolean;
  /** How much two texts share, 0 to 1. */
  function similarity(a: string, b: string): number;
  /** A text without what does not change a word: case, full and half width, katakana and hiragana, runs of spaces. */
  function normal(text: string): string;
  /** Whether a text in normal form has a word in normal form; one in Latin letters must stand alone. */
  function has(text: string, word: string): boolean;
  /** A small stable number for texts. */
  function hash(...parts: string[]): number;
`

const tail = `
/** Asks the daemon something; what comes of it is there before anything else happens. Throws a HostError. */
declare function host<Op extends keyof import("companion").HostOps>(op: Op, data?: import("companion").HostOps[Op][0]): Promise<import("companion").HostOps[Op][1]>;

/** What is kept for this module over restarts. */
declare const kv: {
  get(key: string): string | undefined;
  set(key: string, value: string): void;
  delete(key: string): void;
  list(prefix?: string): string[];
};

/** Says a piece of the line that is being made, while speak runs. Needs the grant "say". */
declare function say(text: string, emotion?: string): void;

/** The daemon's log. */
declare const console: Record<"debug" | "log" | "info" | "warn" | "error", (...words: unknown[]) => void>;

/** What the daemon refuses, or a module does: with a code of its own where it throws one. */
declare class HostError extends Error {
  constructor(error: { code: import("companion").Code; message: string; retry?: boolean });
  code: import("companion").Code;
  retry: boolean;
}
`

// name notes that a type is to be declared, and gives its name.
func (p *types) name(of, none string) string {
	if of == "" {
		return none
	}
	if p.decls[of] == nil {
		p.t.Fatalf("there is no type %s", of)
	}
	if !slices.Contains(p.wanted, of) {
		p.wanted = append(p.wanted, of)
	}
	return of
}

func (p *types) declare(b *strings.Builder, name string) {
	comment(b, "  ", p.docs[name])
	switch of := p.decls[name].Type.(type) {
	case *ast.StructType:
		fmt.Fprintf(b, "  interface %s%s {\n", name, p.extends(of))
		p.fields(b, "    ", of)
		b.WriteString("  }\n\n")
	default:
		if all := p.values[name]; len(all) > 0 {
			fmt.Fprintf(b, "  type %s = \"%s\";\n\n", name, strings.Join(all, `" | "`))
			return
		}
		fmt.Fprintf(b, "  type %s = %s;\n\n", name, p.typeOf(of, "  "))
	}
}

// extends names the structs that one has in it.
func (p *types) extends(s *ast.StructType) string {
	var all []string
	for _, f := range s.Fields.List {
		if id, ok := f.Type.(*ast.Ident); ok && len(f.Names) == 0 {
			all = append(all, p.name(id.Name, ""))
		}
	}
	if len(all) == 0 {
		return ""
	}
	return " extends " + strings.Join(all, ", ")
}

func (p *types) fields(b *strings.Builder, indent string, s *ast.StructType) {
	for _, f := range s.Fields.List {
		if f.Tag == nil || len(f.Names) == 0 {
			continue
		}
		tag, _ := strconv.Unquote(f.Tag.Value)
		name, options, _ := strings.Cut(strings.TrimSuffix(strings.TrimPrefix(tag, `json:"`), `"`), ",")
		if name == "-" {
			continue
		}
		comment(b, indent, f.Doc.Text()+f.Comment.Text())
		optional := ""
		if options != "" {
			optional = "?"
		}
		fmt.Fprintf(b, "%s%s%s: %s;\n", indent, name, optional, p.typeOf(f.Type, indent))
	}
}

func (p *types) typeOf(e ast.Expr, indent string) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return p.typeOf(e.X, indent)
	case *ast.SelectorExpr:
		if e.Sel.Name == "RawMessage" {
			return "any"
		}
		return "string" // a time
	case *ast.ArrayType:
		if id, ok := e.Elt.(*ast.Ident); ok && id.Name == "byte" {
			return "string" // in base64
		}
		return p.typeOf(e.Elt, indent) + "[]"
	case *ast.MapType:
		return "Record<string, " + p.typeOf(e.Value, indent) + ">"
	case *ast.StructType:
		var b strings.Builder
		b.WriteString("{\n")
		p.fields(&b, indent+"  ", e)
		return b.String() + indent + "}"
	case *ast.Ident:
		switch e.Name {
		case "string", "any":
			return e.Name
		case "bool":
			return "boolean"
		case "int", "int32", "int64", "uint64", "float64":
			return "number"
		}
		return p.name(e.Name, "")
	}
	p.t.Fatalf("a type of package abi that this test does not know: %T", e)
	return ""
}

func comment(b *strings.Builder, indent, text string) {
	if text = strings.Join(strings.Fields(text), " "); text != "" {
		fmt.Fprintf(b, "%s/** %s */\n", indent, text)
	}
}
