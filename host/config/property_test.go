package config

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/config/form"
)

// drawValue draws any value that a key of this kind takes.
func drawValue(t *rapid.T, key string, k setting, label string) any {
	switch k := k.kind.(type) {
	case truth:
		return rapid.Bool().Draw(t, label)
	case number:
		if k.whole {
			return rapid.Int64Range(int64(k.min), int64(k.max)).Draw(t, label)
		}
		return rapid.OneOf(rapid.Float64Range(k.min, k.max), rapid.Just(k.also)).Draw(t, label)
	case span:
		ms := rapid.Int64Range(int64(k.min/time.Millisecond), int64(k.max/time.Millisecond)).Draw(t, label)
		return time.Duration(ms) * time.Millisecond
	case size:
		unit := max(k.unit, 1)
		return rapid.Int64Range((k.min+unit-1)/unit, k.max/unit).Draw(t, label) * unit
	case choice:
		return rapid.SampledFrom(k.of).Draw(t, label)
	case list:
		if key == "project.agents" {
			return rapid.SliceOfNDistinct(drawText(key), 2, 4, rapid.ID).Draw(t, label)
		}
		return rapid.SliceOfNDistinct(drawText(key), 0, 4, rapid.ID).Draw(t, label)
	}
	return drawText(key).Draw(t, label)
}

// drawText gives the texts that a key of a section takes, or the names of its tables.
func drawText(key string) *rapid.Generator[string] {
	// Some letters show as nothing, and no name has them.
	names := rapid.StringMatching(`[\pL][\pL\p{Nd}_.-]{0,9}`).Filter(func(s string) bool { return abi.CheckName("name", s) == nil })
	switch key {
	case "door.listen", "door.firehose", "door.ops":
		return rapid.StringMatching(`(127\.0\.0\.[1-9]|\[::1\]|localhost):[1-9][0-9]{0,3}`)
	case "door.hosts":
		return rapid.StringMatching(`[a-z0-9]{1,5}(\.[a-z0-9]{1,5}){0,2}`)
	case "door.origins":
		return rapid.StringMatching(`[a-z]{2,6}://[a-z0-9]{1,5}(:[1-9]000)?`)
	case "modules.characters":
		return rapid.StringMatching(`/people/[^\x00]{1,9}`)
	case "room.companions", "room.interrupters", "room.compress_by", "room.compress_verify":
		return names
	case "room.companion": // who lives there: TestTheCompanionOfARoom has them
		return rapid.Just("")
	case "room.seed", "model.model":
		return rapid.StringN(1, 60, 256)
	case "room.compress_policy": // never empty, for compress may be "auto"
		return rapid.StringMatching(`[a-zあ予][a-zあ予 ."#=\n]{0,60}`)
	case "model.without":
		return rapid.SampledFrom(form.Lacks())
	case "modules.grant", "module.grant":
		return rapid.SampledFrom([]string{abi.HostSay, abi.HostActionEmit, abi.HostModelGenerate})
	case "project.agents": // no two of which look alike
		return rapid.SampledFrom([]string{"aya", "kyoko", "worker-a", "worker-b", "居間", "みか", "b.2"})
	case "model.url":
		return rapid.StringMatching(`(https?://([a-z0-9]{1,5}|\[::1\])(:[1-9]000)?(/[a-z]{1,5}){0,2})?`)
	case "model.key":
		return rapid.StringMatching(`(/[^\x00]{0,9}|[a-z]{1,9}\.key|credential:[a-z]{1,5})?`)
	case "room.pace":
		return rapid.SampledFrom([]string{"auto", "0s", "1m", "700ms"})
	case "model.effort":
		return rapid.SampledFrom([]string{"", "none", "low", "medium", "high"})
	case sectionRoom, sectionModule, sectionModel, sectionProject:
		return names
	}
	return rapid.StringMatching(`[^\x00/]{1,3}[^\x00]{0,9}`)
}

// asVariable gives a value as a variable of the environment would.
func asVariable(s setting, v any) string {
	switch v := v.(type) {
	case string:
		return v
	case []string:
		return strings.Join(v, ", ")
	}
	return strings.Trim(literal(s.kind, v), `"`)
}

// tableOf gives the full name of a section's table, with its own where it has one.
func tableOf(s section, name string) dotted {
	if s.named {
		return dotted{s.name, name}
	}
	return dotted{s.name}
}

// draft is a configuration that is being drawn: a file, variables, and what they
// come to by full key.
type draft struct {
	src  strings.Builder
	env  []string
	want map[string]any
}

// write sets the keys of a table, or leaves them out, in the file or by variables.
// A key that a table must have is never left out.
func (d *draft) write(t *rapid.T, s section, at dotted) {
	fmt.Fprintf(&d.src, "[%s]\n", at)
	for _, k := range s.keys {
		key := at.add(k.name).String()
		generic := s.name + "." + k.name
		switch {
		// Those of a pool depend on each other, so do the fuel on the guard and embeddings on the
		// API, votes are not asked for in two ways, what is spent hangs on prices and an answer's length on the
		// context, of which too little is raised, a program is one module's, and hosts are granted; other tests have them.
		case strings.HasPrefix(k.name, "pool_"), generic == "wasm.fuel", generic == "module.program", generic == "module.hosts", generic == "module.checksum", generic == "model.votes_together", generic == "model.embeddings", k.name == "cost_day", generic == "model.max_tokens", generic == "model.context":
			continue
		case generic != "model.model" && generic != "project.agents" && generic != "room.compress_policy" && !rapid.Bool().Draw(t, key+"?"):
			continue
		}
		v := drawValue(t, generic, k, key)
		if variable := asVariable(k, v); !strings.ContainsRune(variable, 0) && rapid.Bool().Draw(t, key+" env?") {
			d.env = append(d.env, envName(at.add(k.name))+"="+variable)
		} else {
			fmt.Fprintf(&d.src, "%s = %s\n", k.name, literal(k.kind, v))
		}
		d.want[key] = v
	}
}

