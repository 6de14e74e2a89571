package card

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/card/schema"
	"github.com/companiond/companiond/host/card/tree"
)

// Mode says what becomes of an action that the events of a card do not allow for
// the perception that led to it.
type Mode string

// Deny refuses such an action, which is usual; Warn plays it and says so.
const (
	Deny Mode = "deny"
	Warn Mode = "warn"
)

// Card is a companion's definition. It does not change, so that many may
// use it at once.
type Card struct {
	ID            string // empty when the file has none; else as [abi.CheckName] wants it
	Name          string
	Aliases       []string // other names it answers to
	Personality   string
	Story         string
	Role          string
	Sample        string          // how it talks
	Version       string          // the maker's own
	Language      string          // a tag of BCP 47 such as "ja"; empty when the file does not say
	Model         string          // which of the daemon's models it asks; empty for the usual one
	Voice         json.RawMessage // how it sounds, an object for whatever says its lines aloud; nil when the file does not say
	Talkativeness float64         // 0: speaks only when addressed; 1: likes to talk
	Mode          Mode
	Actions       []Action
	Perceptions   []Perception
	Events        []Event

	source json.RawMessage
}

// Speak is the title of the action that is a message at once: its parameter
// message is what is said aloud, and every line goes to bodies as this action. So a
// card that has it takes {"message": "..."} for it and requires nothing else, though
// it may have more, such as an emotion. See [Message].
const Speak = "speak"

// Action is something a companion can do. One with the title [Speak] says something.
type Action struct {
	Title       string
	Description string
	// Schema is what its parameters have to be: the action as the file has it, with
	// the type "object" where the file leaves that out.
	Schema json.RawMessage
	// Query says that it asks a body something: the answer is perceived later, and no event has to allow it.
	Query bool

	schema *schema.Schema
}

// Perception is something a companion can take in.
type Perception struct {
	Title       string
	Description string
	Input       bool          // its body is what a person says
	Formats     []string      // which of object, text and image it takes
	MediaTypes  []string      // of an image
	MaxBytes    int64         // of an image, decoded
	CoolDown    time.Duration // how long after one the next is judged; 0 for at once

	schema *schema.Schema
	reads  bool // its schema asks more of a body than its type

	coalesce *bool // as the card says; nil: it does not
}

// Coalesces says whether a newer percept of this perception makes an older one
// worthless that has the format and still waits. Where the card does not say, it is so
// of images: a camera sends the next one anyway, but no gift stands for another.
func (s *Perception) Coalesces(format string) bool {
	if s.coalesce != nil {
		return *s.coalesce
	}
	return format == FormatImage
}

// Event is a rule of what to do about a perception.
type Event struct {
	Perception string
	Actions    []string // which actions the rule allows
	Condition  string   // when to, in words
}

// Source gives the file's own bytes, which are JSON. They are not to be changed.
func (c *Card) Source() json.RawMessage { return c.source }

// Action finds an action by its title.
func (c *Card) Action(title string) (*Action, bool) {
	i := slices.IndexFunc(c.Actions, func(a Action) bool { return a.Title == title })
	if i < 0 {
		return nil, false
	}
	return &c.Actions[i], true
}

// Perception finds a perception by its title.
func (c *Card) Perception(title string) (*Perception, bool) {
	i := slices.IndexFunc(c.Perceptions, func(p Perception) bool { return p.Title == title })
	if i < 0 {
		return nil, false
	}
	return &c.Perceptions[i], true
}

// EventsOf gives the rules about a perception, in the order of the file.
func (c *Card) EventsOf(title string) []Event {
	var all []Event
	for _, e := range c.Events {
		if e.Perception == title {
			all = append(all, e)
		}
	}
	return all
}

// Allowed gives the actions that the rules about a perception allow, each once, in
// the order of the file.
func (c *Card) Allowed(title string) []string {
	var all []string
	for _, e := range c.EventsOf(title) {
		for _, a := range e.Actions {
			all = with(all, a)
		}
	}
	return all
}

// Permit checks an action that somebody wants to play: the card has to have it,
// the events have to allow it for the perception that led to it, where that is named,
// for a rule that only a prompt tells is broken one day, and its parameters have to be
// as the card says. With [Warn] the events need not allow it, and warning says so.
//
// # Errors
//
// CodeNotFound for an action or a perception that the card has not, CodeDenied for
// what the events do not allow, and those of [Action.Check].
func (c *Card) Permit(a abi.ActionAsk) (warning string, err error) {
	action, ok := c.Action(a.Action)
	if !ok {
		return "", abi.Field("action", abi.CodeNotFound, "%s has no %s; %s", c.Name, tree.Show(a.Action), tree.Have(c.can()))
	}
	if warning, err = c.events(a); err != nil {
		return "", err
	}
	if err := action.Check(a.Parameters); err != nil {
		return "", err
	}
	return warning, nil
}

