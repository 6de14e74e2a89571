// Package extism runs files of WebAssembly that were built with a PDK of Extism: each op that such a file answers is an export,
// which finds the op's data as its input, and gives the answer as its output.
//
// It is the host's side of extism:host/env, and host_call in extism:host/user, which asks what ABI.md's host_call asks. A file is
// under the guard that holds every other: what it calls is charged, and the memory that it has on this side is bounded.
//
// It never gives a file more than any other module has: no files and no sockets, and requests by HTTP only as the host op http.fetch,
// which is granted by name. Variables live as long as the instance, and are not kept.
package extism

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/module"
	"github.com/companiond/companiond/host/module/wasm/drive"
)

// Dialect is the border of Extism's.
func Dialect() drive.Dialect {
	return drive.Dialect{Imports: imports(), Drive: func(s module.Source) drive.Driver { return &plugin{id: s.ID, vars: map[string][]byte{}} }}
}

// plugin drives one instance.
type plugin struct {
	id  string
	g   drive.Guest
	ops []string

	vars  map[string][]byte
	taken int // bytes of vars

	// Of the call that runs:
	memory  memory
	request abi.Request
	config  map[string]json.RawMessage
	input   uint64
	output  []byte
	failed  string            // what the guest says went wrong
	status  int               // of what was fetched last
	headers map[string]string // and its headers
}

var _ drive.Driver = (*plugin)(nil)

// The types that an exported op may have.
const (
	withStatus = "() -> (i32)"
	without    = "() -> ()"
)

// Start implements [drive.Driver].
func (p *plugin) Start(g drive.Guest) error {
	p.g = g
	exports := g.Exports()
	if exports["_initialize"] == "" && exports["__wasm_call_ctors"] == without {
		if _, err := g.Call("__wasm_call_ctors"); err != nil {
			return err
		}
	}
	for _, op := range abi.Ops() {
		switch is := exports[op]; is {
		case withStatus, without:
			p.ops = append(p.ops, op)
		case "":
		default:
			return abi.Errorf(abi.CodeInvalid, "exports %s as %s, but a function for Extism is %s", op, is, withStatus)
		}
	}
	if len(p.others()) == 0 {
		return abi.Errorf(abi.CodeInvalid, "it exports no function of these: %s", strings.Join(others(abi.Ops()), ", "))
	}
	return nil
}

// others are all ops but describe, which need not be exported.
func others(ops []string) []string {
	return slices.DeleteFunc(slices.Clone(ops), func(op string) bool { return op == abi.OpDescribe })
}

func (p *plugin) others() []string { return others(p.ops) }

// Resume implements [drive.Driver]. Instances do not sleep: nobody can read their globals.
func (p *plugin) Resume(g drive.Guest) { p.g = g }

// Call implements [drive.Driver].
func (p *plugin) Call(request []byte) (reply []byte, err error) {
	p.request, p.config = abi.Request{}, nil
	if err := json.Unmarshal(request, &p.request); err != nil {
		return nil, fmt.Errorf("read the request: %w", err)
	}
	defer p.memory.reset()
	op := p.request.Op
	if op == abi.OpDescribe {
		return p.describe()
	}
	if !slices.Contains(p.ops, op) {
		return failure(abi.Errorf(abi.CodeUnknownOp, "it exports no function %s", op))
	}
	answer, wrong, err := p.run(op)
	switch {
	case err != nil:
		return nil, err
	case wrong != nil:
		return failure(wrong)
	case op == abi.OpSpeak && !strings.HasPrefix(strings.TrimSpace(string(answer)), "{"):
		return success(map[string]string{"text": string(answer)})
	case len(answer) == 0:
		return success(struct{}{})
	}
	if !json.Valid(answer) {
		return answer, nil // which is no reply, and is told as such
	}
	return success(json.RawMessage(answer))
}

func success(ok any) ([]byte, error) { return json.Marshal(map[string]any{"ok": ok}) }

func failure(wrong *abi.Error) ([]byte, error) { return json.Marshal(map[string]any{"error": wrong}) }

// run calls an export with the request's data, and gives its output, or what it says went wrong.
func (p *plugin) run(op string) (output []byte, wrong *abi.Error, err error) {
	data := []byte(p.request.Data)
	if len(data) == 0 {
		data = []byte("{}")
	}
	p.output, p.failed, p.status, p.headers = nil, "", 0, nil
	p.input = p.put(data)
	status, err := p.g.Call(op)
	if err != nil {
		return nil, nil, err
	}
	if status == 0 {
		return p.output, nil, nil
	}
	return nil, p.wrong(int32(status)), nil
}

