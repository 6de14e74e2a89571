package view

import (
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/conversation"
	"github.com/companiond/companiond/host/entry"
)

// journal is the room of a conversation of a, b and c.
type journal struct {
	id      string
	now     time.Time
	entries []entry.Entry
	stood   []conversation.Conversation // after each entry
}

func open(id string) *journal {
	j := &journal{id: id, now: time.Unix(1e9, 0)}
	j.happens(conversation.Input{Kind: conversation.Start, Who: "a", Terms: &conversation.Terms{
		Project: "p", Members: []string{"a", "b", "c"}, MaxTurns: 12, Pending: 1000, Idle: 1000,
	}})
	return j
}

// happens writes what the table takes.
func (j *journal) happens(in conversation.Input) (taken bool) {
	var now conversation.Conversation
	if n := len(j.stood); n > 0 {
		now = j.stood[n-1].Clone()
	}
	j.now = j.now.Add(time.Second)
	in.At = j.now
	if now.Apply(in) != nil {
		return false
	}
	e := entry.Entry{Seq: uint64(len(j.entries) + 1), At: j.now, Kind: entry.KindConversation, ID: fmt.Sprint(len(j.entries))}
	var body any = in
	if in.Kind == conversation.Say {
		e.Kind, body = entry.KindSaid, entry.Said{From: in.Who, By: abi.KindAgent, Text: "text", Kind: abi.KindTurn}
	}
	e, err := e.WithBody(body)
	if err != nil {
		panic(err)
	}
	j.entries, j.stood = append(j.entries, e), append(j.stood, now)
	return true
}

// note has a view take in the entries from and below to, which are places.
func (j *journal) note(ts *Talks, from, to int) []Member {
	_, stirred := ts.Note(j.id, j.stood[to-1].Clone(), uint64(to), slices.Clone(j.entries[from:to]))
	return stirred
}

// shown is all that the members are shown.
func shown(ts *Talks, id string) (all []any) {
	for _, who := range []string{"a", "b", "c"} {
		m := Member{"p", who}
		_, ids, _ := ts.Latest(m)
		all = append(all, ts.Handout(m, 2, 2), ts.Next(m, new(Seen)), ts.Joined(m), ids)
	}
	t := ts.Talk(id)
	return append(all, t.State(), ts.Members(func(*conversation.Conversation, *conversation.Member) bool { return true }) == nil)
}

// TestPieces: however the entries come, one by one, in pieces or again, the view is the same, and
// whoever is to be shown something else than before is stirred.
func TestPieces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		j := open("conv_1")
		if rapid.Bool().Draw(t, "joined") {
			j.happens(conversation.Input{Kind: conversation.Join, Who: "b"})
			j.happens(conversation.Input{Kind: conversation.Join, Who: "c"})
		}
		kinds := []conversation.Kind{conversation.Join, conversation.Decline, conversation.End, conversation.Gone, conversation.Say, conversation.Say, conversation.Say, conversation.Say, conversation.Say, conversation.Tell, conversation.Read}
		for range rapid.IntRange(0, 30).Draw(t, "inputs") {
			in := conversation.Input{Kind: rapid.SampledFrom(kinds).Draw(t, "kind"), Who: rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "who")}
			if in.Kind == conversation.Read {
				in.Upto = rapid.Uint64Range(1, uint64(len(j.entries))).Draw(t, "upto")
			}
			j.happens(in)
		}
		all := len(j.entries)
		whole, pieces := New(), New()
		j.note(whole, 0, all)
		for to := 0; to < all; {
			from := rapid.IntRange(max(0, to-2), to).Draw(t, "from")
			to = rapid.IntRange(to+1, all).Draw(t, "to")
			was := map[Member]Action{}
			for _, who := range []string{"a", "b", "c"} {
				was[Member{"p", who}] = pieces.Next(Member{"p", who}, new(Seen))
			}
			stirred := j.note(pieces, from, to)
			for m, a := range was {
				if now := pieces.Next(m, new(Seen)); now.Do != "" && (now.Do != a.Do || now.Unread > a.Unread) && !slices.Contains(stirred, m) {
					t.Fatalf("%s is to %s and was not stirred", m.Agent, now.Do)
				}
			}
		}
		if got, want := shown(pieces, j.id), shown(whole, j.id); !reflect.DeepEqual(got, want) {
			t.Fatalf("in pieces\n%+v\nand at once\n%+v", got, want)
		}
	})
}

