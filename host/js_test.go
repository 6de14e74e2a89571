package host_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/door/web/memories"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/forget/forgettest"
	"github.com/companiond/companiond/host/module/js/npm"
	"github.com/companiond/companiond/sdk/scaffold"
)

const mio = `import type { Scene, Vote } from "companion";

export function vote({ message, addressed }: Scene): Vote {
  return { state: "speak", importance: addressed ? 8 : 5, reason: "a talker" };
}

export async function speak({ message }: Scene): Promise<string> {
  const n: number = Number(kv.get("n") ?? 0) + 1;
  kv.set("n", String(n));
  return ` + "`GREETING ${message.from}, for the ${n}th time`" + `;
}
`

// TestTypeScriptInTheFolder: a character is ten lines of text. Saved while the room is open she is there, a mistake is told with its
// place and changes nothing, the next save is heard in the next line, and what she keeps is kept.
func TestTypeScriptInTheFolder(t *testing.T) {
	if npm.QuickJS() == nil {
		t.Skip("built without JavaScript: make build, and -tags npm")
	}
	h := newHome(t)
	h.open("[room.main]\nsilence = \"0s\"\npace = \"0s\"\n")
	says := func(text string) {
		t.Helper()
		h.say("main", "taro", "and now?")
		h.until(text, func() bool {
			all := h.messages("main")
			return len(all) > 0 && all[len(all)-1].Text == text
		})
	}
	at := func(generation uint64) func() bool {
		return func() bool {
			c := h.companion("mio")
			return c.State == "ready" && c.Generation == generation && c.Error == "" && c.Engine == "js"
		}
	}
	h.save("mio.ts", []byte(strings.Replace(mio, "GREETING", "Hello", 1)))
	h.until("she is there", at(1))
	says("Hello taro, for the 1th time")
	h.save("mio.ts", []byte(strings.Replace(mio, "Number(kv", "Number((kv", 1)))
	h.until("the mistake is told", func() bool { return strings.Contains(h.companion("mio").Error, "(mio.ts:8:") })
	says("Hello taro, for the 2th time")
	h.save("mio.ts", []byte(strings.Replace(mio, "GREETING", "Hi", 1)))
	h.until("she is another", at(2))
	says("Hi taro, for the 3th time")
	h.save("mio.ts", []byte(strings.Replace(mio, "return `GREETING", "throw new Error(`GREETING", 1)))
	h.until("this is a mistake, too", func() bool { return strings.Contains(h.companion("mio").Error, "(mio.ts:") })
	h.save("mio.ts", []byte(strings.Replace(mio, "kv.set(", "kv.put(", 1)))
	h.until("she is a third", at(3))
	h.say("main", "taro", "and now?")
	h.until("what she throws is in the journal", func() bool {
		for _, e := range h.kinds(entry.KindFailed) {
			if b, err := entry.Decode[entry.Failed](e); err == nil && strings.Contains(b.Error, "TypeError: not a function (mio.ts:9:") {
				return true
			}
		}
		return false
	})
}

// TestForgottenInVariables: what a character has in variables is gone when words are erased, also where it cannot be loaded anew,
// because its file has a mistake by now.
func TestForgottenInVariables(t *testing.T) {
	if npm.QuickJS() == nil {
		t.Skip("built without JavaScript: make build, and -tags npm")
	}
	h := newHome(t)
	h.open("[room.main]\nsilence = \"0s\"\npace = \"0s\"\n")
	says := func(who, text string) {
		t.Helper()
		h.say("main", who, "a secret of "+who)
		h.until(text, func() bool {
			all := h.messages("main")
			return len(all) > 0 && all[len(all)-1].Text == text
		})
	}
	h.save("mio.js", []byte(`
const told = [];
export function vote() { return { state: "speak", importance: 5 } }
export function speak({ message }) { told.push(message.text); return "I know of " + told.length }
`))
	h.until("she is there", func() bool { return h.companion("mio").State == "ready" })
	says("mika", "I know of 1")
	says("taro", "I know of 2")
	h.save("mio.js", []byte("const told = ["))
	h.until("the mistake is told", func() bool { return h.companion("mio").Error != "" })
	var o memories.Order
	h.send("POST", "/v1/forget", `{"who":"mika","confirm":"mika"}`, &o)
	h.settled(o)
	if c := h.companion("mio"); c.Generation != 1 {
		t.Errorf("she is %+v", c)
	}
	says("taro", "I know of 1")
}

