package manual

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/companiond/companiond/host/config"
)

// head is what stands at the head and the foot of each page.
type head struct {
	version string
	at      time.Time
}

// page is a manual page in the language of man(7).
type page struct{ bytes.Buffer }

func newPage() *page { return &page{} }

// escaped are signs that mean something to roff; what is typed has to have its own hyphens and quotes.
var escaped = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`)

// macro writes a request, whose arguments are plain text.
func (p *page) macro(name string, args ...string) {
	p.WriteString("." + name)
	for _, a := range args {
		fmt.Fprintf(p, ` "%s"`, strings.ReplaceAll(escaped.Replace(a), `"`, `\(dq`))
	}
	p.WriteString("\n")
}

func (p *page) begin(title string, section int, h head) {
	fmt.Fprintf(p, ".TH %s %d %s \"companiond %s\"\n", title, section, h.at.Format(time.DateOnly), escaped.Replace(h.version))
}

// text writes plain text; a sentence begins a line, for so man finds its end.
func (p *page) text(s string) {
	for sentence := range strings.SplitSeq(strings.TrimSpace(s), ". ") {
		line := ""
		for w := range strings.FieldsSeq(escaped.Replace(sentence)) {
			if len(line)+1+len(w) > width {
				p.WriteString(guarded(line) + "\n")
				line = ""
			}
			line = strings.TrimSpace(line + " " + w)
		}
		if line = guarded(line); !strings.HasSuffix(line, ".") {
			line += "."
		}
		p.WriteString(line + "\n")
	}
}

// width is how long a line of the page may be.
const width = 78

// guarded keeps a line that begins with a point from being a request.
func guarded(line string) string {
	if strings.HasPrefix(line, ".") {
		return `\&` + line
	}
	return line
}

// verbatim writes lines as they are.
func (p *page) verbatim(lines ...string) {
	p.macro("PP")
	p.macro("nf")
	p.macro("RS", "4")
	for _, l := range lines {
		p.WriteString(`\&` + escaped.Replace(l) + "\n")
	}
	p.macro("RE")
	p.macro("fi")
}

// item writes what is explained, and its explanation.
func (p *page) item(what, value, text string) {
	p.macro("TP")
	if value == "" {
		p.macro("B", what)
	} else {
		p.macro("BI", what+" ", value)
	}
	p.text(text)
}

func (p *page) flags(all []Flag) {
	for _, f := range all {
		usage := f.Usage
		if f.Default != "" && f.Default != "false" && f.Default != "0" {
			usage += " (default " + f.Default + ")"
		}
		p.item("-"+f.Name, f.Value, upper(usage))
	}
}

