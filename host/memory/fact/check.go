package fact

import (
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/memory/wording"
)

// MaxAbout is how many one memory may be about.
const MaxAbout = 32

// maxSlot are the bytes of a slot at most.
const maxSlot = 256

// checked gives what is to be remembered with what it leaves open filled in.
func (n New) checked(source, id string, now time.Time) (New, error) {
	n.ID = id
	if n.Kind == "" {
		n.Kind = abi.MemoryFact
	}
	if n.Importance == 0 {
		n.Importance = 3
	}
	if n.Visibility == "" {
		n.Visibility = abi.VisibleRoom
	}
	if n.SaidAt.IsZero() {
		n.SaidAt = now
	}
	n.SaidAt, n.ValidFrom, n.ValidTo = whole(n.SaidAt), whole(n.ValidFrom), whole(n.ValidTo)
	n.Text, n.Keys = strings.TrimSpace(n.Text), keysOf(n.Keys)
	n.About = slices.Compact(slices.Sorted(slices.Values(n.About)))
	n.Turns = slices.Clone(n.Turns)
	if n.Quote != "" {
		span, ok := wording.Quoted(n.Quote, source)
		if !ok {
			return n, abi.Field("memory.quote", abi.CodeInvalid, "does not stand in the turn; quote its words letter by letter")
		}
		n.Quote = span
	}
	switch {
	case n.Kind != abi.MemoryFact && n.Kind != abi.MemoryEpisode:
		return n, abi.Field("memory.kind", abi.CodeInvalid, "%q is neither %q nor %q", n.Kind, abi.MemoryFact, abi.MemoryEpisode)
	case n.Visibility == abi.VisibleRoom && n.Room == "":
		return n, abi.Field("memory.room", abi.CodeInvalid, "must not be empty where only a room may be told; give a room, or the visibility %q or %q", abi.VisiblePerson, abi.VisibleAll)
	case len(n.Slot) > maxSlot:
		return n, abi.Field("memory.slot", abi.CodeTooLarge, "%d bytes, at most %d", len(n.Slot), maxSlot)
	case len(n.Value) > abi.MaxMemoryText:
		return n, abi.Field("memory.value", abi.CodeTooLarge, "%d bytes, at most %d", len(n.Value), abi.MaxMemoryText)
	case len(n.Quote) > abi.MaxMemoryText:
		return n, abi.Field("memory.quote", abi.CodeTooLarge, "%d bytes, at most %d", len(n.Quote), abi.MaxMemoryText)
	}
	return n, check(n.Memory)
}

// check holds a memory to the bounds of package abi.
func check(m abi.Memory) error {
	if err := abi.CheckText("memory.text", m.Text); err != nil {
		return err
	}
	switch {
	case len(m.Text) > abi.MaxMemoryText:
		return abi.Field("memory.text", abi.CodeTooLarge, "%d bytes, at most %d", len(m.Text), abi.MaxMemoryText)
	case m.ID == "" || len(m.ID) > abi.MaxName:
		return abi.Field("memory.id", abi.CodeInvalid, "%d bytes, must be 1..%d", len(m.ID), abi.MaxName)
	case m.Importance < 1 || m.Importance > 5:
		return abi.Field("memory.importance", abi.CodeInvalid, "%d is outside 1..5", m.Importance)
	case m.Visibility != abi.VisibleRoom && m.Visibility != abi.VisiblePerson && m.Visibility != abi.VisibleAll:
		return abi.Field("memory.visibility", abi.CodeInvalid, "%q is none of %q, %q, %q", m.Visibility, abi.VisibleRoom, abi.VisiblePerson, abi.VisibleAll)
	case len(m.Keys) > abi.MaxMemoryKeys:
		return abi.Field("memory.keys", abi.CodeTooLarge, "%d keys, at most %d", len(m.Keys), abi.MaxMemoryKeys)
	case len(m.About) > MaxAbout:
		return abi.Field("memory.about", abi.CodeTooLarge, "%d ids, at most %d", len(m.About), MaxAbout)
	}
	for _, k := range m.Keys {
		if len(k) > abi.MaxName || !utf8.ValidString(k) || strings.ContainsFunc(k, unicode.IsControl) {
			return abi.Field("memory.keys", abi.CodeInvalid, "one is of %d bytes, or has what is no letter or mark; give names and things of at most %d bytes", len(k), abi.MaxName)
		}
	}
	for _, who := range append(slices.Clone(m.About), m.SaidBy) {
		if len(who) > abi.MaxName || !utf8.ValidString(who) {
			return abi.Field("memory.about", abi.CodeInvalid, "one is of %d bytes or no UTF-8; give ids of at most %d bytes", len(who), abi.MaxName)
		}
	}
	return nil
}

// keysOf gives keys without blank and double ones.
func keysOf(keys []string) (all []string) {
	var seen []string
	for _, k := range keys {
		k = strings.TrimSpace(k)
		if f := wording.Fold(k); f != "" && !slices.Contains(seen, f) {
			seen, all = append(seen, f), append(all, k)
		}
	}
	return all
}

// whole gives a time as journals keep it; the zero time stays what it is.
func whole(t time.Time) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	return t.UTC().Truncate(time.Millisecond)
}
