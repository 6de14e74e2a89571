package session_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/door/socket/session"
	"github.com/companiond/companiond/host/emotion"
	"github.com/companiond/companiond/host/entry"
)

// journal is what a session of aya's is told of.
type journal struct {
	*testing.T
	*session.Session
	seq uint64
}

func newJournal(t *testing.T) *journal {
	return &journal{T: t, Session: &session.Session{Companion: "aya", Speaks: func(string) bool { return true }}}
}

// tells gives the event of the next entry.
func (j *journal) tells(kind entry.Kind, body any) session.Out {
	j.Helper()
	j.seq++
	raw, err := json.Marshal(body)
	if err != nil {
		j.Fatal(err)
	}
	o, err := j.Event(entry.Entry{Seq: j.seq, At: time.UnixMilli(int64(j.seq)), Kind: kind, ID: "id", Body: raw})
	if err != nil {
		j.Fatal(err)
	}
	return o
}

func (j *journal) at() session.Entry {
	return session.Entry{Seq: j.seq, At: time.UnixMilli(int64(j.seq)), Companion: "aya"}
}

// The table says which event is made of which entry, for aya.
func TestEvents(t *testing.T) {
	j := newJournal(t)
	how := json.RawMessage(`{"message":"Hi.","emotion":"joy"}`)
	human := entry.Said{From: "taro", By: abi.KindHuman, Text: "aya?", Kind: abi.KindTurn}
	chat, nod := human, human
	chat.Source, nod.Kind = entry.SourceChat, abi.KindBackchannel
	called := chat
	called.Addressed = []string{"aya"}
	line := entry.Said{From: "aya", By: abi.KindCompanion, Text: "Hi.", Kind: abi.KindTurn, Grant: "g", Played: true, Parameters: how}
	pieces := line
	pieces.Segments, pieces.Broken, pieces.Played = 2, "stopped", false
	for _, c := range []struct {
		kind entry.Kind
		body any
		want func() session.Out
	}{
		{entry.KindAction, entry.Action{ID: "a", Who: "aya", Action: "move", Parameters: how, Perception: "vision"}, func() session.Out {
			return session.Action{Entry: j.at(), ID: "a", Action: "move", Parameters: how, Perception: "vision"}
		}},
		{entry.KindAction, entry.Action{ID: "a", Who: "kyoko"}, nil},
		{entry.KindSegment, entry.Segment{Grant: "g", Who: "aya", N: 2, Text: "Hi."}, func() session.Out {
			return session.Piece{Entry: j.at(), ID: "id", Line: "g", Part: 2, Text: "Hi.", Emotion: emotion.Neutral}
		}},
		{entry.KindSegment, entry.Segment{Grant: "g", Who: "kyoko"}, nil},
		{entry.KindSegment, entry.Segment{Grant: "f", Who: "aya", N: 1, Text: "Oh.", Emotion: "sad"}, func() session.Out {
			return session.Piece{Entry: j.at(), ID: "id", Line: "f", Part: 1, Text: "Oh.", Emotion: emotion.Sad}
		}},
		{entry.KindSegment, entry.Segment{Grant: "f", Who: "aya", N: 2, Text: "No."}, func() session.Out { // as before
			return session.Piece{Entry: j.at(), ID: "id", Line: "f", Part: 2, Text: "No.", Emotion: emotion.Sad}
		}},
		{entry.KindSaid, entry.Said{From: "aya", By: abi.KindCompanion, Text: "Oh.", Kind: abi.KindTurn, Grant: "e", Played: true, Emotion: "angry"}, func() session.Out {
			return session.Piece{Entry: j.at(), ID: "id", Line: "e", Part: 1, Last: true, Text: "Oh.", Emotion: emotion.Angry}
		}},
		{entry.KindSaid, line, func() session.Out {
			return session.Piece{Entry: j.at(), ID: "id", Line: "g", Part: 1, Last: true, Text: "Hi.", Parameters: how, Emotion: emotion.Happy}
		}},
		{entry.KindSaid, pieces, func() session.Out {
			return session.Whole{Entry: j.at(), ID: "id", Text: "Hi.", Line: "g", Parts: 2, End: entry.EndFailed, Reason: "stopped", Broken: true, Parameters: how, Emotion: emotion.Happy}
		}},
		{entry.KindHeard, entry.Heard{Line: "g", Who: "aya", End: entry.EndCut, Why: "taro", Text: "H"}, func() session.Out {
			return session.Ended{Entry: j.at(), Line: "g", End: entry.EndCut, Reason: "taro", Heard: "H"}
		}},
		{entry.KindHeard, entry.Heard{Line: "h", Who: "kyoko"}, nil},
		{entry.KindSaid, human, func() session.Out {
			return session.Said{Entry: j.at(), ID: "id", From: "taro", By: abi.KindHuman, Text: "aya?", Over: true}
		}},
		{entry.KindSaid, chat, func() session.Out {
			return session.Said{Entry: j.at(), ID: "id", From: "taro", By: abi.KindHuman, Text: "aya?"}
		}},
		{entry.KindSaid, called, func() session.Out {
			return session.Said{Entry: j.at(), ID: "id", From: "taro", By: abi.KindHuman, Text: "aya?", Over: true}
		}},
		{entry.KindSaid, nod, func() session.Out {
			return session.Said{Entry: j.at(), ID: "id", From: "taro", By: abi.KindHuman, Text: "aya?"}
		}},
		{entry.KindStop, entry.Stop{From: "taro"}, func() session.Out {
			return session.Passed{Entry: j.at(), Upto: j.seq, Reason: "taro said STOP", Stop: true}
		}},
		{entry.KindArchived, entry.Archived{By: "taro"}, func() session.Out {
			return session.Passed{Entry: j.at(), Upto: j.seq, Reason: "the room was closed", Stop: true}
		}},
		{entry.KindSpeaking, entry.Speaking{From: "taro", On: true}, func() session.Out {
			return session.Voice{Entry: j.at(), From: "taro", On: true}
		}},
		{entry.KindCast, entry.Cast{}, nil},
	} {
		got, want := j.tells(c.kind, c.body), session.Out(nil)
		if c.want != nil {
			want = c.want()
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s %+v:\n got %+v\nwant %+v", c.kind, c.body, got, want)
		}
	}
}

