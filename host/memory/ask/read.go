package ask

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/memory/dates"
	"github.com/companiond/companiond/host/memory/doubt"
	"github.com/companiond/companiond/host/memory/fact"
	"github.com/companiond/companiond/host/memory/wording"
)

const (
	most     = 40 // facts of one answer
	shortest = 2  // letters of a quotation
)

// answered is one fact of an answer.
type answered struct {
	Turn       uint64 `json:"turn"`
	Quote      string `json:"quote"`
	Kind       string `json:"kind"`
	Thing      string `json:"thing"`
	Value      string `json:"value"`
	Text       string `json:"text"`
	Importance int    `json:"importance"`
}

// Read gives what of a model's answer stands up to the turns that it was asked about, and for
// each of the rest why it does not, without its words. A known fact that comes back, and was not
// said again, is none.
func Read(answer string, known []fact.Fact, turns []fact.Turn) (found []fact.New, rejected []string) {
	var got struct {
		Facts []json.RawMessage `json:"facts"`
	}
	if err := json.Unmarshal([]byte(bare(answer)), &got); err != nil || got.Facts == nil {
		return nil, []string{"the answer is no JSON object with a list of facts"}
	}
	for i, raw := range got.Facts {
		if i == most {
			rejected = append(rejected, fmt.Sprintf("%d more facts than %d", len(got.Facts)-most, most))
			break
		}
		var a answered
		if json.Unmarshal(raw, &a) != nil {
			rejected = append(rejected, fmt.Sprintf("fact %d has not the form that was asked for", i+1))
			continue
		}
		n, why := a.held(known, turns)
		if why != "" {
			rejected = append(rejected, fmt.Sprintf("fact %d: %s", i+1, why))
			continue
		}
		if !slices.ContainsFunc(found, func(f fact.New) bool { return f.Turns[0] == n.Turns[0] && f.Text == n.Text }) {
			found = append(found, n)
		}
	}
	return found, rejected
}

// bare takes off what models put around JSON.
func bare(answer string) string {
	from, to := strings.IndexByte(answer, '{'), strings.LastIndexByte(answer, '}')
	if from < 0 || to < from {
		return ""
	}
	return answer[from : to+1]
}

// held holds a fact to its turn, and says why it does not stand.
func (a answered) held(known []fact.Fact, turns []fact.Turn) (n fact.New, why string) {
	at := slices.IndexFunc(turns, func(t fact.Turn) bool { return t.Seq == a.Turn })
	if at < 0 {
		return n, "there is no such turn"
	}
	t := turns[at]
	if t.By != abi.KindHuman {
		return n, "no person said the turn"
	}
	quote, ok := wording.Quoted(a.Quote, t.Text)
	switch {
	case !ok || utf8.RuneCountInString(wording.Letters(quote)) < shortest:
		return n, "the quotation is not in the turn"
	case len(quote) > abi.MaxMemoryText || len(a.Text) > abi.MaxMemoryText || abi.CheckText("text", a.Text) != nil:
		return n, "the text or the quotation is too long, empty or has control characters"
	}
	if why := doubted(quote, t.Text); why != "" {
		return n, "the quotation " + string(why)
	}
	if doubt.Joke(t.Text) || at+1 < len(turns) && takenBack(t, turns[at+1:]) {
		return n, "it was taken back as a joke"
	}
	value, ok := "", a.Value == ""
	if !ok {
		value, ok = wording.Quoted(a.Value, t.Text)
	}
	switch {
	case !ok:
		return n, "the value is not in the turn"
	case recalled(a, known) && (value == "" || utf8.RuneCountInString(wording.Letters(value)) < shortest):
		return n, "it was recalled and not said"
	}
	switch sentences := around(quote, t.Text); hold(a.Text, sentences, t) {
	case strange:
		return n, "the text says what the turn does not"
	case more:
		if a.Text = sentences; len(sentences) > abi.MaxMemoryText {
			a.Text = quote
		}
	}
	return a.made(known, t, quote, value), ""
}

