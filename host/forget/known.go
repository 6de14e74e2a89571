package forget

import (
	"encoding/json"
	"slices"

	"github.com/companiond/companiond/host/entry"
)

// known are the names of those who ever spoke or were here. In a field for names anything may stand.
type known map[string]bool

// learn takes the names of an entry.
func (k known) learn(e entry.Entry) {
	switch e.Kind {
	case entry.KindSaid:
		if b, err := entry.Decode[entry.Said](e); err == nil {
			k[b.From] = true
		}
	case entry.KindCast:
		b, _ := entry.Decode[entry.Cast](e)
		for _, j := range b.Joined {
			k[j.ID] = true
		}
	case entry.KindConversation:
		var b struct {
			Who   string `json:"who"`
			Terms struct {
				Members []string `json:"members"`
			} `json:"terms"`
		}
		_ = json.Unmarshal(e.Body, &b)
		for _, n := range append(b.Terms.Members, b.Who) {
			k[n] = true
		}
	}
}

// withoutNobody gives what is left of an entry's body, and whether that is less than it was. Whom the
// person spoke to is said only where it is somebody: else it is what the person wrote there.
func (w *work) withoutNobody(e entry.Entry, left json.RawMessage, lost bool) (json.RawMessage, bool) {
	if e.Kind != entry.KindSaid && e.Kind != entry.KindWish || !w.words.Own(e) {
		return left, lost
	}
	body := e.Body
	if lost {
		body = left
	}
	var all map[string]json.RawMessage
	var to []string
	if json.Unmarshal(body, &all) != nil || json.Unmarshal(all["to"], &to) != nil {
		return left, lost
	}
	nobody := func(n string) bool { return !w.known[n] && n != w.order.As }
	if !slices.ContainsFunc(to, nobody) {
		return left, lost
	}
	all["to"], _ = json.Marshal(slices.DeleteFunc(to, nobody))
	all[entry.ErasedKey], _ = json.Marshal(w.order.ID)
	less, err := json.Marshal(all)
	if err != nil {
		return left, lost
	}
	return less, true
}
