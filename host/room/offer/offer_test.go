package offer_test

import (
	"encoding/json"
	"errors"
	"slices"
	"testing"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/room/offer"
)

func made(t *testing.T, seq uint64, kind entry.Kind, body any) entry.Entry {
	t.Helper()
	data, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	return entry.Entry{Seq: seq, V: kind.Version(), Kind: kind, Body: data}
}

func TestEnded(t *testing.T) {
	w := offer.Waiting{}
	for seq, who := range map[uint64]string{1: "aya", 2: "ken", 3: "mio", 4: "rei"} {
		w[seq] = offer.Offer{Who: who}
	}
	entries := []entry.Entry{
		made(t, 7, entry.KindRefused, entry.Refused{Wish: 2, Code: abi.CodeStale, Why: "too late"}),
		made(t, 8, entry.KindSaid, entry.Said{Wish: 1, From: "aya", Text: "hello"}),
	}
	all := w.Ended(entries, func(seq uint64) bool { return seq == 4 })
	var who []string
	for _, e := range all {
		who = append(who, e.Who)
	}
	if !slices.Equal(who, []string{"aya", "ken", "mio"}) || len(w) != 1 || w[4].Who != "rei" {
		t.Fatalf("ended: %v, still waiting: %v", who, w)
	}
	said, refused, lost := all[0], all[1], all[2]
	if !said.Found || said.Outcome.Msg.Text != "hello" || said.Outcome.Msg.Seq != 8 || said.Outcome.Refused != nil {
		t.Errorf("said: %+v", said)
	}
	if !refused.Found || abi.CodeOf(refused.Outcome.Refused) != abi.CodeStale {
		t.Errorf("refused: %+v", refused)
	}
	if lost.Found || lost.Outcome.Refused != nil {
		t.Errorf("given up: %+v", lost)
	}
}

func TestDrop(t *testing.T) {
	why, told := errors.New("the disk is full"), 0
	w := offer.Waiting{1: {Tell: func(_ offer.Outcome, err error) {
		if told++; !errors.Is(err, why) {
			t.Errorf("told %v", err)
		}
	}}}
	w.Drop(why)
	if w.Drop(why); told != 1 || len(w) != 0 {
		t.Errorf("told %d times, %d wait", told, len(w))
	}
}
