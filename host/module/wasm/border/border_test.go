package border_test

import (
	"strings"
	"testing"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/module/wasm/border"
	"github.com/companiond/companiond/host/module/wasm/fuel"
)

// The sections of a file: a type () -> (), a function of it, a page of memory, exports of memory and of the function under a name, code.
const (
	types  = "\x01\x04\x01\x60\x00\x00"
	funcs  = "\x03\x02\x01\x00"
	memory = "\x05\x03\x01\x00\x01"
	code   = "\x0a\x04\x01\x02\x00\x0b"
)

func exports(name string) string {
	all := "\x02\x06memory\x02\x00" + string(rune(len(name))) + name + "\x00\x00"
	return "\x07" + string(rune(len(all))) + all
}

// TestCheck: a file is held to the rules for what it imports; the engine's tests have all that is refused.
func TestCheck(t *testing.T) {
	for _, c := range []struct{ name, export, says string }{
		{"call", "call", ""}, {"other", "", ""}, {"_start", "", ""},
		{"other", "call", "does not export the function call(i32) -> i32"},
		{"_start", "call", "the module is a command"},
	} {
		file := fuel.Header + types + funcs + memory + exports(c.name) + code
		m, err := border.Check([]byte(file), 64<<10, func(imports []fuel.Import) border.Rules {
			if len(imports) != 0 {
				t.Errorf("it imports %v", imports)
			}
			return border.Rules{Known: border.Known{}, Export: c.export}
		})
		if c.says == "" && (err != nil || m.Pages != 1) || c.says != "" && (abi.CodeOf(err) != abi.CodeInvalid || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%+v: %+v, %v", c, m, err)
		}
		if _, err := border.Check([]byte(file), 1000, func([]fuel.Import) border.Rules { return border.Rules{} }); abi.CodeOf(err) != abi.CodeTooLarge {
			t.Errorf("with little memory: %v", err)
		}
	}
}

// TestPrepare: a file is rewritten where it is to ask for leave, and what is broken is refused in words.
func TestPrepare(t *testing.T) {
	file := []byte(fuel.Header + types + funcs + memory + exports("call") + code)
	free, err := border.Prepare(file, 0)
	guarded, err2 := border.Prepare(file, 1000)
	if err != nil || err2 != nil || strings.Contains(string(free), fuel.ImportModule) || !strings.Contains(string(guarded), fuel.ImportModule) {
		t.Errorf("%v, %v: %q, %q", err, err2, free, guarded)
	}
	if _, err := border.Prepare(file[:len(file)-1], 1000); abi.CodeOf(err) != abi.CodeInvalid {
		t.Errorf("half a file: %v", err)
	}
}

// TestReply: status and reply have to fit.
func TestReply(t *testing.T) {
	for _, c := range []struct {
		status  uint32
		reply   string
		written bool
		says    string
	}{
		{0, `{"ok":{}}`, true, ""}, {0, `{"error":{"code":"invalid","message":"no"}}`, true, ""}, {1, `{"error":{"code":"invalid","message":"no"}}`, true, ""},
		{1, `{"ok":{}}`, true, `returned 1, for an error, but replied "ok"`},
		{2, `{"ok":{}}`, true, "returned 2, which is neither"}, {0, "", false, "returned 0 without a reply"}, {0, "no", true, "no JSON reply"},
	} {
		data, guest, err := border.Reply(c.status, []byte(c.reply), c.written)
		if c.says == "" && (err != nil || (data == nil) == (guest == nil)) || c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%+v: %s, %v, %v", c, data, guest, err)
		}
	}
}
