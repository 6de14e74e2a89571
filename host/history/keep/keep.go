// Package keep finds, without a model, what of some turns has to be in what they are compressed to,
// whether a draft has it, and what left with the original.
//
// It is pure, and never says that a draft is good: only that nothing it knows of is missing.
package keep

import (
	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/history"
)

// Items gives what has to stay of some turns: M1, M2, ...
func Items(turns []abi.PastTurn, policy string) []abi.KeepItem { return nil }

// Losses gives what left with the original and may matter.
func Losses(turns []abi.PastTurn, draft string) []history.Loss { return nil }

// Judge makes a verdict of a verifier's answer.
func Judge(items []abi.KeepItem, draft string, length history.Length, v abi.Verified) (verdict history.Verdict, findings []history.Finding, feedback string) {
	return history.No, nil, ""
}

// Verify is the verifier without a model.
func Verify(turns []abi.PastTurn, items []abi.KeepItem, draft string) abi.Verified {
	return abi.Verified{}
}
