// Command ngword is a handler that keeps words from being said and perceived: it masks them, or refuses what has one.
//
// It compares letters as people read them (see fold), and knows nothing of what is meant. It never tells which word it found:
// what it answers is written down.
package main

import (
	"bytes"
	"encoding/json"

	"github.com/companiond/companiond/abi"
	companion "github.com/companiond/companiond/sdk/go"
)

func init() { companion.RegisterHandler(handler()) }

func handler() companion.Handler {
	return companion.Handler{Name: "NG words", Version: "1", Settings: schema, Line: line, Sense: sense}
}

func main() {}

const schema = `{"type":"object","properties":{
	"words":{"type":"array","items":{"type":"string"}},
	"mode":{"type":"string","enum":["mask","refuse"]},
	"lines":{"type":"boolean"},
	"perceptions":{"type":"boolean"}
},"required":["words"]}`

// settings are the handler's.
type settings struct {
	Words       []string `json:"words"`
	Mode        string   `json:"mode"`        // mask, or empty, or refuse
	Lines       *bool    `json:"lines"`       // nil: true
	Perceptions *bool    `json:"perceptions"` // nil: true
}

// found is why something is refused.
const found = "it has a forbidden word"

func read(raw json.RawMessage) (s settings, list words, err error) {
	if len(raw) > 0 {
		err = json.Unmarshal(raw, &s)
	}
	return s, newWords(s.Words), err
}

func on(b *bool) bool { return b == nil || *b }

func line(_ *companion.Host, l abi.Lining) (abi.Lined, error) {
	s, list, err := read(l.Settings)
	if err != nil || !on(s.Lines) {
		return abi.Lined{}, err
	}
	masked, has := list.mask(l.Text)
	switch {
	case !has:
		return abi.Lined{}, nil
	case s.Mode == "refuse":
		return abi.Lined{Refuse: found}, nil
	}
	return abi.Lined{Text: masked}, nil
}

func sense(_ *companion.Host, p abi.Sensing) (abi.Sensed, error) {
	s, list, err := read(p.Settings)
	if err != nil || !on(s.Perceptions) || len(p.Perception.Body) == 0 {
		return abi.Sensed{}, err
	}
	masked, has, err := list.maskJSON(p.Perception.Body)
	switch {
	case err != nil || !has:
		return abi.Sensed{}, err
	case s.Mode == "refuse":
		return abi.Sensed{Refuse: found}, nil
	}
	return abi.Sensed{Body: masked}, nil
}

// maskJSON masks the texts of a JSON value, wherever they stand in it; names of fields stay.
func (w words) maskJSON(raw json.RawMessage) (masked json.RawMessage, has bool, err error) {
	in := json.NewDecoder(bytes.NewReader(raw))
	in.UseNumber() // numbers stay as they are written
	var v any
	if err := in.Decode(&v); err != nil {
		return nil, false, abi.Errorf(abi.CodeInvalid, "the body is no JSON: %v", err)
	}
	v, has = w.maskValue(v)
	var out bytes.Buffer
	to := json.NewEncoder(&out)
	to.SetEscapeHTML(false)
	err = to.Encode(v)
	return bytes.TrimSpace(out.Bytes()), has, err
}

func (w words) maskValue(v any) (masked any, has bool) {
	switch v := v.(type) {
	case string:
		return w.mask(v)
	case []any:
		for i := range v {
			one, found := w.maskValue(v[i])
			v[i], has = one, has || found
		}
	case map[string]any:
		for k := range v {
			one, found := w.maskValue(v[k])
			v[k], has = one, has || found
		}
	}
	return v, has
}
