// Package marionette is the handler of the VMC protocol: the avatar of a companion in any program that listens to it
// shows emotions and moves its mouth by the sounds of what is said.
//
// It sends the weights of expressions and nothing else: no bones, no eyes that blink, no tracking. VMC goes one way,
// over UDP: whether somebody listens is not known.
package marionette

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"syscall"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/plugins/face"
	"github.com/companiond/companiond/plugins/runs"
	companion "github.com/companiond/companiond/sdk/go"
)

// settings are those of a handler, as schema says.
type settings struct {
	Address  string            `json:"address"`
	VRM      string            `json:"vrm"`
	Emotions map[string]string `json:"emotions"`
	Mouth    string            `json:"mouth"`
	Fade     *float64          `json:"fade"`
	Rest     *float64          `json:"rest"`
	Guess    bool              `json:"guess"`
}

const schema = `{
  "type": "object",
  "additionalProperties": false,
  "properties": {
    "address": {"type": "string", "default": "127.0.0.1:39539", "description": "HOST:PORT of who listens to VMC: 39539 of an avatar, 39540 of a program that merges what several send"},
    "vrm": {"type": "string", "enum": ["0", "1"], "default": "0", "description": "whose names of expressions are sent: Joy and A of VRM 0, or happy and aa of VRM 1"},
    "emotions": {
      "type": "object",
      "additionalProperties": false,
      "description": "other expressions that show an emotion, by their names; an empty one is not sent",
      "properties": {
        "neutral": {"type": "string"}, "happy": {"type": "string"}, "angry": {"type": "string"},
        "sad": {"type": "string"}, "relaxed": {"type": "string"}, "surprised": {"type": "string"}
      }
    },
    "mouth": {"type": "string", "enum": ["shapes", "open"], "default": "shapes", "description": "shapes: A, I, U, E and O, where the voice tells; open: A alone"},
    "fade": {"type": "number", "minimum": 0, "maximum": 5, "default": 0.25, "description": "seconds from one emotion to the next"},
    "rest": {"type": "number", "minimum": 0, "maximum": 3600, "default": 3, "description": "seconds that an emotion stays when its line is over; with 0 until the next"},
    "guess": {"type": "boolean", "default": false, "description": "move the mouth by the text where there is no sound, or nobody plays"}
  }
}`

// read reads settings, and sets those that are not there.
func read(raw json.RawMessage) (s settings, err error) {
	if len(raw) > 0 {
		if err := json.Unmarshal(raw, &s); err != nil {
			return s, abi.Errorf(abi.CodeInvalid, "settings: %v", err)
		}
	}
	if s.Address == "" {
		s.Address = "127.0.0.1:39539"
	}
	if s.VRM == "" {
		s.VRM = "0"
	}
	if s.Mouth == "" {
		s.Mouth = "shapes"
	}
	switch _, _, err := net.SplitHostPort(s.Address); {
	case err != nil:
		return s, abi.Errorf(abi.CodeInvalid, "settings.address: %q is no HOST:PORT such as 127.0.0.1:39539", s.Address)
	case s.VRM != "0" && s.VRM != "1":
		return s, abi.Errorf(abi.CodeInvalid, `settings.vrm: %q is neither "0" nor "1"`, s.VRM)
	case s.Mouth != "shapes" && s.Mouth != "open":
		return s, abi.Errorf(abi.CodeInvalid, `settings.mouth: %q is neither "shapes" nor "open"`, s.Mouth)
	}
	return s, nil
}

// seconds gives a setting, or what it is without.
func seconds(s *float64, without float64) time.Duration {
	if s != nil {
		without = *s
	}
	return time.Duration(without * float64(time.Second))
}

