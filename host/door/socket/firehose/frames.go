package firehose

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/door/socket/session"
	"github.com/companiond/companiond/host/emotion"
)

// message is one that is told.
type message struct {
	id, from, text string
	to             []string
	emotion        string // empty: a person's
}

// rpc is what all frames have but answers.
type rpc struct {
	Version string `json:"jsonrpc"`
	Method  string `json:"method"`
	ID      string `json:"id,omitempty"` // of a query
	Params  any    `json:"params"`
}

type metadata struct {
	Emotion string `json:"emotion"`
}

type messageParams struct {
	ID       string    `json:"id"`
	From     string    `json:"from"`
	To       []string  `json:"to"`
	Message  string    `json:"message"`
	Metadata *metadata `json:"metadata,omitempty"`
}

// messageFrame is message.send. Its to is never empty where anybody is there: clients of aikyo's look for
// themselves in it.
func (h *Hose) messageFrame(m message) rpc {
	p := messageParams{ID: shownID(m.id), From: m.from, To: m.to, Message: m.text}
	if len(p.To) == 0 {
		p.To = []string{}
		for _, who := range slices.Concat(h.everyone(), h.people) {
			if who != m.from {
				p.To = append(p.To, who)
			}
		}
	}
	if m.emotion != "" {
		p.Metadata = &metadata{m.emotion}
	}
	return rpc{Version: "2.0", Method: "message.send", Params: p}
}

type actionParams struct {
	From   string          `json:"from"`
	Name   string          `json:"name"`
	Params json.RawMessage `json:"params"`
}

func actionFrame(a session.Action) rpc {
	return rpc{Version: "2.0", Method: "action.send", Params: actionParams{a.Companion, a.Action, a.Parameters}}
}

type queryParams struct {
	From string `json:"from"`
	Type string `json:"type"`
	Body any    `json:"body,omitempty"`
}

type speakBody struct {
	Message string `json:"message"`
	Emotion string `json:"emotion"`
}

// speak is the type of a query that asks for a sound.
const speak = "speak"

func speakFrame(id, who string, p part) rpc {
	return queryFrame(id, who, speak, speakBody{p.text, p.emotion})
}

func queryFrame(id, who, kind string, body any) rpc {
	return rpc{Version: "2.0", Method: "query.send", ID: id, Params: queryParams{who, kind, body}}
}

type stateParams struct {
	From       string      `json:"from"`
	State      abi.State   `json:"state"`
	Importance float64     `json:"importance"`
	Selected   bool        `json:"selected"`
	Closing    abi.Closing `json:"closing"`
}

// votesFrame is an array, as aikyo's leader publishes it: of one, for votes come one by one here.
func votesFrame(v session.Vote) []rpc {
	p := stateParams{v.Companion, v.State, v.Importance, v.Selected, v.Closing}
	if p.Closing == "" {
		p.Closing = abi.ClosingNone
	}
	return []rpc{{Version: "2.0", Method: "state.send", Params: p}}
}

// answerFrame is the answer to a client's query.
type answerFrame struct {
	Version string `json:"jsonrpc"`
	ID      string `json:"id"`
	Error   string `json:"error"`
}

// emotionOf gives the word that aikyo's clients know for one of ours.
func emotionOf(w emotion.Word) string {
	switch w {
	case emotion.Happy, emotion.Relaxed:
		return "happy"
	case emotion.Angry, emotion.Sad:
		return string(w)
	}
	return "neutral"
}

// issue is what is wrong with a message, as zod has it.
type issue struct {
	Code     string   `json:"code"`
	Expected string   `json:"expected,omitempty"`
	Received string   `json:"received,omitempty"`
	Keys     []string `json:"keys,omitempty"`
	Path     []any    `json:"path"`
	Message  string   `json:"message"`
}

type errorFrame struct {
	Error struct {
		Issues []issue `json:"issues"`
		Name   string  `json:"name"`
	} `json:"error"`
}

func problem(all ...issue) []byte {
	var f errorFrame
	f.Error.Issues, f.Error.Name = all, "ZodError"
	return encode(f)
}

// refusal tells an error of ours the same way, with the place of its field below some others.
func refusal(err *abi.Error, below ...string) []byte {
	i := issue{Code: "custom", Path: []any{}, Message: err.Reason()}
	for _, p := range below {
		i.Path = append(i.Path, p)
	}
	if err.Field == "" {
		i.Message = err.Message
	}
	for p := range strings.SplitSeq(err.Field, ".") {
		if n, wrong := strconv.Atoi(p); wrong == nil {
			i.Path = append(i.Path, n)
		} else if p == "text" {
			i.Path = append(i.Path, "message")
		} else if p != "" {
			i.Path = append(i.Path, p)
		}
	}
	return problem(i)
}

// encode writes what can always be written: texts, numbers, and JSON that was read.
func encode(v any) []byte {
	frame, _ := json.Marshal(v)
	return frame
}
