package scrub

import (
	"testing"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
)

// TestValues: what a companion says again of who somebody is goes, in whatever form it is written; what is a piece of another word stays.
func TestValues(t *testing.T) {
	for said1, lines := range map[string]map[string]bool{ // whether it goes
		"メイ、私の名前は桃恵です。":           {"桃恵、はじめまして。いい名前だね、桃恵。": true, "桃を食べた": false},
		"猫の名前はもなかです。":             {"もなかは元気？": true, "あの猫のもなか、見たい": true, "モナカちゃん": true, "なんともなかった": false, "こともなかなか": false, "うちのもなかもかわいい": true},
		"メイ、僕の職場は鳴門水族館。":          {"鳴門水族館って、いいね": true, "水族館に行く": false},
		"電話は080-1234-5678です。":     {"電話番号は08012345678だね。": true, "080 1234 5678": true, "+81 80-1234-5678": true, "(080)1234-5678": true, "08012345679": false, "2026-11-23 10:00": false},
		"メール: momoe.t@example.jp": {"momoe.t＠example.jp にメールするね。": true, "MOMOE.T@EXAMPLE.JP": true, "peach@example.jp": false},
		"病院は渋谷のあおぞら心療内科に通ってる":     {"心療内科に通ってるんだね": true, "内科": false},
		"my name is bartholomew":  {"Hi Bartholomew!": true, "bart": false},
		"we live in ottersby now": {"ottersby, hm": true},
		"会社は東京です":                 {"東京は広い": false},
	} {
		w, _ := wordsOf("momo", said(1, "momo", said1))
		for text, goes := range lines {
			if w.Hits(text) != goes {
				t.Errorf("%q: of %q goes: %v", said1, text, !goes)
			}
			line := made(2, entry.KindSaid, entry.Said{From: "mei", By: abi.KindCompanion, Text: text, Kind: abi.KindTurn})
			if _, lost := w.Entry(line); lost != goes {
				t.Errorf("%q: a companion's %q goes: %v", said1, text, lost)
			}
		}
	}
	w, _ := wordsOf("momo", said(1, "momo", "猫の名前はもなか、職場は鳴門水族館"))
	if w.HitsOf("bob", "もなかを食べた") || w.HitsOf("bob", "鳴門水族館はいい") {
		t.Error("another person's words go for a value")
	}
}

// TestRememberedValues: what was remembered in few letters is looked for, too.
func TestRememberedValues(t *testing.T) {
	g := NewGatherer(is("momo"), nil)
	for _, v := range []string{"キッパー", "zither", "29", "2026-12-03", "好き", ""} {
		g.Value(v, at.UnixMilli())
	}
	w, _ := g.Words("o1", "x")
	for text, goes := range map[string]bool{"きっぱーは元気": true, "キッパー!": true, "a Zither is loud": true, "29": false, "2026-12-03": false, "好き": false} {
		if w.Hits(text) != goes {
			t.Errorf("%q goes: %v", text, !goes)
		}
	}
}
