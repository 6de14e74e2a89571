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

// TestSheetOfTheOverlay: one that cannot be read is told of with its place, and the daemon runs
// without it and shows the overlay all the same.
func TestSheetOfTheOverlay(t *testing.T) {
	h := newHome(t)
	sheet := filepath.Join(t.TempDir(), "mine.css")
	c, problems := config.Parse("c.toml", fmt.Appendf(nil, "[door]\noverlay_css = %q\n", sheet), nil)
	got := host.CheckFiles(c)
	want := "c.toml:2:15: door.overlay_css: stat " + sheet + ": no such file or directory (write the path of a CSS file, or take the key out)"
	if len(problems) > 0 || len(got) != 1 || got[0].String() != want || got[0].Severity != config.Error {
		t.Errorf("%v %v\nwant %s", problems, got, want)
	}
	h.open(fmt.Sprintf("overlay_css = %q\n", sheet))
	if status, page := h.ask("GET", "/overlay/main", ""); status != 200 || !strings.Contains(page, "connect();") {
		t.Errorf("%d %s", status, page)
	}
	if status, why := h.ask("GET", "/overlay/style.css", ""); status != 503 || !strings.Contains(why, "no such file") {
		t.Errorf("%d %s", status, why)
	}
	if status, why := h.ask("GET", "/overlay/main/nobody", ""); status != 404 || !strings.Contains(why, `nobody is called \"nobody\" here`) {
		t.Errorf("%d %s", status, why)
	}
	if err := os.WriteFile(sheet, []byte("#name { display: none }"), 0o600); err != nil {
		t.Fatal(err)
	}
	if status, css := h.ask("GET", "/overlay/style.css", ""); status != 200 || css != "#name { display: none }" {
		t.Errorf("%d %s", status, css)
	}
	if got := host.CheckFiles(c); len(got) > 0 {
		t.Error(got)
	}
}

// TestACardThatIsTooLong for its model's context is warned of, with the context; one whose character can be told whole is not.
func TestACardThatIsTooLong(t *testing.T) {
	dir := t.TempDir()
	for personality, want := range map[string]string{
		strings.Repeat("明るい。", 20):   "",
		strings.Repeat("明るい。", 2000): "warning: aya.json: its model is not told all of the card but who the character is, and the middle of that: it is longer than a quarter of the model's context; a larger [model.main] context",
	} {
		if err := os.WriteFile(filepath.Join(dir, "aya.json"), []byte(`{"name":"Aya","personality":"`+personality+`"}`), 0o600); err != nil {
			t.Fatal(err)
		}
		c, problems := config.Parse("c.toml", fmt.Appendf(nil, "[modules]\ncharacters = %q\n[model.main]\nmodel = \"m\"\n", dir), nil)
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		if mistakes, got := host.CheckCards(t.Context(), c); len(mistakes) > 0 || (want == "") != (len(got) == 0) || !strings.HasPrefix(strings.Join(got, "\n"), want) {
			t.Errorf("%v %q, want %q", mistakes, got, want)
		}
	}
}
