// Package view is what the journals of the rooms of conversations say: how each stands, who
// has not read what was said in it, whose key is whose, and what a member is to do next.
//
// It is pure, and is not to be used by two goroutines at once. It never holds a text, which
// is the room's, wakes nobody, and refuses nothing: host/conversations does.
package view

import (
	"slices"
	"strings"
	"time"

	"github.com/companiond/companiond/host/conversation"
)

// Member is an agent in a project.
type Member struct{ Project, Agent string }

// View is a conversation as it is shown: to its members, to humans, on the page.
type View struct {
	ID string `json:"conversation_id"`
	conversation.Conversation
}

// Talks are all conversations there are. Make them with New.
type Talks struct {
	talks   map[string]*Talk
	order   []*Talk // oldest first
	circles map[string]*circle
	shown   map[Member][]*Talk // whole ones; of a member without any there is nothing
}

// New makes them; there are none.
func New() *Talks {
	return &Talks{talks: map[string]*Talk{}, circles: map[string]*circle{}, shown: map[Member][]*Talk{}}
}

// Talk is a conversation.
type Talk struct {
	ID     string
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
	project string
	members []string // sorted
	talks   []*Talk  // oldest first
	holder  *Talk    // that has the key; nil: it is free, or nobody here knows whose it is
}

// KeyOf is what no two open conversations have in common. No name holds a line feed.
func KeyOf(project string, members []string) string {
	return "conversation\n" + project + "\n" + strings.Join(slices.Sorted(slices.Values(members)), "\n")
}

// enter takes in a talk that was not known.
func (ts *Talks) enter(id string, now *conversation.Conversation) *Talk {
	key := KeyOf(now.Terms.Project, now.Terms.Members)
	if ts.circles[key] == nil {
		ts.circles[key] = &circle{project: now.Terms.Project, members: slices.Sorted(slices.Values(now.Terms.Members))}
	}
	t := &Talk{ID: id, opened: now.Opened, circle: ts.circles[key], whole: &whole{left: make([]uint64, len(now.Members))}}
	ts.talks[id] = t
	ts.order = insert(ts.order, t)
	t.circle.talks = insert(t.circle.talks, t)
	for i := range now.Members {
		who := Member{now.Terms.Project, now.Members[i].ID}
		ts.shown[who] = append(ts.shown[who], t)
	}
	return t
}

// Settle takes in a talk that is over and of which everybody was told: nothing becomes of it any
// more. One that is known already, because its room has woken, stays as it is.
func (ts *Talks) Settle(id string, terms *conversation.Terms, opened time.Time, state conversation.State) *Talk {
	if t := ts.talks[id]; t != nil {
		return t
	}
	t := ts.enter(id, &conversation.Conversation{Terms: *terms, Opened: opened})
	t.state, t.whole = state, nil
	return t
}

// Settled says whether a talk is over and everybody was told.
func (t *Talk) Settled() bool { return t.whole == nil }

// insert keeps talks in the order they were opened.
func insert(talks []*Talk, t *Talk) []*Talk {
	i := len(talks)
	for i > 0 && talks[i-1].opened.After(t.opened) {
		i--
	}
	return slices.Insert(talks, i, t)
}

// forget lets go of what nobody is shown any more of a talk that is done.
func (ts *Talks) forget(t *Talk) {
	for _, m := range t.whole.now.Members {
		who := Member{t.circle.project, m.ID}
		left := slices.DeleteFunc(ts.shown[who], func(other *Talk) bool { return other == t })
		if ts.shown[who] = left; len(left) == 0 {
			delete(ts.shown, who)
		}
	}
	t.whole = nil
}

// Talk gives one by its id, nil for one that is not known.
func (ts *Talks) Talk(id string) *Talk { return ts.talks[id] }

// Of gives the talks a member has something to do with. They are not to be changed, and good
// until the next Note.
func (ts *Talks) Of(m Member) []*Talk { return ts.shown[m] }

// Holder gives the talk that has a key, nil for one that is free or of which nothing is known.
func (ts *Talks) Holder(key string) *Talk {
	if of := ts.circles[key]; of != nil {
		return of.holder
	}
	return nil
}

// Hold notes that a talk has its key, unless somebody sees to it that this is freed.
func (t *Talk) Hold() {
	if !t.freed {
		t.keyed, t.circle.holder = true, t
	}
}

// Release says whether the key is to be freed, of a talk that is over; it says so once.
func (t *Talk) Release() bool {
	if !t.keyed || t.freed || t.Open() {
		return false
	}
	t.freed = true
	return true
}

// Unhold notes that a talk has no key.
func (t *Talk) Unhold() {
	if t.keyed = false; t.circle.holder == t {
		t.circle.holder = nil
	}
}

// Keyed says whether the key of a talk is not free.
func (t *Talk) Keyed() bool { return t.keyed }

// State is how a talk stands.
func (t *Talk) State() conversation.State { return t.state }

// Open says whether something can be said in it.
func (t *Talk) Open() bool { return t.state == conversation.Pending || t.state == conversation.Active }

// View shows a talk; ok is false for one that is over and of which everybody was told: what it was
// is the room's to say.
func (t *Talk) View() (v View, ok bool) {
	if t.whole == nil {
		return v, false
	}
	return t.view(), true
}

// view shows a talk that is whole.
func (t *Talk) view() View { return View{ID: t.ID, Conversation: t.whole.now.Clone()} }

// After shows a talk as a message left it: the turns are those up to it. Somebody may have
// ended it since; that a later message was the last one, that message's answer tells. As of
// View, ok may be false, and is of a message that is not known yet.
func (t *Talk) After(seq uint64) (v View, ok bool) {
	if t.whole == nil || t.whole.head < seq {
		return v, false
	}
	v = t.view()
	if seq > 0 && t.whole.turn(seq) < v.Turns { // somebody has said something since, so it was open
		if v.Turns = t.whole.turn(seq); !v.Open() {
			v.State, v.Ending, v.Over = conversation.Active, nil, time.Time{}
		}
	}
	return v, true
}

// Before gives the talk before this one of the same members, nil for none.
func (t *Talk) Before() *Talk {
	if i := slices.Index(t.circle.talks, t); i > 0 {
		return t.circle.talks[i-1]
	}
	return nil
}

// of gives the place of a member in a talk.
func (w *whole) of(id string) int {
	return slices.IndexFunc(w.now.Members, func(m conversation.Member) bool { return m.ID == id })
}
