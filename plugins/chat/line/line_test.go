package line_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/abi/plain"
	"github.com/companiond/companiond/plugins/chat/line"
)

func TestPlain(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"words", "hello  world", "hello world"},
		{"lines", "a\r\nb\tc\vd\u2028e", "a b c d e"},
		{"control", "a\x00b\x1b[31mc", "ab[31mc"},
		{"turned around", "a\u202Eevil\u202C\u2066x\u2069\u200F", "aevilx"},
		{"hidden letters", "a\U000E0041\U000E0042b\u200Bc\uFEFFd", "abcd"},
		{"a family", "👨\u200d👩\u200d👧 hi", "👨\u200d👩\u200d👧 hi"},
		{"private", "a \ue000 b", "a b"},
		{"towers", "z\u0300\u0301\u0302\u0303\u0304\u0305a", "z\u0300\u0301\u0302a"},
		{"japanese", "　かわいい　ね？ ", "かわいい ね？"},
		{"broken", "a\xff\xfeb", "ab"},
		{"nothing", "\u200b\u200e \n", ""},
		{"much", strings.Repeat("あ", 501), strings.Repeat("あ", 499) + "…"},
		{"just enough", strings.Repeat("あ", 500), strings.Repeat("あ", 500)},
		{"a joiner at the end", strings.Repeat("a", 497) + "👨\u200d👩\u200d👧", strings.Repeat("a", 497) + "👨…"},
	} {
		if got := line.Plain(c.in); got != c.want {
			t.Errorf("%s: %q is %q, want %q", c.name, c.in, got, c.want)
		}
	}
}

// TestPlainIsPlain holds that whatever is written, the words are such that the daemon shows them to a model as they are.
func TestPlainIsPlain(t *testing.T) { rapid.Check(t, plainIsPlain) }

func FuzzPlain(f *testing.F) { f.Fuzz(rapid.MakeFuzz(plainIsPlain)) }

func plainIsPlain(t *rapid.T) {
	odd := rapid.SampledFrom([]rune("a 1あ\u0301\u200d\ufe0f\u20e3👨👩\u202e\U000E0041\n\u2028\ue000\ufffc\u0000\U000E0100葛\u2800\u200c\u0645"))
	in := rapid.OneOf(rapid.String(), rapid.StringOfN(odd, 0, 1200, -1)).Draw(t, "in")
	for name, out := range map[string]string{"text": line.Plain(in), "name": line.Name(in)} {
		if out != "" {
			if err := plain.Check(name, out, 4*line.MaxText); err != nil {
				t.Fatalf("%s of %q is %q: %v", name, in, out, err)
			}
		}
		if n := utf8.RuneCountInString(out); n > line.MaxText || strings.ContainsFunc(out, unicode.IsControl) || strings.TrimSpace(out) != out {
			t.Fatalf("%s of %q has %d letters: %q", name, in, n, out)
		}
		if name == "name" && len(out) > abi.MaxName {
			t.Fatalf("the name has %d bytes", len(out))
		}
	}
}

func TestReady(t *testing.T) {
	l := line.Line{Name: "\u202eAnn\n", Text: " hi\u200b ", Gift: &line.Gift{Kind: "bits", Amount: 5, Display: "5\u202e bits"}}
	was := l.Gift
	got := l.Ready()
	if got.Name != "Ann" || got.Text != "hi" || *got.Gift != (line.Gift{Kind: "bits", Amount: 5, Display: "5 bits"}) || was.Display == "5 bits" {
		t.Errorf("ready: %+v %+v", got, got.Gift)
	}
	if got := (line.Line{Name: "\u200b", Handle: "ann"}).Ready(); got.Name != "ann" || got.Says() {
		t.Errorf("nameless: %+v", got)
	}
	if got := (line.Line{}).Ready(); got.Name != "somebody" {
		t.Errorf("nobody: %+v", got)
	}
	if !(line.Line{Gift: &line.Gift{}}).Says() {
		t.Error("a gift says something")
	}
}

