package reading_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/companiond/companiond/plugins/voice/reading"
)

func TestAloud(t *testing.T) {
	words := reading.NewDictionary(map[string]string{"AI": "エーアイ", "www": "わらわら", "👍": "いいね", "C#": "シーシャープ"})
	for text, want := range map[string]string{
		"こんにちは、今日は。":   "こんにちは、今日は。",
		"Hello there!": "Hello there!",
		// Marks of Markdown.
		"**Hello** *there*, __all__ of _you_ ~~now~~!":     "Hello there, all of you now!",
		"# Title\n\nThe first line\nand the second.":       "Title. The first line. and the second.",
		"- one\n- two\n* three\n> said\n1. four":           "one. two. three. said. 1. four",
		"- [x] done\n- [ ] open":                           "done. open",
		"これは**大事**です":                                      "これは大事です",
		"見出し\n---\nつぎの行":                                   "見出し。つぎの行",
		"snake_case and 2 * 3 * 4":                         "snake_case and 2 3 4",
		"run `ls -l` now":                                  "run ls -l now",
		"| a | b |\n|---|:-:|\n| 1 | 2 |":                  "a b. 1 2",
		"<b>bold</b> and 1 < 2":                            "bold and 1 < 2",
		"see [the manual](https://a.example/b_(c) \"T\")!": "see the manual!",
		"![a cat](cat.png) look":                           "look",
		// Web addresses.
		"見て https://example.com/a?b=c#d を。":                  "見てを。",
		"See https://example.com/AI, www.example.com. Good.": "See,. Good.",
		"**https://example.com**と<https://b.example>です":      "とです",
		"(https://example.com) end":                          "end",
		// Code.
		"Do this:\n```go\nfmt.Println(1)\n```\nand that.": "Do this: and that.",
		"~~~\ncode\n~~~": "",
		// Emoji, and what changes them.
		"やった🎉🎉！👨‍👩‍👧‍👦 1️⃣ ☀️ 👋🏽 🇯🇵": "やった！1",
		"♪ラララ♪ → ★終わり★":              "ラララ終わり",
		"20°C、①番、5㎏、50℃、√2":          "20°C、①番、5㎏、50℃、√2",
		// Stage directions.
		"そうなの（笑）、うん(笑)。":                   "そうなの、うん。",
		"Well [laughs (softly)] yes (no)!": "Well yes!",
		"「はい」と『本』と【注意】":                    "「はい」と『本』と【注意】",
		"I am happy :) and ( not closed":   "I am happy: and not closed",
		"（笑）":                              "",
		"……！？":                             "",
		"":                                 "",
		" \n ":                             "",
		"🎉":                                "",
		// The dictionary.
		"AIとAIR、HAI、AI2、(AI)、AI。": "エーアイとAIR、HAI、AI2、、エーアイ。",
		"草www 👍 C#":               "草わらわらいいねシーシャープ",
		// Lines and spaces.
		"一行目\n二行目。\n三行目": "一行目。二行目。三行目",
		"a\u200bb\x00c":  "abc",
		"日本 と  AI":       "日本とエーアイ",
	} {
		if got := reading.Aloud(text, false, words); got != want {
			t.Errorf("%q is read %q, want %q", text, got, want)
		}
	}
}

// TestCodeGoesOn: a block of code may begin in one part of a line and end in another.
func TestCodeGoesOn(t *testing.T) {
	inside := false
	var read []string
	for _, part := range []string{"Look:\n```go\nx := 1\n", "y := 2\n", "z := 3\n```\nThat is it.", "Bye. `a` ```b```"} {
		read = append(read, reading.Aloud(part, inside, reading.Dictionary{}))
		inside = reading.Fenced(part, inside)
	}
	if got := strings.Join(read, "|"); got != "Look:||That is it.|Bye. a b" || inside {
		t.Errorf("%q, inside: %v", got, inside)
	}
}

