package rules_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/address"
	"github.com/companiond/companiond/host/conversation"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/playback"
	"github.com/companiond/companiond/host/room/cast"
	. "github.com/companiond/companiond/host/room/fold"
	"github.com/companiond/companiond/host/room/queue"
	"github.com/companiond/companiond/host/room/replay"
	. "github.com/companiond/companiond/host/room/rules"
	"github.com/companiond/companiond/host/turn"
)

// world feeds a machine with whatever can come in, sensible or not.
type world struct {
	t       *rapid.T
	m       *Machine
	at      time.Time
	journal []entry.Entry
}

func drawRules(t *rapid.T) entry.Rules {
	return entry.Rules{
		Version: Version,
		Policy:  rapid.SampledFrom(append(turn.Names(), "vote", turn.ConversationPolicy)).Draw(t, "policy"), Seed: "test", Patience: 1000, Floor: 5000,
		Silence:  rapid.SampledFrom([]int64{0, 4000}).Draw(t, "silence"),
		Pace:     rapid.SampledFrom([]int64{0, 700}).Draw(t, "pace"),
		MaxTurns: rapid.SampledFrom([]int{0, 3}).Draw(t, "max"), Perceived: 2,
		Auto: rapid.Bool().Draw(t, "auto"), Ahead: rapid.SampledFrom([]int{0, 2, 30}).Draw(t, "ahead"), Interrupters: []string{"*"},
		Interrupt: rapid.SampledFrom([]entry.Interrupt{entry.InterruptNever, entry.InterruptSentence, entry.InterruptNow}).Draw(t, "interrupt"),
		Stale:     rapid.SampledFrom([]entry.Stale{entry.StaleRefuse, entry.StaleReask, entry.StaleAccept}).Draw(t, "stale"),
	}
}

