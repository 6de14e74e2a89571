package search_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/journal/memory"
	"github.com/companiond/companiond/host/journal/sqlite"
	"github.com/companiond/companiond/host/search"
	"github.com/companiond/companiond/host/waittest"
)

// The index is made again where it is missing, damaged, of another version, and of a journal that has lost
// something or is another.
func TestMadeAgain(t *testing.T) {
	for name, spoil := range map[string]func(*testing.T, *stage){
		"missing": func(t *testing.T, s *stage) {
			for _, suffix := range []string{"", "-wal", "-shm"} {
				_ = os.Remove(s.path + suffix)
			}
		},
		"empty": func(t *testing.T, s *stage) {
			if err := os.WriteFile(s.path, nil, 0o600); err != nil {
				t.Fatal(err)
			}
		},
		"garbage": func(t *testing.T, s *stage) {
			if err := os.WriteFile(s.path, bytes.Repeat([]byte("no database "), 5000), 0o600); err != nil {
				t.Fatal(err)
			}
		},
		"damaged":         func(t *testing.T, s *stage) { damage(t, s.path) },
		"tables of words": func(t *testing.T, s *stage) { exec1(t, s.path, "UPDATE grams_config SET v=99 WHERE k='version'") },
		"no names":        func(t *testing.T, s *stage) { exec1(t, s.path, "UPDATE said SET room=room+7") },
		"no table":        func(t *testing.T, s *stage) { exec1(t, s.path, "DROP TABLE said") },
		"version":         func(t *testing.T, s *stage) { exec1(t, s.path, "PRAGMA user_version=99") },
		"older journal": func(t *testing.T, s *stage) {
			s.j = memory.New()
			s.say("main", "mika", "天気のこと")
		},
		"another journal": func(t *testing.T, s *stage) {
			s.j = memory.New()
			for range 10 {
				s.say("main", "mika", "天気のこと")
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			s.say("main", "mika", "天気がいい", "猫がいる", "天気が悪い")
			s.say("cafe", "mika", "天気の話")
			s.find(search.Ask{Query: "天気"})
			if err := s.k.Close(); err != nil {
				t.Fatal(err)
			}
			spoil(t, s)
			s.open()
			for _, q := range []string{"天気", "猫", "天気が"} {
				a := search.Ask{Query: q}
				var got []string
				for try := 0; ; try++ { // damage is found by who meets it
					out, err := s.k.Search(t.Context(), a)
					if err == nil {
						for _, h := range out.Hits {
							got = append(got, fmt.Sprintf("%s#%d", h.Room, h.Message.Seq))
						}
						break
					}
					if abi.CodeOf(err) != abi.CodeUnavailable || try == 2 || strings.Contains(err.Error(), "the journal") {
						t.Fatal(err)
					}
				}
				if want := s.scan(a); !slices.Equal(got, want) {
					t.Errorf("%s: %q, want %q", q, got, want)
				}
			}
		})
	}
}

func exec1(t *testing.T, path, statement string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path)
	if err == nil {
		_, err = db.Exec(statement)
	}
	if err = errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
}

// A file of another program is left alone, and searching says what to do.
func TestAnothersFile(t *testing.T) {
	s := newStage(t)
	s.say("main", "mika", "天気")
	exec1(t, s.path, "PRAGMA application_id=7; CREATE TABLE theirs(x)")
	before, err := os.ReadFile(s.path)
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.k.Search(t.Context(), search.Ask{Query: "天気"})
	if abi.CodeOf(err) != abi.CodeUnavailable || !strings.Contains(err.Error(), "move it away") {
		t.Error(err)
	}
	if after, _ := os.ReadFile(s.path); !bytes.Equal(before, after) {
		t.Error("it was changed")
	}
	if err := os.Remove(s.path); err != nil {
		t.Fatal(err)
	}
	if got := s.find(search.Ask{Query: "天気"}); len(got) != 1 {
		t.Error(got)
	}
}

