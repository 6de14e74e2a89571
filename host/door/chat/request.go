package chat

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/door/chat/news"
	"github.com/companiond/companiond/host/door/guard"
)

// request is the body of a completion, as far as it is read. All else is for language
// models, and has no meaning here.
type request struct {
	Model         string          `json:"model"`
	Messages      json.RawMessage `json:"messages"`
	Stream        bool            `json:"stream"`
	StreamOptions struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
	User           json.RawMessage `json:"user"`
	N              *int            `json:"n"`
	ToolChoice     json.RawMessage `json:"tool_choice"`
	ResponseFormat struct {
		Type string `json:"type"`
	} `json:"response_format"`
	Modalities []string `json:"modalities"`

	user string
	list []news.Message
}

// read reads a request.
//
// # Errors
//
// CodeInvalid and CodeTooLarge name the field.
func read(r *http.Request) (in request, err error) {
	raw, err := guard.ReadBody(r.Body, MaxBody)
	if err != nil {
		return in, err
	}
	if err := json.Unmarshal(raw, &in); err != nil {
		return in, unreadable(err)
	}
	if in.Model == "" {
		return in, abi.Field("model", abi.CodeInvalid, "is missing; GET /v1/models lists them")
	}
	if u := bytes.TrimSpace(in.User); len(u) > 0 && !bytes.Equal(u, []byte("null")) && json.Unmarshal(u, &in.user) != nil {
		return in, abi.Field("user", abi.CodeInvalid, "must be a string: the name under which a guest speaks")
	}
	if err := in.impossible(); err != nil {
		return in, err
	}
	return in, in.readList()
}

// unreadable says what is wrong with a body, and where.
func unreadable(err error) error {
	if typed := (*json.UnmarshalTypeError)(nil); errors.As(err, &typed) {
		if typed.Field == "" {
			return abi.Errorf(abi.CodeInvalid, "body: must be a JSON object")
		}
		return abi.Field(typed.Field, abi.CodeInvalid, "is a JSON %s, which it must not be", typed.Value)
	}
	return abi.Errorf(abi.CodeInvalid, "body: is no completion as JSON: %v", err)
}

// impossible refuses what a client could not do without, and a character cannot do. Tools
// that it may leave alone are left alone.
func (in *request) impossible() error {
	choice := ""
	if err := json.Unmarshal(in.ToolChoice, &choice); len(in.ToolChoice) > 0 && err != nil {
		choice = "one" // by its name, in an object
	}
	switch {
	case in.N != nil && *in.N != 1:
		return abi.Field("n", abi.CodeInvalid, "is %d; a room gives one answer, leave it out", *in.N)
	case choice != "" && choice != "auto" && choice != "none":
		return abi.Field("tool_choice", abi.CodeInvalid, "asks for a tool, and characters call none of a client's; leave it out")
	case in.ResponseFormat.Type != "" && in.ResponseFormat.Type != "text":
		return abi.Field("response_format", abi.CodeInvalid, `asks for %.32q, and characters say text; leave it out`, in.ResponseFormat.Type)
	case slices.ContainsFunc(in.Modalities, func(m string) bool { return m != "text" }):
		return abi.Field("modalities", abi.CodeInvalid, `must be ["text"], or left out`)
	}
	return nil
}

// readList reads the messages.
func (in *request) readList() error {
	dec := json.NewDecoder(bytes.NewReader(in.Messages))
	if open, err := dec.Token(); err != nil || open != json.Delim('[') {
		return abi.Field("messages", abi.CodeInvalid, "must be a list of {role, content}")
	}
	for dec.More() {
		at := len(in.list)
		if at == MaxMessages {
			return abi.Field("messages", abi.CodeTooLarge, "are more than %d", MaxMessages)
		}
		var m struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		}
		if err := dec.Decode(&m); err != nil {
			return abi.Field(place(at, ""), abi.CodeInvalid, "must be {role, content}")
		}
		if m.Role == "" {
			return abi.Field(place(at, ".role"), abi.CodeInvalid, `is missing; it is "user" for what is to be said`)
		}
		text, odd, err := content(m.Content)
		if err != nil {
			return abi.Field(place(at, ".content"), abi.CodeOf(err), "%s", abi.AsError(err).Message)
		}
		in.list = append(in.list, news.Message{Role: m.Role, Text: text, Odd: odd})
	}
	in.Messages = nil
	if len(in.list) == 0 {
		return abi.Field("messages", abi.CodeInvalid, "must not be empty")
	}
	return nil
}

func place(at int, of string) string { return fmt.Sprintf("messages[%d]%s", at, of) }

// content gives the text of a message's content, which is a string or a list of parts,
// and the type of a part that is no text.
func content(raw json.RawMessage) (text, odd string, err error) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || raw[0] == 'n' { // a call of a tool has none
		return "", "", nil
	}
	if json.Unmarshal(raw, &text) == nil {
		return text, "", nil
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	if open, err := dec.Token(); err != nil || open != json.Delim('[') {
		return "", "", abi.Errorf(abi.CodeInvalid, "must be a string, or a list of parts")
	}
	var texts []string
	for n := 0; dec.More(); n++ {
		if n == MaxParts {
			return "", "", abi.Errorf(abi.CodeTooLarge, "has more than %d parts", MaxParts)
		}
		var part struct{ Type, Text string }
		if err := dec.Decode(&part); err != nil || part.Type == "" {
			return "", "", abi.Errorf(abi.CodeInvalid, "has a part that is no {type, text}")
		}
		if part.Type == "text" {
			texts = append(texts, part.Text)
		} else if odd == "" {
			odd = part.Type
		}
	}
	return strings.Join(texts, "\n"), odd, nil
}
