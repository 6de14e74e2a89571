package talk

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/companiond/companiond/abi"
	companion "github.com/companiond/companiond/sdk/go"
)

const nodding = `name: Momo
[*]
nod: なるほど
nod: うんうん
nod: とても長い相槌なので入りません
react: 「{quote}」だって！
[cat]
tell: 猫は液体なんだよ。
tell: 猫は夜になると町じゅうの屋根の上で会議をして、次の日に誰がどの塀で昼寝をするかを決めているんだって。だから邪魔をしちゃだめ。
`

func momo(t *testing.T) *companion.Local {
	t.Helper()
	c, err := New(nodding)
	if err != nil {
		t.Fatal(err)
	}
	return companion.NewLocal(c)
}

func budget(level float64, chars int) *abi.Budget {
	return &abi.Budget{Level: level, Size: 100, Chars: chars, Prices: abi.DefaultPool().Prices}
}

func scene(seq int, b *abi.Budget) companion.Scene {
	return companion.Scene{
		Message: companion.Message{Seq: uint64(seq), ID: fmt.Sprint("m", seq), From: "aya", Text: fmt.Sprintf("猫の話をしよう。その%d。", seq), Kind: abi.KindTurn},
		Members: []companion.Member{{ID: "aya", Kind: abi.KindCompanion}, {ID: "local", Kind: abi.KindCompanion}}, Budget: b,
	}
}

// Nods are for rooms with a pool, short enough for it, now and then, and never
// the same twice in a row.
func TestNods(t *testing.T) {
	l := momo(t)
	nods, last := 0, ""
	for i := range 60 {
		v, err := l.Vote(scene(i+1, budget(100, 100)))
		if err != nil {
			t.Fatal(err)
		}
		if v.Backchannel == "" {
			continue
		}
		if nods++; v.Backchannel == last || utf8.RuneCountInString(v.Backchannel) > 10 {
			t.Errorf("%q after %q", v.Backchannel, last)
		}
		last = v.Backchannel
	}
	if nods < 8 || nods > 40 {
		t.Errorf("%d nods in 60 turns", nods)
	}
	for _, b := range []*abi.Budget{nil, budget(4, 0)} {
		for i := range 20 {
			if v, _ := l.Vote(scene(100+i, b)); v.Backchannel != "" {
				t.Errorf("a nod that nothing pays for: %+v", b)
			}
		}
	}
}

// A line is as short as the pool pays for, and where none is, the floor goes on.
func TestLinesFitThePool(t *testing.T) {
	for i := range 20 {
		line, err := momo(t).Speak(scene(i+1, budget(60, 20)))
		if err != nil || utf8.RuneCountInString(line.Text) > 20 {
			t.Errorf("%q %v", line.Text, err)
		}
	}
	line, err := momo(t).Speak(scene(1, budget(5, 3)))
	if err != nil || line.Text != "" || !strings.Contains(line.Pass, "in 3 characters") {
		t.Errorf("%+v %v", line, err)
	}
	if line, err := momo(t).Speak(scene(1, &abi.Budget{Level: 5, Chars: -1, Prices: abi.DefaultPool().Prices})); err != nil || line.Text == "" {
		t.Errorf("with free pricing: %+v %v", line, err)
	}
}

// A backchannel of somebody else is nothing to answer.
func TestNodsAreNotAnswered(t *testing.T) {
	l := momo(t)
	s := scene(1, nil)
	s.Recent = []companion.Message{s.Message, {Seq: 2, ID: "n", From: "kyoko", Text: "ラーメン！", Kind: abi.KindBackchannel}}
	line, err := l.Speak(s)
	if err != nil || strings.Contains(line.Text, "ラーメン") {
		t.Errorf("%+v %v", line, err)
	}
}
