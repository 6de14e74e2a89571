package entry

import (
	"testing"
)

func TestSpans(t *testing.T) {
	for _, c := range []struct {
		seqs []uint64
		most int
		want string
	}{
		{nil, 9, ""}, {[]uint64{4}, 9, "4"}, {[]uint64{4, 5, 6, 9}, 9, "4-6, 9"}, {[]uint64{1, 3, 9, 90}, 2, "1-9, 90"}, {[]uint64{1, 100, 10000}, 1, "1-10000"},
	} {
		if got := ShowRuns(flat(Spans(c.seqs, c.most)), 9); got != c.want {
			t.Errorf("%v: %s, want %s", c.seqs, got, c.want)
		}
	}
}

// flat gives all seqs of some spans.
func flat(spans [][2]uint64) (seqs []uint64) {
	for _, s := range spans {
		for n := s[0]; n <= s[1]; n++ {
			seqs = append(seqs, n)
		}
	}
	return seqs
}

// No entry that has its words is shown as one that lost them.
func TestShowRuns(t *testing.T) {
	for _, c := range []struct {
		seqs []uint64
		want string
	}{
		{nil, ""}, {[]uint64{4}, "4"}, {[]uint64{4, 5, 6, 9}, "4-6, 9"}, {[]uint64{4, 4426, 4462, 4463, 5910}, "4, 4426, and 3 more"},
	} {
		if got := ShowRuns(c.seqs, 2); got != c.want {
			t.Errorf("%v: %s, want %s", c.seqs, got, c.want)
		}
	}
}

func TestErasedBy(t *testing.T) {
	e := Entry{Kind: KindSaid, Body: []byte(`{"erased":"o1","from":"forgotten-1","text":""}`)}
	if ErasedBy(e) != "" {
		t.Error("somebody may write that into a message")
	}
	e.Blank = true
	if m, ok := e.Message(); ErasedBy(e) != "o1" || !ok || m.Cut != CutErased || m.From != "forgotten-1" {
		t.Errorf("%+v", m)
	}
	if ErasedBy(Entry{Blank: true, Body: []byte("null")}) != "" {
		t.Error("retention is nobody's word")
	}
}
