package engine

import (
	"context"
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"sync"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/plugins/voice/sound"
)

// voicevox is an engine of the VOICEVOX family.
type voicevox struct {
	*web
	mu       sync.Mutex
	speakers []speaker // nil before they are asked for
}

func newVoicevox(w *web, _ Config) Engine { return &voicevox{web: w} }

// speaker is one who can speak, in one of several styles.
type speaker struct {
	Name   string `json:"name"`
	Styles []struct {
		Name string `json:"name"`
		ID   int64  `json:"id"`
		Type string `json:"type"` // talk where it is not set; others sing
	} `json:"styles"`
}

func (e *voicevox) Ready(ctx context.Context) error {
	_, err := e.ask(ctx, "GET", "/version", nil, nil)
	return err
}

func (e *voicevox) Speak(ctx context.Context, text string, v Voice) (s Speech, err error) {
	id, err := e.style(ctx, v)
	if err != nil {
		return s, err
	}
	who := strconv.FormatInt(id, 10)
	got, err := e.ask(ctx, "POST", "/audio_query", url.Values{"text": {text}, "speaker": {who}}, nil)
	if err != nil {
		return s, err
	}
	query := map[string]json.RawMessage{} // with all that this version of the engine has in it
	if err := json.Unmarshal(got.body, &query); err != nil {
		return s, abi.Errorf(abi.CodeInvalid, "%s answers with what is no query: look whether the address is its own", e)
	}
	change(query, v)
	body, err := json.Marshal(query)
	if err != nil {
		return s, err
	}
	if got, err = e.ask(ctx, "POST", "/synthesis", url.Values{"speaker": {who}}, body); err != nil {
		return s, err
	}
	if s.Clip, err = sound.Read(got.body); err != nil {
		return s, abi.Errorf(abi.CodeInvalid, "%s answers with no sound: %v", e, err)
	}
	s.Mouth = mouth(body, s.Clip.Seconds())
	return s, nil
}

// change writes into a query how somebody speaks.
func change(query map[string]json.RawMessage, v Voice) {
	set := func(key string, value any) { query[key], _ = json.Marshal(value) } // numbers and booleans can always be marshalled
	if v.Speed > 0 {
		set("speedScale", v.Speed)
	}
	if v.Pitch != 0 {
		set("pitchScale", v.Pitch)
	}
	if v.Intonation != nil {
		set("intonationScale", *v.Intonation)
	}
	set("outputStereo", false)
}

// style finds the number of a voice's style: the voice has it, or the name of a speaker and that of a style, of which
// the first is taken where it does not say.
func (e *voicevox) style(ctx context.Context, v Voice) (int64, error) {
	if id, ok := v.Speaker.number(); ok {
		return id, nil
	}
	e.mu.Lock()
	all := e.speakers
	e.mu.Unlock()
	id, err := find(all, v)
	if err == nil {
		return id, nil
	}
	// Nobody was asked for yet, or somebody has been added.
	got, bad := e.ask(ctx, "GET", "/speakers", nil, nil)
	if bad != nil {
		return 0, bad
	}
	if bad := json.Unmarshal(got.body, &all); bad != nil {
		return 0, abi.Errorf(abi.CodeInvalid, "%s answers with what is no list of speakers: look whether the address is its own", e)
	}
	e.mu.Lock()
	e.speakers = all
	e.mu.Unlock()
	if id, err = find(all, v); err != nil {
		return 0, abi.Errorf(abi.CodeNotFound, "%s has %s", e, abi.AsError(err).Message)
	}
	return id, nil
}

func find(all []speaker, v Voice) (int64, error) {
	var names []string
	for _, s := range all {
		names = append(names, s.Name)
		if v.Speaker != "" && s.Name != string(v.Speaker) {
			continue
		}
		for _, style := range s.Styles {
			if (style.Type == "" || style.Type == "talk") && (v.Style == "" || style.Name == v.Style) {
				return style.ID, nil
			}
		}
	}
	if slices.Contains(names, string(v.Speaker)) {
		return 0, abi.Errorf(abi.CodeNotFound, "no style %.40q of %.40q that talks", v.Style, v.Speaker)
	}
	return 0, abi.Errorf(abi.CodeNotFound, "no speaker %.40q: GET /speakers lists them", v.Speaker)
}