// A house without a place for the index runs, and searching says why it cannot.
func TestNoPlace(t *testing.T) {
	j := memory.New()
	s := &stage{t: t, j: j, path: filepath.Join(t.TempDir(), "missing", search.File), now: day}
	s.open()
	s.say("main", "mika", "天気")
	var log bytes.Buffer
	k := search.New(search.Config{Journal: j, Path: s.path, Log: slog.New(slog.NewTextHandler(&log, nil))})
	ctx, stop := context.WithCancel(t.Context())
	ran := make(chan error)
	go func() { ran <- k.Run(ctx) }()
	if _, err := k.Search(t.Context(), search.Ask{Query: "天気"}); abi.CodeOf(err) != abi.CodeUnavailable {
		t.Error(err)
	}
	if err := os.Mkdir(filepath.Dir(s.path), 0o700); err != nil {
		t.Fatal(err)
	}
	if out, err := k.Search(t.Context(), search.Ask{Query: "天気"}); err != nil || len(out.Hits) != 1 {
		t.Error(out, err)
	}
	stop()
	if err := errors.Join(<-ran, k.Close()); err != nil {
		t.Error(err)
	}
	if _, err := k.Search(t.Context(), search.Ask{Query: "天気"}); abi.CodeOf(err) != abi.CodeUnavailable {
		t.Error(err)
	}
}

// Run follows the journal, and what it stored stands beside how far it is.
func TestRunFollows(t *testing.T) {
	s := newStage(t)
	s.say("main", "mika", "天気がいい")
	ctx, stop := context.WithCancel(t.Context())
	ran := make(chan error)
	go func() { ran <- s.k.Run(ctx) }()
	reads := search.New(search.Config{Journal: s.j, Path: s.path, ReadOnly: true})
	defer reads.Close()
	waittest.Until(t, "a reader beside it finds what was indexed", func() bool {
		out, err := reads.Search(t.Context(), search.Ask{Query: "天気", Room: "main"})
		return err == nil && !out.Behind && len(out.Hits) == 1
	})
	s.say("main", "mika", "天気が悪い")
	if out, err := reads.Search(t.Context(), search.Ask{Query: "天気"}); err != nil || len(out.Hits) < 1 {
		t.Error(out, err)
	}
	s.find(search.Ask{Query: "天気"})
	if out, err := reads.Search(t.Context(), search.Ask{Query: "天気"}); err != nil || out.Behind || len(out.Hits) != 2 {
		t.Error(out, err)
	}
	stop()
	if err := <-ran; err != nil {
		t.Error(err)
	}
}

func TestOnlyReadWithoutAnIndex(t *testing.T) {
	s := newStage(t)
	s.say("main", "mika", "天気がいい")
	reads := search.New(search.Config{Journal: s.j, Path: s.path, ReadOnly: true})
	defer reads.Close()
	if _, err := reads.Search(t.Context(), search.Ask{Query: "天気"}); abi.CodeOf(err) != abi.CodeUnavailable || !strings.Contains(err.Error(), "start companiond") {
		t.Error(err)
	}
	if err := reads.Forget(t.Context(), map[string][]uint64{"main": {2}}); !errors.Is(err, journal.ErrUnavailable) {
		t.Error(err)
	}
}

// Two keepers on one file, as a command beside a daemon that starts, index nothing twice.
func TestTwoKeepers(t *testing.T) {
	s := newStage(t)
	other := search.New(search.Config{Journal: s.j, Path: s.path})
	defer other.Close()
	for i := range 20 {
		s.say("main", "mika", fmt.Sprint("天気 ", i))
		for _, k := range []*search.Keeper{s.k, other}[i%2:] {
			waittest.Until(t, "both find all", func() bool {
				out, err := k.Search(t.Context(), search.Ask{Query: "天気", Limit: 100})
				if err != nil {
					t.Fatal(err)
				}
				return !out.Behind && len(out.Hits) == i+1
			})
		}
	}
}

// What the journal trimmed is neither found nor in the file.
func TestTrimmed(t *testing.T) {
	s := newStage(t)
	s.say("main", "mika", "鱻の話", "天気の話")
	s.find(search.Ask{Query: "話"})
	if err := s.j.PutSnapshot(t.Context(), "main", 3, []byte("{}")); err != nil {
		t.Fatal(err)
	}
	if err := s.j.Trim(t.Context(), "main", 2); err != nil {
		t.Fatal(err)
	}
	if got := s.find(search.Ask{Query: "話"}); !slices.Equal(got, []string{"main#3"}) {
		t.Error(got)
	}
	s.again()
	ctx, stop := context.WithCancel(t.Context())
	ran := make(chan error)
	go func() { ran <- s.k.Run(ctx) }()
	waittest.Until(t, "it is out of the file", func() bool { return len(left(t, s.path, "鱻")) == 0 })
	stop()
	if err := <-ran; err != nil {
		t.Error(err)
	}
}

