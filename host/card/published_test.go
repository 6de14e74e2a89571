package card_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/companiond/companiond/host/card"
	"github.com/companiond/companiond/host/card/schema"
	"github.com/companiond/companiond/host/card/tree"
)

// published compiles the published schema with what cards are compiled with.
func published(t testing.TB) *schema.Schema {
	t.Helper()
	var why tree.Faults
	n := tree.Read(card.Schema(), "", &why)
	if n == nil {
		t.Fatal(why)
	}
	s := new(schema.Compiler).Compile(n, "", &why)
	if s == nil {
		t.Fatal(why)
	}
	return s
}

// judge gives what the published schema says of a file.
func judge(t testing.TB, s *schema.Schema, data []byte) tree.Faults {
	t.Helper()
	var why tree.Faults
	n := tree.Read(data, "card", &why)
	if n == nil || len(why) > 0 {
		return why
	}
	why, _ = s.Check(n, "card")
	return why
}

// The published schema takes all that Parse takes, so that no editor marks what is
// right; and an editor marks what it can.
func TestPublishedTakesGoodCards(t *testing.T) {
	s := published(t)
	for _, file := range goodCards(t) {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		load(t, file)
		if why := judge(t, s, data); why != nil {
			t.Errorf("%s: %v", file, why)
		}
	}
	bad, err := filepath.Glob("testdata/bad/*.json")
	if err != nil || len(bad) == 0 {
		t.Fatal(bad, err)
	}
	for _, src := range []string{
		`{}`, `[]`, `{"name": 1}`, `{"name": "a", "actions": {}}`, `{"name": "a", "actions": [{}]}`, `{"name": "a", "actions": [{"title": "a b"}]}`,
		`{"name": "a", "actions": [{"title": "a", "type": "string"}]}`, `{"name": "a", "perceptions": [{"title": "p", "required": ["at"]}]}`,
		`{"name": "a", "perceptions": [{"title": "p", "properties": {"format": {"enum": ["audio"]}}}]}`, `{"name": "a", "mode": "allow"}`,
		`{"name": "a", "talkativeness": 2}`, `{"name": "a", "events": [{"perception": "p", "action": "a", "condition": "c"}]}`,
		`{"name": "a", "perceptions": [{"title": "p", "cool_down": "soon"}]}`, `{"name": "a", "perceptions": [{"title": "p", "max_bytes": 0}]}`,
		`{"name": "a", "perceptions": [{"title": "p", "media_types": ["text/html"]}]}`, `{"name": "a", "id": "-a"}`,
	} {
		if _, err := card.Parse("f", []byte(src)); err == nil {
			t.Errorf("Parse takes %s", src)
		}
		if why := judge(t, s, []byte(src)); why == nil {
			t.Errorf("the published schema takes %s", src)
		}
	}
}

// object is an object of the published schema.
type objectSchema struct {
	Description string
	Properties  map[string]struct {
		Description, Ref string `json:",omitempty"`
		Default          any
		Enum             []string
	}
}

// The published schema has the keys that Parse reads, each with a description, and
// no others: each is tried with a value that no key takes.
func TestPublishedHasEveryKey(t *testing.T) {
	var all struct {
		objectSchema
		Defs map[string]objectSchema `json:"$defs"`
	}
	if err := json.Unmarshal(card.Schema(), &all); err != nil {
		t.Fatal(err)
	}
	var whole struct {
		Properties struct{ Metadata objectSchema }
	}
	if err := json.Unmarshal(card.Schema(), &whole); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		object objectSchema
		known  []string // by Parse
		form   string   // a card with a key # in such an object
	}{
		{all.objectSchema, card.Keys("card"), `{"name": "a", "#": @}`},
		{whole.Properties.Metadata, card.Keys("metadata"), `{"name": "a", "metadata": {"#": @}}`},
		{all.Defs["action"], []string{"title", "description", "type", "properties", "required"}, `{"name": "a", "actions": [{"#": @}]}`},
		{all.Defs["perception"], append(card.Keys("perception"), "title", "description", "type", "properties", "required"), `{"name": "a", "perceptions": [{"#": @}]}`},
		{all.Defs["event"], card.Keys("event"), `{"name": "a", "events": [{"#": @}]}`},
	} {
		have := slices.Sorted(maps.Keys(c.object.Properties))
		slices.Sort(c.known)
		if !slices.Equal(have, c.known) {
			t.Errorf("%s:\nthe published schema has %q\nParse knows %q", c.form, have, c.known)
		}
		if c.object.Description == "" {
			t.Errorf("%s: no description", c.form)
		}
		for key, p := range c.object.Properties {
			if p.Description == "" && key != "title" {
				t.Errorf("%s: %s has no description", c.form, key)
			}
			refused := 0
			for _, value := range []string{`null`, `[[]]`, `{"": 1}`, `7.5`} {
				src := strings.NewReplacer("#", key, "@", value).Replace(c.form)
				_, err := card.Parse("f", []byte(src))
				if err != nil && strings.Contains(err.Error(), key) {
					refused++
				}
			}
			if refused == 0 && key != "$schema" {
				t.Errorf("%s: Parse does not read %s", c.form, key)
			}
		}
	}
}

// Defaults in the published schema are those of a card that says nothing.
func TestPublishedDefaults(t *testing.T) {
	c := parse(t, `{"name": "a", "perceptions": [{"title": "p"}]}`)
	var all struct {
		Properties map[string]struct{ Default any }
		Defs       map[string]struct {
			Properties map[string]struct{ Default json.RawMessage }
		} `json:"$defs"`
	}
	if err := json.Unmarshal(card.Schema(), &all); err != nil {
		t.Fatal(err)
	}
	p := all.Defs["perception"].Properties
	types, _ := json.Marshal(c.Perceptions[0].MediaTypes)
	bytes, _ := json.Marshal(c.Perceptions[0].MaxBytes)
	if all.Properties["talkativeness"].Default != c.Talkativeness || all.Properties["mode"].Default != string(c.Mode) ||
		strings.ReplaceAll(string(p["media_types"].Default), " ", "") != string(types) || string(p["max_bytes"].Default) != string(bytes) || string(p["cool_down"].Default) != `"0s"` {
		t.Errorf("%+v %+v", all, c)
	}
}

func TestSchemaIsACopy(t *testing.T) {
	card.Schema()[0] = 'x'
	if card.Schema()[0] != '{' {
		t.Error("the published schema was changed")
	}
}