// wrong is what the guest says went wrong: a text, or an object with a code as well.
func (p *plugin) wrong(status int32) *abi.Error {
	var said struct {
		Code    abi.Code
		Message string
		Retry   bool
	}
	if json.Unmarshal([]byte(p.failed), &said) == nil && said.Message != "" {
		return &abi.Error{Code: cmp.Or(said.Code, abi.CodeInternal), Message: said.Message, Retry: said.Retry}
	}
	return abi.Errorf(abi.CodeInternal, "%s", cmp.Or(strings.ToValidUTF8(p.failed, "\ufffd"), fmt.Sprintf("it returned %d", status)))
}

// describe says what the file is: what it says itself, where it does, and what can be seen of the rest.
func (p *plugin) describe() ([]byte, error) {
	ops := append([]string{abi.OpDescribe}, p.others()...)
	is := map[string]any{"abi": "1", "name": title(p.id), "ops": ops}
	if slices.ContainsFunc(ops, abi.OfHandlers) {
		is["kind"] = abi.Handler
	}
	if !slices.Contains(p.ops, abi.OpDescribe) {
		return success(is)
	}
	said, wrong, err := p.run(abi.OpDescribe)
	if err != nil {
		return nil, err
	}
	if wrong != nil {
		return failure(wrong)
	}
	if len(said) > 0 {
		if err := json.Unmarshal(said, &is); err != nil {
			return failure(abi.Errorf(abi.CodeInvalid, "describe gives no JSON object: %v", err))
		}
	}
	return success(is)
}

// title is an id as a name.
func title(id string) string {
	first, n := utf8.DecodeRuneInString(id)
	return strings.ToUpper(string(first)) + id[n:]
}

// setting gives what config_get does: the handler's settings, and under companion.… what is known of the call.
func (p *plugin) setting(key string) (value string, ok bool) {
	if about, is := strings.CutPrefix(key, "companion."); is {
		r := p.request
		value, ok = map[string]string{"self": r.Self, "room": r.Room, "id": r.ID, "op": r.Op, "now": r.Now.Format("2006-01-02T15:04:05.000Z07:00")}[about]
		return value, ok
	}
	if p.config == nil {
		var data struct{ Settings map[string]json.RawMessage }
		_ = json.Unmarshal(p.request.Data, &data) // what has no settings has none
		p.config = data.Settings
	}
	raw, ok := p.config[key]
	if ok && json.Unmarshal(raw, &value) != nil {
		value = string(raw) // a number, or more
	}
	return value, ok
}

// maxVars is how many bytes of names and values an instance may keep.
const maxVars = 1 << 20

var errVars = errors.New("var_set: an instance may keep 1 MiB; what is to stay belongs into kv")

// set keeps a variable, nothing of nil.
func (p *plugin) set(key string, value []byte) {
	if old, ok := p.vars[key]; ok {
		p.taken -= len(key) + len(old)
		delete(p.vars, key)
	}
	if value == nil {
		return
	}
	if p.taken += len(key) + len(value); p.taken > maxVars {
		panic(errVars)
	}
	p.vars[key] = value
}

// fetch asks for http.fetch what http_request asks, and gives the body. What is refused has the status 0 and no body, and the
// log says why.
func (p *plugin) fetch(what, body []byte) []byte {
	var of struct {
		URL     string            `json:"url"`
		Method  string            `json:"method"`
		Headers map[string]string `json:"headers"`
	}
	if err := json.Unmarshal(what, &of); err != nil {
		panic(fmt.Errorf("http_request: %w", err))
	}
	ask := abi.FetchAsk{Method: of.Method, URL: of.URL, Headers: of.Headers}
	if utf8.Valid(body) {
		ask.Text = string(body)
	} else {
		ask.Bytes = body
	}
	question, err := json.Marshal(map[string]any{"v": abi.Version, "op": abi.HostHTTPFetch, "data": ask})
	if err != nil {
		panic(fmt.Errorf("http_request: %w", err))
	}
	p.status, p.headers = 0, nil
	answer, wrong, err := module.ReadReply(p.g.Ask(question))
	if err == nil && wrong != nil {
		err = wrong
	}
	var got abi.Fetched
	if err == nil {
		err = json.Unmarshal(answer, &got)
	}
	if err != nil {
		p.g.Log(abi.LevelWarn, "http_request: "+err.Error())
		return nil
	}
	p.status, p.headers = got.Status, got.Headers
	if got.Text != "" {
		return []byte(got.Text)
	}
	return got.Bytes
}
