package host_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/journal/journaltest"
	"github.com/companiond/companiond/host/journal/sqlite"
	"github.com/companiond/companiond/host/room/fold"
	"github.com/companiond/companiond/host/room/reader"
	"github.com/companiond/companiond/host/room/retention"
)

// Golden journals: what each landed version left, and what it made of it itself. A
// later version opens, folds, verifies and replays all of them, to the same state
// after each entry, with the same messages and the same reasons. They were made by
// testdata/golden/record.go; nothing in them is ever changed.

var updateGolden = flag.Bool("update-golden", false, "write the states of golden journals that have none")

// goldenRoom is what a version made of a room.
type goldenRoom struct {
	States []string `json:"states"` // a digest of the view after each entry, from 1
	Last   view     `json:"last"`   // the view at the end
}

// view is what a room's state means, whatever its fields are called.
type view struct {
	Head      uint64         `json:"head"`
	At        time.Time      `json:"at"`
	Policy    string         `json:"policy"`
	Cast      []viewMember   `json:"cast"`
	Humans    []string       `json:"humans"` // who spoke, the newest last
	Last      uint64         `json:"last"`   // seq of the newest turn
	LastFrom  string         `json:"last_from"`
	LastBy    string         `json:"last_by"`
	Asked     uint64         `json:"asked"`
	Called    []string       `json:"called"`
	Round     *viewRound     `json:"round"`
	Held      *viewRound     `json:"held"`
	Chain     []uint64       `json:"chain"`
	Since     time.Time      `json:"since"`
	Floor     *viewFloor     `json:"floor"`
	Debt      map[string]int `json:"debt"`
	Turns     int            `json:"turns"`
	Asides    int            `json:"asides"`
	Stage     string         `json:"stage"`
	Stopped   string         `json:"stopped"`
	Rest      string         `json:"rest"`
	Pace      time.Time      `json:"pace"`
	Silence   time.Time      `json:"silence"`
	SilenceOf uint64         `json:"silence_of"`
	Broken    bool           `json:"broken"`
	Alone     bool           `json:"alone"`
	Spent     []viewSpend    `json:"spent"`
	Tries     []string       `json:"tries"`
	Kept      string         `json:"kept"`
	Waits     int            `json:"waits"`
	Wishes    []uint64       `json:"wishes"`
	Actions   []string       `json:"actions"`
}

type viewMember struct {
	ID     string `json:"id"`
	Name   string `json:"name"`
	Kind   string `json:"kind"`
	NoVote bool   `json:"no_vote"`
}

type viewRound struct {
	ID        uint64            `json:"id"`
	About     uint64            `json:"about"`
	Voters    []string          `json:"voters"`
	Addressed []string          `json:"addressed"`
	Due       time.Time         `json:"due"`
	Silence   bool              `json:"silence"`
	Votes     map[string]string `json:"votes"`
}

type viewFloor struct {
	Token     string    `json:"token"`
	Who       string    `json:"who"`
	Basis     uint64    `json:"basis"`
	Expires   time.Time `json:"expires"`
	By        uint64    `json:"by"`
	Round     uint64    `json:"round"`
	About     uint64    `json:"about"`
	Silence   bool      `json:"silence"`
	Addressed []string  `json:"addressed"`
	Tried     []string  `json:"tried"`
	Again     bool      `json:"again"`
	Lost      string    `json:"lost"`
	Wish      uint64    `json:"wish"`
	Segments  int       `json:"segments"`
}

type viewSpend struct {
	From string    `json:"from"`
	At   time.Time `json:"at"`
	Cost float64   `json:"cost"`
}

func sorted(s []string) []string { return append([]string{}, slices.Sorted(slices.Values(s))...) }

// called is whom a human had addressed since the last round opened, which rules before
// version 3 went by. The state does not say it any more; the digests of then have it.
type called struct{ who []string }

func (c *called) read(t *testing.T, s *fold.State, e entry.Entry) {
	switch e.Kind {
	case entry.KindArchived, entry.KindRound:
		c.who = nil
	case entry.KindCast:
		if b, err := entry.Decode[entry.Cast](e); err == nil && b.Addressed != nil && s.LastBy == abi.KindHuman && len(s.Meant) > 0 {
			c.who = s.Meant
		}
	case entry.KindSaid:
		switch b, err := entry.Decode[entry.Said](e); {
		case err != nil && !e.Blank:
			t.Fatal(err)
		case b.Kind == abi.KindBackchannel:
		case b.By == abi.KindHuman && len(s.Meant) > 0:
			c.who = s.Meant
		case b.By != abi.KindHuman:
			c.who = slices.DeleteFunc(slices.Clone(c.who), func(id string) bool { return id == b.From })
		}
	}
}

