package studio

import (
	"bytes"
	"encoding/json"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/plugins/voice/engine"
	"github.com/companiond/companiond/plugins/voice/reading"
)

// usualParallel is how many parts are made at once where the settings do not say.
const usualParallel = 2

// settings are the handler's, as schema describes them.
type settings struct {
	Engine     string                     `json:"engine"`
	Address    string                     `json:"address"`
	Key        string                     `json:"key"`
	Language   string                     `json:"language"`
	Voices     map[string]json.RawMessage `json:"voices"` // by companion
	Voice      json.RawMessage            `json:"voice"`
	Dictionary map[string]string          `json:"dictionary"`
	Parallel   int                        `json:"parallel"`
}

// schema is the JSON Schema of the settings.
const schema = `{
"type": "object", "additionalProperties": false, "required": ["engine"],
"properties": {
	"engine": {"enum": ["voicevox", "aivisspeech", "sharevox", "openai", "style-bert-vits2", "espeak-ng"], "description": "The program that speaks. openai is any server with OpenAI's path /v1/audio/speech."},
	"address": {"type": "string", "pattern": "^https?://[^/@?#]+(/[^@?#]*)?$", "description": "Where it listens, such as http://127.0.0.1:50021; where it usually does if not set. espeak-ng has none."},
	"key": {"type": "string", "description": "The key of a server that wants one. Write it into the handler's secrets and not here."},
	"language": {"type": "string", "pattern": "^[a-z]{2,3}(-[A-Za-z0-9-]+)?$", "description": "Of all that is said, such as ja or en; if not set each part is read as it looks. For espeak-ng and Style-Bert-VITS2."},
	"parallel": {"type": "integer", "minimum": 1, "maximum": 8, "description": "How many parts are made at once; 2 if not set."},
	"dictionary": {"type": "object", "additionalProperties": {"type": "string"}, "description": "How words are read, as AI = \"エーアイ\": the longest first, and of Latin letters whole words."},
	"voice": {"$ref": "#/$defs/voice", "description": "The voice of companions that have none of their own."},
	"voices": {"type": "object", "propertyNames": {"format": "companion"}, "additionalProperties": {"$ref": "#/$defs/voice"}, "description": "The voice of each companion, by its id."}
},
"$defs": {
	"emotion": {"type": "object", "additionalProperties": false, "properties": {
		"speaker": {"type": ["integer", "string"], "description": "The speaker. VOICEVOX and its family: a style's number, or a speaker's name. OpenAI: a voice such as alloy. Style-Bert-VITS2: a speaker's number or name. espeak-ng: a voice such as ja or en-us+f3."},
		"model": {"type": ["integer", "string"], "description": "OpenAI: the model, gpt-4o-mini-tts if not set. Style-Bert-VITS2: its number or name."},
		"style": {"type": "string", "description": "VOICEVOX and its family: a style of the speaker, where that is a name. Style-Bert-VITS2: a style such as Neutral."},
		"style_weight": {"type": "number", "minimum": 0, "maximum": 20, "description": "Style-Bert-VITS2: how strong the style is."},
		"speed": {"type": "number", "minimum": 0.25, "maximum": 4, "description": "How fast; 1 if not set, 2 is twice as fast."},
		"pitch": {"type": "number", "minimum": -1, "maximum": 1, "description": "How high; 0 if not set. VOICEVOX sounds well from -0.15 to 0.15. OpenAI and Style-Bert-VITS2 have none."},
		"intonation": {"type": "number", "minimum": 0, "maximum": 2, "description": "VOICEVOX and its family: how lively; 1 if not set."},
		"volume": {"type": "number", "minimum": 0, "maximum": 4, "description": "How loud; 1 if not set."},
		"language": {"type": "string", "pattern": "^[a-z]{2,3}(-[A-Za-z0-9-]+)?$", "description": "In place of the language above."},
		"instructions": {"type": "string", "maxLength": 2000, "description": "OpenAI: how it is to speak, in words."}
	}},
	"voice": {"type": "object", "additionalProperties": false, "properties": {
		"speaker": {"$ref": "#/$defs/emotion/properties/speaker"}, "model": {"$ref": "#/$defs/emotion/properties/model"}, "style": {"$ref": "#/$defs/emotion/properties/style"},
		"style_weight": {"$ref": "#/$defs/emotion/properties/style_weight"}, "speed": {"$ref": "#/$defs/emotion/properties/speed"}, "pitch": {"$ref": "#/$defs/emotion/properties/pitch"},
		"intonation": {"$ref": "#/$defs/emotion/properties/intonation"}, "volume": {"$ref": "#/$defs/emotion/properties/volume"}, "language": {"$ref": "#/$defs/emotion/properties/language"},
		"instructions": {"$ref": "#/$defs/emotion/properties/instructions"},
		"emotions": {"type": "object", "additionalProperties": false, "description": "How the voice is otherwise in a part with an emotion.", "properties": {
			"neutral": {"$ref": "#/$defs/emotion"}, "happy": {"$ref": "#/$defs/emotion"}, "angry": {"$ref": "#/$defs/emotion"},
			"sad": {"$ref": "#/$defs/emotion"}, "relaxed": {"$ref": "#/$defs/emotion"}, "surprised": {"$ref": "#/$defs/emotion"}
		}}
	}}
}}`

// plan is what the settings come to.
type plan struct {
	settings
	engine engine.Engine
	words  reading.Dictionary
}

// planOf reads settings. The daemon has held them to the schema.
func planOf(raw json.RawMessage) (p plan, err error) {
	if len(raw) == 0 {
		raw = json.RawMessage("{}")
	}
	p.Parallel = usualParallel
	if err := json.Unmarshal(raw, &p.settings); err != nil {
		return p, abi.Errorf(abi.CodeInvalid, "settings: %v", err)
	}
	p.Parallel = max(1, min(8, p.Parallel))
	p.words = reading.NewDictionary(p.Dictionary)
	p.engine, err = engine.New(engine.Config{Engine: p.Engine, Address: p.Address, Key: p.Key, Language: p.Language})
	return p, err
}

// voice gives how a companion speaks when it feels so: by the settings, or else by its card, or else as all do that have no
// voice of their own.
func (p plan) voice(companion string, card json.RawMessage, emotion string) (v engine.Voice, err error) {
	raw, at := p.Voices[companion], "voices."+companion
	if raw == nil && len(card) > 0 {
		raw, at = card, "the voice in the card of "+companion
	} else if raw == nil {
		raw, at = p.Voice, "voice"
	}
	if len(raw) == 0 {
		return v, nil
	}
	all := struct {
		engine.Voice
		Emotions map[string]json.RawMessage `json:"emotions"`
	}{}
	if err := strictly(raw, &all); err != nil {
		return v, abi.Errorf(abi.CodeInvalid, "%.80s: %v", at, err)
	}
	v = all.Voice
	if more, ok := all.Emotions[emotion]; ok {
		if err := strictly(more, &v); err != nil {
			return v, abi.Errorf(abi.CodeInvalid, "%.80s.emotions.%s: %v", at, emotion, err)
		}
	}
	if err := v.Check(); err != nil {
		return v, abi.Errorf(abi.CodeInvalid, "%.80s: %v", at, err)
	}
	return v, nil
}

// strictly reads JSON that has no other keys: settings are held to the schema before, a card is not.
func strictly(raw json.RawMessage, into any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	return d.Decode(into)
}
