//go:build !race

package characters_test

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/companiond/companiond/sdk/go/words"
)

// Sentences that somebody else wrote, who had not seen the rule: all of distress are answered in earnest, and nearly
// none that only sound so.
func TestDistressOfOthers(t *testing.T) {
	b, err := os.ReadFile("../sdk/go/words/testdata/distress_others.txt")
	if err != nil {
		t.Fatal(err)
	}
	serious := map[string]bool{}
	for _, who := range everybody {
		for _, lang := range []string{"ja", "en"} {
			for _, act := range []string{"distress", "grave"} {
				for _, line := range linesOf(t, who, lang, act) {
					serious[line] = true
				}
			}
		}
	}
	met, distress, alarms := 0, 0, 0
	for row := range strings.Lines(string(b)) {
		kind, text, ok := strings.Cut(strings.TrimSpace(row), ": ")
		if !ok || strings.HasPrefix(row, "#") {
			continue
		}
		rows := newRoom(t, uint64(len(text)), everybody...).say(text)
		earnest := len(rows) > 0 && serious[rows[0].text]
		switch {
		case kind == "distress" && earnest && len(rows) == 1:
			met, distress = met+1, distress+1
		case kind == "distress":
			distress++
			t.Errorf("%q is answered by %+v", text, rows)
		case earnest:
			alarms++
		}
	}
	t.Logf("%d of %d are met in earnest, %d false alarms", met, distress, alarms)
	if distress != 40 || alarms > 2 {
		t.Errorf("%d sentences, %d false alarms", distress, alarms)
	}
}

// Each of them answers questions about itself, in both languages, when all are asked and when one is.
func TestAboutThemselves(t *testing.T) {
	names := map[string][]string{"aya": {"アヤ", "Aya"}, "kyoko": {"キョウコ", "Kyoko"}, "natsumi": {"ナツミ", "Natsumi"}}
	for kind, asks := range map[string][2]string{
		"hobby": {"趣味は何ですか？", "what are your hobbies?"}, "age": {"何歳ですか？", "how old are you?"}, "job": {"お仕事は何ですか？", "what do you do for a living?"}, "home": {"どこに住んでいますか？", "where do you live?"},
		"likes": {"何が好きですか？", "what do you like?"}, "birthday": {"誕生日はいつですか？", "when is your birthday?"}, "ai": {"AIですか？", "are you an AI?"},
	} {
		for i, lang := range []string{"ja", "en"} {
			var all []string
			for _, who := range everybody {
				own := linesOf(t, who, lang, "self "+kind)
				all = append(all, own...)
				name := names[who][i]
				if rows := newRoom(t, 5, everybody...).say(name + []string{"、", ", "}[i] + asks[i]); rows[0].who != who || !slices.ContainsFunc(own, func(l string) bool { return strings.HasSuffix(rows[0].text, l) }) {
					t.Errorf("%s is asked %q, and %s says %q", who, asks[i], rows[0].who, rows[0].text)
				}
			}
			rows := newRoom(t, 9, everybody...).say(asks[i])
			for _, row := range rows[:3] {
				if !slices.ContainsFunc(all, func(l string) bool { return strings.HasSuffix(row.text, l) }) {
					t.Errorf("%q: %s says %q", asks[i], row.who, row.text)
				}
			}
		}
	}
}

// A person who lets off steam is answered, and nobody goes on to small talk; neither do they when the person thanks.
func TestRant(t *testing.T) {
	for lang, said := range map[string][2]string{
		"ja": {"朝から電車は遅れるし、会議では話を途中で切られるし、帰ったら頼んでいた荷物は届いていないし、本当に最悪の一日だった。誰に言っても気にしすぎだって笑われるだけで、もう疲れた。明日が来るのも憂うつで、ため息しか出ない。", "聞いてくれてありがとう"},
		"en": {"My flight got cancelled, the hotel lost my booking, and when I finally called my mother she told me it was my own fault. I am exhausted and so fed up with everything today.", "thank you for listening"},
	} {
		for seed := range uint64(20) {
			r := newRoom(t, seed, everybody...)
			rows := r.say(said[0])
			var lines []string
			for _, who := range everybody {
				lines = append(lines, linesOf(t, who, lang, "vent")...)
			}
			if len(rows) < 1 || len(rows) > 2 || slices.ContainsFunc(rows, func(x row) bool { return !slices.Contains(lines, x.text) }) {
				t.Fatalf("seed %d:\n%s", seed, r.transcript())
			}
			if rows := r.say(said[1]); len(rows) < 1 || len(rows) > 2 {
				t.Fatalf("seed %d:\n%s", seed, r.transcript())
			}
		}
	}
}

