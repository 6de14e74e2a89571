package host_test

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/companiond/companiond/host/module/js/npm"
	"github.com/companiond/companiond/sdk/scaffold"
)

// maker is a person at the machine who changes files of characters.
func (h *home) maker(method, path string, text string, header ...string) (status int, answer string) {
	h.t.Helper()
	body := ""
	if text != "" {
		b, _ := json.Marshal(map[string]string{"text": text})
		body = string(b)
	}
	return h.ask(method, path, body, header...)
}

// TestACharacterWithoutAShell: a character is made at a door from what makers are given, talks, is changed while she is in the
// room, a mistake in her changes nothing, and she leaves.
func TestACharacterWithoutAShell(t *testing.T) {
	h := newHome(t)
	h.open("[room.main]\nsilence = \"0s\"\npace = \"0s\"\n")
	var samples struct {
		Samples []struct{ File, Kind, Text string }
	}
	h.get("/v1/character-samples?name=momo&language=en", &samples)
	momo := samples.Samples[0]
	if status, got := h.maker("PUT", "/v1/characters/"+momo.File, momo.Text, "If-None-Match", "*"); status != 200 {
		t.Fatalf("%d %s", status, got)
	}
	h.until("she is there", func() bool { return h.companion("momo").State == "ready" })
	h.say("main", "taro", "Momo, do you like cats?")
	h.until("she answers", func() bool {
		all := h.messages("main")
		return all[len(all)-1].From == "momo"
	})
	var read struct{ Text, Hash string }
	h.get("/v1/characters/"+momo.File, &read)
	tag := `"` + read.Hash + `"`
	status, got := h.maker("PUT", "/v1/characters/"+momo.File, strings.Replace(momo.Text, "tell:", "tall:", 1), "If-Match", tag)
	if status != 400 || !strings.Contains(got, `"location":"body.text:1`) {
		t.Fatalf("%d %s", status, got)
	}
	if status, got = h.maker("PUT", "/v1/characters/"+momo.File, strings.ReplaceAll(momo.Text, "name: Momo", "name: Momoko"), "If-Match", tag); status != 200 {
		t.Fatalf("%d %s", status, got)
	}
	h.until("she is called otherwise", func() bool { c := h.companion("momo"); return c.Name == "Momoko" && c.Generation == 2 && c.Error == "" })
	h.get("/v1/characters/"+momo.File, &read)
	if status, got = h.maker("DELETE", "/v1/characters/"+momo.File, "", "If-Match", `"`+read.Hash+`"`); status != http.StatusNoContent {
		t.Fatalf("%d %s", status, got)
	}
	h.until("she is gone", func() bool { return h.companion("momo").State == "" })
	if entries, _ := os.ReadDir(filepath.Join(h.dir, "characters")); len(entries) != 1 || entries[0].Name() != "momo.talk.txt~" {
		t.Errorf("there is %v", entries)
	}
}

// TestCodeIsJudged: JavaScript is run before it is saved, under the bounds of its engine, and what is wrong has its place.
func TestCodeIsJudged(t *testing.T) {
	if npm.QuickJS() == nil {
		t.Skip("built without JavaScript: make build, and -tags npm")
	}
	h := newHome(t)
	h.open("[room.main]\nsilence = \"0s\"\npace = \"0s\"\n")
	good, err := scaffold.One{Name: "mio", Lang: scaffold.TypeScript}.Text()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ text, want string }{
		{"export function vote() {\n  return ((1;\n}\n", `"location":"body.text:2:`},
		{good + "\nthrow new Error('no')\n", `"location":"body.text:`},
		{good + "\nfor (;;) {}\n", `"location":"body.text`},
		{"export const describe = {name: 'Mio', needs: ['http.fetch']}\nexport function vote() {}\n", "http.fetch"},
	} {
		if status, got := h.maker("PUT", "/v1/characters/mio.ts", c.text, "If-None-Match", "*"); status != 400 || !strings.Contains(got, c.want) {
			t.Errorf("%s\n%d %s", c.text, status, got)
		}
	}
	if entries, _ := os.ReadDir(filepath.Join(h.dir, "characters")); len(entries) != 0 {
		t.Errorf("there is %v", entries)
	}
	if status, got := h.maker("PUT", "/v1/characters/mio.ts", good, "If-None-Match", "*"); status != 200 {
		t.Fatalf("%d %s", status, got)
	}
	h.until("she is there", func() bool { return h.companion("mio").State == "ready" })
}