// doubted gives why the sentences that a quotation is of are not to be believed.
func doubted(quote, text string) doubt.Why {
	at := strings.Index(text, quote)
	for _, s := range doubt.Sentences(text) {
		if at < s.To && s.From < at+len(quote) && s.Why != "" {
			return s.Why
		}
	}
	return ""
}

// takenBack says whether the next that the same person said calls it a joke.
func takenBack(t fact.Turn, later []fact.Turn) bool {
	i := slices.IndexFunc(later, func(u fact.Turn) bool { return u.From == t.From })
	return i >= 0 && doubt.Joke(later[i].Text)
}

// recalled says whether a fact is one that was known, in the same words.
func recalled(a answered, known []fact.Fact) bool {
	letters := wording.Letters(a.Text)
	return slices.ContainsFunc(known, func(f fact.Fact) bool { return wording.Letters(f.Text) == letters })
}

// another is said of one more: it takes no place of the first.
var another = regexp.MustCompile(`もう(?:一|1|ひと)|二匹目|2匹目|(?i:\b(?:another|the other|second)\b)`)

// of gives what a fact is of, as somebody named it, or as it is known where there is but one.
func (a answered) of(known []fact.Fact, t fact.Turn, quote string) string {
	thing := wording.Thing(a.Thing)
	if _, ok := wording.Quoted(a.Thing, t.Text); len(thing) <= abi.MaxName && thing != "" && (ok || slices.Contains(wording.Things(t.Text), thing)) {
		return thing
	}
	if a.Kind == "plan" {
		for _, d := range slices.Backward(dates.Find(quote, t.At)) {
			quote = quote[:d.From] + " " + quote[d.To:]
		}
		return firstWord(quote)
	}
	only := ""
	for _, f := range known {
		if of, ok := strings.CutPrefix(f.Slot, a.Kind+":"); ok && f.SaidBy == t.From && of != only {
			if only != "" {
				return ""
			}
			only = of
		}
	}
	return only
}

func firstWord(text string) string {
	for _, w := range wording.Words(text) {
		if utf8.RuneCountInString(w) > 1 {
			return w
		}
	}
	return ""
}

// single are the kinds of which there is one at a time whatever it is of.
var single = []string{"name", "age", "birthday", "place", "origin", "job", "school"}

// made makes what is to be remembered of a fact that stands.
func (a answered) made(known []fact.Fact, t fact.Turn, quote, value string) fact.New {
	n := fact.New{How: entry.HowModel, Value: value, Memory: abi.Memory{
		Kind: abi.MemoryFact, Text: strings.TrimSpace(a.Text), Quote: quote, About: []string{t.From}, Room: t.Room, Turns: []uint64{t.Seq},
		SaidBy: t.From, SaidAt: t.At, Importance: min(5, max(1, a.Importance)),
	}}
	thing := a.of(known, t, quote)
	switch {
	case slices.Contains(single, a.Kind):
		n.Slot = a.Kind
	case a.Kind == "likes" || a.Kind == "dislikes":
		n.Slot, n.Value = "taste:"+wording.Thing(value), a.Kind+":"+value
	case a.Kind == "allergy" || a.Kind == "must_not":
		n.Slot = a.Kind + ":" + wording.Thing(value)
	case slices.Contains(kinds, a.Kind) && a.Kind != "other" && thing != "":
		n.Slot = a.Kind + ":" + thing
	}
	if another.MatchString(quote) {
		n.Slot += ":" + wording.Fold(value)
	}
	if value == "" || len(n.Slot) > 200 {
		n.Slot = ""
	}
	for _, d := range dates.Find(quote, t.At) {
		n.Keys = append(n.Keys, d.Key())
	}
	for _, k := range slices.Concat([]string{thing, a.Kind}, wording.Words(value), wording.Things(quote), wording.Words(quote)) {
		if k != "" && k != "other" && len(k) <= abi.MaxName && len(n.Keys) < abi.MaxMemoryKeys && !slices.Contains(n.Keys, k) {
			n.Keys = append(n.Keys, k)
		}
	}
	return n
}
