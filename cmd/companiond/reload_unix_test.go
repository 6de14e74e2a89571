//go:build unix

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/waittest"
)

// ask runs a verb against a daemon, in its folder.
func (d *daemon) ask(args ...string) (out string, code int) {
	d.t.Helper()
	var b bytes.Buffer
	t := &term{in: strings.NewReader(""), out: &b, err: &b, env: []string{}}
	code = t.do(d.t.Context(), append(args, "-config", filepath.Join(d.dir, "companiond.toml")))
	return b.String(), code
}

func (d *daemon) configure(config string) {
	d.t.Helper()
	if err := os.WriteFile(filepath.Join(d.dir, "companiond.toml"), []byte("[door]\nlisten = \"127.0.0.1:0\"\n"+config), 0o600); err != nil {
		d.t.Fatal(err)
	}
}

// patience gives the newest that the room's rules say.
func (d *daemon) patience() (ms int64) {
	d.t.Helper()
	for _, e := range d.entries(0) {
		if e.Kind == entry.KindRules {
			r, err := entry.Decode[entry.Rules](e)
			if err != nil {
				d.t.Fatal(err)
			}
			ms = r.Patience
		}
	}
	return ms
}

// A configuration is read anew by verb and by signal; what is in force then is told, and what waits for a restart. One with a
// mistake changes nothing.
func TestReload(t *testing.T) {
	dir := t.TempDir()
	state := "[journal]\npath = '" + filepath.Join(dir, "companiond.db") + "'\n[modules]\ncharacters = '" + filepath.Join(dir, "characters") + "'\n"
	d := start(t, dir, state+"[room.main]\npatience = \"2s\"\n")
	if out, code := d.ask("status"); code != 0 || !strings.Contains(out, "listens at "+d.url) {
		t.Fatalf("%d %s", code, out)
	}
	if _, err := d.say("taro", "hello"); err != nil {
		t.Fatal(err)
	}
	if out, code := d.ask("reload"); code != 0 || !strings.Contains(out, "log.format") && !strings.Contains(out, "no key has another value") {
		t.Errorf("%d %s", code, out)
	}
	d.configure(state + "[log]\nformat = 'json'\n[room.main]\npatience = \"3s\"\n[room.other]\n[wasm]\nmemory = '32MiB'\n")
	if out, code := d.ask("reload"); code != 0 || out != "in force: room.main.patience, room.other\nafter a restart: wasm.memory\n" {
		t.Errorf("%d %q", code, out)
	}
	waittest.Until(t, "the rules are others", func() bool { return d.patience() == 3000 })
	var other struct{ Name string }
	if d.get("/v1/rooms/other", &other); other.Name != "other" {
		t.Errorf("%+v", other)
	}
	if out, _ := d.ask("status"); !strings.Contains(out, "waits for a restart: wasm.memory") {
		t.Error(out)
	}
	card := `{"name":"Momo","personality":"calm","story":"","version":"1.0.0","metadata":{},"actions":[],"perceptions":[],"events":[]}`
	if err := os.MkdirAll(filepath.Join(dir, "characters"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "characters", "momo.json"), []byte(card), 0o600); err != nil {
		t.Fatal(err)
	}
	waits := func() bool {
		out, code := d.ask("status")
		return code == 0 && strings.Contains(out, "write [model.main]")
	}
	waittest.Until(t, "she waits for a model", waits)
	d.configure(state + "[log]\nformat = 'json'\n[room.main]\npatience = \"3s\"\n[model.main]\nurl = 'http://127.0.0.1:1'\nmodel = 'tiny'\n")
	if out, code := d.ask("reload"); code != 0 || !strings.Contains(out, "model.main") || !strings.Contains(out, "after a restart: room.other") || waits() {
		t.Errorf("%d %q", code, out)
	}
	d.configure(state + "[room.main]\npatience = \"soon\"\n")
	if out, code := d.ask("reload"); code != exitConfig || !strings.Contains(out, "patience") || !strings.Contains(out, "nothing was asked") {
		t.Errorf("%d %s", code, out)
	}
	runtime := filepath.Join(dir, "runtime") // of a service manager: there the daemon itself is asked, and says what is wrong
	if err := os.Symlink(dir, runtime); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	asks := &term{in: strings.NewReader(""), out: &out, err: &out, env: []string{"RUNTIME_DIRECTORY=" + runtime}}
	if code := asks.do(t.Context(), []string{"reload", "-config", filepath.Join(dir, "companiond.toml")}); code != exitFailed || !strings.Contains(out.String(), "companiond.toml:8:12: room.main.patience") {
		t.Errorf("%d %s", code, out.String())
	}
	if err := d.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	waittest.Until(t, "it says so", func() bool {
		select {
		case l := <-d.logs:
			return strings.Contains(l, "was not read anew") && strings.Contains(l, `companiond.toml:8:12: room.main.patience`)
		default:
			return false
		}
	})
	if d.patience() != 3000 {
		t.Error("a mistake has changed something")
	}
	for what, make := range map[string]func(path string) error{
		"is empty, or gone":    func(path string) error { return os.WriteFile(path, nil, 0o600) },
		"is empty, or gone; a": os.Remove,
		"tokens is no regular": func(path string) error {
			return os.WriteFile(path, []byte(state+"[identity]\ntokens = '"+dir+"/tokens'\n"), 0o600)
		},
	} {
		if err := syscall.Mkfifo(filepath.Join(dir, "tokens"), 0o600); err != nil && !os.IsExist(err) {
			t.Fatal(err)
		}
		if err := make(filepath.Join(dir, "companiond.toml")); err != nil {
			t.Fatal(err)
		}
		out.Reset()
		if code := asks.do(t.Context(), []string{"reload"}); code != exitFailed || !strings.Contains(out.String(), what) {
			t.Errorf("%s: %d %s", what, code, out.String())
		}
		d.configure(state + "[log]\nformat = 'json'\n")
	}
	d.configure(state + "[log]\nformat = 'json'\n[room.main]\npatience = \"4s\"\n")
	if err := d.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	waittest.Until(t, "the rules are others", func() bool { return d.patience() == 4000 })
	if _, err := d.say("taro", "still there"); err != nil {
		t.Error(err)
	}
	d.stop()
	if out, code := d.ask("status"); code != exitFailed || !strings.Contains(out, "no companiond is running there") {
		t.Errorf("%d %s", code, out)
	}
}
