package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/companiond/companiond/host/config"
	"github.com/companiond/companiond/host/identity"
)

// verbHere runs a verb in this process and gives what it printed.
func verbHere(t *testing.T, env []string, args ...string) (code int, out, errs string) {
	t.Helper()
	var o, e bytes.Buffer
	code = (&term{out: &o, err: &e, env: env}).do(t.Context(), args)
	return code, o.String(), e.String()
}

// Everybody who was shown a token has one, however many are made at once.
func TestTokensMadeAtOnce(t *testing.T) {
	file := filepath.Join(t.TempDir(), "tokens")
	shown := make([]string, 20)
	var makers sync.WaitGroup
	for i := range shown {
		makers.Go(func() {
			code, out, errs := verbHere(t, nil, "token", fmt.Sprintf("p%d", i), "-file", file)
			if code != exitOK {
				t.Errorf("p%d: %s", i, errs)
			}
			shown[i] = strings.TrimSpace(out)
		})
	}
	makers.Wait()
	src, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	r, err := identity.Parse(file, src)
	if err != nil {
		t.Fatal(err)
	}
	for i, token := range shown {
		if c, ok := r.Find(token); !ok || c.Name != fmt.Sprintf("p%d", i) {
			t.Errorf("p%d was shown a token that finds %q", i, c.Name)
		}
	}
	if left, _ := filepath.Glob(file + ".*"); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

// One name gets one token, also when many ask for it at once: a file with two
// would keep the daemon from starting.
func TestOneNameAtOnce(t *testing.T) {
	file := filepath.Join(t.TempDir(), "tokens")
	var made atomic.Int32
	var makers sync.WaitGroup
	for range 20 {
		makers.Go(func() {
			if code, _, _ := verbHere(t, nil, "token", "mika", "-file", file); code == exitOK {
				made.Add(1)
			}
		})
	}
	makers.Wait()
	src, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := identity.Parse(file, src); err != nil || made.Load() != 1 {
		t.Errorf("%d tokens were made: %v", made.Load(), err)
	}
}

// Somebody else's lock is respected and named, for it may be left from a kill.
func TestTokensFileIsLocked(t *testing.T) {
	file := filepath.Join(t.TempDir(), "tokens")
	if err := os.WriteFile(file+".lock", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	code, out, errs := verbHere(t, nil, "token", "mika", "-file", file)
	if code == exitOK || out != "" || !strings.Contains(errs, file+".lock") {
		t.Errorf("%d %q %q", code, out, errs)
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("the file was written")
	}
}

// Names that a line cannot hold get no token: it would be shown and never work.
func TestTokenForNobody(t *testing.T) {
	file := filepath.Join(t.TempDir(), "tokens")
	for _, name := range []string{"#mika", "", "a b", "a\nb", "a/b"} {
		if code, out, _ := verbHere(t, nil, "token", "-file", file, "--", name); code == exitOK || out != "" {
			t.Errorf("%q got a token", name)
		}
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("the file was made for nobody")
	}
	if code, _, errs := verbHere(t, nil, "token", "cmp_bot", "-file", file); code != exitOK {
		t.Errorf("cmp_bot: %s", errs)
	}
}

func TestReadTokens(t *testing.T) {
	dir := t.TempDir()
	holder := identity.Holder{Name: "mika", Kind: "human", Scopes: []identity.Scope{identity.Talk}, Hash: identity.Hash("t")}.Line() + "\n"
	write := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	private, public := write("private", holder, 0o600), write("public", holder, 0o644)
	huge := write("huge", holder+strings.Repeat("# much ado\n", 1<<17), 0o600)
	given := filepath.Join(dir, "given")
	if err := os.Mkdir(given, 0o700); err != nil {
		t.Fatal(err)
	}
	handed := write("given/public", holder, 0o440)
	env := []string{"CREDENTIALS_DIRECTORY=" + given}
	for _, c := range []struct {
		tokens       string
		guests       bool
		holders      int
		warning, why string
	}{
		{"", true, 0, "", ""},
		{"", false, 0, "", "nobody could connect"},
		{private, false, 1, "", ""},
		{public, true, 1, public, ""},
		// The service manager hands its own over, and shows an access list as
		// rights of the group.
		{"credential:public", true, 1, "", ""},
		{handed, true, 1, "", ""}, // with %d
		{"credential:none", true, 0, "", filepath.Join(given, "none")},
		{huge, true, 0, "", "larger than"},
		{dir, true, 0, "", dir},
	} {
		cfg, _ := config.Parse("", nil, nil)
		cfg.Identity.Tokens, cfg.Identity.Guests = c.tokens, c.guests
		r, warning, err := (&term{env: env}).readTokens(cfg)
		if (err != nil) != (c.why != "") || err != nil && !strings.Contains(err.Error(), c.why) {
			t.Errorf("%q: %v, want %q", c.tokens, err, c.why)
		}
		if r.Len() != c.holders || (warning != "") != (c.warning != "") || !strings.Contains(warning, c.warning) {
			t.Errorf("%q: %d holders, warning %q", c.tokens, r.Len(), warning)
		}
	}
}
