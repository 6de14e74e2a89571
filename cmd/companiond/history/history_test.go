package history

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/cmd/companiond/paint"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/journal/sqlite"
	"github.com/companiond/companiond/host/search"
)

var noon = time.Date(2026, 5, 1, 12, 0, 0, 0, time.Local)

// desk is one before a daemon that answers so.
func desk(call func(path string, out any) error) (Desk, *bytes.Buffer, *bytes.Buffer) {
	var out, told bytes.Buffer
	return Desk{
		Paint: paint.Painter{Out: &out}, Err: &told,
		Call: func(_ context.Context, _, path string, _, to any) error { return call(path, to) },
		Parse: func(fs *flag.FlagSet, args []string, _ int) ([]string, error) {
			err := fs.Parse(args)
			return fs.Args(), err
		},
		Usage: func(format string, args ...any) error { return fmt.Errorf("usage: "+format, args...) },
	}, &out, &told
}

func do(t *testing.T, d Desk, args ...string) error {
	t.Helper()
	fs := flag.NewFlagSet("history", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	return d.History(t.Context(), fs, args)
}

func TestSearch(t *testing.T) {
	var asked []string
	answer := found{Hits: []hit{{"main", abi.Message{Seq: 42, From: "mika", Text: "天気\x1b[31m\nがいい", At: noon}, 0}}, Next: 40, Behind: true}
	d, out, told := desk(func(path string, to any) error {
		asked = append(asked, path)
		raw, _ := json.Marshal(answer)
		return json.Unmarshal(raw, to)
	})
	if err := do(t, d, "search", "天気"); err != nil {
		t.Fatal(err)
	}
	if err := do(t, d, "search", "-room", "居間", "-n", "5", "-from", "mika", "-before", "40", "a b", "c"); err != nil {
		t.Fatal(err)
	}
	want := []string{"/v1/search?limit=20&q=%E5%A4%A9%E6%B0%97", "/v1/rooms/%E5%B1%85%E9%96%93/search?before=40&from=mika&limit=5&q=a+b+c"}
	if fmt.Sprint(asked) != fmt.Sprint(want) {
		t.Errorf("%q", asked)
	}
	if got := out.String(); !strings.HasPrefix(got, "main 2026-05-01 12:00 #42   mika: 天気") || strings.Contains(got, "\x1b") || !strings.Contains(got, "there may be more: -before 40\n2026-05-01") {
		t.Errorf("%q", got)
	}
	// A hit in a turn says its number, which fork and compress take, and * is all rooms.
	out.Reset()
	answer.Hits[0].Turn = 7
	if err := do(t, d, "search", "-room", "*", "天気"); err != nil || asked[2] != want[0] || !strings.HasPrefix(out.String(), "main 2026-05-01 12:00 #42   turn 7    mika: 天気") {
		t.Errorf("%v %q %q", err, asked[2], out)
	}
	if !strings.Contains(told.String(), "the index is being made") {
		t.Errorf("%q", told)
	}
	out.Reset()
	answer = found{}
	if err := do(t, d, "search", "x"); err != nil || out.String() != "nothing was found\n" {
		t.Errorf("%v %q", err, out)
	}
	out.Reset()
	answer.Hits = []hit{}
	if err := do(t, d, "search", "-json", "x"); err != nil || out.String() != "{\n  \"hits\": []\n}\n" {
		t.Errorf("%v %q", err, out)
	}
}

func TestMistakes(t *testing.T) {
	refusal := errors.New("query.q: 20 words, at most 16")
	d, _, _ := desk(func(string, any) error { return refusal })
	for _, c := range []struct{ args, want string }{
		{"", "usage: do what? companiond history show"}, {"find x", "usage: do what?"}, {"search", "usage: search for what?"}, {"search x", "WORDS: 20 words"},
		{"-h", "flag: help requested"},
	} {
		if err := do(t, d, strings.Fields(c.args)...); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%q: %v", c.args, err)
		}
	}
	refusal = errors.New(`there is nothing at "/v1/search"`)
	if err := do(t, d, "search", "x"); err == nil || !strings.Contains(err.Error(), "older one") {
		t.Error(err)
	}
}

// Where no daemon runs the journal is searched, and not changed.
func TestWithoutADaemon(t *testing.T) {
	path := filepath.Join(t.TempDir(), "companiond.db")
	j, err := sqlite.Open(sqlite.Config{Path: path, Reserve: 4096})
	if err != nil {
		t.Fatal(err)
	}
	h, err := j.Acquire(t.Context(), "main", "test", noon)
	if err == nil {
		_, err = j.Append(t.Context(), "main", h, journal.New{ID: "a", Kind: entry.KindSaid, At: noon, Body: []byte(`{"from":"mika","text":"天気がいい","kind":"turn"}`)})
	}
	if err = errors.Join(err, j.Close()); err != nil {
		t.Fatal(err)
	}
	nobody := &net.OpError{Op: "dial", Err: errors.New("refused")}
	d, out, _ := desk(func(string, any) error { return fmt.Errorf("%w (is the daemon running?)", nobody) })
	if err := do(t, d, "search", "天気"); !errors.Is(err, error(nobody)) {
		t.Errorf("the journal was looked for somewhere else: %v", err)
	}
	d.Journal = func() (string, error) { return path, nil }
	for range 2 {
		out.Reset()
		if err := do(t, d, "search", "-room", "main", "天気"); err != nil || !strings.Contains(out.String(), "mika: 天気がいい") {
			t.Errorf("%v %q", err, out)
		}
	}
	if err := do(t, d, "search", "-room", "nowhere", "天気"); abi.CodeOf(err) != abi.CodeNotFound {
		t.Error(err)
	}
	// One that cannot be written is read as it is.
	if err := os.Chmod(filepath.Join(filepath.Dir(path), search.File), 0o400); err != nil {
		t.Fatal(err)
	}
	out.Reset()
	if err := do(t, d, "search", "天気"); err != nil || !strings.Contains(out.String(), "mika: 天気がいい") {
		t.Errorf("%v %q", err, out)
	}
	d.Journal = func() (string, error) { return filepath.Join(t.TempDir(), "none.db"), nil }
	if err := do(t, d, "search", "天気"); err == nil || !strings.Contains(err.Error(), "no journal") {
		t.Error(err)
	}
}
