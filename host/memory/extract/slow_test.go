package extract_test

import (
	"strings"
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
)

// TestLongTurns: no text of the greatest length keeps the rules busy for long, whatever it is of.
func TestLongTurns(t *testing.T) {
	for _, part := range []string{"、", "猫、", "私は", "a, ", "I, ", "my and I ", "猫の名前は", "「", "not ", "じゃなくて", "。", "a. ", "明日", "monday ", "覚えておいて、", "名前はタマです。", "I like cats. ", "1/2 ", "あ", "x"} {
		text := strings.Repeat(part, abi.MaxText/len(part))
		from := time.Now()
		n := len(said(text))
		if took := time.Since(from); took > 10*time.Second { // a hundred times what it takes
			t.Errorf("%q: %v", part, took)
		}
		t.Logf("%8.1f ms %q: %d", float64(time.Since(from).Microseconds())/1000, part, n)
	}
}