func upper(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// commands writes companiond(1).
func commands(p *page, h head, verbs []Verb) {
	p.begin("COMPANIOND", 1, h)
	p.macro("SH", "NAME")
	p.WriteString("companiond \\- AI companions that talk with each other and with people\n")
	p.macro("SH", "SYNOPSIS")
	p.macro("B", "companiond")
	p.macro("I", "verb")
	p.WriteString("[\\fIarguments\\fR]\n")
	p.macro("SH", "DESCRIPTION")
	p.text("companiond hosts AI characters that talk with each other and with people in turn, and gives their lines and actions to bodies. " +
		"A character is a file in a folder. The daemon is companiond run; other verbs ask it, or read what it wrote. " +
		"Flags may stand before and behind arguments, with one - or two; behind -- everything is an argument.")
	p.macro("SH", "VERBS")
	for _, v := range verbs {
		p.macro("SS", strings.TrimSpace("companiond "+v.Name+" "+v.Args))
		p.text(upper(v.Short))
		p.flags(v.Flags)
		for _, d := range v.Does {
			if own := v.own(d); len(own) > 0 {
				p.macro("PP")
				p.text("Flags of companiond " + v.Name + " " + d.Name + " alone")
				p.flags(own)
			}
		}
	}
	for _, s := range sections {
		p.macro("SH", s.name)
		for _, i := range s.items {
			p.item(i[0], "", i[1])
		}
	}
	p.macro("SH", "SEE ALSO")
	p.macro("BR", "companiond.toml", "(5)")
}

// sections are those of companiond(1) that no verb has for its own.
var sections = []struct {
	name  string
	items [][2]string
}{
	{"ENVIRONMENT", [][2]string{
		{"COMPANIOND_URL", "Where the daemon is that verbs ask, if it is not where companiond.toml says."},
		{"COMPANIOND_TOKEN", "The token that they show it."},
		{"COMPANIOND_TABLE_KEY", "A variable called as a key of companiond.toml wins over the file: companiond.toml(5)."},
		{"CONFIGURATION_DIRECTORY, STATE_DIRECTORY, CACHE_DIRECTORY, RUNTIME_DIRECTORY", "Folders that a service manager gives; they stand in for defaults of companiond.toml."},
		{"NO_COLOR", "Whatever it is, nothing is shown in colours."},
	}},
	{"FILES", [][2]string{
		{"companiond.toml", "The settings, in the folder where companiond runs: companiond.toml(5)."},
		{"characters", "The folder of characters."},
		{"state", "The journal, the programs, and compiled code, which may be deleted."},
		{"/etc/companiond, /var/lib/companiond, /var/cache/companiond", "All of these, of the service that the package for Debian has. Verbs but run, check and bench take them where neither -config, the environment, nor a companiond.toml or a state in the folder says otherwise, and say so."},
	}},
	{"SIGNALS", [][2]string{
		{"SIGTERM, SIGINT", "The daemon says goodbye, lets lines that are being made be said, and ends; a second one ends it at once."},
		{"SIGHUP", "It reads its configuration and tokens anew."},
		{"SIGQUIT", "It ends at once, and prints where each goroutine was."},
	}},
	{"EXIT STATUS", [][2]string{
		{"0", "All went well."},
		{"1", "Something failed, as is said."},
		{"2", "What was typed is nothing that companiond does."},
		{"78", "The configuration has mistakes."},
	}},
}

// tables are where the document begins a table: what is said of it, and its name.
var tables = regexp.MustCompile(`(?m)((?:^#(?: .*)?\n)*)^#?\[([\w.]+)\]\n`)

// settings writes companiond.toml(5).
func settings(p *page, h head) {
	document := config.Document()
	intro, _, _ := strings.Cut(document, "\n\n# Who")
	p.begin("COMPANIOND.TOML", 5, h)
	p.macro("SH", "NAME")
	p.WriteString("companiond.toml \\- settings of companiond\n")
	p.macro("SH", "DESCRIPTION")
	p.text("The file that comes with companiond has each setting at its default, behind a #")
	for i, paragraph := range strings.Split(intro, "\n#\n") {
		if i > 1 {
			p.macro("PP")
		}
		if i > 0 { // its first says what the file is
			p.text(plain(paragraph))
		}
	}
	p.macro("PP")
	p.text("The daemon reads the file in the folder where it runs, or in the one that its service manager names; -config names another. " +
		"companiond reload has it read the file anew.")
	said := map[string]string{}
	for _, m := range tables.FindAllStringSubmatch(document, -1) {
		name, _, _ := strings.Cut(m[2], ".")
		said[name] = plain(m[1])
	}
	p.macro("SH", "KEYS")
	at := ""
	for _, k := range config.Keys() {
		name := strings.Split(k.Name, ".")
		if table := strings.Join(name[:len(name)-1], "."); table != at {
			at = table
			p.macro("SS", "["+table+"]")
			p.text(said[name[0]])
		}
		p.macro("TP")
		p.macro("B", name[len(name)-1]+" = "+k.Default)
		p.text(k.Doc)
	}
	p.macro("SH", "EXAMPLE")
	p.text("A model, and a room whose companions wait for half a minute after each of their lines")
	p.verbatim("[model.main]", `model = "qwen3:8b"`, "", "[room.main]", `pace = "30s"`)
	p.macro("SH", "SEE ALSO")
	p.macro("BR", "companiond", "(1)")
}

// plain takes the signs of a comment away, and line breaks.
func plain(comment string) string {
	words := strings.Fields(strings.ReplaceAll("\n"+comment, "\n#", "\n"))
	return strings.Join(slices.DeleteFunc(words, func(w string) bool { return w == "" }), " ")
}
