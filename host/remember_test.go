package host_test

import (
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/companiond/companiond/host/door/web/memories"
	"github.com/companiond/companiond/host/forget/forgettest"

	"github.com/companiond/companiond/host/waittest"
)

// last is what a model was told in its newest request.
func (l *listener) last() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.told) == 0 {
		return ""
	}
	return l.told[len(l.told)-1]
}

// memoriesTold are the lines of a prompt with what is remembered.
func memoriesTold(prompt string) string {
	var lines []string
	for line := range strings.SplitSeq(prompt, "\n") {
		if strings.HasPrefix(line, `{"memory":`) {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

// TestRemembersAndForgets: a character of a running daemon is told a name, a cat and a plan, and
// corrected. When all that has long left the part of the talk that its model is told, also after a
// restart, the model is told what was said of them, and nothing that was not. Once the person is
// forgotten it is told nothing, and no file of the state directory has a word of it.
func TestRemembersAndForgets(t *testing.T) {
	waittest.WithoutRaces(t)
	model := &listener{}
	server := httptest.NewServer(model)
	t.Cleanup(server.Close)
	h := newHome(t)
	h.save("ann.json", []byte(`{"name":"Ann","personality":"curious and kind","language":"ja"}`))
	toml := "[model.main]\nurl = \"" + server.URL + "\"\nmodel = \"tiny\"\nretries = 0\ncontext = 2000\ncalls_minute = 0\n[memory]\nby = \"rules\"\n" +
		"[room.main]\nmax_turns = 1\npatience = \"20s\"\npace = \"0s\"\nsilence = \"0s\"\nahead = 0\n"
	h.open(toml)
	for _, text := range []string{"わたしはハルコだよ。ハルコって呼んで。", "うちの猫の名前はミケなんだ。", "来週の土曜に沖縄へ行くよ。", "違うよ、猫の名前はミケじゃなくてタマだよ。"} {
		h.say("main", "mika", text)
	}
	for i := range 70 { // other things are talked about, and the talk is gone through
		h.say("main", "ken", fmt.Sprintf("%d という数について、ひとこと: %d の次は %d です。", i, i, i+1))
	}
	h.until("she remembers", func() bool { return len(h.remembers("ann", "who=mika")) >= 3 })
	h.stop()
	h.open(toml)
	ask := func(text string) string {
		n := len(h.messages("main"))
		h.say("main", "mika", text)
		h.until("she answers", func() bool {
			ms := h.messages("main")
			return len(ms) > n+1 && ms[len(ms)-1].From == "ann" && strings.Contains(model.last(), text)
		})
		return model.last()
	}
	for question, want := range map[string]string{"Ann、私の名前おぼえてる？": "ハルコ", "Ann、うちの猫の名前は？": "タマ", "Ann、来週の予定なんだっけ？": "沖縄"} {
		told := ask(question)
		if remembered := memoriesTold(told); !strings.Contains(remembered, want) || strings.Contains(remembered, "犬") {
			t.Errorf("%s: told %q", question, remembered)
		}
		if strings.Contains(told, "ハルコって呼んで") {
			t.Fatal("the talk itself is still told")
		}
	}
	if told := memoriesTold(ask("Ann、うちの猫の名前は？")); strings.Contains(told, "ミケ") && !strings.Contains(told, "タマ") {
		t.Errorf("the correction is not followed: %s", told)
	}
	var o memories.Order
	h.send("POST", "/v1/forget", `{"who":"mika","confirm":"mika"}`, &o)
	h.settled(o)
	n := len(h.messages("main"))
	h.say("main", "ken", "Ann、さっきの人の猫の名前は？")
	h.until("she answers", func() bool { ms := h.messages("main"); return len(ms) > n && ms[len(ms)-1].From == "ann" })
	for _, word := range []string{"ハルコ", "ミケ", "タマ", "沖縄", "mika"} {
		if strings.Contains(model.last(), word) {
			t.Errorf("%s is told after it was forgotten: %s", word, model.last())
		}
	}
	h.stop()
	if found := forgettest.Left(t, h.dir+"/state", "ハルコ", "ミケ", "タマ", "沖縄", "mika"); len(found) > 0 {
		t.Errorf("still there: %s", strings.Join(found, "\n"))
	}
}
