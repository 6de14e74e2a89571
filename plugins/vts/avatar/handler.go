// Package avatar is the handler of VTube Studio: a model shows the emotions of companions and moves its mouth by their
// sounds, does what they play, and they perceive that somebody clicks on it.
//
// It starts no VTube Studio, and keeps one connection a Run. The token that it was given is in the handler's store, and
// in no log.
package avatar

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"regexp"
	"strings"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/plugins/runs"
	"github.com/companiond/companiond/plugins/vts/studio"
	companion "github.com/companiond/companiond/sdk/go"
)

// settings are those of a handler, as schema says.
type settings struct {
	Address  string            `json:"address"`
	Emotions map[string]string `json:"emotions"`
	Rest     *float64          `json:"rest"`
	Mouth    string            `json:"mouth"`
	Guess    bool              `json:"guess"`
	Touch    string            `json:"touch"`
}

const schema = `{
  "type": "object",
  "additionalProperties": false,
  "properties": {
    "address": {"type": "string", "default": "127.0.0.1:8001", "description": "HOST:PORT of VTube Studio's API"},
    "emotions": {
      "type": "object",
      "additionalProperties": false,
      "description": "the hotkey, by its name, or the expression, NAME.exp3.json, that shows each emotion; one that is not named shows nothing",
      "properties": {
        "neutral": {"type": "string"}, "happy": {"type": "string"}, "angry": {"type": "string"},
        "sad": {"type": "string"}, "relaxed": {"type": "string"}, "surprised": {"type": "string"}
      }
    },
    "rest": {"type": "number", "minimum": 0, "maximum": 3600, "default": 3, "description": "seconds that an emotion stays when its line is over; with 0 until the next"},
    "mouth": {"type": "string", "pattern": "^[A-Za-z0-9]{4,32}$", "description": "the input parameter that opens the mouth; without it MouthOpen or another usual one"},
    "guess": {"type": "boolean", "default": false, "description": "move the mouth by the text where there is no sound, or nobody plays"},
    "touch": {"type": "string", "description": "the title of the card's perception when somebody clicks on the model; without it none"}
  }
}`

// read reads settings.
func read(raw json.RawMessage) (s settings, err error) {
	if len(raw) > 0 {
		if err := json.Unmarshal(raw, &s); err != nil {
			return s, abi.Errorf(abi.CodeInvalid, "settings: %v", err)
		}
	}
	if s.Address == "" {
		s.Address = "127.0.0.1:8001"
	}
	if _, _, err := net.SplitHostPort(s.Address); err != nil {
		return s, abi.Errorf(abi.CodeInvalid, "settings.address: %q is no HOST:PORT such as 127.0.0.1:8001", s.Address)
	}
	if s.Mouth != "" && !regexp.MustCompile(`^[A-Za-z0-9]{4,32}$`).MatchString(s.Mouth) {
		return s, abi.Errorf(abi.CodeInvalid, "settings.mouth: %q is no name of a parameter: 4 to 32 letters and digits", s.Mouth)
	}
	return s, nil
}

// rest is how long an emotion stays.
func (s settings) rest() time.Duration {
	if s.Rest == nil {
		return 3 * time.Second
	}
	return time.Duration(*s.Rest * float64(time.Second))
}

// plugin is all that one program does.
type plugin struct {
	dial studio.Dial
	runs runs.List[*link]
}

// New makes the handler. Dial is how it connects; nil is by the network.
func New(dial studio.Dial) companion.Handler {
	if dial == nil {
		dial = new(net.Dialer).DialContext
	}
	p := &plugin{dial: dial}
	return companion.Handler{
		Name: "VTube Studio", Version: "1",
		Needs:   []string{abi.HostBlobGet}, // and perception.emit, where touch is set
		Actions: actions(), Settings: schema,
		Act: p.act, Show: p.show, Run: p.run,
	}
}

func (p *plugin) run(h *companion.Host, r abi.Running) error {
	s, err := read(r.Settings)
	if err != nil {
		return err
	}
	l := newLink(s, p.dial, h, r.Companions)
	defer p.runs.Enter(r, l)()
	l.keep(h.Context())
	return nil
}

func (p *plugin) show(h *companion.Host, s abi.Showing) {
	l, ok := p.runs.Of(s.Settings, s.Companion)
	if !ok {
		return // nothing runs for it, or not yet
	}
	if err := l.face.Show(time.Now(), s, h.GetBlob); err != nil {
		h.Log(abi.LevelWarn, err.Error())
	}
}