func newWorld(t *rapid.T) *world {
	w := &world{t: t, m: &Machine{State: New()}, at: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	w.own()
	w.must(w.m.Input(entry.KindRules, w.at, drawRules(t)))
	w.step("everybody joins", func() error {
		return w.m.Input(entry.KindCast, w.at, entry.Cast{Joined: []entry.Joined{joined("a"), joined("b"), joined("c")}})
	})
	if w.m.State.Rules.Policy == turn.ConversationPolicy {
		terms := &conversation.Terms{
			Members: []string{"a", "b", "agent"}, Hosted: []string{"a", "b"}, Pending: 20_000, Idle: 30_000,
			MaxTurns: rapid.IntRange(2, 9).Draw(t, "turns"), InTurn: rapid.Bool().Draw(t, "in turn"),
		}
		w.step("start", func() error {
			return w.m.Input(entry.KindConversation, w.at, conversation.Input{Kind: conversation.Start, Who: "a", Terms: terms})
		})
	}
	return w
}

// meant adds whom a line addresses, as the room does before it gives it to the rules.
func meant(s *State, b entry.Said) entry.Said {
	who, how := address.Meant(abi.Message{From: b.From, To: b.To, Text: b.Text}, s.Named(), "")
	b.Addressed, b.How = who, string(how)
	return b
}

func joined(id string) entry.Joined { return entry.Joined{ID: id, Name: id, Kind: abi.KindCompanion} }

func (w *world) must(err error) {
	if err != nil {
		w.t.Fatal(err)
	}
}

// own writes the entry with which the journal makes somebody the owner.
func (w *world) own() {
	e := entry.Entry{
		Seq: w.m.State.Head + 1, Epoch: w.m.State.Epoch + 1, At: w.at, Kind: entry.KindOwner,
		ID: fmt.Sprintf("owner/%d", w.m.State.Epoch+1), V: entry.KindOwner.Version(), Body: []byte(`{"owner":"test"}`),
	}
	w.must(w.m.State.Apply(e))
	w.journal = append(w.journal, e)
}

// step does one thing, keeps what the rules made of it, and now and then goes on
// from a snapshot.
func (w *world) step(what string, do func() error) {
	if err := do(); err != nil {
		w.t.Fatalf("%s: %v", what, err)
	}
	w.journal = append(w.journal, w.m.Take()...)
	if rapid.IntRange(0, 9).Draw(w.t, "snapshot") == 0 {
		blob, err := json.Marshal(w.m.State)
		w.must(err)
		st, err := Decode(blob)
		w.must(err)
		w.m = &Machine{State: st}
	}
}

func (w *world) who() string {
	return rapid.SampledFrom([]string{"a", "b", "c", "ghost"}).Draw(w.t, "who")
}

// anything happens.
func (w *world) anything() {
	s := w.m.State
	w.at = w.at.Add(time.Duration(rapid.SampledFrom([]int{0, 0, 1, 500, 1000, 6000}).Draw(w.t, "wait")) * time.Millisecond)
	switch what := rapid.SampledFrom([]string{"human", "human", "line", "line", "vote", "vote", "vote", "paid", "paid", "offer", "offer", "free", "agent", "fail", "due", "stop", "join", "leave", "owner", "close", "body", "played", "played", "speaking", "segment", "segment", "life", "life", "mute"}).Draw(w.t, "what"); what {
	case "human":
		text := rapid.SampledFrom([]string{"hello", "a, and you?", "@b", "b and c!"}).Draw(w.t, "text")
		w.step(what, func() error {
			_, err := w.m.Say(Line{ID: fmt.Sprintf("m%d", s.Head), Said: meant(s, entry.Said{From: "taro", By: abi.KindHuman, Text: text, Kind: abi.KindTurn})}, w.at)
			return err
		})
	case "line":
		l := Line{ID: fmt.Sprintf("m%d", s.Head), Said: entry.Said{From: w.who(), By: abi.KindCompanion, Text: "x", Kind: abi.KindTurn, Grant: "g1"}}
		if s.Floor != nil && rapid.IntRange(0, 4).Draw(w.t, "right") > 0 {
			l.From, l.Grant, l.Basis = s.Floor.Who, s.Floor.Token, s.Floor.Basis
			if s.Floor.Wish != nil {
				l.Wish = s.Floor.Wish.Seq
			}
		}
		l.Closing = rapid.SampledFrom([]abi.Closing{"", abi.ClosingTerminal}).Draw(w.t, "closing")
		w.step(what, func() error { _, err := w.m.Say(l, w.at); return err })
	case "paid":
		w.step(what, func() error { _, err := w.m.Say(w.paid(), w.at); return err })
	case "offer":
		o := w.offer()
		w.step(what, func() error { return w.m.Input(entry.KindWish, w.at, o) })
	case "free": // as a room says what it has at hand
		if r := s.Free(); r != nil {
			l := Line{ID: fmt.Sprintf("m%d", s.Head), Offer: r.Offer, Said: entry.Said{From: r.Who, By: abi.KindAgent, Text: r.Text, Basis: r.Basis, Wish: r.Seq}}
			w.step(what, func() error { _, err := w.m.Say(l, w.at); return err })
		}
	case "mute":
		b := entry.Muted{Who: w.who(), On: rapid.Bool().Draw(w.t, "on"), By: "taro"}
		w.step(what, func() error { return w.m.Input(entry.KindMuted, w.at, b) })
	case "agent":
		j := entry.Joined{ID: "agent", Kind: abi.KindAgent, NoVote: rapid.Bool().Draw(w.t, "no vote")}
		w.step(what, func() error { return w.m.Input(entry.KindCast, w.at, entry.Cast{Joined: []entry.Joined{j}}) })
	case "vote":
		v := entry.Voted{Round: w.round(), Voter: w.who(), Vote: abi.Vote{
			State:      rapid.SampledFrom([]abi.State{abi.Speak, abi.Speak, abi.Listen, "shout"}).Draw(w.t, "state"),
			Importance: float64(rapid.IntRange(0, 10).Draw(w.t, "importance")),
			Closing:    rapid.SampledFrom([]abi.Closing{"", "", abi.ClosingPre, abi.ClosingTerminal}).Draw(w.t, "closing"),
		}}
		w.step(what, func() error { return w.m.Input(entry.KindVote, w.at, v) })
	case "fail":
		f := entry.Failed{Round: w.round(), Who: w.who(), Error: "boom"}
		if s.Floor != nil && rapid.Bool().Draw(w.t, "of the floor") {
			f = entry.Failed{Grant: s.Floor.Token, Who: s.Floor.Who, Error: "boom"}
		}
		w.step(what, func() error { return w.m.Input(entry.KindFailed, w.at, f) })
	case "body":
		who := w.who()
		b := entry.Body{ID: who + "#1", Who: who, Plays: rapid.Bool().Draw(w.t, "plays"), Finishes: rapid.Bool().Draw(w.t, "finishes")}
		b.Sentences = b.Plays && b.Finishes
		change := entry.Bodies{Joined: []entry.Body{b}}
		if slices.ContainsFunc(s.Bodies, func(have playback.Body) bool { return have.ID == b.ID }) {
			change = entry.Bodies{Left: []entry.Body{b}}
		}
		w.step(what, func() error { return w.m.Input(entry.KindBody, w.at, change) })
	case "played":
		p := entry.Played{Line: "g1", Who: w.who(), Part: rapid.IntRange(1, 3).Draw(w.t, "part")}
		if s.Playing != nil && rapid.IntRange(0, 4).Draw(w.t, "right") > 0 {
			p.Line, p.Who = s.Playing.ID, s.Playing.Who
		}
		p.Body, p.Done = p.Who+"#1", rapid.Bool().Draw(w.t, "done")
		switch rapid.IntRange(0, 9).Draw(w.t, "how") {
		case 0:
			p.Failed = "no voice"
		case 1, 2, 3:
			p.Part, p.Done, p.Bytes = 0, false, rapid.IntRange(1, 20).Draw(w.t, "bytes")
		}
		w.step(what, func() error { return w.m.Input(entry.KindPlayed, w.at, p) })
	case "speaking":
		b := entry.Speaking{From: "taro", On: !s.Speaks("taro")}
		w.step(what, func() error { return w.m.Input(entry.KindSpeaking, w.at, b) })
	case "segment": // as a room lets it out
		f := s.Floor
		if f == nil || f.Lost != "" || s.PaysTurns() || s.Stopped != "" {
			return
		}
		if ok, _ := s.MayBegin(f.Token, w.at); !ok {
			return
		}
		b := entry.Segment{Grant: f.Token, Who: f.Who, N: f.Segments + 1, Text: "one, two. ", Voice: []entry.Beat{{Bytes: 10, MS: 900}}}
		w.step(what, func() error { return w.m.Input(entry.KindSegment, w.at, b) })
	case "life":
		in := conversation.Input{
			Kind: rapid.SampledFrom([]conversation.Kind{conversation.Join, conversation.Decline, conversation.End, conversation.Gone, conversation.Tell, conversation.Read}).Draw(w.t, "life"),
			Who:  rapid.SampledFrom([]string{"a", "b", "agent", "ghost"}).Draw(w.t, "of"), Upto: s.Head,
		}
		w.step(what, func() error { return w.m.Input(entry.KindConversation, w.at, in) })
	case "due":
		at, due, ok := s.NextDue()
		if !ok {
			return
		}
		if at.After(w.at) {
			w.at = at
		}
		w.breakOff(due)
		w.step(what, func() error { return w.due(due) })
	case "close":
		kind, body := entry.KindArchived, any(entry.Archived{By: "taro"})
		if s.Archived != "" || rapid.Bool().Draw(w.t, "open") {
			kind, body = entry.KindOpened, entry.Opened{By: "taro"}
		}
		w.step(what, func() error { return w.m.Input(kind, w.at, body) })
	case "stop":
		w.step(what, func() error { return w.m.Input(entry.KindStop, w.at, entry.Stop{From: "taro"}) })
	case "join":
		w.step(what, func() error {
			return w.m.Input(entry.KindCast, w.at, entry.Cast{Joined: []entry.Joined{joined(w.who())}})
		})
	case "leave":
		w.step(what, func() error { return w.m.Input(entry.KindCast, w.at, entry.Cast{Left: []entry.Left{{ID: w.who()}}}) })
	case "owner":
		w.own()
	}
}

// due has a stored time come.
func (w *world) due(d entry.Due) error {
	if d.What == entry.DueLapse {
		return w.m.Input(entry.KindConversation, w.at, conversation.Input{Kind: conversation.Lapse})
	}
	return w.m.Input(entry.KindDue, w.at, d)
}

// offer is a request to speak.
func (w *world) offer() entry.Wish {
	o := entry.Wish{
		Who: rapid.SampledFrom([]string{"agent", "agent", "bot", "a"}).Draw(w.t, "who offers"), By: abi.KindAgent,
		Waits: rapid.SampledFrom([]entry.Wait{entry.WaitRound, entry.WaitRound, entry.WaitTurn, entry.WaitFloor}).Draw(w.t, "waits for"),
		Text:  rapid.SampledFrom([]string{"", "x", "y"}).Draw(w.t, "line at hand"), Due: w.at.Add(3 * time.Second),
		Basis: w.m.State.Last.Seq - min(w.m.State.Last.Seq, rapid.Uint64Range(0, 1).Draw(w.t, "behind")),
	}
	o.Importance = float64(rapid.IntRange(0, 10).Draw(w.t, "importance"))
	return o
}

// paid is a line that somebody would pay for.
func (w *world) paid() Line {
	l := Line{ID: fmt.Sprintf("m%d", w.m.State.Head), Said: entry.Said{
		From: rapid.SampledFrom([]string{"a", "agent", "bot", "taro"}).Draw(w.t, "payer"), By: abi.KindAgent,
		Text:  strings.Repeat("あ", rapid.SampledFrom([]int{1, 10, 11, 50, 100, 101}).Draw(w.t, "length")),
		Basis: w.m.State.Last.Seq - min(w.m.State.Last.Seq, rapid.Uint64Range(0, 3).Draw(w.t, "behind")),
		Kind:  rapid.SampledFrom([]abi.MessageKind{"", "", abi.KindTurn, abi.KindBackchannel}).Draw(w.t, "kind"),
	}}
	if l.From == "taro" {
		l.By = abi.KindHuman
	}
	if rapid.Bool().Draw(w.t, "offers") {
		offer := rapid.SampledFrom([]float64{0, 5, 60, 80, 100}).Draw(w.t, "offer")
		l.Offer = &offer
	}
	return l
}

// round gives the open round, or another number.
func (w *world) round() uint64 {
	s := w.m.State
	if s.Round != nil && rapid.IntRange(0, 3).Draw(w.t, "this round") > 0 {
		return s.Round.ID
	}
	if len(s.Chain) > 0 {
		return rapid.SampledFrom(s.Chain).Draw(w.t, "chain")
	}
	return rapid.Uint64Range(1, s.Head+2).Draw(w.t, "round")
}

// TestMachine holds whatever happens to what replay and restart rely on: a
// snapshot is the state, a fold of the journal is the state, a player finds no
// difference, nobody shares the floor, and time that passes settles everything.
func TestMachine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t)
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			w.anything()
			if s := w.m.State; s.Round != nil && s.Floor != nil {
				t.Fatal("a round is open and the floor is held")
			}
			w.budget()
		}
		folded, player := New(), replay.NewPlayer(New())
		for _, e := range w.journal {
			if err := folded.Apply(e); err != nil {
				t.Fatal(err)
			}
			if diff, err := player.Play(e); diff != nil || err != nil {
				t.Fatalf("replay: %v %v\n%s", diff, err, replay.Show(e))
			}
			var r entry.Round
			if e.Kind == entry.KindRound && (json.Unmarshal(e.Body, &r) != nil || r.Due.Before(e.At)) {
				t.Fatalf("a round opens when it is over: %s", replay.Show(e))
			}
		}
		if a, b := encode(t, folded), encode(t, w.m.State); !bytes.Equal(a, b) {
			t.Fatalf("the fold of the journal is another state:\n%s\n%s", a, b)
		}
		w.settles()
		w.mouths()
	})
}

