// Package engine has texts said by programs that do that: those of the VOICEVOX family, servers with OpenAI's speech API,
// Style-Bert-VITS2 and espeak-ng. It changes no text, keeps no sound, and tries nothing twice: whoever asks decides
// about that. A key stands in none of its errors.
package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/plugins/voice/sound"
)

// Patience is how long an engine may take for one text.
const Patience = 30 * time.Second

// Engine says texts. It may be asked by several at once.
type Engine interface {
	// String is what people call it, with where it is.
	String() string
	// Ready says why it cannot speak now, nil where it can.
	Ready(ctx context.Context) error
	// Speak gives how a text sounds, which has something to say. Errors are abi.Error, in words for people.
	Speak(ctx context.Context, text string, v Voice) (Speech, error)
}

// Speech is how a text sounds.
type Speech struct {
	Clip  sound.Clip
	Mouth []abi.Viseme // as the engine tells; nil where it does not
}

// Voice is how somebody speaks. A field that is not set is as the engine has it.
type Voice struct {
	Speaker      Name     `json:"speaker"`
	Model        Name     `json:"model"`
	Style        string   `json:"style"`
	StyleWeight  *float64 `json:"style_weight"`
	Speed        float64  `json:"speed"` // 1 is as fast as the engine speaks by itself, 2 twice as fast; 0 is 1
	Pitch        float64  `json:"pitch"` // 0 is as high as it speaks by itself, 1 an octave more
	Intonation   *float64 `json:"intonation"`
	Volume       *float64 `json:"volume"` // 1 is as loud as it speaks by itself
	Language     string   `json:"language"`
	Instructions string   `json:"instructions"`
}

// Check holds a voice to the bounds that the schema of the handler's settings has, for one that comes from elsewhere.
func (v Voice) Check() error {
	for _, c := range []struct {
		name     string
		is       *float64
		from, to float64
	}{{"style_weight", v.StyleWeight, 0, 20}, {"pitch", &v.Pitch, -1, 1}, {"intonation", v.Intonation, 0, 2}, {"volume", v.Volume, 0, 4}} {
		if c.is != nil && (*c.is < c.from || *c.is > c.to) {
			return fmt.Errorf("%s is %v, must be from %v to %v", c.name, *c.is, c.from, c.to)
		}
	}
	if v.Speed != 0 && (v.Speed < 0.25 || v.Speed > 4) {
		return fmt.Errorf("speed is %v, must be from 0.25 to 4", v.Speed)
	}
	if n := len(v.Instructions); n > 8000 {
		return fmt.Errorf("instructions have %d bytes, at most 8000", n)
	}
	return nil
}

func (v Voice) speed() float64 {
	if v.Speed <= 0 {
		return 1
	}
	return v.Speed
}

// Name names a speaker or a model: by a word, or by its number.
type Name string

// UnmarshalJSON reads a text or a whole number.
func (n *Name) UnmarshalJSON(b []byte) error {
	var text string
	if err := json.Unmarshal(b, &text); err == nil {
		*n = Name(text)
		return nil
	}
	var number int64
	if err := json.Unmarshal(b, &number); err != nil {
		return abi.Errorf(abi.CodeInvalid, "%.40s is neither a text nor a whole number", b)
	}
	*n = Name(strconv.FormatInt(number, 10))
	return nil
}

// number gives the number, where it is one.
func (n Name) number() (int64, bool) {
	i, err := strconv.ParseInt(string(n), 10, 64)
	return i, err == nil
}

// Config says which engine it is to be.
type Config struct {
	Engine   string // one of Names
	Address  string // of its server; empty is where it usually is
	Key      string
	Language string // of the texts, such as ja; empty is as they look
}

// family are the engines that a server is needed for: what they are called, where they usually are, and what makes them.
var family = map[string]struct {
	called, address string
	make            func(w *web, c Config) Engine
}{
	"voicevox":         {"VOICEVOX", "http://127.0.0.1:50021", newVoicevox},
	"aivisspeech":      {"AivisSpeech", "http://127.0.0.1:10101", newVoicevox},
	"sharevox":         {"SHAREVOX", "http://127.0.0.1:50025", newVoicevox},
	"style-bert-vits2": {"Style-Bert-VITS2", "http://127.0.0.1:5000", newVits},
	"openai":           {"the speech server", openAIAddress, newOpenAI},
}

// New makes an engine.
func New(c Config) (Engine, error) {
	if c.Engine == "espeak-ng" {
		return espeak{language: c.Language}, nil
	}
	e, ok := family[c.Engine]
	if !ok {
		return nil, abi.Errorf(abi.CodeInvalid, "engine: %.40q is none; write voicevox, aivisspeech, sharevox, openai, style-bert-vits2 or espeak-ng", c.Engine)
	}
	address := strings.TrimRight(c.Address, "/")
	if address == "" {
		address = e.address
	}
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.RawQuery != "" || u.Fragment != "":
		return nil, abi.Errorf(abi.CodeInvalid, "address: write it as %s", e.address)
	case u.User != nil: // it would stand in errors
		return nil, abi.Errorf(abi.CodeInvalid, "address: no name and password may stand in it")
	}
	return e.make(newWeb(e.called, address, c.Key), c), nil
}
