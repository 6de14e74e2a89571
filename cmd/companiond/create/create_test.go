package create

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// errUsage is what a desk of tests says of how it is called.
var errUsage = errors.New("usage")

// script says that the desk of tests runs JavaScript.
var script bool

// call runs the verb in a folder.
func call(t *testing.T, dir string, args ...string) (string, error) {
	t.Helper()
	t.Chdir(dir)
	var out bytes.Buffer
	fs := flag.NewFlagSet("new", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	d := Desk{Out: &out, Script: script, Parse: func(fs *flag.FlagSet, args []string, most int) ([]string, error) {
		if err := fs.Parse(args); err != nil {
			return nil, err
		}
		return fs.Args()[:min(most, fs.NArg())], nil
	}, Usage: func(format string, args ...any) error {
		return fmt.Errorf("%w: "+format, append([]any{errUsage}, args...)...)
	}}
	err := d.New(fs, args)
	return out.String(), err
}

// TestNew: what is made lies where it belongs, and what is to be done with it is said.
func TestNew(t *testing.T) {
	base, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	for args, wants := range map[string][]string{
		"character momo":                                          {"characters/momo/main.go\n", "\n  cd characters/momo\n  GOOS=wasip1 GOARCH=wasm go build -buildmode=c-shared -o momo.wasm .\n"},
		"handler lamp":                                            {"plugins/lamp/main_test.go\n", "\n  cd plugins/lamp\n", "Put lamp.wasm into", "\n  [handler.lamp]\n  settings = { most = 100 }\n"},
		"-kind line -dir mine handler lamp":                       {"mine/lamp/abi/abi.go\n", "settings = { words"},
		"-kind perception handler lamp":                           {"settings = { words"},
		"-kind source handler lamp":                               {"\n\n  [module.lamp]\n  grant = [\"perception.emit\", \"timer.set\"]\n"},
		"-program -source " + base + " -kind source handler lamp": {"plugins/lamp/go.sum\n", "\n  go build -o lamp .\n", "Put lamp into", "\n  program = \"lamp\"\n  grant = [\"perception.emit\"]\n"},
		"-program -source " + base + " character momo":            {"characters/momo/go.sum\n", "\n  [module.momo]\n  program = \"momo\"\n"},
		"-lang c character momo":                                  {"characters/momo/main.c\n", "characters/momo/ABI.md\n", "\n  cd characters/momo\n  clang --target=wasm32 ", " -o momo.wasm main.c\n"},
		"-lang rust character momo":                               {"characters/momo/main.rs\n", "\n  rustc --target wasm32-unknown-unknown "},
		"-lang as character momo":                                 {"characters/momo/assembly/index.ts\n", "\n  npm install && npm run build\n"},
	} {
		dir := t.TempDir()
		out, err := call(t, dir, strings.Fields(args)...)
		if err != nil {
			t.Errorf("%s: %v", args, err)
		}
		for _, want := range wants {
			if !strings.Contains(out, want) {
				t.Errorf("%s says\n%s\nwant %s", args, out, want)
			}
		}
		for line := range strings.Lines(out) {
			if name := strings.TrimSpace(line); name == "" {
				break
			} else if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
				t.Errorf("%s: %v", args, err)
			}
		}
	}
}

// TestNewScript: where JavaScript runs, a character is one, and nothing is to be built.
func TestNewScript(t *testing.T) {
	for _, c := range []struct {
		runs       bool
		args, want string
	}{
		{true, "character momo", "characters/momo/README.md"},
		{true, "-lang go character momo", "go build -buildmode=c-shared"},
		{true, "-kind act handler momo", "go build -buildmode=c-shared"},
		{false, "-lang ts character momo", "built without JavaScript"},
		{true, "-lang ts -dir characters -kind line handler momo", "Nothing is to be built: move characters/momo into the folder that modules.plugins names, state/plugins where that is not set, and write into companiond.toml:\n\n  [handler.momo]\n"},
		{false, "-lang ts -dir characters handler momo", "built without JavaScript"},
	} {
		script = c.runs
		defer func() { script = false }()
		dir := t.TempDir()
		out, err := call(t, dir, strings.Fields(c.args)...)
		if err != nil || !strings.Contains(out, c.want) {
			t.Errorf("%s: %v\n%s", c.args, err, out)
		}
		_, err = os.Stat(filepath.Join(dir, "characters", "momo", "main.ts"))
		if (err == nil) == strings.Contains(out, "go build") {
			t.Errorf("%s: %v", c.args, err)
		}
	}
}

// TestNewRefuses: what cannot be made is said with what to type, and nothing is written.
func TestNewRefuses(t *testing.T) {
	for args, want := range map[string]string{
		"":                                 "companiond new handler NAME [-kind act|perception|line|source] [-lang ts|go]",
		"handler":                          "companiond new character NAME",
		"-lang cobol character momo":       `-lang "cobol" is none, have: ts, go, c, rust, as`,
		"-lang Rust character momo":        `-lang "Rust" is none, have: ts, go, c, rust, as`,
		"-lang c handler momo":             "-lang c is of a character; a handler is written in ts or go: companiond new handler momo -lang ts",
		"-lang as -program character momo": "-lang as is of none that is a program",
		"-lang ts -program handler momo":   "-lang ts is of none that is a program: leave out -program",
		"handel lamp":                      "did you mean companiond new handler lamp?",
		"robot momo":                       "did you mean companiond new character momo?",
		"-kind act character momo":         "companiond new handler momo -kind act",
		"-kind sing handler momo":          `-kind "sing" is none, have: act, perception, line, source`,
		"-program handler momo":            "say where it is with -source FOLDER",
		"-program -source . handler momo":  "is no source of companiond",
		"handler vendor":                   "choose another",
	} {
		dir := t.TempDir()
		out, err := call(t, dir, strings.Fields(args)...)
		if err == nil || !strings.Contains(err.Error(), want) || out != "" {
			t.Errorf("%s: %v\n%s", args, err, out)
		}
		if errors.Is(err, errUsage) == (strings.Contains(args, "vendor") || strings.Contains(args, "-source")) {
			t.Errorf("%s: %v", args, err)
		}
		if left, _ := filepath.Glob(filepath.Join(dir, "*", "*")); len(left) > 0 {
			t.Errorf("%s: %q", args, left)
		}
	}
}
