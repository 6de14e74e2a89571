package rules_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	. "github.com/companiond/companiond/host/room/fold"
	"github.com/companiond/companiond/host/room/replay"
	. "github.com/companiond/companiond/host/room/rules"
	"github.com/companiond/companiond/host/turn"
)

// hall is a room that is written by hand.
type hall struct {
	t       *testing.T
	journal []entry.Entry
}

func (h *hall) add(v int, kind entry.Kind, body string) {
	seq := uint64(len(h.journal) + 1)
	h.journal = append(h.journal, entry.Entry{
		Seq: seq, Epoch: 1, At: time.Date(2026, 1, 1, 0, 0, int(seq), 0, time.UTC), Kind: kind, ID: fmt.Sprintf("%s/%d", kind, seq), V: v, Body: []byte(body),
	})
}

func (h *hall) fold() *State {
	h.t.Helper()
	s := New()
	for _, e := range h.journal {
		if err := s.Apply(e); err != nil {
			h.t.Fatal(err)
		}
	}
	return s
}

const (
	oldVote   = `{"policy":"vote","seed":"x","patience_ms":1000,"floor_ms":5000,"silence_ms":0,"pace_ms":0,"max_turns":6,"stale":"reask"}`
	oldPool   = `{"policy":"pool","seed":"x","patience_ms":1000,"floor_ms":5000,"silence_ms":0,"pace_ms":0,"max_turns":6,"stale":"reask","policy_settings":{"reserve":40}}`
	ayaAndBen = `{"joined":[{"id":"aya","name":"Aya","aliases":["アヤ"],"kind":"companion"},{"id":"ben","name":"Ben","kind":"companion"}]}`
)

// TestPolicyChanges goes from a policy with settings to one without and back: the
// settings of the one are not those of the other.
func TestPolicyChanges(t *testing.T) {
	h := &hall{t: t}
	h.add(1, entry.KindRules, oldPool)
	h.add(1, entry.KindRules, oldVote)
	if s := h.fold(); s.Unjudged() != "" || s.Rules.Policy != "vote" || s.Rules.PolicyRaw != nil {
		t.Errorf("%q %+v", s.Unjudged(), s.Rules)
	}
	h.add(2, entry.KindRules, oldPool)
	if s := h.fold(); s.Unjudged() != "" || !s.PaysTurns() {
		t.Errorf("%q %+v", s.Unjudged(), s.Rules)
	}
}

// TestUnknownRulesAreNoDamage: a policy, a setting, a version of rules or of entries
// that this program does not know makes a room that can be read and takes nothing
// new, until it has rules that are known.
func TestUnknownRulesAreNoDamage(t *testing.T) {
	for name, c := range map[string]struct{ rules, why string }{
		"policy":  {`{"policy":"dice"}`, `policy: "dice" is unknown`},
		"setting": {strings.Replace(oldPool, "reserve", "reserved", 1), "reserved"},
		"version": {strings.Replace(oldVote, `{`, fmt.Sprintf(`{"version":%d,`, Version+1), 1), "start the newer companiond"},
	} {
		t.Run(name, func(t *testing.T) {
			h := &hall{t: t}
			h.add(1, entry.KindRules, oldPool)
			h.add(1, entry.KindCast, ayaAndBen)
			h.add(1, entry.KindSaid, `{"from":"taro","by":"human","text":"hello","kind":"turn","cost":5}`)
			h.add(1, entry.KindRules, c.rules)
			h.add(1, entry.KindSaid, `{"from":"taro","by":"human","text":"and now?","kind":"turn","cost":5,"new":1}`)
			h.add(1, entry.KindRefused, `{"who":"ren","by":"agent","kind":"turn","code":"exhausted","why":"x","until":"2026-01-01T00:00:09Z"}`)
			s := h.fold()
			if !strings.Contains(s.Unjudged(), c.why) || s.Condition() != "unjudged" || s.Last.Seq != 5 {
				t.Fatalf("%q %s %+v", s.Unjudged(), s.Condition(), s.Last)
			}
			if _, _, due := s.NextDue(); due {
				t.Error("something is due")
			}
			m := &Machine{State: s}
			_, err := m.Say(Line{Said: entry.Said{From: "taro", By: abi.KindHuman, Text: "hm", Kind: abi.KindTurn}}, s.At)
			if abi.CodeOf(err) != abi.CodeUnavailable || !strings.Contains(err.Error(), c.why) || len(m.Made()) != 0 {
				t.Errorf("said: %v, made %v", err, m.Made())
			}
			blob, err := json.Marshal(s)
			if err != nil {
				t.Fatal(err)
			}
			if s, err = Decode(blob); err != nil || !strings.Contains(s.Unjudged(), c.why) {
				t.Fatalf("from a snapshot: %v %q", err, s.Unjudged())
			}
			h.add(2, entry.KindRules, oldVote)
			if s := h.fold(); s.Unjudged() != "" {
				t.Errorf("with rules that are known: %q", s.Unjudged())
			}
		})
	}
	h := &hall{t: t}
	h.add(entry.Version, entry.KindRules, oldVote)
	h.add(entry.Version+1, "of a later version", `{}`)
	h.add(entry.Version, entry.KindRules, oldVote)
	if s := h.fold(); !strings.Contains(s.Unjudged(), "its entries have version") {
		t.Errorf("entries of a later version: %q", s.Unjudged())
	}
}

