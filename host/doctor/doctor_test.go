package doctor

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/companiond/companiond/host/config"
	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/journal/sqlite"
	"github.com/companiond/companiond/host/journal/swap"
)

// place is a daemon's, in a folder of its own.
func place(t *testing.T, toml string) Options {
	t.Helper()
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "characters"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "characters", "aya.talk.txt"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, problems := config.Parse("companiond.toml", []byte(toml), nil)
	if config.Failed(problems) {
		t.Fatal(problems)
	}
	for _, p := range []*string{&cfg.Journal.Path, &cfg.Modules.Characters, &cfg.Modules.Plugins, &cfg.Modules.Cache} {
		*p = filepath.Join(dir, *p)
	}
	return Options{Config: cfg, Control: filepath.Join(dir, "none"), SecretFile: func(p string) (string, error) { return p, nil }, Now: time.Now, Patience: 10 * time.Minute}
}

const anyPort = "[door]\nlisten = \"127.0.0.1:0\"\n"

// find gives the item of a thing.
func find(t *testing.T, items []Item, thing string) Item {
	t.Helper()
	for _, i := range items {
		if i.Thing == thing {
			return i
		}
		if i.State != OK && i.Type == "" {
			t.Errorf("%+v says nothing to type", i)
		}
	}
	t.Errorf("nothing is said of %s: %+v", thing, items)
	return Item{}
}

func TestGoodPlace(t *testing.T) {
	if items := Look(t.Context(), place(t, anyPort)); Failed(items) {
		t.Errorf("%+v", items)
	}
}

// TestWhatIsWrong spoils one thing after the other.
func TestWhatIsWrong(t *testing.T) {
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer busy.Close()
	for _, c := range []struct {
		thing, toml string
		spoil       func(t *testing.T, o *Options)
		state       State
		found       string
	}{
		{"door.listen", fmt.Sprintf("[door]\nlisten = %q\n", busy.Addr()), nil, Fail, "another program"},
		{"state folder", anyPort, func(t *testing.T, o *Options) {
			o.Config.Journal.Path = filepath.Join(o.Config.Modules.Characters, "aya.talk.txt", "x.db")
		}, Fail, ""},
		{"modules.characters", anyPort, func(t *testing.T, o *Options) { o.Config.Modules.Characters += "x" }, Warn, "not there"},
		{"journal", anyPort, func(t *testing.T, o *Options) { write(t, o.Config.Journal.Path, strings.Repeat("no database ", 100)) }, Fail, ""},
		{"restore", anyPort, func(t *testing.T, o *Options) { write(t, filepath.Join(o.state(), swap.File), "[]") }, Warn, "interrupted"},
		{"identity.tokens", anyPort + "[identity]\ntokens = \"/nowhere/tokens\"\n", nil, Fail, ""},
		{"clock", anyPort, func(t *testing.T, o *Options) { o.Now = func() time.Time { return time.Unix(0, 0) } }, Fail, "1970"},
		{"daemon", anyPort, func(t *testing.T, o *Options) {
			j, err := sqlite.Open(sqlite.Config{Path: o.Config.Journal.Path})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = j.Close() })
		}, Fail, fmt.Sprint("process ", os.Getpid())},
	} {
		if c.thing == "daemon" && runtime.GOOS == "windows" {
			continue // nobody reads the file of a lock there
		}
		o := place(t, c.toml)
		if c.spoil != nil {
			c.spoil(t, &o)
		}
		items := Look(t.Context(), o)
		if i := find(t, items, c.thing); i.State != c.state || !strings.Contains(i.Found, c.found) || i.Type == "" {
			t.Errorf("%s: %+v", c.thing, i)
		}
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestEntryOfTomorrow finds a clock that was set back.
func TestEntryOfTomorrow(t *testing.T) {
	o := place(t, anyPort)
	j, err := sqlite.Open(sqlite.Config{Path: o.Config.Journal.Path})
	if err != nil {
		t.Fatal(err)
	}
	_, err = j.Acquire(t.Context(), "main", "test", time.Now().Add(24*time.Hour))
	if cerr := j.Close(); err != nil || cerr != nil {
		t.Fatal(err, cerr)
	}
	if i := find(t, Look(t.Context(), o), "clock"); i.State != Fail || !strings.Contains(i.Found, "yet to come") {
		t.Errorf("%+v", i)
	}
	var _ journal.Journal = j
}

// TestModels asks endpoints that list the model, do not, refuse the key, have no list, and hang; no key is ever shown.
func TestModels(t *testing.T) {
	const key = "sk-123456"
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	hung := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch name, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/"); {
		case name == "hangs":
			stop() // as patience does
			<-hung
		case name == "nolist":
			http.NotFound(w, r)
		case r.Header.Get("Authorization") != "Bearer "+key && r.Header.Get("X-Api-Key") != key, name == "refuses":
			http.Error(w, key, http.StatusUnauthorized)
		case name == "moves":
			http.Redirect(w, r, "/lists/v1/models", http.StatusFound)
		case !strings.HasSuffix(r.URL.Path, "/v1/models"):
			http.Error(w, r.URL.Path, http.StatusTeapot)
		default:
			fmt.Fprint(w, `{"data":[{"id":"m"},{"id":"n:latest"}]}`)
		}
	}))
	defer server.Close()
	defer close(hung)
	file := filepath.Join(t.TempDir(), "key")
	write(t, file, key)
	toml := anyPort
	for _, m := range [][3]string{{"lists", "openai", "m"}, {"latest", "openai", "n"}, {"other", "openai", "x"}, {"claude", "anthropic", "m"}, {"refuses", "openai", "m"}, {"nolist", "openai", "m"}, {"moves", "openai", "m"}, {"hangs", "openai", "m"}} {
		base := server.URL + "/" + m[0]
		if m[1] == "openai" {
			base += "/v1"
		}
		toml += fmt.Sprintf("[model.%s]\napi = %q\nurl = %q\nmodel = %q\nkey = %q\n", m[0], m[1], base, m[2], file)
	}
	o := place(t, toml)
	hangs := slices.IndexFunc(o.Config.Models, func(m config.Model) bool { return m.Name == "hangs" })
	alone := o
	alone.Config.Models = []config.Model{o.Config.Models[hangs]}
	o.Config.Models = slices.Delete(slices.Clone(o.Config.Models), hangs, hangs+1)
	items := append(o.models(t.Context()), alone.models(ctx)...)
	for thing, want := range map[string]string{"lists": "answered in", "latest": "answered in", "claude": "answered in", "nolist": "answered in", "other": `does not list "x"`, "refuses": "refuses the key", "moves": "302", "hangs": "does not answer"} {
		i := find(t, items, "model."+thing)
		if !strings.Contains(i.Found, want) || strings.Contains(i.Found, key) || (i.State == OK) != strings.HasPrefix(want, "answered") {
			t.Errorf("%+v, want %q", i, want)
		}
	}
}
