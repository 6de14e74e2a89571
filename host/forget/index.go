package forget

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/companiond/companiond/host/journal"
)

// eraseIndex takes the name and the words out of what the index knows of rooms.
func (s *Service) eraseIndex(ctx context.Context, w *work) error {
	return s.everywhere(ctx, func(r journal.Room) error {
		if w.words.Hits(r.Name) && !slices.Contains(w.receipt.Names, r.Name) {
			w.receipt.Names = append(w.receipt.Names, r.Name)
		}
		l, lost := r.Listing, false
		if w.order.Is(l.By) {
			l.By, lost = w.order.As, true
		}
		if l.Settings != nil {
			left, less := w.settings(l.Settings)
			l.Settings, lost = left, lost || less
		}
		if w.words.Hits(l.Key) && !w.words.Hits(r.Name) { // two who are in a conversation
			l.Key, lost = "", true
		}
		if !lost {
			return nil
		}
		if s.rooms != nil {
			return s.rooms.Relist(ctx, r.Name, l)
		}
		return s.cfg.Journal.Register(ctx, r.Name, l)
	})
}

// settings gives what is left of a room's settings, and whether that is less. Those of a conversation
// have what it is about, in somebody's words. Those of a room say how it works, and of people only
// who may interrupt: nothing else there changes, or the room would not work any more.
func (w *work) settings(raw []byte) (left []byte, less bool) {
	var all map[string]json.RawMessage
	if json.Unmarshal(raw, &all) != nil {
		return raw, false
	}
	if all["conversation"] != nil {
		return w.words.JSON(raw)
	}
	var may []string
	if json.Unmarshal(all["interrupters"], &may) != nil || !slices.ContainsFunc(may, w.order.Is) {
		return raw, false
	}
	all["interrupters"], _ = json.Marshal(slices.DeleteFunc(may, w.order.Is))
	left, err := json.Marshal(all)
	return left, err == nil
}