// One question does not get three shrugs, and what a person said is not called by half of a word.
func TestShrugs(t *testing.T) {
	for _, text := range []string{"量子もつれについてどう思う？", "来月引っ越すんだけど、どう思う？", "What do you think of quantum gravity?", "大谷翔平のホームラン見た？"} {
		lang := string(words.Language(text))
		var shrugs []string
		for _, who := range everybody {
			for _, l := range append(linesOf(t, who, lang, "unknown"), linesOf(t, who, lang, "dodge")...) {
				_, end, _ := strings.Cut(l, "」")
				if lang == "en" {
					_, end, _ = strings.Cut(l, `{word}"`)
				}
				if end == "" {
					end = l
				}
				shrugs = append(shrugs, end)
			}
		}
		for seed := range uint64(30) {
			r := newRoom(t, seed, everybody...)
			row := 0
			for _, x := range r.say(text) {
				if !slices.ContainsFunc(shrugs, func(s string) bool { return strings.HasSuffix(x.text, s) }) {
					break
				}
				row++
			}
			if row > 2 {
				t.Errorf("seed %d: %d shrugs:\n%s", seed, row, r.transcript())
			}
			if strings.Contains(r.transcript(), "「来月引」") || strings.Contains(r.transcript(), "「大谷」") {
				t.Errorf("half a word:\n%s", r.transcript())
			}
		}
	}
}

// One word that is written alike everywhere is answered in the language of the talk, or of the characters.
func TestAcronyms(t *testing.T) {
	for _, before := range []string{"", "こんにちは！", "Hello!"} {
		for _, text := range []string{"P2P", "AI", "AI?"} {
			r := newRoom(t, 4, everybody...)
			want := words.Japanese
			if before != "" {
				r.say(before)
				want = words.Language(before)
			}
			for _, x := range r.say(text) {
				if got := words.Language(x.text); got != want {
					t.Errorf("%q after %q is answered in %s: %s", text, before, got, x.text)
				}
			}
		}
	}
}

// Welcome back is said once a visit, to a greeting, and never instead of an answer.
func TestWelcomeBack(t *testing.T) {
	r := newRoom(t, 12, everybody...)
	var back []string
	for _, who := range everybody {
		for _, l := range linesOf(t, who, "ja", "again") {
			l = l[strings.LastIndex(l, "}")+1:]
			back = append(back, l)
		}
	}
	welcomes := func(rows []row) (n int) {
		for _, x := range rows {
			if slices.ContainsFunc(back, func(l string) bool { return strings.HasSuffix(x.text, l) }) {
				n++
			}
		}
		return n
	}
	r.say("私はタロウです。")
	if n := welcomes(r.say("こんにちは！")); n > 0 {
		t.Errorf("in the middle of a visit:\n%s", r.transcript())
	}
	r.clock = r.clock.Add(24 * time.Hour)
	if n := welcomes(r.say("P2Pって何？")); n > 0 {
		t.Errorf("instead of an answer:\n%s", r.transcript())
	}
	r.clock = r.clock.Add(24 * time.Hour)
	if n := welcomes(r.say("こんにちは！")); n != 1 {
		t.Errorf("%d times:\n%s", n, r.transcript())
	}
	if n := welcomes(r.say("元気？")); n > 0 {
		t.Errorf("again:\n%s", r.transcript())
	}
}
