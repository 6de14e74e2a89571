package neuro

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/force"
)

// frame writes a message to a game, which has a command and most have data.
func frame(command string, data any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(struct {
		Command string `json:"command"`
		Data    any    `json:"data,omitempty"`
	}{command, data}) // it is made of texts
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// started answers a startup.
func started(session, companion, name string) []byte {
	type of struct {
		Session   string `json:"sessionId"`
		Character string `json:"characterId"`
		Name      string `json:"displayName"`
	}
	return frame("startup", struct {
		Session of `json:"session"`
	}{of{session, companion, name}})
}

// act has a game carry out an action. The parameters are JSON in a text; an action without a
// schema has none.
func act(a entry.Action, bare bool) []byte {
	type of struct {
		ID   string `json:"id"`
		Name string `json:"name"`
		Data string `json:"data,omitempty"`
	}
	data := of{ID: a.ID, Name: a.Action}
	if !bare {
		data.Data = string(a.Parameters)
	}
	return frame("action", data)
}

// spoken says that the companion has said a line, or that it was cut off.
func spoken(h entry.Heard) []byte {
	data := struct {
		Final     bool   `json:"isFinal"`
		Cancelled bool   `json:"cancelled"`
		Reason    string `json:"reason,omitempty"`
	}{Final: true, Cancelled: h.End != entry.EndSaid}
	if data.Cancelled {
		data.Reason = "interrupted"
	}
	return frame("speech_finished", data)
}

// reregister has a game offer anew what it offers.
func reregister() []byte { return frame("actions/reregister_all", nil) }

// diagnosed tells whoever writes a game what is wrong with it, who has asked for that.
func diagnosed(rule force.Rule, text string) []byte {
	return frame("companiond/diagnostic", struct {
		Rule    force.Rule `json:"rule"`
		Message string     `json:"message"`
	}{rule, strings.ToValidUTF8(text, "")})
}
