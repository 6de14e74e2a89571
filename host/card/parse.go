package card

import (
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/card/schema"
	"github.com/companiond/companiond/host/card/tree"
	"github.com/companiond/companiond/host/spell"
)

// Bounds of a definition file.
const (
	MaxFile        = 1 << 20 // bytes
	MaxActions     = 64
	MaxQueries     = 16
	MaxPerceptions = 64
	MaxEvents      = 256
	MaxAliases     = 32
	MaxImage       = 32 << 20 // bytes that a card may allow for an image
	MaxVoice       = 4 << 10  // bytes of an object that says how a companion sounds
)

// The usual size and kinds of an image, where its card names none.
const usualImage = 8 << 20

var (
	usualMediaTypes = []string{"image/png", "image/jpeg", "image/webp", "image/gif"}
	allFormats      = []string{FormatObject, FormatText, FormatImage}
)

// The keys that are read. Others are kept and ignored, unless they are nearly one
// of these.
var (
	cardKeys = []string{"id", "name", "aliases", "personality", "story", "role", "sample", "version", "language", "model", "voice",
		"talkativeness", "mode", "metadata", "actions", "queries", "perceptions", "events", "$schema"}
	metadataKeys   = []string{"author", "tags", "created", "updated", "thumbnail"}
	perceptionKeys = []string{"input", "media_types", "max_bytes", "cool_down", "coalesce"} // beside JSON Schema's
	eventKeys      = []string{"perception", "action", "condition"}
)

// Parse reads a definition file. file is how problems call it.
//
// # Errors
//
// [Problems] has everything that is wrong with it, with the line and the JSON path.
func Parse(file string, data []byte) (*Card, error) {
	p := parser{data: slices.Clone(data)}
	if len(data) > MaxFile {
		p.Add(0, "", "has %d bytes, at most %d", len(data), MaxFile)
	} else if n := tree.Read(p.data, "", &p.Faults); n != nil {
		p.card(n)
	}
	if len(p.Faults) > 0 {
		return nil, problems(file, p.data, p.Faults)
	}
	return &p.Card, nil
}

// parser makes a Card of a file.
type parser struct {
	Card
	tree.Faults
	data     []byte
	compiler schema.Compiler
}

func (p *parser) card(n *tree.Node) {
	p.source = p.data
	p.Talkativeness, p.Mode = 0.5, Deny
	if n.Kind != tree.Object {
		p.Add(n.At, "", "is %s, must be an object", n.Kind.Called())
		return
	}
	p.keys(n, "", cardKeys)
	for key, field := range map[string]*string{"name": &p.Name, "personality": &p.Personality, "story": &p.Story, "role": &p.Role, "sample": &p.Sample,
		"version": &p.Version, "language": &p.Language, "model": &p.Model, "id": &p.ID} {
		*field, _ = p.text(n, "", key)
	}
	p.called(n)
	p.language(n)
	if x := p.a(n, "", "talkativeness", tree.Number); x != nil {
		if p.Talkativeness = x.Number; x.Number < 0 || x.Number > 1 {
			p.Add(x.At, "talkativeness", "is %s, must be from 0 to 1", x.Written())
		}
	}
	if x := p.a(n, "", "mode", tree.Text); x != nil {
		if p.Mode = Mode(x.Text); p.Mode != Deny && p.Mode != Warn {
			p.Add(x.At, "mode", "is %s, must be %q or %q", tree.Show(x.Text), Deny, Warn)
		}
	}
	if x := p.a(n, "", "voice", tree.Object); x != nil {
		if p.Voice = p.data[x.At : x.At+x.Size]; x.Size > MaxVoice {
			p.Add(x.At, "voice", "has %d bytes, at most %d", x.Size, MaxVoice)
		}
	}
	if x := p.a(n, "", "metadata", tree.Object); x != nil {
		p.metadata(x)
	}
	for i, x := range p.list(n, "actions", MaxActions) {
		p.action(x, tree.Item("actions", i), false)
	}
	for i, x := range p.list(n, "queries", MaxQueries) {
		p.action(x, tree.Item("queries", i), true)
	}
	for i, x := range p.list(n, "perceptions", MaxPerceptions) {
		p.perception(x, tree.Item("perceptions", i))
	}
	for i, x := range p.list(n, "events", MaxEvents) {
		p.event(x, tree.Item("events", i))
	}
}