func viewOf(s *fold.State, c called) view {
	v := view{
		Head: s.Head, At: s.At, Policy: s.Rules.Policy, Humans: []string{}, Last: s.Last.Seq, LastFrom: s.Last.From, LastBy: string(s.LastBy),
		Asked: s.Asked, Called: sorted(c.who), Chain: append([]uint64{}, s.Chain...), Since: s.Since, Debt: map[string]int{},
		Turns: s.Turns, Asides: s.Backchannels, Stage: string(s.Stage), Stopped: s.Stopped, Rest: string(s.Rest), Pace: s.Pace,
		Silence: s.Silence, SilenceOf: s.Of, Broken: s.Broken, Alone: s.Alone, Waits: s.Waits,
	}
	for _, p := range s.People {
		v.Humans = append(v.Humans, p.Name)
	}
	v.Humans = v.Humans[max(0, len(v.Humans)-32):] // version 1 kept as many
	for _, c := range s.Cast {
		v.Cast = append(v.Cast, viewMember{c.ID, c.Name, string(c.Kind), c.NoVote})
	}
	v.Round, v.Held = roundView(s), nil
	if s.Held != nil {
		h := *s
		h.Round = s.Held
		v.Held = roundView(&h)
	}
	if f := s.Floor; f != nil {
		v.Floor = &viewFloor{
			Token: f.Token, Who: f.Who, Basis: f.Basis, Expires: f.Expires, By: f.By, Round: f.Round, About: f.About, Silence: f.Silence,
			Addressed: sorted(f.Addressed), Tried: append([]string{}, f.Tried...), Again: f.Again, Lost: f.Lost, Segments: f.Segments,
		}
		if f.Wish != nil {
			v.Floor.Wish = f.Wish.Seq
		}
	}
	for who, n := range s.Debt {
		if n != 0 {
			v.Debt[who] = n
		}
	}
	for _, p := range s.Ledger {
		v.Spent = append(v.Spent, viewSpend{p.From, p.At, p.Cost})
	}
	for _, t := range s.Tries {
		v.Tries = append(v.Tries, t.Who)
	}
	if s.Kept != nil {
		v.Kept = s.Kept.Who
	}
	for _, w := range s.Requests {
		v.Wishes = append(v.Wishes, w.Seq)
	}
	for _, a := range s.Acts {
		v.Actions = append(v.Actions, a.ID)
	}
	return v
}

func roundView(s *fold.State) *viewRound {
	r := s.Round
	if r == nil {
		return nil
	}
	v := &viewRound{ID: r.ID, About: r.About, Addressed: sorted(r.Addressed), Due: r.Due, Silence: r.Silence, Votes: map[string]string{}}
	for _, e := range r.Electorate {
		v.Voters = append(v.Voters, e.ID)
	}
	for who, b := range r.Ballots {
		switch {
		case b.Absent != "":
			v.Votes[who] = "absent"
		case b.Carried:
			v.Votes[who] = "carried " + string(b.Vote.State)
		default:
			v.Votes[who] = string(b.Vote.State)
		}
	}
	return v
}

func digestOf(v view) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:6])
}

// openGolden opens a copy of a golden journal.
func openGolden(t *testing.T, path string) *sqlite.Journal {
	t.Helper()
	db := filepath.Join(t.TempDir(), "companiond.db")
	if err := os.WriteFile(db, journaltest.Unzip(t, path), 0o600); err != nil {
		t.Fatal(err)
	}
	j, err := sqlite.Open(sqlite.Config{Path: db})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Close() })
	return j
}

// versions gives the folder of each golden version.
func versions(t *testing.T) []string {
	t.Helper()
	dirs, err := filepath.Glob("testdata/golden/*/companiond.db.gz")
	if err != nil || len(dirs) == 0 {
		t.Fatal(dirs, err)
	}
	for i, file := range dirs {
		dirs[i] = filepath.Dir(file)
	}
	return dirs
}

func roomsOf(t *testing.T, j journal.Journal) []journal.Room {
	t.Helper()
	rooms, err := j.Rooms(t.Context(), "", 1000)
	if err != nil || len(rooms) == 0 {
		t.Fatal(rooms, err)
	}
	return rooms
}

// foldView folds a room and gives the view after each entry.
func foldView(t *testing.T, j journal.Journal, name string) (digests []string, last view) {
	t.Helper()
	s, meant := fold.New(), called{}
	for {
		es, err := j.Read(t.Context(), name, s.Head, 500)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range es {
			if err := s.Apply(e); err != nil {
				t.Fatalf("room %s: %v", name, err)
			}
			meant.read(t, s, e)
			digests = append(digests, digestOf(viewOf(s, meant)))
		}
		if len(es) < 500 {
			return digests, viewOf(s, meant)
		}
	}
}

