package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/BurntSushi/toml"

	"github.com/companiond/companiond/host/spell"
)

// kind is what values a key takes: it reads one as the TOML library gives it. The
// values it gives are bool, int64, float64, string, []string and time.Duration.
type kind interface {
	read(v any) (any, []*fault)
}

// clean gives the one spelling of a text, or why it will not do.
type clean func(s string) (string, *fault)

type (
	truth  struct{}
	number struct{ min, max int64 }
	// A decimal's also is the one value outside its range that it takes all the same.
	decimal struct{ min, max, also float64 }
	span    struct{ min, max time.Duration }
	size    struct{ min, max, unit int64 } // whole units; 0 means 1
	text    struct{ clean clean }
	choice  struct {
		of      []string
		orEmpty bool
	}
	list struct{ clean clean }
)

// fromText gives the text of a variable as the file has such a value: a number
// without quotes, a list with brackets. No item of any list may hold a comma.
func fromText(k kind, s string) any {
	switch k.(type) {
	case truth:
		if s == "true" || s == "false" {
			return s == "true"
		}
	case number:
		if n, err := strconv.ParseInt(s, 10, 64); err == nil {
			return n
		}
	case decimal:
		if n, err := strconv.ParseFloat(s, 64); err == nil {
			return n
		}
	case list:
		items := []any{}
		if strings.TrimSpace(s) != "" {
			for item := range strings.SplitSeq(s, ",") {
				items = append(items, strings.TrimSpace(item))
			}
		}
		return items
	}
	return s
}

// literal writes a value as TOML.
func literal(k kind, v any) string {
	_, isSize := k.(size)
	switch n := v.(type) {
	case float64:
		return strconv.FormatFloat(n, 'f', -1, 64)
	case time.Duration:
		v = spanText(n)
	case int64:
		if isSize {
			v = sizeText(n)
		}
	}
	line, _ := toml.Marshal(map[string]any{"v": v}) // a value of a kind always encodes
	return strings.TrimSpace(strings.TrimPrefix(string(line), "v = "))
}

func refuse(hint, format string, args ...any) (any, []*fault) {
	return nil, []*fault{{message: fmt.Sprintf(format, args...), hint: hint}}
}

// wrongType refuses a value that cannot be what a key wants. A text may be what it
// wants between quotes.
func wrongType(k kind, v any, want string) (any, []*fault) {
	hint := ""
	if s, ok := v.(string); ok {
		v := fromText(k, s)
		_, isText := v.(string)
		_, isList := v.([]any)
		if isList {
			hint = "try " + literal(k, v)
		} else if !isText {
			if _, faults := k.read(v); faults == nil {
				hint = "try " + literal(k, v)
			}
		}
	}
	return refuse(hint, "%s is not %s", describe(v), want)
}

// notAmong words a value that is none of those there are.
func notAmong(v any, known []string) *fault {
	f := &fault{message: describe(v) + " is unknown, have: " + strings.Join(known, ", ")}
	if s, ok := v.(string); ok {
		f.hint = meant(spell.Near(s, known))
	}
	return f
}

// describe names a TOML value in a message.
func describe(v any) string {
	switch v := v.(type) {
	case string:
		return show(v)
	case bool, int64, float64:
		return fmt.Sprint(v)
	case time.Time:
		return "a date or time"
	case map[string]any:
		return "a table"
	case []map[string]any:
		return "an array of tables"
	case nil: // TOML has none, JSON has
		return "null"
	}
	return "a list"
}

func (k truth) read(v any) (any, []*fault) {
	if b, ok := v.(bool); ok {
		return b, nil
	}
	return wrongType(k, v, "true or false")
}

func (k number) read(v any) (any, []*fault) {
	n, ok := v.(int64)
	switch {
	case !ok:
		return wrongType(k, v, "a whole number")
	case n < k.min || n > k.max:
		return refuse("", "%d is outside %d..%d", n, k.min, k.max)
	}
	return n, nil
}

func (k decimal) read(v any) (any, []*fault) {
	n, ok := v.(float64)
	if whole, isWhole := v.(int64); isWhole {
		n, ok = float64(whole), true
	}
	switch {
	case !ok:
		return wrongType(k, v, "a number")
	case n == k.also || n >= k.min && n <= k.max: // NaN is neither
		return n, nil
	}
	or := ""
	if k.also < k.min || k.also > k.max {
		or = " and is not " + literal(k, k.also)
	}
	return refuse("", "%s is outside %s..%s%s", describe(v), literal(k, k.min), literal(k, k.max), or)
}

func (k span) read(v any) (any, []*fault) {
	s, ok := v.(string)
	d, err := time.ParseDuration(s)
	switch {
	case !ok || err != nil:
		hint := ""
		switch v.(type) {
		case string, int64, float64:
			hint = "try " + show(guessSpan(fmt.Sprint(v)))
		}
		return refuse(hint, "%s is not a duration", describe(v))
	case d < k.min || d > k.max:
		return refuse("", "%s is outside %s..%s", show(s), spanText(k.min), spanText(k.max))
	case d%time.Millisecond != 0:
		return refuse("", "%s is finer than a millisecond", show(s))
	}
	return d, nil
}

func (k size) read(v any) (any, []*fault) {
	n, ok := v.(int64)
	if s, isText := v.(string); isText {
		if n, ok = parseSize(s); !ok {
			return refuse("try "+show(guessSize(s)), "%s is not a size", show(s))
		}
	}
	unit := max(k.unit, 1)
	switch {
	case !ok:
		return refuse("", "%s is not a size", describe(v))
	case n < k.min || n > k.max:
		return refuse("", "%s is outside %s..%s", describe(v), sizeText(k.min), sizeText(k.max))
	case n%unit != 0:
		return refuse("try "+show(sizeText(min(k.max, n/unit*unit+unit))), "%s is not a multiple of %s", describe(v), sizeText(unit))
	}
	return n, nil
}

func (k text) read(v any) (any, []*fault) {
	s, ok := v.(string)
	switch {
	case !ok:
		hint := ""
		switch v.(type) {
		case int64, bool:
			hint = "try " + literal(k, fmt.Sprint(v))
		}
		return refuse(hint, "%s is not a text", describe(v))
	case !utf8.ValidString(s):
		return refuse("", "%s is not UTF-8", show(s))
	}
	s, f := k.clean(s)
	if f != nil {
		return nil, []*fault{f}
	}
	return s, nil
}

func (k choice) read(v any) (any, []*fault) {
	if s, ok := v.(string); ok && (slices.Contains(k.of, s) || k.orEmpty && s == "") {
		return s, nil
	}
	return nil, []*fault{notAmong(v, k.of)}
}

func (k list) read(v any) (any, []*fault) {
	items, ok := v.([]any)
	if !ok {
		return wrongType(k, v, "a list")
	}
	var faults []*fault
	good := make([]string, 0, len(items))
	for i, item := range items {
		v, bad := text(k).read(item)
		if bad == nil && slices.Contains(good, v.(string)) {
			_, bad = refuse("", "%s is in the list twice", show(v.(string)))
		}
		if bad == nil {
			good = append(good, v.(string))
		}
		for _, f := range bad {
			f.item = i + 1
			faults = append(faults, f)
		}
	}
	if faults != nil {
		return nil, faults
	}
	return good, nil
}
