package extract_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/memory/extract"
	"github.com/companiond/companiond/host/memory/fact"
)

// What was so until now is closed, in a table: nothing of what is gone is still so.
func TestNoLongerSo(t *testing.T) {
	for _, c := range []struct{ before, now, still, gone string }{
		{"ken: 札幌に住んでいます。", "ken: 実は札幌から大阪に引っ越しました。今は大阪に住んでいます。", "大阪に住んでいる", "札幌に住んでいる"},
		{"ken: 札幌に住んでいます。", "ken: 実は札幌から大阪に引っ越しました。", "大阪に住んでいる", "札幌"},
		{"ken: 札幌に住んでいます。", "ken: もう札幌には住んでいません。", "もう札幌には住んでいません", "札幌に住んでいる"},
		{"ken: いちごが好きです。", "ken: いちごはもう好きじゃなくなった。", "いちごはもう好きではない", "いちごが好き"},
		{"ken: いちごが好きです。", "ken: いちごはもう好きじゃない。", "いちごはもう好きではない", "いちごが好き"},
		{"ken: 納豆が好き。", "ken: でも納豆が苦手になった。", "納豆が苦手", "納豆が好き"},
		{"ken: 看護師をしています。", "ken: 看護師を辞めました。", "看護師を辞めました", "仕事は看護師"},
		{"ken: I live in Paris.", "ken: I moved from Paris to Rome.", "lives in Rome", "Paris"},
		{"ken: I work as a plumber.", "ken: I no longer work as a plumber. I am a teacher now.", "is a teacher", "plumber"},
		{"ken: I work as a plumber.", "ken: I don't work as a plumber anymore.", "I don't work as a plumber anymore", "works as a plumber"},
		{"ken: I am a nurse.", "ken: I'm no longer a nurse.", "I'm no longer a nurse", "is a nurse"},
		{"ken: I live in Rome.", "ken: I don't live in Rome any more.", "I don't live in Rome any more", "lives in Rome"},
		{"ken: I like jazz.", "ken: I don't like jazz anymore.", "no longer likes jazz", "likes jazz"},
		{"ken: I love sushi.", "ken: I no longer love sushi.", "no longer likes sushi", "likes sushi"},
		{"ken: 来週の土曜に京都に行く。", "ken: 京都旅行はやめました。", "京都旅行はやめました", "来週の土曜に京都に行く"},
		{"ken: 来週の土曜に京都へ旅行に行く。", "ken: 旅行はキャンセルになった。", "旅行はキャンセルになった", "来週の土曜"},
		{"ken: I am going to Kyoto next Saturday.", "ken: I cancelled my Kyoto trip.", "I cancelled my Kyoto trip", "next Saturday"},
		{"ken: I am going to Kyoto next Saturday.", "ken: I'm not going to Kyoto after all.", "I'm not going to Kyoto after all", "next Saturday"},
	} {
		turns := talk(c.before, c.now)
		table := fact.NewTable(0)
		write(t, table, extract.Facts(turns[:1], nil), turns)
		write(t, table, extract.Facts(turns[1:], table.All()), turns)
		var so []string
		for _, f := range table.All() {
			if f.ValidTo.IsZero() {
				so = append(so, f.Text)
			}
		}
		if got := strings.Join(so, "; "); len(so) != 1 || !strings.HasSuffix(got, c.still) || strings.TrimSuffix(got, c.still) != "" && strings.Contains(got, c.gone) {
			t.Errorf("%s / %s: it is so that %q", c.before, c.now, so)
		}
	}
}

// Of what nobody told, and of others, its end says nothing.
func TestNothingEnds(t *testing.T) {
	for _, line := range []string{
		"ken: I no longer work as a plumber.", "ken: I can't do this anymore.", "ken: I don't have a cat anymore.", "ken: My sister doesn't live in Rome anymore.",
		"ken: I don't know anymore.", "ken: タバコはやめました。", "ken: 今日はもう無理じゃない。", "ken: 弟はもう札幌に住んでいません。", "ken: It's no longer raining.",
		"ken: I like it no longer.", "ken: もうこんな時間じゃない。", "ken: I don't like you anymore.", "ken: My favourite colour is no longer red.",
	} {
		known := []fact.Fact{}
		if got := extract.Facts(talk(line), known); len(got) > 0 {
			t.Errorf("%s: %q", line, got[0].Text)
		}
	}
}

// A move in a month is a plan though it has no day.
func TestMoving(t *testing.T) {
	for line, want := range map[string]string{
		"ken: I am moving to Berlin next month.": "2026-12: I am moving to Berlin next month", "ken: I'm moving to New York next month!": "2026-12: I'm moving to New York next month",
		"ken: 来月ベルリンに引っ越します。": "2026-12: 来月ベルリンに引っ越します", "ken: 再来月から大阪に引っ越すことになりました。": "2027-01: 再来月から大阪に引っ越すことになりました",
		"ken: My brother is moving to Berlin next month.": "", "ken: I might be moving to Berlin next month.": "", "ken: 妹は来月大阪に引っ越します。": "", "ken: Are you moving to Berlin next month?": "",
	} {
		got := extract.Facts(talk(line), nil)
		if len(got) > 1 || (len(got) == 1) != (want != "") || want != "" && (got[0].Text != want || got[0].Slot != "plan:moving") {
			t.Errorf("%s: %+v", line, got)
		}
	}
}

// A word that joins sentences is no part of what is liked, and what was said is remembered with its word.
func TestTasteTexts(t *testing.T) {
	for line, want := range map[string]string{
		"ken: でも納豆が嫌い。": "納豆が嫌い", "ken: しかし納豆は苦手です。": "納豆が苦手", "ken: だけど納豆がきらい。": "納豆が嫌い", "ken: 納豆は好きじゃない。": "納豆が好きではない", "ken: でも、納豆が大好き。": "納豆が好き",
		"ken: 牛乳は飲めない。": "牛乳は飲めない", "ken: エビは食べられない。": "エビは食べられない",
		"ken: I can't drink coffee anymore.": "does not eat or drink coffee",
	} {
		if got := extract.Facts(talk(line), nil); len(got) != 1 || got[0].Text != want {
			t.Errorf("%s: %+v", line, got)
		}
	}
}

// write has a table take in what was found.
func write(t *testing.T, table *fact.Table, found []fact.New, turns []fact.Turn) {
	t.Helper()
	seq := uint64(1000 * table.Len())
	for _, n := range found {
		source := ""
		for _, u := range turns {
			if u.Seq == n.Turns[0] {
				source = u.Text
			}
		}
		_, changes, err := table.Add(n, source, fmt.Sprint(n.Turns[0], table.Len()), n.SaidAt)
		if err != nil {
			t.Fatalf("%q: %v", n.Text, err)
		}
		for _, c := range changes {
			body, _ := json.Marshal(c.Body)
			seq++
			if _, err := table.Apply(entry.Entry{Seq: seq, At: n.SaidAt, Kind: c.Kind, Body: body}); err != nil {
				t.Fatal(err)
			}
		}
	}
}