// TestRoundTrip writes random values for random keys, as TOML or as variables,
// and finds each of them in the Config; then prints it and reads it again.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := draft{want: make(map[string]any)}
		names := make(map[string][]string)
		for _, s := range sections() {
			switch s.name {
			case sectionRoom, sectionModule, sectionModel, sectionProject: // names no two of which share a variable
				names[s.name] = rapid.SliceOfNDistinct(drawText(s.name), 0, 3, func(name string) string { return envName(dotted{name}) }).Draw(t, s.name+"s")
			case "companion", "handler": // a home is a room's, and a module has to be set: TestHomes and TestKeys have them
			case sectionAgent: // is in a project: TestAgents has them
			default:
				names[s.name] = []string{""}
			}
			for _, name := range names[s.name] {
				d.write(t, s, tableOf(s, name))
			}
		}
		c, problems := Parse("c.toml", []byte(d.src.String()), d.env)
		if len(problems) > 0 {
			t.Fatalf("%s\n%q\n%s", d.src.String(), d.env, lines(problems))
		}
		checkValues(t, c, d.want)
		if rooms := names[sectionRoom]; len(rooms) > 0 && len(c.Rooms) != len(rooms) {
			t.Fatalf("rooms %q became %+v", rooms, c.Rooms)
		}
		if models := names[sectionModel]; len(c.Models) != len(models) {
			t.Fatalf("models %q became %+v", models, c.Models)
		}
		var printed bytes.Buffer
		if err := c.Print(&printed); err != nil {
			t.Fatal(err)
		}
		again, problems := Parse("again.toml", printed.Bytes(), nil)
		if len(problems) > 0 || !sameConfig(again, c) {
			t.Fatalf("%s\n%s\ngot  %+v\nwant %+v", printed.String(), lines(problems), again, c)
		}
	})
}

// checkValues holds that every key that was written has its value and every
// other its default.
func checkValues(t *rapid.T, c Config, want map[string]any) {
	for _, cell := range c.cells() {
		w, written := want[cell.key().String()]
		if !written {
			w = cell.usual
			switch {
			case cell.table[0] == sectionRoom && cell.name == "seed":
				w = cell.table[1]
			case cell.table[0] == sectionModule && cell.name == "grant":
				w = c.Modules.Grant
			}
		}
		if got := cell.value(); !reflect.DeepEqual(got, w) {
			t.Fatalf("%s: got %#v, want %#v", cell.key(), got, w)
		}
		if _, known := c.origins[cell.key().String()]; known != written {
			t.Fatalf("%s: origin known: %v, written: %v", cell.key(), known, written)
		}
	}
}

// checkRanges reports the first value of a Config that no key allows.
func checkRanges(c Config) error {
	if len(c.Rooms) == 0 {
		return fmt.Errorf("no room")
	}
	for _, cell := range c.cells() {
		if err := checkRange(cell); err != nil {
			return err
		}
	}
	for i, r := range c.Rooms {
		if err := abi.CheckName("name", r.Name); err != nil || r.Seed == "" || i > 0 && c.Rooms[i-1].Name >= r.Name {
			return fmt.Errorf("room %d: %+v", i, r)
		}
	}
	for i, m := range c.Models {
		if err := abi.CheckName("name", m.Name); err != nil || m.Model == "" || i > 0 && c.Models[i-1].Name >= m.Name {
			return fmt.Errorf("model %d: %+v", i, m)
		}
	}
	switch {
	case !c.Door.Insecure && !c.Door.Loopback():
		return fmt.Errorf("insecure: %+v", c.Door)
	case isInside(c.Modules.Cache, c.Modules.Characters), isInside(c.Journal.Path, c.Modules.Characters):
		return fmt.Errorf("inside: %+v", c.Modules)
	}
	return nil
}

func checkRange(c cell) error {
	v, ok := c.value(), true
	switch k := c.kind.(type) {
	case number:
		n := reflect.ValueOf(v).Convert(reflect.TypeFor[float64]()).Float()
		ok = n >= k.min && n <= k.max || n == k.also
	case span:
		ok = v.(time.Duration) >= k.min && v.(time.Duration) <= k.max && v.(time.Duration)%time.Millisecond == 0
	case size:
		ok = v.(int64) >= k.min && v.(int64) <= k.max && v.(int64)%max(k.unit, 1) == 0
	}
	// What was accepted is accepted again, and is its own one spelling.
	again, faults := c.read(reread(v))
	if !ok || faults != nil || !reflect.DeepEqual(again, v) {
		return fmt.Errorf("%s: %#v, again %#v", c.key(), v, again)
	}
	return nil
}

// reread gives a value as the TOML library would.
func reread(v any) any {
	switch v := v.(type) {
	case time.Duration:
		return form.SpanText(v)
	case []string:
		items := make([]any, len(v))
		for i, s := range v {
			items[i] = s
		}
		return items
	}
	return v
}
