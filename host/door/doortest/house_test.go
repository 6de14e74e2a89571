package doortest_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/door/doortest"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/rooms"
)

// Entries that a test adds behind a room's back, and those of a door, may
// come at the same time: none of it is lost, and the room can be read afterwards.
func TestAppendBesideWhatIsDone(t *testing.T) {
	r := doortest.NewHouse(t, "main").Get("main")
	r.Live("kai")
	const each = 50
	var all sync.WaitGroup
	for who := range 4 {
		all.Go(func() {
			for i := range each {
				var err error
				switch who {
				case 0, 1:
					r.Append(entry.KindSaid, entry.Said{From: "aya", By: abi.KindCompanion, Text: fmt.Sprint(who, "/", i), Kind: abi.KindTurn})
				default:
					_, err = r.Say(t.Context(), rooms.Utterance{From: "mika", Text: fmt.Sprint(who, "/", i)})
				}
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	seen := map[string]int{}
	for i, e := range r.Journal() {
		if e.Seq != uint64(i+1) {
			t.Fatalf("entry %d stands at %d", e.Seq, i+1)
		}
		if m, ok := e.Message(); ok {
			seen[m.Text]++
		}
	}
	if len(seen) != 4*each {
		t.Errorf("%d messages of %d", len(seen), 4*each)
	}
	if i := r.Info(); i.Error != "" || i.Last == 0 {
		t.Errorf("%+v", i)
	}
}

// A follower gets the entries in batches as the test wants them.
func TestBatches(t *testing.T) {
	r := doortest.NewHouse(t, "main").Get("main")
	r.Chat(9)
	for n, want := range map[int]string{0: "[10]", 4: "[4 4 2]", 1: "[1 1 1 1 1 1 1 1 1 1]"} {
		r.Batch(n)
		var sizes []int
		err := r.Follow(t.Context(), 0, func(es []entry.Entry) error {
			if sizes = append(sizes, len(es)); es[len(es)-1].Seq == 10 {
				return abi.Errorf(abi.CodeConflict, "enough")
			}
			return nil
		})
		if fmt.Sprint(sizes) != want || abi.CodeOf(err) != abi.CodeConflict {
			t.Errorf("%d at once: %v %v", n, sizes, err)
		}
	}
	if r.Followers() != 0 {
		t.Errorf("%d follow", r.Followers())
	}
}

// The house takes two keys, and says which is at fault, as the daemon does.
func TestKeys(t *testing.T) {
	h := doortest.NewHouse(t, "main")
	open := func(settings string) error {
		_, err := h.Open(t.Context(), rooms.Opening{Name: "den", By: rooms.Owner{Name: "mika"}, Settings: []byte(settings)})
		return err
	}
	for settings, begins := range map[string]string{
		`{"policy":"pool"}`: "policy: ", `{"max_turns":"x"}`: "max_turns: ", `{"companions":{}}`: "companions: ",
		`{"companions":[1],"max_turns":3}`: "companions: ", `{"max_turns":1.5}`: "max_turns: ",
	} {
		if err := open(settings); abi.CodeOf(err) != abi.CodeInvalid || !strings.HasPrefix(abi.AsError(err).Message, begins) {
			t.Errorf("%s: %v", settings, err)
		}
	}
	if err := open(`{"companions":["aya"],"max_turns":3}`); err != nil {
		t.Error(err)
	}
}

// A companion of the house lives in the rooms that have it, until it leaves.
func TestWhoLivesWhere(t *testing.T) {
	h := doortest.NewHouseOf(t, doortest.Settings("main", "aya"), doortest.Settings("side", "kai"), doortest.Settings("attic", "*"))
	h.Get("main").Live("kai", "aya")
	members := func() (all string) {
		for _, name := range []string{"main", "side", "attic"} {
			all += name + ":"
			for _, m := range h.Get(name).Info().Members {
				all += " " + m.ID
			}
			all += "; "
		}
		return all
	}
	if got := members(); got != "main: aya; side: kai; attic: aya kai; " {
		t.Error(got)
	}
	if talk, err := h.Home(t.Context(), "kai"); err != nil || talk.Name() != "attic" {
		t.Errorf("%v %v", talk, err)
	}
	h.Get("main").Leave("kai")
	if got := members(); got != "main: aya; side:; attic: aya; " {
		t.Error(got)
	}
}
