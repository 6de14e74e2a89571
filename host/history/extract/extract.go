// Package extract is the compresser without a model: it takes sentences of the turns themselves.
//
// It is pure, and never changes a word of what it takes.
package extract

import (
	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/history"
)

// Draft takes what the policy names, and then what signals say may matter, in its order.
func Draft(turns []abi.PastTurn, policy string, items []abi.KeepItem, length history.Length) (text string, ok bool) {
	return "", false
}
