package retention

import (
	"slices"
	"testing"
	"time"

	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/journal/memory"
)

func fork(t *testing.T, j journal.Journal, name, of string, at uint64, kinds ...entry.Kind) journal.Head {
	t.Helper()
	var news []journal.New
	for i, k := range kinds {
		news = append(news, journal.New{ID: name + string(rune('a'+i)), V: 2, Kind: k, At: noon, Body: []byte(`{"who":"nikoni","perception":3}`)})
	}
	h, err := j.Fork(t.Context(), name, journal.Fork{Of: of, At: at}, journal.Listing{}, news...)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func sweep(t *testing.T, j journal.Journal, want map[string][]uint64) {
	t.Helper()
	if _, err := Sweep(t.Context(), j, noon.Add(24*time.Hour)); err != nil {
		t.Fatal(err)
	}
	for name, seqs := range want {
		if got := blank(t, j, name); !slices.Equal(got, seqs) {
			t.Errorf("%s: blank are %v, want %v", name, got, seqs)
		}
	}
}

// TestWhatForksNeed keeps what a fork, or a fork of it, is folded from, and goes on as soon as it is not.
func TestWhatForksNeed(t *testing.T) {
	j := memory.New()
	vote := line{0, entry.KindVote, entry.Voted{}, 2}
	h := room(t, j, "main", vote, vote, vote, vote, vote, vote, vote) // 2 to 8, and a snapshot at 8
	child := fork(t, j, "child", "main", 6, entry.KindVote, entry.KindVote)
	grand := fork(t, j, "grand", "child", 5, entry.KindVote)
	none := map[string][]uint64{"main": nil, "child": nil, "grand": nil}
	sweep(t, j, none)
	snapshot(t, j, "grand", 2)
	sweep(t, j, none) // the child has none
	snapshot(t, j, "child", 3)
	sweep(t, j, map[string][]uint64{"main": {2}, "child": {2}, "grand": {2}})
	snapshot(t, j, "grand", grand.Seq)
	sweep(t, j, map[string][]uint64{"main": {2, 3}, "child": {2, 3}, "grand": {2, 3, 6}})
	snapshot(t, j, "child", child.Seq)
	sweep(t, j, map[string][]uint64{"main": {2, 3, 4, 5, 6, 7, 8}, "child": {2, 3, 4, 5, 6, 7, 8}, "grand": {2, 3, 4, 5, 6}})
	for name, want := range map[string]uint64{"main": h.Seq, "child": child.Seq, "grand": grand.Seq} {
		if got := swept(t, j, name); got != want {
			t.Errorf("%s is looked through up to %d, want %d", name, got, want)
		}
	}
}

// TestPerceivedBeforeTheyParted stays where it may have led to something in either room, and goes where it could not.
func TestPerceivedBeforeTheyParted(t *testing.T) {
	for name, c := range map[string]struct {
		parted time.Duration // after what was perceived
		want   []uint64
	}{
		"open":    {time.Minute, []uint64{2, 5}},
		"settled": {settles + time.Minute, []uint64{2, 3, 5}},
	} {
		t.Run(name, func(t *testing.T) {
			j := memory.New()
			h := room(t, j, "main",
				line{0, entry.KindVote, entry.Voted{}, 2},
				line{0, entry.KindPerceived, saw("nikoni"), 2},
				line{c.parted, entry.KindSaid, entry.Said{From: "taro"}, 2},
				line{c.parted + time.Minute, entry.KindVote, entry.Voted{}, 2})
			own := fork(t, j, "child", "main", 4, entry.KindWish)
			snapshot(t, j, "child", own.Seq)
			want := map[string][]uint64{"main": c.want, "child": c.want[:len(c.want)-1]}
			sweep(t, j, want)
			sweep(t, j, want)
			if got := swept(t, j, "main"); got != h.Seq {
				t.Errorf("looked through up to %d, want %d", got, h.Seq)
			}
		})
	}
}
