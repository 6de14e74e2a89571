package mouth

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/companiond/companiond/abi"
)

// TestOneMouth: whoever comes and goes, no companion has two mouths, one who has gone is in nobody's way, and nothing is
// kept of a room in which nobody is.
func TestOneMouth(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type at struct{ room, who string }
		var m Mouths
		taken := map[at]func(){}
		place := rapid.Custom(func(t *rapid.T) at {
			return at{rapid.SampledFrom([]string{"main", "side"}).Draw(t, "room"), rapid.SampledFrom([]string{"", "aya", "kyoko"}).Draw(t, "who")}
		})
		t.Repeat(map[string]func(*rapid.T){
			"take": func(t *rapid.T) {
				p := place.Draw(t, "place")
				free := true
				for q := range taken {
					free = free && (q.room != p.room || p.who != "" && q.who != "" && p.who != q.who)
				}
				leave, err := m.Take(p.room, p.who)
				if (err == nil) != free || err != nil && abi.CodeOf(err) != abi.CodeConflict {
					t.Fatalf("%+v beside %v: %v", p, taken, err)
				}
				if err == nil {
					taken[p] = leave
				}
			},
			"leave": func(t *rapid.T) {
				p := place.Draw(t, "place")
				if leave := taken[p]; leave != nil {
					leave()
					leave() // again is nothing
					delete(taken, p)
				}
			},
			"": func(t *rapid.T) {
				var rooms []string
				for p := range taken {
					if !slices.Contains(rooms, p.room) {
						rooms = append(rooms, p.room)
					}
				}
				if len(m.open) != len(rooms) {
					t.Fatalf("%d rooms are kept of %d", len(m.open), len(rooms))
				}
			},
		})
	})
}

// TestVoice: a client that turns from one companion to another is the mouth of one at a time, keeps the one that it has where it
// cannot have another, and has none when it has gone, whatever it asks for then.
func TestVoice(t *testing.T) {
	var m Mouths
	v, w := m.Voice(), m.Voice()
	v.Leave() // of nobody
	v = m.Voice()
	turn := func(v *Voice, who string, want abi.Code) {
		t.Helper()
		if err := v.Turn("main", who); abi.CodeOf(err) != want {
			t.Errorf("%s: %v", who, err)
		}
	}
	turn(v, "aya", "")
	turn(v, "aya", "")
	turn(w, "aya", abi.CodeConflict)
	turn(w, "kyoko", "")
	turn(v, "kyoko", abi.CodeConflict)
	turn(w, "aya", abi.CodeConflict)
	turn(v, "natsumi", "")
	turn(w, "aya", "")
	v.Leave()
	v.Leave()
	turn(v, "kyoko", abi.CodeConflict)
	turn(w, "natsumi", "")
	w.Leave()
	if len(m.open) != 0 {
		t.Errorf("%v is kept", m.open)
	}
}
