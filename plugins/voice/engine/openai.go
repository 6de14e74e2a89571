package engine

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"mime"
	"strconv"
	"strings"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/plugins/voice/reading"
	"github.com/companiond/companiond/plugins/voice/sound"
)

// Bounds of OpenAI's speech API.
const (
	mostInput = 4096 // letters of a text
	slowest   = 0.25
	fastest   = 4
)

// openAIAddress is where OpenAI's own server is.
const openAIAddress = "https://api.openai.com"

// pcmRate is how many samples a second it sends where they are bare.
const pcmRate = 24000

// openAI is a server with OpenAI's speech API.
type openAI struct {
	*web
	own bool // it is OpenAI's own
}

func newOpenAI(w *web, _ Config) Engine {
	w.address = strings.TrimSuffix(w.address, "/v1") // as it is often written
	return openAI{w, w.address == openAIAddress}
}

// Ready knows no path that all such servers have and that costs nothing.
func (e openAI) Ready(context.Context) error {
	if e.own && e.key == "" {
		return abi.Errorf(abi.CodeDenied, "%s wants a key: write key into the handler's secrets", e)
	}
	return nil
}

// speechAsk is what it is asked.
type speechAsk struct {
	Model        string  `json:"model"`
	Input        string  `json:"input"`
	Voice        string  `json:"voice"`
	Format       string  `json:"response_format"`
	Speed        float64 `json:"speed,omitempty"`
	Instructions string  `json:"instructions,omitempty"`
}

func (e openAI) Speak(ctx context.Context, text string, v Voice) (s Speech, err error) {
	if err := e.Ready(ctx); err != nil {
		return s, err
	}
	ask := speechAsk{
		Model: cmp.Or(string(v.Model), "gpt-4o-mini-tts"), Voice: cmp.Or(string(v.Speaker), "alloy"), Format: "wav",
		Instructions: v.Instructions,
	}
	if v.speed() != 1 {
		ask.Speed = max(slowest, min(fastest, v.Speed))
	}
	var clips []sound.Clip
	for _, piece := range reading.Pieces(text, mostInput) {
		ask.Input = piece
		body, err := json.Marshal(ask)
		if err != nil {
			return s, err
		}
		got, err := e.ask(ctx, "POST", "/v1/audio/speech", nil, body)
		if err != nil {
			return s, err
		}
		clip, err := e.read(got)
		if err != nil {
			return s, err
		}
		clips = append(clips, clip)
	}
	s.Clip = sound.Join(clips...)
	return s, nil
}

// read reads a WAV file, or the bare samples that a server sends who has no other.
func (e openAI) read(a answer) (sound.Clip, error) {
	if bytes.HasPrefix(a.body, []byte("RIFF")) {
		clip, err := sound.Read(a.body)
		if err != nil {
			return clip, abi.Errorf(abi.CodeInvalid, "%s answers with no sound: %v", e, err)
		}
		return clip, nil
	}
	kind, parameters, _ := mime.ParseMediaType(a.kind)
	if kind != "audio/pcm" && kind != "audio/l16" {
		return sound.Clip{}, abi.Errorf(abi.CodeInvalid, "%s answers with %.40q where WAV was asked for: take one that has it", e, kind)
	}
	rate, err := strconv.Atoi(parameters["rate"])
	if err != nil || rate < 4000 || rate > 192000 {
		rate = pcmRate
	}
	return sound.ReadPCM(a.body, rate), nil
}
