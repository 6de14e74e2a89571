package search_test

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/companiond/companiond/host/forget/forgettest"
	"github.com/companiond/companiond/host/search"
	_ "modernc.org/sqlite" // the index's own
)

// left tells where a letter that stands in no other message still is: among the grams, or anywhere in the bytes.
func left(t *testing.T, path string, letters string) (found []string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	if _, err := db.Exec("CREATE VIRTUAL TABLE temp.v USING fts5vocab(main, grams, 'row')"); err != nil {
		t.Fatal(err)
	}
	rows, err := db.Query("SELECT term FROM temp.v")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var term string
		if err := rows.Scan(&term); err != nil {
			t.Fatal(err)
		}
		if strings.ContainsAny(term, letters) {
			found = append(found, "gram "+term)
		}
	}
	for _, f := range []string{path, path + "-wal"} {
		raw, err := os.ReadFile(f)
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		for _, r := range letters {
			if n := bytes.Count(raw, []byte(string(r))); n > 0 {
				found = append(found, fmt.Sprintf("%s: %c %d times", f, r, n))
			}
		}
	}
	return found
}

// erase takes words out of the journal, and then out of the index.
func (s *stage) erase(room string, seqs map[uint64][]byte) {
	s.t.Helper()
	if err := s.j.Blank(context.Background(), room, 0, seqs); err != nil {
		s.t.Fatal(err)
	}
}

func TestForget(t *testing.T) {
	s := newStage(t)
	const secret = "鱻龘麤"
	s.say("main", "mika", "秘密は鱻龘麤です", "また明日", "鱻龘は別")
	for i := range 300 {
		s.say("main", "taro", fmt.Sprint("ふつうの話 ", i), "天気の話")
		if i%50 == 0 { // segments of their own
			s.find(search.Ask{Query: "話"})
		}
	}
	s.say("main", "taro", "麤の話を聞いた")
	if got := s.find(search.Ask{Query: "鱻龘"}); !slices.Equal(got, []string{"main#4", "main#2"}) {
		t.Fatal(got)
	}
	if found := left(t, s.path, secret); len(found) == 0 {
		t.Fatal("the search finds nothing of what is there")
	}
	s.erase("main", map[uint64][]byte{2: []byte(`{"from":"forgotten-1","text":""}`), 4: []byte(`{"from":"forgotten-1","text":"は別"}`), 605: nil})
	if got := s.find(search.Ask{Query: "鱻龘"}); len(got) > 0 {
		t.Errorf("found before it is out of the file: %v", got)
	}
	if err := s.k.Forget(t.Context(), map[string][]uint64{"main": {0, 1, 2, 4, 605, 9999}, "nowhere": {3}}); err != nil {
		t.Fatal(err)
	}
	if found := left(t, s.path, secret); len(found) > 0 {
		t.Error(strings.Join(found, "\n"))
	}
	if found := forgettest.Left(t, t.TempDir(), secret); len(found) > 0 {
		t.Error(found)
	}
	for query, want := range map[string]int{"鱻": 0, "は別": 1, "麤": 0, "天気の話": 300, "また明日": 1} {
		if got := s.find(search.Ask{Query: query}); len(got) != want {
			t.Errorf("%s: %d hits, want %d", query, len(got), want)
		}
	}
	if got := s.find(search.Ask{Query: "明日", From: "mika"}); !slices.Equal(got, []string{"main#3"}) {
		t.Error(got)
	}
	s.say("main", "mika", "鱻をまた言う") // what is said anew stays
	s.again()
	if got := s.find(search.Ask{Query: "鱻"}); !slices.Equal(got, []string{"main#606"}) {
		t.Error(got)
	}
}

// An index that cannot be cleaned is deleted, and made again of what is left.
func TestForgetInADamagedIndex(t *testing.T) {
	s := newStage(t)
	s.say("main", "mika", "秘密は鱻龘麤です", "また明日")
	s.find(search.Ask{Query: "明日"})
	if err := s.k.Close(); err != nil {
		t.Fatal(err)
	}
	damage(t, s.path)
	s.open()
	s.erase("main", map[uint64][]byte{2: nil})
	if err := s.k.Forget(t.Context(), map[string][]uint64{"main": {2}}); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(s.path)
	if err == nil && bytes.Contains(raw, []byte("龘")) {
		t.Error("it is still there")
	}
	if got := s.find(search.Ask{Query: "明日"}); len(got) != 1 {
		t.Error(got)
	}
}

// damage overwrites the middle of a file.
func damage(t *testing.T, path string) {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := 4096; i < len(raw); i++ {
		raw[i] = 0x5a
	}
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
}
