package room

import (
	"context"
	"database/sql"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"github.com/companiond/companiond/host/journal/sqlite"
)

func TestDamagedSQLite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	run := func(d time.Duration) (int, string) {
		j, err := sqlite.Open(sqlite.Config{Path: path, Log: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		defer j.Close()
		r := New(Settings{Name: "main", Rules: testRules}, Config{Journal: j, Owner: d.String(), Log: slog.New(slog.DiscardHandler), NewID: func() string { return "x" },
			Find: func(string) (Companion, bool) { return nil, false }}, nil)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- r.Run(ctx) }()
		time.Sleep(d)
		state := r.Info().State
		cancel()
		<-done
		es, _ := j.Read(t.Context(), "main", 0, 1000)
		return len(es), state
	}
	n, _ := run(300 * time.Millisecond)
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec("DROP TRIGGER bodies_immutable; DELETE FROM snapshots"); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(`UPDATE entries SET body = '{"owner":"evil"}' WHERE seq = 1`); err != nil {
		t.Fatal(err)
	}
	db.Close()
	m, state := run(3500 * time.Millisecond)
	if m > n {
		t.Errorf("%d entries before the damage, %d after 3.5 s, state %s", n, m, state)
	}
}