// FuzzAloud: whatever is read has something that sounds, one line, and nothing of an address or an emoji.
func FuzzAloud(f *testing.F) {
	f.Add("**Hello** (you) [a](b) `c`\n```\nx\n```", "Hello", "Hi", false)
	f.Add("見て https://example.com/（笑） 🎉", "見", "み", true)
	f.Add("((((]]]]）（｛", "", "", false)
	f.Fuzz(func(t *testing.T, text, written, spoken string, inside bool) {
		plain := reading.Aloud(text, inside, reading.Dictionary{})
		if plain != "" && !strings.ContainsFunc(plain, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }) {
			t.Errorf("%q is read %q", text, plain)
		}
		if strings.ContainsAny(plain, "\n\x00🎉（(") || !utf8.ValidString(plain) {
			t.Errorf("%q is read %q", text, plain)
		}
		reading.Aloud(text, inside, reading.NewDictionary(map[string]string{written: spoken}))
		for _, p := range reading.Pieces(text, 7) {
			if utf8.RuneCountInString(p) > 7 {
				t.Errorf("%q is longer than 7", p)
			}
		}
	})
}

func TestDictionary(t *testing.T) {
	words := reading.NewDictionary(map[string]string{
		"AI": "エーアイ", "AI Companion": "エーアイコンパニオン", "東京": "とうきょう", "東京都": "とうきょうと", "とうきょう": "x", "GPT-4": "ジーピーティーフォー", "": "nothing",
	})
	for text, want := range map[string]string{
		"AI":                  "エーアイ",
		"AI Companionです":      "エーアイコンパニオンです",
		"AI Companions":       "エーアイCompanions",
		"ai Ai":               "ai Ai",
		"東京都と東京":              "とうきょうとととうきょう", // which is not looked at again
		"GPT-4とGPT-40とxGPT-4": "ジーピーティーフォーとGPT-40とxGPT-4",
		"AIAI":                "AIAI",
		"OpenAI、AIです":         "OpenAI、エーアイです",
	} {
		if got := reading.Aloud(text, false, words); got != want {
			t.Errorf("%q is read %q, want %q", text, got, want)
		}
	}
}

func TestPieces(t *testing.T) {
	for _, c := range []struct {
		text string
		most int
		want string
	}{
		{"short", 10, "short"},
		{"", 10, ""},
		{"一つ目の文です。二つ目の文です。三つ目。", 12, "一つ目の文です。|二つ目の文です。三つ目。"},
		{"One two. Three four, five six seven", 22, "One two.|Three four,|five six seven"},
		{"Pi is 3.14159 and so on and on", 16, "Pi is 3.14159|and so on and on"},
		{"あいうえおかきくけこさしすせそ", 6, "あいうえおか|きくけこさし|すせそ"},
		{"はい、そうです、ええと、そうです", 9, "はい、そうです、|ええと、そうです"},
	} {
		if got := strings.Join(reading.Pieces(c.text, c.most), "|"); got != c.want {
			t.Errorf("%q by %d: %q, want %q", c.text, c.most, got, c.want)
		}
	}
}

// TestPiecesAreTheText: nothing of a text is lost where it is cut, and no piece is too long.
func TestPiecesAreTheText(t *testing.T) {
	letters := rapid.SampledFrom([]rune("あ漢aB 。、.,!？\n１"))
	rapid.Check(t, func(t *rapid.T) {
		text := string(rapid.SliceOf(letters).Draw(t, "text"))
		most := rapid.IntRange(1, 20).Draw(t, "most")
		pieces := reading.Pieces(text, most)
		for _, p := range pieces {
			if utf8.RuneCountInString(p) > most || strings.TrimSpace(p) == "" {
				t.Fatalf("%q", p)
			}
		}
		bare := func(s string) string { return strings.Join(strings.Fields(s), "") }
		if got := bare(strings.Join(pieces, "")); got != bare(text) {
			t.Fatalf("%q became %q", text, pieces)
		}
	})
}

func TestLanguage(t *testing.T) {
	for text, want := range map[string]string{
		"Hello": "en", "こんにちは": "ja", "今日": "ja", "AIです": "ja", "안녕하세요": "ko", "Привет": "ru", "123": "en", "": "en", "한국 大": "ko",
	} {
		if got := reading.Language(text); got != want {
			t.Errorf("%q is %s, want %s", text, got, want)
		}
	}
}
