package config

import (
	"reflect"
	"strings"
	"testing"

	"github.com/companiond/companiond/host/entry"
)

// TestTable holds what the table promises of itself.
func TestTable(t *testing.T) {
	seen := make(map[string]bool)
	fields := make(map[any]string)
	c, named := &Config{}, &table{}
	for _, s := range settings() {
		if seen[s.name] || !isSection(s.section()) {
			t.Errorf("%s is there twice or in no section", s.name)
		}
		seen[s.name] = true
		if section := s.section(); hasNames(section) != strings.HasPrefix(s.name, section+".NAME.") {
			t.Errorf("%s is not named for its section", s.name)
		}
		v, faults := s.kind.parse(s.usual)
		if faults != nil {
			t.Errorf("%s: default %q: %s", s.name, s.usual, faults[0].message)
			continue
		}
		field := s.field(c, named)
		if other, taken := fields[field]; taken {
			t.Errorf("%s and %s set the same field", s.name, other)
		}
		fields[field] = s.name
		store(field, v)
		if got := load(field); !reflect.DeepEqual(got, v) {
			t.Errorf("%s: stored %#v, loaded %#v", s.name, v, got)
		}
		if s.doc == "" || !strings.HasSuffix(s.doc, ".") {
			t.Errorf("%s: doc %q is not a sentence", s.name, s.doc)
		}
	}
	// Every field of Config but the lists of rooms and models and the origins
	// has a key, and so has every field of Room and of Model but its name.
	want := countFields(reflect.TypeFor[Config]()) + countFields(reflect.TypeFor[Room]()) - 1 + countFields(reflect.TypeFor[Model]()) - 1
	if len(fields) != want {
		t.Errorf("%d keys for %d fields", len(fields), want)
	}
	// A section's keys set nothing of another section.
	if room := newTable(sectionRoom, "x", settings()); room.name != "x" || !reflect.DeepEqual(room.model, Model{}) {
		t.Errorf("a room's keys set %+v", room.model)
	}
	if model := newTable(sectionModel, "x", settings()); model.name != "x" || !reflect.DeepEqual(model.room, Room{}) {
		t.Errorf("a model's keys set %+v", model.room)
	}
}

func countFields(t reflect.Type) (n int) {
	for i := range t.NumField() {
		switch f := t.Field(i); {
		case f.Type.Kind() == reflect.Struct:
			n += countFields(f.Type)
		case f.IsExported() && f.Name != "Rooms" && f.Name != "Models":
			n++
		}
	}
	return n
}

func TestKeysIsTheTable(t *testing.T) {
	keys := Keys()
	if len(keys) != len(settings()) {
		t.Fatalf("%d keys", len(keys))
	}
	want := map[string]Key{
		"door.listen":          {Name: "door.listen", Default: `"127.0.0.1:3000"`, Env: "COMPANIOND_DOOR_LISTEN"},
		"wasm.max_file":        {Name: "wasm.max_file", Default: `"32MiB"`, Env: "COMPANIOND_WASM_MAX_FILE"},
		"modules.fault_window": {Name: "modules.fault_window", Default: `"1m"`, Env: "COMPANIOND_MODULES_FAULT_WINDOW"},
		"room.NAME.companions": {Name: "room.NAME.companions", Default: `["*"]`, Env: "COMPANIOND_ROOM_NAME_COMPANIONS"},
		"modules.grant":        {Name: "modules.grant", Default: `["say", "action.emit"]`, Env: "COMPANIOND_MODULES_GRANT"},
		"model.NAME.url":       {Name: "model.NAME.url", Default: `""`, Env: "COMPANIOND_MODEL_NAME_URL"},
		"model.NAME.price_in":  {Name: "model.NAME.price_in", Default: `0`, Env: "COMPANIOND_MODEL_NAME_PRICE_IN"},
		"log.level":            {Name: "log.level", Default: `"info"`, Env: "COMPANIOND_LOG_LEVEL"},
	}
	for _, k := range keys {
		if w, ok := want[k.Name]; ok {
			if w.Doc = k.Doc; k != w {
				t.Errorf("got  %+v\nwant %+v", k, w)
			}
			delete(want, k.Name)
		}
	}
	if len(want) > 0 {
		t.Errorf("missing %v", want)
	}
}

// TestChoices holds the spellings that other packages have constants for.
func TestChoices(t *testing.T) {
	for _, stale := range []entry.Stale{entry.StaleReask, entry.StaleRefuse, entry.StaleAccept} {
		if c := good(t, "[room.main]\nstale = \""+string(stale)+"\""); c.Rooms[0].Stale != stale {
			t.Errorf("%s became %s", stale, c.Rooms[0].Stale)
		}
	}
}