// breakOff says what went out of a line that is still made, when it is cut off or its
// time is over, as a room does.
func (w *world) breakOff(due entry.Due) {
	s := w.m.State
	f := s.Floor
	if f == nil || !s.Begun(f.Token) || due.What != entry.DueCut && due.What != entry.DueGrant {
		return
	}
	l := Line{ID: fmt.Sprintf("m%d", s.Head), Said: entry.Said{From: f.Who, By: abi.KindCompanion, Text: f.Spoken, Kind: abi.KindTurn, Grant: f.Token, Basis: f.Basis, Segments: f.Segments, Broken: "cut"}}
	w.step("break off", func() error { _, err := w.m.Say(l, w.at); return err })
}

// mouths holds a journal to law 3: no line begins while a body says another, and each
// that a body says ends once.
func (w *world) mouths() {
	of, sounds := map[string]string{}, ""
	for _, e := range w.journal {
		line, who := "", ""
		switch e.Kind {
		case entry.KindOwner:
			of = map[string]string{}
		case entry.KindBody:
			b, _ := entry.Decode[entry.Bodies](e)
			for _, j := range b.Joined {
				of[j.ID] = j.Who
			}
			for _, j := range b.Left {
				delete(of, j.ID)
			}
		case entry.KindHeard:
			if b, _ := entry.Decode[entry.Heard](e); b.Line != sounds && sounds != "" { // one that was read and broke off ends so too
				w.t.Fatalf("entry %d: %s is over, %q sounds", e.Seq, b.Line, sounds)
			}
			sounds = ""
		case entry.KindSegment:
			b, _ := entry.Decode[entry.Segment](e)
			if b.N == 1 || w.m.State.Rules.Auto { // else a body that comes later has not its beginning
				line, who = b.Grant, b.Who
			}
		case entry.KindSaid:
			if b, _ := entry.Decode[entry.Said](e); b.By != abi.KindHuman && b.Kind == abi.KindTurn && b.Segments == 0 &&
				(b.By == abi.KindCompanion || w.m.State.Life.Conversation == nil) { // there agents write
				line, who = cmp.Or(b.Grant, e.ID), b.From
			}
		}
		if line == "" {
			continue
		}
		if sounds != "" && sounds != line {
			w.t.Fatalf("entry %d: %s begins with %q while %q sounds", e.Seq, who, line, sounds)
		}
		for _, whose := range of {
			if whose == who {
				sounds = line
			}
		}
	}
}

