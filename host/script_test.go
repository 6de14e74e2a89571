package host_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const rin = `lang: en
name: Rin
[*]
greet: {hi} GREETING
react: GREETING
unknown: GREETING
`

// TestScriptInTheFolder: a character is its lines, in a text. Saved while the room is open she is there, mistakes are told with their
// lines and change nothing, the next save is heard in the next line.
func TestScriptInTheFolder(t *testing.T) {
	h := newHome(t)
	h.open("[room.main]\nsilence = \"0s\"\npace = \"0s\"\n")
	says := func(text string) {
		t.Helper()
		h.say("main", "taro", "Hello Rin!")
		h.until(text, func() bool {
			all := h.messages("main")
			return len(all) > 0 && all[len(all)-1].Text == text
		})
	}
	at := func(generation uint64) func() bool {
		return func() bool {
			c := h.companion("rin")
			return c.State == "ready" && c.Generation == generation && c.Error == "" && c.Engine == "script" && strings.HasSuffix(c.File, "characters/rin.talk.txt")
		}
	}
	h.save("rin.talk.txt", []byte(strings.ReplaceAll(rin, "GREETING", "I am Rin.")))
	h.until("she is there", at(1))
	says("Hello! I am Rin.")
	h.save("rin.talk.txt", []byte(strings.ReplaceAll(strings.Replace(rin, "react:", "raect:", 1), "unknown:", "unknown")))
	h.until("the mistakes are told", func() bool {
		e := h.companion("rin").Error
		return strings.Contains(e, `rin.talk.txt:5: "raect" is no act of section "*"`) && strings.Contains(e, `rin.talk.txt:6: "unknown GREETING" is no "act: text"`)
	})
	says("I am Rin.")
	h.save("rin.talk.txt", []byte(strings.ReplaceAll(rin, "GREETING", "Rin here.")))
	h.until("she is another", at(2))
	says("Hello! Rin here.")
	if err := os.Remove(filepath.Join(h.dir, "characters", "rin.talk.txt")); err != nil {
		t.Fatal(err)
	}
	h.until("she has left", func() bool { return h.companion("rin").State == "" })
}

// TestScriptBesideModule: a module of WebAssembly that lies in a folder of its own, as the shipped ones did, goes on
// working; where there is a script of the same name in the folder above, the script counts, and the status says so.
func TestScriptBesideModule(t *testing.T) {
	h := newHome(t)
	if err := os.Mkdir(filepath.Join(h.dir, "characters", "rin"), 0o700); err != nil {
		t.Fatal(err)
	}
	h.drop(parrot(t, "one"), "rin/rin.wasm")
	h.open("")
	h.until("the module is there", func() bool { return h.companion("rin").Engine == "wasm" && h.companion("rin").State == "ready" })
	h.save("rin.talk.txt", []byte(rin))
	h.until("both are named", func() bool {
		c := h.companion("rin")
		return c.Engine == "wasm" && strings.Contains(c.Error, "2 files for one companion rin: rin.talk.txt and rin/rin.wasm; keep one (rin/rin.wasm counts)")
	})
	if err := os.Remove(filepath.Join(h.dir, "characters", "rin", "rin.wasm")); err != nil {
		t.Fatal(err)
	}
	h.until("the script has taken over", func() bool { return h.companion("rin").Engine == "script" && h.companion("rin").Error == "" })
}
