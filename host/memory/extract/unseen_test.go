package extract_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/memory/extract"
	"github.com/companiond/companiond/host/memory/fact"
	"github.com/companiond/companiond/host/memory/wording"
)

// 2026-11-23 is a Monday.
var monday = time.Date(2026, 11, 23, 20, 0, 0, 0, time.FixedZone("JST", 9*3600))

func said(text string) []fact.New {
	return extract.Facts([]fact.Turn{{Room: "main", Seq: 7, From: "ken", By: abi.KindHuman, At: monday, Text: text}}, nil)
}

// TestUnseen holds the rules to sentences that they were not made with.
func TestUnseen(t *testing.T) {
	raw, err := os.ReadFile("testdata/unseen.txt")
	if err != nil {
		t.Fatal(err)
	}
	facts, hit, decoys, wrong := 0, 0, 0, 0
	for line := range strings.Lines(string(raw)) {
		line = strings.TrimSpace(line)
		if text, ok := strings.CutPrefix(line, "- "); ok {
			decoys++
			for _, n := range said(text) {
				wrong++
				t.Logf("not so: %q of %q", n.Text, text)
			}
			continue
		}
		want, text, ok := strings.Cut(strings.TrimPrefix(line, "+ "), " | ")
		if !ok || line[0] == '#' {
			continue
		}
		facts++
		slot, value, _ := strings.Cut(want, " ")
		found := false
		for _, n := range said(text) {
			is := (slot == "-" || strings.HasPrefix(n.Slot, slot)) && strings.Contains(wording.Fold(n.Text+" "+strings.Join(n.Keys, " ")), wording.Fold(value))
			found = found || is
		}
		if found {
			hit++
		} else {
			t.Logf("missed: %s: %v", line, said(text))
		}
	}
	if hit < 48 || wrong > 0 {
		t.Errorf("%d facts found, %d wrong", hit, wrong)
	}
	t.Logf("%d of %d facts, %d found in %d sentences that have none", hit, facts, wrong, decoys)
}
