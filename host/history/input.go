package history

import "github.com/companiond/companiond/abi"

// Input is something that happened to the history of a room: the body of entries of
// kind "history".
type Input struct {
	Kind     Kind   `json:"kind"`
	Proposal string `json:"proposal"`     // its id
	By       string `json:"by,omitempty"` // who did it
	// Turn is how many turns there were then; entries of before do not say it.
	Turn uint64 `json:"turn,omitempty"`
	// Ask comes with Propose, Draft with Drafted; with Propose and Hand it is one from outside, of which nobody has said
	// anything yet: N, Text and By.
	Ask   *Ask   `json:"ask,omitempty"`
	Draft *Draft `json:"draft,omitempty"`
	Why   string `json:"why,omitempty"` // of Deny, Fail and Revert
}

// Kind says what happened.
type Kind string

// The kinds.
const (
	Propose Kind = "propose" // somebody wants a range compressed
	Hand    Kind = "hand"    // somebody outside hands in a further draft, which is to be verified
	Drafted Kind = "draft"   // a draft was made and verified
	Fail    Kind = "fail"    // no draft could be made, or none verified
	Approve Kind = "approve" // a human wants it told so from now on
	Deny    Kind = "deny"    // a human does not
	Revert  Kind = "revert"  // what was laid over the range is taken off
)

// Ask is what is to be compressed, and how.
type Ask struct {
	Turns Range     `json:"turns"`
	Seqs  [2]uint64 `json:"seqs"` // of the first and the last entry of these turns
	// Sum is the hash of what the range says, as it was told when this was asked for.
	Sum    string `json:"sum"`
	Head   uint64 `json:"head"` // seq of the newest entry then
	Policy string `json:"policy,omitempty"`
	// Length is what the draft may come to at most.
	Length Length `json:"length"`
	// Compresser and Verifier are the ids of companions, "model" or "extract".
	Compresser string `json:"compresser"`
	Verifier   string `json:"verifier"`
	// Auto says that the configuration, which asked for it, approves what is verified.
	Auto bool `json:"auto,omitempty"`
	// Look says that a person has to look for all that: a person took off before what lay over some of the turns, or the draft
	// that was verified has a [Draft.Look].
	Look bool `json:"look,omitempty"`
}

// Length is how long a text is.
type Length struct {
	N    int  `json:"n"`
	Unit Unit `json:"unit"`
}

// Unit is what a length is counted in.
type Unit string

// The units. Tokens are guessed by the letters.
const (
	Characters Unit = "characters"
	Tokens     Unit = "tokens"
)

// Check says why it is no length.
func (l Length) Check() error {
	switch {
	case l.N < 1:
		return abi.Field("target_length", abi.CodeInvalid, "%d: must be 1 or more", l.N)
	case l.Unit != Characters && l.Unit != Tokens:
		return abi.Field("unit", abi.CodeInvalid, "%q is none: write characters or tokens", l.Unit)
	}
	return nil
}

// Draft is what a range is to be told as, and what a verifier says of it.
type Draft struct {
	N          int       `json:"n"` // from 1
	Text       string    `json:"text"`
	By         string    `json:"by"` // the compresser
	VerifiedBy string    `json:"verified_by"`
	Verdict    Verdict   `json:"verdict"`
	Feedback   string    `json:"feedback,omitempty"`
	Findings   []Finding `json:"findings,omitempty"`
	// Lost is what left with the original and may matter, found without a model.
	Lost []Loss `json:"lost,omitempty"`
	// Look says that something which the policy names is Unclear, or that it names nothing of what the configuration asked for: a person has
	// to look, whatever was approved in advance. It stays where the findings go.
	Look bool `json:"look,omitempty"`
}

// Verdict is a verifier's word. Whatever is not Yes is No.
type Verdict string

// The verdicts.
const (
	Yes Verdict = "YES"
	No  Verdict = "NO"
)

// Finding is what became of one thing that had to stay.
type Finding struct {
	ID     string `json:"id"` // M1, M2, ...
	Item   string `json:"item"`
	Turn   uint64 `json:"turn,omitempty"` // where it stands in the original
	Status Status `json:"status"`
	Quote  string `json:"quote,omitempty"` // of the draft
	// Policy says that the policy names it: it has to be kept.
	Policy bool `json:"policy,omitempty"`
}

// Status is what became of it.
type Status string

// The statuses.
const (
	Kept      Status = "kept"
	Changed   Status = "changed"
	Missing   Status = "missing"
	NotNeeded Status = "not_needed"
	// Unclear is what cannot be compared, as where a draft tells in another language what was said.
	Unclear Status = "unclear"
)

// Loss is something of the original that the draft does not have, or has otherwise.
type Loss struct {
	Kind string `json:"kind"` // number, date, name, negation, promise, question, added
	Item string `json:"item"`
	Turn uint64 `json:"turn,omitempty"`
}
