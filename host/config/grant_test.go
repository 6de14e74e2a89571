package config

import (
	"slices"
	"strings"
	"testing"

	"github.com/companiond/companiond/abi"
)

// TestGrantOf: what one module is granted takes the place of what all are, and a
// table that does not say so leaves it.
func TestGrantOf(t *testing.T) {
	const file = "[modules]\ngrant = [\"model.generate\"]\n[module.aya]\ngrant = [\"say\"]\n[module.\"京子.x\"]\ngrant = []\n[module.ben]\n"
	c := good(t, file, "COMPANIOND_MODULE_BEN_GRANT=action.emit,say")
	for id, want := range map[string][]string{
		"aya": {abi.HostSay}, "京子.x": {}, "ben": {abi.HostActionEmit, abi.HostSay}, "somebody": {abi.HostModelGenerate},
	} {
		if got := c.GrantOf(id); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", id, got, want)
		}
	}
	if got := good(t, file).GrantOf("ben"); !slices.Equal(got, []string{abi.HostModelGenerate}) {
		t.Errorf("a table without the key: %q", got)
	}
	if got := good(t, "").GrantOf("aya"); !slices.Equal(got, []string{abi.HostSay, abi.HostActionEmit}) {
		t.Errorf("without any table: %q", got)
	}
}

// TestGrantsWithoutAFile: a grant of nobody is most likely one that was misspelled.
func TestGrantsWithoutAFile(t *testing.T) {
	c := good(t, "[module.aya]\ngrant = []\n[module.nikomi]\ngrant = [\"say\"]\n")
	got := lines(c.CheckFolder([]string{"aya", "nikoni"}, ""))
	if want := `companiond.toml:4:9: module.nikomi.grant: "nikomi" has no file in "characters" (did you mean "nikoni"?)`; strings.TrimSpace(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
