package conversations

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/companiond/companiond/host/conversation"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/room/life"
)

// This file is the view: what the journals of the rooms of conversations say, as far as
// somebody waits for it. Conversations.mu is held for all of it.

// talk is a conversation.
type talk struct {
	id     string
	opened time.Time
	state  conversation.State
	circle *circle
	keyed  bool   // its key is not free
	freed  bool   // somebody sees to that
	whole  *whole // nil for one that is over and of which everybody was told
}

// whole is what is known of a talk that somebody may yet be shown.
type whole struct {
	now   conversation.Conversation
	head  uint64   // of the journal, that now goes by
	lines []line   // by seq
	left  []uint64 // of each member: seq of its leaving, 0 while it takes part and where the last turn ended it
}

// line is a message, whose text is the room's.
type line struct {
	seq  uint64
	at   int64 // Unix milliseconds
	from int   // place among the members, -1 for a human who is none
}

// circle is those of a project who have conversations with each other.
type circle struct {
	key     string
	project string
	members []string // sorted
	talks   []*talk  // oldest first
	holder  *talk    // that has the key; nil: it is free, or nobody here knows whose it is
}

// seat is a member with something to be shown, or that waits for it.
type seat struct {
	talks   []*talk // whole ones
	waiting int
	wake    chan struct{} // closed when there is news; nil where nobody waits
}

// keyOf is what no two open conversations have in common. No name holds a line feed.
func keyOf(project string, members []string) string {
	return "conversation\n" + project + "\n" + strings.Join(slices.Sorted(slices.Values(members)), "\n")
}

// circleOf gives the circle of a conversation.
func (c *Conversations) circleOf(t *conversation.Terms) *circle {
	key := keyOf(t.Project, t.Members)
	if c.circles[key] == nil {
		c.circles[key] = &circle{key: key, project: t.Project, members: slices.Sorted(slices.Values(t.Members))}
	}
	return c.circles[key]
}

// enter takes in a talk that was not known.
func (c *Conversations) enter(id string, now *conversation.Conversation) *talk {
	t := &talk{id: id, opened: now.Opened, circle: c.circleOf(&now.Terms), whole: &whole{left: make([]uint64, len(now.Members))}}
	c.talks[id] = t
	c.order = insert(c.order, t)
	t.circle.talks = insert(t.circle.talks, t)
	for i := range now.Members {
		s := c.seatOf(Member{now.Terms.Project, now.Members[i].ID})
		s.talks = append(s.talks, t)
	}
	return t
}

// insert keeps talks in the order they were opened.
func insert(talks []*talk, t *talk) []*talk {
	i := len(talks)
	for i > 0 && talks[i-1].opened.After(t.opened) {
		i--
	}
	return slices.Insert(talks, i, t)
}

// forget lets go of what nobody is shown any more of a talk that is done.
func (c *Conversations) forget(t *talk) {
	for _, m := range t.whole.now.Members {
		who := Member{t.circle.project, m.ID}
		s := c.seats[who]
		s.talks = slices.DeleteFunc(s.talks, func(other *talk) bool { return other == t })
		c.vacate(who, s)
	}
	t.whole = nil
}

func (c *Conversations) seatOf(m Member) *seat {
	if c.seats[m] == nil {
		c.seats[m] = new(seat)
	}
	return c.seats[m]
}

// vacate forgets a seat that nobody needs.
func (c *Conversations) vacate(m Member, s *seat) {
	if len(s.talks) == 0 && s.waiting == 0 {
		delete(c.seats, m)
	}
}

// ring wakes whoever waits at a seat.
func (s *seat) ring() {
	if s.wake != nil {
		close(s.wake)
		s.wake = nil
	}
}

// Wrote takes what is in the journal of a conversation's room by now. It is called by the
// room's loop, before anybody is answered, and does not wait.
func (c *Conversations) Wrote(room string, now conversation.Conversation, entries []entry.Entry) {
	if len(entries) == 0 || now.State == conversation.None {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	was := conversation.None
	known := c.talks[room]
	if known != nil {
		was = known.state
	}
	if known != nil && known.whole != nil && known.whole.head > 0 && entries[0].Seq > known.whole.head+1 {
		c.run(errand{what: "read the journal of " + room, do: func(ctx context.Context) error { return c.again(ctx, room) }})
	}
	t := c.note(room, now, entries[len(entries)-1].Seq, entries)
	if known == nil {
		c.hold(t)
	}
	c.release(t)
	if t.state != was {
		c.tell(Notice{View: View{ID: room, Conversation: now.Clone()}})
	}
}

// note folds in how a conversation stands at head, and entries of its journal, in order, some of
// which may be known.
func (c *Conversations) note(id string, now conversation.Conversation, head uint64, entries []entry.Entry) *talk {
	t := c.talks[id]
	if t == nil {
		t = c.enter(id, &now)
	}
	w := t.whole
	if w == nil {
		return t // nothing changes any more, but for how far somebody has read
	}
	was := w.now
	w.leave(entries)
	said := w.hear(&now, entries)
	if head > w.head || w.head == 0 {
		w.now, w.head, t.state = now, head, now.State
	}
	c.wake(t, &was, said)
	if w.now.Done() {
		c.forget(t)
	}
	return t
}

// hear takes in the messages among entries, and says whether there were any.
func (w *whole) hear(now *conversation.Conversation, entries []entry.Entry) (said bool) {
	for _, e := range entries {
		m, ok := e.Message()
		if !ok {
			continue
		}
		i, known := slices.BinarySearchFunc(w.lines, e.Seq, bySeq)
		if known {
			continue
		}
		from := slices.IndexFunc(now.Members, func(of conversation.Member) bool { return of.ID == m.From })
		w.lines, said = slices.Insert(w.lines, i, line{e.Seq, e.At.UnixMilli(), from}), true
	}
	return said
}

func bySeq(l line, seq uint64) int { return cmp.Compare(l.seq, seq) }

// leave notes from where on members did not take part: what was said after that is not for
// them. That is found by folding the entries, for somebody invited may be gone and come back.
func (w *whole) leave(entries []entry.Entry) {
	now, after := w.now.Clone(), w.head
	l := life.Life{Conversation: &now}
	if len(entries) > 0 && entries[0].Seq == 1 {
		l, after = life.Life{}, 0
	}
	for _, e := range entries {
		if e.Seq <= after {
			continue
		}
		var took []bool
		if l.Conversation != nil {
			for _, m := range l.Conversation.Members {
				took = append(took, m.Ending == nil)
			}
		}
		happen(&l, e)
		if e.Kind != entry.KindConversation {
			continue
		}
		for i, took := range took {
			if took && l.Conversation.Members[i].Ending != nil && w.left[i] == 0 {
				w.left[i] = e.Seq
			}
		}
	}
}

// wake wakes those members for whom there may be something to do.
func (c *Conversations) wake(t *talk, was *conversation.Conversation, said bool) {
	now := &t.whole.now
	all := said || was.State != now.State || len(was.Members) != len(now.Members)
	for i := range now.Members {
		if !all && (was.Members[i].Ending == nil) != (now.Members[i].Ending == nil) {
			all = true
		}
	}
	for i, m := range now.Members {
		if all || was.Members[i] != m {
			if s := c.seats[Member{t.circle.project, m.ID}]; s != nil {
				s.ring()
			}
		}
	}
}

// view gives a talk that is whole.
func (t *talk) view() View { return View{ID: t.id, Conversation: t.whole.now.Clone()} }

// of gives the place of a member in a talk.
func (w *whole) of(id string) int {
	return slices.IndexFunc(w.now.Members, func(m conversation.Member) bool { return m.ID == id })
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
