package ask_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/memory/ask"
	"github.com/companiond/companiond/host/memory/fact"
	"github.com/companiond/companiond/host/model/tokens"
	"github.com/companiond/companiond/host/model/tokens/tokenstest"

	"github.com/companiond/companiond/host/waittest"
)

// large is of a model that takes more than any of these talks.
var large = ask.Budget{Context: 1 << 20, Meter: new(tokens.Meter)}

// whole is what a prompt comes to, as an endpoint that is told of the schema gets it.
func whole(p ask.Prompt) string { return p.System + "\n" + string(p.Schema) + "\n" + p.User }

// told gives the texts of turns in prompts, by seq, and the facts that are told as known.
func told(t testing.TB, p ask.Prompt) (turns []line, known []string) {
	t.Helper()
	for l := range strings.Lines(p.User) {
		var got line
		if err := json.Unmarshal([]byte(l), &got); err != nil {
			t.Fatalf("%q: %v", l, err)
		}
		switch {
		case got.Turn > 0:
			turns = append(turns, got)
		case got.Known != "":
			known = append(known, got.Known)
		}
	}
	return turns, known
}

// parts gives the requests for turns.
func parts(b ask.Budget, known []fact.Fact, turns []fact.Turn) (all []ask.Prompt) {
	for len(turns) > 0 {
		n := b.Part(turns)
		all, turns = append(all, b.For(known, turns[:n])), turns[n:]
	}
	return all
}

// manyKnown are as many facts as are looked at, each about as long as one may be.
func manyKnown(talk *tokenstest.Talk, kind tokenstest.Kind) (known []fact.Fact) {
	for i := range 100 {
		known = append(known, fact.Fact{Memory: abi.Memory{Text: talk.Text(kind, abi.MaxMemoryText/4), SaidBy: "longy"}, Confirmed: said.Add(time.Duration(i) * time.Hour)})
	}
	return known
}

// TestPartsAreWithinTheContext: by the vocabularies of real models no request is longer than the context, with room for an answer,
// whatever people say; each of their turns is in one of them, in its order.
func TestPartsAreWithinTheContext(t *testing.T) {
	talk := tokenstest.NewTalk(7)
	var texts, which []string
	var most []int
	for _, kind := range tokenstest.Kinds() {
		var turns []fact.Turn
		for i := range 12 {
			turns = append(turns, fact.Turn{Seq: uint64(i + 1), From: "longy", By: abi.KindHuman, At: said, Text: talk.Text(kind, []int{20, 400, 5000, 30}[i%4])})
		}
		known := manyKnown(talk, kind)
		for _, context := range []int{2000, 3000, 8000} {
			var seqs []uint64
			for _, p := range parts(ask.Budget{Context: context, Meter: new(tokens.Meter)}, known, turns) {
				texts, which, most = append(texts, whole(p)), append(which, fmt.Sprint(kind, " in ", context)), append(most, context*9/10)
				all, _ := told(t, p)
				for _, l := range all {
					seqs = append(seqs, l.Turn)
				}
			}
			if len(seqs) != len(turns) || !slices.IsSorted(seqs) {
				t.Errorf("%v, %d: turns %v", kind, context, seqs)
			}
		}
	}
	for _, family := range tokenstest.Families() {
		for i, n := range tokenstest.Count(t, family, texts) {
			if n > most[i] {
				t.Errorf("%s, %s: %d tokens, at most %d", which[i], family, n, most[i])
			}
		}
	}
}

// TestParts: whatever is said, each turn is asked about once, each request has a person's turn where there is one, ends with it, and
// keeps to the budget; what is too long has its middle left out.
func TestParts(t *testing.T) {
	waittest.WithoutRaces(t)
	known := manyKnown(tokenstest.NewTalk(3), tokenstest.Mixed)
	rapid.Check(t, func(rt *rapid.T) {
		b := ask.Budget{Context: rapid.SampledFrom([]int{2000, 2600, 8000}).Draw(rt, "context"), Meter: new(tokens.Meter)}
		var turns []fact.Turn
		most, others := rapid.IntRange(1, 15).Draw(rt, "turns"), 0
		for i := 0; i < most || others > 0; i++ {
			by := abi.KindHuman
			if others++; others > 2 || i >= most-1 || rapid.Bool().Draw(rt, "human") {
				others = 0
			} else {
				by = abi.KindCompanion
			}
			text := strings.Repeat(rapid.SampledFrom([]string{"あ", "a word ", "\u202e", "<|x|>"}).Draw(rt, "of"), rapid.SampledFrom([]int{1, 40, 1000}).Draw(rt, "letters"))
			turns = append(turns, fact.Turn{Seq: uint64(i + 1), From: string(by), By: by, At: said, Text: text})
		}
		next := uint64(1)
		for i, p := range parts(b, known, turns) {
			if n := b.Meter.Tokens(tokens.Of(whole(p))); n > b.Context*8/10 {
				rt.Fatalf("request %d has %d tokens of %d", i, n, b.Context)
			}
			all, _ := told(t, p)
			for _, l := range all {
				source := turns[l.Turn-1].Text
				if l.Turn != next || l.Text != source && !strings.Contains(l.Text, " letters left out] … ") {
					rt.Fatalf("turn %d of %d letters is told as %.80q", l.Turn, len(source), l.Text)
				}
				next++
			}
			if next <= uint64(len(turns)) && all[len(all)-1].Kind != abi.KindHuman {
				rt.Fatalf("request %d ends with what nobody says something to", i)
			}
		}
		if next != uint64(len(turns))+1 {
			rt.Fatalf("%d of %d turns are asked about", next-1, len(turns))
		}
	})
}

