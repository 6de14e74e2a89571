package card

import (
	"cmp"
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/companiond/companiond/host/card/schema"
	"github.com/companiond/companiond/host/card/tree"
	"github.com/companiond/companiond/host/spell"
)

// No mistake here is one of JSON or of JSON Schema. The card would load, and the
// companion would not do what its maker wrote: so it is refused, with what to write.

// wrappers are where functions of other protocols (OpenAI, MCP) have their schema.
// In a card the action is the schema.
var wrappers = []string{"parameters", "input_schema", "inputSchema", "arguments"}

// unwrapped refuses an action whose schema is one level too deep.
func (p *parser) unwrapped(n *tree.Node, path string) {
	for _, f := range n.Fields {
		if slices.Contains(wrappers, f.Name) {
			p.Add(f.At, tree.Member(path, f.Name), `is not read: an action is the schema of its parameters itself; put "properties" and "required" beside "title"`)
		}
	}
}

// misplaced refuses what a perception has beside its properties and is meant to be
// one of them. It gives the paths, so that nothing more is told of those.
func (p *parser) misplaced(n *tree.Node, path string) (paths []string) {
	for _, f := range n.Fields {
		write := ""
		switch f.Name {
		case "format", "formats":
			write = `"format": {"enum": ` + formatsMeant(f.Value) + `}`
		case "body":
			write = `"body": {…}`
		default:
			continue
		}
		paths = append(paths, tree.Member(path, f.Name))
		p.Add(f.At, tree.Member(path, f.Name), `is not read here: write "properties": {%s}`, write)
	}
	return paths
}

// formatsMeant gives the formats that a value outside of properties names, as JSON;
// all that there are when it names none.
func formatsMeant(n *tree.Node) string {
	list := n.Items
	if n.Kind == tree.Text {
		list = []*tree.Node{n}
	} else if n.Kind == tree.Object {
		list = n.Get("enum").List()
	}
	var meant []string
	for _, x := range list {
		if x.Kind == tree.Text && slices.Contains(allFormats, x.Text) && !slices.Contains(meant, x.Text) {
			meant = append(meant, x.Text)
		}
	}
	if meant == nil {
		meant = allFormats
	}
	return `["` + strings.Join(meant, `", "`) + `"]`
}

// described refuses parameters that have to be there and that the schema says
// nothing of: JSON Schema takes anything for them, and a model would not know what.
func (p *parser) described(n *tree.Node, path string, s *schema.Schema) {
	if s.TakesOthers() {
		return
	}
	var names []string
	if properties := n.Get("properties"); properties != nil {
		for _, f := range properties.Fields {
			names = append(names, f.Name)
		}
	}
	for i, x := range n.Get("required").List() {
		if !s.Describes(x.Text) {
			p.Add(x.At, tree.Item(tree.Member(path, "required"), i), "%s is not among the properties; %s%s", tree.Show(x.Text), tree.Have(names), tree.Hint(spell.Slip(x.Text, names)))
		}
	}
}

// mustSpeak is the end of what is said of an action speak.
const mustSpeak = `; speak is the action whose message is said aloud: it must take {"message": "..."} and may require nothing else`

// ordinary are lines that anybody may say. They are short, for a card may bound how
// long a line is.
var ordinary = []string{"OK", "はい"}

// speaks refuses an action [Speak] that does not take a message: every line would
// go out as one that the card itself forbids.
func (p *parser) speaks(n *tree.Node, path string, a *Action) {
	before := len(p.Faults)
	for i, x := range n.Get("required").List() {
		if x.Text != "message" {
			p.Add(x.At, tree.Item(tree.Member(path, "required"), i), "%s%s", tree.Show(x.Text), mustSpeak)
		}
	}
	message := n.Get("properties").Get("message")
	at := tree.Member(tree.Member(path, "properties"), "message")
	if message == nil && !a.schema.Describes("message") {
		p.Add(n.At, at, "is missing%s", mustSpeak)
	}
	for _, text := range ordinary {
		if len(p.Faults) > before {
			return
		}
		line := tree.NewObject(tree.Field{Name: "message", Value: tree.NewText(text)})
		why, _ := a.schema.Check(line, "")
		switch {
		case len(why) == 0:
		case message != nil && why[0].Path == "message":
			p.Add(message.At, at, "%s %s%s", tree.Show(text), why[0].Text, mustSpeak)
		default:
			p.Add(n.At, path, "does not take {\"message\": %s}: %s %s%s", tree.Show(text), cmp.Or(why[0].Path, "it"), why[0].Text, mustSpeak)
		}
	}
}

