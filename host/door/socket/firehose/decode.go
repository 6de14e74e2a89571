package firehose

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/door/socket/session"
)

// asks is a query of the client's.
type asks struct{ id, kind string }

// Key implements [session.In].
func (a asks) Key() string { return a.id }

// broken is a message that cannot be taken. Its issues are told as zod would; without any the error is.
type broken struct {
	issues []issue
	path   []string
}

// Key implements [session.In].
func (broken) Key() string { return "" }

func (b broken) frame(err *abi.Error) []byte {
	if len(b.issues) > 0 {
		return problem(b.issues...)
	}
	return refusal(err, b.path...)
}

// Decode implements [session.Codec]. As with the Firehose, nothing answers what is no JSON, nor a topic
// that nobody knows.
func (h *Hose) Decode(raw []byte, now time.Time) (session.In, error) {
	if !json.Valid(raw) {
		return nil, nil
	}
	var r reader
	all := r.read(raw)
	topic, body := r.text(all, "topic"), r.object(all, "body")
	if len(r.wrong) == 0 {
		switch topic {
		case "messages":
			return h.message(&r, body)
		case "queries":
			return h.query(&r, body, now)
		case "actions", "states":
			return notTheirs(&r, topic, body)
		default:
			return nil, nil
		}
	}
	return r.broken()
}

func (h *Hose) message(r *reader, body object) (session.In, error) {
	r.strict(body, "jsonrpc", "method", "params")
	r.literal(body, "jsonrpc", "2.0")
	r.literal(body, "method", "message.send")
	params := r.object(body, "params")
	in := session.Input{ID: r.text(params, "id"), From: r.text(params, "from"), To: r.texts(params, "to"), Text: r.text(params, "message")}
	if params.has("metadata") {
		r.object(params, "metadata")
	}
	if len(r.wrong) > 0 {
		return r.broken()
	}
	in.As = session.MessageID(wire, session.Alias(h.key, in.From), in.ID)
	h.said = session.Newest(h.said, in.As, maxSaid)
	return in, nil
}

// query takes an answer, or a query of the client's own.
func (h *Hose) query(r *reader, body object, now time.Time) (session.In, error) {
	if body.has("method") {
		r.strict(body, "jsonrpc", "method", "id", "params")
		r.literal(body, "jsonrpc", "2.0")
		r.literal(body, "method", "query.send")
		id := r.text(body, "id")
		params := r.object(body, "params")
		r.text(params, "from")
		kind := r.text(params, "type")
		if len(r.wrong) > 0 {
			return r.broken()
		}
		return asks{id, kind}, nil
	}
	r.strict(body, "jsonrpc", "id", "result", "error")
	r.literal(body, "jsonrpc", "2.0")
	id := r.text(body, "id")
	ok, why := true, ""
	var answer json.RawMessage
	if body.has("result") {
		result := r.object(body, "result")
		ok = r.flag(result, "success")
		r.object(result, "body")
		answer = result.of["body"]
	}
	if body.has("error") {
		why, ok = r.text(body, "error"), false
	}
	if len(r.wrong) > 0 {
		return r.broken()
	}
	if i := slices.Index(h.wants, id); i >= 0 || id != "" && !strings.Contains(id, "-") { // asked on another connection; those to speak have a part behind the dash
		if i >= 0 {
			h.wants = slices.Delete(h.wants, i, i+1)
		}
		return session.Result{ID: id, OK: ok, Reason: clipped(why), Answer: answer}, nil
	}
	return h.answered(id, ok, why, now), nil
}

// answered takes the answer to a query to speak, nil for one that nobody waits for any more.
func (h *Hose) answered(id string, ok bool, why string, now time.Time) session.In {
	i := slices.IndexFunc(h.lines, func(l *line) bool { return l.query == id && id != "" })
	if i >= 0 {
		h.lines[i].query, h.lines[i].played = "", h.lines[i].sent
	}
	if !h.plays && slices.Contains(h.asked, id) { // so it speaks, and is waited for from now on
		return session.Hello{Plays: true}
	}
	if i < 0 {
		return nil
	}
	l := h.lines[i]
	switch {
	case !l.waited || l.over: // Own tells the rest
		return nil
	case !ok:
		l.told = true
		if l.parts, l.last = l.parts[:l.sent], true; why == "" {
			why = "the client could not speak it"
		}
		return session.Played{Line: l.id, Failed: clipped(why)}
	case l.last && l.played == len(l.parts):
		l.told = true
		return session.Played{Line: l.id, Done: true}
	}
	return session.Played{Line: l.id, Part: l.played}
}

