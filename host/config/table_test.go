package config

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/companiond/companiond/host/entry"
)

// TestTable holds what the table promises of itself: each key sets a field of its
// own, every field but the names of tables has a key, and each default is a value
// that the key takes.
func TestTable(t *testing.T) {
	c := &Config{Rooms: make([]Room, 1), Companions: make([]Companion, 1), Models: make([]Model, 1), Module: make([]Module, 1), Handlers: make([]Handler, 1),
		Projects: make([]Project, 1), Agents: make([]Agent, 1)}
	seen := make(map[string]bool)
	fields := make(map[any]string)
	for _, cell := range c.cells() {
		key := cell.key().String()
		if seen[key] {
			t.Errorf("%s is there twice", key)
		}
		seen[key] = true
		if len(cell.table) == 2 != sectionOf(cell.table).named {
			t.Errorf("%s is not named for its section", key)
		}
		v := cell.usual
		if v == nil {
			t.Errorf("%s: its default is none of its values", key)
			continue
		}
		field := cell.field
		if other, taken := fields[field.Addr().Interface()]; taken {
			t.Errorf("%s and %s set the same field", key, other)
		}
		fields[field.Addr().Interface()] = key
		cell.set(v)
		if got := cell.value(); !reflect.DeepEqual(got, v) {
			t.Errorf("%s: stored %#v, loaded %#v", key, v, got)
		}
	}
	want := countFields(reflect.TypeFor[Config]())
	for _, named := range []reflect.Type{reflect.TypeFor[Room](), reflect.TypeFor[Companion](), reflect.TypeFor[Model](), reflect.TypeFor[Module](), reflect.TypeFor[Handler](), reflect.TypeFor[Project](), reflect.TypeFor[Agent]()} {
		want += countFields(named) - 1 // its name
	}
	if len(fields) != want {
		t.Errorf("%d keys for %d fields", len(fields), want)
	}
}

// countFields counts what keys can set; the lists of Config's tables are not among it.
func countFields(t reflect.Type) (n int) {
	for f := range t.Fields() {
		switch {
		case f.Type.Kind() == reflect.Struct:
			n += countFields(f.Type)
		case f.IsExported() && (f.Type.Kind() != reflect.Slice || f.Type.Elem().Kind() == reflect.String || f.Type == reflect.TypeFor[json.RawMessage]()):
			n++
		}
	}
	return n
}

func TestKeysIsTheTable(t *testing.T) {
	keys := Keys()
	for _, k := range keys {
		if !strings.HasSuffix(k.Doc, ".") {
			t.Errorf("%s: doc %q is not a sentence", k.Name, k.Doc)
		}
	}
	want := map[string]Key{
		"door.listen":          {Name: "door.listen", Default: `"127.0.0.1:3000"`, Env: "COMPANIOND_DOOR_LISTEN"},
		"wasm.max_file":        {Name: "wasm.max_file", Default: `"32MiB"`, Env: "COMPANIOND_WASM_MAX_FILE"},
		"modules.fault_window": {Name: "modules.fault_window", Default: `"1m"`, Env: "COMPANIOND_MODULES_FAULT_WINDOW"},
		"room.NAME.companions": {Name: "room.NAME.companions", Default: `["*"]`, Env: "COMPANIOND_ROOM_NAME_COMPANIONS"},
		"modules.grant":        {Name: "modules.grant", Default: `["say", "action.emit"]`, Env: "COMPANIOND_MODULES_GRANT"},
		"model.NAME.url":       {Name: "model.NAME.url", Default: `""`, Env: "COMPANIOND_MODEL_NAME_URL"},
		"model.NAME.price_in":  {Name: "model.NAME.price_in", Default: `0`, Env: "COMPANIOND_MODEL_NAME_PRICE_IN"},
		"agent.NAME.name":      {Name: "agent.NAME.name", Default: `""`, Env: "COMPANIOND_AGENT_NAME_NAME"},
		"conversations.idle":   {Name: "conversations.idle", Default: `"10m"`, Env: "COMPANIOND_CONVERSATIONS_IDLE"},
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
