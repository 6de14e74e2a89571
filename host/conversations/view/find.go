package view

import (
	"slices"

	"github.com/companiond/companiond/host/conversation"
)

// Filter is which conversations a list is to have. Empty fields are any.
type Filter struct {
	Project, Agent string
	State          conversation.State
	Before         string // id: only older ones
	Limit          int    // 0: 20; at most abi.MaxHistory
}

// List gives the ids of limit conversations, newest first; ok is false where there is none to
// be older than. The filter's own limit is not looked at.
func (ts *Talks) List(f Filter, limit int) (ids []string, ok bool) {
	from := len(ts.order)
	if f.Before != "" {
		if from = slices.IndexFunc(ts.order, func(t *Talk) bool { return t.ID == f.Before }); from < 0 {
			return nil, false
		}
	}
	for _, t := range slices.Backward(ts.order[:from]) {
		if len(ids) == limit {
			break
		}
		if f.matches(t) {
			ids = append(ids, t.ID)
		}
	}
	return ids, true
}

func (f *Filter) matches(t *Talk) bool {
	return (f.Project == "" || t.circle.project == f.Project) &&
		(f.Agent == "" || slices.Contains(t.circle.members, f.Agent)) && (f.State == "" || t.state == f.State)
}

// Members gives those who may yet be shown something, and for whom one conversation of theirs
// is such as is asked for.
func (ts *Talks) Members(which func(*conversation.Conversation, *conversation.Member) bool) (all []Member) {
	for who, talks := range ts.shown {
		if slices.ContainsFunc(talks, func(t *Talk) bool { return which(&t.whole.now, t.whole.now.Member(who.Agent)) }) {
			all = append(all, who)
		}
	}
	return all
}

// Joined gives the ids of the open conversations in which somebody takes part, oldest first.
func (ts *Talks) Joined(m Member) (ids []string) {
	for _, t := range ts.shown[m] {
		if t.takes(m.Agent) && t.whole.now.Member(m.Agent).Joined {
			ids = append(ids, t.ID)
		}
	}
	return ids
}

// takes says whether somebody takes part in an open talk, or may.
func (t *Talk) takes(id string) bool {
	m := t.whole.now.Member(id)
	return t.Open() && m != nil && m.Ending == nil
}

// With gives the open conversation with somebody: the one of these two alone rather than a
// group, else the one heard of last. Where there is none, ok is false.
func (ts *Talks) With(m Member, target string) (v View, ok bool) {
	var with *Talk
	for _, t := range ts.shown[m] {
		if !t.takes(m.Agent) || !t.takes(target) {
			continue
		}
		if with == nil || with.two() == t.two() && !t.whole.now.Heard.Before(with.whole.now.Heard) || t.two() && !with.two() {
			with = t
		}
	}
	if with == nil {
		return v, false
	}
	return with.view(), true
}

func (t *Talk) two() bool { return len(t.whole.now.Members) == 2 }

// Latest gives the open conversation in which somebody else wrote last, or the only one. Where
// there is neither, ok is false, and the ids are those of all that are open.
func (ts *Talks) Latest(m Member) (v View, ids []string, ok bool) {
	var heard, one *Talk
	var newest int64
	for _, t := range ts.shown[m] {
		if !t.takes(m.Agent) {
			continue
		}
		one, ids = t, append(ids, t.ID)
		me := t.whole.of(m.Agent)
		for _, l := range slices.Backward(t.whole.lines) {
			if l.from == me {
				continue
			}
			if heard == nil || l.at >= newest {
				heard, newest = t, l.at
			}
			break
		}
	}
	if len(ids) == 1 {
		heard = one
	}
	if heard == nil {
		return v, ids, false
	}
	return heard.view(), nil, true
}

// Last gives the newest talk of a member, with somebody or, where that is empty, with anybody;
// nil for none.
func (ts *Talks) Last(m Member, with string) *Talk {
	for _, t := range slices.Backward(ts.order) {
		if t.circle.project == m.Project && slices.Contains(t.circle.members, m.Agent) && (with == "" || slices.Contains(t.circle.members, with)) {
			return t
		}
	}
	return nil
}
