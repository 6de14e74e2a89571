package module_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/module"
)

// Settings are held to the handler's own schema, and the place is named.
func TestSettings(t *testing.T) {
	d := abi.Description{Name: "Lamp", Kind: abi.ActionHandler, Settings: json.RawMessage(`{"type":"object","properties":{"place":{"type":"string"}},"required":["place"]}`)}
	for settings, why := range map[string]string{
		`{"place":"hall"}`: "", `{}`: "settings", ``: "settings", `{"place":7}`: "settings.place: is a number", `{"place":"hall","more":1}`: "settings",
	} {
		err := module.CheckSettings(d, []byte(settings))
		if (err == nil) != (why == "") || err != nil && (!strings.Contains(err.Error(), why) || strings.Contains(err.Error(), "parameters")) {
			t.Errorf("%s: %v, want %q", settings, err, why)
		}
	}
	d.Settings = nil
	if err := module.CheckSettings(d, []byte(`{"a":1}`)); err == nil || !strings.Contains(err.Error(), "Lamp has none") {
		t.Error(err)
	}
	if err := module.CheckSettings(d, []byte(`{}`)); err != nil {
		t.Error(err)
	}
}

func TestCheckHandler(t *testing.T) {
	for schema, why := range map[string]string{`{"type":"object"}`: "", `{"type":"nonsense"}`: "describe.actions[1]"} {
		d := abi.Description{Kind: abi.ActionHandler, Actions: []abi.Offer{{Name: "a"}, {Name: "b", Schema: json.RawMessage(schema)}}}
		if err := module.CheckHandler(d); (err == nil) != (why == "") || err != nil && !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v, want %q", schema, err, why)
		}
	}
	if err := module.CheckHandler(abi.Description{Settings: json.RawMessage(`{"type":7}`)}); err == nil || !strings.Contains(err.Error(), "describe.settings") {
		t.Error(err)
	}
}
