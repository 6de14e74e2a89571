package entry

import (
	"time"

	"github.com/companiond/companiond/abi"
)

// How says by what way something came to be remembered.
type How string

// The ways. A person at a door writes without a quotation.
const (
	HowRules  How = "rules"  // rules found it in what a person said
	HowModel  How = "model"  // a language model did, and code found its quotation there
	HowModule How = "module" // the companion's own module asked for it
	HowDoor   How = "door"   // somebody wrote it at a door
)

// Remembered is the body of KindRemembered. What follows from it for what was remembered
// before was decided when it was written, and is never found out again.
type Remembered struct {
	abi.Memory
	// Slot is what there can be one of at a time: "name", "pet.name:cat", "taste:ramen".
	Slot  string `json:"slot,omitempty"`
	Value string `json:"value,omitempty"` // what fills the slot: words of others
	How   How    `json:"how"`
	// Closes are ids of what is no longer so since ValidFrom, or SaidAt.
	Closes []string `json:"closes,omitempty"`
	// Upto is the newest message of Room when it was remembered, where no turn says when that was.
	Upto uint64 `json:"upto,omitempty"`
	// Until says by what it was so until ValidTo alone, which had been said later and remembered before: one of each room.
	Until []Place `json:"until,omitempty"`
}

// Place is where something was said by which something else is no longer so. Who has not lived through it does not know of it.
type Place struct {
	Room string `json:"room,omitempty"`
	Turn uint64 `json:"turn,omitempty"` // the newest that it rests on
	By   string `json:"by,omitempty"`   // id of what is remembered of it; empty: it was erased
	Slot bool   `json:"slot,omitempty"` // that fills the same slot, and so came in its place
	// At is until when what it closed was so.
	At time.Time `json:"at,omitzero"`
}

// Revised is the body of KindRevised: what is absent stays as it was.
type Revised struct {
	Of         string          `json:"of"`           // id of what is remembered
	By         string          `json:"by,omitempty"` // who changed it; empty: it was said again
	Text       *string         `json:"text,omitempty"`
	Keys       *[]string       `json:"keys,omitempty"`
	Importance *int            `json:"importance,omitempty"`
	Visibility *abi.Visibility `json:"visibility,omitempty"`
	ValidTo    *time.Time      `json:"valid_to,omitempty"` // the zero time: it is so again
	// Again says that whoever said it has said it again, in this turn of the same room.
	Again *Again `json:"again,omitempty"`
	// Until says of ValidTo where that was said: it is so for those who lived through it. Without it, it is so everywhere.
	Until *Place `json:"until,omitempty"`
}

// Again is where and when something was said again.
type Again struct {
	Room string    `json:"room,omitempty"`
	Turn uint64    `json:"turn,omitempty"`
	At   time.Time `json:"at"`
	// Same says that it was said with the same letters, so that whoever heard this alone knows as much.
	Same bool `json:"same,omitempty"`
}

// Erased is the body of KindErased. It has nothing of the words.
type Erased struct {
	IDs []string `json:"ids"`
	By  string   `json:"by,omitempty"` // who wished it; empty: nobody did
	Why Gone     `json:"why"`
}

// Gone says why something is remembered no more.
type Gone string

// The reasons.
const (
	GoneForgotten Gone = "forgotten" // somebody wished it
	GoneFull      Gone = "full"      // there was no room for it beside what is worth more
)

// Read is the body of KindRead.
type Read struct {
	Room string `json:"room"`
	Upto uint64 `json:"upto"` // seq of the newest entry that was looked at
}

// Vector is the body of KindVector: the direction in which a model for vectors sees the text that
// something remembered has at that moment. It is made of the words, and goes with them.
type Vector struct {
	Of    string `json:"of"`    // id of what is remembered
	Model string `json:"model"` // its name at the endpoint
	Dims  int    `json:"dims"`
	// Numbers are Dims signed bytes, the largest of them 127 or -127.
	Numbers []byte `json:"numbers"`
}
