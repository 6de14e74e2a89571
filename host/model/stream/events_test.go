package stream_test

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"

	"github.com/companiond/companiond/host/model/stream"
)

// read gives all events as "name|data", a torn one with a ~ before it.
func read(t interface{ Fatal(...any) }, r io.Reader) []string {
	var got []string
	for events := stream.NewEvents(r); ; {
		ev, err := events.Next()
		if errors.Is(err, io.EOF) {
			return got
		}
		if err != nil {
			t.Fatal(err)
		}
		mark := ""
		if ev.Torn {
			mark = "~"
		}
		got = append(got, mark+ev.Name+"|"+string(ev.Data))
	}
}

func TestEvents(t *testing.T) {
	for name, c := range map[string]struct {
		in   string
		want []string
	}{
		"nothing":                     {"", nil},
		"only space":                  {" \n\r\n", nil},
		"one":                         {"data: {}\n\n", []string{"|{}"}},
		"no space after the colon":    {"data:{}\n\n", []string{"|{}"}},
		"named":                       {"event: ping\ndata: {}\n\ndata: 1\n\n", []string{"ping|{}", "|1"}},
		"\\r\\n":                      {"event: a\r\ndata: 1\r\n\r\ndata: 2\r\n\r\n", []string{"a|1", "|2"}},
		"\\r":                         {"data: 1\r\rdata: 2\r\r", []string{"|1", "|2"}},
		"byte order mark":             {"\xEF\xBB\xBFdata: 1\n\n", []string{"|1"}},
		"comments":                    {": OPENROUTER PROCESSING\n\n: more\ndata: 1\n\n", []string{"|1"}},
		"other fields":                {"id: 3\nretry: 9\ndata: 1\nnonsense\n\n", []string{"|1"}},
		"an event without data":       {"event: a\n\nevent: b\ndata: 1\n\n", []string{"b|1"}},
		"data over lines":             {"data: {\ndata: \"a\":1}\n\n", []string{"|{\n\"a\":1}"}},
		"empty data":                  {"data\n\ndata:\n\n", []string{"|", "|"}},
		"no empty line between":       {"data: {\"a\":1}\ndata: {\"b\":2}\ndata: [DONE]\n", []string{`|{"a":1}`, `|{"b":2}`, "~|[DONE]"}},
		"no empty line at the end":    {"data: 1\n\ndata: [DONE]", []string{"|1", "~|[DONE]"}},
		"no empty line, no end":       {"data: {\"a\":1}\ndata: [DONE]", []string{`|{"a":1}`, "~|[DONE]"}},
		"cut":                         {"data: {\"a\":1}\n\ndata: {\"b\":", []string{`|{"a":1}`, `~|{"b":`}},
		"a server that streams not":   {" \n{\"a\":\n\n 1}\n", []string{"|{\"a\":\n\n 1}\n"}},
		"a list from such a server":   {"[1]", []string{"|[1]"}},
		"a page":                      {"<!doctype html>\n<p>no: no</p>\n\n", nil},
		"colons in the data":          {"data: a: b\n\n", []string{"|a: b"}},
		"two spaces after the colon":  {"data:  a\n\n", []string{"| a"}},
		"an event whose name is last": {"data: 1\nevent: late\n\n", []string{"late|1"}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := read(t, strings.NewReader(c.in)); !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
			if got := read(t, iotest.OneByteReader(strings.NewReader(c.in))); !slices.Equal(got, c.want) {
				t.Errorf("byte by byte: got %q, want %q", got, c.want)
			}
		})
	}
}

// An event is given as soon as its empty line is there: a \r is not waited past.
func TestEventsDoNotWait(t *testing.T) {
	for _, end := range []string{"\n\n", "\r\n\r\n", "\r\r", "\r\n\r"} {
		r, w := io.Pipe()
		go func() { fmt.Fprint(w, "data: 1"+end) }()
		ev, err := stream.NewEvents(r).Next()
		if err != nil || string(ev.Data) != "1" {
			t.Errorf("%q: %q, %v", end, ev.Data, err)
		}
		r.Close()
	}
}

func TestEventsGiveTheReadersError(t *testing.T) {
	broken := errors.New("broken")
	for _, in := range []string{"", "data: 1", "{\"a\":"} {
		_, err := stream.NewEvents(io.MultiReader(strings.NewReader(in), iotest.ErrReader(broken))).Next()
		if !errors.Is(err, broken) {
			t.Errorf("%q: %v", in, err)
		}
	}
}

// pieces cuts a text anywhere.
type pieces struct {
	left string
	cuts *rapid.Generator[int]
	t    *rapid.T
}

func (p *pieces) Read(b []byte) (int, error) {
	if p.left == "" {
		return 0, io.EOF
	}
	n := copy(b, p.left[:min(len(p.left), p.cuts.Draw(p.t, "cut"))])
	p.left = p.left[n:]
	return n, nil
}

// The events are those that were written, in whatever pieces a server sends them.
func TestEventsWhateverThePieces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var in strings.Builder
		var want []string
		in.WriteString(": hello\n")
		for range rapid.IntRange(0, 6).Draw(t, "events") {
			end := rapid.SampledFrom([]string{"\n", "\r\n", "\r"}).Draw(t, "end")
			name := rapid.SampledFrom([]string{"", "a", "message_stop"}).Draw(t, "name")
			data := rapid.StringMatching(`[ -~あ-ん🎉]{1,20}`).Draw(t, "data")
			if name != "" {
				in.WriteString("event: " + name + end)
			}
			if rapid.Bool().Draw(t, "comment") {
				in.WriteString(":" + end)
			}
			in.WriteString("data: " + data + end + end)
			want = append(want, name+"|"+data)
		}
		if got := read(t, &pieces{in.String(), rapid.IntRange(1, 9), t}); !slices.Equal(got, want) {
			t.Fatalf("got %q, want %q", got, want)
		}
	})
}

// FuzzEvents holds the reader to three things: it ends, it gives no more than it got, and pieces do
// not matter.
func FuzzEvents(f *testing.F) {
	for _, seed := range []string{"", "data: {}\n\n", "event: a\r\ndata: 1\r\rdata", "{\"a\":1}", "data: 1\ndata: 2\n: x\n\n", "\xEF\xBB\xBF data:x"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, in string) {
		got := read(t, strings.NewReader(in))
		if n := len(strings.Join(got, "")); n > 2*len(in)+len(got)*2 {
			t.Errorf("%d bytes of %d", n, len(in))
		}
		if again := read(t, iotest.OneByteReader(strings.NewReader(in))); !slices.Equal(got, again) {
			t.Errorf("whole %q, byte by byte %q", got, again)
		}
	})
}
