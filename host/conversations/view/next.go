package view

import (
	"slices"
	"strings"

	"github.com/companiond/companiond/host/conversation"
)

// Doing is what a member is to do next.
type Doing string

// What there is to do: the actions of seed E.
const (
	DoRequest Doing = "conversation_request"
	DoEnded   Doing = "conversation_ended"
	DoExpired Doing = "conversation_expired" // for whoever opened it
	DoExit    Doing = "exit"                 // a human has ended the chat
	DoRead    Doing = "get_pending_messages"
	DoWait    Doing = "wait_for_messages"
)

// Action is what there is to do. The zero value is nothing.
type Action struct {
	Do     Doing
	View   View   // of what it is about; of DoWait one that has become active since, or that somebody has left, or none
	Others []View // with DoRequest: the requests besides
	Ending conversation.Ending
	Target string   // with DoExpired: whoever did not come, "a, b" in a group
	Unread int      // with DoRead: messages in all
	Left   []string // with DoWait: members who have left the group since, or declined
	// Cursor acknowledges that this was received: with it an ending is not told again. It is
	// empty where there is no ending.
	Cursor string
}

// Seen is what one session has been shown, so that it is not shown the same request for ever. The zero value
// is that of a new session. It is not to be used by two calls at once.
type Seen struct {
	requests, active []string // ids
	left             []string // "id member"
}

// Next gives what a member is to do: endings first, then requests, then messages; the messages
// of a conversation that is over come before its ending.
func (ts *Talks) Next(m Member, seen *Seen) Action {
	talks := ts.shown[m]
	seen.drop(talks)
	for _, find := range []func([]*Talk, string, *Seen) Action{ending, request, reading, begun, parted} {
		if a := find(talks, m.Agent, seen); a.Do != "" {
			return a
		}
	}
	return Action{}
}

// drop forgets what is over.
func (s *Seen) drop(talks []*Talk) {
	over := func(id string) bool {
		return !slices.ContainsFunc(talks, func(t *Talk) bool { return t.ID == id })
	}
	s.requests = slices.DeleteFunc(s.requests, over)
	s.left = slices.DeleteFunc(s.left, func(who string) bool { id, _, _ := strings.Cut(who, " "); return over(id) })
	s.active = slices.DeleteFunc(s.active, over)
}

// ending gives the oldest one that a member is to be told of.
func ending(talks []*Talk, me string, _ *Seen) (a Action) {
	var first *Talk
	for _, t := range talks {
		if t.whole.now.Untold(me) == nil || len(t.whole.unread(me)) > 0 {
			continue
		}
		if first == nil || t.whole.now.Over.Before(first.whole.now.Over) {
			first = t
		}
	}
	if first == nil {
		return a
	}
	now := &first.whole.now
	a = Action{Do: DoEnded, View: first.view(), Ending: *now.Untold(me), Cursor: first.ID + ":" + endMark}
	switch by := a.Ending.By; {
	case now.State == conversation.Expired && now.Initiator() == me:
		a.Do = DoExpired
		var late []string
		for _, m := range now.Members {
			if !m.Joined && m.Ending != nil && m.Ending.Reason == conversation.Timeout {
				late = append(late, m.ID)
			}
		}
		a.Target = strings.Join(late, ", ")
	case now.Terms.Chat() && by != "" && by != me && (slices.Contains(now.Terms.Humans, by) || now.Member(by) == nil):
		a.Do = DoExit
	}
	return a
}

// request gives the oldest request that a session was not shown yet, and all others.
func request(talks []*Talk, me string, seen *Seen) (a Action) {
	var open []*Talk
	for _, t := range talks {
		if m := t.whole.now.Member(me); t.Open() && !m.Joined && m.Ending == nil {
			open = append(open, t)
		}
	}
	first := slices.IndexFunc(open, func(t *Talk) bool { return !slices.Contains(seen.requests, t.ID) })
	if first < 0 {
		return a
	}
	a = Action{Do: DoRequest, View: open[first].view()}
	for i, t := range open {
		if i != first {
			a.Others = append(a.Others, t.view())
		}
		if !slices.Contains(seen.requests, t.ID) {
			seen.requests = append(seen.requests, t.ID)
		}
	}
	return a
}

// reading says that there are messages: in the conversation of the oldest, and how many in
// all.
func reading(talks []*Talk, me string, seen *Seen) (a Action) {
	var first *Talk
	var at int64
	for _, t := range talks {
		lines := t.whole.unread(me)
		if a.Unread += len(lines); len(lines) > 0 && (first == nil || lines[0].at < at) {
			first, at = t, lines[0].at
		}
	}
	if first == nil {
		return a
	}
	a.Do, a.View = DoRead, first.view()
	if a.View.State == conversation.Active {
		seen.activate(first.ID)
	}
	return a
}

// begun tells whoever opened a conversation that it has become active.
func begun(talks []*Talk, me string, seen *Seen) (a Action) {
	for _, t := range talks {
		if now := &t.whole.now; now.State == conversation.Active && now.Initiator() == me && now.Untold(me) == nil && seen.activate(t.ID) {
			return Action{Do: DoWait, View: t.view()}
		}
	}
	return a
}

// parted tells those who go on in a group that somebody does not.
func parted(talks []*Talk, me string, seen *Seen) (a Action) {
	for _, t := range talks {
		if !t.takes(me) {
			continue
		}
		for _, m := range t.whole.now.Members {
			if who := t.ID + " " + m.ID; m.Ending != nil && !slices.Contains(seen.left, who) {
				seen.left, a.Left = append(seen.left, who), append(a.Left, m.ID)
			}
		}
		if a.Left != nil {
			a.Do, a.View = DoWait, t.view()
			return a
		}
	}
	return a
}

// activate notes that a session knows of a conversation that it is active; it answers whether
// that is news.
func (s *Seen) activate(id string) bool {
	if slices.Contains(s.active, id) {
		return false
	}
	s.active = append(s.active, id)
	return true
}
