package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/spell"
)

// kind is what values a setting takes. The Go values are bool, int64, float64,
// string, []string and time.Duration.
type kind interface {
	// parse reads a value as a variable of the environment gives it.
	parse(s string) (any, []*fault)
	// read takes a value as the TOML library gives it.
	read(v any) (any, []*fault)
	// literal writes a value as TOML.
	literal(v any) string
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
	choice  struct{ of []string }
	list    struct{ clean clean }
)

func one(f *fault) []*fault { return []*fault{f} }

// wrongType words a TOML value that cannot be what the setting wants.
func wrongType(v any, want, hint string) []*fault {
	return one(&fault{message: describe(v) + " is not " + want, hint: hint})
}

// unquoted hints at a value of k that stands between quotes.
func unquoted(k kind, v any) string {
	if s, isText := v.(string); isText {
		if n, faults := k.parse(s); faults == nil {
			return "try " + k.literal(n)
		}
	}
	return ""
}

// notAmong words a value that is none of those there are.
func notAmong(v any, known []string) *fault {
	f := &fault{message: describe(v) + " is unknown, have: " + strings.Join(known, ", ")}
	if s, isText := v.(string); isText {
		if near := spell.Near(s, known); near != "" {
			f.hint = "did you mean " + show(near) + "?"
		}
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

func (truth) parse(s string) (any, []*fault) {
	switch s {
	case "true":
		return true, nil
	case "false":
		return false, nil
	}
	return nil, wrongType(s, "true or false", "")
}

func (k truth) read(v any) (any, []*fault) {
	if b, ok := v.(bool); ok {
		return b, nil
	}
	hint := ""
	if s, ok := v.(string); ok {
		if _, faults := k.parse(s); faults == nil {
			hint = "leave the quotes out"
		}
	}
	return nil, wrongType(v, "true or false", hint)
}

func (truth) literal(v any) string { return strconv.FormatBool(v.(bool)) }

func (k number) parse(s string) (any, []*fault) {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return nil, wrongType(s, "a whole number", "")
	}
	return k.read(n)
}

func (k number) read(v any) (any, []*fault) {
	n, ok := v.(int64)
	if !ok {
		return nil, wrongType(v, "a whole number", unquoted(k, v))
	}
	if n < k.min || n > k.max {
		return nil, one(&fault{message: fmt.Sprintf("%d is outside %d..%d", n, k.min, k.max)})
	}
	return n, nil
}

func (number) literal(v any) string { return strconv.FormatInt(v.(int64), 10) }

func (k decimal) parse(s string) (any, []*fault) {
	n, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return nil, wrongType(s, "a number", "")
	}
	return k.read(n)
}

func (k decimal) read(v any) (any, []*fault) {
	n, ok := v.(float64)
	if whole, isWhole := v.(int64); isWhole {
		n, ok = float64(whole), true
	}
	if !ok {
		return nil, wrongType(v, "a number", unquoted(k, v))
	}
	if n == k.also || n >= k.min && n <= k.max { // NaN is neither
		return n, nil
	}
	f := &fault{message: fmt.Sprintf("%s is outside %s..%s", describe(v), k.literal(k.min), k.literal(k.max))}
	if k.also < k.min || k.also > k.max {
		f.message += " and is not " + k.literal(k.also)
	}
	return nil, one(f)
}

func (decimal) literal(v any) string { return strconv.FormatFloat(v.(float64), 'f', -1, 64) }

func (k span) parse(s string) (any, []*fault) {
	d, err := time.ParseDuration(s)
	switch {
	case err != nil:
		return nil, wrongType(s, "a duration", "try "+show(guessSpan(s)))
	case d < k.min || d > k.max:
		return nil, one(&fault{message: fmt.Sprintf("%s is outside %s..%s", show(s), spanText(k.min), spanText(k.max))})
	case d%time.Millisecond != 0:
		return nil, one(&fault{message: show(s) + " is finer than a millisecond"})
	}
	return d, nil
}

func (k span) read(v any) (any, []*fault) {
	switch v := v.(type) {
	case string:
		return k.parse(v)
	case int64, float64:
		return nil, wrongType(v, "a duration", "try "+show(guessSpan(fmt.Sprint(v))))
	}
	return nil, wrongType(v, "a duration", "")
}

