package told_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/context/kept"
	"github.com/companiond/companiond/host/context/layout"
	"github.com/companiond/companiond/host/context/told"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/journal/memory"
)

// stage gives a journal, and what puts entries into a room of it and tells where they stand.
func stage(t *testing.T) (j *memory.Journal, put func(id string, kind entry.Kind, body any) uint64) {
	j = memory.New()
	at := time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC)
	head, err := j.Acquire(t.Context(), "main", "test", at)
	if err != nil {
		t.Fatal(err)
	}
	return j, func(id string, kind entry.Kind, body any) uint64 {
		t.Helper()
		raw, err := json.Marshal(body)
		if err == nil {
			head, err = j.Append(t.Context(), "main", head, journal.New{ID: id, V: kind.Version(), Kind: kind, At: at, Body: raw})
		}
		if err != nil {
			t.Fatal(err)
		}
		return head.Seq
	}
}

// TestErased: a request that lost words is shown, with what is left of it and what it cost, and says that it is not what
// was sent. One that lost all for lack of room is not.
func TestErased(t *testing.T) {
	j, put := stage(t)
	said := put("a", entry.KindSaid, entry.Said{From: "taro", By: abi.KindHuman, Kind: abi.KindTurn, Text: "hello"})
	usage := entry.Usage{Who: "aya", Model: "m", Op: abi.OpSpeak, In: 700, Out: 9, Cost: .25, About: said, Told: &entry.Told{
		Head: said, From: said, Upto: said, Budget: 3000, Tail: "It is Monday.\nmika's cat is Tama", Parts: map[string]int{"tail": 12}}}
	lost, gone := put("b", entry.KindUsage, usage), put("c", entry.KindUsage, usage)
	usage.Told = nil
	all := put("d", entry.KindUsage, usage)
	left := func(tell *entry.Told) []byte {
		u := struct {
			entry.Usage
			Erased string `json:"erased"`
		}{usage, "o1"}
		u.Told = tell
		raw, _ := json.Marshal(u)
		return raw
	}
	if err := j.Blank(t.Context(), "main", 0, map[uint64][]byte{
		lost: left(&entry.Told{Head: said, From: said, Upto: said, Budget: 3000, Tail: "It is Monday.\n", Parts: map[string]int{"tail": 12}}), gone: nil, all: left(nil)}); err != nil {
		t.Fatal(err)
	}
	got, err := told.Shelf{Journal: j, Words: kept.New(j, ""), Zone: time.UTC}.About(t.Context(), "main", said)
	if err != nil || len(got) != 2 || got[0].Seq != lost || got[1].Seq != all {
		t.Fatalf("%+v %v", got, err)
	}
	for _, p := range got {
		if p.Exact || p.Why != "some of it was erased" || p.Usage.In != 700 || p.Usage.Cost != .25 {
			t.Errorf("%+v", p)
		}
	}
	if parts := got[0].Parts; len(parts) != 3 || parts[2].Text != "It is Monday.\n" || parts[1].Text == "" || got[0].Budget != 3000 {
		t.Errorf("%+v", parts)
	}
}

// TestAsItWasSent: each message stands behind its role once, with what is put before a talk that begins with the
// character itself; a long one says how much is left out; and where nothing was erased nobody is told so.
func TestAsItWasSent(t *testing.T) {
	j, put := stage(t)
	say := func(from string, by abi.ParticipantKind, text string) uint64 {
		t.Helper()
		return put("s"+from+text, entry.KindSaid, entry.Said{From: from, By: by, Kind: abi.KindTurn, Text: text})
	}
	first := say("aya", abi.KindCompanion, "Good morning.")
	say("taro", abi.KindHuman, "Hello.")
	long := say("hana", abi.KindHuman, "It begins and ends.")
	tell := entry.Told{Head: long, From: first, Upto: long, Budget: 3000, Tail: "It is Monday.\nAsked for: a line.", Parts: map[string]int{"tail": 12},
		Shortened: map[uint64][2]int{long: {2, 4}}}
	sent := "\n\nassistant:\nGood morning.\n\nuser:\n{\"from\":\"taro\",\"text\":\"Hello.\"}\n\nuser:\n{\"from\":\"hana\",\"text\":\"It … [13 letters left out] … nds.\"}\n\nuser:\n" + tell.Tail
	tell.SHA256 = layout.Hash(sent)
	about := entry.Usage{Who: "aya", Model: "m", Op: abi.OpSpeak, Calls: 1, About: long, Told: &tell}
	put("u", entry.KindUsage, about)
	other := tell
	other.SHA256, about.Told = layout.Hash("of another version"), &other
	put("v", entry.KindUsage, about)
	got, err := told.Shelf{Journal: j, Words: kept.New(j, ""), Zone: time.UTC}.About(t.Context(), "main", long)
	if err != nil || len(got) != 2 {
		t.Fatalf("%+v %v", got, err)
	}
	want := "user: …\nassistant: Good morning.\nuser: {\"from\":\"taro\",\"text\":\"Hello.\"}\n{\"from\":\"hana\",\"text\":\"It … [13 letters left out] … nds.\"}"
	if text := got[0].Parts[1].Text; text != want {
		t.Errorf("%s\nwant\n%s", text, want)
	}
	if left := strings.Join(got[0].Left, "\n"); !strings.Contains(left, "the middle of #4, 13 of 19 letters") {
		t.Error(left)
	}
	if why := got[1].Why; got[1].Exact || strings.Contains(why, "erased") || why == "" {
		t.Errorf("%v %q", got[1].Exact, why)
	}
}
