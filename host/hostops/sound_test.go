package hostops

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/blob"
	"github.com/companiond/companiond/host/module"
	"github.com/companiond/companiond/host/rooms"
)

// listening is a room that is told how lines sound, and nothing else.
type listening struct {
	rooms.Room
	who, by string
	heard   []abi.Sound
}

func (l *listening) Sound(_ context.Context, who, by string, s abi.Sound) error {
	l.who, l.by = who, by
	l.heard = append(l.heard, s)
	return nil
}

// TestSoundsOfModules: a module that is granted it puts blobs, gets them, and tells a companion's home room how a part of a line
// sounds: only what bodies could play comes there.
func TestSoundsOfModules(t *testing.T) {
	home := new(listening)
	ops := &Ops{Blobs: blob.New(4 << 10)}
	may := func(c module.Caller, s *abi.Sound) error {
		if s.Companion == "mei" {
			return abi.Errorf(abi.CodeDenied, "%s does not act for %s", c.Companion, s.Companion)
		}
		return nil
	}
	ops.Sound = InHome(may, func(_ context.Context, companion string) (rooms.Room, error) {
		if companion != "aya" {
			return nil, abi.Errorf(abi.CodeNotFound, "companion: %q lives in no room", companion)
		}
		return home, nil
	})
	calls := module.Grants(func(id string) []string {
		if id == "voice" {
			return []string{abi.HostSoundEmit, abi.HostBlobPut, abi.HostBlobGet}
		}
		return nil
	}).Guard(ops)
	ask := func(who, op string, data any) (json.RawMessage, error) {
		raw, err := json.Marshal(data)
		if err != nil {
			t.Fatal(err)
		}
		return calls.HostCall(t.Context(), module.Caller{Companion: who}, op, raw)
	}
	put := func(kind, text string) (ref abi.BlobRef) {
		t.Helper()
		answer, err := ask("voice", abi.HostBlobPut, abi.Blob{Type: kind, Bytes: []byte(text)})
		if err == nil {
			err = json.Unmarshal(answer, &ref)
		}
		if err != nil || len(ref.Hash) != 64 || ref.URL != "/v1/blobs/"+ref.Hash || ref.Type != kind {
			t.Fatalf("%+v, %v", ref, err)
		}
		return ref
	}
	audio, mouth, picture := put("audio/wav", "RIFF....WAVE!"), put("application/json", `[{"ms":40,"open":0.8,"shape":"a"},{"ms":20,"open":0}]`), put("image/png", "\x89PNG\r\n\x1a\n")
	odd, wide, back := put("application/json", `{"ms":1}`), put("application/json", `[{"ms":40,"open":1.5}]`), put("application/json", `[{"ms":-1,"open":0}]`)
	none, holes := put("application/json", `null`), put("application/json", `[{"ms":40,"open":1},null]`)
	long, odds := put("application/json", `[{"ms":599999,"open":0},{"ms":2,"open":0}]`), put("application/json", `[{"ms":4,"open":0,"shape":"`+strings.Repeat("a", 17)+`"}]`)
	huge, whole := put("application/json", `[{"ms":9000000000000000000,"open":0},{"ms":9000000000000000000,"open":0}]`), put("application/json", `[{"ms":600000,"open":1,"shape":"`+strings.Repeat("a", 16)+`"}]`)
	var b abi.Blob
	if answer, err := ask("voice", abi.HostBlobGet, audio); err != nil || json.Unmarshal(answer, &b) != nil || b.Type != "audio/wav" || string(b.Bytes) != "RIFF....WAVE!" {
		t.Errorf("%s, %v", answer, err)
	}
	good := abi.Sound{Companion: "aya", Line: "g1", Part: 1, Blob: audio, Mouth: mouth, Seconds: 1}
	with := func(change func(*abi.Sound)) abi.Sound { s := good; change(&s); return s }
	for name, tc := range map[string]struct {
		who, op string
		data    any
		code    abi.Code
		says    string
	}{
		"not granted":         {"aya", abi.HostSoundEmit, good, abi.CodeDenied, `"sound.emit" is not granted to aya`},
		"blobs neither":       {"aya", abi.HostBlobPut, b, abi.CodeDenied, "not granted"},
		"no sound":            {"voice", abi.HostBlobPut, abi.Blob{Type: "audio/wav", Bytes: []byte("<html>")}, abi.CodeInvalid, "bytes: these 6 bytes are no audio/wav"},
		"not kept":            {"voice", abi.HostBlobGet, abi.BlobRef{Hash: "00"}, abi.CodeNotFound, "hash:"},
		"a sound":             {"voice", abi.HostSoundEmit, good, "", "{}"},
		"without a mouth":     {"voice", abi.HostSoundEmit, with(func(s *abi.Sound) { s.Mouth = abi.BlobRef{} }), "", "{}"},
		"none, and why":       {"voice", abi.HostSoundEmit, abi.Sound{Companion: "aya", Line: "g1", Part: 2, Failed: "no voice"}, "", "{}"},
		"no blob":             {"voice", abi.HostSoundEmit, with(func(s *abi.Sound) { s.Blob.Hash = "" }), abi.CodeNotFound, "blob: no blob"},
		"a picture":           {"voice", abi.HostSoundEmit, with(func(s *abi.Sound) { s.Blob = picture }), abi.CodeInvalid, "blob: is of the type image/png, must be audio/wav"},
		"a mouth of sound":    {"voice", abi.HostSoundEmit, with(func(s *abi.Sound) { s.Mouth = audio }), abi.CodeInvalid, "mouth: is of the type audio/wav"},
		"a mouth of no list":  {"voice", abi.HostSoundEmit, with(func(s *abi.Sound) { s.Mouth = odd }), abi.CodeInvalid, "mouth: is no list"},
		"a mouth too wide":    {"voice", abi.HostSoundEmit, with(func(s *abi.Sound) { s.Mouth = wide }), abi.CodeInvalid, "mouth: shape 0: 40 ms, open 1.5"},
		"a mouth before that": {"voice", abi.HostSoundEmit, with(func(s *abi.Sound) { s.Mouth = back }), abi.CodeInvalid, "mouth: shape 0: -1 ms"},
		"a mouth of nothing":  {"voice", abi.HostSoundEmit, with(func(s *abi.Sound) { s.Mouth = none }), abi.CodeInvalid, "mouth: is no list"},
		"a mouth with holes":  {"voice", abi.HostSoundEmit, with(func(s *abi.Sound) { s.Mouth = holes }), abi.CodeInvalid, "mouth: shape 1: is null"},
		"a mouth too long":    {"voice", abi.HostSoundEmit, with(func(s *abi.Sound) { s.Mouth = long }), abi.CodeTooLarge, "mouth: is longer than 10m0s"},
		"a mouth for ever":    {"voice", abi.HostSoundEmit, with(func(s *abi.Sound) { s.Mouth = huge }), abi.CodeTooLarge, "mouth: is longer than 10m0s"},
		"a mouth of words":    {"voice", abi.HostSoundEmit, with(func(s *abi.Sound) { s.Mouth = odds }), abi.CodeTooLarge, "mouth: shape 0: 17 bytes"},
		"as long as it may":   {"voice", abi.HostSoundEmit, with(func(s *abi.Sound) { s.Mouth = whole }), "", "{}"},
		"somebody unknown":    {"voice", abi.HostSoundEmit, with(func(s *abi.Sound) { s.Companion = "kyoko" }), abi.CodeNotFound, `"kyoko" lives in no room`},
		"somebody else's":     {"voice", abi.HostSoundEmit, with(func(s *abi.Sound) { s.Companion = "mei" }), abi.CodeDenied, "voice does not act for mei"},
		"a number":            {"voice", abi.HostSoundEmit, 7, abi.CodeInvalid, "data"},
	} {
		home.heard = nil
		answer, err := ask(tc.who, tc.op, tc.data)
		told := string(answer)
		if err != nil {
			told = err.Error()
		}
		if abi.CodeOf(err) != tc.code || !strings.Contains(told, tc.says) {
			t.Errorf("%s: %s, want %s", name, told, tc.says)
		}
		if want := tc.op == abi.HostSoundEmit && tc.code == ""; want != (len(home.heard) == 1) || want && (home.heard[0] != tc.data || home.who != "aya" || home.by != "voice") {
			t.Errorf("%s: the room is told %+v", name, home.heard)
		}
	}
	ops.Blobs.Clear()
	if _, err := ask("voice", abi.HostSoundEmit, good); abi.CodeOf(err) != abi.CodeNotFound {
		t.Errorf("of what was erased: %v", err)
	}
	many := "[" + strings.Repeat(`{"ms":1},`, mostVisemes) + `{"ms":1}]`
	ops.Blobs = blob.New(blob.MaxKept)
	good.Blob, good.Mouth = put("audio/wav", "RIFF....WAVE!"), put("application/json", many)
	if _, err := ask("voice", abi.HostSoundEmit, good); abi.CodeOf(err) != abi.CodeTooLarge {
		t.Errorf("a long mouth: %v", err)
	}
	for _, none := range []*Ops{{}, {Blobs: ops.Blobs}} {
		if _, err := none.HostCall(t.Context(), module.Caller{}, abi.HostSoundEmit, nil); abi.CodeOf(err) != abi.CodeUnavailable {
			t.Errorf("where nobody takes sounds: %v", err)
		}
	}
}
