package sqlite

import (
	"context"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/waittest"
)

// TestKillKeys kills a child that writes and deletes keys in rooms and their forks, and forks them, again and again in the
// same directory. What was acknowledged is there, in the one room in which it was written; what was begun is there
// wholly or not at all; and what is counted against the bounds is what is kept. COMPANIOND_KILL_ROUNDS says how often.
func TestKillKeys(t *testing.T) {
	waittest.WithoutRaces(t)
	t.Parallel()
	rounds := 40
	if n, err := strconv.Atoi(os.Getenv("COMPANIOND_KILL_ROUNDS")); err == nil {
		rounds = n
	} else if testing.Short() {
		rounds = 8
	}
	path := filepath.Join(t.TempDir(), "state", "companion.db")
	families := map[string]family{}
	for _, who := range writers {
		families[who] = family{who + "0": {}}
	}
	total := map[string]int{}
	for round := range rounds {
		c := startChild(t, path, keysToo)
		c.waitReady(t)
		for lines, end := 2+rand.IntN(80), time.Now().Add(waittest.Long); c.said() < lines && time.Now().Before(end); {
			time.Sleep(time.Millisecond) // which also says where between two lines it is killed
		}
		c.kill()
		j, err := Open(Config{Path: path})
		if err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		for who, f := range families {
			is := readFamily(t, j, who)
			with, acked, begun := f.after(c.acks, who)
			if first := who + "0"; len(is) == 0 && len(f) == 1 && len(f[first]) == 0 {
				is[first] = map[string]string{} // it was killed before it had made its first room
			}
			for what, n := range acked {
				total[what] += n
			}
			switch {
			case maps.EqualFunc(is, f, maps.Equal[map[string]string, map[string]string]):
				total["undone"] += begun
			case begun > 0 && maps.EqualFunc(is, with, maps.Equal[map[string]string, map[string]string]):
				total["done unacknowledged"]++
			default:
				t.Fatalf("round %d: %s has\n%v, and\n%v was acknowledged, with what was begun\n%v", round, who, is, f, with)
			}
			families[who] = is
		}
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d rounds: %v", rounds, total)
	if total["set"] < rounds || total["fork"] < rounds/2 {
		t.Error("the test had no load")
	}
}

// said gives how many lines a child has said so far.
func (c *child) said() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.acks)
}

// keysToo is for a child that writes keys. It says what it begins, and what is acknowledged.
const keysToo = "keys"

// writers are companions, each with rooms of its own.
var writers = []string{"aya", "ben", "eri"}

// family is what a companion keeps, by room and key. The room called as it is and 0 is the one that the others are forked of.
type family map[string]map[string]string

// after takes over what was acknowledged to a writer, and gives what would be there with what it had begun last, which are 0 or 1.
// A line is "?who set room,key,value", and with "=" when it is acknowledged; a fork has both rooms.
func (f family) after(lines []ack, who string) (with family, acked map[string]int, begun int) {
	acked = map[string]int{}
	last := ""
	for _, l := range lines {
		if l.room == "?"+who {
			last = l.id
		} else if l.room == "="+who {
			f.apply(l.id)
			what, _, _ := strings.Cut(l.id, ",")
			acked[what]++
			last = ""
		}
	}
	with = family{}
	for room, keys := range f {
		with[room] = maps.Clone(keys)
	}
	if last != "" {
		with.apply(last)
		begun = 1
	}
	return with, acked, begun
}

func (f family) apply(op string) {
	switch p := strings.Split(op, ","); p[0] {
	case "set":
		f[p[1]][p[2]] = p[3]
	case "del":
		delete(f[p[1]], p[2])
	case "fork":
		f[p[1]] = maps.Clone(f[p[2]])
	}
}

// readFamily reads what a companion keeps in all its rooms, and holds what is counted to that.
func readFamily(t *testing.T, j *Journal, who string) family {
	t.Helper()
	f := family{}
	for r, err := range journal.AllRooms(t.Context(), j) {
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(r.Name, who) {
			continue
		}
		if bad, err := j.Verify(t.Context(), r.Name, 0); bad != 0 || err != nil {
			t.Fatalf("%s does not verify at %d: %v", r.Name, bad, err)
		}
		f[r.Name] = map[string]string{}
		kv := j.KVIn(r.Name)
		keys, err := kv.KVList(t.Context(), who, "", "", abi.MaxKVKeys)
		if err != nil {
			t.Fatal(err)
		}
		bytes := 0
		for _, key := range keys {
			value, ok, err := kv.KVGet(t.Context(), who, key)
			if err != nil || !ok {
				t.Fatalf("%s of %s is listed and not there: %v", key, r.Name, err)
			}
			f[r.Name][key] = value
			bytes += len(key) + len(value)
		}
		store := `(SELECT id FROM rooms WHERE name = '` + r.Name + `')`
		if r.Fork.Of == "" {
			store = "0"
		}
		for what, want := range map[string]int{"keys": len(keys), "bytes": bytes} {
			if n := number(t, j.path, `SELECT ifnull((SELECT `+what+` FROM kv_sums WHERE store = `+store+` AND companion = '`+who+`'), `+strconv.Itoa(want)+`)`); n != want {
				t.Fatalf("%s: %d %s are counted, and %d are there", r.Name, n, what, want)
			}
		}
	}
	return f
}

// writeForEver has each writer write, delete and fork.
func writeForEver(j *Journal) error {
	failed := make(chan error)
	for _, who := range writers {
		go func() { failed <- writeAs(j, who) }()
	}
	return <-failed
}

func writeAs(j *Journal, who string) error {
	ctx := context.Background()
	heads := map[string]journal.Head{}
	for r, err := range journal.AllRooms(ctx, j) { // nobody else has them; to acquire them takes longer than the child lives
		if err != nil {
			return err
		}
		if strings.HasPrefix(r.Name, who) {
			heads[r.Name] = r.Head
		}
	}
	if len(heads) == 0 {
		h, err := j.Acquire(ctx, who+"0", "child", time.Now())
		if err != nil {
			return err
		}
		heads[who+"0"] = h
	}
	for n := 0; ; n++ {
		names := slices.Sorted(maps.Keys(heads))
		room, key := names[rand.IntN(len(names))], fmt.Sprint("k", rand.IntN(6))
		id := fmt.Sprintf("%d-%d", os.Getpid(), n)
		op, do := "set,"+room+","+key+","+id, func() error { return j.KVIn(room).KVSet(ctx, who, key, id) }
		switch {
		case n%4 == 0 && len(names) < 16:
			// Between entries of a room there is no place for a fork: it begins with what was written before the newest.
			h, err := j.Append(ctx, room, heads[room], journal.New{ID: id, Kind: entry.KindVote, At: time.Now(), Body: []byte("{}")})
			if err != nil {
				return err
			}
			heads[room] = h
			child := fmt.Sprintf("%s%d", who, len(names))
			op, do = "fork,"+child+","+room, func() (err error) {
				heads[child], err = j.Fork(ctx, child, journal.Fork{Of: room, At: h.Seq}, journal.Listing{Key: child}, said(id+"own", child))
				return err
			}
		case n%5 == 0:
			op, do = "del,"+room+","+key, func() error { _, _, err := j.KVIn(room).KVDel(ctx, who, key); return err }
		}
		for _, sign := range []string{"?", "="} {
			if _, err := io.WriteString(os.Stdout, fmt.Sprintf("%s%s %d %s\n", sign, who, n, op)); err != nil {
				return err
			}
			if sign == "?" {
				if err := do(); err != nil {
					return err
				}
			}
		}
	}
}
