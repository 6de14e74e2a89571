package config

import (
	"slices"
	"strings"
	"testing"
)

// A program is the file of one module.
func TestPrograms(t *testing.T) {
	sum := strings.Repeat("ab", 32)
	c := good(t, `
[modules]
plugins = "/usr/lib/companiond/plugins"
grant = ["say"]
[module.voice]
program = "voice"
checksum = "`+strings.ToUpper(sum)+`"
[module.aya]
grant = []
`)
	if len(c.Module) != 2 || c.Module[1].Program != "voice" || c.Module[1].Checksum != sum || c.Modules.Plugins != "/usr/lib/companiond/plugins" || c.Module[0].Program != "" {
		t.Errorf("%+v", c.Module)
	}
	if found := c.CheckFolder([]string{"aya"}, ""); len(found) > 0 {
		t.Errorf("a program is no file of a character: %s", lines(found))
	}
	for src, want := range map[string]string{
		"[module.a]\nprogram = \"x\"\n[module.b]\nprogram = \"x\"":           `is the program of module.a already`,
		"[module.a]\nprogram = \"../x\"":                                     "is not the name of a file",
		"[modules]\nplugins = \"characters/x\"\n[module.a]\nprogram = \"x\"": "lies inside modules.characters",
	} {
		if _, problems := Parse("c.toml", []byte(src), nil); !strings.Contains(lines(problems), want) {
			t.Errorf("%s: %s, want %s", src, lines(problems), want)
		}
	}
}

// Hosts are of use with a grant.
func TestHosts(t *testing.T) {
	const file = "[module.aya]\ngrant = [\"http.fetch\"]\nhosts = [\"API.example\", \"127.0.0.1:50021\", \"[::1]:80\"]\n"
	c := good(t, file)
	if got := c.HostsOf("aya"); !slices.Equal(got, []string{"api.example", "127.0.0.1:50021", "[::1]:80"}) || c.HostsOf("kyoko") != nil {
		t.Errorf("%q", got)
	}
	good(t, "[modules]\ngrant = [\"http.fetch\"]\n[module.aya]\nhosts = [\"api.example\"]\n")
	_, problems := Parse("c.toml", []byte("[module.aya]\nhosts = [\"api.example\"]\n"), nil)
	if want := `aya is not granted "http.fetch" (add "http.fetch" to module.aya.grant)`; len(problems) != 1 || !strings.Contains(lines(problems), want) {
		t.Errorf("%s, want %s", lines(problems), want)
	}
}
