package view

import (
	"cmp"
	"slices"

	"github.com/companiond/companiond/host/conversation"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/room/life"
)

// Fold folds in one entry; what does not decode changes nothing.
func Fold(l *life.Life, e entry.Entry) {
	switch e.Kind {
	case entry.KindConversation:
		if in, err := entry.Decode[conversation.Input](e); err == nil {
			l.Happens(in, e.At)
		}
	case entry.KindSaid:
		if b, err := entry.Decode[entry.Said](e); err == nil {
			l.Hears(b, e.At)
		}
	}
}

// Misses says whether there are entries before seq that a talk was not told of.
func (t *Talk) Misses(seq uint64) bool {
	return t.whole != nil && t.whole.head > 0 && seq > t.whole.head+1
}

// Note takes in how a conversation stands at head, and entries of its journal, in order, some of
// which may be known. It gives the members for whom there may be something to do.
func (ts *Talks) Note(id string, now conversation.Conversation, head uint64, entries []entry.Entry) (t *Talk, stirred []Member) {
	t = ts.talks[id]
	if t == nil {
		t = ts.enter(id, &now)
	}
	w := t.whole
	if w == nil {
		return t, nil // nothing changes any more, but for how far somebody has read
	}
	was := w.now
	w.leave(entries)
	said := w.hear(&now, entries)
	if head > w.head || w.head == 0 {
		w.now, w.head, t.state = now, head, now.State
	}
	stirred = t.stirred(&was, said)
	if w.now.Done() {
		ts.forget(t)
	}
	return t, stirred
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
		Fold(&l, e)
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

// stirred gives the members for whom there may be something to do, by how the talk stood.
func (t *Talk) stirred(was *conversation.Conversation, said bool) (who []Member) {
	now := &t.whole.now
	all := said || was.State != now.State || len(was.Members) != len(now.Members)
	for i := range now.Members {
		if !all && (was.Members[i].Ending == nil) != (now.Members[i].Ending == nil) {
			all = true
		}
	}
	for i, m := range now.Members {
		if all || was.Members[i] != m {
			who = append(who, Member{t.circle.project, m.ID})
		}
	}
	return who
}
