package config

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/BurntSushi/toml"
)

// Document writes companiond.toml with every key at its default, commented out
// and explained.
func Document(w io.Writer) error {
	b := bufio.NewWriter(w)
	comment(b, "companiond.toml: the settings of companiond, all at their defaults.")
	comment(b, "")
	comment(b, "To change one, take the # away and write your value. A variable of the environment wins over this "+
		"file; its name is the key's in capitals with _ for the dots, for example "+envName("door.listen")+" or "+
		envName(roomKey(DefaultName, "patience"))+", and a list is written with commas. Paths are relative to the "+
		"folder the daemon runs in. A duration is \"250ms\", \"10s\", \"5m\" or \"1h30m\"; a size is \"64KiB\", \"16MiB\" or \"1GiB\".")
	comment(b, "")
	comment(b, "`companiond check` says everything that is wrong with this file; `companiond check -print` shows what "+
		"is in force and where each value came from.")
	for _, section := range sections() {
		b.WriteString("\n")
		comment(b, section.doc)
		mark := ""
		if hasNames(section.name) && section.name != sectionRoom {
			mark = "#" // there is none by default
		}
		fmt.Fprintf(b, "%s[%s]\n", mark, header(section.name, exampleName(section.name)))
		for _, s := range settings() {
			if s.section() == section.name {
				b.WriteString("\n")
				comment(b, s.doc)
				fmt.Fprintf(b, "#%s = %s\n", s.leaf(), s.defaultLiteral())
			}
		}
	}
	return b.Flush()
}

// Print writes the configuration in force as TOML, each value with its origin:
// the file and line, the environment's variable, or the default.
func (c Config) Print(w io.Writer) error {
	b := bufio.NewWriter(w)
	for i, section := range sections() {
		tables := c.tables(section.name)
		for j, t := range tables {
			if i+j > 0 {
				b.WriteString("\n")
			}
			c.printTable(b, section.name, t)
		}
	}
	return b.Flush()
}

// tables gives those of a section; one that is nil where the section is itself
// the table.
func (c Config) tables(section string) (all []*table) {
	switch section {
	case sectionRoom:
		for _, r := range c.Rooms {
			all = append(all, &table{name: r.Name, room: r})
		}
	case sectionCompanion:
		for _, o := range c.Companions {
			all = append(all, &table{name: o.Name, companion: o})
		}
	case sectionModule:
		for _, m := range c.PerModule {
			all = append(all, &table{name: m.Name, module: m})
		}
	case sectionModel:
		for _, m := range c.Models {
			all = append(all, &table{name: m.Name, model: m})
		}
	default:
		all = []*table{nil}
	}
	return all
}

func (c Config) printTable(w io.Writer, section string, t *table) {
	name := section
	if t != nil {
		name = header(section, t.name)
	}
	fmt.Fprintf(w, "[%s]\n", name)
	columns := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, s := range settings() {
		if s.section() == section {
			fmt.Fprintf(columns, "%s = %s\t# %s\n", s.leaf(), s.kind.literal(load(s.field(&c, t))), c.origins[name+"."+s.leaf()])
		}
	}
	columns.Flush()
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

// header gives the name of a section's table.
func header(section, name string) string {
	if hasNames(section) {
		return toml.Key{section, name}.String()
	}
	return section
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
