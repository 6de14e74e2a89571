package conversations_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/conversation"
	"github.com/companiond/companiond/host/conversations"
)

// orders is agents that do whatever they can in any order, and what each of them was shown.
type orders struct {
	*rapid.T
	*house
	*conversations.Conversations
	tb    testing.TB
	clock time.Time
	ids   []string // of conversations, as they were opened
	sent  int

	seen map[string]*conversations.Seen
	// of is what is known of an agent in a conversation.
	of map[at]*shown
}

// at is an agent in a conversation.
type at struct{ who, id string }

// shown is what an agent was shown of a conversation.
type shown struct {
	due      *conversation.Ending // it is to be told of this one
	exempt   bool                 // and cannot be, for it is gone, or is told by the house
	told     int                  // how often it has acknowledged an ending
	sent     map[uint64]string    // what others said while it took part
	received map[uint64]bool
	acked    uint64
}

var errLost = abi.Errorf(abi.CodeTimeout, "the answer was lost")

// TestAllOrders of start, say, end, poll, lapse, gone, decline, acknowledgement, lost answers
// and restarts: each member is told of exactly one ending, the right one, no message is lost,
// and none is handed out after it was acknowledged.
func TestAllOrders(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		o := &orders{T: rt, house: newHouse(), tb: t, clock: time.Unix(1e9, 0).UTC(), seen: map[string]*conversations.Seen{}, of: map[at]*shown{}}
		o.house.now = func() time.Time { return o.clock }
		o.arrive("a", "b", "c")
		o.restart(rt)
		rt.Repeat(map[string]func(*rapid.T){
			"start": o.start, "say": o.say, "say again": o.say, "join": o.join, "leave": o.leave, "stop": o.stop,
			"poll": o.poll, "read": o.read, "read again": o.read, "lapse": o.lapse, "gone": o.gone, "come": o.come, "restart": o.restart,
			"": func(*rapid.T) { o.clock = o.clock.Add(time.Second) },
		})
		o.drain()
	})
}

func (o *orders) restart(*rapid.T) {
	o.Conversations = o.house.open(o.tb)
	clear(o.seen)
}

func (o *orders) who() string { return rapid.SampledFrom([]string{"a", "b", "c"}).Draw(o.T, "who") }

// one gives any conversation there is.
func (o *orders) one() string {
	if len(o.ids) == 0 {
		o.Skip("there is none")
	}
	return rapid.SampledFrom(o.ids).Draw(o.T, "conversation")
}

// do does something of which the answer may be lost, and looks at what came of it.
func (o *orders) do(reason func(id, who string) conversation.Ending, do func() error) error {
	if rapid.IntRange(0, 4).Draw(o.T, "lost") == 0 {
		o.trouble(fine, func(string) error { return errLost })
	}
	err := do()
	o.trouble(fine, fine)
	for id, r := range o.halls {
		if !slices.Contains(o.ids, id) {
			o.ids = append(o.ids, id)
		}
		for _, m := range r.state.Members {
			o.look(r, m, reason)
		}
	}
	slices.Sort(o.ids)
	return err
}

// look notes what a member is to be shown by now.
func (o *orders) look(r *hall, m conversation.Member, reason func(id, who string) conversation.Ending) {
	s := o.shown(m.ID, r.asked.Name)
	if s.due == nil {
		for _, e := range r.journal {
			if msg, ok := e.Message(); ok && msg.From != m.ID {
				s.sent[msg.Seq] = msg.Text
			}
		}
		if m.Ending != nil {
			s.due = m.Ending
			if want := reason(r.asked.Name, m.ID); *m.Ending != want {
				o.Fatalf("for %s %s ended with %+v; want %+v", m.ID, r.asked.Name, *m.Ending, want)
			}
		}
	} else if *m.Ending != *s.due {
		o.Fatalf("the ending of %s for %s was %+v and is %+v", r.asked.Name, m.ID, *s.due, *m.Ending)
	}
	if m.Told && s.told == 0 {
		s.exempt = true
	}
}

func (o *orders) shown(who, id string) *shown {
	if o.of[at{who, id}] == nil {
		o.of[at{who, id}] = &shown{sent: map[uint64]string{}, received: map[uint64]bool{}}
	}
	return o.of[at{who, id}]
}

// by is an ending of whoever did something.
func by(who string, r conversation.Reason) func(string, string) conversation.Ending {
	return func(string, string) conversation.Ending { return conversation.Ending{By: who, Reason: r} }
}

