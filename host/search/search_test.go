package search_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/search"
	"github.com/companiond/companiond/host/search/gram"
	"pgregory.net/rapid"
)

func TestSearch(t *testing.T) {
	s := newStage(t)
	s.say("main", "mika", "明日の天気予報を見た", "猫が好き", "Ｌｉｖｅ２Ｄのモデル", "配信は８時から", "天気と猫")
	s.say("cafe", "taro", "天気がいいね", "I like Live2D, too.", "ﾃﾝｷ")
	for _, c := range []struct {
		ask  search.Ask
		want []string
	}{
		{search.Ask{Query: "天気"}, []string{"cafe#2", "main#6", "main#2"}},
		{search.Ask{Query: "天気", Room: "main"}, []string{"main#6", "main#2"}},
		{search.Ask{Query: "天気", Limit: 1}, []string{"cafe#2", "main#6", "main#2"}},
		{search.Ask{Query: "猫"}, []string{"main#6", "main#3"}},
		{search.Ask{Query: "猫 天気"}, []string{"main#6"}},
		{search.Ask{Query: "live2d"}, []string{"cafe#3", "main#4"}},
		{search.Ask{Query: "IVE2"}, []string{"cafe#3", "main#4"}},
		{search.Ask{Query: `"like live"`}, []string{"cafe#3"}},
		{search.Ask{Query: "8時"}, []string{"main#5"}},
		{search.Ask{Query: "テンキ"}, []string{"cafe#4"}},
		{search.Ask{Query: "てんき"}, nil},
		{search.Ask{Query: "天気予報を見た", Room: "main"}, []string{"main#2"}},
		{search.Ask{Query: "予報天気", Room: "main"}, nil},
		{search.Ask{Query: "D, t"}, []string{"cafe#3"}},
		{search.Ask{Query: "2D,"}, []string{"cafe#3"}},
		{search.Ask{Query: "天気", From: "TARO"}, []string{"cafe#2"}},
		{search.Ask{Query: "天気", Room: "main", Before: 6}, []string{"main#2"}},
		{search.Ask{Query: "天気", Room: "main", After: 2}, []string{"main#6"}},
		{search.Ask{Query: "天気", May: func(room string) bool { return room == "cafe" }}, []string{"cafe#2"}},
	} {
		if got := s.find(c.ask); !slices.Equal(got, c.want) {
			t.Errorf("%+v: %q, want %q", c.ask, got, c.want)
		}
	}
	for _, a := range []search.Ask{{}, {Query: "  "}, {Query: "a", Limit: 101}, {Query: "a", After: 1}, {Query: string(make([]byte, 600))}, {Query: "\xff"}} {
		if _, err := s.k.Search(t.Context(), a); abi.CodeOf(err) != abi.CodeInvalid && abi.CodeOf(err) != abi.CodeTooLarge {
			t.Errorf("%+v: %v", a, err)
		}
	}
	var e *abi.Error
	if _, err := s.k.Search(t.Context(), search.Ask{Query: "a", Room: "nowhere"}); !errors.As(err, &e) || e.Code != abi.CodeNotFound || e.Field != "room" {
		t.Error(err)
	}
}

// A hit says which turn it is, as the entry does: of a backchannel the turn before, and none where turns were not numbered yet.
func TestTurnsOfHits(t *testing.T) {
	s := newStage(t)
	s.say("main", "mika", "猫の話")
	for i, said := range []entry.Said{{Turn: 2, Kind: abi.KindTurn}, {Turn: 2, Kind: abi.KindBackchannel}} {
		said.From, said.By, said.Text = "taro", abi.KindHuman, "猫です"
		body, err := json.Marshal(said)
		if err == nil {
			err = s.append("main", journal.New{ID: fmt.Sprint("n", i), Kind: entry.KindSaid, At: s.now.Add(time.Duration(i+1) * time.Second), Body: body})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, room := range []string{"", "main"} {
		out, err := s.k.Search(t.Context(), search.Ask{Query: "猫", Room: room})
		var turns []uint64
		for _, h := range out.Hits {
			turns = append(turns, h.Turn)
		}
		if err != nil || !slices.Equal(turns, []uint64{2, 2, 0}) {
			t.Errorf("%q: %v %v", room, turns, err)
		}
	}
}

// What is found is what a scan finds, whatever was said and is asked, page by page, while more is said and after a restart.
func TestFindsWhatAScanFinds(t *testing.T) {
	letters := []rune("天気予報猫あいアｱﾞabAＡ1１!、 　🐈")
	rapid.Check(t, func(rt *rapid.T) {
		s := newStage(t)
		defer func() { _ = s.k.Close() }()
		word := rapid.StringOfN(rapid.SampledFrom(letters), 1, 6, -1)
		text := rapid.StringOfN(rapid.SampledFrom(letters), 1, 30, -1)
		for range rapid.IntRange(1, 4).Draw(rt, "rounds") {
			for range rapid.IntRange(1, 12).Draw(rt, "messages") {
				s.say(rapid.SampledFrom([]string{"main", "喫茶店", "x"}).Draw(rt, "room"), rapid.SampledFrom([]string{"mika", "taro"}).Draw(rt, "from"), text.Draw(rt, "text"))
			}
			if rapid.Bool().Draw(rt, "restart") {
				s.again()
			}
			for range 4 {
				a := search.Ask{
					Query: word.Draw(rt, "word"), Room: rapid.SampledFrom([]string{"", "main"}).Draw(rt, "where"), From: rapid.SampledFrom([]string{"", "", "mika"}).Draw(rt, "who"),
					Limit: rapid.IntRange(1, 5).Draw(rt, "limit"),
				}
				if _, ok, _ := s.j.Room(t.Context(), "main"); a.Room != "" && !ok {
					continue
				}
				if a.Room != "" {
					a.After, a.Before = rapid.Uint64Range(0, 5).Draw(rt, "after"), rapid.Uint64Range(0, 20).Draw(rt, "before")
				}
				if len(gram.Phrases(a.Query)) == 0 {
					continue
				}
				if got, want := s.find(a), s.scan(a); !slices.Equal(got, want) {
					rt.Fatalf("%+v: found %q, want %q", a, got, want)
				}
			}
		}
	})
}

func FuzzSearch(f *testing.F) {
	f.Add("明日の天気予報は Live2D で!", "天気")
	f.Add("a b", `"a b" c`)
	s := newStage(f)
	f.Fuzz(func(t *testing.T, text, query string) {
		phrases := gram.Phrases(query)
		if !utf8.ValidString(text) || !utf8.ValidString(query) || len(query) > search.MaxQuery || len(phrases) == 0 || len(phrases) > search.MaxWords {
			return
		}
		s.t = t
		s.say("main", "mika", text)
		row, _, err := s.j.Room(t.Context(), "main")
		if err != nil {
			t.Fatal(err)
		}
		folded, want := gram.Fold(text), true
		for _, p := range phrases {
			want = want && strings.Contains(folded, p)
		}
		out, err := s.k.Search(t.Context(), search.Ask{Query: query, Room: "main", After: row.Head.Seq - 1})
		if err != nil || (len(out.Hits) == 1) != want {
			t.Errorf("%q in %q: found %v, want %v, %v", query, text, len(out.Hits), want, err)
		}
	})
}
