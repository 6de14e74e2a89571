package host_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/companiond/companiond/host"
	"github.com/companiond/companiond/host/config"
)

// TestModelsOfNobody: of several models one that no card names is told of, unless a module of code may ask any.
func TestModelsOfNobody(t *testing.T) {
	dir := t.TempDir()
	write := func(file, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("aya.json", `{"name":"Aya","personality":"x","model":"fast"}`)
	write("ben.wasm", `x`)
	const models = "[model.main]\nmodel = \"m\"\n[model.fast]\nmodel = \"m\"\n"
	for toml, want := range map[string]string{
		models:                                   "",
		models + "[model.fsat]\nmodel = \"m\"\n": `warning: model.fsat: no card in "` + dir + `" names it, and those that name none have "main"`,
		models + "[model.fsat]\nmodel = \"m\"\n[module.ben]\ngrant = [\"model.generate\"]\n": "",
		models + "[model.fsat]\nmodel = \"m\"\n[module.aya]\ngrant = [\"model.generate\"]\n": "warning: model.fsat: ",
		models + "[model.fsat]\nmodel = \"m\"\n[memory]\nby = \"model\"\n":                   "",
		"[model.fast]\nmodel = \"m\"\n": "",
	} {
		c, problems := config.Parse("c.toml", fmt.Appendf(nil, "[modules]\ncharacters = %q\n%s", dir, toml), nil)
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		mistakes, got := host.CheckCards(t.Context(), c)
		if len(mistakes) > 0 || (want == "") != (len(got) == 0) || !strings.HasPrefix(strings.Join(got, "\n"), want) {
			t.Errorf("%s%v %q, want %q", toml, mistakes, got, want)
		}
	}
}
