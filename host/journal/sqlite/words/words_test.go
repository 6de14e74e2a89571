package words_test

import (
	"errors"
	"path/filepath"
	"slices"
	"testing"

	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/journal/sqlite/words"
)

func open(t *testing.T, path string) *words.Index {
	t.Helper()
	x, err := words.Open(path, true)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = x.Close() })
	return x
}

func seqs(t *testing.T, x *words.Index, in words.Span, tokens ...string) (all []uint64) {
	t.Helper()
	places, err := x.Find(t.Context(), tokens, in, 10)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range places {
		all = append(all, p.Seq)
	}
	return all
}

func TestIndex(t *testing.T) {
	path := filepath.Join(t.TempDir(), "search.db")
	if _, err := words.Open(path, false); !errors.Is(err, journal.ErrUnavailable) {
		t.Error(err)
	}
	x := open(t, path)
	add := func(after uint64, all ...words.Entry) error { return x.Add(map[string]uint64{"main": after}, all) }
	if err := add(4, words.Entry{Room: "main", Seq: 5, Mark: "a", Grams: " 天 気 天気", Tokens: "fromx"}, words.Entry{Room: "main", Seq: 7, Mark: "b"},
		words.Entry{Room: "main", Seq: 8, Mark: "c", Grams: " 天 気 天気 猫"}); err != nil {
		t.Fatal(err)
	}
	if err := add(7, words.Entry{Room: "main", Seq: 9, Grams: " x"}); !errors.Is(err, words.ErrMoved) {
		t.Error(err)
	}
	if err := x.Add(map[string]uint64{"main": 8, "cafe": 0}, []words.Entry{{Room: "cafe", Seq: 2, Grams: " 天気"}, {Room: "main", Seq: 10, Grams: " 天気"}}); err != nil {
		t.Fatal(err)
	}
	r, ok, err := x.Room(t.Context(), "main")
	if err != nil || !ok || r.Upto != 10 {
		t.Errorf("%+v %v %v", r, ok, err)
	}
	if got := seqs(t, x, words.Span{}, "天気"); !slices.Equal(got, []uint64{10, 2, 8, 5}) {
		t.Error(got)
	}
	if got := seqs(t, x, words.Span{}, "天気", words.InRoom(r.Num), "猫"); !slices.Equal(got, []uint64{8}) {
		t.Error(got)
	}
	if got := seqs(t, x, words.Span{}, "fromx"); !slices.Equal(got, []uint64{5}) {
		t.Error(got)
	}
	in, ok, err := x.Within(t.Context(), r.Num, 5, 10)
	if got := seqs(t, x, in, "天気", words.InRoom(r.Num)); err != nil || !ok || !slices.Equal(got, []uint64{8}) {
		t.Error(got, ok, err)
	}
	if _, ok, err := x.Within(t.Context(), r.Num, 5, 8); ok || err != nil {
		t.Error(ok, err)
	}
	if n, id, err := x.Sparse(t.Context(), "天気", words.Span{}, 2); n != 2 || id != 3 || err != nil {
		t.Error(n, id, err)
	}
	if err := x.Cut("main", 8); err != nil {
		t.Fatal(err)
	}
	if got := seqs(t, x, words.Span{}, "天気"); !slices.Equal(got, []uint64{10, 2, 8}) {
		t.Error(got)
	}
	if dirty, err := x.Dirty(t.Context()); !dirty || err != nil {
		t.Error(dirty, err)
	}
	if err := x.Clean(); err != nil {
		t.Fatal(err)
	}
	if dirty, err := x.Dirty(t.Context()); dirty || err != nil {
		t.Error(dirty, err)
	}
	only, err := words.Open(path, false)
	if err != nil {
		t.Fatal(err)
	}
	defer only.Close()
	if got := seqs(t, only, words.Span{}, "猫"); !slices.Equal(got, []uint64{8}) {
		t.Error(got)
	}
	for _, err := range []error{only.Add(nil, nil), only.Replace("main", nil), only.Cut("main", 1), only.Clean()} {
		if !errors.Is(err, journal.ErrUnavailable) {
			t.Error(err)
		}
	}
}
