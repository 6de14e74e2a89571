package host_test

import (
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/companiond/companiond/host/door/doortest/chromium"
	"github.com/companiond/companiond/host/waittest"
)

// pictured has axe-core look at the page, where it is installed (make npm), and keeps a picture for people in the folder that
// COMPANIOND_PICTURES names.
func pictured(t *testing.T, b *chromium.Page, name string) {
	t.Helper()
	if b.Eval(`typeof axe`) == "object" {
		const serious = `axe.run(document, { resultTypes: ["violations"] }).then(r => r.violations.filter(v => ["serious", "critical"].includes(v.impact)).map(v => v.id + ": " + v.nodes.slice(0, 3).map(n => n.html.slice(0, 160)).join(" ;; ")).join("\n"))`
		if found := b.Eval(serious); found != "" {
			t.Errorf("%s: %s", name, found)
		}
	}
	if dir := os.Getenv("COMPANIOND_PICTURES"); dir != "" {
		if err := os.WriteFile(filepath.Join(dir, name+".png"), b.Picture(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// tabTo presses Tab until an element has the focus.
func tabTo(t *testing.T, b *chromium.Page, selector string) {
	t.Helper()
	for range 150 {
		if b.Eval(`document.activeElement?.matches(`+strconv.Quote(selector)+`) ?? false`) == "true" {
			return
		}
		b.Key("Tab", 0)
	}
	t.Fatalf("Tab does not come to %s; it is at %s", selector, b.Eval(`document.activeElement?.outerHTML.slice(0, 200)`))
}

// TestMakersPage: a character is made, changed with a mistake and without, by form and by text, deleted and brought back on the
// page, by the keyboard alone, in both languages.
func TestMakersPage(t *testing.T) {
	waittest.WithoutRaces(t)
	axe, err := os.ReadFile("door/page/testdata/axe/node_modules/axe-core/axe.min.js")
	if err != nil {
		t.Log("axe-core does not look at it: make npm")
	}
	for lang, w := range map[string]struct{ saved, wrong, line, moved string }{
		"en": {"Saved.", "Not saved: mend", "Line 2: talkativeness", "Somebody else"},
		"ja": {"保存しました。", "保存していません。", "2 行目: talkativeness", "ほかの人が変更しました"},
	} {
		t.Run(lang, func(t *testing.T) {
			h := newHome(t)
			h.log = slog.New(slog.NewTextHandler(io.Discard, nil))
			h.open("[room.main]\nsilence = \"0s\"\npace = \"0s\"\n")
			b := chromium.Open(t, h.url+"/?lang="+lang, string(axe))
			b.Window(1280, 900, "light")
			b.Until("there is a button for a new character", `!document.getElementById("workshop").hidden`)

			tabTo(t, b, "#newfile")
			b.Key("Enter", 0)
			b.Type("mio")
			b.Key("Tab", 0)
			b.Eval(`document.getElementById("filekind").value = "card"`) // headless, a choice opens no list
			tabTo(t, b, "#begin button")
			b.Key("Enter", 0)
			b.Until("the editor is open", `document.getElementById("editor").open && !document.getElementById("cardform").hidden`)
			pictured(t, b, "makers-form-"+lang)
			tabTo(t, b, "#savefile")
			b.Key("Enter", 0)
			b.Until("she is saved", `document.getElementById("editortold").textContent.includes(`+strconv.Quote(w.saved)+`)`)
			h.until("she is there", func() bool { c := h.companion("mio"); return c.Name == "Mio" && c.State == "ready" })

			// A mistake, in the text.
			tabTo(t, b, "#astext")
			b.Key("Enter", 0)
			tabTo(t, b, "#filetext")
			b.Eval(`document.getElementById("filetext").select()`)
			b.Type("{\"name\": \"Mio\",\n \"talkativeness\": 7}")
			b.Until("it is told while it is typed", `document.getElementById("wrongs").textContent.startsWith(`+strconv.Quote(w.line)+`)`)
			tabTo(t, b, "#savefile")
			b.Key("Enter", 0)
			b.Until("and nothing is saved", `document.getElementById("editorwarned").textContent.startsWith(`+strconv.Quote(w.wrong)+`)`)
			pictured(t, b, "makers-mistake-"+lang)
			if text := readCharacter(t, h, "mio.json"); !strings.Contains(text, "0.5") {
				t.Fatalf("there is %s", text)
			}
			tabTo(t, b, "#wrongs button")
			b.Key("Enter", 0)
			if got := b.Eval(`document.activeElement.id + " " + document.getElementById("filetext").value.slice(document.getElementById("filetext").selectionStart).split("\n")[0]`); got != "filetext  \"talkativeness\": 7}" {
				t.Errorf("the caret is at %q", got)
			}

			// The form shows it at its field, where it is mended.
			tabTo(t, b, "#asform")
			b.Key("Enter", 0)
			b.Until("the field is marked", `document.querySelector("#cardform input[aria-invalid=true][type=number]")?.value === "7"`)
			pictured(t, b, "makers-field-"+lang)
			tabTo(t, b, "#cardform input[type=number]")
			b.Eval(`document.activeElement.select()`)
			b.Type("1")
			b.Until("nothing is wrong any more", `document.getElementById("wrongs").childElementCount === 0 && !document.querySelector("#cardform [aria-invalid=true]")`)

			// An editor saves besides: nothing is overwritten.
			h.save("mio.json", []byte(`{"name": "Mia"}`))
			tabTo(t, b, "#savefile")
			b.Key("Enter", 0)
			b.Until("somebody else has changed it", `document.getElementById("editorwarned").textContent.includes(`+strconv.Quote(w.moved)+`)`)
			if text := readCharacter(t, h, "mio.json"); text != `{"name": "Mia"}` {
				t.Fatalf("there is %s", text)
			}
			tabTo(t, b, "#savefile")
			b.Key("Enter", 0)
			b.Until("saved again, mine is there", `document.getElementById("editortold").textContent.includes(`+strconv.Quote(w.saved)+`)`)
			if text := readCharacter(t, h, "mio.json"); !strings.Contains(text, `"talkativeness": 1`) {
				t.Fatalf("there is %s", text)
			}

			// Deleted, and brought back.
			tabTo(t, b, "#dropfile")
			b.Key("Enter", 0)
			b.Key("Enter", 0)
			b.Until("she is deleted", `!document.getElementById("editor").open && document.querySelector("#goners button") !== null`)
			h.until("she is gone", func() bool { return h.companion("mio").State == "" })
			tabTo(t, b, "#goners button")
			b.Key("Enter", 0)
			b.Until("what she was is shown", `document.getElementById("editor").open && document.getElementById("filetext").value.includes('"talkativeness": 1')`)
			tabTo(t, b, "#savefile")
			b.Key("Enter", 0)
			h.until("she is back", func() bool { return h.companion("mio").State == "ready" })

			b.Key("Escape", 0)
			b.Until("the editor is closed", `!document.getElementById("editor").open`)
			b.Until("her row has a button", `document.querySelector("#companions .mind") !== null`)
			tabTo(t, b, "#logbook summary")
			b.Key("Enter", 0)
			b.Until("the log is there", `document.getElementById("loglines").textContent.includes("companion loaded")`)
			h.save("mio.json", []byte(`{`))
			b.Until("the log goes on by itself", `document.querySelector("#loglines .level-warn")?.textContent.includes("file refused")`)
			pictured(t, b, "makers-log-"+lang)

			// A room is opened, with her alone in it, and closed again.
			tabTo(t, b, "#opener summary")
			b.Key("Enter", 0)
			tabTo(t, b, "#roomname")
			b.Type("den")
			tabTo(t, b, "#openform button")
			b.Key("Enter", 0)
			b.Until("the new room is shown", `document.getElementById("room").value === "den"`)
			pictured(t, b, "makers-room-"+lang)
			tabTo(t, b, "#closeroom")
			b.Key("Enter", 0)
			b.Key("Enter", 0)
			b.Until("it is closed", `document.getElementById("opentold").textContent.includes("den")`)
			if info := h.info("den"); info.State != "archived" || info.Policy != "vote" {
				t.Errorf("%+v", info)
			}
		})
	}
}

func readCharacter(t *testing.T, h *home, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(h.dir, "characters", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