// called reads id, name and aliases.
func (p *parser) called(n *tree.Node) {
	if x := n.Get("name"); x == nil {
		p.Add(n.At, "name", "is missing")
	} else if x.Kind == tree.Text {
		p.label(x, "name")
	}
	if x := n.Get("id"); x != nil && x.Kind == tree.Text {
		if err := abi.CheckName("id", x.Text); err != nil {
			p.Add(x.At, "id", "%s", strings.TrimPrefix(abi.AsError(err).Message, "id: "))
		}
	}
	for i, x := range p.list(n, "aliases", MaxAliases) {
		if x.Kind != tree.Text {
			p.Add(x.At, tree.Item("aliases", i), "is %s, must be a string", x.Kind.Called())
			continue
		}
		p.label(x, tree.Item("aliases", i))
		p.Aliases = append(p.Aliases, x.Text)
	}
}

// label refuses what cannot stand as a name among people.
func (p *parser) label(n *tree.Node, path string) {
	switch {
	case strings.TrimSpace(n.Text) == "":
		p.Add(n.At, path, "must not be empty")
	case len(n.Text) > abi.MaxName:
		p.Add(n.At, path, "has %d bytes, at most %d", len(n.Text), abi.MaxName)
	case strings.ContainsFunc(n.Text, func(r rune) bool { return !unicode.IsPrint(r) }):
		p.Add(n.At, path, "%s has characters that cannot be printed", tree.Show(n.Text))
	}
}

// metadata looks through what the file says of itself, on which nothing depends.
func (p *parser) metadata(n *tree.Node) {
	p.keys(n, "metadata", metadataKeys)
	for _, key := range []string{"author", "created", "updated", "thumbnail"} {
		p.text(n, "metadata", key)
	}
	p.texts(n, "metadata", "tags")
}

// action reads an action, or a query, which is one that is answered.
func (p *parser) action(n *tree.Node, path string, query bool) {
	a := Action{Title: p.title(n, path, p.can()), Query: query}
	a.Description, _ = p.text(n, path, "description")
	before := len(p.Faults)
	p.unwrapped(n, path)
	if a.schema = p.schema(n, path); a.schema != nil {
		a.Schema = asObject(p.data, n)
		p.described(n, path, a.schema)
		if query && a.Title == Speak {
			p.Add(n.Get("title").At, tree.Member(path, "title"), "%q is how a companion speaks, and no query", Speak)
		}
		if a.Title == Speak && len(p.Faults) == before {
			p.speaks(n, path, &a)
		}
	}
	p.Actions = append(p.Actions, a)
}

