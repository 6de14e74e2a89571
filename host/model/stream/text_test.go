package stream_test

import (
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/companiond/companiond/host/model/stream"
)

// told writes deltas and gives what a listener heard.
func told(t interface{ Fatal(...any) }, key string, thinks bool, deltas ...string) (heard string, text *stream.Text) {
	text = stream.NewText(key, thinks, func(s string) error {
		if s == "" {
			t.Fatal("the listener was given nothing")
		}
		heard += s
		return nil
	})
	for _, d := range deltas {
		if err := text.Write(d); err != nil {
			t.Fatal(err)
		}
	}
	if err := text.End(); err != nil {
		t.Fatal(err)
	}
	return heard, text
}

func TestThoughtsAreNotSpoken(t *testing.T) {
	for name, c := range map[string]struct {
		deltas []string
		want   string
	}{
		"none":                        {[]string{"Hello, ", "world."}, "Hello, world."},
		"at once":                     {[]string{"<think>He greets.</think>\n\nHello."}, "Hello."},
		"the longer tag":              {[]string{"<thinking>x</thinking>Hello."}, "Hello."},
		"cut anywhere":                {strings.Split("<think>He greets.</think>\n\nHello < world.", ""), "Hello < world."},
		"empty":                       {[]string{"<think>\n\n</think>\n\n", "Hello."}, "Hello."},
		"in the middle":               {[]string{"Hello <think>a < b </thin k></think> world."}, "Hello world."},
		"twice":                       {[]string{"<think>a</think>A<think>b</think> B"}, "AB"},
		"opened twice":                {[]string{"<think>a<think>b</think>A"}, "A"},
		"never closed":                {[]string{"Hello. <think>and", " so on"}, "Hello. "},
		"no tag":                      {[]string{"1 < 2 and <b>, <thin", "ker>, <"}, "1 < 2 and <b>, <thinker>, <"},
		"a tag that breaks off":       {[]string{"Hello <thi"}, "Hello <thi"},
		"nothing":                     {[]string{"", ""}, ""},
		"only a thought":              {[]string{"<think>a</think>  "}, ""},
		"closed, told already":        {[]string{"He greets.", "</think>\nHello."}, "He greets.Hello."},
		"closed, told nothing of yet": {[]string{"He greets.</think>\nHello."}, "Hello."},
	} {
		t.Run(name, func(t *testing.T) {
			heard, text := told(t, "", false, c.deltas...)
			if heard != c.want || text.String() != c.want {
				t.Errorf("heard %q, text %q, want %q", heard, text, c.want)
			}
		})
	}
}

// A template that opens the thought for the model is noticed by its end, and where nobody was told,
// mended at once.
func TestThoughtThatIsNotOpened(t *testing.T) {
	quiet := stream.NewText("", false, nil)
	for _, d := range []string{"He", " greets.", "</think>", "\n\nHello."} {
		if err := quiet.Write(d); err != nil {
			t.Fatal(err)
		}
	}
	if err := quiet.End(); err != nil || quiet.String() != "Hello." || !quiet.Thinks() || quiet.Told() {
		t.Errorf("%q, thinks %v, told %v, %v", quiet, quiet.Thinks(), quiet.Told(), err)
	}
	for name, c := range map[string]struct {
		deltas []string
		want   string
		thinks bool
	}{
		"so it is":             {[]string{"He", " greets.</th", "ink>\nHello."}, "Hello.", true},
		"it does no more":      {[]string{"Hello, ", "world."}, "Hello, world.", false},
		"it opens it now":      {[]string{"\n<think>a</think>b"}, "\nb", false},
		"it breaks off inside": {[]string{"He greets"}, "He greets", false},
	} {
		heard, text := told(t, "", true, c.deltas...)
		if heard != c.want || text.String() != c.want || text.Thinks() != c.thinks {
			t.Errorf("%s: heard %q, text %q, thinks %v", name, heard, text, text.Thinks())
		}
	}
}

// Thoughts that are taken out are counted by others, and what breaks off at a limit while it is held back is a
// thought.
func TestThoughtIsKept(t *testing.T) {
	for name, c := range map[string]struct {
		thinks  bool
		deltas  []string
		cut     bool
		text    string
		thought string
	}{
		"none":                         {false, []string{"Hello."}, true, "Hello.", ""},
		"between tags":                 {false, []string{"<thi", "nk>He", " greets.</think>Hello."}, false, "Hello.", "He greets."},
		"open":                         {false, []string{"<think>He greets"}, true, "", "He greets"},
		"twice":                        {false, []string{"<think>a</think>A<think>b</think>B"}, false, "AB", "ab"},
		"not opened":                   {false, []string{"Hm. ", "Hm. </think>Hello."}, false, "Hello.", "Hm. Hm. "},
		"not opened, held back":        {true, []string{"He", " greets.</think>Hello."}, false, "Hello.", "He greets."},
		"held back, cut off":           {true, []string{"He", " greets"}, true, "", "He greets"},
		"held back, cut off in a tag":  {true, []string{"He greets</th"}, true, "", "He greets</th"},
		"held back, but it was none":   {true, []string{"Hello."}, false, "Hello.", ""},
		"held back, done, and cut off": {true, []string{"a</think>Hello"}, true, "Hello", "a"},
	} {
		text := stream.NewText("", c.thinks, nil)
		for _, d := range c.deltas {
			if err := text.Write(d); err != nil {
				t.Fatal(err)
			}
		}
		if c.cut {
			text.Cut()
		}
		if err := text.End(); err != nil || text.String() != c.text || text.Thought() != c.thought {
			t.Errorf("%s: text %q, thought %q, %v", name, text, text.Thought(), err)
		}
	}
}

