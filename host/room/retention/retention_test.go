package retention

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/journal/memory"
	"pgregory.net/rapid"
)

var noon = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)

// line is an entry as the tests write it.
type line struct {
	after time.Duration // since noon
	kind  entry.Kind
	body  any
	v     int
}

// room writes a room of lines, which begin at seq 2, with a snapshot at its head.
func room(t require, j journal.Journal, name string, lines ...line) journal.Head {
	h, err := j.Acquire(t.Context(), name, "test", noon)
	if err != nil {
		t.Fatal(err)
	}
	for i, l := range lines {
		b, err := json.Marshal(l.body)
		if err != nil {
			t.Fatal(err)
		}
		if h, err = j.Append(t.Context(), name, h, journal.New{ID: fmt.Sprint(i), V: l.v, Kind: l.kind, At: noon.Add(l.after), Body: b}); err != nil {
			t.Fatal(err)
		}
	}
	snapshot(t, j, name, h.Seq)
	return h
}

func snapshot(t require, j journal.Journal, name string, seq uint64) {
	if err := j.PutSnapshot(t.Context(), name, seq, []byte("{}")); err != nil {
		t.Fatal(err)
	}
}

// blank gives the seqs of a room's entries that have no body any more.
func blank(t require, j journal.Journal, name string) (seqs []uint64) {
	es, err := j.Read(t.Context(), name, 0, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range es {
		if e.Blank {
			seqs = append(seqs, e.Seq)
		}
	}
	return seqs
}

type require interface {
	Fatal(...any)
	Context() context.Context
}

func swept(t *testing.T, j journal.Journal, name string) uint64 {
	r, _, err := j.Room(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	return r.Swept
}

func saw(who string) entry.Perceived { return entry.Perceived{Who: who, Title: "vision"} }

// got is a perception that waits.
func got(who string) entry.Perceived {
	return entry.Perceived{Who: who, Title: "gift", Format: "object", Body: []byte(`{}`), Kept: true}
}

// TestWhatGoes lists what loses its body, and what keeps it.
func TestWhatGoes(t *testing.T) {
	const min = time.Minute
	said := line{0, entry.KindSaid, entry.Said{From: "taro", Text: "やあ"}, 2}
	for name, c := range map[string]struct {
		lines []line
		want  []uint64
	}{
		"what was said and decided stays": {[]line{said, {0, entry.KindDecision, entry.Decision{}, 2}, {0, entry.KindUsage, entry.Usage{}, 2}, {0, entry.KindFailed, entry.Failed{}, 2}}, nil},
		"votes and rounds":                {[]line{said, {0, entry.KindRound, entry.Round{About: 2}, 2}, {0, entry.KindVote, entry.Voted{}, 2}}, []uint64{3, 4}},
		"perceptions":                     {[]line{{0, entry.KindPerceived, saw("nikoni"), 2}, said}, []uint64{2}},
		"one that led to a line": {[]line{{0, entry.KindPerceived, saw("nikoni"), 2}, {0, entry.KindPerceived, saw("nikoni"), 2},
			{min, entry.KindWish, entry.Wish{Who: "nikoni", Perception: 2}, 2}}, []uint64{3}},
		"one that led to an action": {[]line{{0, entry.KindPerceived, saw("nikoni"), 2}, {0, entry.KindPerceived, saw("nikoni"), 2},
			{min, entry.KindAction, entry.Action{Who: "nikoni", Perception: "vision", Perceived: 3}, 2}}, []uint64{2}},
		"an action of version 1 does not say of which": {[]line{{0, entry.KindPerceived, saw("nikoni"), 1}, {0, entry.KindPerceived, saw("aya"), 1},
			{min, entry.KindAction, entry.Action{Who: "nikoni", Perception: "vision"}, 1}, {2 * min, entry.KindPerceived, saw("nikoni"), 1}}, []uint64{3, 5}},
		"an action that nothing was perceived for": {[]line{{0, entry.KindPerceived, saw("nikoni"), 1}, {min, entry.KindAction, entry.Action{Who: "nikoni"}, 1}}, []uint64{2}},
		"a line that came late":                    {[]line{{0, entry.KindPerceived, saw("nikoni"), 2}, {59 * min, entry.KindWish, entry.Wish{Who: "nikoni", Perception: 2}, 2}}, nil},
		"a line that comes after the time": {[]line{{23*time.Hour + 50*min, entry.KindPerceived, saw("nikoni"), 2},
			{24*time.Hour + 20*min, entry.KindWish, entry.Wish{Who: "nikoni", Perception: 2}, 2}}, nil},
		"what is young stays while a line is looked for": {[]line{{24*time.Hour - min, entry.KindPerceived, saw("nikoni"), 2},
			{24 * time.Hour, entry.KindVote, entry.Voted{}, 2}, {24*time.Hour + min, entry.KindPerceived, saw("nikoni"), 2}, {26 * time.Hour, entry.KindSaid, entry.Said{}, 2}}, []uint64{2}},
		"those that were judged late": {[]line{{0, entry.KindPerceived, got("nikoni"), 2}, {0, entry.KindPerceived, got("nikoni"), 2}, {0, entry.KindPerceived, got("nikoni"), 2}, {0, entry.KindPerceived, got("nikoni"), 2},
			{9 * time.Hour, entry.KindJudged, entry.Judged{Who: "nikoni", Perceptions: []uint64{2, 3}}, 2}, {9 * time.Hour, entry.KindWish, entry.Wish{Who: "nikoni", Perception: 5}, 2},
			{9 * time.Hour, entry.KindJudged, entry.Judged{Who: "nikoni", Perceptions: []uint64{4, 5}, Wish: 7}, 2}}, []uint64{2, 3}},
		"one that could not be judged, and those that a STOP ended": {[]line{{0, entry.KindPerceived, got("nikoni"), 2}, {0, entry.KindPerceived, got("aya"), 2}, {0, entry.KindPerceived, got("nikoni"), 2},
			{9 * time.Hour, entry.KindFailed, entry.Failed{Who: "nikoni", Perception: 2}, 2}, {9 * time.Hour, entry.KindStop, entry.Stop{From: "taro"}, 2}}, []uint64{2, 3, 4}},
		"what is young stays": {[]line{{0, entry.KindVote, entry.Voted{}, 2}, {24 * time.Hour, entry.KindVote, entry.Voted{}, 2}}, []uint64{2}},
	} {
		t.Run(name, func(t *testing.T) {
			j := memory.New()
			h := room(t, j, "main", c.lines...)
			n, err := Sweep(t.Context(), j, noon.Add(24*time.Hour))
			if got := blank(t, j, "main"); err != nil || n != len(c.want) || !slices.Equal(got, c.want) {
				t.Errorf("%d %v: %v, want %v", n, err, got, c.want)
			}
			if n, err := Sweep(t.Context(), j, noon.Add(24*time.Hour)); n != 0 || err != nil {
				t.Errorf("the second time: %d %v", n, err)
			}
			if n, err := Sweep(t.Context(), j, noon.Add(100*time.Hour)); err != nil || swept(t, j, "main") != h.Seq {
				t.Errorf("days later: %d %v, looked through up to %d of %d", n, err, swept(t, j, "main"), h.Seq)
			}
		})
	}
}

// TestWhatWaitsStays, however old it is, and what comes behind it stays with it.
func TestWhatWaitsStays(t *testing.T) {
	j := memory.New()
	h := room(t, j, "main", line{0, entry.KindVote, entry.Voted{}, 2}, line{0, entry.KindPerceived, got("nikoni"), 2}, line{0, entry.KindPerceived, saw("nikoni"), 2}, line{0, entry.KindFailed, entry.Failed{Who: "aya"}, 2})
	for _, after := range []time.Duration{2, 100} {
		if _, err := Sweep(t.Context(), j, noon.Add(after*time.Hour)); err != nil || !slices.Equal(blank(t, j, "main"), []uint64{2}) {
			t.Errorf("after %d h: %v %v", after, blank(t, j, "main"), err)
		}
	}
	h, err := j.Append(t.Context(), "main", h, journal.New{ID: "j", V: 2, Kind: entry.KindJudged, At: noon.Add(50 * time.Hour), Body: []byte(`{"who":"nikoni","perceptions":[3]}`)})
	if err != nil {
		t.Fatal(err)
	}
	snapshot(t, j, "main", h.Seq)
	if _, err := Sweep(t.Context(), j, noon.Add(100*time.Hour)); err != nil || !slices.Equal(blank(t, j, "main"), []uint64{2, 3, 4}) || swept(t, j, "main") != h.Seq {
		t.Errorf("judged: %v %v, looked through up to %d", blank(t, j, "main"), err, swept(t, j, "main"))
	}
}

// TestRoundsStillTell keeps what a decision is about.
func TestRoundsStillTell(t *testing.T) {
	j := memory.New()
	room(t, j, "main", line{0, entry.KindRound, entry.Round{About: 7, Electorate: []string{"aya"}}, 2})
	if _, err := Sweep(t.Context(), j, noon.Add(2*time.Hour)); err != nil {
		t.Fatal(err)
	}
	if es, _ := j.Read(t.Context(), "main", 1, 1); string(es[0].Body) != `{"about":7}` {
		t.Errorf("it says %s", es[0].Body)
	}
}

// TestNotBeyondTheSnapshot leaves alone what the state is folded from.
func TestNotBeyondTheSnapshot(t *testing.T) {
	j := memory.New()
	h, err := j.Acquire(t.Context(), "main", "test", noon)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 9 {
		if h, err = j.Append(t.Context(), "main", h, journal.New{ID: fmt.Sprint(i), Kind: entry.KindVote, At: noon, Body: []byte("{}")}); err != nil {
			t.Fatal(err)
		}
	}
	for _, seq := range []uint64{0, 5, 10} {
		snapshot(t, j, "main", seq)
		if _, err := Sweep(t.Context(), j, noon.Add(2*time.Hour)); err != nil {
			t.Fatal(err)
		}
		if got := blank(t, j, "main"); seq > 0 && (len(got) != int(seq)-1 || got[len(got)-1] != seq) || seq == 0 && got != nil {
			t.Errorf("with a snapshot at %d: %v", seq, got)
		}
	}
}

// TestRun looks when something may have become old, and goes on after trouble.
func TestRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := memory.New()
		start := time.Now()
		for _, name := range []string{"a", "b"} {
			h, err := j.Acquire(t.Context(), name, "test", start)
			if err == nil {
				h, err = j.Append(t.Context(), name, h, journal.New{ID: "v", Kind: entry.KindVote, At: start, Body: []byte("{}")})
			}
			if err != nil {
				t.Fatal(err)
			}
			snapshot(t, j, name, h.Seq)
		}
		for _, after := range []time.Duration{0, 3 * time.Hour} { // 0 is never
			go func() { _ = Run(t.Context(), j, after, slog.New(slog.DiscardHandler)) }()
		}
		time.Sleep(3*time.Hour - time.Minute)
		if got := blank(t, j, "a"); got != nil {
			t.Fatalf("too early: %v", got)
		}
		j.Fail(errors.New("no"))
		time.Sleep(30 * time.Minute)
		j.Fail(nil)
		time.Sleep(every)
		if a, b := blank(t, j, "a"), blank(t, j, "b"); len(a) != 1 || len(b) != 1 {
			t.Errorf("after the trouble: %v %v", a, b)
		}
	})
}