func (p *parser) perception(n *tree.Node, path string) {
	s := Perception{Title: p.title(n, path, p.perceived()), MediaTypes: slices.Clone(usualMediaTypes), MaxBytes: usualImage}
	s.Description, _ = p.text(n, path, "description")
	s.Formats = p.formats(n, path)
	s.Input = s.Title == "input"
	if x := p.a(n, path, "input", tree.Boolean); x != nil {
		s.Input = x.Truth
	}
	if n.Get("media_types") != nil {
		s.MediaTypes = p.texts(n, path, "media_types")
		for i, t := range s.MediaTypes {
			if !strings.HasPrefix(t, "image/") || mediaType(t) != t {
				p.Add(n.Get("media_types").Items[i].At, tree.Item(tree.Member(path, "media_types"), i), "%s is not the media type of an image, such as \"image/png\"", tree.Show(t))
			}
		}
	}
	if x := p.a(n, path, "max_bytes", tree.Number); x != nil {
		if s.MaxBytes = int64(x.Number); x.Number < 1 || x.Number > MaxImage || float64(s.MaxBytes) != x.Number {
			p.Add(x.At, tree.Member(path, "max_bytes"), "is %s, must be a whole number from 1 to %d", x.Written(), MaxImage)
		}
	}
	if x := p.a(n, path, "cool_down", tree.Text); x != nil {
		var err error
		if s.CoolDown, err = time.ParseDuration(x.Text); err != nil || strings.ContainsAny(x.Text, "+-") || s.CoolDown > time.Hour {
			p.Add(x.At, tree.Member(path, "cool_down"), "is %s, must be a time from 0s to 1h such as \"2s\" or \"500ms\"", tree.Show(x.Text))
		}
	}
	if x := p.a(n, path, "coalesce", tree.Boolean); x != nil {
		s.coalesce = &x.Truth
	}
	for i, x := range n.Get("required").List() {
		if x.Kind == tree.Text && !slices.Contains(perceptFields, x.Text) {
			p.Add(x.At, tree.Item(tree.Member(path, "required"), i), "%s is never there: a perception has %s%s", tree.Show(x.Text), tree.Listed(perceptFields), tree.Hint(spell.Slip(x.Text, perceptFields)))
		}
	}
	s.reads = readsBody(n)
	told := p.misplaced(n, path)
	before := len(p.Faults)
	s.schema = p.schema(n, path, perceptionKeys...)
	more := slices.DeleteFunc(p.Faults[before:], func(f tree.Fault) bool { return slices.Contains(told, f.Path) })
	p.Faults = p.Faults[:before+len(more)]
	p.Perceptions = append(p.Perceptions, s)
}

// formats reads what properties.format allows.
func (p *parser) formats(n *tree.Node, path string) (all []string) {
	format := n.Get("properties").Get("format")
	path = tree.Member(tree.Member(path, "properties"), "format")
	if format.Get("const") != nil {
		return p.format(all, format.Get("const"), tree.Member(path, "const"))
	}
	enum := format.Get("enum")
	if enum == nil || enum.Kind != tree.Array {
		return slices.Clone(allFormats)
	}
	if len(enum.Items) == 0 {
		p.Add(enum.At, tree.Member(path, "enum"), "must not be empty")
	}
	for i, x := range enum.Items {
		all = p.format(all, x, tree.Item(tree.Member(path, "enum"), i))
	}
	return all
}

func (p *parser) format(all []string, n *tree.Node, path string) []string {
	if n.Kind != tree.Text || !slices.Contains(allFormats, n.Text) {
		p.Add(n.At, path, "is %s; the formats are %s", n.Written(), tree.Listed(allFormats))
	}
	return append(all, n.Text)
}

func (p *parser) event(n *tree.Node, path string) {
	if n.Kind != tree.Object {
		p.Add(n.At, path, "is %s, must be an object", n.Kind.Called())
		return
	}
	p.keys(n, path, eventKeys)
	for _, key := range eventKeys {
		if n.Get(key) == nil {
			p.Add(n.At, tree.Member(path, key), "is missing")
		}
	}
	var e Event
	var x *tree.Node
	if e.Perception, x = p.text(n, path, "perception"); x != nil {
		p.known(x, tree.Member(path, "perception"), "perception", p.perceived())
	}
	e.Actions = p.texts(n, path, "action")
	for i, x := range n.Get("action").List() {
		p.known(x, tree.Item(tree.Member(path, "action"), i), "action", p.can())
	}
	if e.Condition, x = p.text(n, path, "condition"); x != nil && strings.TrimSpace(x.Text) == "" {
		p.Add(x.At, tree.Member(path, "condition"), "must not be empty")
	}
	p.Events = append(p.Events, e)
}