func (o *orders) start(*rapid.T) {
	who := rapid.SampledFrom([]string{"a", "b", "c", "human"}).Draw(o.T, "from")
	a := conversations.Ask{MaxTurns: rapid.SampledFrom([]int{0, 2, 3}).Draw(o.T, "turns")}
	a.Targets = rapid.SampledFrom([][]string{{"a"}, {"b"}, {"c"}, {"a", "b"}, {"b", "c"}, {"hosted"}}).Draw(o.T, "targets")
	if rapid.Bool().Draw(o.T, "with a text") {
		a.Text = o.text()
	}
	key := strings.Join(slices.Sorted(slices.Values(append(a.Targets, who))), " ")
	before := o.openWith(key)
	err := o.do(by("", ""), func() error { _, err := o.Start(o.Context(), in(who), a); return err })
	after := o.openWith(key)
	if len(after) > 1 || err == nil && len(before) > 0 {
		o.Fatalf("open between %s: %q, then %q, %v", key, before, after, err)
	}
	if len(before) == 0 && err != nil && err != error(errLost) && !slices.Contains(a.Targets, who) {
		o.Fatalf("%s starts with %q: %v", who, a.Targets, err)
	}
}

func (o *orders) openWith(key string) (ids []string) {
	for id, r := range o.halls {
		if r.state.Open() && strings.Join(slices.Sorted(slices.Values(r.asked.Terms.Members)), " ") == key {
			ids = append(ids, id)
		}
	}
	return ids
}

func (o *orders) text() string {
	o.sent++
	return fmt.Sprint("text ", o.sent)
}

// say says something, and again where the answer was lost, which is said once.
func (o *orders) say(*rapid.T) {
	who, id, text := rapid.SampledFrom([]string{"a", "b", "c", "human", "human2"}).Draw(o.T, "from"), o.one(), o.text()
	said := func() error {
		_, err := o.Say(o.Context(), in(who), conversations.Words{Conversation: id, Text: text, MessageID: strings.ReplaceAll(text, " ", "-")})
		return err
	}
	open := o.halls[id].state.Clone()
	m := open.Member(who)
	err := o.do(by(who, conversation.MaxTurns), said)
	for err == error(errLost) {
		err = o.do(by(who, conversation.MaxTurns), said)
	}
	may := open.Open() && (m == nil && strings.HasPrefix(who, "human") || m != nil && m.Ending == nil)
	if may != (err == nil) {
		o.Fatalf("%s says something in %s, %s: %v", who, id, open.State, err)
	}
	n := 0
	for _, e := range o.halls[id].journal {
		if msg, ok := e.Message(); ok && msg.Text == text {
			n++
		}
	}
	if err == nil && n != 1 {
		o.Fatalf("%q was said %d times", text, n)
	}
}

func (o *orders) join(*rapid.T) {
	who, id := o.who(), o.one()
	_ = o.do(by("", ""), func() error { _, err := o.Join(o.Context(), in(who), id); return err })
}

// leave declines or ends, with a last word or without.
func (o *orders) leave(*rapid.T) {
	who, id := rapid.SampledFrom([]string{"a", "b", "c", "human"}).Draw(o.T, "who"), o.one()
	declines := rapid.Bool().Draw(o.T, "declines")
	final := ""
	if !declines && rapid.Bool().Draw(o.T, "with a last word") {
		final = o.text()
	}
	state := o.halls[id].state.Clone()
	why := func(string, string) conversation.Ending {
		e := conversation.Ending{By: who, Reason: conversation.ParticipantEnded}
		switch m := state.Member(who); {
		case final != "" && state.Left() == 1:
			e.Reason = conversation.MaxTurns
		case who == state.Initiator():
			e.Reason = conversation.InitiatorEnded
		case !m.Joined && final == "":
			e.Reason = conversation.WasDeclined
		}
		return e
	}
	_ = o.do(why, func() (err error) {
		if declines {
			_, err = o.Decline(o.Context(), in(who), id, "")
		} else {
			_, err = o.End(o.Context(), in(who), id, final)
		}
		return err
	})
}

func (o *orders) stop(*rapid.T) {
	id := o.one()
	_ = o.do(by("human2", conversation.ParticipantEnded), func() error { _, err := o.Stop(o.Context(), "human2", id); return err })
}

func (o *orders) lapse(*rapid.T) {
	r := o.halls[o.one()]
	due, ok := r.state.Due()
	if !ok {
		o.Skip("it is over")
	}
	if o.clock.Before(due) {
		o.clock = due
	}
	var absent []string
	for _, id := range r.asked.Terms.Members {
		if !o.here[in(id)] {
			absent = append(absent, id)
		}
	}
	_ = o.do(by("", conversation.Timeout), func() error {
		_, err := r.Converse(o.Context(), conversation.Input{Kind: conversation.Lapse, Absent: absent})
		return err
	})
}

func (o *orders) gone(*rapid.T) {
	who := o.who()
	o.depart(who)
	delete(o.seen, who)
	_ = o.do(by(who, conversation.SessionExpired), func() error { o.Gone(o.Context(), in(who)); return nil })
}

func (o *orders) come(*rapid.T) { o.arrive(o.who()) }

func (o *orders) poll(*rapid.T) {
	if who := o.who(); o.here[in(who)] {
		o.polls(who, rapid.Bool().Draw(o.T, "acknowledges"))
	}
}

