package host_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/companiond/companiond/host/door/doortest/chromium"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/waittest"
)

// TestSpeakersOnThePage: a button has a companion speak next, another has it be silent, until it may again; also over a restart.
func TestSpeakersOnThePage(t *testing.T) {
	waittest.WithoutRaces(t)
	for lang, w := range map[string]struct{ turn, mute, unmute, muted string }{
		"en": {"Ben, go ahead.", "Mute", "Let speak", "guest muted Aya"},
		"ja": {"Ben、どうぞ。", "ミュート", "ミュート解除", "ゲスト が Aya をミュートしました"},
	} {
		t.Run(lang, func(t *testing.T) {
			h := newHome(t)
			for id, name := range map[string]string{"aya": "Aya", "ben": "Ben"} {
				h.save(id+".talk.txt", []byte("lang: en\nname: "+name+"\nlikes: cat=3\n\n[*]\ngreet: Hello, I am "+name+".\nunknown: So says "+name+".\nbye: Bye.\n\n[cat]\ntell: Cats, says "+name+".\nanswer like: Yes, says "+name+".\n"))
			}
			h.open("[room.main]\nsilence = \"0s\"\npace = \"0s\"\nmax_turns = 1\n")
			b := chromium.Open(t, h.url+"/?lang="+lang, "")
			b.Window(390, 844, "dark")
			row := func(id string) string {
				return `[...document.querySelectorAll("#companions li")].find(li => li.textContent.startsWith(` + strconv.Quote(strings.ToUpper(id[:1])+id[1:2]) + `))`
			}
			b.Until("both are there", row("ben")+`?.querySelector(".next")?.hidden === false && `+row("aya")+`?.querySelector(".hush")?.hidden === false`)
			b.Eval(`document.getElementById("drawer").click()`)
			b.Eval(row("ben") + `.querySelector(".next").click()`)
			h.until("Ben speaks", func() bool {
				all := h.messages("main")
				return len(all) == 2 && all[0].Text == w.turn && all[1].From == "ben"
			})
			b.Eval(row("aya") + `.querySelector(".hush").click()`)
			b.Until("she is muted", row("aya")+`.querySelector(".hush").textContent === "`+w.unmute+`" && `+row("aya")+`.querySelector(".hush").getAttribute("aria-pressed") === "true" && document.getElementById("feed").textContent.includes("`+w.muted+`") && !!document.querySelector("#faces .muted")`)
			pictured(t, b, "speakers-"+lang)
			h.stop()
			h.openAt(strings.TrimPrefix(h.url, "http://"), h.toml)
			h.say("main", "taro", "Do you like cats?")
			h.until("another answers", func() bool { all := h.messages("main"); return len(all) == 4 && all[3].From == "ben" })
			b.Until("she is still muted", row("aya")+`.querySelector(".hush").textContent === "`+w.unmute+`" && document.getElementById("status").classList.contains("bad") === false`)
			b.Eval(row("aya") + `.querySelector(".hush").click()`)
			b.Until("she is not muted", row("aya")+`.querySelector(".hush").textContent === "`+w.mute+`"`)
			h.say("main", "taro", "Aya, do you like cats?")
			h.until("she answers", func() bool { all := h.messages("main"); return len(all) == 6 && all[5].From == "aya" })
			if tail := h.tailed(); strings.Count(tail, "muted aya")+strings.Count(tail, "lets aya speak again") != 2 {
				t.Error(tail)
			}
			n := 0
			for _, e := range h.entries("main") {
				if e.Kind == entry.KindMuted {
					n++
				}
			}
			if status, answer := h.ask("POST", "/v1/rooms/main/mute", `{"companion":"nobody"}`); n != 2 || status != 404 || !strings.Contains(answer, "there are: aya, ben") {
				t.Errorf("%d entries; %d %s", n, status, answer)
			}
		})
	}
}