func (span) literal(v any) string { return quote(spanText(v.(time.Duration))) }

func (k size) parse(s string) (any, []*fault) {
	n, ok := parseSize(s)
	if !ok {
		return nil, wrongType(s, "a size", "try "+show(guessSize(s)))
	}
	return k.check(n, show(s))
}

func (k size) read(v any) (any, []*fault) {
	switch v := v.(type) {
	case string:
		return k.parse(v)
	case int64:
		return k.check(v, strconv.FormatInt(v, 10))
	}
	return nil, wrongType(v, "a size", "")
}

func (k size) check(n int64, shown string) (any, []*fault) {
	if n < k.min || n > k.max {
		return nil, one(&fault{message: fmt.Sprintf("%s is outside %s..%s", shown, sizeText(k.min), sizeText(k.max))})
	}
	if unit := max(k.unit, 1); n%unit != 0 {
		return nil, one(&fault{
			message: fmt.Sprintf("%s is not a multiple of %s", shown, sizeText(unit)),
			hint:    "try " + show(sizeText(min(k.max, n/unit*unit+unit))),
		})
	}
	return n, nil
}

func (size) literal(v any) string { return quote(sizeText(v.(int64))) }

func (k text) parse(s string) (any, []*fault) {
	if !utf8.ValidString(s) {
		return nil, one(&fault{message: show(s) + " is not UTF-8"})
	}
	s, f := k.clean(s)
	if f != nil {
		return nil, one(f)
	}
	return s, nil
}

func (k text) read(v any) (any, []*fault) {
	s, ok := v.(string)
	if !ok {
		return nil, wrongType(v, "a text", quotesFor(v))
	}
	return k.parse(s)
}

func (text) literal(v any) string { return quote(v.(string)) }

func (k choice) parse(s string) (any, []*fault) { return k.read(s) }

func (k choice) read(v any) (any, []*fault) {
	s, ok := v.(string)
	if ok && slices.Contains(k.of, s) {
		return s, nil
	}
	return nil, one(notAmong(v, k.of))
}

func (choice) literal(v any) string { return quote(v.(string)) }

// parse splits at commas; no item of any list may hold one.
func (k list) parse(s string) (any, []*fault) {
	if strings.TrimSpace(s) == "" {
		return []string{}, nil
	}
	var items []any
	for item := range strings.SplitSeq(s, ",") {
		items = append(items, strings.TrimSpace(item))
	}
	return k.read(items)
}

func (k list) read(v any) (any, []*fault) {
	items, ok := v.([]any)
	if !ok {
		hint := ""
		if s, isText := v.(string); isText {
			hint = "try [" + quote(s) + "]"
		}
		return nil, wrongType(v, "a list", hint)
	}
	var faults []*fault
	good := make([]string, 0, len(items))
	for i, item := range items {
		v, bad := text(k).read(item)
		if bad == nil && slices.Contains(good, v.(string)) {
			bad = one(&fault{message: show(v.(string)) + " is in the list twice"})
		}
		for _, f := range bad {
			f.item = i + 1
			faults = append(faults, f)
		}
		if bad == nil {
			good = append(good, v.(string))
		}
	}
	if faults != nil {
		return nil, faults
	}
	return good, nil
}

func (list) literal(v any) string {
	var quoted []string
	for _, s := range v.([]string) {
		quoted = append(quoted, quote(s))
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// store puts a kind's value into a field of Config, load takes it out again.
func store(field, v any) {
	switch f := field.(type) {
	case *bool:
		*f = v.(bool)
	case *int:
		*f = int(v.(int64))
	case *int64:
		*f = v.(int64)
	case *time.Duration:
		*f = v.(time.Duration)
	case *string:
		*f = v.(string)
	case *entry.Stale:
		*f = entry.Stale(v.(string))
	case *[]string:
		*f = v.([]string)
	case *float64:
		*f = v.(float64)
	}
}

func load(field any) any {
	switch f := field.(type) {
	case *bool:
		return *f
	case *int:
		return int64(*f)
	case *int64:
		return *f
	case *time.Duration:
		return *f
	case *string:
		return *f
	case *entry.Stale:
		return string(*f)
	case *[]string:
		return *f
	case *float64:
		return *f
	}
	return nil
}
