package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/companiond/companiond/host/config"
)

// typed gives what a verb writes, wherever it is typed.
func typed(t *testing.T, args ...string) string {
	t.Helper()
	code, out, errs := verbHere(t, []string{"SOURCE_DATE_EPOCH=1000000000", "USER=mika"}, args...)
	if code != exitOK {
		t.Fatalf("%q: %s", args, errs)
	}
	return out
}

// roff takes what man pages have of their own out of a page.
var roff = strings.NewReplacer(`\-`, "-", `\e`, `\`, `\(aq`, "'", `\(ga`, "`", `\(ha`, "^", `\(ti`, "~", `\(dq`, `"`, `\&`, "", "\n", " ")

// The page companiond(1) and the completions have each verb, what it does, and its flags, and nothing of whoever makes them.
func TestManualOfVerbs(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile(defaultConfig, []byte("[door]\nlisten = \"127.0.0.1:4711\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	page := roff.Replace(typed(t, "man"))
	shells := map[string]string{}
	for _, shell := range []string{"bash", "zsh", "fish"} {
		shells[shell] = typed(t, "completion", shell)
	}
	does := 0
	for _, v := range table() {
		if want := `.SS "` + strings.TrimSpace("companiond "+v.Name+" "+v.Args) + `"`; !strings.Contains(page, want) {
			t.Errorf("the page lacks %s", want)
		}
		does += len(v.Does)
		for _, d := range append(v.Does, v) {
			for _, f := range d.Flags {
				if !strings.Contains(page, `"-`+f.Name) {
					t.Errorf("the page lacks -%s of %s", f.Name, v.Name)
				}
				for shell, want := range map[string]string{"bash": "-" + f.Name, "zsh": "'*-" + f.Name + "[", "fish": " " + f.Name + " "} {
					if !strings.Contains(shells[shell], want) {
						t.Errorf("%s lacks -%s of %s", shell, f.Name, v.Name)
					}
				}
			}
		}
		for shell, text := range shells {
			if !strings.Contains(text, v.Name) {
				t.Errorf("%s lacks %s", shell, v.Name)
			}
		}
	}
	if does < 15 {
		t.Errorf("%d things that verbs do were found in their arguments", does)
	}
	for what, text := range shells {
		if strings.Contains(text, "mika") || strings.Contains(text, "4711") {
			t.Errorf("%s has something of this place in it", what)
		}
	}
	if strings.Contains(page, "mika") || strings.Contains(page, "4711") || !strings.Contains(page, "2001-09-09") {
		t.Error("the page is not the same everywhere")
	}
}

// The page companiond.toml(5) has each key with its default and what it means.
func TestManualOfKeys(t *testing.T) {
	page := roff.Replace(typed(t, "man", "companiond.toml"))
	for _, k := range config.Keys() {
		name := k.Name[strings.LastIndexByte(k.Name, '.')+1:]
		if want := `.B "` + name + " = " + k.Default + `" ` + k.Doc; !strings.Contains(page, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	for _, table := range []string{"[door]", "[room.NAME]", "[model.NAME]", "[log]"} {
		if !strings.Contains(page, `.SS "`+table+`" `) {
			t.Errorf("the page lacks %s", table)
		}
	}
}

// Man and the shells read what is written for them.
func TestManualReads(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		program string
		flags   string
		verb    []string
	}{
		{"mandoc", "-T lint -W warning", []string{"man"}},
		{"mandoc", "-T lint -W warning", []string{"man", "companiond.toml"}},
		{"bash", "-n", []string{"completion", "bash"}},
		{"zsh", "-n", []string{"completion", "zsh"}},
		{"fish", "-n", []string{"completion", "fish"}},
	} {
		if _, err := exec.LookPath(c.program); err != nil {
			t.Logf("%s is not here: %s was not looked at", c.program, strings.Join(c.verb, " "))
			continue
		}
		file := filepath.Join(dir, "text")
		if err := os.WriteFile(file, []byte(typed(t, c.verb...)), 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(c.program, append(strings.Fields(c.flags), file)...)
		var wrong strings.Builder
		cmd.Stderr = &wrong
		out, err := cmd.Output()
		if c.program == "mandoc" {
			wrong.Write(out)
		}
		if err != nil || wrong.Len() > 0 {
			t.Errorf("%s: %v\n%s", c.program, err, &wrong)
		}
	}
}

// What is completed, in the shells that are here.
func TestCompletes(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "set"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "settings.toml"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string]string{
		"companiond st":               "status stop",
		"companiond history se":       "search",
		"companiond history export -": "-format",
		"companiond token -k":         "-kind",
		"companiond run -config set":  "settings.toml",
		"companiond completion z":     "zsh",
		"companiond say -room ":       "",
	} {
		for shell, script := range map[string]string{
			"bash": "\nCOMP_WORDS=($1); case $1 in *' ') COMP_WORDS+=('');; esac; COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _companiond; printf '%s\\n' \"${COMPREPLY[@]}\"",
			"fish": "\ncomplete -C \"$argv[1]\"",
		} {
			if _, err := exec.LookPath(shell); err != nil {
				t.Logf("%s is not here", shell)
				continue
			}
			cmd := exec.Command(shell, "-c", typed(t, "completion", shell)+script, line)
			if shell == "bash" {
				cmd.Args = []string{shell, "-c", typed(t, "completion", shell) + script, shell, line}
			}
			cmd.Dir, cmd.Env = dir, append(os.Environ(), "HOME="+dir)
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Errorf("%s: %s: %v %s", shell, line, err, out)
			}
			for _, w := range strings.Fields(want) {
				if !strings.Contains("\n"+string(out), "\n"+w) {
					t.Errorf("%s: %s: %q lacks %s", shell, line, out, w)
				}
			}
			if want == "" && len(strings.TrimSpace(string(out))) > 0 {
				t.Errorf("%s: %s: %q, and only people know", shell, line, out)
			}
		}
	}
}