// polls asks what there is to do, and holds it to what was shown before.
func (o *orders) polls(who string, acknowledges bool) conversations.Action {
	if o.seen[who] == nil {
		o.seen[who] = new(conversations.Seen)
	}
	a, err := o.Next(o.Context(), in(who), o.seen[who], 0)
	if err != nil {
		o.Fatal(err)
	}
	if a.Cursor == "" {
		return a
	}
	s := o.shown(who, a.View.ID)
	switch {
	case s.told > 0 || s.exempt:
		o.Fatalf("%s is told again of the end of %s", who, a.View.ID)
	case s.due == nil || *s.due != a.Ending:
		o.Fatalf("%s is told of %+v; want %+v", who, a.Ending, s.due)
	case (a.Do == conversations.DoExpired) != (a.View.State == conversation.Expired && a.View.Initiator() == who):
		o.Fatalf("%s is told %s of %+v", who, a.Do, a.View)
	}
	for seq, text := range s.sent {
		if !s.received[seq] {
			o.Fatalf("%s is told of the end of %s before it was given %q", who, a.View.ID, text)
		}
	}
	if acknowledges {
		s.told++
		err := o.do(by("", ""), func() error { return o.Acknowledge(o.Context(), in(who), a.Cursor) })
		if err != nil && err != error(errLost) {
			o.Fatal(err)
		}
	}
	return a
}

func (o *orders) read(*rapid.T) {
	if who := o.who(); o.here[in(who)] {
		o.reads(who, rapid.Bool().Draw(o.T, "acknowledges"))
	}
}

func (o *orders) reads(who string, acknowledges bool) int {
	w, err := o.Waiting(o.Context(), in(who))
	if err != nil {
		o.Fatal(err)
	}
	newest := map[string]uint64{}
	for _, l := range w.New {
		s := o.shown(who, l.Conversation)
		switch {
		case s.told > 0 || s.exempt:
			o.Fatalf("%s is given %q of %s, which is over for it", who, l.Text, l.Conversation)
		case l.Seq <= s.acked:
			o.Fatalf("%s is given %q of %s again, which it has acknowledged", who, l.Text, l.Conversation)
		case s.sent[l.Seq] != l.Text:
			o.Fatalf("%s is given %q of %s, which was not for it", who, l.Text, l.Conversation)
		case l.Seq <= newest[l.Conversation]:
			o.Fatalf("%s is given seq %d of %s after %d", who, l.Seq, l.Conversation, newest[l.Conversation])
		}
		newest[l.Conversation], s.received[l.Seq] = l.Seq, true
	}
	if acknowledges {
		err := o.do(by("", ""), func() error { return o.Acknowledge(o.Context(), in(who), w.Cursor) })
		if err != nil && err != error(errLost) {
			o.Fatal(err)
		}
		for id, seq := range newest {
			if r := o.halls[id]; err == nil || r.state.Member(who).Read >= seq {
				o.shown(who, id).acked = seq
			}
		}
	}
	return len(w.New)
}

// drain lets everything end and everybody be told of it.
func (o *orders) drain() {
	o.arrive("a", "b", "c")
	for _, id := range o.ids {
		if r := o.halls[id]; r.state.Open() {
			due, _ := r.state.Due()
			o.clock = due
			_ = o.do(by("", conversation.Timeout), func() error {
				_, err := r.Converse(o.Context(), conversation.Input{Kind: conversation.Lapse})
				return err
			})
		}
	}
	for _, who := range []string{"a", "b", "c"} {
		for n := 0; ; n++ {
			if n > 1000 {
				o.Fatalf("%s never comes to an end", who)
			}
			a := o.polls(who, true)
			if a.Do == conversations.DoRead {
				o.reads(who, true)
			} else if a.Do == conversations.DoWait && a.View.ID == "" {
				break
			}
		}
		if n := o.reads(who, false); n > 0 {
			o.Fatalf("%s has %d messages to read and nothing to do", who, n)
		}
	}
	for k, s := range o.of {
		r := o.halls[k.id]
		if !r.state.Done() {
			o.Fatalf("%s is not done: %+v", k.id, r.state)
		}
		if !s.exempt && s.told != 1 {
			o.Errorf("%s was told %d times of the end of %s", k.who, s.told, k.id)
		}
		for seq, text := range s.sent {
			if !s.exempt && !s.received[seq] {
				o.Errorf("%s was never given %q of %s; of %d", k.who, text, k.id, slices.Sorted(maps.Keys(s.sent)))
			}
		}
	}
	o.free()
}

// free has whoever was in a conversation start another: its key is free.
func (o *orders) free() {
	for _, id := range o.ids {
		r := o.halls[id]
		if o.keys[r.asked.Key] != id {
			continue
		}
		terms := r.asked.Terms
		if _, err := o.Start(o.Context(), in(terms.Members[0]), conversations.Ask{Targets: terms.Members[1:]}); err != nil {
			o.Fatalf("%q cannot start again: %v", terms.Members, err)
		}
	}
}
