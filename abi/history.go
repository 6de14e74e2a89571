package abi

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// Bounds of what OpCompress and OpVerify ask and answer. Whoever asks cuts a longer range
// into parts, and asks about each.
const (
	MaxPast      = 1000     // Compressing.Turns, Verifying.Turns and Verifying.History, each
	MaxPastBytes = 1 << 20  // bytes of such turns, as JSON
	MaxKeep      = 200      // things to be kept
	MaxKeepText  = 1 << 10  // bytes of one of them, and of one thing that was added
	MaxAdded     = 100      // things that were added
	MaxPolicy    = 16 << 10 // bytes
	MaxDigest    = 64 << 10 // bytes of what turns are compressed to
	MaxFeedback  = 32 << 10 // bytes of a verifier's feedback, and of one quotation
)

// A part of a room's history may be told as a shorter text, once that was drafted by one module, or model,
// verified by another, and approved by a person.
type (
	// Compressing is the data of OpCompress. All of it but Length, Unit and Language is words of others.
	Compressing struct {
		Turns    []PastTurn `json:"turns"`              // to be compressed, oldest first
		Policy   string     `json:"policy"`             // of the person who asked for it: what must stay, what is noise
		Length   int        `json:"length"`             // what the text may come to at most
		Unit     string     `json:"unit"`               // of Length: UnitCharacters or UnitTokens
		Language string     `json:"language,omitempty"` // a language tag, "ja"; empty: that of the turns
		Keep     []KeepItem `json:"keep"`               // what has to stay, found in Turns
		Draft    string     `json:"draft,omitempty"`    // the one before, which a verifier refused
		Feedback string     `json:"feedback,omitempty"` // why
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
		// Part and Parts say that Turns and Keep are one part of several, counted from 1; 0: they
		// are all. The draft tells of the other parts too.
		Part  int `json:"part,omitempty"`
		Parts int `json:"parts,omitempty"`
	}
	// Verified answers OpVerify. Whatever is not complete counts as NO.
	Verified struct {
		Items    []VerifiedItem `json:"items"`           // one for each of Keep
		Added    []string       `json:"added,omitempty"` // what the draft says and the original does not
		Verdict  string         `json:"verdict"`         // VerdictYes or VerdictNo
		Feedback string         `json:"feedback,omitempty"`
	}
	// VerifiedItem says what became of one KeepItem.
	VerifiedItem struct {
		ID     string `json:"id"`
		Status string `json:"status"`          // one of the statuses
		Quote  string `json:"quote,omitempty"` // where the draft has it, letter by letter
	}
)

// The values of Compressing.Unit. Tokens are guessed by the letters.
const (
	UnitCharacters = "characters" // code points
	UnitTokens     = "tokens"
)

// The values of Verified.Verdict.
const (
	VerdictYes = "YES"
	VerdictNo  = "NO"
)

// The values of VerifiedItem.Status.
const (
	StatusKept      = "kept"
	StatusChanged   = "changed" // it is there, and says something else
	StatusMissing   = "missing"
	StatusNotNeeded = "not_needed" // the policy calls it noise
	StatusUnclear   = "unclear"    // it cannot be compared, as what is told in another language: a person has to look
)

// Check reports the first field that breaks the rules of what is asked.
func (c Compressing) Check() error {
	switch {
	case c.Length < 1:
		return Field("length", CodeInvalid, "%d: must be 1 or more", c.Length)
	case c.Unit != UnitCharacters && c.Unit != UnitTokens:
		return Field("unit", CodeInvalid, "%q is neither %q nor %q", c.Unit, UnitCharacters, UnitTokens)
	case !isTag(c.Language):
		return Field("language", CodeInvalid, "%.40q is no language tag; write one like ja or en-GB", c.Language)
	}
	return first(checkPast("turns", c.Turns), checkKeep(c.Keep), bounded("policy", c.Policy, MaxPolicy),
		bounded("draft", c.Draft, MaxDigest), bounded("feedback", c.Feedback, MaxFeedback))
}

// Check reports the first field that breaks the rules of what is asked.
func (v Verifying) Check() error {
	if v.Draft == "" {
		return Field("draft", CodeInvalid, "must not be empty")
	}
	if v.Part < 0 || v.Part > v.Parts {
		return Field("part", CodeInvalid, "%d is outside 1..%d", v.Part, v.Parts)
	}
	err := first(checkPast("turns", v.Turns), checkKeep(v.Keep), bounded("policy", v.Policy, MaxPolicy), bounded("draft", v.Draft, MaxDigest))
	if err == nil && len(v.History) > 0 {
		err = checkPast("history", v.History)
	}
	return err
}

// Check reports why a text cannot stand for turns. [Plain] is what is taken of it. How long it may be in the unit that was
// asked for is for whoever asked to see.
func (c Compressed) Check() error { return CheckTextWithin("compressed.text", c.Text, MaxDigest) }

