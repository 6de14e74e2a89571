package readers

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/rooms"
)

// in gives where somebody reads the room main.
func in(w Who) Place { return Place{w, "main"} }

// everybody is a register in which these sessions are there and nothing was said.
func everybody(sessions ...string) *Readers {
	live := map[string]bool{}
	for _, s := range sessions {
		live[s] = true
	}
	return New(func() map[string]bool { return live }, func(string) []Line { return nil })
}

func seen(t *testing.T, r *Readers, p Place, want uint64, read bool) {
	t.Helper()
	if got, known := r.Seen(p); got != want || known != read {
		t.Errorf("%+v has read up to %d, %v; want %d, %v", p, got, known, want, read)
	}
}

// What a name has read is remembered for it, whatever session it comes with, and for
// nobody else.
func TestAReaderIsAName(t *testing.T) {
	r := everybody("s1", "s2", "s3")
	aya := Who{Address: "local", Name: "aya"}
	with := func(w Who, session string) Place { w.Session = session; return in(w) }
	r.Read(with(aya, "s1"), 5)
	seen(t, r, with(aya, "s2"), 5, true)
	seen(t, r, in(aya), 5, true)
	seen(t, r, in(Who{Address: "local", Name: "kyoko"}), 0, false)
	seen(t, r, with(Who{Address: "local", Name: "kyoko"}, "s1"), 0, false)
	seen(t, r, in(Who{Address: "192.0.2.1", Name: "aya"}), 0, false)
	seen(t, r, Place{aya, "side"}, 0, false)
	r.Read(in(aya), 3)
	seen(t, r, in(aya), 5, true) // nobody unreads

	bot := Who{Holder: "bot", Address: "local"}
	r.Read(in(bot), 7)
	seen(t, r, in(Who{Holder: "bot", Address: "192.0.2.1", Session: "s3", Name: "bot"}), 7, true)
	seen(t, r, in(Who{Address: "local", Name: "bot"}), 0, false)

	r.Read(in(Who{Address: "local"}), 9) // nobody knows who
	seen(t, r, in(Who{Address: "local"}), 0, false)
	seen(t, r, in(aya), 5, true)
}

// A session reads for the name that is spoken under in it, and no longer when that names
// itself and another is there.
func TestASessionReadsForItsName(t *testing.T) {
	r := everybody("s", "later")
	session, aya, kyoko := Who{Session: "s"}, Who{Session: "s", Name: "aya"}, Who{Session: "s", Name: "kyoko"}
	said := func(w Who, seq uint64) { r.Tried(in(w), rooms.Utterance{}, abi.Budget{}, abi.Message{Seq: seq}, nil) }
	basis := func(w Who, want uint64) {
		t.Helper()
		if got := r.Basis(in(w)); got != want {
			t.Errorf("%s is judged by %d, not %d", w.Name, got, want)
		}
	}
	basis(aya, 0)
	r.Read(in(session), 4)
	basis(aya, 4) // it has not spoken before
	said(aya, 6)
	basis(aya, 6)
	seen(t, r, in(aya), 4, true)
	r.Read(in(session), 8)
	seen(t, r, in(aya), 8, true)

	basis(kyoko, 8)                 // whoever asked, the session was shown it
	seen(t, r, in(kyoko), 0, false) // but it may have been aya
	r.Read(in(kyoko), 5)
	seen(t, r, in(kyoko), 5, true)
	seen(t, r, in(aya), 8, true)
	r.Read(in(aya), 9)
	r.Read(in(session), 12)
	seen(t, r, in(aya), 9, true)
	seen(t, r, in(kyoko), 5, true)

	r = everybody("s", "later")
	said(aya, 2)
	r.Read(in(session), 4)
	seen(t, r, in(Who{Session: "later", Name: "aya"}), 4, true)
	said(Who{Session: "later", Name: "aya"}, 7) // it goes on in another session
	seen(t, r, in(Who{Session: "later", Name: "aya"}), 4, true)
}

