//go:build unix

package host_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host"
	"github.com/companiond/companiond/host/config"
	"github.com/companiond/companiond/host/door/web"
	"github.com/companiond/companiond/host/logtest"

	"github.com/companiond/companiond/host/waittest"
)

// TestShippedHandlers: each folder of plugins is made by make plugins, and what is made a daemon loads, as a handler.
func TestShippedHandlers(t *testing.T) {
	waittest.WithoutRaces(t)
	if _, err := exec.LookPath("make"); err != nil {
		t.Skip("make is not installed")
	}
	folders, err := filepath.Glob("../plugins/*/main.go")
	if err != nil || len(folders) == 0 {
		t.Fatalf("%q %v", folders, err)
	}
	h := newHome(t)
	dir := filepath.Join(h.dir, "plugins")
	if out, err := exec.Command("make", "-C", "..", "plugins", "PLUGINS="+dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var toml strings.Builder
	var want []string
	for _, f := range folders {
		name := filepath.Base(filepath.Dir(f))
		want = append(want, name)
		fmt.Fprintf(&toml, "[handler.%s]\n[module.%[1]s]\ngrant = [\"%s\"]\n", name, strings.Join(abi.GrantedOnly(), `", "`))
		if _, err := os.Stat(filepath.Join(dir, name+".wasm")); err != nil {
			fmt.Fprintf(&toml, "program = %q\n", name)
		}
	}
	c, problems := config.Parse("test.toml", fmt.Appendf(nil, "[modules]\nplugins = %q\ncharacters = %q\n%s", dir, filepath.Join(h.dir, "characters"), &toml), nil)
	if problems = append(problems, host.CheckFiles(c)...); len(problems) > 0 {
		t.Error(problems)
	}
	var log logtest.Log
	h.log = log.Logger()
	h.open(toml.String())
	h.until("all are loaded", func() bool {
		var list []web.Companion
		h.get("/v1/companions", &list)
		var got []string
		for _, one := range list {
			if one.Kind == string(abi.Handler) || one.Kind == string(abi.ActionHandler) {
				got = append(got, one.ID)
			}
		}
		slices.Sort(got)
		if refused := log.Warnings("file refused"); len(refused) > 0 {
			t.Fatal(refused)
		}
		return slices.Equal(got, want)
	})
}
