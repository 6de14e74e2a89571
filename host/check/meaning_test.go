package check

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/companiond/companiond/host/config"
)

const annotated = `{"type":"object","properties":{
	"zone":{"type":"string","format":"time-zone"},
	"to":{"type":"array","items":{"type":"string","format":"companion"}},
	"voices":{"type":"object","propertyNames":{"format":"companion"},"additionalProperties":{"type":"object"}},
	"deep":{"type":"object","properties":{"zone":{"type":"string","format":"time-zone"}}},
	"any":{"type":"string"}}}`

// TestMeaning: time zones and companions that settings name are there, as far as this machine knows them.
func TestMeaning(t *testing.T) {
	if isZone("no zone") {
		t.Skip("this machine has no table of time zones")
	}
	for settings, want := range map[string]string{
		``:                      "",
		`zone = "Asia/Tokyo"`:   "",
		`zone = "+05:45"`:       "",
		`zone = "UTC"`:          "",
		`any = "Asia/Toyko"`:    "",
		`zone = "Asia/Toyko"`:   `c.toml:2:12: handler.x.settings: settings.zone: there is no time zone "Asia/Toyko" (write an offset such as "+09:00", or a name such as "Asia/Tokyo")`,
		`zone = "Local"`:        `c.toml:2:12: handler.x.settings: settings.zone: there is no time zone "Local"`,
		`zone = ""`:             "", // as if it were not set
		`deep = { zone = "x" }`: `c.toml:2:12: handler.x.settings: settings.deep.zone: there is no time zone "x"`,
		`to = ["aya", "ayo"]`:   `c.toml:2:12: handler.x.settings: settings.to[1]: "ayo" has no file in "characters" (did you mean "aya"?)`,
		`voices = { aya = {} }`: "",
		`voices = { eve = {} }`: `c.toml:2:12: handler.x.settings: settings.voices.eve: "eve" has no file in "characters"`,
	} {
		c, problems := config.Parse("c.toml", []byte("[handler.x]\nsettings = { "+settings+" }\n"), nil)
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		var got []string
		for _, p := range meaning(c, c.Handlers[0], json.RawMessage(annotated), []string{"aya", "kyoko"}) {
			got = append(got, p.String())
		}
		if all := strings.Join(got, "\n"); (want == "") != (all == "") || !strings.HasPrefix(all, want) {
			t.Errorf("%s: %s, want %s", settings, all, want)
		}
	}
}

// TestUnheard: a title that no companion of the handler's perceives is told, unless one has no card that can be read.
func TestUnheard(t *testing.T) {
	c, problems := config.Parse("c.toml", []byte("[handler.x]\ncompanions = [\"aya\", \"kyoko\"]\non = [\"chat\", \"gif*\", \"chta\"]\n"), nil)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	titles := map[string][]string{"aya": {"chat"}, "kyoko": {"gift"}, "eve": {"chta"}}
	if got := strings.Join(unheard(c, []string{"aya", "kyoko", "eve"}, titles), "\n"); !strings.HasPrefix(got, `c.toml:3:6: handler.x.on: no companion of it perceives "chta" (did you mean "chat"?)`) || strings.Contains(got, "\n") {
		t.Error(got)
	}
	if got := unheard(c, []string{"aya", "kyoko", "eve"}, map[string][]string{"aya": {"chat"}}); len(got) > 0 {
		t.Errorf("one without a card: %q", got)
	}
	if got := unheard(c, nil, nil); len(got) > 0 {
		t.Errorf("nobody is there: %q", got)
	}
}