// Whoever reads and is told, in whatever order: those who name themselves have read what
// they were shown themselves, and a wait tells each thing to each once.
func TestNobodyReadsForAnother(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := everybody("s1", "s2")
		names := []string{"aya", "kyoko", "natsumi"}
		sessions := []string{"", "s1", "s2"}
		want := map[string]uint64{}
		head := uint64(0)
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			name := rapid.SampledFrom(names).Draw(t, "name")
			p := in(Who{Address: "local", Name: name, Session: rapid.SampledFrom(sessions).Draw(t, "session")})
			switch rapid.IntRange(0, 4).Draw(t, "what") {
			case 0:
				head++
			case 1:
				r.Read(p, head)
				want[name] = head
			case 2:
				was := r.Standing(p)
				if was.Seen != want[name] {
					t.Fatalf("%s stands at %d, not %d", name, was.Seen, want[name])
				}
				if !r.Hand(p, was, head, fmt.Sprint("round ", head), false) {
					t.Fatalf("%s was told nothing", name)
				}
				now := r.Standing(p)
				if again := r.Hand(p, was, head, "other", false); again != (now == was) {
					t.Fatalf("told twice: %v", again)
				}
				want[name] = head
			case 3:
				r.Told(p, abi.Budget{})
			case 4:
				r.Tried(p, rooms.Utterance{}, abi.Budget{}, abi.Message{}, abi.Errorf(abi.CodeStale, "x"))
			}
			for _, name := range names {
				for _, s := range sessions {
					if got, _ := r.Seen(in(Who{Address: "local", Name: name, Session: s})); got != want[name] {
						t.Fatalf("%s in %q has read up to %d, not %d", name, s, got, want[name])
					}
				}
			}
		}
	})
}

// What a line would have cost is what its speaker is short of.
func TestShort(t *testing.T) {
	r := everybody()
	pool := abi.Budget{Prices: abi.DefaultPool().Prices}
	offer := 33.0
	p := in(Who{Name: "aya"})
	for _, c := range []struct {
		u    rooms.Utterance
		err  error
		want Standing
	}{
		{rooms.Utterance{Text: "うん"}, abi.Errorf(abi.CodeExhausted, "x"), Standing{Short: true, Need: 5}},
		{rooms.Utterance{Text: "それはとてもいいと思います"}, abi.Errorf(abi.CodeExhausted, "x"), Standing{Short: true, Need: 60}},
		{rooms.Utterance{Text: "うん", Offer: &offer}, abi.Errorf(abi.CodeExhausted, "x"), Standing{Short: true, Need: 33}},
		{rooms.Utterance{Text: "うん"}, abi.Field("rooms", abi.CodeExhausted, "x"), Standing{}},
		{rooms.Utterance{Text: "うん"}, abi.Errorf(abi.CodeStale, "x"), Standing{}},
		{rooms.Utterance{Text: "うん"}, nil, Standing{}},
	} {
		r.Tried(p, c.u, pool, abi.Message{}, c.err)
		got := r.Standing(p)
		if got.Need = got.Need * map[bool]float64{true: 1}[got.Short]; got != c.want {
			t.Errorf("%+v, %v: %+v", c.u, c.err, got)
		}
	}
	r.Told(p, pool)
	if !r.Standing(p).Poor {
		t.Error("it was told of nothing left")
	}
	if r.Hand(p, r.Standing(p), 1, "", true); r.Standing(p).Poor {
		t.Error("it was told that there is enough")
	}
}

// What is remembered is bounded. Who goes is a session that is gone, or else the one not
// heard of for longest of whoever has the most: a flood forgets itself.
func TestReadersAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := everybody("flood", "other")
		agent := in(Who{Address: "local", Session: "other", Name: "aya"})
		r.Read(agent, 3)
		far := in(Who{Address: "192.0.2.1", Name: "bot"})
		r.Read(far, 4)
		for _, w := range []Who{{Address: "local", Session: "flood"}, {Address: "192.0.2.9"}} {
			for i := range 2 * marks {
				w.Name = fmt.Sprint("name", i)
				time.Sleep(time.Millisecond)
				r.Read(in(w), 1)
			}
			if len(r.places) > marks {
				t.Errorf("%d readers", len(r.places))
			}
			seen(t, r, in(w), 1, true)
			seen(t, r, agent, 3, true)
			seen(t, r, far, 4, true)
		}
		for i := range 2 * marks {
			r.Read(in(Who{Address: "local", Session: fmt.Sprint("gone", i)}), 1)
		}
		seen(t, r, agent, 3, true)
		seen(t, r, far, 4, true)
		for i := range 2 * crowds {
			r.Read(in(Who{Address: fmt.Sprint("192.0.2.", i)}), 1)
		}
		if len(r.places) > marks || len(r.crowds) > crowds {
			t.Errorf("%d readers, %d crowds", len(r.places), len(r.crowds))
		}
	})
}
