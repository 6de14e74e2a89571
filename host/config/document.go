package config

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// Document writes companiond.toml with every key at its default, commented out
// and explained.
func Document(w io.Writer) error {
	b := bufio.NewWriter(w)
	comment(b, "companiond.toml: the settings of companiond, all at their defaults.")
	comment(b, "")
	comment(b, "To change one, take the # away and write your value. A variable of the environment wins over this "+
		"file; its name is the key's in capitals with _ for the dots, for example "+envName(dotted{"door", "listen"})+" or "+
		envName(dotted{sectionRoom, DefaultName, "patience"})+", and a list is written with commas. Paths are relative to the "+
		"folder the daemon runs in. A duration is \"250ms\", \"10s\", \"5m\" or \"1h30m\"; a size is \"64KiB\", \"16MiB\" or \"1GiB\".")
	comment(b, "")
	comment(b, "`companiond check` says everything that is wrong with this file; `companiond check -print` shows what "+
		"is in force and where each value came from.")
	for _, s := range sections() {
		b.WriteString("\n")
		comment(b, s.doc)
		if s.example != "" && s.name != sectionRoom {
			b.WriteString("#") // there is none by default
		}
		fmt.Fprintf(b, "[%s]\n", s.path(s.example))
		for _, k := range s.keys {
			b.WriteString("\n")
			comment(b, k.doc)
			fmt.Fprintf(b, "#%s = %s\n", k.name, literal(k.kind, k.usually()))
		}
	}
	return b.Flush()
}

// Print writes the configuration in force as TOML, each value with its origin:
// the file and line, the environment's variable, or the default.
func (c Config) Print(w io.Writer) error {
	b := bufio.NewWriter(w)
	for i, t := range c.tables() {
		if i > 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(b, "[%s]\n", t.path)
		columns := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
		for _, k := range t.section.keys {
			fmt.Fprintf(columns, "%s = %s\t# %s\n", k.name, literal(k.kind, t.field(k).Interface()), c.origins[t.path.add(k.name).String()])
		}
		columns.Flush()
	}
	return b.Flush()
}

// String says where a value came from.
func (o origin) String() string {
	switch {
	case o.env != "":
		return Environment + " " + o.env
	case o.line > 0:
		return fmt.Sprintf("%s:%d", o.file, o.line)
	}
	return "default"
}

// comment writes text as comment lines of at most 80 columns.
func comment(w io.Writer, text string) {
	const width = 78
	line := "#"
	for word := range strings.FieldsSeq(text) {
		if line != "#" && len(line)+1+len(word) > width {
			fmt.Fprintln(w, line)
			line = "#"
		}
		line += " " + word
	}
	fmt.Fprintln(w, line)
}
