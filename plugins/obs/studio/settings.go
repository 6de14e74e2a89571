package studio

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/companiond/companiond/abi"
)

// settings are those of a handler, as the configuration has them and as schema describes them.
type settings struct {
	Address  string   `json:"address"`
	Password string   `json:"password"`
	Subtitle string   `json:"subtitle"`
	Name     string   `json:"name"`
	Linger   *float64 `json:"linger"`
	Scenes   []string `json:"scenes"`
	Items    []string `json:"items"`
	Hotkeys  []string `json:"hotkeys"`
	Vision   string   `json:"vision"`
	Source   string   `json:"source"`
	Every    float64  `json:"every"`
}

// usualAddress is where OBS listens if nobody changed it, and usualLinger how long a subtitle stands after its line.
const (
	usualAddress = "ws://127.0.0.1:4455"
	usualLinger  = 2 * time.Second
)

// schema is the JSON Schema of the settings.
const schema = `{
	"type": "object",
	"additionalProperties": false,
	"properties": {
		"address": {"type": "string", "default": "ws://127.0.0.1:4455", "description": "Where obs-websocket listens: ws://HOST:PORT, as Tools > WebSocket Server Settings of OBS shows it."},
		"password": {"type": "string", "description": "The server's password, of Show Connect Info there. It is a secret: secrets = { password = \"credential:obs\" }."},
		"subtitle": {"type": "string", "description": "The name of a text source, whose text follows what the companions say. Without it there are no subtitles."},
		"name": {"type": "string", "description": "Stands before each subtitle, with {name} in it for the companion's name, such as \"{name}: \". Without it there is none."},
		"linger": {"type": "number", "minimum": 0, "maximum": 3600, "default": 2, "description": "For how many seconds a subtitle stands after its line."},
		"scenes": {"type": "array", "items": {"type": "string", "minLength": 1}, "description": "The scenes that companions may switch to, by obs.scene."},
		"items": {"type": "array", "items": {"type": "string", "minLength": 1}, "description": "The sources that companions may show and hide in a scene, by obs.show."},
		"hotkeys": {"type": "array", "items": {"type": "string", "minLength": 1}, "description": "The hotkeys that companions may trigger, by obs.hotkey: names of OBS, such as OBSBasic.StartReplayBuffer."},
		"vision": {"type": "string", "description": "The title of the card's perception that a screenshot becomes. Without it there are no screenshots."},
		"source": {"type": "string", "description": "What screenshots show: a source or a scene. Without it, the scene that is on the air."},
		"every": {"type": "number", "minimum": 5, "maximum": 86400, "description": "After how many seconds a screenshot is perceived again and again. Without it, only by obs.screenshot."}
	}
}`

// read reads settings, and fills in what is usual.
func read(text json.RawMessage) (s settings, err error) {
	if len(text) > 0 {
		if err := json.Unmarshal(text, &s); err != nil {
			return s, abi.Errorf(abi.CodeInvalid, "the settings cannot be read: %v", typed(err))
		}
	}
	if s.Address == "" {
		s.Address = usualAddress
	}
	return s, nil
}

// typed gives what is wrong with JSON, and nothing of what is written there, which may be the password.
func typed(err error) error {
	if wrong, ok := err.(*json.UnmarshalTypeError); ok {
		return fmt.Errorf("%s is a %s", wrong.Field, wrong.Value)
	}
	return fmt.Errorf("they are no object of JSON")
}

// linger gives how long a subtitle stands.
func (s settings) linger() time.Duration {
	if s.Linger == nil {
		return usualLinger
	}
	return time.Duration(*s.Linger * float64(time.Second))
}

// same gives one text for settings that say the same, however they are written.
func (s settings) same() string {
	text, _ := json.Marshal(s) // texts and numbers can always be marshalled
	return string(text)
}
