package ollmv

import (
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/door/socket/session"
)

// sent is a message of the client's, as far as it is of use.
type sent struct {
	Type    string          `json:"type"`
	Text    string          `json:"text"`
	File    string          `json:"file"`
	History string          `json:"history_uid"`
	Display json.RawMessage `json:"display_text"`
	Images  []struct {
		Data string `json:"data"`
	} `json:"images"`
}

// reply is what is answered without the room.
type reply struct{ frames [][]byte }

// Key implements [session.In].
func (reply) Key() string { return "" }

// Decode implements [session.Codec].
func (f *Front) Decode(raw []byte, now time.Time) (session.In, error) {
	var s sent
	var wrong *json.UnmarshalTypeError
	switch err := json.Unmarshal(raw, &s); {
	case errors.As(err, &wrong) && wrong.Field != "":
		return nil, abi.Field(wrong.Field, abi.CodeInvalid, "is a JSON %s, which it cannot be", wrong.Value)
	case err != nil:
		return nil, abi.Errorf(abi.CodeInvalid, `message: is no JSON object; send {"type":"text-input","text":"..."}`)
	}
	switch s.Type {
	case "text-input":
		in := session.Input{Text: s.Text, As: f.messageID(now)}
		if len(s.Images) > 0 {
			in.Image = s.Images[0].Data
		}
		return in, nil
	case "interrupt-signal":
		return session.Cancel{Idle: !f.speaks(), Was: f.heard(s.Text)}, nil
	case "audio-play-start":
		f.starts(s.Display, now)
		return nil, nil
	case "frontend-playback-complete":
		return f.done(), nil
	case "switch-config":
		return session.Switch{Companion: s.File}, nil
	case "fetch-history-list":
		return session.Past{ID: listed, Limit: 1}, nil
	case "create-new-history":
		return session.Past{ID: created}, nil
	case "fetch-and-set-history":
		since, ok := f.since(s.History)
		if !ok {
			return nil, abi.Field("history_uid", abi.CodeNotFound, "there is no history %.64q here", s.History)
		}
		return session.Past{ID: s.History, Since: since, Limit: shown}, nil
	}
	return f.aside(s.Type), nil
}

// aside gives the answer to what the room need not know of, nil for none.
func (f *Front) aside(kind string) session.In {
	no := false
	switch kind {
	case "heartbeat":
		return reply{[][]byte{encode(frame{Type: "heartbeat-ack"})}}
	case "fetch-backgrounds":
		return reply{[][]byte{[]byte(`{"type":"background-files","files":[]}`)}}
	case "fetch-configs":
		return reply{[][]byte{encode(f.configs())}}
	case "delete-history":
		return reply{[][]byte{encode(frame{Type: "history-deleted", Success: &no}), problem("words that were said stay; an admin erases a person's with companiond forget")}}
	case "mic-audio-end":
		return reply{[][]byte{problem("speech is not understood here; type what you say"), encode(control(chainEnd))}}
	case "add-client-to-group", "remove-client-from-group":
		return reply{[][]byte{encode(frame{Type: "group-operation-result", Success: &no, Message: "everybody who connects to a room is in it"})}}
	}
	return nil // of a type that is of no use here: mic-audio-data, ai-speak-signal
}

// speaks says whether there is anything to be interrupted: a line, or the wait for one.
func (f *Front) speaks() bool {
	for _, l := range f.lines {
		if !l.over {
			return true
		}
	}
	return !f.waiting.IsZero()
}

// heard finds how much of the line that is shown was heard: the client says all that it has shown since it began to
// think. How much of a part that sounds was heard the room finds, by how long it takes.
func (f *Front) heard(text string) session.Played {
	for _, l := range f.lines {
		if l.over || l.id == "" {
			continue
		}
		n := l.shown
		if n > l.told && l.sentences[n-1].sound.length > 0 {
			n = l.told
		}
		for ; n > 0; n-- {
			var said strings.Builder
			for _, s := range l.sentences[:n] {
				said.WriteString(s.text)
			}
			if strings.Contains(text, said.String()) {
				return session.Played{Line: l.id, Bytes: said.Len()}
			}
		}
	}
	return session.Played{}
}

// done takes the word that all was played, which comes several times.
func (f *Front) done() session.In {
	for _, l := range f.lines {
		if l.complete && !l.played && l.id != "" {
			l.played = true
			return session.Played{Line: l.id, Done: true}
		}
	}
	return nil
}