// What a line answers is found in the rounds and requests before it; what gets no answer is told.
func TestWhatALineAnswers(t *testing.T) {
	j := newJournal(t)
	ask := func() uint64 {
		j.tells(entry.KindSaid, entry.Said{From: "taro", By: abi.KindHuman, Text: "?", Kind: abi.KindTurn})
		return j.seq
	}
	decides := func(about uint64, outcome entry.Outcome, token string) session.Out {
		j.tells(entry.KindRound, entry.Round{About: about})
		d := entry.Decision{Round: j.seq, Outcome: outcome, Reason: "so"}
		if token != "" {
			d.Grant = &abi.Grant{Token: token}
		}
		return j.tells(entry.KindDecision, d)
	}
	says := func(who, token string) session.Out {
		return j.tells(entry.KindSaid, entry.Said{From: who, By: abi.KindCompanion, Text: "x", Kind: abi.KindTurn, Grant: token})
	}
	first := ask()
	decides(first, entry.OutcomeGrant, "g1")
	if p := says("aya", "g1").(session.Piece); p.Answers != "id" {
		t.Errorf("%+v", p)
	}
	if p := says("aya", "").(session.Piece); p.Answers != "" {
		t.Errorf("%+v", p)
	}
	decides(first, entry.OutcomeGrant, "g2")
	if p, ok := says("kyoko", "g2").(session.Passed); !ok || p.Upto != first || p.Stop {
		t.Errorf("%+v", p)
	}
	j.tells(entry.KindWish, entry.Wish{Who: "aya", Answers: first})
	j.tells(entry.KindDecision, entry.Decision{Wish: j.seq, Outcome: entry.OutcomeGrant, Grant: &abi.Grant{Token: "g3"}})
	if p := j.tells(entry.KindSegment, entry.Segment{Grant: "g3", Who: "aya", N: 1, Text: "late"}).(session.Piece); p.Answers != "id" {
		t.Errorf("%+v", p)
	}
	for outcome, passed := range map[entry.Outcome]bool{
		entry.OutcomeSilence: true, entry.OutcomeClosed: true, entry.OutcomeCapped: true, entry.OutcomeStopped: true,
		entry.OutcomeSuperseded: false, entry.OutcomeAbsent: false, entry.OutcomeWaits: false,
	} {
		about := ask()
		p, ok := decides(about, outcome, "").(session.Passed)
		if ok != passed || ok && (p.Upto != about || p.Reason != "so") {
			t.Errorf("%s: %+v", outcome, p)
		}
	}
	for range 1000 { // and no more of them are kept than is of use
		decides(ask(), entry.OutcomeGrant, strings.Repeat("g", int(j.seq)))
	}
}
