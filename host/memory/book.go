package memory

import (
	"github.com/companiond/companiond/host/memory/fact"
	"github.com/companiond/companiond/host/memory/recall"
)

// book is the memory of one companion while it is used.
type book struct {
	table *fact.Table
	index *recall.Index
}