func TestKeyWhoCalled(t *testing.T) {
	long := strings.Repeat("x", abi.MaxName+1)
	if line.Key("abc") != "abc" || line.Key("") != "" || len(line.Key(long)) > abi.MaxName || line.Key(long) == line.Key(long+"y") || line.Key("\xff") == "\xff" || line.Key("a\nb") == "a\nb" {
		t.Error("keys")
	}
	ann := line.Line{Platform: "twitch", Viewer: "7", Handle: "ann", Name: "アン"}
	if ann.Author() != "twitch 7" || (line.Line{Platform: "x", Name: "@Bob"}).Author() != "x bob" {
		t.Error("author")
	}
	for name, want := range map[string]bool{"@Ann": true, "アン": true, "7": true, " ann ": true, "": false, "bob": false} {
		if ann.Called(line.Fold(name)) != want {
			t.Errorf("called %q: not %v", name, want)
		}
	}
	if (line.Line{}).Called(line.Fold("@")) {
		t.Error("nobody is called")
	}
}

func TestGone(t *testing.T) {
	l := line.Line{Platform: "twitch", Place: "vtuber", ID: "1", Viewer: "7", Handle: "ann"}
	for _, c := range []struct {
		g    line.Gone
		want bool
	}{
		{line.Gone{Platform: "twitch", ID: "1"}, true},
		{line.Gone{Platform: "twitch", ID: "2"}, false},
		{line.Gone{Platform: "youtube", ID: "1"}, false},
		{line.Gone{Platform: "twitch", Place: "other", ID: "1"}, false},
		{line.Gone{Platform: "twitch", Place: "vtuber", Viewer: "7"}, true},
		{line.Gone{Platform: "twitch", Viewer: "ann"}, true},
		{line.Gone{Platform: "twitch", Viewer: "bob"}, false},
		{line.Gone{Platform: "twitch", Place: "vtuber"}, true},
		{line.Gone{Platform: "twitch", Place: "other"}, false},
		{line.Gone{Place: "vtuber", ID: "1"}, true},
		{line.Gone{Place: "other"}, false},
	} {
		if c.g.Has(l) != c.want {
			t.Errorf("%+v: not %v", c.g, c.want)
		}
	}
}

func TestAsks(t *testing.T) {
	for text, want := range map[string]bool{"why?": true, "なぜ？": true, "لماذا؟": true, "what!": false, "": false} {
		if line.Asks(text) != want {
			t.Errorf("%q: not %v", text, want)
		}
	}
}

func TestUnmarked(t *testing.T) {
	for in, want := range map[string]string{
		"plain": "plain", "a &amp; b &lt;b&gt;": "a & b <b>", "<b>bold</b>": "bold", "I <3 you": "I <3 you", "1 < 2 > 0": "1 < 2 > 0",
		`hi<img class="emoji" alt=":wave:" src="https://x/a.png">you`: "hi :wave: you",
		`<img src='a>b' alt='x>y'>`:                                   " x>y ",
		`<img data-alt="no" alt=yes/>`:                                " yes ",
		`<img data-alt="no">`:                                         "  ",
		"a<br>b<br/>c":                                                "a b c",
		"<!-- no -->x":                                                "x",
		"<!-- never":                                                  "",
		"<a href=\"javascript:x\">link</a>":                           "link",
		"don't <i>can't</i>":                                          "don't can't",
		"<unclosed":                                                   "<unclosed",
		"<":                                                           "<",
		"&#x202e;x":                                                   "\u202ex",
	} {
		if got := line.Unmarked(in); got != want {
			t.Errorf("%q is %q, want %q", in, got, want)
		}
	}
}

func FuzzUnmarked(f *testing.F) {
	for _, s := range []string{"<img alt=x>", "a<b>c", "<!--", `<x y="`, "&lt;", "<img alt", "<img alt="} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		out := line.Unmarked(s)
		if !strings.ContainsAny(s, "<&") && len(s) < 8<<10 && out != s {
			t.Errorf("%q without markup is %q", s, out)
		}
		if len(out) > 2*len(s)+2 {
			t.Errorf("%q grows to %q", s, out)
		}
	})
}
