package scaffold

import (
	"strings"

	"github.com/companiond/companiond/abi"
)

// Lang is what a character is written in.
type Lang string

// The languages that there are characters in. Those behind Go have no SDK: a character is one file, which answers what ABI.md says.
const (
	TypeScript     Lang = "ts" // which nothing builds
	Go             Lang = "go"
	C              Lang = "c"
	Rust           Lang = "rust"
	AssemblyScript Lang = "as"
)

// Languages are all of them.
func Languages() []Lang { return []Lang{TypeScript, Go, C, Rust, AssemblyScript} }

// tongue is how a character in a language without an SDK is built.
type tongue struct {
	Called string
	Main   string // the file with what she says
	Needs  string // to build her
	build  string // NAME is hers
	more   map[string]string
}

// tongues are those of the languages without an SDK; their templates are characters of sdk/examples under another name.
var tongues = map[Lang]tongue{
	C: {Called: "C", Main: "main.c", Needs: "with clang and lld", build: "clang --target=wasm32 -Os -nostdlib -Wl,--no-entry -o NAME.wasm main.c"},
	Rust: {Called: "Rust", Main: "main.rs", Needs: "with rustup: `rustup target add wasm32-unknown-unknown`",
		build: "rustc --target wasm32-unknown-unknown --edition 2021 -O -C strip=debuginfo --crate-type cdylib -o NAME.wasm main.rs"},
	AssemblyScript: {Called: "AssemblyScript", Main: "assembly/index.ts", Needs: "with Node's npm", build: "npm install && npm run build",
		more: map[string]string{"package.json": "package.json", "assembly/tsconfig.json": "tsconfig.json"}},
}

// Tongue is how the character is built, where its language has no SDK.
func (f Folder) Tongue() tongue { return tongues[f.Lang] }

// foreign makes the files of a character in a language without an SDK.
func (w words) foreign(of tongue) (files []file, err error) {
	from := map[string]string{of.Main: string(w.Lang) + "/" + of.Main[strings.LastIndexByte(of.Main, '/')+1:], "README.md": "foreign/README.md", ".gitignore": "foreign/gitignore"}
	for name, template := range of.more {
		from[name] = string(w.Lang) + "/" + template
	}
	files, err = w.own(from)
	return append(files, file{"ABI.md", abi.Contract}), err
}