// Message gives what is said aloud by an action [Speak] with such parameters; ""
// where they have no message, or one that is no string. It does not ask whether the
// card takes them.
func Message(parameters json.RawMessage) string {
	var all map[string]json.RawMessage // and not a struct, which would take "Message" too
	var text string
	if json.Unmarshal(parameters, &all) != nil || json.Unmarshal(all["message"], &text) != nil {
		return ""
	}
	return text
}

// Beside gives the parameters of a "speak" that has more than its message, nil for others.
func Beside(parameters json.RawMessage) json.RawMessage {
	var fields map[string]json.RawMessage
	if json.Unmarshal(parameters, &fields) != nil || len(fields) < 2 {
		return nil
	}
	return parameters
}

// Saying gives the parameters of a "speak" with another message, nil where they are no
// object.
func Saying(parameters json.RawMessage, message string) json.RawMessage {
	if Message(parameters) == message {
		return parameters
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(parameters, &fields) != nil || fields == nil {
		return nil
	}
	fields["message"], _ = json.Marshal(message) // a text can always be written
	said, _ := json.Marshal(fields)              // and so can what was read
	return said
}

// Expressive says whether the card's action "speak" names parameters beside its message.
func (c *Card) Expressive() bool {
	a, ok := c.Action(Speak)
	return ok && a.schema.DescribesBeside("message")
}

// languageTag is what a language looks like: BCP 47, without its rarer forms.
var languageTag = regexp.MustCompile(`^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*$`)

// languages are what people write for a language and that is none: the code of a
// country, or a name. kr by itself, which is Kanuri, is hardly ever meant; kr-NG is
// taken, and so is uk, which is Ukrainian.
var languages = map[string]string{
	"jp": "ja", "cn": "zh", "kr": "ko", "kr-kr": "ko", "gb": "en", "us": "en",
	"japanese": "ja", "日本語": "ja", "にほんご": "ja", "english": "en", "英語": "en",
	"chinese": "zh", "中文": "zh", "中国語": "zh", "汉语": "zh", "漢語": "zh", "korean": "ko", "한국어": "ko", "韓国語": "ko",
	"french": "fr", "français": "fr", "フランス語": "fr", "german": "de", "deutsch": "de", "ドイツ語": "de",
	"spanish": "es", "español": "es", "スペイン語": "es", "italian": "it", "italiano": "it", "イタリア語": "it",
	"portuguese": "pt", "português": "pt", "ポルトガル語": "pt", "russian": "ru", "русский": "ru", "ロシア語": "ru",
	"ukrainian": "uk", "українська": "uk",
}

// language refuses what is no tag of a language: a model is told it, and the words
// of the prompt are chosen by it.
func (p *parser) language(n *tree.Node) {
	x := n.Get("language")
	if x == nil || x.Kind != tree.Text {
		return
	}
	whole := strings.ReplaceAll(strings.TrimSpace(x.Text), "_", "-")
	lower := strings.ToLower(whole)
	country, _, _ := strings.Cut(lower, "-")
	meant := languages[lower]
	if meant == "" && country != "kr" {
		meant = languages[country]
	}
	if meant == "" && languageTag.MatchString(whole) {
		meant = whole
	}
	if meant == "" || meant != x.Text {
		p.Add(x.At, "language", `is %s, must be the tag of a language such as "ja" or "en-US"%s`, tree.Show(x.Text), tree.Hint(meant))
	}
}
