package turn

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
)

func openRound(id uint64, electorate ...string) *Round {
	return Open(id, entry.Round{About: id - 1, Electorate: electorate}, Voter{"mika", abi.KindHuman}, nil)
}

func TestOpen(t *testing.T) {
	b := entry.Round{About: 4, Electorate: []string{"aya", "yui", "aya"}, Addressed: []string{"aya"}, Silence: true}
	r := Open(5, b, Voter{"mika", abi.KindHuman}, map[string]abi.ParticipantKind{"yui": abi.KindHuman})
	if want := []Voter{{"aya", abi.KindCompanion}, {"yui", abi.KindHuman}}; !slices.Equal(r.Electorate, want) {
		t.Errorf("electorate %v, want %v: each voter once", r.Electorate, want)
	}
	b.Addressed[0] = "yui"
	if r.Addressed[0] != "aya" || !r.Silence || r.About != 4 {
		t.Errorf("round is not its own: %+v", r)
	}
}

func TestCast(t *testing.T) {
	r := openRound(5, "aya", "kyoko", "nat")
	for _, c := range []struct {
		voter string
		vote  abi.Vote
		want  Refusal
	}{
		{"ghost", speak(5), Stranger},
		{"aya", abi.Vote{State: "shout"}, Invalid},
		{"aya", speak(11), Invalid},
		{"aya", speak(math.NaN()), Invalid},
		{"aya", abi.Vote{State: abi.Speak, Closing: "soon"}, Invalid},
		{"aya", speak(5), ""}, // after invalid ones the first good one counts
		{"aya", speak(9), Repeated},
		{"kyoko", listen(0), ""},
	} {
		if why, ok := r.Cast(c.voter, c.vote); why != c.want || ok != (c.want == "") {
			t.Errorf("%s %+v: %q %v, want %q", c.voter, c.vote, why, ok, c.want)
		}
	}
	if r.Ballots["aya"].Vote.Importance != 5 {
		t.Errorf("a repeated vote changed the first: %+v", r.Ballots["aya"])
	}
	if r.Complete() {
		t.Error("complete without nat")
	}
	if !r.Fail("nat", "crashed") || !r.Complete() {
		t.Error("not complete when all voted or failed")
	}
	r.Decided = true
	if why, _ := r.Cast("nat", speak(1)); why != Late {
		t.Errorf("after the decision: %q", why)
	}
	if r.Fail("nat", "x") {
		t.Error("failed after the decision")
	}
	for why, n := range map[Refusal]int{Stranger: 1, Invalid: 4, Repeated: 1, Late: 1} {
		if r.Refused[why] != n {
			t.Errorf("%s counted %d times, want %d", why, r.Refused[why], n)
		}
	}
}

// TestFailThenCast: a voter that answers after it was given up on is counted,
// and the order of the two makes no difference.
func TestFailThenCast(t *testing.T) {
	for _, carried := range []bool{false, true} {
		a, b := openRound(5, "aya"), openRound(5, "aya")
		if carried {
			old := openRound(3, "aya")
			old.Cast("aya", speak(1))
			a.Carry(old)
			b.Carry(old)
		}
		a.Fail("aya", "slow")
		a.Cast("aya", speak(7))
		b.Cast("aya", speak(7))
		b.Fail("aya", "slow")
		if a.Ballots["aya"] != b.Ballots["aya"] || a.Ballots["aya"].Vote.Importance != 7 {
			t.Errorf("carried %v: %+v and %+v", carried, a.Ballots["aya"], b.Ballots["aya"])
		}
	}
	r := openRound(5, "aya")
	if r.Fail("ghost", "x") || !r.Fail("aya", "") || r.Fail("aya", "again") {
		t.Error("only the first failure of a voter counts")
	}
	if got := r.Ballots["aya"].Absent; got == "" {
		t.Error("a failure without a reason still is one")
	}
}