// known refuses the title of something that the card has not.
func (p *parser) known(n *tree.Node, path, what string, titles []string) {
	if n.Kind == tree.Text && !slices.Contains(titles, n.Text) {
		p.Add(n.At, path, "the card has no %s %s; %s%s", what, tree.Show(n.Text), tree.Have(titles), tree.Hint(spell.Slip(n.Text, titles)))
	}
}

// schema compiles the schema that an action or a perception is.
func (p *parser) schema(n *tree.Node, path string, extra ...string) *schema.Schema {
	if n.Kind != tree.Object {
		return nil // title has told that
	}
	before := len(p.Faults)
	if x := n.Get("type"); x != nil && (x.Kind != tree.Text || x.Text != "object") {
		p.Add(x.At, tree.Member(path, "type"), `must be "object"`)
	}
	v := p.compiler.Compile(n, path, &p.Faults, extra...)
	if v != nil && v.OnlyRef() {
		p.Add(n.Get("$ref").At, tree.Member(path, "$ref"), "is not supported at the top: in draft-07 it would hide all that stands beside it")
	}
	if len(p.Faults) > before {
		return nil
	}
	return v
}

// maxTitle is in characters.
const maxTitle = 64

// title reads the title of an action or a perception.
func (p *parser) title(n *tree.Node, path string, known []string) string {
	if n.Kind != tree.Object {
		p.Add(n.At, path, "is %s, must be an object", n.Kind.Called())
		return ""
	}
	x := n.Get("title")
	at := tree.Member(path, "title")
	switch {
	case x == nil:
		p.Add(n.At, at, "is missing")
		return ""
	case x.Kind != tree.Text: // compile tells that
		return ""
	case x.Text == "" || utf8.RuneCountInString(x.Text) > maxTitle || strings.ContainsFunc(x.Text, outsideTitle):
		p.Add(x.At, at, "%s is no title: 1 to %d letters, digits and _ - . of any script", tree.Show(x.Text), maxTitle)
	case slices.Contains(known, x.Text):
		p.Add(x.At, at, "%s is there twice", tree.Show(x.Text))
	}
	return x.Text
}

func outsideTitle(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_-.", r)
}

// keys tells of keys that are nearly ones that are read.
func (p *parser) keys(n *tree.Node, path string, known []string) {
	for _, f := range n.Fields {
		if slices.Contains(known, f.Name) {
			continue
		}
		if meant := spell.Slip(f.Name, known); meant != "" {
			p.Add(f.At, tree.Member(path, f.Name), "is not a key of a card%s", tree.Hint(meant))
		}
	}
}

// a reads a member of an tree.Object that has to be of a kind; nil when it is not
// there, or is not.
func (p *parser) a(n *tree.Node, path, key string, k tree.Kind) *tree.Node {
	x := n.Get(key)
	if x != nil && x.Kind != k {
		p.Add(x.At, tree.Member(path, key), "is %s, must be %s", x.Kind.Called(), k.Called())
		return nil
	}
	return x
}

func (p *parser) text(n *tree.Node, path, key string) (string, *tree.Node) {
	if x := p.a(n, path, key, tree.Text); x != nil {
		return x.Text, x
	}
	return "", nil
}

func (p *parser) list(n *tree.Node, key string, most int) []*tree.Node {
	x := p.a(n, "", key, tree.Array)
	if len(x.List()) > most {
		p.Add(x.At, key, "has %d items, at most %d", len(x.Items), most)
		return nil
	}
	return x.List()
}

func (p *parser) texts(n *tree.Node, path, key string) (all []string) {
	for i, s := range p.a(n, path, key, tree.Array).List() {
		if s.Kind != tree.Text {
			p.Add(s.At, tree.Item(tree.Member(path, key), i), "is %s, must be a string", s.Kind.Called())
		}
		all = append(all, s.Text)
	}
	return all
}
