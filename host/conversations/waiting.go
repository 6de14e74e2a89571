package conversations

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/conversation"
)

// Line is a message with the conversation it belongs to.
type Line struct {
	Conversation string
	abi.Message
}

// Waiting is what a member has not read.
type Waiting struct {
	Context []Line // read, or its own; the newest 20 of the conversations of New
	New     []Line // unread, at most 10, oldest first
	Total   int    // unread in all
	// Cursor acknowledges New.
	Cursor string
}

// endMark stands in a cursor for an ending, where of messages there is a seq.
const endMark = "end"

// pick is a line that is to be handed out.
type pick struct {
	line
	talk *talk
	new  bool
}

// byTime orders lines of several conversations.
func byTime(a, b pick) int {
	return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.talk.id, b.talk.id), cmp.Compare(a.seq, b.seq))
}

// Waiting gives what a member has not read. It comes again until its cursor is acknowledged.
func (c *Conversations) Waiting(ctx context.Context, m Member) (w Waiting, err error) {
	picks, total := c.picks(m)
	w.Total = total
	upto := map[string]uint64{}
	texts, err := c.texts(ctx, picks)
	if err != nil {
		return Waiting{}, err
	}
	for _, p := range picks {
		if p.new {
			upto[p.talk.id] = p.seq
		}
		switch msg, there := texts[at{p.talk.id, p.seq}]; {
		case !there: // its words were taken out of the journal
		case p.new:
			w.New = append(w.New, Line{p.talk.id, msg})
		default:
			w.Context = append(w.Context, Line{p.talk.id, msg})
		}
	}
	var marks []string
	for _, id := range slices.Sorted(maps.Keys(upto)) {
		marks = append(marks, fmt.Sprintf("%s:%d", id, upto[id]))
	}
	w.Cursor = strings.Join(marks, ",")
	return w, nil
}

// picks chooses what is handed out, in the order of time, and counts what is unread.
func (c *Conversations) picks(m Member) (chosen []pick, total int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var unread []pick
	for _, t := range c.at(m) {
		last := int64(0)
		for _, l := range t.whole.unread(m.Agent) {
			l.at = max(l.at, last) // a clock that was put back does not put what was said last first
			last = l.at
			unread = append(unread, pick{l, t, true})
		}
	}
	slices.SortStableFunc(unread, byTime)
	total = len(unread)
	unread = unread[:min(total, MaxNew)]
	upto := map[*talk]uint64{}
	for _, p := range unread {
		upto[p.talk] = p.seq
	}
	var read []pick
	for t, last := range upto {
		me := t.whole.of(m.Agent)
		for _, l := range t.whole.lines {
			if l.seq < last && (l.from == me || l.seq <= t.whole.now.Members[me].Read) {
				read = append(read, pick{l, t, false})
			}
		}
	}
	slices.SortStableFunc(read, byTime)
	return append(read[max(0, len(read)-MaxContext):], unread...), total
}

// at is where a message is.
type at struct {
	conversation string
	seq          uint64
}

// texts reads the messages that were chosen.
func (c *Conversations) texts(ctx context.Context, picks []pick) (map[at]abi.Message, error) {
	type span struct{ first, last uint64 }
	spans := map[string]span{}
	for _, p := range picks {
		s, ok := spans[p.talk.id]
		if !ok {
			s = span{p.seq, p.seq}
		}
		spans[p.talk.id] = span{min(s.first, p.seq), max(s.last, p.seq)}
	}
	texts := map[at]abi.Message{}
	for id, s := range spans {
		room, err := c.room(ctx, id)
		if err != nil {
			return nil, err
		}
		for before := s.last + 1; before > s.first; { // the newest are at hand in a room that is awake
			h, err := room.History(ctx, abi.HistoryAsk{Before: before, Limit: MaxContext + MaxNew})
			if err != nil {
				return nil, err
			}
			if len(h.Messages) == 0 {
				break
			}
			for _, msg := range h.Messages {
				texts[at{id, msg.Seq}] = msg
			}
			before = h.Messages[0].Seq
		}
	}
	return texts, nil
}

// mark is one part of a cursor.
type mark struct {
	id   string
	end  bool
	upto uint64
}

// Acknowledge takes the cursor of a Waiting or an Action. One that is old, or was acknowledged, is no
// error; one that was never given is Invalid.
func (c *Conversations) Acknowledge(ctx context.Context, m Member, cursor string) error {
	if cursor == "" {
		return nil
	}
	marks, err := c.marks(m, cursor)
	if err != nil {
		return err
	}
	for _, k := range marks {
		in := conversation.Input{Kind: conversation.Read, Who: m.Agent, Upto: k.upto}
		if k.end {
			in = conversation.Input{Kind: conversation.Tell, Who: m.Agent}
		}
		if _, err := c.converse(ctx, k.id, in); err != nil && !is(err, conversation.NotOpen) {
			return err // NotOpen: it was acknowledged in this moment
		}
	}
	return nil
}

// marks gives the parts of a cursor of which something follows.
func (c *Conversations) marks(m Member, cursor string) (todo []mark, err error) {
	wrong := invalid("acknowledge: %.200q is no cursor of yours; give the one of the answer before", cursor)
	c.mu.Lock()
	defer c.mu.Unlock()
	for part := range strings.SplitSeq(cursor, ",") {
		id, upto, _ := strings.Cut(part, ":")
		t := c.talks[id]
		if t == nil || t.circle.project != m.Project || !slices.Contains(t.circle.members, m.Agent) {
			return nil, wrong
		}
		k := mark{id: id, end: upto == endMark}
		if !k.end {
			if k.upto, err = strconv.ParseUint(upto, 10, 64); err != nil {
				return nil, wrong
			}
		}
		if t.whole == nil {
			continue // all is over
		}
		me := t.whole.now.Member(m.Agent)
		_, said := slices.BinarySearchFunc(t.whole.lines, k.upto, bySeq)
		switch {
		case k.end && me.Ending == nil, !k.end && !said:
			return nil, wrong
		case k.end && !me.Told, !k.end && me.Read < k.upto:
			todo = append(todo, k)
		}
	}
	return todo, nil
}
