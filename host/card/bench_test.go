package card_test

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/card"
)

// The price that a room pays for each action and each perception, and for reading a card again.
func BenchmarkPermit(b *testing.B) {
	c := load(b, nikoniFile)
	for name, ask := range map[string]abi.ActionAsk{
		"move":    {Action: "move", Parameters: json.RawMessage(`{"x": 1, "y": 2.5, "z": 3}`), Perception: "input"},
		"speak":   {Action: "speak", Parameters: json.RawMessage(`{"message": "こんにちは。今日は何をしていましたか。"}`)},
		"refused": {Action: "move", Parameters: json.RawMessage(`{"x": "1", "y": 2.5}`)},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := c.Permit(ask); (err != nil) != (name == "refused") {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkCheck(b *testing.B) {
	nikoni, mine := load(b, nikoniFile), load(b, "testdata/everything.json")
	for name, c := range map[string]struct {
		card *card.Card
		p    card.Percept
	}{
		"text":   {nikoni, card.Percept{Title: "input", Format: "text", Body: json.RawMessage(`"こんにちは"`)}},
		"object": {mine, card.Percept{Title: "sensor", Format: "object", Body: json.RawMessage(`{"temperature": 20, "near": ["aya", "taro"]}`)}},
		"image":  {nikoni, card.Percept{Title: "vision", Format: "image", Image: png}},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := c.card.Check(c.p); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkParse(b *testing.B) {
	data, err := os.ReadFile(nikoniFile)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := card.Parse("f", data); err != nil {
			b.Fatal(err)
		}
	}
}
