package streamable

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/door/guard"
	"github.com/companiond/companiond/host/door/mcp/rpc"
)

// codeNoSession is the code of a session that is not there, as the protocol's own
// servers in TypeScript have it. Clients go by the status.
const codeNoSession = -32001

// gone is the fault of a session that is not there. It has no id: then no client takes it
// for the answer to one request, in a session that goes on.
func gone() *rpc.Fault {
	return &rpc.Fault{Status: http.StatusNotFound, Code: codeNoSession, Message: "session: there is none of this id, or none any more; begin again with initialize"}
}

// unbegun is the fault of a call that belongs to no session, in an era that has them.
func unbegun(id []byte) *rpc.Fault {
	return &rpc.Fault{Status: http.StatusBadRequest, ID: id, Code: rpc.CodeRequest, Message: headerSession +
		": is missing; begin with initialize and send the id that its answer has, or say " + headerVersion + ": " + modernSince + " to do without"}
}

// refuse answers a request that does not come through to the SDK.
func refuse(w http.ResponseWriter, r *http.Request, err error) {
	var f *rpc.Fault
	if !errors.As(err, &f) {
		guard.Problem(w, r, err)
		return
	}
	body := f.Encode()
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(f.Status)
	_, _ = w.Write(body) // the client is gone: nothing to do
}

// inRPC gives what a handler fails with as an error with a code of JSON-RPC. Without one
// the SDK writes 0. An error of the house is its data as well, with its own code and field.
func inRPC(method string, err error) error {
	var coded *jsonrpc.Error
	if err == nil || errors.As(err, &coded) {
		return err
	}
	if method == "initialize" && strings.HasPrefix(err.Error(), "duplicate ") {
		return &jsonrpc.Error{Code: rpc.CodeRequest, Message: "initialize: this session has begun already"}
	}
	var known *abi.Error
	code := int64(rpc.CodeInternal)
	if errors.As(err, &known) {
		switch known.Code {
		case abi.CodeInvalid, abi.CodeNotFound, abi.CodeDenied, abi.CodeConflict, abi.CodeStale, abi.CodeTooLarge:
			code = rpc.CodeParams
		}
		data, _ := Encode(known) // texts always encode
		return &jsonrpc.Error{Code: code, Message: known.Error(), Data: data}
	}
	if errors.Is(err, context.Canceled) {
		return &jsonrpc.Error{Code: code, Message: "the request was given up"}
	}
	return &jsonrpc.Error{Code: code, Message: err.Error()}
}

// mend gives an answer of the SDK as it goes out: what the SDK says in plain text, in
// words of Go or with no code becomes an error of JSON-RPC in words for people.
func (x *exchange) mend(status int, h http.Header, body []byte) (int, []byte) {
	var f *rpc.Fault
	switch kind := h.Get("Content-Type"); {
	case status == http.StatusNotFound && x.session != nil && strings.HasPrefix(kind, "text/plain"):
		f = gone()
	case status == http.StatusMethodNotAllowed:
		f = &rpc.Fault{Status: status, Code: rpc.CodeRequest, Message: "method: here it must be " + h.Get("Allow")}
	case status >= http.StatusBadRequest && strings.HasPrefix(kind, "text/plain"):
		f = x.unheeded(status, strings.TrimSpace(string(body)))
	case x.session != nil && x.session.ending.Err() != nil && body == nil && status == http.StatusOK:
		// It was ended while the call ran, whose answer the SDK has no place for any more.
		why := context.Cause(x.session.ending)
		f = &rpc.Fault{Status: guard.Status(abi.CodeOf(why)), Code: rpc.CodeInternal, Message: abi.AsError(why).Message}
		if f.Status == http.StatusNotFound {
			f.Code = codeNoSession
		}
	case kind == "application/json":
		f = x.reworded(status, body)
	}
	if f == nil {
		return status, body
	}
	h.Set("Content-Type", "application/json")
	return f.Status, f.Encode()
}

