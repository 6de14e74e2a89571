// Package person reads what passes between a character and one person: what the person asks of the character, whether
// they ask what it remembers of them, whether they let off steam, and what the daemon remembers of what they told.
//
// It knows phrases and no meaning, decides nothing about what is said, and keeps nothing but a name, and which memories
// were spoken of.
package person

import (
	"slices"

	"github.com/companiond/companiond/abi"
	companion "github.com/companiond/companiond/sdk/go"
	"github.com/companiond/companiond/sdk/go/words"
)

// Person is what a character keeps of a human under a key of its own. All else that it knows of them is in the daemon's
// memory, where people see and erase it.
type Person struct {
	Name string   `json:"name,omitempty"`
	Left bool     `json:"left,omitempty"` // has been said goodbye to
	Came int64    `json:"came,omitempty"` // when the visit began, in seconds of Unix
	Used []string `json:"used,omitempty"` // memories that were spoken of, the newest last
}

// mostUsed is how many memories are noted as spoken of.
const mostUsed = 24

// Use notes that a memory was spoken of.
func (p *Person) Use(id string) {
	p.Used = append(slices.DeleteFunc(p.Used, func(u string) bool { return u == id }), id)
	p.Used = p.Used[max(0, len(p.Used)-mostUsed):]
}

// Key is where a character keeps what it knows of somebody.
func Key(id string) string {
	if key := "human/" + id; len(key) <= abi.MaxKVKey {
		return key
	}
	return "human/?"
}

// Known gives what the character keeps of a human.
func Known(h *companion.Host, id string) (p Person) {
	if _, err := h.GetJSON(Key(id), &p); err != nil {
		h.Debugf("person %s: %v", id, err)
	}
	return p
}

// Keep writes it.
func Keep(h *companion.Host, id string, p Person) {
	if err := h.SetJSON(Key(id), p); err != nil {
		h.Debugf("person %s: %v", id, err)
	}
}

// anonymous are display names that say nothing about who it is.
var anonymous = words.Set("user users anonymous guest human viewer you me ユーザー ユーザ ゲスト 名無し 匿名")

// Anonymous says whether a display name says nothing about who it is.
func Anonymous(name string) bool { return anonymous[words.Normal(name)] }
