package check

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/companiond/companiond/host/config"
	"github.com/companiond/companiond/host/module"
	"github.com/companiond/companiond/host/module/prompt"
)

// TestVoices: what a card says of its voice is held to what the handler that speaks says of one, and each mistake has its line. Nothing is
// said of cards of others, and by handlers that say nothing of voices.
func TestVoices(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"mio.json": "{\n \"name\": \"Mio\",\n \"voice\": {\n  \"speaker\": \"ja\",\n  \"spead\": 1.2,\n  \"emotions\": {\n   \"happy\": {\"pich\": 1}, \"sad\": {\"speed\": \"slow\"}\n  }\n }\n}",
		"aya.json": `{"name": "Aya", "voice": {"speaker": 3}}`, "ken.json": `{"name": "Ken", "voice": {"tempo": 3}}`, "odd.json": `{"voice": "x"}`, "half.json": `{"voice": {`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c, problems := config.Parse("c.toml", []byte("modules.characters = '"+dir+"'\n"), nil)
	if config.Failed(problems) {
		t.Fatal(problems)
	}
	const schema = `{"$defs": {
		"feeling": {"type": "object", "additionalProperties": false, "properties": {"speed": {"type": "number"}, "pitch": {"type": "number"}}},
		"voice": {"type": "object", "additionalProperties": false, "properties": {"speaker": {}, "speed": {"type": "number"},
			"emotions": {"type": "object", "additionalProperties": {"$ref": "#/$defs/feeling"}}}}}}`
	for settings, want := range map[string][]string{
		schema: {
			"mio.json:5: voice.spead: is not allowed (handler says)", "mio.json:7: voice.emotions.happy.pich: is not allowed (handler says)",
			"mio.json:7: voice.emotions.sad.speed: is a string, must be a number (handler says)",
		},
		`{"$defs": {"mouth": {"type": "object"}}}`: nil, `{}`: nil, ``: nil, `{"$defs": {"voice": true}}`: nil, `{"$defs": {"voice": {"$ref": "#/$defs/x"}}}`: nil,
	} {
		got := voices(c, config.Handler{Name: "says", Companions: []string{"mio", "aya", "odd", "half"}}, []byte(settings), []module.Engine{&prompt.Engine{}})
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", settings, got, want)
		}
		if all := voices(c, config.Handler{Name: "says", Companions: []string{"*"}}, []byte(settings), []module.Engine{&prompt.Engine{}}); want != nil && len(all) != len(want)+1 {
			t.Errorf("of all: %q", all)
		}
	}
}