// A text that opens its thoughts itself is not held back any longer.
func TestOpenedThoughtIsNotHeldBack(t *testing.T) {
	var heard string
	text := stream.NewText("", true, func(s string) error { heard += s; return nil })
	for _, c := range [][2]string{{" ", ""}, {"<think>a", " "}, {"b</think>c", " c"}, {"d", " cd"}} {
		if err := text.Write(c[0]); err != nil || heard != c[1] {
			t.Errorf("after %q: %q, %v", c[0], heard, err)
		}
	}
}

func TestKeyIsNotSpoken(t *testing.T) {
	const key = "sk-secret/with+all"
	for name, c := range map[string]struct {
		key    string
		deltas []string
		want   string
	}{
		"whole":             {key, []string{"I am " + key + "!"}, "I am ***!"},
		"cut anywhere":      {key, strings.Split("sk-sk-"+key+key, ""), "sk-sk-******"},
		"around a thought":  {key, []string{"sk-sec", "<think>x</think>", "ret/with+all"}, "***"},
		"its beginning":     {key, []string{"sk-", "secret"}, "sk-secret"},
		"a dummy stays":     {"ollama", []string{"I run on ollama."}, "I run on ollama."},
		"no key":            {"", []string{"x"}, "x"},
		"one that overlaps": {"aabaabaa", []string{"aabaab", "aabaabaa", "b"}, "***baabaab"},
	} {
		t.Run(name, func(t *testing.T) {
			heard, text := told(t, c.key, false, c.deltas...)
			if heard != c.want || text.String() != c.want {
				t.Errorf("heard %q, text %q, want %q", heard, text, c.want)
			}
		})
	}
}

// How a text is cut changes nothing of what is heard in the end.
func TestTextWhateverThePieces(t *testing.T) {
	const key = "sk-secret"
	word := rapid.SampledFrom([]string{"<think>", "</think>", "<thinking>", "</thinking>", "<thi", "<", " ", "\n", "Hello", "世界", "🎉", key, "sk-", "secret", "</"})
	rapid.Check(t, func(t *rapid.T) {
		all := strings.Join(rapid.SliceOfN(word, 0, 12).Draw(t, "words"), "")
		thinks := rapid.Bool().Draw(t, "thinks")
		whole := stream.NewText(key, thinks, nil)
		cut := stream.NewText(key, thinks, nil)
		if err := whole.Write(all); err != nil {
			t.Fatal(err)
		}
		for rest := all; rest != ""; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "cut")
			if err := cut.Write(rest[:n]); err != nil {
				t.Fatal(err)
			}
			rest = rest[n:]
		}
		if err := errors.Join(whole.End(), cut.End()); err != nil {
			t.Fatal(err)
		}
		if whole.String() != cut.String() || whole.Thinks() != cut.Thinks() {
			t.Fatalf("%q: whole %q, in pieces %q", all, whole, cut)
		}
		if strings.Contains(cut.String(), key) {
			t.Fatalf("%q: the key is in %q", all, cut)
		}
	})
}

// A listener hears the text, and the key is never in it.
func FuzzText(f *testing.F) {
	f.Add("<think>a</think>b", "c</think>sk-secret", false)
	f.Add("sk-sec", "ret", true)
	f.Fuzz(func(t *testing.T, a, b string, thinks bool) {
		heard, text := told(t, "sk-secret", thinks, a, b)
		if heard != text.String() {
			t.Errorf("heard %q, text %q", heard, text)
		}
		if strings.Contains(heard, "sk-secret") {
			t.Errorf("the key is in %q", heard)
		}
	})
}

func TestListenersErrorEndsTheText(t *testing.T) {
	enough := errors.New("enough")
	text := stream.NewText("", false, func(string) error { return enough })
	if err := text.Write("a <thi"); !errors.Is(err, enough) || !text.Told() {
		t.Errorf("%v, told %v", err, text.Told())
	}
	if err := text.End(); !errors.Is(err, enough) {
		t.Errorf("at the end: %v", err)
	}
}

func TestScrub(t *testing.T) {
	const key = `a"b\c/d+e f`
	for _, written := range []string{key, `a\"b\\c/d+e f`, `a%22b%5Cc%2Fd%2Be+f`, `a%22b%5Cc%2Fd+e%20f`} {
		if got := stream.Scrub("say "+written+"!", key); got != "say ***!" {
			t.Errorf("%s: %s", written, got)
		}
	}
	if got := stream.Scrub("as it is", ""); got != "as it is" {
		t.Error(got)
	}
	if got := stream.NewText("sk-secret", false, nil).Whole(`{"a":"sk-secret"}`); got != `{"a":"***"}` {
		t.Error(got)
	}
}
