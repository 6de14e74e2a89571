package tree

import (
	"cmp"
	"fmt"
	"strings"
	"unicode"

	"github.com/companiond/companiond/abi"
)

// MaxFaults bounds what is told of a text, which may have been made to be told much
// about.
const MaxFaults = 100

// MaxTold is how many reasons are given for one refusal.
const MaxTold = 5

// Fault is something wrong at a byte of a text and a path in it.
type Fault struct {
	At     int
	Path   string // e.g. "actions[1].properties.x"; empty for the whole
	Text   string
	Kind   bool // the value is of another kind than it has to be
	Syntax bool // the text is no JSON from here on, so that no path leads here
}

// Faults collects what is wrong with a text, the first hundred and one more to say
// that there is more.
type Faults []Fault

// Add adds a fault.
func (f *Faults) Add(at int, path, format string, args ...any) {
	if len(*f) <= MaxFaults {
		f.Join(Fault{At: at, Path: path, Text: fmt.Sprintf(format, args...)})
	}
}

// Join adds more of them.
func (f *Faults) Join(more ...Fault) {
	for _, x := range more {
		if len(*f) == MaxFaults {
			x = Fault{At: x.At, Text: "and there is more; mend these first"}
		}
		if len(*f) <= MaxFaults {
			*f = append(*f, x)
		}
	}
}

// Err makes one error of the faults of a value that somebody sent, nil of none.
// root is how the value as a whole is called.
func (f Faults) Err(code abi.Code, root string) error {
	var told []string
	for _, x := range f {
		if len(told) == MaxTold {
			told = append(told, "and more")
			break
		}
		told = append(told, cmp.Or(x.Path, root)+": "+x.Text)
	}
	if told == nil {
		return nil
	}
	err := abi.Errorf(code, "%s", strings.Join(told, "; "))
	err.Field = cmp.Or(f[0].Path, root)
	return err
}

// Member gives the path of a member of an object: a.b, or a["b c"].
func Member(path, name string) string {
	plain := name != "" && len(name) <= 64
	for _, r := range name {
		if !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_-$", r) {
			plain = false
		}
	}
	switch {
	case !plain:
		return path + "[" + Show(name) + "]"
	case path == "":
		return name
	}
	return path + "." + name
}

// Item gives the path of an item of a list: a[1].
func Item(path string, i int) string { return fmt.Sprintf("%s[%d]", path, i) }

// Show quotes a string for a message and shortens a long one.
func Show(s string) string {
	const most = 60
	count := 0
	for i := range s {
		if count++; count > most { // it may be an image
			return fmt.Sprintf("%q", s[:i]+"…")
		}
	}
	return fmt.Sprintf("%q", s)
}

// MostListed is how many words of many are told.
const MostListed = 20

// Listed joins words for a message, some of them when there are many.
func Listed(words []string) string {
	if len(words) > MostListed {
		return strings.Join(words[:MostListed], ", ") + ", …"
	}
	return strings.Join(words, ", ")
}

// Have says which words there are.
func Have(known []string) string {
	if len(known) == 0 {
		return "there are none"
	}
	return "there are " + Listed(known)
}

// Hint asks whether something else was meant; it gives "" where meant is.
func Hint(meant string) string {
	if meant == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %q?", meant)
}