// A fork finds the past that it has of others, down to where it left each, and what was said in it; all rooms find
// each message once, and what is erased is found in none.
func TestForks(t *testing.T) {
	dir := t.TempDir()
	j, err := sqlite.Open(sqlite.Config{Path: filepath.Join(dir, "companiond.db"), Reserve: 4096})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = j.Close() })
	s := &stage{t: t, j: j, path: filepath.Join(dir, search.File), now: day}
	s.open()
	s.say("main", "mika", "天気一", "天気二", "天気三", "天気四", "天気五") // 2 to 6
	s.find(search.Ask{Query: "天気"})
	fork := func(room, of string, at uint64) {
		t.Helper()
		s.now = s.now.Add(time.Second)
		_, err := j.Fork(t.Context(), room, journal.Fork{Of: of, At: at}, journal.Listing{}, journal.New{ID: "forked " + room, Kind: entry.KindForked, At: s.now, Body: []byte("{}")})
		if err != nil {
			t.Fatal(err)
		}
	}
	fork("fork", "main", 4)
	s.say("fork", "mika", "天気の支流")      // 6
	fork("grandchild", "fork", 6)       // has 6
	s.say("grandchild", "mika", "天気の孫") // 8
	fork("low", "grandchild", 2)        // has 2
	s.say("low", "mika", "天気の低い枝")      // 4
	s.say("fork", "mika", "天気の支流の続き")   // 7
	s.say("main", "mika", "天気六")        // 7
	want := map[string][]uint64{"main": {7, 6, 5, 4, 3, 2}, "fork": {7, 6, 4, 3, 2}, "grandchild": {8, 6, 4, 3, 2}, "low": {4, 2}}
	check := func() {
		t.Helper()
		for room, want := range want {
			for _, limit := range []int{1, 2, 100} {
				var got []uint64
				for before := uint64(0); ; {
					out, err := s.k.Search(t.Context(), search.Ask{Query: "天気", Room: room, Limit: limit, Before: before})
					if err != nil {
						t.Fatal(err)
					}
					for _, h := range out.Hits {
						if h.Room != room {
							t.Errorf("%s: a hit in %s", room, h.Room)
						}
						got = append(got, h.Message.Seq)
					}
					if before = out.Next; before == 0 {
						break
					}
				}
				if !slices.Equal(got, want) {
					t.Errorf("%s by %d: %v, want %v", room, limit, got, want)
				}
			}
		}
	}
	check()
	if got := s.find(search.Ask{Query: "天気"}); len(got) != 10 {
		t.Errorf("all rooms: %q", got)
	}
	for may, want := range map[string][]string{ // what is shared with a room that may not be read is found in a fork, each once
		"fork":            {"fork#7", "fork#6", "fork#4", "fork#3", "fork#2"},
		"grandchild low":  {"low#4", "grandchild#8", "grandchild#6", "grandchild#4", "grandchild#3", "grandchild#2"},
		"low":             {"low#4", "low#2"},
		"main low":        {"main#7", "low#4", "main#6", "main#5", "main#4", "main#3", "main#2"},
		"fork grandchild": {"fork#7", "grandchild#8", "fork#6", "fork#4", "fork#3", "fork#2"},
		"":                nil,
	} {
		for _, limit := range []int{1, 2, 100} {
			asked := map[string]int{}
			a := search.Ask{Query: "天気", Limit: limit, May: func(room string) bool { asked[room]++; return slices.Contains(strings.Fields(may), room) }}
			if got := s.find(a); !slices.Equal(got, want) {
				t.Errorf("who may read %q finds %q by %d", may, got, limit)
			}
			for room, n := range asked {
				if limit == 100 && n > 1 {
					t.Errorf("it was asked %d times about %s", n, room)
				}
			}
		}
	}
	s.again()
	check()
	if err := j.Erase(t.Context(), "main", map[uint64][]byte{2: []byte(`{"text":""}`)}); err != nil {
		t.Fatal(err)
	}
	if err := s.k.Forget(t.Context(), map[string][]uint64{"fork": {2}, "low": {2}, "main": {2}}); err != nil {
		t.Fatal(err)
	}
	for room, seqs := range want {
		want[room] = seqs[:len(seqs)-1]
	}
	check()
}

