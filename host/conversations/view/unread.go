package view

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Handout is what a member is to be given to read.
type Handout struct {
	Picks []Pick          // the read ones, then the unread ones, each in the order of time
	Spans map[string]Span // of the picks, by conversation
	Total int             // unread in all
	// Cursor acknowledges the unread ones.
	Cursor string
}

// Pick is a message that is handed out.
type Pick struct {
	Conversation string
	Seq          uint64
	New          bool // unread
}

// Span is a part of a journal.
type Span struct{ First, Last uint64 }

// pick is a line that is to be handed out.
type pick struct {
	line
	id  string // of the conversation
	new bool
}

// byTime orders lines of several conversations.
func byTime(a, b pick) int {
	return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.id, b.id), cmp.Compare(a.seq, b.seq))
}

// Handout chooses what a member is given: of what it has not read the oldest, at most news,
// and of what it has read, or said, in the conversations of those the newest before them, at
// most context.
func (ts *Talks) Handout(m Member, news, context int) Handout {
	unread := ts.unread(m)
	h := Handout{Total: len(unread), Spans: map[string]Span{}}
	unread = unread[:min(h.Total, news)]
	upto := map[string]uint64{}
	for _, p := range unread {
		upto[p.id] = p.seq
	}
	h.Cursor = cursorOf(upto)
	var read []pick
	for id, last := range upto {
		t := ts.talks[id]
		me := t.whole.of(m.Agent)
		for _, l := range t.whole.lines {
			if l.seq < last && (l.from == me || l.seq <= t.whole.now.Members[me].Read) {
				read = append(read, pick{l, id, false})
			}
		}
	}
	slices.SortStableFunc(read, byTime)
	for _, p := range append(read[max(0, len(read)-context):], unread...) {
		h.Picks = append(h.Picks, Pick{p.id, p.seq, p.new})
		s := h.Spans[p.id]
		h.Spans[p.id] = Span{min(cmp.Or(s.First, p.seq), p.seq), max(s.Last, p.seq)}
	}
	return h
}

// unread gives all that a member has not read, in the order of time.
func (ts *Talks) unread(m Member) (all []pick) {
	for _, t := range ts.shown[m] {
		last := int64(0)
		for _, l := range t.whole.unread(m.Agent) {
			l.at = max(l.at, last) // a clock that was put back does not put what was said last first
			last = l.at
			all = append(all, pick{l, t.ID, true})
		}
	}
	slices.SortStableFunc(all, byTime)
	return all
}

// unread gives the lines that a member has not read: of others, and said before it left.
func (w *whole) unread(id string) (lines []line) {
	me := w.of(id)
	m := w.now.Members[me]
	if m.Told {
		return nil
	}
	from, _ := slices.BinarySearchFunc(w.lines, m.Read+1, bySeq)
	for _, l := range w.lines[from:] {
		if l.from != me && (w.left[me] == 0 || l.seq < w.left[me]) {
			lines = append(lines, l)
		}
	}
	return lines
}

// turn gives which turn a message was; what humans say who are no members is none.
func (w *whole) turn(seq uint64) (n int) {
	for _, l := range w.lines {
		if l.seq <= seq && l.from >= 0 {
			n++
		}
	}
	return n
}

// endMark stands in a cursor for an ending, where of messages there is a seq.
const endMark = "end"

// cursorOf writes the cursor of messages, up to a seq of each conversation.
func cursorOf(upto map[string]uint64) string {
	var marks []string
	for _, id := range slices.Sorted(maps.Keys(upto)) {
		marks = append(marks, fmt.Sprintf("%s:%d", id, upto[id]))
	}
	return strings.Join(marks, ",")
}

// Mark is one part of a cursor: a member has read the messages of a conversation, or was told
// of its ending.
type Mark struct {
	Conversation string
	End          bool
	Upto         uint64 // seq, of messages
}

// Marks gives the parts of a cursor of which something follows. ok is false for a cursor that
// was never given to the member.
func (ts *Talks) Marks(m Member, cursor string) (todo []Mark, ok bool) {
	for part := range strings.SplitSeq(cursor, ",") {
		id, upto, _ := strings.Cut(part, ":")
		t := ts.talks[id]
		if t == nil || t.circle.project != m.Project || !slices.Contains(t.circle.members, m.Agent) {
			return nil, false
		}
		k := Mark{Conversation: id, End: upto == endMark}
		if !k.End {
			var err error
			if k.Upto, err = strconv.ParseUint(upto, 10, 64); err != nil {
				return nil, false
			}
		}
		if t.whole == nil {
			continue // all is over
		}
		me := t.whole.now.Member(m.Agent)
		_, said := slices.BinarySearchFunc(t.whole.lines, k.Upto, bySeq)
		switch {
		case k.End && me.Ending == nil, !k.End && !said:
			return nil, false
		case k.End && !me.Told, !k.End && me.Read < k.Upto:
			todo = append(todo, k)
		}
	}
	return todo, true
}