// TestWhateverLengthAndOrder compares the broom, which goes by batches and again and
// again, with the rule said plainly.
func TestWhateverLengthAndOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		j := memory.New()
		var lines []line
		at, seq := time.Duration(0), uint64(1)
		var seen []uint64
		led := map[uint64]bool{}
		var want []uint64
		for range rapid.IntRange(0, 700).Draw(t, "entries") {
			seq++
			at += time.Duration(rapid.IntRange(0, 600).Draw(t, "seconds")) * time.Second
			switch rapid.IntRange(0, 3).Draw(t, "kind") {
			case 0:
				lines = append(lines, line{at, entry.KindVote, entry.Voted{}, 2})
			case 1:
				lines = append(lines, line{at, entry.KindPerceived, saw("nikoni"), 2})
				seen = append(seen, seq)
			case 2:
				of := uint64(0)
				if n := len(seen); n > 0 {
					of = seen[max(0, n-1-rapid.IntRange(0, 2).Draw(t, "ago"))]
					if at-lines[of-2].after <= settles {
						led[of] = true
					}
				}
				lines = append(lines, line{at, entry.KindWish, entry.Wish{Who: "nikoni", Perception: of}, 2})
			default:
				lines = append(lines, line{at, entry.KindSaid, entry.Said{From: "taro"}, 2})
			}
		}
		room(t, j, "main", lines...)
		end := at + 2*settles
		for cut := time.Duration(0); cut < end; cut += end/3 + 1 {
			if _, err := Sweep(t.Context(), j, noon.Add(cut)); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := Sweep(t.Context(), j, noon.Add(end)); err != nil {
			t.Fatal(err)
		}
		for i, l := range lines {
			if s := uint64(i + 2); l.kind == entry.KindVote || l.kind == entry.KindPerceived && !led[s] {
				want = append(want, s)
			}
		}
		if got := blank(t, j, "main"); !slices.Equal(got, want) {
			t.Fatalf("blank: %v\nwant %v", got, want)
		}
	})
}
