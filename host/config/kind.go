package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/BurntSushi/toml"

	"github.com/companiond/companiond/host/config/form"
)

// kind is what values a key takes: it reads one as the TOML library gives it. The
// values it gives are bool, int64, float64, string, []string and time.Duration. One
// with faults is not used.
type kind interface {
	read(v any) (any, []*fault)
}

// The kinds with a range have it in the words of a message, too.
type (
	truth  struct{}
	number struct {
		in             string
		min, max, also float64 // also is taken though it is outside
		whole          bool
	}
	span struct {
		in       string
		min, max time.Duration
	}
	size struct {
		in             string
		min, max, unit int64 // whole units
	}
	text   struct{ form form.Form }
	choice struct {
		of      []string
		orEmpty bool
	}
	table struct{} // of anything, as JSON
	list  struct {
		form    form.Form
		repeats bool // an item may be there twice
	}
)

// fromText gives the text of a variable as the file has such a value: a number
// without quotes, a list with brackets. Of the items of lists a word of a command alone may
// hold a comma; such a command has to stand in the file.
func fromText(k kind, s string) any {
	switch k := k.(type) {
	case truth:
		if s == "true" || s == "false" {
			return s == "true"
		}
	case number:
		if n, err := strconv.ParseInt(s, 10, 64); err == nil {
			return n
		}
		if n, err := strconv.ParseFloat(s, 64); err == nil && !k.whole {
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
	switch n := v.(type) {
	case float64:
		return strconv.FormatFloat(n, 'f', -1, 64)
	case time.Duration:
		v = form.SpanText(n)
	case json.RawMessage:
		var all map[string]any
		d := json.NewDecoder(bytes.NewReader(n))
		d.UseNumber()
		_ = d.Decode(&all) // it was written here
		return form.Inline(all)
	case int64:
		if _, isSize := k.(size); isSize {
			v = form.SizeText(n)
		}
	}
	line, _ := toml.Marshal(map[string]any{"v": v}) // a value of a kind always encodes
	return strings.TrimSpace(strings.TrimPrefix(string(line), "v = "))
}

func refuse(hint, format string, args ...any) (any, []*fault) {
	return nil, []*fault{{message: fmt.Sprintf(format, args...), hint: hint}}
}

// wrongType refuses a value that cannot be what a key wants. A text may hold it.
func wrongType(k kind, v any, want string) (any, []*fault) {
	hint := ""
	if s, ok := v.(string); ok {
		held := fromText(k, s)
		if _, still := held.(string); !still {
			if n, faults := k.read(held); faults == nil {
				hint = "try " + literal(k, n)
			}
		}
	}
	return refuse(hint, "%s is not %s", form.Describe(v), want)
}

// notAmong words a value that is none of those there are.
func notAmong(v any, known []string) *fault {
	if s, isText := v.(string); isText {
		return faultOf(form.Unknown(s, known))
	}
	return &fault{message: form.Describe(v) + " is unknown, have: " + strings.Join(known, ", ")}
}

func (k table) read(v any) (any, []*fault) {
	all, ok := v.(map[string]any)
	if !ok {
		return wrongType(k, v, "a table")
	}
	text, err := json.Marshal(all)
	if err != nil { // inf and nan
		return refuse("", "holds a number that is none")
	}
	return json.RawMessage(text), nil
}

func (k truth) read(v any) (any, []*fault) {
	if b, ok := v.(bool); ok {
		return b, nil
	}
	return wrongType(k, v, "true or false")
}

func (k number) read(v any) (any, []*fault) {
	n, ok := v.(float64)
	whole, isWhole := v.(int64)
	if isWhole {
		n, ok = float64(whole), true
	}
	switch {
	case k.whole && !isWhole:
		return wrongType(k, v, "a whole number")
	case !ok:
		return wrongType(k, v, "a number")
	case n != k.also && !(n >= k.min && n <= k.max): // as NaN is
		return refuse("", "%s is outside %s", form.Describe(v), k.in)
	case k.whole:
		return whole, nil
	}
	return n, nil
}

func (k span) read(v any) (any, []*fault) {
	s, ok := v.(string)
	d, err := time.ParseDuration(s)
	switch {
	case !ok || err != nil:
		return refuse("try "+form.Show(form.GuessSpan(strings.Trim(form.Describe(v), `"`))), "%s is not a duration", form.Describe(v))
	case d < k.min || d > k.max:
		return refuse("", "%s is outside %s", form.Show(s), k.in)
	case d%time.Millisecond != 0:
		return refuse("", "%s is finer than a millisecond", form.Show(s))
	}
	return d, nil
}

func (k size) read(v any) (any, []*fault) {
	n, ok := v.(int64)
	if s, isText := v.(string); isText {
		n, ok = form.ParseSize(s)
	}
	switch {
	case !ok:
		return refuse("try "+form.Show(form.GuessSize(strings.Trim(form.Describe(v), `"`))), "%s is not a size", form.Describe(v))
	case n < k.min || n > k.max:
		return refuse("", "%s is outside %s", form.Describe(v), k.in)
	case n%k.unit != 0:
		return refuse("try "+form.Show(form.SizeText(min(k.max, n/k.unit*k.unit+k.unit))), "%s is not a multiple of %s", form.Describe(v), form.SizeText(k.unit))
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
		return refuse(hint, "%s is not a text", form.Describe(v))
	case !utf8.ValidString(s):
		return refuse("", "%s is not UTF-8", form.Show(s))
	}
	s, f := k.form(s)
	if f != nil {
		return nil, []*fault{faultOf(f)}
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
		v, bad := text{k.form}.read(item)
		if bad == nil && !k.repeats && slices.Contains(good, v.(string)) {
			_, bad = refuse("", "%s is in the list twice", form.Show(v.(string)))
		}
		if bad == nil {
			good = append(good, v.(string))
		}
		for _, f := range bad {
			f.item = i + 1
			faults = append(faults, f)
		}
	}
	return good, faults
}