// TestLeave: what is said after somebody left is not for it, though it is yet to be told.
func TestLeave(t *testing.T) {
	j, ts := open("conv_1"), New()
	for i, in := range []conversation.Input{{Kind: conversation.Join, Who: "b"}, {Kind: conversation.Say, Who: "a"}, {Kind: conversation.End, Who: "c"}, {Kind: conversation.Say, Who: "a"}} {
		j.happens(in)
		j.note(ts, i, i+1)
	}
	j.note(ts, 4, 5)
	if h := ts.Handout(Member{"p", "c"}, 10, 10); h.Cursor != "conv_1:3" || h.Total != 1 {
		t.Errorf("whoever left is given %+v", h)
	}
	if h := ts.Handout(Member{"p", "b"}, 10, 10); h.Total != 2 {
		t.Errorf("whoever is there is given %+v", h)
	}
}

// TestCursors: what was not handed out to a member is no cursor of its, and of what it has
// acknowledged nothing follows.
func TestCursors(t *testing.T) {
	j, ts := open("conv_1"), New()
	for _, in := range []conversation.Input{{Kind: conversation.Join, Who: "b"}, {Kind: conversation.Say, Who: "a"}, {Kind: conversation.Say, Who: "b"}, {Kind: conversation.End, Who: "c"}} {
		j.happens(in)
	}
	j.note(ts, 0, len(j.entries))
	b := Member{"p", "b"}
	h := ts.Handout(b, 10, 10)
	want := Handout{Picks: []Pick{{"conv_1", 3, true}}, Spans: map[string]Span{"conv_1": {3, 3}}, Total: 1, Cursor: "conv_1:3"}
	if !reflect.DeepEqual(h, want) {
		t.Errorf("%+v", h)
	}
	for _, c := range []struct {
		m      Member
		cursor string
		todo   []Mark
		ok     bool
	}{
		{b, "conv_1:3", []Mark{{"conv_1", false, 3}}, true},
		{b, "conv_1:2", nil, false}, // which is no message
		{b, "conv_1:9", nil, false},
		{b, "conv_1:x", nil, false},
		{b, "conv_1", nil, false},
		{b, "conv_2:3", nil, false},
		{b, "conv_1:3,", nil, false},
		{b, "conv_1:end", nil, false},
		{Member{"p", "c"}, "conv_1:end", []Mark{{"conv_1", true, 0}}, true},
		{Member{"p", "d"}, "conv_1:3", nil, false},
		{Member{"q", "b"}, "conv_1:3", nil, false},
	} {
		if todo, ok := ts.Marks(c.m, c.cursor); ok != c.ok || !slices.Equal(todo, c.todo) {
			t.Errorf("%v %q: %+v, %v", c.m, c.cursor, todo, ok)
		}
	}
	j.happens(conversation.Input{Kind: conversation.Read, Who: "b", Upto: 3})
	j.note(ts, len(j.entries)-1, len(j.entries))
	if todo, ok := ts.Marks(b, h.Cursor); !ok || todo != nil {
		t.Errorf("acknowledged: %+v, %v", todo, ok)
	}
}

// TestKeys: a key is freed once, of a talk that is over, and one that is being freed is not
// taken again.
func TestKeys(t *testing.T) {
	j, ts := open("conv_1"), New()
	key := KeyOf("p", []string{"c", "a", "b"})
	j.note(ts, 0, 1)
	talk := ts.Talk("conv_1")
	if talk.Hold(); ts.Holder(key) != talk || talk.Release() {
		t.Error("the key of an open talk is free, or is to be freed")
	}
	j.happens(conversation.Input{Kind: conversation.End, Who: "a"})
	j.note(ts, 1, 2)
	if !talk.Release() || talk.Release() {
		t.Error("a key is to be freed once")
	}
	talk.Unhold()
	if talk.Hold(); talk.Keyed() || ts.Holder(key) != nil {
		t.Error("a key that was freed is held")
	}
}

// TestSettledOnce: a talk that is read from the index is there once, also where its room told of
// it first.
func TestSettledOnce(t *testing.T) {
	terms := &conversation.Terms{Project: "p", Members: []string{"a", "b"}, MaxTurns: 9, Pending: 1000, Idle: 1000}
	opened := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	ts := New()
	var c conversation.Conversation
	if err := c.Apply(conversation.Input{Kind: conversation.Start, Who: "a", At: opened, Terms: terms}); err != nil {
		t.Fatal(err)
	}
	first, _ := ts.Note("conv_1", c, 3, nil)
	if ts.Settle("conv_1", terms, opened, conversation.Ended) != first || first.Settled() {
		t.Error("it is there twice, or is settled though its room says otherwise")
	}
	if second := ts.Settle("conv_2", terms, opened, conversation.Declined); !second.Settled() || second.State() != conversation.Declined {
		t.Errorf("%+v", second)
	}
	if ids, _ := ts.List(Filter{Project: "p"}, 9); len(ids) != 2 {
		t.Errorf("%v are listed", ids)
	}
}
