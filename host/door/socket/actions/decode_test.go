package actions

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
)

// A result that is taken has, whatever the client sends, an id that can be one, a
// refusal is an *abi.Error, and the answer made of it is JSON.
func FuzzReadResult(f *testing.F) {
	f.Add([]byte(`{"id":"a","ok":true}`))
	f.Add([]byte(`{"id":"a","ok":false,"reason":"\ud800"}`))
	f.Add([]byte(`{"ID":7,"Ok":null}`))
	f.Add([]byte(`{"id":"a","ok":true,"body":{"sees":"a cat"}}`))
	f.Fuzz(func(t *testing.T, message []byte) {
		r, err := readResult(message)
		if len(r.ID) > maxActionID || (err == nil && r.ID == "") || r.Answer != nil && !json.Valid(r.Answer) {
			t.Fatalf("%+v %v", r, err)
		}
		if err == nil {
			return
		}
		if abi.CodeOf(err) != abi.CodeInvalid {
			t.Fatal(err)
		}
		if frame := Refusal(r.ID, abi.AsError(err)); !json.Valid(frame) {
			t.Fatalf("%q", frame)
		}
	})
}

// What a body or a microphone says is taken, or is refused with the field that is wrong; what
// is taken names a line that can be one.
func FuzzReadWords(f *testing.F) {
	f.Add([]byte(`{"line":"g1","played":1}`))
	f.Add([]byte(`{"line":5,"played":-1}`))
	f.Add([]byte(`{"line":"g1","part":1.5,"seconds":1e999}`))
	f.Add([]byte(`{"Speaking":true,"from":"taro"}`))
	f.Fuzz(func(t *testing.T, message []byte) {
		p, ok, err := readPlayed(message)
		if len(p.Line) > maxActionID || ok && err == nil && (p.Line == "" || !p.Done && p.Failed == "" && p.Seconds <= 0 && p.Part < 1) {
			t.Fatalf("%+v", p)
		}
		_, _, wrong := ReadSpeaking(message)
		for _, err := range []error{err, wrong} {
			if err != nil && (abi.CodeOf(err) != abi.CodeInvalid || abi.AsError(err).Field == "") {
				t.Fatal(err)
			}
		}
	})
}

// A call that is taken is answered with its own id, or null.
func FuzzReadCall(f *testing.F) {
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"method":"subscribe","params":{"sessionId":"a"}}`))
	f.Add([]byte(`{"jsonrpc":"2.0","id":"\u0000","method":"x"}`))
	f.Add([]byte(`{"jsonrpc":"2.0","id":[],"method":"x","params":null}`))
	f.Fuzz(func(t *testing.T, message []byte) {
		k, ok := ReadCall(message)
		if !ok {
			return
		}
		id := k.ID
		if k.CheckID() != nil {
			id = nil
		}
		frame := CallRefusal(id, UnknownMethod, abi.Errorf(abi.CodeUnknownOp, "method: %q", k.Method))
		var a rpcAnswer
		if err := json.Unmarshal(frame, &a); err != nil {
			t.Fatalf("%q: %v", frame, err)
		}
		want := []byte("null")
		if id != nil {
			want = id
		}
		if !bytes.Contains(frame, append([]byte(`"id":`), want...)) && !bytes.ContainsAny(id, "<>&\u2028\u2029") && bytes.Equal(bytes.ToValidUTF8(id, nil), id) {
			t.Fatalf("%q is answered with %q", id, frame)
		}
	})
}

// What is offered has a name that can be one, and however much comes is bounded.
func FuzzOffer(f *testing.F) {
	f.Add([]byte(`{"offer":[{"name":"wave","schema":{"type":"object"}}],"withdraw":["x"]}`))
	f.Add([]byte(`{"offer":[{"name":"a b"}]}`))
	f.Add([]byte(`{"offer":{},"withdraw":null}`))
	f.Fuzz(func(t *testing.T, message []byte) {
		var w Wire
		o, ok, err := w.readOffer(message, time.Unix(1, 0))
		if !ok && (err != nil || len(o.Actions)+len(o.Withdraw) > 0) || len(o.Actions)+len(o.Withdraw) > maxOffers {
			t.Fatalf("%+v %v %v", o, ok, err)
		}
		for _, a := range o.Actions {
			if abi.CheckName("name", a.Title) != nil {
				t.Fatalf("%q", a.Title)
			}
		}
	})
}
