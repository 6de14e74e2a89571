package layout_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/card"
	"github.com/companiond/companiond/host/context/layout"
	"github.com/companiond/companiond/host/context/window"
	"github.com/companiond/companiond/host/model/tokens"
)

// talk is a talk of a person and three characters, in ordinary lines.
func talk(n int) []abi.Message {
	r := rand.New(rand.NewPCG(1, 2))
	parts := []string{"今日はいい天気だね。", "そうだね、", "散歩に行きたいな。", "昨日の晩ごはんは何だった？", "カレーを作ったよ。", "猫がまた箱に入ってる。", "ほんとに？", "来週の予定はどう？", "仕事が忙しくてね。", "映画でも見ようか。"}
	from := []string{"taro", "aya", "kyoko", "momo"}
	all := make([]abi.Message, n)
	for i := range all {
		var b strings.Builder
		for range 1 + r.IntN(3) {
			b.WriteString(parts[r.IntN(len(parts))])
		}
		all[i] = abi.Message{Seq: uint64(10*i + 5), From: from[r.IntN(len(from))], Text: b.String(), Kind: abi.KindTurn, At: noon.Add(time.Duration(i) * 20 * time.Second)}
	}
	return all
}

// upTo gives the history as it was when n messages had been said.
func upTo(all []abi.Message) window.Source {
	return func(_ context.Context, a abi.HistoryAsk) (abi.History, error) {
		end := len(all)
		for a.Before > 0 && end > 0 && all[end-1].Seq >= a.Before {
			end--
		}
		return abi.History{Messages: append([]abi.Message(nil), all[max(0, end-a.Limit):end]...), Head: all[len(all)-1].Seq}, nil
	}
}

// persona is a character with a card of ordinary length.
func persona(t testing.TB, id string) *layout.Mind {
	t.Helper()
	c, err := card.Parse(id+".json", fmt.Appendf(nil, `{"name":%q,"personality":%q,"story":%q,"language":"ja"}`,
		id, strings.Repeat("明るくて話し好き。", 12), strings.Repeat("海の近くの町で育ち、いまは喫茶店で働いている。", 8)))
	if err != nil {
		t.Fatal(err)
	}
	return layout.New(id, c, time.UTC)
}

// share is how much of each request is the beginning of the one before, of the same character.
type share struct{ same, all int }

func (s *share) add(before, now string) {
	n := 0
	for n < min(len(before), len(now)) && before[n] == now[n] {
		n++
	}
	s.same, s.all = s.same+n, s.all+len(now)
}

func (s share) percent() float64 { return 100 * float64(s.same) / float64(s.all) }

// sliding is how companiond laid prompts out until its context had a budget: the newest
// messages, as many as fit into the scene, behind a system prompt that told how the talk stood.
func sliding(id string, all []abi.Message, turns, last int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\nhow far the talk is: %d\n\n", id+strings.Repeat("x", 1500), turns)
	for _, m := range all[max(0, len(all)-last):] {
		fmt.Fprintf(&b, "%s: %s\n", m.From, m.Text)
	}
	return b.String()
}

// TestWhatAModelHasReadStays: of what a character's model is told in a talk of a thousand
// ordinary messages, at least 85 % are what it was told the time before: it need not be read again,
// nor paid for in full. The same talk as it was told before is beside it.
func TestWhatAModelHasReadStays(t *testing.T) {
	all := talk(1000)
	for _, size := range []int{2000, 8000, 128_000} {
		var now, before share
		for _, id := range []string{"aya", "kyoko", "momo"}[:map[int]int{2000: 3, 8000: 1, 128_000: 1}[size]] {
			m, w, meter := persona(t, id), new(window.Window), new(tokens.Meter)
			human := func(id string) bool { return id == "taro" }
			budget := layout.Budget{Context: size, Meter: meter}
			var last, lastOld string
			for i := range all {
				if all[i].From == id {
					continue
				}
				told, err := w.Tell(t.Context(), upTo(all[:i+1]), window.Terms{Budget: m.History(budget), Meter: meter, Line: m.Line(nil), Human: human})
				if err != nil {
					t.Fatal(err)
				}
				s := abi.Scene{Message: all[i], Turns: i % 7, MaxTurns: 24, Members: []abi.Member{{ID: "taro", Kind: abi.KindHuman}, {ID: "aya", Kind: abi.KindCompanion}}}
				votes := []bool{true}
				if i%3 == 0 { // and has the floor
					votes = append(votes, false)
				}
				for _, vote := range votes {
					p := m.Build(layout.Parts{Budget: budget, Told: told, Human: human, Tail: m.ForScene(layout.Asked{Scene: s, Now: all[i].At, OnlyVote: vote})})
					text := layout.Write(p.System, p.Messages)
					if last != "" {
						now.add(last, text)
					}
					last = text
					n := 16
					if vote {
						n = 8
					}
					old := sliding(id, all[:i+1], i%7, n)
					if lastOld != "" {
						before.add(lastOld, old)
					}
					lastOld = old
				}
			}
		}
		t.Logf("context of %6d tokens: %.1f %% of a request were in the one before, %.1f %% as it was laid out before", size, now.percent(), before.percent())
		if least := 85.0; now.percent() < least {
			t.Errorf("context %d: %.1f %%, at least %v", size, now.percent(), least)
		}
	}
}

// TestWhoACharacterIs: who the shipped card is, is told whole in the smallest context that there may be; a huge card has a quarter,
// whatever is free, and the note says which of the two it is.
func TestWhoACharacterIs(t *testing.T) {
	shipped, err := os.ReadFile("../../../characters/nikoni.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		what, card string
		context    int
		whole      bool
		note       string
	}{
		{"shipped", string(shipped), 2000, true, "all of the card but who the character is: it is longer than a quarter of the model's context"},
		{"shipped", string(shipped), 8000, true, ""},
		{"some more", `{"name":"Aya","personality":"` + strings.Repeat("明るい。", 80) + `"}`, 2000, false, "and the middle of that: beside the rules and the talk there is no room for it in the model's context of 2000 tokens"},
		{"huge", `{"name":"Aya","personality":"` + strings.Repeat("明るい。", 2000) + `"}`, 8000, false, "and the middle of that: it is longer than a quarter of the model's context"},
	} {
		def, err := card.Parse("aya.json", []byte(c.card))
		if err != nil {
			t.Fatal(err)
		}
		m, b := layout.New("aya", def, time.UTC), layout.Budget{Context: c.context, Meter: new(tokens.Meter)}
		text, notes := m.System(b)
		if whole := strings.Contains(text, def.Personality) && strings.Contains(text, def.Story); whole != c.whole || (m.Shortened(b) == "") != c.whole {
			t.Errorf("%s in %d: whole is %v, and what is said of it %q", c.what, c.context, whole, m.Shortened(b))
		}
		if got := strings.Join(notes, "; "); !strings.HasSuffix(got, c.note) || c.note == "" && got != "" {
			t.Errorf("%s in %d: %q", c.what, c.context, got)
		}
		if n := b.Meter.Tokens(tokens.Of(text)); n > c.context*7/10 {
			t.Errorf("%s: %d tokens of %d", c.what, n, c.context)
		}
	}
}