// events asks the events about an action.
func (c *Card) events(a abi.ActionAsk) (warning string, err error) {
	if action, ok := c.Action(a.Action); a.Perception == "" || ok && action.Query {
		return "", nil
	}
	if _, ok := c.Perception(a.Perception); !ok {
		return "", c.senseless("perception", a.Perception)
	}
	allowed := c.Allowed(a.Perception)
	if slices.Contains(allowed, a.Action) {
		return "", nil
	}
	why := abi.Field("action", abi.CodeDenied, "the events of %s do not allow %s for the perception %s; %s", c.Name, a.Action, a.Perception, tree.Have(allowed))
	if c.Mode == Warn {
		return why.Message, nil
	}
	return "", why
}

// senseless says that the card has no such perception.
func (c *Card) senseless(field, title string) error {
	return abi.Field(field, abi.CodeNotFound, "%s does not perceive %s; %s", c.Name, tree.Show(title), tree.Have(c.perceived()))
}

// can gives the titles of the actions, perceived those of the perceptions. In a
// card with mistakes some have none, or one that another has.
func (c *Card) can() (titles []string) {
	for _, a := range c.Actions {
		titles = with(titles, a.Title)
	}
	return titles
}

func (c *Card) perceived() (titles []string) {
	for _, p := range c.Perceptions {
		titles = with(titles, p.Title)
	}
	return titles
}

// with adds a title unless it is there, or is none.
func with(titles []string, title string) []string {
	if title == "" || slices.Contains(titles, title) {
		return titles
	}
	return append(titles, title)
}

// Home is what a room says of the companions that live there.
type Home struct {
	Companion  string   // whoever names nobody means this one; "" says nothing
	Companions []string // ids, in the order in which they are written; "*" stands for everybody
}

// Usual gives the companion that is meant by whoever names none, of the ids of those
// who have a card; "" is nobody. All doors ask this one. The first of the homes that
// knows somebody decides: whom it calls its companion, there or not; else the first
// of its companions that has a card, which of "*" is "main", or the first by id. Who
// lives in no home is never meant.
func Usual(ids []string, homes ...Home) string {
	ids = slices.Sorted(slices.Values(ids))
	if i := slices.Index(ids, "main"); i > 0 {
		ids = slices.Insert(slices.Delete(ids, i, i+1), 0, "main")
	}
	for _, home := range homes {
		if home.Companion != "" {
			return home.Companion
		}
		for _, lives := range home.Companions {
			for _, id := range ids {
				if lives == "*" || lives == id {
					return id
				}
			}
		}
	}
	return ""
}

//go:embed companion.schema.json
var published string

// Schema gives the JSON Schema (draft 2020-12) of definition files, for editors. It
// takes whatever [Parse] takes; Parse is stricter.
func Schema() []byte { return []byte(published) }

// MaxParameters bounds the parameters of an action, in bytes.
const MaxParameters = 64 << 10

// Check says why parameters are not what the action takes; nil when they are. None
// at all count as {}.
//
// Beyond JSON Schema, which lets anything be in an object that its schema does not
// forbid, a parameter has to be one that the schema names, unless it says what
// becomes of others with additionalProperties or unevaluatedProperties. A key that
// is there twice is refused.
//
// # Errors
//
// CodeInvalid names the places in the value, such as "parameters.x: is a string,
// must be a number"; CodeTooLarge is for more than [MaxParameters] or what would
// take too long to check.
func (a *Action) Check(parameters json.RawMessage) error {
	const path = "parameters"
	if len(parameters) > MaxParameters {
		return abi.Field(path, abi.CodeTooLarge, "%d bytes, at most %d", len(parameters), MaxParameters)
	}
	if len(parameters) == 0 {
		parameters = json.RawMessage("{}")
	}
	n, err := read(parameters, path)
	if err != nil {
		return err
	}
	if n.Kind != tree.Object { // also where the schema leaves the type out
		return abi.Field(path, abi.CodeInvalid, "is %s, must be an object", n.Kind.Called())
	}
	why, code := a.faults(n, path)
	return why.Err(cmp.Or(code, abi.CodeInvalid), path)
}

func (a *Action) faults(n *tree.Node, path string) (tree.Faults, abi.Code) {
	more, code := a.schema.Check(n, path)
	return append(a.schema.Strangers(n, path), more...), code
}

// Part holds a part of a larger text, an object, to the schema, and gives what is wrong at its places there. path is how the part is
// called.
func (a *Action) Part(n *tree.Node, path string) tree.Faults {
	why, _ := a.faults(n, path)
	return why
}

// asObject gives the bytes of a schema with the type "object" put in where there
// is none.
func asObject(data []byte, n *tree.Node) json.RawMessage {
	raw := slices.Clone(data[n.At : n.At+n.Size])
	switch {
	case n.Get("type") != nil:
		return raw
	case len(n.Fields) == 0:
		return json.RawMessage(`{"type": "object"}`)
	}
	return json.RawMessage(`{"type": "object", ` + strings.TrimLeft(string(raw[1:]), " \t\r\n"))
}
