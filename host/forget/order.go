package forget

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/address"
	"github.com/companiond/companiond/host/identity"
)

// Order is somebody's word that what a person said, or single facts, be erased.
type Order struct {
	By        identity.Caller // of the request: [identity.Of]
	Claimed   string          // the name that a guest uses at this door; empty for the holder of a token
	Who       string          // all that this person said; empty with Facts
	Facts     []string        // or these facts, by the ids that [abi.Memory] has
	Companion string          // whose memory has the Facts
	Copies    bool            // copies of the journal in the state directory are deleted, too
}

// State is how far an order is.
type State string

// The states of an order.
const (
	Running State = "running"
	Done    State = "done"
	Failed  State = "failed" // it is tried again, see Receipt.Error
)

// Receipt is what became of an order. There is no name in it but those of rooms and files.
type Receipt struct {
	ID    string    `json:"id"`
	At    time.Time `json:"at"`
	State State     `json:"state"`
	Kind  string    `json:"kind"`         // "person" or "facts"
	As    string    `json:"as,omitempty"` // stands where the name stood
	Error string    `json:"error,omitempty"`

	// Called are all ways in which the name is written that goes, in a plan alone: an order names nobody.
	Called []string `json:"-"`
	// Nobody says that nobody who spoke or was here, or of whom something is remembered, has the name.
	Nobody bool `json:"nobody,omitempty"`

	Rooms    int  `json:"rooms"`             // in which something was erased
	Entries  int  `json:"entries"`           // that lost words
	Keys     int  `json:"keys"`              // of modules, which these took out or left to be deleted
	Memories int  `json:"memories"`          // of companions
	Theirs   bool `json:"theirs,omitempty"`  // somebody else told the facts, and keeps the words
	Unfound  int  `json:"unfound,omitempty"` // facts that rest on a message which is not there, or say none
	Common   int  `json:"common,omitempty"`  // words that too many use to be looked for in what others said
	// Others is what of these is other people's.
	Others Others `json:"others"`
	// Copies are files in the state directory that still hold what was erased everywhere
	// else: copies made before migrations, and of damaged journals. Order.Copies deletes them.
	Copies []string `json:"copies,omitempty"`
	// Names are rooms that have the words in their own names, which do not change.
	Names []string `json:"names,omitempty"`
}

// Others is what goes of what other people said, and of what is remembered of them.
type Others struct {
	Entries  int `json:"entries"`  // that lost their texts
	Renamed  int `json:"renamed"`  // in which the name is another, and that is all
	Stay     int `json:"stay"`     // that have letters of the name, or a word, and stay because they may be others'
	Memories int `json:"memories"` // that somebody else said
	Episodes int `json:"episodes"` // of talks in which others were, too
}

// atLeast has a receipt say no less than one of before: what was erased then, and is not there again, nobody counts any more.
func (r *Receipt) atLeast(done json.RawMessage) {
	var was Receipt
	if done == nil || json.Unmarshal(done, &was) != nil {
		return
	}
	r.Keys, r.Memories = max(r.Keys, was.Keys), max(r.Memories, was.Memories)
	r.Common, r.Unfound = max(r.Common, was.Common), max(r.Unfound, was.Unfound)
	for _, n := range was.Names {
		if !slices.Contains(r.Names, n) {
			r.Names = append(r.Names, n)
		}
	}
}

// MaxFacts is how many facts one order may name.
const MaxFacts = 100

// check says why an order is not to be followed. Agents, companions and modules may give
// none, whatever their scopes: a person's words go on a person's word.
func (o Order) check() (admin bool, err error) {
	switch {
	case (o.Who == "") == (len(o.Facts) == 0):
		return false, abi.Field("who", abi.CodeInvalid, "name a person, or facts, and not both")
	case len(o.Facts) > MaxFacts:
		return false, abi.Field("facts", abi.CodeTooLarge, "%d at once, at most %d", len(o.Facts), MaxFacts)
	case len(o.Facts) > 0 && o.Companion == "":
		return false, abi.Field("companion", abi.CodeInvalid, "say whose memory has the facts")
	case slices.ContainsFunc(o.Facts, func(id string) bool { return id == "" || len(id) > abi.MaxName }):
		return false, abi.Field("facts", abi.CodeInvalid, "an id is empty or too long")
	case len(o.Who) > abi.MaxName || strings.TrimSpace(o.Who) != o.Who:
		return false, abi.Field("who", abi.CodeInvalid, "is no name")
	}
	if !o.By.Guest && o.By.Kind != abi.KindHuman {
		return false, abi.Errorf(abi.CodeDenied, "only a person may have words erased: connect with a token of a human")
	}
	if o.By.May(identity.Admin) == nil {
		return true, nil
	}
	if err := o.By.May(identity.Talk); err != nil {
		return false, err
	}
	if o.By.Guest && o.By.Address != identity.Local && o.By.Address != "" {
		return false, abi.Errorf(abi.CodeDenied, "a guest from elsewhere may call himself whatever he likes: connect with a token")
	}
	if o.Copies {
		return false, abi.Field("copies", abi.CodeDenied, "copies of the whole journal are deleted on an admin's word only")
	}
	name, kind, err := o.By.From(o.Claimed, abi.KindHuman)
	switch {
	case err != nil:
		return false, err
	case kind != abi.KindHuman || name == "":
		return false, abi.Field("from", abi.CodeInvalid, "say under which name you speak")
	case o.Who != "" && !address.Same(name, o.Who):
		return false, abi.Field("who", abi.CodeDenied, "you may have erased what you said yourself; of others, an admin may")
	}
	return false, nil
}
