package layout_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"path/filepath"
	"testing"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/context/layout"
	"github.com/companiond/companiond/host/context/window"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/journal/sqlite"
	"github.com/companiond/companiond/host/model/tokens"
	"github.com/companiond/companiond/host/room/reader"
)

// BenchmarkBuild is what it costs to put a prompt together in a room with so many messages in
// its journal on the disk: when one more was said, and the first time.
func BenchmarkBuild(b *testing.B) {
	for _, n := range []int{1000, 1_000_000} {
		j, err := sqlite.Open(sqlite.Config{Path: filepath.Join(b.TempDir(), "a.db"), Log: slog.New(slog.DiscardHandler)})
		if err != nil {
			b.Fatal(err)
		}
		all := fill(b, j, n)
		m, meter := persona(b, "aya"), new(tokens.Meter)
		budget := layout.Budget{Context: 8000, Meter: meter}
		human := func(id string) bool { return id == "taro" }
		terms := window.Terms{Budget: m.History(budget), Meter: meter, Line: m.Line(nil), Human: human}
		room := reader.New(j, "main")
		build := func(b *testing.B, w *window.Window) {
			told, err := w.Tell(b.Context(), room.History, terms)
			if err != nil {
				b.Fatal(err)
			}
			s := abi.Scene{Message: all[len(all)-1]}
			m.Build(layout.Parts{Budget: budget, Told: told, Human: human, Tail: m.ForScene(layout.Asked{Scene: s, Now: noon})})
		}
		b.Run(fmt.Sprintf("going-on/%d", n), func(b *testing.B) {
			w := new(window.Window)
			for b.Loop() {
				build(b, w)
			}
		})
		b.Run(fmt.Sprintf("first/%d", n), func(b *testing.B) {
			for b.Loop() {
				build(b, new(window.Window))
			}
		})
		if err := j.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// fill writes a talk into a journal.
func fill(b *testing.B, j journal.Journal, n int) []abi.Message {
	b.Helper()
	all := talk(n)
	h, err := j.Acquire(b.Context(), "main", "bench", noon)
	if err != nil {
		b.Fatal(err)
	}
	const group = 1000
	for len(all) > 0 {
		var news []journal.New
		for i, msg := range all[:min(group, len(all))] {
			body, err := json.Marshal(entry.Said{From: msg.From, By: abi.KindCompanion, Text: msg.Text, Kind: abi.KindTurn})
			if err != nil {
				b.Fatal(err)
			}
			news = append(news, journal.New{ID: fmt.Sprintf("m%d-%d", msg.Seq, i), Kind: entry.KindSaid, At: msg.At, Body: body})
		}
		if h, err = j.Append(b.Context(), "main", h, news...); err != nil {
			b.Fatal(err)
		}
		if len(all) <= group {
			break
		}
		all = all[group:]
	}
	return all
}
