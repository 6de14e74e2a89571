package talk

import (
	"slices"
	"strings"
	"testing"
)

func TestBadScripts(t *testing.T) {
	for text, want := range map[string]string{
		"":                                       "no name",
		"name: A\n[nowhere]":                     "line 2: section \"nowhere\"",
		"name: A\ncolour: red":                   "line 2: key \"colour\"",
		"name: A\n[*]\nsing: la":                 "line 3: \"sing\" is no act",
		"name: A\n[*]\ngreet {hi}":               "line 3:",
		"name: A\n[cat]\ntell: {who is":          "open brace",
		"name: A\nlang: fr":                      "neither ja nor en",
		"name: A\nhabit: tell=much":              "tell:",
		"name: A\nlikes: cat":                    "no key=value",
		"name: A\njust words":                    "no colon",
		"name: A\ntopic: tea":                    "topic needs",
		"name: A\n[cat]\ngreet: a topic section": "no act",
	} {
		if _, err := New(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("New(%q) = %v, want %q", text, err, want)
		}
	}
	if _, err := New(); err == nil {
		t.Error("no script is no character")
	}
	if _, err := New("name: A", "name: B"); err == nil {
		t.Error("two scripts for one language")
	}
}

// Lint finds what it promises.
func TestLint(t *testing.T) {
	a := "name: A\ncalls: b=ベー\n[*]\nreact: さようなら\nbye: どうも\nunknown: 猫かな\n[cat]\ntell: 猫だね\ntell: 猫だね\ntell: ゲームだね\nopen: 何か\nask @b: 猫は？\nreact: ベーはいる"
	b := "name: B\n[cat]\nanswer 犬: 猫"
	found := strings.Join(Lint(a, b), "\n")
	for _, want := range []string{"さようなら: a farewell", "どうも: a farewell", "brings up [cat]", "twice", "sounds like [game]", "opens []", "has no answer", "names b"} {
		if !strings.Contains(found, want) {
			t.Errorf("Lint misses %q in\n%s", want, found)
		}
	}
	if found := Lint("name: C\n[cat]\ntell: 猫だよ"); len(found) > 0 {
		t.Errorf("Lint of a clean script: %v", found)
	}
	if found := Lint("nothing"); !slices.ContainsFunc(found, func(s string) bool { return strings.Contains(s, "script 1") }) {
		t.Errorf("Lint of no script: %v", found)
	}
}
