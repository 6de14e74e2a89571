package main

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/companiond/companiond/abi"
)

// TestMemoriesFromTheShell: what a companion is to remember is told, listed, corrected and
// erased by verbs that ask a daemon, and so is a person.
func TestMemoriesFromTheShell(t *testing.T) {
	dir := t.TempDir()
	momo(t, dir)
	d := start(t, dir, "[journal]\nballast = \"0\"\n[room.main]\npace = \"0s\"\npatience = \"60s\"\nfloor = \"60s\"\n")
	if got := d.verb("memory", "momo"); got != "nothing is remembered yet\n" {
		t.Errorf("memory says\n%s", got)
	}
	told := d.verb("memory", "add", "momo", "Mika's cat is called Tama.", "-about", "mika", "-keys", "Tama,cat")
	id, _, _ := strings.Cut(told, " ")
	if id == "" || !strings.Contains(told, "  Mika's cat is called Tama.\n") || !strings.Contains(told, "about mika; keys Tama, cat") {
		t.Errorf("memory add says\n%s", told)
	}
	if got := d.verb("memory", "-who", "mika"); got != "momo remembers\n"+told {
		t.Errorf("memory says\n%s", got)
	}
	edited := d.verb("memory", "edit", "momo", id, "-text", "Mika's dog is called Pochi.", "-importance", "5")
	if !strings.HasPrefix(edited, id+"  Mika's dog is called Pochi.\n") || !strings.Contains(edited, "importance 5") {
		t.Errorf("memory edit says\n%s", edited)
	}
	d.verb("memory", "edit", "momo", id, "-until", "now")
	var page struct{ Memories []abi.Memory }
	if err := json.Unmarshal([]byte(d.verb("memory", "momo", "-past", "-json")), &page); err != nil || len(page.Memories) != 1 || page.Memories[0].ValidTo.IsZero() {
		t.Errorf("%+v %v", page, err)
	}
	if got := d.verb("memory", "momo"); got != "nothing of that is remembered\n" {
		t.Errorf("memory says\n%s", got)
	}
	if got := d.verb("forget", id, "-of", "momo", "-dry-run"); !strings.HasPrefix(got, "would go: 0 entries, 1 memories, ") {
		t.Errorf("forget -dry-run says\n%s", got)
	}
	if got := d.verb("forget", id, "-yes"); !strings.HasPrefix(got, "gone: 0 entries, 1 memories, ") {
		t.Errorf("forget says\n%s", got)
	}
	if got := d.verb("memory", "-past"); got != "nothing is remembered yet\n" {
		t.Errorf("memory says\n%s", got)
	}

	if _, err := d.say("mika", "my cat is called Tama"); err != nil {
		t.Fatal(err)
	}
	if got := d.verb("forget", "mika", "-yes"); !strings.HasPrefix(got, "gone: ") || strings.HasPrefix(got, "gone: 0 entries") || !strings.Contains(got, "where the name stood: forgotten-") {
		t.Errorf("forget says\n%s", got)
	}
	for _, e := range d.entries(0) {
		if body := string(e.Body); strings.Contains(body, "mika") || strings.Contains(body, "Tama") {
			t.Errorf("%s: %s", e.Kind, body)
		}
	}
	if got := d.verb("why", "-prompt", "1"); !strings.HasSuffix(got, "no model was asked about #1\n") {
		t.Errorf("why -prompt says\n%s", got)
	}
	d.stop()
}

// why -prompt shows prompts also of what led to no decision, and nothing more without the flag.
func TestWhyShowsPrompts(t *testing.T) {
	why := func(args ...string) (code int, out, errs string) {
		var asked []string
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			asked = append(asked, r.URL.Path)
			switch r.URL.Path {
			case "/v1/rooms/main/entries/1/why":
				_, _ = w.Write([]byte(`{"text":"momo gets it\n"}`))
			case "/v1/rooms/main/entries/2/why":
				w.Header().Set("Content-Type", "application/problem+json")
				w.WriteHeader(http.StatusNotFound)
				_, _ = w.Write([]byte(`{"detail":"seq: entry 2 (perceived) led to no decision"}`))
			case "/v1/rooms/main/entries/3/why":
				w.Header().Set("Content-Type", "application/problem+json")
				w.WriteHeader(http.StatusForbidden)
				_, _ = w.Write([]byte(`{"detail":"who are you?"}`))
			default:
				_, _ = w.Write([]byte(`{"prompts":[{"seq":9,"usage":{"who":"momo","op":"vote","in":7},"parts":[{"name":"system","text":"You are Momo.","tokens":3}],"exact":true}]}`))
			}
		}))
		defer s.Close()
		var o, e bytes.Buffer
		tm := &term{out: &o, err: &e, env: []string{envURL + "=" + s.URL}}
		code = tm.do(context.Background(), append([]string{"why"}, args...))
		return code, strings.Join(asked, " ") + "\n" + o.String(), e.String()
	}
	code, out, errs := why("1", "-prompt")
	if code != exitOK || !strings.HasPrefix(out, "/v1/rooms/main/entries/1/why /v1/rooms/main/entries/1/prompts\nmomo gets it\n\nmomo vote") || !strings.Contains(out, "    You are Momo.\n") || errs != "" {
		t.Errorf("%d\n%s%s", code, out, errs)
	}
	if code, out, errs = why("-prompt", "2"); code != exitOK || !strings.Contains(out, "You are Momo.") || errs != "companiond: seq: entry 2 (perceived) led to no decision\n" {
		t.Errorf("%d\n%s%s", code, out, errs)
	}
	if code, out, errs = why("-prompt", "3"); code != exitFailed || strings.Contains(out, "prompts") || errs != "companiond why: who are you?\n" {
		t.Errorf("%d\n%s%s", code, out, errs)
	}
	if code, out, _ = why("1"); code != exitOK || out != "/v1/rooms/main/entries/1/why\nmomo gets it\n" {
		t.Errorf("%d\n%s", code, out)
	}
}
