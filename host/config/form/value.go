package form

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/BurntSushi/toml"
)

// Inline writes JSON as TOML has it within a line.
func Inline(v any) string {
	var parts []string
	switch v := v.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			parts = append(parts, toml.Key{name}.String()+" = "+Inline(v[name]))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case []any:
		for _, item := range v {
			parts = append(parts, Inline(item))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	}
	line, _ := toml.Marshal(map[string]any{"v": v}) // what came of TOML always encodes
	return strings.TrimSpace(strings.TrimPrefix(string(line), "v = "))
}

// Describe names a TOML value in a message.
func Describe(v any) string {
	switch v := v.(type) {
	case string:
		return Show(v)
	case time.Time:
		return "a date or time"
	case []any:
		return "a list"
	case map[string]any:
		return "a table"
	case []map[string]any:
		return "an array of tables"
	case nil: // TOML has none, JSON has
		return "null"
	}
	return fmt.Sprint(v)
}