// budget holds the pool to its formula: the cost of lines younger than the recovery
// time, and nothing else, is missing from it.
func (w *world) budget() {
	s := w.m.State
	now, ok := s.Budget(w.at)
	if !ok {
		return
	}
	want := now.Size
	for _, e := range w.journal {
		var b entry.Said
		if e.Kind == entry.KindSaid && w.at.Sub(e.At) < 5*time.Second {
			w.must(json.Unmarshal(e.Body, &b))
			want -= b.Cost
		}
	}
	if now.Level != want || want < 0 {
		w.t.Fatalf("the level is %v, the formula gives %v", now.Level, want)
	}
}

// settles lets time pass with nobody answering, until nothing is due.
func (w *world) settles() {
	if w.m.State.Gathering { // a new owner says who is here before anything else
		w.step("who is here", func() error { return w.m.Input(entry.KindCast, w.at, entry.Cast{}) })
	}
	most := 20 + 5*queue.MaxAbsent*(len(w.m.State.Cast)+1) // each may be asked for a line in each round about a human's turn
	for n := 0; ; n++ {
		at, due, ok := w.m.State.NextDue()
		if !ok {
			break
		}
		if n > most {
			w.t.Fatalf("time alone does not settle the room: %+v is due for ever", due)
		}
		if at.After(w.at) {
			w.at = at
		}
		w.breakOff(due)
		w.step("time", func() error { return w.due(due) })
	}
	if s := w.m.State; s.Round != nil || s.Floor != nil || s.Playing != nil && s.Over() == "" {
		w.t.Fatalf("left open: round %v, floor %v, playing %v", s.Round, s.Floor, s.Playing)
	}
}

