//go:build !wasip1

package companion

import (
	"fmt"
	"slices"
	"strings"

	"github.com/companiond/companiond/abi"
)

// This file is what a Local remembers.

// recall finds memories, the newest first.
func (l *Local) recall(ask abi.MemoryAsk) (abi.Memories, error) {
	found := abi.Memories{Memories: []abi.Memory{}}
	if err := ask.Check(); err != nil {
		return found, err
	}
	limit, _ := abi.Limit(ask.Limit, 8, abi.MaxMemories) // it was checked
	for _, m := range slices.Backward(l.Memories) {
		about := len(ask.About) == 0 || slices.ContainsFunc(m.About, func(id string) bool { return slices.Contains(ask.About, id) })
		now := ask.Past || m.ValidTo.IsZero() || l.now().Before(m.ValidTo)
		if about && now && has(m, ask.Text) && len(found.Memories) < limit {
			found.Memories = append(found.Memories, m)
		}
	}
	return found, nil
}

// has says whether a memory has a word of a text, or a text one of its keys.
func has(m abi.Memory, text string) bool {
	text = strings.ToLower(text)
	words := strings.Fields(text)
	mine := strings.ToLower(m.Text)
	return text == "" || slices.ContainsFunc(words, func(w string) bool { return len(w) > 2 && strings.Contains(mine, w) }) ||
		slices.ContainsFunc(m.Keys, func(key string) bool { return strings.Contains(text, strings.ToLower(key)) })
}

// remember keeps one, as the daemon would.
func (l *Local) remember(a abi.MemoryAdd) (m abi.Memory, err error) {
	if err := a.Check(); err != nil {
		return m, err
	}
	m = abi.Memory{
		ID: fmt.Sprintf("m-%d", len(l.Memories)+1), Kind: a.Kind, Text: a.Text, Quote: a.Quote, About: a.About, Keys: a.Keys, Room: l.RoomID,
		SaidAt: l.now(), Importance: a.Importance, Visibility: abi.VisibleRoom,
	}
	if m.Kind == "" {
		m.Kind = abi.MemoryFact
	}
	if m.Importance == 0 {
		m.Importance = 3
	}
	if a.Turn != 0 {
		i := slices.IndexFunc(l.History, func(h Message) bool { return h.Seq == a.Turn })
		if i < 0 {
			return abi.Memory{}, abi.Field("turn", abi.CodeNotFound, "%d is no message of this room", a.Turn)
		}
		if !strings.Contains(l.History[i].Text, a.Quote) {
			return abi.Memory{}, abi.Field("memory.quote", abi.CodeInvalid, "does not stand in the turn; quote its words letter by letter")
		}
		m.Turns, m.SaidBy, m.SaidAt = []uint64{a.Turn}, l.History[i].From, l.History[i].At
	}
	for i, old := range l.Memories {
		if slices.Contains(a.Replaces, old.ID) && old.ValidTo.IsZero() {
			l.Memories[i].ValidTo = m.SaidAt
		}
	}
	l.Memories = append(l.Memories, m)
	return m, nil
}
