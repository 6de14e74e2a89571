package hearing_test

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/memory/fact"
	"github.com/companiond/companiond/host/memory/hearing"
)

// talk hands entries to a hearing.
type talk struct {
	hearing.Hearing
	t *testing.T
}

func (k *talk) take(kind entry.Kind, body any) {
	k.t.Helper()
	raw, err := json.Marshal(body)
	if err != nil {
		k.t.Fatal(err)
	}
	e := entry.Entry{Seq: k.Upto + 1, At: time.Unix(int64(k.Upto), 0), Kind: kind, V: kind.Version(), Body: raw}
	if err := k.Take(e, func(e entry.Entry) fact.Turn { return fact.Turn{At: e.At} }); err != nil {
		k.t.Fatal(err)
	}
}

func (k *talk) say(from string, by abi.ParticipantKind) { k.said(entry.Said{From: from, By: by}) }

func (k *talk) said(s entry.Said) {
	s.Kind, s.Text = abi.KindTurn, "words"
	k.take(entry.KindSaid, s)
}

func (k *talk) come(id string, addressed *[]string) {
	k.take(entry.KindCast, entry.Cast{Joined: []entry.Joined{{ID: id, Kind: abi.KindCompanion}}, Addressed: addressed})
}

func (k *talk) want(what, who string, read uint64, all, left []uint64) {
	k.t.Helper()
	seqs := func(turns []fact.Turn) (seqs []uint64) {
		for _, t := range turns {
			seqs = append(seqs, t.Seq)
		}
		return seqs
	}
	got := k.Of(who, read)
	if !slices.Equal(seqs(got.All), all) || !slices.Equal(seqs(got.Left), left) {
		k.t.Errorf("%s: %v, of which %v are left; want %v and %v", what, seqs(got.All), seqs(got.Left), all, left)
	}
}

// TestOf: what is left are turns of people, with the two before each that it may answer; what companions say behind the last of
// them, or long before, is not.
func TestOf(t *testing.T) {
	k := &talk{Hearing: hearing.Hearing{Room: "main", Here: []string{"aya"}}, t: t}
	k.say("taro", abi.KindHuman) // 1
	for range 4 {
		k.say("aya", abi.KindCompanion) // 2 to 5
	}
	k.say("taro", abi.KindHuman)    // 6
	k.say("aya", abi.KindCompanion) // 7
	k.want("all", "aya", 0, []uint64{1, 2, 3, 4, 5, 6, 7}, []uint64{1, 4, 5, 6})
	k.want("a part", "aya", 1, []uint64{1, 2, 3, 4, 5, 6, 7}, []uint64{4, 5, 6})
	k.want("to the end", "aya", 7, []uint64{1, 2, 3, 4, 5, 6, 7}, nil)
	k.want("somebody else", "ben", 0, nil, nil)
	if got := k.Of("aya", 1); got.Read != 1 || k.People != 2 {
		t.Errorf("%d read, %d of people", got.Read, k.People)
	}
	k.Next()
	k.want("the next part", "aya", 7, []uint64{7}, nil)
	k.say("taro", abi.KindHuman) // 8
	k.want("the next part", "aya", 7, []uint64{7, 8}, []uint64{7, 8})
	if got := k.Of("aya", 7); got.Read != 0 || k.People != 1 {
		t.Errorf("%d read, %d of people", got.Read, k.People)
	}
}

// TestChat: what is said in a chat is heard by those it is said to, also where these come only then.
func TestChat(t *testing.T) {
	k := &talk{Hearing: hearing.Hearing{Room: "main", Here: []string{"aya"}}, t: t}
	chat := func(to ...string) {
		k.said(entry.Said{From: "taro", By: abi.KindHuman, Source: entry.SourceChat, Addressed: to})
	}
	chat()
	chat("aya")
	chat()
	k.want("to aya", "aya", 0, []uint64{2}, []uint64{2})
	if k.People != 1 {
		t.Errorf("%d of people", k.People)
	}
	k.come("ben", &[]string{"ben"})
	k.come("rin", nil)
	k.want("to ben, who is here now", "ben", 0, []uint64{3}, []uint64{3})
	k.want("to others", "rin", 0, nil, nil)
}
