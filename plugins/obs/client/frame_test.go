package client

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/companiond/companiond/plugins/obs/obstest"
)

// TestProof: what is answered to a challenge, as openssl computes it by the protocol:
//
//	secret=$(printf %s "$password$salt" | openssl dgst -sha256 -binary | base64)
//	printf %s "$secret$challenge" | openssl dgst -sha256 -binary | base64
func TestProof(t *testing.T) {
	for _, x := range []struct{ password, salt, challenge, want string }{
		{"supersecretpassword", "lM1GncleQOaCu9lT1yeUZhFYnhhsLL1G5lGBNGIPsRM=", "+IxH4CnCiqpX1rM9scsNynZzbOe4KhDeYcTNS3PDaeY=", "oHpgQGmR7YGkkuPCobwhcU/JEQuOTzp9N9zplaWnbVs="},
		{obstest.Password, obstest.Salt, obstest.Challenge, obstest.Proof},
		{"", "", "", "XEB0z23rR/W2r5xf4+C70OQrlZb+iKxU1ca275h+DyA="},
	} {
		if got := proof(x.password, challenge{x.challenge, x.salt}); got != x.want {
			t.Errorf("%q: %s, want %s", x.password, got, x.want)
		}
	}
}

// TestFrames: what goes out, letter by letter.
func TestFrames(t *testing.T) {
	for _, x := range []struct {
		op   int
		d    any
		want string
	}{
		{opIdentify, identify{RPC: 1}, `{"op":1,"d":{"rpcVersion":1,"eventSubscriptions":0}}`},
		{opIdentify, identify{RPC: 1, Authentication: "a+/="}, `{"op":1,"d":{"rpcVersion":1,"authentication":"a+/=","eventSubscriptions":0}}`},
		{opRequest, request{"GetVersion", "1", nil}, `{"op":6,"d":{"requestType":"GetVersion","requestId":"1"}}`},
		{opRequest, request{"SetInputSettings", "2", map[string]any{"inputName": "字幕", "overlay": true}}, `{"op":6,"d":{"requestType":"SetInputSettings","requestId":"2","requestData":{"inputName":"字幕","overlay":true}}}`},
	} {
		if got, err := encode(x.op, x.d); err != nil || string(got) != x.want {
			t.Errorf("%s, %v; want %s", got, err, x.want)
		}
	}
	if _, err := encode(opRequest, func() {}); err == nil {
		t.Error("a function was written")
	}
}

// TestDecode: what comes in, as OBS 29 says it.
func TestDecode(t *testing.T) {
	var h hello
	const greets = `{"d":{"authentication":{"challenge":"c","salt":"s"},"obsWebSocketVersion":"5.1.0","rpcVersion":1},"op":0}`
	if err := decode([]byte(greets), opHello, &h); err != nil || h.Version != "5.1.0" || h.RPC != 1 || *h.Authentication != (challenge{"c", "s"}) {
		t.Errorf("%+v, %v", h, err)
	}
	h = hello{}
	if err := decode([]byte(`{"d":{"obsWebSocketVersion":"5.1.0","rpcVersion":1},"op":0}`), opHello, &h); err != nil || h.Authentication != nil {
		t.Errorf("%+v, %v", h, err)
	}
	for text, why := range map[string]string{`{"op":2,"d":{}}`: "op 2 where 0", `{"op":0,"d":7}`: "cannot be read", `op`: "no JSON"} {
		if err := decode([]byte(text), opHello, &h); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v", text, err)
		}
	}
	const refuses = `{"d":{"requestId":"7","requestStatus":{"code":600,"comment":"No source was found.","result":false},"requestType":"SetInputSettings"},"op":7}`
	r, ok, err := decodeResponse([]byte(refuses))
	if err != nil || !ok || r.ID != "7" || r.Status != (status{false, 600, "No source was found."}) {
		t.Errorf("%+v, %v, %v", r, ok, err)
	}
	if _, ok, err := decodeResponse([]byte(`{"op":5,"d":{"eventType":"ExitStarted"}}`)); ok || err != nil {
		t.Errorf("an event: %v, %v", ok, err)
	}
	for _, text := range []string{`{"op":7,"d":[]}`, `{"op":"7"}`, ``} {
		if _, ok, err := decodeResponse([]byte(text)); ok || err == nil {
			t.Errorf("%q: %v, %v", text, ok, err)
		}
	}
}

// FuzzFrame: whatever comes is read or refused; what is read, and written and read again, is the same.
func FuzzFrame(f *testing.F) {
	f.Add(`{"op":7,"d":{"requestType":"GetVersion","requestId":"1","requestStatus":{"result":true,"code":100},"responseData":{"a":[1]}}}`)
	f.Add(`{"op":0,"d":{"obsWebSocketVersion":"5.1.0","rpcVersion":1,"authentication":{"challenge":"c","salt":"s"}}}`)
	f.Add(`{"op":5,"d":{"eventType":"ExitStarted","eventIntent":1}}`)
	f.Add(`{"op":7,"d":null}`)
	f.Fuzz(func(t *testing.T, text string) {
		var h hello
		if err := decode([]byte(text), opHello, &h); err == nil && h.Authentication != nil {
			_ = proof("secret", *h.Authentication)
		}
		r, ok, err := decodeResponse([]byte(text))
		if err != nil && ok {
			t.Fatalf("read and refused: %v", err)
		}
		if !ok {
			return
		}
		again, err := encode(opResponse, r)
		if err != nil {
			t.Fatal(err)
		}
		second, ok, err := decodeResponse(again)
		if err != nil || !ok || second.ID != r.ID || second.Status != r.Status || !sameJSON(second.Data, r.Data) {
			t.Fatalf("%+v became %+v, %v, %v", r, second, ok, err)
		}
	})
}

func sameJSON(a, b json.RawMessage) bool {
	if len(a) == 0 || len(b) == 0 {
		return len(a) == 0 && string(b) == "" || string(a) == "null" || string(b) == "null"
	}
	x, err := json.Marshal(a)
	y, wrong := json.Marshal(b)
	return err == nil && wrong == nil && string(x) == string(y)
}
