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
)

// drawValue draws any value that a key of this kind takes.
func drawValue(t *rapid.T, s setting, label string) any {
	switch k := s.kind.(type) {
	case truth:
		return rapid.Bool().Draw(t, label)
	case number:
		return rapid.Int64Range(k.min, k.max).Draw(t, label)
	case span:
		ms := rapid.Int64Range(int64(k.min/time.Millisecond), int64(k.max/time.Millisecond)).Draw(t, label)
		return time.Duration(ms) * time.Millisecond
	case size:
		unit := max(k.unit, 1)
		return rapid.Int64Range((k.min+unit-1)/unit, k.max/unit).Draw(t, label) * unit
	case choice:
		return rapid.SampledFrom(k.of).Draw(t, label)
	case list:
		return rapid.SliceOfNDistinct(drawText(s.name), 0, 4, rapid.ID).Draw(t, label)
	}
	return drawText(s.name).Draw(t, label)
}

// drawText gives the texts that a key takes.
func drawText(key string) *rapid.Generator[string] {
	const name = `[\pL][\pL\p{Nd}_.-]{0,9}`
	switch key {
	case "door.listen":
		return rapid.StringMatching(`(127\.0\.0\.[1-9]|\[::1\]|localhost):[1-9][0-9]{0,3}`)
	case "door.hosts":
		return rapid.StringMatching(`[a-z0-9]{1,5}(\.[a-z0-9]{1,5}){0,2}`)
	case "door.origins":
		return rapid.StringMatching(`[a-z]{2,6}://[a-z0-9]{1,5}(:[1-9]000)?`)
	case "modules.characters":
		return rapid.StringMatching(`/people/[^\x00]{1,9}`)
	case "room.NAME.companions":
		return rapid.StringMatching(name)
	case "room.NAME.seed":
		return rapid.StringN(1, 60, 256)
	case "room":
		return rapid.StringMatching(name)
	}
	return rapid.StringMatching(`[^\x00/]{1,3}[^\x00]{0,9}`)
}

// TestRoundTrip writes random values for random keys, as TOML or as variables,
// and finds each of them in the Config; then prints it and reads it again.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var src strings.Builder
		var env []string
		want := make(map[string]any)
		write := func(table, key string, s setting) {
			if !rapid.Bool().Draw(t, key+"?") {
				return
			}
			v := drawValue(t, s, key)
			if text, isText := v.(string); isText && !strings.ContainsRune(text, 0) && rapid.Bool().Draw(t, key+" env?") {
				env = append(env, envName(table+"."+s.leaf())+"="+text)
			} else {
				fmt.Fprintf(&src, "%s = %s\n", s.leaf(), s.kind.literal(v))
			}
			want[key] = v
		}
		for _, section := range sections() {
			if section.name == sectionRoom {
				continue
			}
			fmt.Fprintf(&src, "[%s]\n", section.name)
			for _, s := range settings() {
				if s.section() == section.name && s.name != "wasm.fuel" {
					write(section.name, s.name, s)
				}
			}
		}
		// Names that no two of which share a variable.
		rooms := rapid.SliceOfNDistinct(drawText("room"), 0, 3, func(s string) string { return envName(s) }).Draw(t, "rooms")
		for _, room := range rooms {
			fmt.Fprintf(&src, "[%s]\n", header(sectionRoom, room))
			for _, s := range settings() {
				// Those of a pool depend on each other; TestPool has them.
				if s.section() == sectionRoom && !strings.HasPrefix(s.leaf(), "pool_") {
					write(sectionRoom+"."+room, roomKey(room, s.leaf()), s)
				}
			}
		}
		c, problems := Parse("c.toml", []byte(src.String()), env)
		if len(problems) > 0 {
			t.Fatalf("%s\n%q\n%s", src.String(), env, lines(problems))
		}
		checkValues(t, c, want)
		if len(rooms) > 0 && len(c.Rooms) != len(rooms) {
			t.Fatalf("rooms %q became %+v", rooms, c.Rooms)
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
	check := func(key string, s setting, r *Room) {
		w, written := want[key]
		if !written {
			w, _ = s.kind.parse(s.usual)
			if r != nil && s.leaf() == "seed" {
				w = r.Name
			}
		}
		if got := load(s.field(&c, r)); !reflect.DeepEqual(got, w) {
			t.Fatalf("%s: got %#v, want %#v", key, got, w)
		}
		if _, known := c.origins[key]; known != written {
			t.Fatalf("%s: origin known: %v, written: %v", key, known, written)
		}
	}
	for _, s := range settings() {
		if s.section() != sectionRoom {
			check(s.name, s, nil)
			continue
		}
		for i := range c.Rooms {
			check(roomKey(c.Rooms[i].Name, s.leaf()), s, &c.Rooms[i])
		}
	}
}

// TestNearest holds that a name with one letter wrong is always found again.
func TestNearest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.SampledFrom(settings()).Draw(t, "key")
		name := []rune(s.leaf())
		name[rapid.IntRange(0, len(name)-1).Draw(t, "at")] = 'ж'
		near := nearest(string(name), []string{"ballast", s.leaf(), "companions"})
		if near == "" {
			t.Fatalf("%s was not recognized", string(name))
		}
	})
}

// checkRanges reports the first value of a Config that no key allows.
func checkRanges(c Config) error {
	if len(c.Rooms) == 0 {
		return fmt.Errorf("no room")
	}
	for _, s := range settings() {
		if s.section() != sectionRoom {
			if err := checkRange(s, load(s.field(&c, nil))); err != nil {
				return err
			}
			continue
		}
		for i := range c.Rooms {
			if err := checkRange(s, load(s.field(&c, &c.Rooms[i]))); err != nil {
				return fmt.Errorf("room %q: %w", c.Rooms[i].Name, err)
			}
		}
	}
	for i, r := range c.Rooms {
		if err := abi.CheckName("name", r.Name); err != nil || r.Seed == "" || i > 0 && c.Rooms[i-1].Name >= r.Name {
			return fmt.Errorf("room %d: %+v", i, r)
		}
	}
	switch {
	case !c.Door.Insecure && !isLoopback(c.Door.Listen):
		return fmt.Errorf("insecure: %+v", c.Door)
	case isInside(c.Modules.Cache, c.Modules.Characters), isInside(c.Journal.Path, c.Modules.Characters):
		return fmt.Errorf("inside: %+v", c.Modules)
	}
	return nil
}

func checkRange(s setting, v any) error {
	ok := true
	switch k := s.kind.(type) {
	case number:
		ok = v.(int64) >= k.min && v.(int64) <= k.max
	case span:
		ok = v.(time.Duration) >= k.min && v.(time.Duration) <= k.max && v.(time.Duration)%time.Millisecond == 0
	case size:
		ok = v.(int64) >= k.min && v.(int64) <= k.max && v.(int64)%max(k.unit, 1) == 0
	}
	// What was accepted is accepted again, and is its own one spelling.
	again, faults := s.kind.read(reread(v))
	if !ok || faults != nil || !reflect.DeepEqual(again, v) {
		return fmt.Errorf("%s: %#v, again %#v", s.name, v, again)
	}
	return nil
}

// reread gives a value as the TOML library would.
func reread(v any) any {
	switch v := v.(type) {
	case time.Duration:
		return spanText(v)
	case []string:
		items := make([]any, len(v))
		for i, s := range v {
			items[i] = s
		}
		return items
	}
	return v
}