func encode(t *rapid.T, v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestApplyRefusesAGap(t *testing.T) {
	s := New()
	for _, seq := range []uint64{0, 2} {
		if err := s.Apply(entry.Entry{Seq: seq, Kind: entry.KindOwner, Body: []byte("{}")}); err == nil {
			t.Errorf("entry %d went behind 0", seq)
		}
	}
	if err := s.Apply(entry.Entry{Seq: 1, Kind: entry.KindSaid, Body: []byte("no json")}); err == nil || s.Head != 0 {
		t.Errorf("a broken body went in: %v", err)
	}
	if err := s.Apply(entry.Entry{Seq: 1, Kind: "of a later version", Body: []byte("{}")}); err != nil {
		t.Error(err)
	}
}

func TestDecodeRefusesAnotherFormat(t *testing.T) {
	for _, blob := range []string{``, `{"version":0}`, `{"version":5}`, `{"version":"x"}`} {
		if _, err := Decode([]byte(blob)); err == nil {
			t.Errorf("%q is a snapshot", blob)
		}
	}
}

func TestGuestsAreBounded(t *testing.T) {
	m := &Machine{State: New()}
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	if err := m.Input(entry.KindRules, at, entry.Rules{Version: Version, Policy: "vote"}); err != nil {
		t.Fatal(err)
	}
	for i := range 3 * cast.MaxGuests {
		if _, err := m.Say(Line{ID: fmt.Sprint(i), Said: entry.Said{From: fmt.Sprintf("viewer%d", i), By: abi.KindHuman, Text: "hi", Kind: abi.KindTurn}}, at); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(m.State.Members()); n != cast.MaxGuests || !slices.ContainsFunc(m.State.Members(), func(x abi.Member) bool { return x.ID == fmt.Sprintf("viewer%d", 3*cast.MaxGuests-1) }) {
		t.Errorf("%d guests are remembered: %v", n, m.State.Members())
	}
}
