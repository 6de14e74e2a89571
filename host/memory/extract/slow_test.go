package extract_test

import (
	"strings"
	"testing"

	"github.com/companiond/companiond/abi"
)

// TestLongTurns: sentences that nobody speaks in, and more of them than anybody speaks in, are
// not read, for the rules would take long over them.
func TestLongTurns(t *testing.T) {
	if got := said("名前はタマです。" + strings.Repeat("うん。", 40)); len(got) != 1 {
		t.Errorf("%v", got)
	}
	if got := said(strings.Repeat("うん。", 80) + "名前はタマです。"); len(got) != 0 {
		t.Errorf("%v", got)
	}
	if got := said(strings.Repeat("えっと、", 60) + "名前はタマです。"); len(got) != 0 {
		t.Errorf("%v", got)
	}
}

// BenchmarkLongest reads the longest turns, of what the rules have the most to do with.
func BenchmarkLongest(b *testing.B) {
	for _, part := range []string{"、", "猫、", "I, ", "my and I ", "not ", "I like cats. ", "1/2 ", "x"} {
		text := strings.Repeat(part, abi.MaxText/len(part))
		b.Run(part, func(b *testing.B) {
			for b.Loop() {
				said(text)
			}
		})
	}
}
