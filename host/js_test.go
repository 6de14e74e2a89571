package host_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/companiond/companiond/host/door/web/memories"
	"github.com/companiond/companiond/host/entry"
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
	if _, err := (scaffold.Folder{Name: "momo", Kind: scaffold.Character, Script: true}).Write(filepath.Join(h.dir, "characters")); err != nil {
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
