package entry

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Forgotten is the body of KindForgotten: it says that words were erased, and has none of them.
type Forgotten struct {
	Order string `json:"order"` // its id in the ledger of erasures
	// By is who asked for it: "person", "admin", or "ledger" where an older journal was put
	// in place and what had been erased in it was erased again.
	By    string      `json:"by"`
	As    string      `json:"as,omitempty"` // stands where the name stood
	Count int         `json:"count"`        // entries that lost words
	Upto  uint64      `json:"upto"`         // seq of the newest entry that was looked at
	Seqs  [][2]uint64 `json:"seqs,omitempty"`
}

// Has says whether an entry is one of those that lost words, as far as Seqs tells.
func (f Forgotten) Has(seq uint64) bool {
	return slices.ContainsFunc(f.Seqs, func(s [2]uint64) bool { return s[0] <= seq && seq <= s[1] })
}

// CutErased is the [abi.Message.Cut] of a message whose words were erased.
const CutErased = "erased"

// ErasedKey is the field of a body, of whatever kind, which has the id of the order by
// which its words went.
const ErasedKey = "erased"

// ErasedBy gives the id of the order by which an entry lost its words; empty: by none.
func ErasedBy(e Entry) string {
	if !e.Blank || !bytes.Contains(e.Body, []byte(`"`+ErasedKey+`":"`)) {
		return ""
	}
	var body struct {
		Erased string `json:"erased"`
	}
	_ = json.Unmarshal(e.Body, &body)
	return body.Erased
}

// Spans puts ascending seqs together: 4, 5, 6 and 9 are {4, 6} and {9, 9}. Of more than most spans
// those that lie nearest are made one.
func Spans(seqs []uint64, most int) (spans [][2]uint64) {
	for _, s := range seqs {
		if n := len(spans); n > 0 && spans[n-1][1]+1 == s {
			spans[n-1][1] = s
			continue
		}
		spans = append(spans, [2]uint64{s, s})
	}
	for gap := uint64(2); len(spans) > most; gap *= 2 {
		near := spans[:1]
		for _, s := range spans[1:] {
			if last := &near[len(near)-1]; s[0]-last[1] <= gap {
				last[1] = s[1]
			} else {
				near = append(near, s)
			}
		}
		spans = slices.Clip(near)
	}
	return spans
}

// ShowRuns puts ascending seqs into words, exactly, the first runs of them: "4-6, 9, and 17 more".
func ShowRuns(seqs []uint64, most int) string {
	var words []string
	rest := len(seqs)
	runs := Spans(seqs, len(seqs))
	for _, s := range runs[:min(most, len(runs))] {
		word := fmt.Sprint(s[0])
		if s[0] != s[1] {
			word = fmt.Sprintf("%d-%d", s[0], s[1])
		}
		words = append(words, word)
		rest -= int(s[1] - s[0] + 1)
	}
	if rest > 0 {
		words = append(words, fmt.Sprintf("and %d more", rest))
	}
	return strings.Join(words, ", ")
}