// clipped bounds why a client could not do something, at a letter.
func clipped(why string) string {
	const most = 500
	if len(why) <= most {
		return why
	}
	n := most
	for n > 0 && why[n]&0xC0 == 0x80 {
		n--
	}
	return why[:n]
}

// notTheirs refuses what is published in the name of companions.
func notTheirs(r *reader, topic string, body object) (session.In, error) {
	method := map[string]string{"actions": "action.send", "states": "state.send"}[topic]
	r.strict(body, "jsonrpc", "method", "params")
	r.literal(body, "jsonrpc", "2.0")
	r.literal(body, "method", method)
	params := r.object(body, "params")
	from := r.text(params, "from")
	if len(r.wrong) > 0 {
		return r.broken()
	}
	why := "companions alone play actions, and %.64q is not who is connected here; an agent plays them over /mcp"
	if topic == "states" {
		why = "companions alone vote, and %.64q is not who is connected here; an agent votes over /mcp"
	}
	return broken{path: []string{"body", "params"}}, abi.Field("from", abi.CodeDenied, why, from)
}

// object is one that was read, and where it stands.
type object struct {
	path []any
	of   map[string]json.RawMessage // nil: it is none, which is told
}

func (o object) has(key string) bool { _, has := o.of[key]; return has }

func (o object) at(key ...any) []any { return append(slices.Clone(o.path), key...) }

// maxIssues is how many things are told that are wrong with a message.
const maxIssues = 16

// reader reads a message by aikyo's schemas, and keeps what is wrong with it.
type reader struct{ wrong []issue }

func (r *reader) broken() (session.In, error) {
	return broken{issues: r.wrong}, abi.Errorf(abi.CodeInvalid, "%s", r.wrong[0].Message)
}

func (r *reader) fail(i issue) {
	if len(r.wrong) < maxIssues {
		r.wrong = append(r.wrong, i)
	}
}

// kind names what a JSON value is, as zod does.
func kind(raw json.RawMessage) string {
	if len(raw) == 0 {
		return "undefined"
	}
	switch raw[0] {
	case '{':
		return "object"
	case '[':
		return "array"
	case '"':
		return "string"
	case 't', 'f':
		return "boolean"
	case 'n':
		return "null"
	}
	return "number"
}

// value reads one that is to be of a kind.
func (r *reader) value(raw json.RawMessage, want string, path []any, v any) {
	got := kind(raw)
	if got == want && json.Unmarshal(raw, v) == nil {
		return
	}
	i := issue{Code: "invalid_type", Expected: want, Received: got, Path: path, Message: "Required"}
	if got != "undefined" {
		i.Message = "Expected " + want + ", received " + got
	}
	r.fail(i)
}

// read reads a message.
func (r *reader) read(raw []byte) object {
	o := object{path: []any{}}
	r.value(bytes.TrimLeft(raw, " \t\r\n"), "object", o.path, &o.of)
	return o
}

// field reads one of an object: nothing is said of those of what is none.
func (r *reader) field(o object, key, want string, v any) {
	if o.of != nil {
		r.value(o.of[key], want, o.at(key), v)
	}
}

func (r *reader) object(in object, key string) object {
	o := object{path: in.at(key)}
	r.field(in, key, "object", &o.of)
	return o
}

func (r *reader) text(o object, key string) (s string) {
	r.field(o, key, "string", &s)
	return s
}

func (r *reader) flag(o object, key string) (b bool) {
	r.field(o, key, "boolean", &b)
	return b
}

func (r *reader) texts(o object, key string) (all []string) {
	var raws []json.RawMessage
	r.field(o, key, "array", &raws)
	for i, raw := range raws {
		var s string
		r.value(raw, "string", o.at(key, i), &s)
		all = append(all, s)
	}
	return all
}

func (r *reader) literal(o object, key, want string) {
	var got string
	if o.of != nil && (json.Unmarshal(o.of[key], &got) != nil || got != want) {
		r.fail(issue{Code: "invalid_literal", Expected: want, Received: kind(o.of[key]), Path: o.at(key), Message: "Invalid literal value, expected " + strconv.Quote(want)})
	}
}

// strict refuses keys that the schema has not.
func (r *reader) strict(o object, known ...string) {
	for _, key := range slices.Sorted(maps.Keys(o.of)) {
		if !slices.Contains(known, key) {
			r.fail(issue{Code: "unrecognized_keys", Keys: []string{key}, Path: o.path, Message: fmt.Sprintf("Unrecognized key(s) in object: '%.64s'", key)})
		}
	}
}