// TestAddresseesAreStored: of a turn of version 2 the stored addressees count,
// whatever its words are; of an older one those of its round, else those of the
// rule of then.
func TestAddresseesAreStored(t *testing.T) {
	for name, c := range map[string]struct {
		v     int
		said  string
		round string
		want  []string
	}{
		"stored":         {2, `{"from":"taro","by":"human","text":"アヤ、元気？","kind":"turn","addressed":["ben"]}`, "", []string{"ben"}},
		"stored nobody":  {2, `{"from":"taro","by":"human","text":"アヤ、元気？","kind":"turn"}`, "", nil},
		"no text":        {2, `{"from":"taro","by":"human","text":"","kind":"turn","addressed":["ben"]}`, "", []string{"ben"}},
		"old":            {1, `{"from":"taro","by":"human","text":"アヤ、元気？","kind":"turn"}`, "", []string{"aya"}},
		"old mention":    {1, `{"from":"taro","by":"human","text":"昨日アヤの歌を聞いたよ","kind":"turn"}`, "", []string{"aya"}},
		"old with round": {1, `{"from":"taro","by":"human","text":"アヤ、元気？","kind":"turn"}`, `{"about":3,"electorate":["aya","ben"],"addressed":["ben"],"due":"2026-01-01T00:00:09Z"}`, []string{"ben"}},
	} {
		t.Run(name, func(t *testing.T) {
			h := &hall{t: t}
			h.add(c.v, entry.KindRules, oldVote)
			h.add(c.v, entry.KindCast, ayaAndBen)
			h.add(c.v, entry.KindSaid, c.said)
			if c.round != "" {
				h.add(c.v, entry.KindRound, c.round)
			}
			if s := h.fold(); !slices.Equal(s.Meant, c.want) {
				t.Errorf("%q are meant, want %q", s.Meant, c.want)
			}
		})
	}
}

// TestOldSnapshots reads each format of before: the new fields are found out
// from what is there.
func TestOldSnapshots(t *testing.T) {
	const rest = `"head":9,"epoch":2,"at":"2026-01-01T00:00:00Z","rules":%s,"cast":[{"id":"aya","name":"Aya","kind":"companion"},{"id":"ben","name":"Ben","kind":"companion"}],
		"last":{"seq":8,"id":"m","from":"taro","to":[],"text":"Aya, hello","kind":"turn","at":"2026-01-01T00:00:00Z"},"guests":["mika","taro"],"last_by":"human","asked":7,"turns":0,"stage":"none"`
	for v, want := range map[int]string{1: "aya", 2: "aya"} {
		s, err := Decode([]byte(fmt.Sprintf(`{"version":%d,`+rest+`}`, v, oldVote)))
		if err != nil || s.Unjudged() != "" || !slices.Equal(s.Meant, []string{want}) || s.Version != StateVersion || len(s.People) != 2 || s.People[1].Name != "taro" || s.People[1].At.IsZero() || len(s.Voters()) != 2 {
			t.Errorf("version %d: %v %+v", v, err, s)
		}
	}
	mixed := strings.Replace(oldVote, `}`, `,"policy_settings":{"reserve":40}}`, 1) // of a pool that was before
	if s, err := Decode([]byte(fmt.Sprintf(`{"version":2,`+rest+`}`, mixed))); err != nil || s.Unjudged() != "" {
		t.Errorf("with the settings of another policy: %v %q", err, s.Unjudged())
	}
	open := `"round":{"id":9,"about":8,"from":{"id":"taro","kind":"human"},"electorate":[{"id":"aya","kind":"companion"}],"addressed":["ben"],"due":"2026-01-01T00:00:09Z","ballots":{}},`
	if s, err := Decode([]byte(fmt.Sprintf(`{"version":2,`+open+rest+`}`, oldVote))); err != nil || !slices.Equal(s.Meant, []string{"ben"}) {
		t.Errorf("with an open round: %v %q", err, s.Meant)
	}
}

