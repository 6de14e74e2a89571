package hide_test

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/companiond/companiond/host/secret/hide"
)

func of(all ...string) *hide.Secrets {
	s := new(hide.Secrets)
	for _, one := range all {
		s.Add(one)
	}
	return s
}

// TestText: a secret is found as it stands, as it is written, and where unseen signs stand in it; the rest stays to the letter.
func TestText(t *testing.T) {
	s := of("hunter2", `a"b&c<d`, "hunter", "秘密の鍵", "zero\u200bwidth")
	for text, want := range map[string]string{
		"":                                "",
		"nothing":                         "nothing",
		"a hunter2 b hunter2":             "a (secret) b (secret)",
		"a hunter b":                      "a (secret) b",
		"hun\u200bter2!":                  "(secret)!",
		"\u200bhun\u034fter\u00ad2\u200b": "\u200b(secret)\u200b",
		"h\x00unter\x1b2":                 "(secret)",
		"秘\ufe0f密の\u2060鍵":                "(secret)",
		"👩\u200d🚀 hunter2 👩\u200d🚀":       "👩\u200d🚀 (secret) 👩\u200d🚀",
		`{"x":"a\"b\u0026c\u003cd"}`:      `{"x":"(secret)"}`,
		"?k=a%22b%26c%3Cd":                "?k=(secret)",
		"aHVudGVyMg==":                    "(secret)",
		"zerowidth":                       "(secret)",
		"zero\u200bwidth":                 "(secret)",
		"hun ter2":                        "hun ter2",
		"\xffhunter2\xff\u200b":           "\xff(secret)\xff\u200b",
	} {
		if got := s.Text(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	if got := (*hide.Secrets)(nil).Text("hunter2"); got != "hunter2" {
		t.Error(got)
	}
}

// TestNothingSeenIsASecret: whatever signs stand in it, what is seen of the text has no secret, and without a secret it is the same.
func TestNothingSeenIsASecret(t *testing.T) {
	unseen := []rune{0x200b, 0x200d, 0x00ad, 0x034f, 0xfe0f, 0x3164, 0x2060, 0x00}
	rapid.Check(t, func(t *rapid.T) {
		secret := rapid.StringMatching(`[a-c]{3,5}`).Draw(t, "secret")
		text := rapid.StringOf(rapid.RuneFrom(append(unseen, 'a', 'b', 'c', ' ', 'ー'))).Draw(t, "text")
		plain := strings.Map(func(r rune) rune {
			for _, u := range unseen {
				if r == u {
					return -1
				}
			}
			return r
		}, text)
		got := of(secret).Text(text)
		if !strings.Contains(plain, secret) && got != text {
			t.Fatalf("%q became %q", text, got)
		}
		if left := strings.Map(func(r rune) rune {
			if strings.ContainsRune(string(unseen), r) {
				return -1
			}
			return r
		}, strings.ReplaceAll(got, hide.Mark, "|")); strings.Contains(left, secret) {
			t.Fatalf("%q became %q, which shows %q", text, got, secret)
		}
	})
}

// TestJSON: in texts and names, however they are written; what has none stays to the letter.
func TestJSON(t *testing.T) {
	s := of("hunter2", "4711")
	for raw, want := range map[string]string{
		`{"b": 1.50, "a":"x"}`:               `{"b": 1.50, "a":"x"}`,
		`"a hunter2"`:                        `"a (secret)"`,
		`"a \u0068unter2"`:                   `"a (secret)"`,
		`{"b":1.50,"a":["hun\u200bter2",7]}`: `{"a":["(secret)",7],"b":1.50}`,
		`{"hunter2":{"x":"hunter2"}}`:        `{"(secret)":{"x":"(secret)"}}`,
		`{"pin":4711,"n":14711}`:             `{"n":14711,"pin":"(secret)"}`,
		`no JSON hunter2`:                    `no JSON hunter2`,
		``:                                   ``,
	} {
		if got := s.JSON(json.RawMessage(raw)); string(got) != want {
			t.Errorf("%s: %s, want %s", raw, got, want)
		}
	}
	if got := new(hide.Secrets).JSON(json.RawMessage(`{"a": 1}`)); string(got) != `{"a": 1}` {
		t.Error(string(got))
	}
}

// TestOwn: what was there already is nobody's leak.
func TestOwn(t *testing.T) {
	s := of("tomato")
	for _, c := range []struct{ was, is, want string }{
		{"hi", "hi tomato", "hi (secret)"},
		{"a tomato!", "a *** tomato!", "a *** tomato!"},
		{"hi", "ho", "ho"},
	} {
		if got := s.Own(c.was, c.is); got != c.want {
			t.Errorf("%q, %q: %q", c.was, c.is, got)
		}
	}
}