// TestGoldenStates folds every room to the states that its own version had.
func TestGoldenStates(t *testing.T) {
	for _, dir := range versions(t) {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			j := openGolden(t, filepath.Join(dir, "companiond.db.gz"))
			states := filepath.Join(dir, "states.json.gz")
			if _, err := os.Stat(states); err != nil && *updateGolden {
				writeStates(t, j, states)
			}
			want := map[string]goldenRoom{}
			if err := json.Unmarshal(journaltest.Unzip(t, states), &want); err != nil || len(want) < 6 {
				t.Fatal(len(want), err)
			}
			for name, was := range want {
				digests, last := foldView(t, j, name)
				for i, d := range was.States {
					if i >= len(digests) || digests[i] != d {
						t.Errorf("room %s: the state after entry %d is another", name, i+1)
						break
					}
				}
				if len(digests) != len(was.States) || !sameJSON(t, last, was.Last) {
					t.Errorf("room %s ends after %d entries, not %d, with\n%+v\nnot\n%+v", name, len(digests), len(was.States), last, was.Last)
				}
			}
		})
	}
}

func writeStates(t *testing.T, j journal.Journal, path string) {
	all := map[string]goldenRoom{}
	for _, r := range roomsOf(t, j) {
		digests, last := foldView(t, j, r.Name)
		all[r.Name] = goldenRoom{digests, last}
	}
	b, err := json.MarshalIndent(all, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	zip(t, path, b)
}

// zip writes a file of testdata/golden.
func zip(t *testing.T, path string, b []byte) {
	t.Helper()
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	if _, err := z.Write(b); err != nil || z.Close() != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, zipped.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}

func sameJSON(t *testing.T, a, b any) bool {
	t.Helper()
	x, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	y, err := json.Marshal(b)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Equal(x, y)
}

// TestGoldenDoors compares messages and reasons with what the doors answered then,
// also after bodies were taken out.
func TestGoldenDoors(t *testing.T) {
	for _, dir := range versions(t) {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			j := openGolden(t, filepath.Join(dir, "companiond.db.gz"))
			sameDoors(t, dir, j)
			sweepGolden(t, j)
			sameDoors(t, dir, j)
		})
	}
}

func sameDoors(t *testing.T, dir string, j journal.Journal) {
	t.Helper()
	var want map[string]struct {
		Messages []map[string]any
		Why      map[uint64]map[string]any
	}
	if err := json.Unmarshal(journaltest.Unzip(t, filepath.Join(dir, "doors.json.gz")), &want); err != nil {
		t.Fatal(err)
	}
	for name, w := range want {
		r := reader.New(j, name)
		got, _, err := r.Messages(t.Context(), 0, 1<<20)
		if err != nil || len(got) < len(w.Messages) {
			t.Fatalf("room %s: %d messages, then %d: %v", name, len(got), len(w.Messages), err)
		}
		for i, m := range w.Messages {
			if !holds(t, got[i], m) {
				t.Errorf("room %s: message %+v was %v", name, got[i], m)
			}
		}
		for seq, was := range w.Why {
			why, err := r.Why(t.Context(), seq)
			if text, _ := was["text"].(string); why.Decision.Outcome == entry.OutcomeSuperseded || why.Decision.Outcome == entry.OutcomeStopped { // which was not so
				was = maps.Clone(was)
				was["text"] = strings.Replace(text, "nobody was asked to vote", "nothing was decided by votes", 1)
			}
			if err != nil || !holds(t, why, was) {
				t.Errorf("room %s: why %d: %v\n%+v\nwas\n%v", name, seq, err, why, was)
			}
		}
	}
}

// sweepGolden takes the bodies out that retention takes out of a journal.
func sweepGolden(t *testing.T, j journal.Journal) {
	t.Helper()
	if n, err := retention.Sweep(t.Context(), j, time.Now()); err != nil || n < 100 {
		t.Fatalf("%d bodies were taken out: %v", n, err)
	}
}

// TestGoldenRetention takes bodies out of golden journals: where a room stands is
// the same, from its snapshot and from its start, and all of it verifies.
func TestGoldenRetention(t *testing.T) {
	for _, dir := range versions(t) {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			j := openGolden(t, filepath.Join(dir, "companiond.db.gz"))
			was := map[string]view{}
			for _, r := range roomsOf(t, j) {
				_, was[r.Name] = foldView(t, j, r.Name)
			}
			sweepGolden(t, j)
			for _, r := range roomsOf(t, j) {
				if _, now := foldView(t, j, r.Name); !sameJSON(t, now, was[r.Name]) {
					t.Errorf("room %s is another:\n%+v\n%+v", r.Name, now, was[r.Name])
				}
				replayed(t, j, r)
			}
			path := filepath.Join(dir, "blanked.db.gz")
			if _, err := os.Stat(path); err != nil && *updateGolden {
				copied := filepath.Join(t.TempDir(), "copy.db")
				if err := j.Backup(t.Context(), copied); err != nil {
					t.Fatal(err)
				}
				b, err := os.ReadFile(copied)
				if err != nil {
					t.Fatal(err)
				}
				zip(t, path, b)
			}
		})
	}
}

