//go:build !race

package characters_test

import (
	"fmt"
	"hash/fnv"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
	companion "github.com/companiond/companiond/sdk/go"
	"github.com/companiond/companiond/sdk/go/talk"
	"github.com/companiond/companiond/sdk/go/words"
)

// human is the person of every test's talk.
const human = "visitor"

// room is a tiny daemon: it asks everybody for votes, applies the order of the
// house (addressed, importance, least recently spoken, hash), and moves the
// closing one stage at a time.
type room struct {
	t       *testing.T
	cast    map[string]*companion.Local
	members []companion.Member
	said    []companion.Message
	rows    []row
	stage   abi.Closing
	turns   int
	max     int
	byVote  bool // the winner's vote moves the closing too
	last    map[string]int
	seed    uint64
	ended   string
	clock   time.Time
}

// row is what a transcript shows of a turn.
type row struct {
	who, text string
	line      companion.Line
	addressed bool
}

// script gives a character's file.
func script(t testing.TB, who string) string {
	b, err := os.ReadFile(who + ".talk.txt")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func newRoom(t *testing.T, seed uint64, who ...string) *room {
	r := &room{t: t, cast: map[string]*companion.Local{}, stage: abi.ClosingNone, max: 24, last: map[string]int{}, seed: seed,
		clock: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	for _, id := range who {
		c, err := talk.New(script(t, id))
		if err != nil {
			t.Fatalf("%s: %v", id, err)
		}
		l := companion.NewLocal(c)
		l.ID, l.Seed, l.Clock = id, seed, func() time.Time { return r.clock }
		l.RoomID = fmt.Sprintf("room-%d", seed)
		r.cast[id] = l
		r.members = append(r.members, companion.Member{ID: id, Name: c.Name, Kind: abi.KindCompanion})
	}
	r.members = append(r.members, companion.Member{ID: human, Kind: abi.KindHuman})
	return r
}

// reload drops every instance, as a reload of the modules does; stores stay.
func (r *room) reload() {
	for id, old := range r.cast {
		c, err := talk.New(script(r.t, id))
		if err != nil {
			r.t.Fatal(err)
		}
		l := companion.NewLocal(c)
		l.ID, l.Seed, l.Clock, l.RoomID, l.KV, l.History = id, old.Seed, old.Clock, old.RoomID, old.KV, old.History
		r.cast[id] = l
	}
}

func (r *room) record(from, text string, line companion.Line, addressed bool) companion.Message {
	r.clock = r.clock.Add(3 * time.Second)
	seq := uint64(len(r.said))*5 + 3
	m := companion.Message{Seq: seq, ID: fmt.Sprintf("m%d-%d", r.seed, seq), From: from, To: line.To, Text: text, Kind: abi.KindTurn, At: r.clock}
	if m.To == nil {
		m.To = []string{}
	}
	r.said = append(r.said, m)
	r.rows = append(r.rows, row{from, text, line, addressed})
	r.last[from] = len(r.said)
	for _, l := range r.cast {
		l.History = append(l.History, m)
	}
	return m
}

// say lets the human speak and the talk run until it ends.
func (r *room) say(text string) []row {
	r.t.Helper()
	r.stage, r.turns, r.ended = abi.ClosingNone, 0, ""
	from := len(r.rows)
	m := r.record(human, text, companion.Line{}, false)
	for r.ended == "" {
		m = r.turn(m)
	}
	return r.rows[from+1:]
}

func (r *room) turn(m companion.Message) companion.Message {
	if r.turns >= r.max {
		r.ended = "capped"
		return m
	}
	s := companion.Scene{Message: m, Members: r.members, Turns: r.turns, MaxTurns: r.max, Closing: r.stage}
	wishes := r.vote(m, s)
	for _, w := range wishes {
		s.Addressed, s.Recent = w.addressed, r.said[max(0, len(r.said)-abi.RecentInAsk):]
		if r.byVote {
			r.move(w.vote.Closing)
			s.Closing = r.stage
		}
		s.Grant = &abi.Grant{Token: "g", Basis: m.Seq, Expires: r.clock.Add(time.Minute)}
		line, err := r.cast[w.who].Speak(s)
		if err != nil {
			r.t.Fatalf("%s speaks: %v", w.who, err)
		}
		if line.Text == "" {
			continue
		}
		r.turns++
		m = r.record(w.who, line.Text, line, w.addressed)
		r.move(line.Closing)
		if r.stage == abi.ClosingTerminal {
			r.ended = "terminal"
		}
		return m
	}
	r.ended = "silence"
	return m
}

// wish is a vote to speak.
type wish struct {
	who       string
	addressed bool
	vote      companion.Vote
	hash      uint32
}

// vote asks everybody but the last speaker and ranks who wants to speak.
func (r *room) vote(m companion.Message, s companion.Scene) []wish {
	var wishes []wish
	for id, l := range r.cast {
		if id == m.From {
			continue
		}
		s.Addressed = r.addressed(m, id)
		v, err := l.Vote(s)
		if err != nil {
			r.t.Fatalf("%s votes: %v", id, err)
		}
		if v.State == abi.Speak {
			wishes = append(wishes, wish{id, s.Addressed, v, hash(r.seed, m.ID, id)})
		}
	}
	slices.SortFunc(wishes, func(a, b wish) int {
		switch {
		case a.addressed != b.addressed:
			if a.addressed {
				return -1
			}
			return 1
		case a.vote.Importance != b.vote.Importance:
			if a.vote.Importance > b.vote.Importance {
				return -1
			}
			return 1
		case r.last[a.who] != r.last[b.who]:
			return r.last[a.who] - r.last[b.who]
		}
		return int(a.hash>>1) - int(b.hash>>1)
	})
	return wishes
}

func (r *room) move(to abi.Closing) {
	if to.Stage() > r.stage.Stage() {
		r.stage = []abi.Closing{abi.ClosingNone, abi.ClosingPre, abi.ClosingClosing, abi.ClosingTerminal}[r.stage.Stage()+1]
	}
}

// addressed is the host's part: named in To, or by a name in the text.
func (r *room) addressed(m companion.Message, id string) bool {
	if slices.Contains(m.To, id) {
		return true
	}
	if len(m.To) > 0 {
		return false
	}
	d, err := r.cast[id].Describe()
	if err != nil {
		r.t.Fatal(err)
	}
	for _, n := range append(d.Aliases, d.Name, id) {
		if words.Has(words.Normal(m.Text), words.Normal(n)) {
			return true
		}
	}
	return false
}

func hash(seed uint64, parts ...string) uint32 {
	h := fnv.New32a()
	fmt.Fprint(h, seed, strings.Join(parts, "/"))
	return h.Sum32()
}

// transcript shows a talk as people read it.
func (r *room) transcript() string {
	var b strings.Builder
	for _, x := range r.rows {
		mark := ""
		if x.line.Closing.Stage() > 0 {
			mark = "  <" + string(x.line.Closing) + ">"
		}
		fmt.Fprintf(&b, "[%s] %s%s\n", x.who, x.text, mark)
	}
	fmt.Fprintf(&b, "(%s after %d turns)", r.ended, r.turns)
	return b.String()
}

func TestTranscript(t *testing.T) {
	for i, o := range openings {
		r := newRoom(t, uint64(i+1), "aya", "kyoko", "natsumi")
		r.say(o.text)
		t.Log("\n" + r.transcript())
	}
}