// Check reports the first field that breaks the rules of a verdict. It does not hold the
// verdict to the items: what of them makes it a NO is for whoever asked to decide.
func (v Verified) Check() error {
	switch {
	case v.Verdict != VerdictYes && v.Verdict != VerdictNo:
		return Field("verified.verdict", CodeInvalid, "%.40q is neither %q nor %q", v.Verdict, VerdictYes, VerdictNo)
	case len(v.Items) > MaxKeep:
		return Field("verified.items", CodeTooLarge, "%d, at most %d", len(v.Items), MaxKeep)
	case len(v.Added) > MaxAdded:
		return Field("verified.added", CodeTooLarge, "%d, at most %d", len(v.Added), MaxAdded)
	}
	seen := map[string]bool{}
	for i, item := range v.Items {
		if err := item.check(fmt.Sprintf("verified.items[%d]", i)); err != nil {
			return err
		}
		if seen[item.ID] {
			return Field("verified.items", CodeInvalid, "%s is there twice", item.ID)
		}
		seen[item.ID] = true
	}
	for i, text := range v.Added {
		if err := bounded(fmt.Sprintf("verified.added[%d]", i), text, MaxKeepText); err != nil {
			return err
		}
	}
	return bounded("verified.feedback", v.Feedback, MaxFeedback)
}

func (i VerifiedItem) check(field string) error {
	switch i.Status {
	case StatusKept, StatusChanged, StatusMissing, StatusNotNeeded, StatusUnclear:
	default:
		return Field(field+".status", CodeInvalid, "%.40q is none of %s, %s, %s, %s, %s", i.Status, StatusKept, StatusChanged, StatusMissing, StatusNotNeeded, StatusUnclear)
	}
	return first(checkID(field+".id", i.ID), bounded(field+".quote", i.Quote, MaxFeedback))
}

// Answers reports why a verdict is not about just these things: one for each, in any order.
func (v Verified) Answers(keep []KeepItem) error {
	missing := map[string]bool{}
	for _, k := range keep {
		missing[k.ID] = true
	}
	for _, item := range v.Items {
		if !missing[item.ID] {
			return Field("verified.items", CodeInvalid, "%.40q is there twice, or was not asked about", item.ID)
		}
		delete(missing, item.ID)
	}
	for _, k := range keep {
		if missing[k.ID] {
			return Field("verified.items", CodeInvalid, "%s is not among them", k.ID)
		}
	}
	return nil
}

func checkPast(field string, turns []PastTurn) error {
	switch {
	case len(turns) == 0:
		return Field(field, CodeInvalid, "must not be empty")
	case len(turns) > MaxPast:
		return Field(field, CodeTooLarge, "%d, at most %d (MaxPast)", len(turns), MaxPast)
	}
	bytes := 0
	for i, t := range turns {
		if t.N < 1 || t.Upto > 0 && t.Upto < t.N {
			return Field(fmt.Sprintf("%s[%d].n", field, i), CodeInvalid, "%d to %d are no turns: the first of a room is 1", t.N, t.Upto)
		}
		if !utf8.ValidString(t.Text) || !utf8.ValidString(t.From) {
			return Field(fmt.Sprintf("%s[%d]", field, i), CodeInvalid, "is not UTF-8")
		}
		bytes += t.Bytes()
	}
	if bytes > MaxPastBytes {
		return Field(field, CodeTooLarge, "%d bytes, at most %d (MaxPastBytes)", bytes, MaxPastBytes)
	}
	return nil
}

// Bytes is what a turn comes to as JSON, at most.
func (t PastTurn) Bytes() int {
	const around = len(`{"n":18446744073709551615,"upto":18446744073709551615,"from":"","text":"","at":"2006-01-02T15:04:05.999999999+07:00"},`)
	n := around
	for _, s := range [...]string{t.From, t.Text} {
		n += len(s)
		for i := range len(s) {
			switch c := s[i]; {
			case c == '"' || c == '\\':
				n++
			case c < ' ' || c == '<' || c == '>' || c == '&':
				n += len(`\u0000`) - 1
			}
		}
		n += (strings.Count(s, "\u2028") + strings.Count(s, "\u2029")) * (len(`\u2028`) - len("\u2028"))
	}
	return n
}

func checkKeep(keep []KeepItem) error {
	if len(keep) > MaxKeep {
		return Field("keep", CodeTooLarge, "%d, at most %d (MaxKeep)", len(keep), MaxKeep)
	}
	for i, k := range keep {
		field := fmt.Sprintf("keep[%d]", i)
		if slices.ContainsFunc(keep[:i], func(o KeepItem) bool { return o.ID == k.ID }) {
			return Field(field+".id", CodeInvalid, "%s is there twice", k.ID)
		}
		if err := first(checkID(field+".id", k.ID), bounded(field+".text", k.Text, MaxKeepText)); err != nil {
			return err
		}
	}
	return nil
}

// checkID refuses what cannot name one of the things to be kept.
func checkID(field, s string) error {
	if s == "" {
		return Field(field, CodeInvalid, "must not be empty")
	}
	return bounded(field, s, MaxName)
}

// bounded refuses what is longer, or no text.
func bounded(field, s string, most int) error {
	switch {
	case len(s) > most:
		return Field(field, CodeTooLarge, "%d bytes, at most %d", len(s), most)
	case !utf8.ValidString(s):
		return Field(field, CodeInvalid, "is not UTF-8")
	}
	return nil
}

func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// isTag says whether s is made as language tags are: ja, en-GB, zh-Hant-TW.
func isTag(s string) bool {
	if s == "" {
		return true
	}
	for part := range strings.SplitSeq(s, "-") {
		if len(part) < 1 || len(part) > 8 || strings.ContainsFunc(part, func(r rune) bool {
			return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9')
		}) {
			return false
		}
	}
	return len(s) <= MaxName
}
