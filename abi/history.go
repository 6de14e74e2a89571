package abi

import "time"

// A part of a room's history may be told as a shorter text, once that was drafted by one module, or model,
// verified by another, and approved by a person.
type (
	// Compressing is the data of OpCompress. All of it but Length, Unit and Language is words of others.
	Compressing struct {
		Turns    []PastTurn `json:"turns"`  // to be compressed, oldest first
		Policy   string     `json:"policy"` // of the person who asked for it: what must stay, what is noise
		Length   int        `json:"length"` // what the text may come to at most
		Unit     string     `json:"unit"`   // of Length: "characters" or "tokens"
		Language string     `json:"language,omitempty"`
		Keep     []KeepItem `json:"keep"`            // what has to stay, found in Turns
		Draft    string     `json:"draft,omitempty"` // the one before, which a verifier refused
		Feedback string     `json:"feedback,omitempty"`
	}
	// PastTurn is a turn of a room's history, or what several are told as.
	PastTurn struct {
		N    uint64    `json:"n"`              // its number, from 1; of several the first
		Upto uint64    `json:"upto,omitempty"` // the last, where it stands for several
		From string    `json:"from,omitempty"`
		Text string    `json:"text"`
		At   time.Time `json:"at,omitzero"`
	}
	// KeepItem is something that has to be in what a range of turns is compressed to.
	KeepItem struct {
		ID     string `json:"id"` // M1, M2, ...
		Text   string `json:"text"`
		Turn   uint64 `json:"turn"`             // where it stands
		Policy bool   `json:"policy,omitempty"` // the policy names it
	}
	// Compressed answers OpCompress.
	Compressed struct {
		Text string `json:"text"`
	}

	// Verifying is the data of OpVerify.
	Verifying struct {
		Turns   []PastTurn `json:"turns"`   // the original
		History []PastTurn `json:"history"` // as it would be told: the turns around it, and the draft in its place
		Policy  string     `json:"policy"`
		Keep    []KeepItem `json:"keep"`
		Draft   string     `json:"draft"`
	}
	// Verified answers OpVerify. Whatever is not complete counts as NO.
	Verified struct {
		Items    []VerifiedItem `json:"items"`           // one for each of Keep
		Added    []string       `json:"added,omitempty"` // what the draft says and the original does not
		Verdict  string         `json:"verdict"`         // "YES" or "NO"
		Feedback string         `json:"feedback,omitempty"`
	}
	// VerifiedItem says what became of one KeepItem.
	VerifiedItem struct {
		ID     string `json:"id"`
		Status string `json:"status"`          // "kept", "changed", "missing" or "not_needed"
		Quote  string `json:"quote,omitempty"` // where the draft has it, letter by letter
	}
)
