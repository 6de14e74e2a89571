// Package storetest is the suite for stores of characters: RunKV holds an engine to journal.KV, RunStores
// to journal.Stores, and both compare it with a model in memory under random use.
//
// It never knows which engine it tests, and it does not test crashes.
package storetest

import (
	"encoding/json"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/journal"
)

// day is when the suite's entries happen: 2026-11-21 09:00 in Tokyo.
var day = time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)

func message(id, text string) journal.New {
	b, err := json.Marshal(entry.Said{From: "aya", By: abi.KindCompanion, Text: text, Kind: abi.KindTurn})
	if err != nil {
		panic(err) // strings only
	}
	return journal.New{ID: id, Kind: entry.KindSaid, At: day, Body: b}
}

func first[T any](all []T, limit int) []T { return all[:min(len(all), max(limit, 0))] }
