// Package manual has the verbs man and completion: it writes the manual pages companiond(1) and companiond.toml(5), and
// completions for shells, out of the table of verbs, their flags, and the comments of companiond.toml.
//
// It never says anything of a verb or a key that the program does not say itself, and installs nothing.
package manual

import (
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Verb is one thing that the program does, or that a verb of it does.
type Verb struct {
	Name  string // "history", of what a verb does "show"
	Args  string // how the rest is typed; of what a verb does empty
	Short string // what it does, a phrase without an end; of what a verb does empty
	Flags []Flag // by name
	Does  []Verb // what the first argument may be: history show, history search
}

// Flag is an option of a verb.
type Flag struct {
	Name, Value, Default, Usage string // Value says what stands behind it, and is empty for a switch
}

// Of describes a verb. flags runs it with some arguments and -h, and gives the flags it has then.
func Of(name, args, short string, flags func(args ...string) *flag.FlagSet) Verb {
	v := Verb{Name: name, Args: args, Short: short, Flags: options(flags(name))}
	for _, m := range word.FindAllStringSubmatch(args, -1) {
		if !slices.ContainsFunc(v.Does, func(d Verb) bool { return d.Name == m[1] }) {
			v.Does = append(v.Does, Verb{Name: m[1], Flags: options(flags(name, m[1]))})
		}
	}
	return v
}

// word is where the arguments of a verb name what it does: "show [TURNS | ID] | search WORDS", "[show ID | end ID]".
var word = regexp.MustCompile(`(?:^|\[|\| )([a-z]+)(?: |$)`)

// options gives the flags of a set, which may be nil.
func options(fs *flag.FlagSet) (all []Flag) {
	if fs == nil {
		return nil
	}
	fs.VisitAll(func(f *flag.Flag) {
		value, usage := flag.UnquoteUsage(f)
		all = append(all, Flag{Name: f.Name, Value: value, Default: f.DefValue, Usage: usage})
	})
	return all
}

// own gives the flags of what a verb does that the verb itself does not have.
func (v Verb) own(d Verb) (all []Flag) {
	for _, f := range d.Flags {
		if !slices.Contains(v.Flags, f) {
			all = append(all, f)
		}
	}
	return all
}

// Desk is what the verbs have to do with the outside.
type Desk struct {
	Out     io.Writer
	Version string
	// Epoch is the time that the pages have, in seconds since 1970, as SOURCE_DATE_EPOCH says it; now, where it is empty.
	Epoch string
	// Verbs gives the table of verbs.
	Verbs func() []Verb
	// Parse reads flags, and leaves up to most arguments.
	Parse func(fs *flag.FlagSet, args []string, most int) (rest []string, err error)
	// Usage makes the error of whoever typed something that the verb does not take.
	Usage func(format string, args ...any) error
}

// Man writes a page.
func (d Desk) Man(fs *flag.FlagSet, args []string) error {
	rest, err := d.Parse(fs, args, 1)
	if err != nil {
		return err
	}
	at, err := d.time()
	if err != nil {
		return err
	}
	h := head{d.Version, at}
	switch cmp.Or(append(rest, "")...) {
	case "", "companiond":
		return d.write(func(p *page) { commands(p, h, d.Verbs()) })
	case "companiond.toml":
		return d.write(func(p *page) { settings(p, h) })
	}
	return d.Usage("there is no page %q, have: companiond, companiond.toml", rest[0])
}

// Completion writes what a shell completes companiond's arguments by.
func (d Desk) Completion(fs *flag.FlagSet, args []string) error {
	rest, err := d.Parse(fs, args, 1)
	if err != nil {
		return err
	}
	write, known := map[string]func(*bytes.Buffer, []Verb){"bash": bash, "zsh": zsh, "fish": fish}[cmp.Or(append(rest, "")...)]
	if !known {
		return d.Usage("for which shell? companiond completion bash, zsh or fish")
	}
	var b bytes.Buffer
	write(&b, d.Verbs())
	_, err = d.Out.Write(b.Bytes())
	return err
}

func (d Desk) time() (time.Time, error) {
	if d.Epoch == "" {
		return time.Now(), nil
	}
	s, err := strconv.ParseInt(d.Epoch, 10, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("SOURCE_DATE_EPOCH is %q, want seconds since 1970", d.Epoch)
	}
	return time.Unix(s, 0).UTC(), nil
}

func (d Desk) write(page func(*page)) error {
	b := newPage()
	page(b)
	_, err := d.Out.Write(b.Bytes())
	return err
}

// wants says what comes in a place that a text calls so: "files", "folders", or "" for what only people know.
func wants(place string) string {
	switch strings.ToLower(place) {
	case "file", "journal":
		return "files"
	case "folder", "dir":
		return "folders"
	}
	return ""
}

// argument says what a verb wants of arguments that are no flags.
func (v Verb) argument() string {
	for _, place := range strings.FieldsFunc(bracketed.ReplaceAllString(v.Args, ""), func(r rune) bool { return strings.ContainsRune("[]|. ", r) }) {
		if w := wants(place); w != "" {
			return w
		}
	}
	return ""
}

// bracketed is a flag with its value.
var bracketed = regexp.MustCompile(`-\S+( [A-Z]+)?`)
