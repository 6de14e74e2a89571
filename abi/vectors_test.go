package abi_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/companiond/companiond/abi"
)

// vector is one conversation between a host and the echo, the reference
// character that ABI.md describes. Every SDK runs them all.
type vector struct {
	Name  string `json:"name"`
	About string `json:"about"`
	Steps []struct {
		Request json.RawMessage `json:"request,omitempty"` // what the host sends
		Raw     *string         `json:"raw,omitempty"`     // or these bytes, which are no good request
		Host    []struct {
			Expect json.RawMessage `json:"expect"` // what the guest asks with host_call
			Answer json.RawMessage `json:"answer"` // what it is told
		} `json:"host,omitempty"`
		Reply json.RawMessage `json:"reply,omitempty"` // the reply, as JSON equal to this
		Fails abi.Code        `json:"fails,omitempty"` // or an error with this code and some message
	} `json:"steps"`
}

func vectors(t *testing.T) (all []vector) {
	t.Helper()
	files, err := filepath.Glob("testdata/*.json")
	if err != nil || len(files) < 6 {
		t.Fatalf("vectors: %v, %v", files, err)
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		var vs []vector
		strict(t, f, b, &vs)
		all = append(all, vs...)
	}
	return all
}

// strict decodes and refuses fields the type does not have.
func strict(t *testing.T, where string, b []byte, v any) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		t.Fatalf("%s: %v in %.200s", where, err, b)
	}
}

// same decodes b strictly into v and checks that v encodes to the same JSON,
// so that neither the vectors nor the types have a field the other lacks.
func same(t *testing.T, where string, b []byte, v any) {
	t.Helper()
	strict(t, where, b, v)
	again, err := json.Marshal(v)
	if err != nil {
		t.Fatalf("%s: %v", where, err)
	}
	var want, got any
	if json.Unmarshal(b, &want) != nil || json.Unmarshal(again, &got) != nil {
		t.Fatalf("%s: no JSON", where)
	}
	if !reflect.DeepEqual(want, got) {
		t.Errorf("%s:\n have %s\n encodes to %s", where, b, again)
	}
}

// data gives new values for the data of an op and of its answer.
var data = map[string][2]func() any{
	abi.OpDescribe:     {nil, of[abi.Description]},
	abi.OpVote:         {of[abi.Scene], of[abi.Vote]},
	abi.OpSpeak:        {of[abi.Scene], of[abi.Line]},
	abi.OpCompress:     {of[abi.Compressing], of[abi.Compressed]},
	abi.OpVerify:       {of[abi.Verifying], of[abi.Verified]},
	abi.HostNow:        {nil, of[abi.Now]},
	abi.HostRandom:     {of[abi.RandomAsk], of[abi.Random]},
	abi.HostKVGet:      {of[abi.KVKey], of[abi.KVValue]},
	abi.HostKVSet:      {of[abi.KVPair], of[struct{}]},
	abi.HostKVDel:      {of[abi.KVKey], of[abi.KVValue]},
	abi.HostKVList:     {of[abi.KVListAsk], of[abi.KVKeys]},
	abi.HostHistoryGet: {of[abi.HistoryAsk], of[abi.History]},
	abi.HostSelfInfo:   {nil, of[abi.SelfInfo]},
}

func of[T any]() any { return new(T) }

// open are vectors that say more than the types on purpose.
var open = map[string]bool{"unknown fields": true, "host says more": true}

// The vectors are what the types say, in both directions, and leave no op out.
func TestVectors(t *testing.T) {
	seen := map[string]bool{}
	names := map[string]bool{}
	for _, v := range vectors(t) {
		if v.Name == "" || v.About == "" || names[v.Name] {
			t.Errorf("vector %q needs a name of its own and a word about it", v.Name)
		}
		names[v.Name] = true
		for _, s := range v.Steps {
			if (s.Request == nil) == (s.Raw == nil) || (s.Reply == nil) == (s.Fails == "") {
				t.Errorf("%s: a step has a request or raw bytes, and a reply or a code", v.Name)
			}
			if open[v.Name] {
				continue
			}
			op := ""
			if s.Request != nil {
				op = pair(t, v.Name, s.Request, nil)
				seen[op] = true
			}
			for _, h := range s.Host {
				seen[pair(t, v.Name, h.Expect, h.Answer)] = true
			}
			if s.Reply != nil {
				reply(t, v.Name, op, s.Reply)
			}
		}
	}
	for op := range data {
		if !seen[op] {
			t.Errorf("no vector has %s", op)
		}
	}
}

// pair checks a request and, if there is one, its answer.
func pair(t *testing.T, where string, request, answer []byte) string {
	t.Helper()
	var r abi.Request
	same(t, where, request, &r)
	if kinds, ok := data[r.Op]; ok && kinds[0] != nil {
		same(t, where+" "+r.Op, r.Data, kinds[0]())
	} else if ok && r.Data != nil {
		t.Errorf("%s: %s has no data", where, r.Op)
	}
	if answer != nil {
		reply(t, where, r.Op, answer)
	}
	return r.Op
}

// reply checks a reply to op.
func reply(t *testing.T, where, op string, b []byte) {
	t.Helper()
	var r abi.Reply
	same(t, where, b, &r)
	if (r.OK == nil) == (r.Error == nil) {
		t.Errorf("%s: a reply is ok or an error: %s", where, b)
	}
	if r.OK != nil {
		if kinds, ok := data[op]; ok {
			same(t, where+" reply to "+op, r.OK, kinds[1]())
		}
	}
}