func (p *plugin) act(h *companion.Host, a companion.Acting) (string, error) {
	l, ok := p.runs.Of(a.Settings, a.Companion)
	if !ok {
		return "", abi.Errorf(abi.CodeUnavailable, "the handler of VTube Studio does not run yet: try again")
	}
	n, err := l.session()
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(h.Context(), 15*time.Second)
	defer cancel()
	switch a.Action {
	case "vts.hotkey":
		return n.playHotkey(ctx, a.Parameters)
	case "vts.expression":
		return n.playExpression(ctx, a.Parameters)
	case "vts.move":
		return n.playMove(ctx, a.Parameters)
	}
	return "", abi.Errorf(abi.CodeNotFound, "there is no action %.64q", a.Action)
}

func actions() []companion.Offer {
	offer := func(name, description, schema string) companion.Offer {
		return companion.Offer{Name: name, Description: description, Schema: json.RawMessage(schema)}
	}
	return []companion.Offer{
		offer("vts.hotkey", "Triggers a hotkey of your avatar in VTube Studio, such as a gesture.",
			`{"type":"object","properties":{"name":{"type":"string","minLength":1,"maxLength":200,"description":"the hotkey's name"}},"required":["name"],"additionalProperties":false}`),
		offer("vts.expression", "Puts an expression of your avatar in VTube Studio on, or off.",
			`{"type":"object","properties":{"file":{"type":"string","minLength":1,"maxLength":200,"description":"NAME.exp3.json"},"active":{"type":"boolean","default":true},"fade":{"type":"number","minimum":0,"maximum":2,"description":"seconds"}},"required":["file"],"additionalProperties":false}`),
		offer("vts.move", "Moves, turns or resizes your avatar in VTube Studio. The window is -1..1 each way; what is not given stays.",
			`{"type":"object","properties":{"x":{"type":"number","minimum":-1000,"maximum":1000},"y":{"type":"number","minimum":-1000,"maximum":1000},"rotation":{"type":"number","minimum":-360,"maximum":360,"description":"degrees"},"size":{"type":"number","minimum":-100,"maximum":100},"seconds":{"type":"number","minimum":0,"maximum":2,"default":0.5,"description":"how long it takes"},"relative":{"type":"boolean","default":false,"description":"from where it is"}},"additionalProperties":false}`),
	}
}

func (n *session) playHotkey(ctx context.Context, parameters json.RawMessage) (string, error) {
	var ask struct{ Name string }
	if err := given(parameters, &ask); err != nil {
		return "", err
	}
	m := n.about()
	h, ok := m.hotkey(ask.Name)
	if !ok {
		return "", abi.Field("name", abi.CodeNotFound, "%s", m.lacks("hotkey", ask.Name))
	}
	if err := n.trigger(ctx, h.ID); err != nil {
		return "", n.unavailable(err)
	}
	return fmt.Sprintf("the hotkey %s was triggered", cmp.Or(h.Name, h.ID)), nil
}

func (n *session) playExpression(ctx context.Context, parameters json.RawMessage) (string, error) {
	ask := struct {
		File   string
		Active *bool
		Fade   *float64
	}{}
	if err := given(parameters, &ask); err != nil {
		return "", err
	}
	m := n.about()
	file, ok := m.expression(ask.File)
	if !ok {
		return "", abi.Field("file", abi.CodeNotFound, "%s", m.lacks("expression", ask.File))
	}
	active := ask.Active == nil || *ask.Active
	if err := n.ask(ctx, studio.ExpressionRequest, studio.Activation{File: file, Fade: ask.Fade, Active: active}, nil); err != nil {
		return "", n.unavailable(err)
	}
	return fmt.Sprintf("the expression %s is %s", strings.TrimSuffix(file, suffix), map[bool]string{true: "on", false: "off"}[active]), nil
}

func (n *session) playMove(ctx context.Context, parameters json.RawMessage) (string, error) {
	var ask struct {
		X, Y, Rotation, Size, Seconds *float64
		Relative                      bool
	}
	if err := given(parameters, &ask); err != nil {
		return "", err
	}
	if ask.X == nil && ask.Y == nil && ask.Rotation == nil && ask.Size == nil {
		return "", abi.Errorf(abi.CodeInvalid, "parameters: one of x, y, rotation and size has to be there")
	}
	move := studio.Move{Seconds: 0.5, Relative: ask.Relative, X: ask.X, Y: ask.Y, Rotation: ask.Rotation, Size: ask.Size}
	if ask.Seconds != nil {
		move.Seconds = *ask.Seconds
	}
	if err := n.ask(ctx, studio.MoveRequest, move, nil); err != nil {
		return "", n.unavailable(err)
	}
	return "the avatar moves", nil
}

// given decodes the parameters of an action.
func given(parameters json.RawMessage, into any) error {
	if len(parameters) == 0 {
		return nil
	}
	if err := json.Unmarshal(parameters, into); err != nil {
		return abi.Errorf(abi.CodeInvalid, "parameters: %v", err)
	}
	return nil
}