// holds says whether a value has, as JSON, all that it had then. More may have come.
func holds(t *testing.T, now any, then map[string]any) bool {
	t.Helper()
	b, err := json.Marshal(now)
	if err != nil {
		t.Fatal(err)
	}
	var got any
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatal(err)
	}
	return has(got, then)
}

func has(now, then any) bool {
	old, isObject := then.(map[string]any)
	if !isObject {
		return reflect.DeepEqual(now, then)
	}
	got, _ := now.(map[string]any)
	for k, v := range old {
		if !has(got[k], v) {
			return false
		}
	}
	return true
}

// TestGoldenReplays verifies and replays every golden journal: this version decides
// again what it decided, and reads what others did.
func TestGoldenReplays(t *testing.T) {
	for _, dir := range versions(t) {
		files, err := filepath.Glob(filepath.Join(dir, "*.db.gz"))
		if err != nil || len(files) < 2 {
			t.Fatal(files, err)
		}
		for _, file := range files {
			t.Run(filepath.Join(filepath.Base(dir), filepath.Base(file)), func(t *testing.T) {
				j := openGolden(t, file)
				for _, r := range roomsOf(t, j) {
					replayed(t, j, r)
				}
			})
		}
	}
}

// replayed verifies and replays a room.
func replayed(t *testing.T, j journal.Journal, r journal.Room) {
	t.Helper()
	if bad, err := j.Verify(t.Context(), r.Name, 0); bad != 0 || err != nil {
		t.Errorf("room %s: entry %d does not verify: %v", r.Name, bad, err)
	}
	if !journal.IsRoom(r.Name) {
		return // nobody decides there
	}
	got, err := reader.Replay(t.Context(), j, r.Name)
	if err != nil || got.Diff != nil || got.Derived+got.Folded != int(r.Head.Seq) {
		t.Errorf("room %s: %+v %v, of %d entries", r.Name, got, err, r.Head.Seq)
	}
	t.Logf("%s: %d derived, %d folded", r.Name, got.Derived, got.Folded)
	sameFromSnapshot(t, j, r.Name)
}

// sameFromSnapshot folds a room from its snapshot and from its start.
func sameFromSnapshot(t *testing.T, j journal.Journal, name string) {
	t.Helper()
	seq, blob, err := j.GetSnapshot(t.Context(), name)
	if err != nil || seq == 0 {
		if err != nil {
			t.Error(err)
		}
		return
	}
	s, err := fold.Decode(blob)
	if err != nil {
		t.Fatalf("room %s: %v", name, err)
	}
	es, err := j.Read(t.Context(), name, seq, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range es {
		if err := s.Apply(e); err != nil {
			t.Fatal(err)
		}
	}
	_, last := foldView(t, j, name)
	if have := viewOf(s, called{last.Called}); !sameJSON(t, have, last) {
		t.Errorf("room %s: from its snapshot at %d it is another:\n%+v\n%+v", name, seq, have, last)
	}
}

// TestGoldenGoesOn opens the rooms of every golden journal with this version, says
// something in each, and replays what came of it.
func TestGoldenGoesOn(t *testing.T) {
	for _, dir := range versions(t) {
		files, _ := filepath.Glob(filepath.Join(dir, "*.db.gz"))
		for _, file := range files {
			t.Run(filepath.Join(filepath.Base(dir), filepath.Base(file)), func(t *testing.T) {
				h := newHome(t)
				state := filepath.Join(h.dir, "state")
				if err := os.MkdirAll(state, 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(state, "companiond.db"), journaltest.Unzip(t, file), 0o600); err != nil {
					t.Fatal(err)
				}
				h.drop(parrot(t, "one"), "parrot.wasm")
				h.open("[room.main]\npace = \"0s\"\npatience = \"10s\"\n")
				seq := h.say("main", "taro", "parrot, are you there?")
				h.until("somebody answers", func() bool {
					return slices.ContainsFunc(h.messages("main"), func(m abi.Message) bool { return m.From == "parrot" && m.Seq > seq })
				})
				h.stop()
				j, err := sqlite.OpenReadOnly(filepath.Join(state, "companiond.db"))
				if err != nil {
					t.Fatal(err)
				}
				defer j.Close()
				if r, err := reader.Replay(context.Background(), j, "main"); err != nil || r.Diff != nil || r.Derived < 4 {
					t.Errorf("%+v %v", r, err)
				}
			})
		}
	}
}
