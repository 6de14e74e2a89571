package form

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/companiond/companiond/abi"
)

// all are the forms with texts that they take: what these become, or "!" and a part of
// what is said against them.
func all() map[string]struct {
	form  Form
	takes map[string]string
} {
	long := strings.Repeat("a", 300)
	return map[string]struct {
		form  Form
		takes map[string]string
	}{
		"loopback": {Loopback, map[string]string{"localhost:80": "localhost:80", "[::1]:0": "[::1]:0", "127.0.0.2:1": "127.0.0.2:1", "a:b": "!is not host:port", ":80": "!other machines", "0.0.0.0:80": "!other machines", "a.b:80": "!other machines"}},
		"address":  {Address, map[string]string{"localhost:80": "localhost:80", ":0": ":0", "a:b": "!is not host:port", "a:70000": "!outside 0..65535"}},
		"host":     {Host, map[string]string{"Studio": "studio", "[::1]": "[::1]", "a:80": `!try "a"`, "あ": "!is not a host name"}},
		"origin":   {Origin, map[string]string{"HTTPS://A:443": "https://a", "tauri://b:1": "tauri://b:1", "a.example": `!try "https://a.example"`}},
		"url":      {URL, map[string]string{"": "", "http://a/v1/": "http://a/v1", "http://u:geheim@a": "!must not hold a user", "ftp://a": "!is not an http://"}},
		"path":     {Path, map[string]string{"/a b": "/a b", "": "!must not be empty", "a\x00": "!is not a path"}},
		"web":      {Web, map[string]string{"API.Example.com": "api.example.com", "a:8080": "a:8080", "[::1]:80": "[::1]:80", "[::1]": "[::1]", "*.a.example": "!write out each host", "https://a.example/x": `!try "a.example"`, "a:0": "!outside 1..65535", "a b": "!is not a host"}},
		"program":  {Program, map[string]string{"voice": "voice", "": "!must not be empty", "../a": "!is not the name of a file", ".a": "!is not the name", "a~": "!leave behind"}},
		"sha256":   {SHA256, map[string]string{strings.Repeat("aB", 32): strings.Repeat("ab", 32), "ab": "!64 hex digits", strings.Repeat("g", 64): "!64 hex digits"}},
		"secret":   {Secret("x"), map[string]string{"": "", "credential:y": "credential:y", "credential:": `!try "credential:x"`}},
		"key":      {Key, map[string]string{"a.key": "a.key", "sk-geheim": "!looks like the key itself"}},
		"name":     {Name("*"), map[string]string{"京子": "京子", "*": "*", "a b": `!may not contain ' '`, "": "!must not be empty"}},
		"agent":    {Agent, map[string]string{"worker-a": "worker-a", "居間": "居間", "*": "!may not contain", "": "!must not be empty", "m\u0456ka": "!mixes scripts"}},
		"title":    {Title, map[string]string{"": "", "実装 Worker (A)": "実装 Worker (A)", " a": "!spaces around", "a\nb": "!U+000A", "a\u202eb": "!U+202E", long: "!300 characters"}},
		"argument": {Argument, map[string]string{"": "", "-p": "-p", "a b\n": "a b\n", "a\x00": "!byte 0", strings.Repeat("a", 5000): "!5000 bytes", "--key=sk-geheim89012345678": "!looks like a token", "cms_" + long[:43]: "!looks like a token", "sk-short": "sk-short"}},
		"grant":    {Grant, map[string]string{abi.HostSay: abi.HostSay, "sya": `!did you mean "say"`, "self.info": "!is always granted"}},
		"without":  {Without, map[string]string{"tools": "tools", "tolls": `!did you mean "tools"`}},
		"short":    {Short, map[string]string{"": "", long: "!300 bytes"}},
	}
}

func TestForms(t *testing.T) {
	for name, c := range all() {
		for s, want := range c.takes {
			got, f := c.form(s)
			said, refused := strings.CutPrefix(want, "!")
			switch {
			case refused != (f != nil), !refused && got != want:
				t.Errorf("%s: %q became %q, %+v", name, s, got, f)
			case refused && (got != "" || !strings.Contains(f.Message+f.Hint, said)):
				t.Errorf("%s: of %q is said %+v", name, s, f)
			case refused && strings.Contains(f.Message+f.Hint, "geheim"):
				t.Errorf("%s shows a secret: %+v", name, f)
			}
		}
	}
}

// TestOneSpelling: what a form gives is what it gives of that again, and a refusal has words.
func TestOneSpelling(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.OneOf(rapid.String(), rapid.StringMatching(`[a-zA-Z]{0,5}(://)?[a-z\[\].:@/0-9-]{0,12}`)).Draw(t, "text")
		for name, c := range all() {
			got, f := c.form(s)
			if f != nil {
				if got != "" || f.Message == "" {
					t.Fatalf("%s: %q became %q and %+v", name, s, got, f)
				}
				continue
			}
			if again, f := c.form(got); f != nil || again != got {
				t.Fatalf("%s: %q became %q, and that %q, %+v", name, s, got, again, f)
			}
		}
	})
}

func TestShow(t *testing.T) {
	if got := Show(strings.Repeat("あ", 61)); got != `"`+strings.Repeat("あ", 60)+`…"` {
		t.Errorf("got %s", got)
	}
	if Show("a\n") != `"a\n"` || Meant("") != "" || Meant("a") != `did you mean "a"?` {
		t.Error("words")
	}
}