// TestNewCharacterInTypeScript: what companiond new writes is a character, in a folder, that talks and remembers how often.
func TestNewCharacterInTypeScript(t *testing.T) {
	if npm.QuickJS() == nil {
		t.Skip("built without JavaScript: make build, and -tags npm")
	}
	h := newHome(t)
	h.open("[room.main]\nsilence = \"0s\"\npace = \"0s\"\n")
	if _, err := (scaffold.Folder{Name: "momo", Kind: scaffold.Character, Lang: scaffold.TypeScript}).Write(filepath.Join(h.dir, "characters")); err != nil {
		t.Fatal(err)
	}
	h.until("she is there", func() bool { return h.companion("momo").State == "ready" })
	for _, want := range []string{"Hello taro! You said “Momo, hello!”?", "You said “Momo, hello!”! Tell me more, taro."} {
		h.say("main", "taro", "Momo, hello!")
		h.until(want, func() bool {
			all := h.messages("main")
			return len(all) > 0 && all[len(all)-1].Text == want
		})
	}
}

// TestFriendForgets: the example that knows people calls them by the names that they told, also after a restart; one who is forgotten is
// asked again, and no file of the state directory has the name.
func TestFriendForgets(t *testing.T) {
	if npm.QuickJS() == nil {
		t.Skip("built without JavaScript: make build, and -tags npm")
	}
	friend, err := os.ReadFile("../sdk/examples/typescript/friend.ts")
	if err != nil {
		t.Fatal(err)
	}
	const toml = "[room.main]\nmax_turns = 1\nsilence = \"0s\"\npace = \"0s\"\n"
	h := newHome(t)
	h.save("friend.ts", friend)
	h.open(toml)
	answered := func(from, text string) string {
		t.Helper()
		n := len(h.messages("main"))
		h.say("main", from, text)
		var all []abi.Message
		h.until("she answers", func() bool { all = h.messages("main"); return len(all) > n+1 && all[len(all)-1].From == "friend" })
		return all[len(all)-1].Text
	}
	for _, step := range []struct{ from, says, want string }{
		{"taro", "Hello there.", "What may I call you?"}, {"taro", "My name is Haruko.", "Haruko! I will remember that."}, {"ken", "Call me Kenji!", "Kenji! I will remember that."},
	} {
		if got := answered(step.from, step.says); got != step.want {
			t.Fatalf("%s says %q and is answered %q, want %q", step.from, step.says, got, step.want)
		}
	}
	h.stop()
	h.open(toml)
	lines := map[string]bool{}
	for n := range 4 {
		lines[answered("taro", "It went on, "+strings.Repeat("and on, ", n)+"and that was it.")] = true
	}
	if len(lines) != 4 || !lines["Go on, Haruko, I am listening."] {
		t.Errorf("she says %q", slices.Sorted(maps.Keys(lines)))
	}
	var o memories.Order
	h.send("POST", "/v1/forget", `{"who":"taro","confirm":"taro"}`, &o)
	if o = h.settled(o); o.State != "done" {
		t.Errorf("%+v", o)
	}
	named := 0
	for n := range 4 {
		if strings.Contains(answered("ken", "My cat does that, too."+strings.Repeat(" And more.", n)), "Kenji") {
			named++
		}
	}
	if named != 2 {
		t.Errorf("another is called %d times by its name", named)
	}
	if got := answered("taro", "Hello there."); got != "What may I call you?" {
		t.Errorf("she answers %q", got)
	}
	h.stop()
	if found := forgettest.Left(t, h.dir+"/state", "Haruko"); len(found) > 0 {
		t.Errorf("still there: %s", strings.Join(found, "\n"))
	}
}

// TestExtismInTheFolder: a file for Extism is told by its imports; this one answers nothing.
func TestExtismInTheFolder(t *testing.T) {
	h := newHome(t)
	h.open("")
	h.save("pip.wasm", []byte("\x00asm\x01\x00\x00\x00"+"\x01\x06\x01\x60\x01\x7e\x01\x7e"+
		"\x02\x19\x01\x0fextism:host/env\x05alloc\x00\x00"+"\x05\x03\x01\x00\x01"+"\x07\x0a\x01\x06memory\x02\x00"))
	h.until("it is refused for what it lacks", func() bool {
		return strings.Contains(h.companion("pip").Error, "it exports no function of these: vote, ")
	})
}