// unheeded is the fault of a request that the SDK refuses before it looks at what is
// asked.
func (x *exchange) unheeded(status int, text string) *rpc.Fault {
	f := &rpc.Fault{Status: status, Code: rpc.CodeRequest, Message: text}
	if status != http.StatusBadRequest {
		return f
	}
	m := x.message
	f.ID = m.CallID()
	var method string
	if json.Unmarshal(m.Method, &method) != nil {
		method = ""
	}
	var wrong *rpc.Fault
	if x.asked != nil { // or nothing was posted
		wrong = rpc.Misshapen(x.asked)
	}
	switch {
	case wrong != nil:
		wrong.Status, wrong.ID = status, f.ID
		return wrong
	case strings.Contains(text, "not handled"):
		f.Code, f.Message = rpc.CodeMethod, fmt.Sprintf("method: there is no %q", method)
	case strings.Contains(text, `missing required "params"`):
		f.Code, f.Message = rpc.CodeParams, fmt.Sprintf("params: are missing; %s needs some", method)
	case strings.Contains(text, "missing id"):
		f.Message = fmt.Sprintf("id: is missing; %s is a request", method)
	case strings.Contains(text, "unexpected id"):
		f.Message = fmt.Sprintf("id: must not be there; %s is a notification", method)
	case strings.Contains(text, "Unsupported protocol version"):
		_, versions, _ := strings.Cut(strings.TrimSuffix(text, ")"), "versions: ")
		f.Message = headerVersion + ": must be one of " + strings.ReplaceAll(versions, ",", ", ")
		return f
	case strings.Contains(text, "batching"):
		f.Message = "body: a batch; send its requests one by one"
	case strings.HasPrefix(text, "malformed payload"):
		f.Message = "body: is no message of JSON-RPC"
	}
	if f.ID != nil && !x.modern && f.Code != rpc.CodeRequest {
		f.Status = http.StatusOK // it is the answer to a request, as the other errors of its kind are
	}
	return f
}

// wrongField finds the field of the SDK's types that did not fit.
var wrongField = regexp.MustCompile(`Go struct field [\w.]*?Params\w*\.([\w.]+) of type (\w+)`)

// reworded gives an error that the SDK has put in words of its own or without a code,
// nil for all other answers.
func (x *exchange) reworded(status int, body []byte) *rpc.Fault {
	rest, ok := bytes.CutPrefix(body, []byte(answerTop))
	if !ok || !strings.HasPrefix(afterID(string(rest[:min(len(rest), 512)])), `,"error":`) {
		return nil
	}
	var said struct {
		ID    json.RawMessage
		Error struct {
			Code    int64
			Message string
		}
	}
	if json.Unmarshal(body, &said) != nil {
		return nil
	}
	f := &rpc.Fault{Status: status, ID: said.ID, Code: said.Error.Code, Message: said.Error.Message}
	switch {
	case strings.HasPrefix(f.Message, "handling '"):
		f.Code, f.Message = rpc.CodeParams, x.unfitting(f.Message)
	case strings.HasPrefix(f.Message, "JSON RPC not handled: "):
		name, _, _ := strings.Cut(strings.TrimPrefix(f.Message, "JSON RPC not handled: "), " ")
		f.Message = "method: there is no " + name
	case f.Code == 0:
		f.Code = rpc.CodeRequest // what the SDK refuses before a handler has it
	default:
		return nil
	}
	return f
}

// unfitting says what of params is not as a method takes it.
func (x *exchange) unfitting(text string) string {
	if len(x.message.Params) > 0 && x.message.Params[0] != '{' {
		return "params: must be an object"
	}
	field := wrongField.FindStringSubmatch(text)
	if field == nil {
		return "params: not as the method takes them"
	}
	kinds := map[string]string{"string": "a text", "bool": "true or false", "int": "a whole number", "float64": "a number"}
	return "params." + field[1] + ": must be " + cmp.Or(kinds[field[2]], "of another kind")
}
