package host_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/companiond/companiond/host/door/web/past"
	"github.com/companiond/companiond/host/entry"
	book "github.com/companiond/companiond/host/history"
	"github.com/companiond/companiond/host/waittest"
)

// both is a language model that votes, and drafts and verifies, in which the daemon may be killed.
type both struct {
	killedScribe
	listener
}

func (b *both) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	if bytes.Contains(body, []byte(`\"task\":\"compress\"`)) || bytes.Contains(body, []byte(`\"task\":\"verify\"`)) {
		b.killedScribe.ServeHTTP(w, r)
		return
	}
	b.listener.ServeHTTP(w, r)
}

// TestKilledByItself has a talk grow, and the daemon killed with SIGKILL around the drafts and verdicts that nobody asked for: each
// beginning is asked for once, 32 turns lie between two, all of them are approved at last, and the journal refuses nothing of it.
func TestKilledByItself(t *testing.T) {
	waittest.WithoutRaces(t)
	b := &both{}
	server := httptest.NewServer(b)
	t.Cleanup(server.Close)
	b.mortal = newMortal(t, fmt.Sprintf("[memory]\nscope = \"off\"\n[model.main]\nurl = %q\nmodel = \"tiny\"\ncalls_minute = 0\nretries = 0\ncontext = 6000\n"+
		"[room.main]\nmax_turns = 1\npace = \"0s\"\nsilence = \"0s\"\nahead = 0\npatience = \"20s\"\ncompress = \"auto\"\ncompress_policy = \"Keep the budget, good.\"\ncompress_at = 0.3\n", server.URL))
	if err := os.WriteFile(filepath.Join(b.dir, "characters", "ann.json"), []byte(`{"name":"Ann","personality":"kind"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	k := &killedPast{mortal: b.mortal, t: t}
	var all struct{ Compressions []past.Compression }
	for round := range 6 {
		k.plan(round % 6)
		approved := func() int {
			k.do("", "GET", "/v1/rooms/main/compressions", nil, &all, http.StatusOK)
			n := 0
			for _, c := range all.Compressions {
				if c.State == string(book.Approved) && c.ApprovedBy == book.Configuration {
					n++
				}
			}
			return n
		}
		for end := time.Now().Add(waittest.Long); approved() <= round; {
			if time.Now().After(end) {
				t.Fatalf("round %d: %+v", round, all.Compressions)
			}
			if i := slices.IndexFunc(all.Compressions, func(c past.Compression) bool { return c.State == string(book.Refused) }); i >= 0 {
				t.Fatal(all.Compressions[i].Why)
			}
			if slices.ContainsFunc(all.Compressions, func(c past.Compression) bool { return book.State(c.State).Open() }) {
				time.Sleep(5 * time.Millisecond) // it grows no further meanwhile
				continue
			}
			k.do("", "POST", "/v1/rooms/main/messages", map[string]string{"from": "taro", "text": "The budget is 900 yen. " + strings.Repeat("The weather is fine today, I think. ", 6)}, nil, http.StatusOK, http.StatusCreated)
		}
		k.missed()
	}
	var journal struct{ Entries []entry.Entry }
	var now book.Book
	var turns []uint64
	for since := uint64(0); ; since = journal.Entries[len(journal.Entries)-1].Seq {
		k.do("", "GET", fmt.Sprintf("/v1/rooms/main/entries?limit=1000&since=%d", since), nil, &journal, http.StatusOK)
		if len(journal.Entries) == 0 {
			break
		}
		for _, e := range journal.Entries {
			in, err := entry.Decode[book.Input](e)
			if e.Kind != entry.KindHistory || err != nil {
				continue
			}
			if err := now.Refuses(in); err != nil {
				t.Errorf("entry %d: %v", e.Seq, err)
			}
			if now.Happens(in, e.Seq, e.At); in.Kind == book.Propose {
				turns = append(turns, in.Turn)
			}
		}
	}
	for i := range turns[1:] {
		if turns[i+1] < turns[i]+book.Rest {
			t.Errorf("it is asked for at %d", turns)
		}
	}
	for i, p := range now.Proposals {
		if newest := i == len(now.Proposals)-1; p.State != book.Approved && !(newest && p.State.Open()) {
			t.Errorf("%s of turns %s is %s: %s", p.ID, p.Ask.Turns, p.State, p.Why)
		}
	}
	t.Logf("%d kills: %v; asked for at %d", b.kills, b.where, turns)
	b.replays([]string{"main"})
}
