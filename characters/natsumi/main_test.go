package main

import (
	"testing"

	"github.com/companiond/companiond/abi"
	companion "github.com/companiond/companiond/sdk/go"
)

// The program registers a character that votes and speaks.
func TestRegistered(t *testing.T) {
	c, ok := companion.Registered()
	if !ok {
		t.Fatal("no character is registered")
	}
	l := companion.NewLocal(c)
	d, err := l.Describe()
	if err != nil || d.Name != "Natsumi" || len(d.Aliases) == 0 || len(d.Ops) != 3 {
		t.Fatalf("describe: %+v, %v", d, err)
	}
	s := companion.Scene{
		Message: companion.Message{Seq: 1, ID: "m1", From: "taro", Text: "自己紹介をお願いします"},
		Members: []companion.Member{{ID: "natsumi", Name: "Natsumi", Kind: abi.KindCompanion}, {ID: "taro", Kind: abi.KindHuman}},
	}
	l.History = []companion.Message{s.Message}
	if v, err := l.Vote(s); err != nil || v.State != abi.Speak {
		t.Errorf("vote: %+v, %v", v, err)
	}
	if line, err := l.Speak(s); err != nil || line.Text == "" {
		t.Errorf("line: %+v, %v", line, err)
	}
}