// TestKilled kills a process that indexes, at some time or other, and finds everything once afterwards.
func TestKilled(t *testing.T) {
	waittest.WithoutRaces(t)
	dir := os.Getenv("SEARCH_DIR")
	open := func(dir string) (*sqlite.Journal, *search.Keeper) {
		j, err := sqlite.OpenReadOnly(filepath.Join(dir, "companiond.db"))
		if err != nil {
			t.Fatal(err)
		}
		return j, search.New(search.Config{Journal: j, Path: filepath.Join(dir, search.File)})
	}
	if dir != "" {
		_, k := open(dir)
		fmt.Println("begins")
		for {
			if out, err := k.Search(context.Background(), search.Ask{Query: "を"}); err != nil || !out.Behind {
				t.Fatal(out, err)
			}
		}
	}
	dir = t.TempDir()
	if err := talked(t, dir, 8000).Close(); err != nil {
		t.Fatal(err)
	}
	rounds := 6
	if testing.Short() {
		rounds = 2
	}
	killed := 0
	for round := range rounds {
		child := exec.Command(os.Args[0], "-test.run", "^TestKilled$")
		child.Env = append(os.Environ(), "SEARCH_DIR="+dir)
		out, err := child.StdoutPipe()
		if err == nil {
			err = child.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		_, _ = out.Read(make([]byte, 6))
		kill := time.AfterFunc(time.Duration(round*60+20)*time.Millisecond, func() { _ = child.Process.Kill() })
		if err := child.Wait(); err != nil && strings.Contains(err.Error(), "killed") {
			killed++
		}
		kill.Stop()
	}
	j, k := open(dir)
	defer j.Close()
	defer k.Close()
	s := &stage{t: t, j: j, k: k}
	if killed == 0 {
		t.Error("it was never killed")
	}
	for _, a := range []search.Ask{{Query: "です。", Room: "room07", Limit: 100}, {Query: "だよね", Room: "room99", Limit: 100}} {
		if got, want := s.find(a), s.scan(a); len(want) == 0 || !slices.Equal(got, want) {
			t.Errorf("%+v: %d found, %d are there", a, len(got), len(want))
		}
	}
}

// A word whose pairs of letters many messages have that have not the word costs no more than a bound: a page may be
// empty and go on.
func TestEmptyPageGoesOn(t *testing.T) {
	s := newStage(t)
	s.say("main", "mika", "天気予報")
	for range 25 {
		s.say("main", "mika", slices.Repeat([]string{"気予と天気"}, 100)...)
	}
	for _, room := range []string{"", "main"} {
		for {
			out, err := s.k.Search(t.Context(), search.Ask{Query: "天気予", Room: room})
			if err != nil {
				t.Fatal(err)
			}
			if !out.Behind {
				if len(out.Hits) != 0 || out.Next == 0 {
					t.Errorf("%q: %d hits, next %d", room, len(out.Hits), out.Next)
				}
				break
			}
		}
		if got := s.find(search.Ask{Query: "天気予", Room: room}); !slices.Equal(got, []string{"main#2"}) {
			t.Errorf("%q: %q", room, got)
		}
	}
}

// In a house of very many rooms not all are looked at for each search; what was said in one is found there at once.
func TestVeryManyRooms(t *testing.T) {
	s := newStage(t)
	for i := range 2100 {
		s.say(fmt.Sprint("room", i), "mika", "天気")
	}
	if got := s.find(search.Ask{Query: "天気", Limit: 100}); len(got) != 2100 {
		t.Errorf("%d found", len(got))
	}
	s.say("room7", "mika", "猫の天気")
	if got := s.find(search.Ask{Query: "天気", Room: "room7"}); !slices.Equal(got, []string{"room7#3", "room7#2"}) {
		t.Error(got)
	}
	s.say("room8", "mika", slices.Repeat([]string{"犬の天気"}, 1500)...)
	if out, err := s.k.Search(t.Context(), search.Ask{Query: "犬", Room: "room8"}); err != nil || !out.Behind || len(out.Hits) != 0 {
		t.Error(out, err)
	}
	waittest.Until(t, "a search of all rooms looks at them again", func() bool {
		out, err := s.k.Search(t.Context(), search.Ask{Query: "犬"})
		return err == nil && !out.Behind && len(out.Hits) == 20
	})
}