// names gives the names of expressions that show emotions, and of those of the mouth.
func (s settings) names() (emotions, mouth map[string]string) {
	// VRM 0 has no surprise of its own; many models have one by this name, and the others know it not.
	emotions = map[string]string{"neutral": "Neutral", "happy": "Joy", "angry": "Angry", "sad": "Sorrow", "relaxed": "Fun", "surprised": "Surprised"}
	mouth = map[string]string{"a": "A", "i": "I", "u": "U", "e": "E", "o": "O"}
	if s.VRM == "1" {
		emotions = map[string]string{"neutral": "neutral", "happy": "happy", "angry": "angry", "sad": "sad", "relaxed": "relaxed", "surprised": "surprised"}
		mouth = map[string]string{"a": "aa", "i": "ih", "u": "ou", "e": "ee", "o": "oh"}
	}
	if s.Mouth == "open" {
		mouth = map[string]string{"a": mouth["a"]}
	}
	maps.Copy(emotions, s.Emotions)
	maps.DeleteFunc(emotions, func(_, name string) bool { return name == "" })
	return emotions, mouth
}

// Dial is how a socket is made that sends to an address.
type Dial func(ctx context.Context, network, address string) (net.Conn, error)

// plugin is all that one program does.
type plugin struct {
	dial Dial
	runs runs.List[*face.Face]
}

// New makes the handler. Dial is how it sends; nil is by the network.
func New(dial Dial) companion.Handler {
	if dial == nil {
		dial = new(net.Dialer).DialContext
	}
	p := &plugin{dial: dial}
	return companion.Handler{
		Name: "VMC", Version: "1", Needs: []string{abi.HostBlobGet}, Settings: schema, Show: p.show, Run: p.run,
	}
}

func (p *plugin) show(h *companion.Host, s abi.Showing) {
	f, ok := p.runs.Of(s.Settings, s.Companion)
	if !ok {
		return // nothing runs for it, or not yet
	}
	if err := f.Show(time.Now(), s, h.GetBlob); err != nil {
		h.Log(abi.LevelWarn, err.Error())
	}
}

// idle is how often the last state is sent again: somebody may have begun to listen.
const idle = time.Second

// Times between tries to make a socket.
const (
	soonest = 500 * time.Millisecond
	latest  = 30 * time.Second
)

func (p *plugin) run(h *companion.Host, r abi.Running) error {
	s, err := read(r.Settings)
	if err != nil {
		return err
	}
	f := face.New(face.Options{Guess: s.Guess, Rest: seconds(s.Rest, 3)})
	defer p.runs.Enter(r, f)()
	ctx := h.Context()
	for wait, told := soonest, false; ctx.Err() == nil; wait = min(2*wait, latest) {
		conn, err := p.dial(ctx, "udp", s.Address)
		if err == nil {
			p.play(ctx, h, f, newMask(s), conn)
			return nil
		}
		if !told && ctx.Err() == nil {
			told = true
			h.Log(abi.LevelWarn, fmt.Sprintf("VMC cannot be sent to %s: %v", s.Address, err))
		}
		select {
		case <-ctx.Done():
		case <-time.After(wait):
		}
	}
	return nil
}

// play sends how the face stands until ctx ends, and then that its mouth is shut.
func (p *plugin) play(ctx context.Context, h *companion.Host, f *face.Face, m *mask, conn net.Conn) {
	defer func() { _ = conn.Close() }()
	told := ""
	send := func(b []byte, err error) {
		if err == nil {
			_, err = conn.Write(b)
		}
		// Where nobody listens the system may say so, or not; somebody may begin to.
		if err != nil && !errors.Is(err, syscall.ECONNREFUSED) && ctx.Err() == nil && told != err.Error() {
			told = err.Error()
			h.Log(abi.LevelWarn, "VMC is not sent: "+told)
		}
	}
	f.Play(ctx, idle, func(at time.Time, pose face.Pose) (moves bool) {
		moves = m.wear(at, pose)
		send(m.bundle())
		return moves
	})
	m.mouth(face.Pose{})
	send(m.bundle())
}