func TestCarry(t *testing.T) {
	old := openRound(3, "aya", "kyoko", "nat", "gone", "zoe")
	for _, who := range []string{"aya", "gone", "zoe"} {
		old.Cast(who, speak(8))
	}
	old.Fail("kyoko", "crashed")
	r := Open(5, entry.Round{Electorate: []string{"aya", "kyoko", "nat", "zoe"}}, Voter{"zoe", abi.KindCompanion}, nil)
	r.Cast("nat", speak(2))
	old.Ballots["nat"] = Ballot{Vote: speak(9)}
	r.Carry(old)
	want := map[string]Ballot{"aya": {Vote: speak(8), Carried: true}, "nat": {Vote: speak(2)}}
	if len(r.Ballots) != len(want) || r.Ballots["aya"] != want["aya"] || r.Ballots["nat"] != want["nat"] {
		t.Errorf("got %+v, want %+v: who is absent, gone or was the speaker carries nothing", r.Ballots, want)
	}
	if old.Ballots["aya"].Carried {
		t.Error("the old round was changed")
	}
	r.Fail("kyoko", "x")
	r.Fail("zoe", "x")
	if r.Complete() {
		t.Error("a carried vote is no answer")
	}
	r.Fail("aya", "crashed")
	if b := r.Ballots["aya"]; !r.Complete() || b.Vote.Importance != 8 || b.Failed != "crashed" {
		t.Errorf("a carried vote stays when its voter fails: %+v", b)
	}
	next := openRound(7, "aya")
	next.Carry(r)
	if b := next.Ballots["aya"]; !b.Carried || b.Failed != "" || next.Complete() {
		t.Errorf("carried twice: %+v", b)
	}
}

// TestRoundThroughJSON: a snapshot of a round goes on as if nothing happened.
func TestRoundThroughJSON(t *testing.T) {
	r := openRound(5, "aya", "kyoko")
	r.Cast("aya", speak(3))
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var back Round
	if err := json.Unmarshal(b, &back); err != nil {
		t.Fatal(err)
	}
	for _, x := range []*Round{r, &back} {
		x.Cast("aya", speak(9))
		x.Cast("ghost", speak(9))
		x.Cast("kyoko", speak(4))
	}
	one, _ := json.Marshal(r)
	two, _ := json.Marshal(&back)
	if string(one) != string(two) {
		t.Errorf("\n%s\n%s", one, two)
	}
	var bare Round
	if err := json.Unmarshal([]byte(`{"id":1,"electorate":[{"id":"aya","kind":"companion"}]}`), &bare); err != nil {
		t.Fatal(err)
	}
	bare.Cast("ghost", speak(1))
	bare.Cast("aya", speak(1))
	if !bare.Complete() {
		t.Error("a round without maps does not take votes")
	}
}

func TestEarly(t *testing.T) {
	var e Early
	if got := e.Take(1); got != nil {
		t.Errorf("nothing held: %v", got)
	}
	e.Hold(3, "aya", speak(1))
	e.Hold(3, "aya", speak(2)) // replaces
	e.Hold(3, "kyoko", speak(3))
	e.Hold(2, "nat", speak(4)) // its message never came to a round
	e.Hold(9, "nat", speak(5))
	got := e.Take(3)
	if len(got) != 2 || got["aya"].Importance != 2 || got["kyoko"].Importance != 3 {
		t.Errorf("got %v", got)
	}
	if len(e.held) != 1 || e.Take(9)["nat"].Importance != 5 || len(e.held) != 0 {
		t.Errorf("left %v", e.held)
	}
}

// TestEarlyIsBounded: neither one liar nor many take the places of votes that
// are about to be used.
func TestEarlyIsBounded(t *testing.T) {
	var e Early
	for i := range uint64(1000) {
		e.Hold(1_000_000-i, "liar", speak(10))
	}
	if len(e.held) != maxEarlyEach {
		t.Errorf("one voter holds %d places, want %d", len(e.held), maxEarlyEach)
	}
	if e.Hold(2_000_000, "liar", speak(1)) {
		t.Error("a vote further ahead than all that are held was taken")
	}
	if !e.Hold(5, "liar", speak(1)) {
		t.Error("a nearer vote did not take a far one's place")
	}
	for i := range 1000 {
		for j := range uint64(3) {
			e.Hold(500+j, fmt.Sprintf("liar-%d", i), speak(10))
		}
	}
	if len(e.held) != maxEarly {
		t.Errorf("%d held, want %d", len(e.held), maxEarly)
	}
	if !e.Hold(6, "aya", speak(7)) || e.Hold(600, "kyoko", speak(7)) {
		t.Error("the vote furthest ahead gives way, and no other")
	}
	if got := e.Take(6); got["aya"].Importance != 7 {
		t.Errorf("got %v", got)
	}
}

func TestAwaits(t *testing.T) {
	old, r := openRound(3, "aya"), openRound(5, "aya", "kyoko", "nat")
	old.Cast("aya", speak(1))
	r.Carry(old)
	r.Cast("kyoko", speak(1))
	for who, want := range map[string]bool{"aya": true, "kyoko": false, "nat": true, "ghost": false} {
		if r.Awaits(who) != want {
			t.Errorf("awaits %s: %v", who, !want)
		}
	}
	r.Fail("aya", "slow")
	r.Fail("nat", "slow")
	if r.Awaits("aya") || r.Awaits("nat") || !r.Complete() {
		t.Error("who failed is awaited")
	}
}
