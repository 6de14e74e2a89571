package senses

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/card"
	"github.com/companiond/companiond/host/identity"
	"github.com/companiond/companiond/host/perception"
	"github.com/companiond/companiond/host/rooms"
)

// listening is a room in which people say things.
type listening struct {
	rooms.Room
	said []rooms.Utterance
}

func (l *listening) Say(_ context.Context, u rooms.Utterance) (abi.Message, error) {
	l.said = append(l.said, u)
	return abi.Message{Seq: 7}, nil
}

func (l *listening) Kept(context.Context, string) ([]abi.Percept, error) { return nil, nil }

// TestNobodyTakesAName: what a handler has a person say is said as a guest's, and a guest has no name of a token's holder.
func TestNobodyTakesAName(t *testing.T) {
	c, err := card.Parse("aya.json", []byte(`{"name":"Aya","description":"","actions":[],"perceptions":[{"title":"input","description":"what people say","type":"object"}],"events":[]}`))
	if err != nil {
		t.Fatal(err)
	}
	tokens, err := identity.Parse("tokens", []byte("mika human talk sha256:"+identity.Hash("u")))
	if err != nil {
		t.Fatal(err)
	}
	room := new(listening)
	s := &Senses{
		Card: func(string) (*card.Card, error) { return c, nil },
		Home: func(context.Context, string) (rooms.Room, error) { return room, nil }, Tokens: tokens,
	}
	s.Queues(perception.Config{NewID: func() string { return "1" }})
	emit := func(from string) (uint64, error) {
		return s.Perceive(t.Context(), "aya", abi.Percept{Title: "input", Format: card.FormatText, Body: json.RawMessage(`"I am it"`), From: from})
	}
	if seq, err := emit("mika"); abi.CodeOf(err) != abi.CodeDenied || len(room.said) > 0 {
		t.Errorf("%d, %v, %+v", seq, err, room.said)
	}
	if seq, err := emit("ann"); err != nil || seq != 7 || len(room.said) != 1 || room.said[0].From != "ann" || room.said[0].By != abi.KindHuman {
		t.Errorf("%d, %v, %+v", seq, err, room.said)
	}
}
