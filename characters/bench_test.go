//go:build !race

package characters_test

import (
	"testing"

	"github.com/companiond/companiond/abi"
	companion "github.com/companiond/companiond/sdk/go"
	"github.com/companiond/companiond/sdk/go/talk"
)

// BenchmarkVote is a vote through the border's JSON.
func BenchmarkVote(b *testing.B) {
	c, err := talk.New(script(b, "aya"))
	if err != nil {
		b.Fatal(err)
	}
	l := companion.NewLocal(c)
	texts := []string{"P2Pって何が面白いの？", "全員が店員！？レジ大混雑じゃん！", "アヤさん、P2Pで最初の相手はどうやって見つけるんでしょうか？"}
	s := companion.Scene{MaxTurns: 24, Members: []companion.Member{{ID: "aya", Kind: abi.KindCompanion}, {ID: "kyoko", Name: "Kyoko", Kind: abi.KindCompanion}, {ID: human, Kind: abi.KindHuman}}}
	for i := 0; b.Loop(); i++ {
		s.Message = companion.Message{Seq: uint64(i + 1), ID: "m", From: []string{human, "kyoko", "kyoko"}[i%3], Text: texts[i%3]}
		s.Turns = i % 3
		if _, err := l.Vote(s); err != nil {
			b.Fatal(err)
		}
	}
}
