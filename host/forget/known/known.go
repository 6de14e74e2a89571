// Package known is the names of those who ever spoke or were here. In a field for names anything may stand: whom a person
// spoke to is said only where it is somebody, else it is what the person wrote there. It also knows what people put before and
// behind a name.
//
// It is pure: it never reads or writes anything, and does not know who is to be forgotten.
package known

import (
	"encoding/json"
	"slices"

	"github.com/companiond/companiond/host/entry"
)

// Names are the names.
type Names map[string]bool

// Learn takes the names of an entry.
func (n Names) Learn(e entry.Entry) {
	switch e.Kind {
	case entry.KindSaid:
		if b, err := entry.Decode[entry.Said](e); err == nil {
			n[b.From] = true
		}
	case entry.KindCast:
		b, _ := entry.Decode[entry.Cast](e)
		for _, j := range b.Joined {
			n[j.ID] = true
		}
	case entry.KindConversation:
		var b struct {
			Who   string `json:"who"`
			Terms struct {
				Members []string `json:"members"`
			} `json:"terms"`
		}
		_ = json.Unmarshal(e.Body, &b)
		for _, name := range append(b.Terms.Members, b.Who) {
			n[name] = true
		}
	}
}

// Without gives the body of what the person said, or wished to say, without those to whom it was that are nobody, and whether that is
// less than it was. as stands where the person's name stood, and order is the id of the order to erase.
func (n Names) Without(body json.RawMessage, as, order string) (left json.RawMessage, lost bool) {
	var all map[string]json.RawMessage
	var to []string
	if json.Unmarshal(body, &all) != nil || json.Unmarshal(all["to"], &to) != nil {
		return body, false
	}
	nobody := func(name string) bool { return !n[name] && name != as }
	if !slices.ContainsFunc(to, nobody) {
		return body, false
	}
	all["to"], _ = json.Marshal(slices.DeleteFunc(to, nobody))
	all[entry.ErasedKey], _ = json.Marshal(order)
	left, err := json.Marshal(all)
	return left, err == nil
}