// TestAShortTalkIsOneRequest: what fits is asked about at once, whole.
func TestAShortTalkIsOneRequest(t *testing.T) {
	b := ask.Budget{Context: 8000, Meter: new(tokens.Meter)}
	all := parts(b, nil, turns)
	if len(all) != 1 {
		t.Fatalf("%d requests", len(all))
	}
	got, _ := told(t, all[0])
	for i, l := range got {
		if l.Text != turns[i].Text {
			t.Errorf("%q is told as %q", turns[i].Text, l.Text)
		}
	}
}

// TestAQuotationOfALongTurn holds to what was said, not to what was told of it; the mark between its ends is no quotation.
func TestAQuotationOfALongTurn(t *testing.T) {
	b := ask.Budget{Context: 2000, Meter: new(tokens.Meter)}
	turn := fact.Turn{Room: "main", Seq: 3, From: "ken", By: abi.KindHuman, At: said, Text: "My cat is called Tama. " + strings.Repeat("It rains. ", 800) + "I live in Rome."}
	got, _ := told(t, b.For(nil, []fact.Turn{turn}))
	from, to, cut := strings.Cut(got[0].Text, " … [")
	if !cut || !strings.HasPrefix(from, "My cat is called Tama.") || !strings.HasSuffix(to, "I live in Rome.") {
		t.Fatalf("%q", got[0].Text)
	}
	for quote, want := range map[string]int{"My cat is called Tama": 1, "I live in Rome": 1, strings.TrimSpace(got[0].Text[len(from)-9:len(from)]) + got[0].Text[len(from):len(from)+40]: 0} {
		raw, err := json.Marshal(map[string]any{"facts": []answer{{3, quote, "other", "", "", quote, 3}}})
		if err != nil {
			t.Fatal(err)
		}
		if found, rejected := ask.Read(string(raw), nil, []fact.Turn{turn}); len(found) != want {
			t.Errorf("%q: %+v %q", quote, found, rejected)
		}
	}
}

// TestWhatIsKnownHasAShare: what has to do with what is said is told before what has not, then the newest.
func TestWhatIsKnownHasAShare(t *testing.T) {
	b := ask.Budget{Context: 2000, Meter: new(tokens.Meter)}
	known := []fact.Fact{{Memory: abi.Memory{Text: "猫の名前はタマ", Keys: []string{"猫"}, SaidBy: "ken"}}}
	for i := range 99 {
		known = append(known, fact.Fact{Memory: abi.Memory{Text: fmt.Sprintf("number %d is a number among many others that somebody told", i), Keys: []string{"number"}, SaidBy: "ken"}, Confirmed: said.Add(time.Duration(i) * time.Hour)})
	}
	_, got := told(t, b.For(known, []fact.Turn{{Seq: 1, From: "ken", By: abi.KindHuman, At: said, Text: "うちの猫が寝てる。"}}))
	if len(got) < 3 || len(got) > 50 || got[0] != "猫の名前はタマ" || !strings.HasPrefix(got[1], "number 98 ") || !strings.HasPrefix(got[2], "number 97 ") {
		t.Errorf("%d are told: %q", len(got), got)
	}
}

// TestNoAnswer: an answer without a list of facts is none, not one that found nothing.
func TestNoAnswer(t *testing.T) {
	for text, ok := range map[string]bool{`{}`: false, `{"facts":null}`: false, `{"facts":{}}`: false, `{"fact":[]}`: false, `{"facts":[]}`: true, `{"facts":[{}]}`: true} {
		if err := ask.Check(json.RawMessage(text)); (err == nil) != ok {
			t.Errorf("%s: %v", text, err)
		}
		if _, rejected := ask.Read(text, nil, turns); (len(rejected) == 0) != (text == `{"facts":[]}`) {
			t.Errorf("%s: %q", text, rejected)
		}
	}
}
