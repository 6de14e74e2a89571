package scrub

import (
	"slices"
	"testing"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"pgregory.net/rapid"
)

// TestLongerNames: who is called taro2 keeps its name, wherever it stands, and what is said to it, when taro is forgotten.
func TestLongerNames(t *testing.T) {
	for _, c := range []struct{ who, other string }{
		{"taro", "taro2"}, {"taro", "taro-b"}, {"taro", "taro.c"}, {"taro", "Taro3"}, {"taro", "taro_d"}, {"taro", "2taro"}, {"ゆき", "ゆきこ"}, {"kyo", "kyo-ko"}, {"花子", "小花子"},
	} {
		es := []entry.Entry{
			said(1, c.who, "hello"), said(2, c.other, "My favourite food is curry."), said(3, c.other, "I met bob yesterday"),
			made(4, entry.KindSaid, entry.Said{From: "bob", By: abi.KindHuman, Text: "@" + c.other + " good day", Kind: abi.KindTurn, To: []string{c.other}, Addressed: []string{c.other}}),
			made(5, entry.KindSaid, entry.Said{From: "aya", By: abi.KindCompanion, Text: c.other + ", hi", Kind: abi.KindTurn}),
			made(6, entry.KindVote, entry.Voted{Round: 3, Voter: c.other, Vote: abi.Vote{State: abi.Speak, Reason: "was addressed"}}),
			made(7, entry.KindDecision, entry.Decision{Round: 3, Speaker: c.other, Reason: c.other + " was asked", Ranking: []entry.Candidate{{Who: c.other, Standing: "speak", Called: c.other}}}),
			made(8, entry.KindCast, entry.Cast{Joined: []entry.Joined{{ID: c.other, Name: c.other, Kind: abi.KindCompanion}}}),
			made(9, entry.KindUsage, entry.Usage{Who: c.other, Model: "m", Op: "speak", Told: &entry.Told{Names: map[string]string{c.other: c.other}, Parts: map[string]int{}}}),
		}
		w, _ := wordsOf(c.who, es...)
		for _, e := range es[1:] {
			if left, lost := w.Entry(e); lost {
				t.Errorf("%s goes, and of %s's %s there is left %s", c.who, c.other, e.Kind, left)
			}
		}
		if w.Hits("friend:" + c.other) {
			t.Errorf("%s goes, and a key of %s's with it", c.who, c.other)
		}
		then, _ := wordsOf(c.other, es...)
		if left, lost := then.Entry(es[1]); !lost || then.Hits(string(left)) {
			t.Errorf("%s cannot be forgotten any more: %s", c.other, left)
		}
	}
}

// TestNamesInFields: a name is compared whole, and with what people put behind one.
func TestNamesInFields(t *testing.T) {
	w, _ := wordsOf("mika", said(1, "mika", "hello"), said(1, "mika-san", "I am another"))
	e := made(2, entry.KindSaid, entry.Said{From: "bob", By: abi.KindHuman, To: []string{"mika", "ＭＩＫＡ", "mikaさん", "@mika", "mika-chan", "mika-san", "mika-b", "mika2", "tamika"}, Text: "x", Kind: abi.KindTurn})
	left, lost := w.Entry(e)
	got, err := entry.Decode[entry.Said](entry.Entry{Kind: e.Kind, V: e.V, Body: left})
	as := w.As()
	if want := []string{as, as, as, as, as, "mika-san", "mika-b", "mika2", "tamika"}; err != nil || !lost || !slices.Equal(got.To, want) {
		t.Errorf("%v %v", got.To, err)
	}
}

// TestRename: what the house says of somebody else is not touched, and the name goes however it is written.
func TestRename(t *testing.T) {
	w, _ := wordsOf("mika", said(1, "mika", "hello"), said(1, "mika2", "hi"))
	for text, want := range map[string]string{
		"mika, mika2 and tamika": "forgotten-1, mika2 and tamika", "ＭＩＫＡ!": "forgotten-1!", "mi\u200bka's": "forgotten-1's", "ask Mikaさん": "ask forgotten-1さん", "": "", "㍿ mika㍿": "㍿ forgotten-1㍿",
	} {
		if got := w.rename(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestPlainly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringOf(rapid.OneOf(rapid.Rune(), rapid.RuneFrom([]rune("ｍ\u200bかか\u3099㍿e\u0301ΣK\ufe0f")))).Draw(t, "s")
		text, from, to := plainly(s)
		if text != plain(s) || len(from) != len(text) || len(to) != len(text) {
			t.Fatalf("%q: %q, want %q", s, text, plain(s))
		}
		for i := range text {
			if from[i] < 0 || from[i] >= to[i] || to[i] > len(s) || i > 0 && (from[i] < from[i-1] || to[i] < to[i-1]) {
				t.Fatalf("%q: byte %d is of [%d, %d)", s, i, from[i], to[i])
			}
		}
	})
}