// play replays a journal and gives how much was derived and folded.
func play(t interface {
	Helper()
	Fatalf(string, ...any)
}, journal []entry.Entry) *replay.Player {
	t.Helper()
	p := replay.NewPlayer(New())
	for _, e := range journal {
		if diff, err := p.Play(e); err != nil || diff != nil {
			t.Fatalf("%v %v", diff, err)
		}
	}
	return p
}

// TestReplayFoldsOtherVersions: a decision of version 1 is folded, though this
// version would never make it; from its own rules on it derives again.
func TestReplayFoldsOtherVersions(t *testing.T) {
	h := &hall{t: t}
	h.add(1, entry.KindOwner, `{"owner":"a"}`)
	h.add(1, entry.KindRules, oldVote)
	h.add(1, entry.KindCast, ayaAndBen)
	h.add(1, entry.KindSaid, `{"from":"taro","by":"human","text":"アヤ、元気？","kind":"turn"}`)
	h.add(1, entry.KindRound, `{"about":4,"electorate":["aya","ben"],"due":"2026-01-01T00:00:09Z"}`)
	h.add(1, entry.KindDecision, `{"round":5,"outcome":"silence","reason":"version 1 had its reasons","ranking":[]}`)
	if p := play(t, h.journal); p.Derived != 0 || p.Folded != 6 {
		t.Errorf("%d derived, %d folded", p.Derived, p.Folded)
	}
	m := &Machine{State: h.fold()}
	at := m.State.At.Add(time.Second)
	var mine entry.Rules
	if err := json.Unmarshal([]byte(oldVote), &mine); err != nil {
		t.Fatal(err)
	}
	mine.Version = Version
	for kind, body := range map[entry.Kind]any{entry.KindRules: mine} {
		if err := m.Input(kind, at, body); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := m.Say(Line{ID: "m", Said: entry.Said{From: "taro", By: abi.KindHuman, Text: "hm?", Kind: abi.KindTurn}}, at); err != nil {
		t.Fatal(err)
	}
	made := m.Take()
	journal := append(slices.Clone(h.journal), made...)
	if p := play(t, journal); p.Derived != len(made) || p.Folded != 6 {
		t.Errorf("%d derived, %d folded of %d", p.Derived, p.Folded, len(journal))
	}
	forged := slices.Clone(journal)
	last := &forged[len(forged)-1]
	last.Body = []byte(strings.Replace(string(last.Body), `"aya"`, `"eve"`, 1))
	p := replay.NewPlayer(New())
	for _, e := range forged[:len(forged)-1] {
		if diff, err := p.Play(e); err != nil || diff != nil {
			t.Fatal(diff, err)
		}
	}
	if diff, err := p.Play(*last); err != nil || diff == nil {
		t.Errorf("a decision of this version that was changed is not found: %v", err)
	}
}

// TestGathering: after a new owner nobody is asked before it was said who is here.
func TestGathering(t *testing.T) {
	w := newTable(t, entry.Rules{Version: Version, Policy: "vote", Seed: "test", Patience: 1000, Floor: 5000})
	e := entry.Entry{Seq: w.m.State.Head + 1, Epoch: w.m.State.Epoch + 1, At: w.at, Kind: entry.KindOwner, ID: "owner/2", V: entry.KindOwner.Version(), Body: []byte(`{"owner":"b"}`)}
	if err := w.m.State.Apply(e); err != nil {
		t.Fatal(err)
	}
	w.say(Line{Said: entry.Said{From: "taro", By: abi.KindHuman, Text: "Ben, are you there?", Kind: abi.KindTurn}})
	w.input(entry.KindCast, entry.Cast{Joined: []entry.Joined{{ID: "ren", Kind: abi.KindAgent}}, Loading: true})
	if s := w.m.State; s.Round != nil || s.Alone {
		t.Fatalf("while companions are being loaded: %+v", s)
	}
	if _, _, due := w.m.State.NextDue(); due {
		t.Fatal("something is due, though nobody is to be asked yet")
	}
	to := []string{"ben"}
	w.input(entry.KindCast, entry.Cast{Joined: []entry.Joined{{ID: "aya", Kind: abi.KindCompanion}, {ID: "ben", Name: "Ben", Kind: abi.KindCompanion}}, Addressed: &to})
	if r := w.m.State.Round; r == nil || !slices.Equal(r.Addressed, to) || len(r.Electorate) != 3 {
		t.Fatalf("when they are here: %+v", r)
	}
}

// TestNothingIsLeftOfARoundThatWasHeld: neither by a new owner nor behind a STOP, or a journal with its votes and one without them, both
// of which give the same, would fold to two states.
func TestNothingIsLeftOfARoundThatWasHeld(t *testing.T) {
	for kind, body := range map[entry.Kind]string{entry.KindOwner: `{"owner":"b"}`, entry.KindStop: `{"from":"taro"}`} {
		w := newTable(t, entry.Rules{Version: Version, Policy: "vote", Seed: "test", Patience: 1000, Floor: 5000})
		s := w.m.State
		s.Held, s.Keeps = &turn.Round{}, true
		if err := s.Apply(entry.Entry{Seq: s.Head + 1, Epoch: s.Epoch + 1, At: w.at, Kind: kind, V: kind.Version(), Body: []byte(body)}); err != nil {
			t.Fatal(err)
		}
		if s.Held != nil || s.Keeps {
			t.Errorf("%s: %+v", kind, s.Series)
		}
	}
}

// TestArchived: a room that was closed takes nothing, ends what is open, and goes
// on when it is opened again.
func TestArchived(t *testing.T) {
	w := newTable(t, entry.Rules{Version: Version, Policy: "vote", Seed: "test", Patience: 1000, Floor: 5000, Silence: 4000})
	w.say(Line{Said: entry.Said{From: "taro", By: abi.KindHuman, Text: "hello", Kind: abi.KindTurn}})
	if w.m.State.Round == nil {
		t.Fatal("no round")
	}
	w.input(entry.KindArchived, entry.Archived{By: "mika"})
	s := w.m.State
	if s.Round != nil || s.Floor != nil || s.Condition() != "archived" {
		t.Fatalf("closed: %s %+v", s.Condition(), s.Round)
	}
	if _, _, due := s.NextDue(); due {
		t.Fatal("something is due in a closed room")
	}
	w.input(entry.KindOpened, entry.Opened{By: "mika"})
	w.say(Line{Said: entry.Said{From: "taro", By: abi.KindHuman, Text: "hello again", Kind: abi.KindTurn}})
	if w.m.State.Round == nil {
		t.Fatal("opened again, and nobody is asked")
	}
}

// TestBlankVoteBeforeAClosing: where a line is only folded, because a vote before it is
// blank, its consequences are folded as well.
func TestBlankVoteBeforeAClosing(t *testing.T) {
	w := newTable(t, poolRules())
	w.input(entry.KindCast, entry.Cast{Left: []entry.Left{{ID: "b"}}}) // nobody answers
	w.say(Line{Said: entry.Said{From: "taro", By: abi.KindHuman, Text: "hello", Kind: abi.KindTurn}})
	w.input(entry.KindVote, entry.Voted{Round: w.m.State.Round.ID, Voter: "a", Vote: abi.Vote{State: abi.Speak, Closing: abi.ClosingPre}})
	f := w.m.State.Floor
	w.say(Line{Said: entry.Said{From: "a", By: abi.KindCompanion, Text: "bye", Kind: abi.KindTurn, Grant: f.Token, Basis: f.Basis}})
	journal := slices.Clone(w.journal)
	if !slices.ContainsFunc(journal, func(e entry.Entry) bool { return e.Kind == entry.KindClosing }) {
		t.Fatal("the talk did not move to its end")
	}
	for i := range journal {
		if journal[i].Kind == entry.KindVote {
			journal[i].Body, journal[i].Blank = []byte("null"), true
		}
	}
	play(t, journal)
}

// TestBlankInputs takes votes and rounds out of journals: they fold to the state
// they had wherever nothing is open, and replay to the end.
func TestBlankInputs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t)
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			w.anything()
		}
		upTo := rapid.IntRange(0, len(w.journal)).Draw(t, "blank up to")
		journal := slices.Clone(w.journal)
		whole, bare := New(), New()
		for i := range journal {
			e := &journal[i]
			if i < upTo && (e.Kind == entry.KindVote || e.Kind == entry.KindRound) {
				e.Body, e.Blank = []byte("null"), true
			}
			if err := whole.Apply(w.journal[i]); err != nil {
				t.Fatal(err)
			}
			if err := bare.Apply(*e); err != nil {
				t.Fatal(err)
			}
			if i >= upTo && whole.Quiet() && bare.Quiet() {
				a, _ := json.Marshal(whole)
				b, _ := json.Marshal(bare)
				if string(a) != string(b) {
					t.Fatalf("entry %d: the states differ\nwhole %s\nblank %s", e.Seq, a, b)
				}
			}
		}
		p := play(t, journal)
		if p.Derived+p.Folded != len(journal) {
			t.Fatalf("%d derived and %d folded of %d", p.Derived, p.Folded, len(journal))
		}
		if all := play(t, w.journal); all.Folded != 0 {
			t.Fatalf("%d of a whole journal were only folded", all.Folded)
		}
	})
}
