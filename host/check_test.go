package host_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
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

// TestSettingsAreHeldToTheirSchema: check loads the modules that handlers name, files and programs, and says of what is wrong
// with them, or with the settings, where that stands; secrets are not shown, and nothing is left of it.
func TestSettingsAreHeldToTheirSchema(t *testing.T) {
	plugins, secret := filepath.Join(t.TempDir(), "plugins"), filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("short"), 0o600); err != nil {
		t.Fatal(err)
	}
	install(t, build(t, "./testdata/lamp", "lamp", ""), plugins, "lamp.wasm")
	install(t, build(t, "./testdata/beacon", "beacon", ""), plugins, "beacon.wasm")
	install(t, build(t, "./testdata/clerk", "clerk", ""), plugins, "clerk.wasm")
	install(t, lampProgram(t), plugins, "desk")
	if err := os.WriteFile(filepath.Join(plugins, "junk.wasm"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	toml := fmt.Sprintf(`[modules]
plugins = %q
[module.desk]
program = "desk"
[module.beacon]
grant = ["perception.emit", "timer.set"]
[handler.lamp]
settings = { place = "hall" }
[handler.number]
module = "lamp"
settings = { place = 1 }
[handler.bare]
module = "lamp"
[handler.desk]
settings = { place = "hall" }
[handler.slip]
module = "desk"
settings = { plaec = "hall" }
[handler.beacon]
secrets = { password = %q }
[handler.none]
module = "beacon"
secrets = { password = %q }
[handler.both]
module = "beacon"
secrets = { password = %q, key = %q }
[handler.other]
module = "beacon"
settings = { password = "long enough" }
secrets = { kee = %q }
[handler.clerk]
[handler.two]
module = "junk"
[handler.ghost]
`, plugins, secret, secret+"x", secret+"x", secret+"y", secret)
	for grant, want := range map[string][]string{
		toml: {
			"c.toml:11:14: handler.number.settings: settings.place: is a number, must be a string",
			"c.toml:12:10: handler.bare.settings: settings.place: is missing",
			"c.toml:18:14: handler.slip.settings: settings.plaec: is not known; there are place; did you mean \"place\"?",
			"c.toml:18:12: handler.slip.settings: settings.place: is missing",
			"c.toml:20:13: handler.beacon.secrets: settings.password: is not as the handler's schema wants it; it is a secret, and not shown",
			"c.toml:23:11: handler.none.secrets: handler.none.secrets.password: ",
			"c.toml:26:11: handler.both.secrets: handler.both.secrets.key: open " + secret + "y: no such file or directory; handler.both.secrets.password: open ",
			"c.toml:30:13: handler.other.secrets: settings.kee: is not known",
			"c.toml:31:10: handler.clerk.module: clerk is a character, and no handler (move its file to modules.characters)",
			"c.toml:33:10: handler.two.module: junk.wasm: ",
		},
		fmt.Sprintf("[modules]\nplugins = %q\n[handler.beacon]\nsettings = { password = \"long enough\" }\n", plugins): {
			"c.toml:3:10: handler.beacon.module: beacon.wasm: describe.needs: \"perception.emit\"",
		},
		fmt.Sprintf("[modules]\nplugins = %q\n", plugins): nil,
	} {
		c, problems := config.Parse("c.toml", []byte(grant), nil)
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		_, got, err := host.CheckModules(t.Context(), host.Options{Config: c, Environ: os.Environ()})
		if err != nil || !slices.EqualFunc(got, want, func(p config.Problem, want string) bool { return strings.HasPrefix(p.String(), want) }) {
			t.Errorf("%s%v\n%v, want %q", grant, err, got, want)
		}
	}
	if left, err := os.ReadDir(plugins); err != nil || len(left) != 5 {
		t.Errorf("%v, %v", left, err)
	}
}
