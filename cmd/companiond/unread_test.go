package main

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/waittest"
)

// spoil changes the journal behind the daemon's back, as a bad disk does.
func (d *daemon) spoil(query string, args ...any) {
	d.t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(d.dir, "state", "companiond.db"))
	if err != nil {
		d.t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec("PRAGMA busy_timeout = 60000; DROP TRIGGER IF EXISTS bodies_immutable; DROP TRIGGER IF EXISTS entries_immutable"); err != nil {
		d.t.Fatal(err)
	}
	if _, err := db.Exec(query, args...); err != nil {
		d.t.Fatal(err)
	}
}

// TestTailGoesOnBehindWhatCannotBeRead: an entry whose bytes were changed, or that is gone, is told of in one
// line, and what comes behind it is shown.
func TestTailGoesOnBehindWhatCannotBeRead(t *testing.T) {
	const cut, other, gone = `UPDATE entries SET body = substr(body, 1, 9) WHERE seq = ?`, `UPDATE entries SET body = '[]' WHERE seq = ?`, `DELETE FROM entries WHERE seq = ?`
	for _, tc := range []struct {
		spoil string
		kind  entry.Kind // the first of it
		args  []string
		why   string
	}{
		{cut, entry.KindOwner, []string{"tail", "-since", "0"}, "its body is no JSON"},
		{cut, entry.KindSaid, []string{"tail", "-since", "0"}, "its body is no JSON"},
		{cut, entry.KindSaid, []string{"tail"}, "its body is no JSON"},
		{other, entry.KindSaid, []string{"tail"}, `its body is not that of "said": json: `},
		{other, entry.KindStop, []string{"tail", "-since", "0"}, `its body is not that of "stop": json: `},
		{gone, entry.KindOwner, []string{"tail"}, "the journal has it no more"},
		{gone, entry.KindStop, []string{"tail"}, "the journal has it no more"},
	} {
		d := start(t, t.TempDir(), "[journal]\nballast = \"0\"\n")
		d.verb("say", "-from", "taro", "one")
		d.verb("stop", "-from", "mika")
		d.verb("say", "-from", "taro", "two")
		d.verb("stop", "-from", "rin")
		var seq uint64
		for _, e := range d.entries(0) {
			if e.Kind == tc.kind && seq == 0 {
				seq = e.Seq
			}
		}
		d.spoil(tc.spoil, seq)
		ctx, cancel := context.WithTimeout(t.Context(), waittest.Long)
		out := &watcher{stop: "STOP by rin", end: cancel}
		errs := &watcher{stop: "trying again", end: cancel} // it would go on for ever
		tail := &term{out: out, err: errs, env: []string{envURL + "=" + d.url}}
		code := tail.do(ctx, tc.args)
		cancel()
		said := errs.String()
		want := fmt.Sprintf("companiond: entry %d of room main cannot be read: %s", seq, tc.why)
		if code != exitOK || !strings.HasPrefix(said, want) || strings.Count(said, "\n") != 1 {
			t.Errorf("%s %d, %v: ended with %d and said\n%swant one line with\n%s", tc.spoil, seq, tc.args, code, said, want)
		}
		if !strings.Contains(out.String(), "taro: two") || !strings.Contains(out.String(), "STOP by rin") {
			t.Errorf("%s %d, %v shows\n%s", tc.spoil, seq, tc.args, out)
		}
		d.kill()
	}
}
