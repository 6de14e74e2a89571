package digest_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/model"
	"github.com/companiond/companiond/host/model/tokens"
	"github.com/companiond/companiond/host/module/prompt/digest"

	"github.com/companiond/companiond/host/waittest"
)

var keep = []abi.KeepItem{{ID: "M1", Text: "84,000円", Turn: 7}, {ID: "M2", Text: "金曜", Turn: 8}}

const (
	m1   = `{"id":"M1","status":"kept","quote":"84,000円"}`
	m2   = `{"id":"M2","status":"missing","quote":""}`
	rest = `"added":[],"feedback":"","verdict":"YES"`
)

// TestVerdicts: what is a whole verdict is handed on as it is.
func TestVerdicts(t *testing.T) {
	for _, raw := range []string{
		`{"items":[` + m1 + `,` + m2 + `],"added":[],"feedback":"M2 is gone","verdict":"NO"}`,
		`{"items":[` + m2 + `,` + m1 + `],` + rest + `}`, // a YES that its items do not bear out is the caller's to refuse
		`{"items":[` + m1 + `,` + m2 + `],"added":["a cat"],"feedback":"","verdict":"YES","note":"more"}`,
	} {
		a := &asked{answer: says(raw)}
		ask := words{text: "話", draft: "案"}.verifying()
		ask.Keep = keep
		v, err := a.model(8000).Verify(t.Context(), ask)
		if err != nil {
			t.Errorf("%s: %v", raw, err)
			continue
		}
		var want abi.Verified
		if err := json.Unmarshal([]byte(raw), &want); err != nil {
			t.Fatal(err)
		}
		if want.Added = slices.Clip(want.Added); len(want.Added) == 0 {
			want.Added = nil
		}
		got, _ := json.Marshal(v)
		if b, _ := json.Marshal(want); string(got) != string(b) {
			t.Errorf("%s, want %s", got, b)
		}
	}
}

// bad are answers that are no verdict.
func bad() map[string]string {
	both := `{"items":[` + m1 + `,` + m2 + `],`
	return map[string]string{
		"nothing":            ``,
		"no JSON":            `YES`,
		"a word":             `"YES"`,
		"a list":             `[` + both + rest + `}]`,
		"null":               `null`,
		"empty":              `{}`,
		"cut off":            both + `"added":[],"feedback":"","verdict":"YES`,
		"cut off in a list":  `{"verdict":"YES","items":[` + m1,
		"two":                both + rest + `}{}`,
		"no verdict":         both + `"added":[],"feedback":""}`,
		"no items":           `{` + rest + `}`,
		"no added":           both + `"feedback":"","verdict":"YES"}`,
		"no feedback":        both + `"added":[],"verdict":"YES"}`,
		"verdict and more":   both + `"added":[],"feedback":"","verdict":"YES, but M2 is gone"}`,
		"verdict YES/NO":     both + `"added":[],"feedback":"","verdict":"YES/NO"}`,
		"verdict y":          both + `"added":[],"feedback":"","verdict":"y"}`,
		"verdict approved":   both + `"added":[],"feedback":"","verdict":"Approved"}`,
		"verdict empty":      both + `"added":[],"feedback":"","verdict":""}`,
		"verdict null":       both + `"added":[],"feedback":"","verdict":null}`,
		"verdict true":       both + `"added":[],"feedback":"","verdict":true}`,
		"verdict of both":    both + `"added":[],"feedback":"","verdict":["YES","NO"]}`,
		"two verdicts":       both + `"verdict":"NO",` + rest + `}`,
		"another's verdict":  both + `"added":[],"feedback":"","Verdict":"YES"}`,
		"an id is missing":   `{"items":[` + m1 + `],` + rest + `}`,
		"an id is doubled":   `{"items":[` + m1 + `,` + m2 + `,` + m1 + `],` + rest + `}`,
		"doubled, missing":   `{"items":[` + m1 + `,` + m1 + `],` + rest + `}`,
		"an id is another":   `{"items":[` + m1 + `,{"id":"M3","status":"kept","quote":""}],` + rest + `}`,
		"id with a space":    `{"items":[` + m1 + `,{"id":"M2 ","status":"kept","quote":""}],` + rest + `}`,
		"an unknown status":  `{"items":[` + m1 + `,{"id":"M2","status":"ok","quote":""}],` + rest + `}`,
		"no status":          `{"items":[` + m1 + `,{"id":"M2","quote":""}],` + rest + `}`,
		"no quote":           `{"items":[` + m1 + `,{"id":"M2","status":"kept"}],` + rest + `}`,
		"items are ids":      `{"items":["M1","M2"],` + rest + `}`,
		"items by id":        `{"items":{"M1":"kept","M2":"kept"},` + rest + `}`,
		"added is a word":    both + `"added":"nothing","feedback":"","verdict":"YES"}`,
		"added has a number": both + `"added":[1],"feedback":"","verdict":"YES"}`,
		"no UTF-8":           both + `"added":["` + "\xff" + `"],"feedback":"","verdict":"YES"}`,
	}
}

// TestBadVerdicts: what is none is an error, and no YES: also where the model says it twice, and
// nobody held it to anything.
func TestBadVerdicts(t *testing.T) {
	if n := len(bad()); n < 20 {
		t.Fatalf("%d", n)
	}
	ask := words{text: "話", draft: "案"}.verifying()
	ask.Keep = keep
	for name, raw := range bad() {
		if v, err := digest.ReadVerified(json.RawMessage(raw), keep); abi.CodeOf(err) != abi.CodeInvalid {
			t.Errorf("%s: %+v, %v", name, v, err)
		}
		a := &asked{answer: says(raw)}
		if v, err := a.model(8000).Verify(t.Context(), ask); abi.CodeOf(err) != abi.CodeInvalid || v.Verdict != "" {
			t.Errorf("%s: %+v, %v", name, v, err)
		}
	}
	a := &asked{answer: says(`{"items":[` + m1 + `,` + m2 + `],` + rest + `}`), stop: model.StopLength}
	if v, err := a.model(8000).Verify(t.Context(), ask); abi.CodeOf(err) != abi.CodeInvalid || v.Verdict != "" {
		t.Errorf("cut off behind it: %+v, %v", v, err)
	}
	a = &asked{answer: func(model.Request) (string, error) { return "", errors.New("broken pipe") }}
	if v, err := a.model(8000).Verify(t.Context(), ask); err == nil || v.Verdict != "" {
		t.Errorf("no answer: %+v, %v", v, err)
	}
	ask.Draft = ""
	if _, err := a.model(8000).Verify(t.Context(), ask); abi.CodeOf(err) != abi.CodeInvalid {
		t.Errorf("no draft: %v", err)
	}
}

// verdict answers a request: NO about what has "lost" in it.
func verdict(t testing.TB) func(model.Request) (string, error) {
	return func(req model.Request) (string, error) {
		v := abi.Verified{Verdict: abi.VerdictYes}
		for _, l := range linesOf(t, req) {
			if l.Keep == "" {
				continue
			}
			item := abi.VerifiedItem{ID: l.Keep, Status: abi.StatusKept, Quote: l.Text}
			if strings.Contains(l.Text, "lost") {
				item.Status, item.Quote, v.Verdict, v.Feedback = abi.StatusMissing, "", abi.VerdictNo, l.Keep+" is gone"
			}
			v.Items = append(v.Items, item)
		}
		items, _ := json.Marshal(append([]abi.VerifiedItem{}, v.Items...))
		text := strings.ReplaceAll(string(items), `"status":"missing"`, `"status":"missing","quote":""`)
		return fmt.Sprintf(`{"items":%s,"added":[],"feedback":%q,"verdict":%q}`, text, v.Feedback, v.Verdict), nil
	}
}

// TestLongRanges: above some 4000 tokens a verdict is asked for in parts, each with what has to be kept
// of its turns and with the draft; all have to be YES.
func TestLongRanges(t *testing.T) {
	var ask abi.Verifying
	for i := range 120 {
		n := uint64(i + 1)
		ask.Turns = append(ask.Turns, abi.PastTurn{N: n, From: "taro", Text: strings.Repeat("設計の話です。", 20)})
		if i%3 == 0 {
			ask.Keep = append(ask.Keep, abi.KeepItem{ID: fmt.Sprint("M", len(ask.Keep)+1), Text: fmt.Sprint("item ", i), Turn: n})
		}
	}
	ask.Policy, ask.Draft = "数は残す。", "設計の話をした。"
	ask.History = []abi.PastTurn{{N: 1, Upto: 120, Text: ask.Draft}, {N: 121, From: "taro", Text: "次。"}}
	for _, lost := range []int{-1, 0, 39} {
		a := &asked{answer: verdict(t)}
		ask := ask
		ask.Keep = slices.Clone(ask.Keep)
		if lost >= 0 {
			ask.Keep[lost].Text = "lost"
		}
		v, err := a.model(16_000).Verify(t.Context(), ask)
		if err != nil {
			t.Fatal(err)
		}
		if err := v.Answers(ask.Keep); err != nil {
			t.Error(err)
		}
		wantFeedback, want := "", abi.VerdictYes
		if lost >= 0 {
			wantFeedback, want = ask.Keep[lost].ID+" is gone", abi.VerdictNo
		}
		if v.Verdict != want || v.Feedback != wantFeedback {
			t.Errorf("lost %d: %s, %q", lost, v.Verdict, v.Feedback)
		}
		if len(a.reqs) < 3 {
			t.Errorf("%d requests", len(a.reqs))
		}
		meter := new(tokens.Meter)
		for i, req := range a.reqs {
			all := linesOf(t, req)
			task := all[len(all)-1]
			if task.Task != "verify" || task.Part != i+1 || task.Parts != len(a.reqs) || *all[0].Policy != ask.Policy {
				t.Errorf("request %d: %+v", i, task)
			}
			drafts, original := 0, tokens.Size{}
			for _, l := range all {
				if l.Draft == true && l.Text == ask.Draft {
					drafts++
				}
				if l.Turn > 0 && l.Keep == "" {
					original = original.Plus(tokens.Of(l.Text))
				}
			}
			if n := meter.Tokens(original); drafts != 1 || n > 4000 {
				t.Errorf("request %d: %d drafts, %d tokens of the original", i, drafts, n)
			}
		}
	}
	short := ask
	short.Turns, short.Keep = ask.Turns[:20], ask.Keep[:3]
	a := &asked{answer: verdict(t)}
	if _, err := a.model(16_000).Verify(t.Context(), short); err != nil || len(a.reqs) != 1 || linesOf(t, a.reqs[0])[len(linesOf(t, a.reqs[0]))-1].Part != 0 {
		t.Errorf("a short range is asked about in %d requests: %v", len(a.reqs), err)
	}
}

// fits checks that a request, with the longest answer, is within what may be used of a context.
func fits(t *rapid.T, req model.Request, context int) {
	m := new(tokens.Meter)
	if n, most := m.Tokens(req.Size())+req.MaxTokens, int(float64(context)*(1-m.Reserve())); n > most {
		t.Fatalf("%d tokens with the answer, at most %d", n, most)
	}
}

// drawTurns draws turns with things to be kept.
func drawTurns(t *rapid.T) (turns []abi.PastTurn, keep []abi.KeepItem) {
	for i := range rapid.IntRange(1, 20).Draw(t, "turns") {
		word := rapid.SampledFrom([]string{"話", "word ", "\"\n", "予算は 84,000 円。"}).Draw(t, "word")
		turn := abi.PastTurn{N: uint64(i + 1), From: "taro", Text: strings.Repeat(word, rapid.SampledFrom([]int{1, 10, 200, 1000}).Draw(t, "long"))}
		for range rapid.SampledFrom([]int{0, 0, 1, 9}).Draw(t, "keep") {
			if len(keep) < abi.MaxKeep {
				keep = append(keep, abi.KeepItem{ID: fmt.Sprint("M", len(keep)+1), Text: strings.Repeat("話", rapid.SampledFrom([]int{1, 20, 300}).Draw(t, "item")), Turn: turn.N, Policy: rapid.Bool().Draw(t, "policy")})
			}
		}
		turns = append(turns, turn)
	}
	return turns, keep
}

// TestVerifyFits: whatever the turns, no request is longer than the context, each turn is in one in
// all its length, and each thing to be kept is asked about once.
func TestVerifyFits(t *testing.T) {
	waittest.WithoutRaces(t)
	rapid.Check(t, func(rt *rapid.T) {
		turns, keep := drawTurns(rt)
		context := rapid.SampledFrom([]int{1000, 2000, 4000, 8000, 128_000}).Draw(rt, "context")
		ask := abi.Verifying{Turns: turns, Keep: keep, Policy: "数は残す。", Draft: strings.Repeat("案", rapid.SampledFrom([]int{1, 100, 2000}).Draw(rt, "draft"))}
		ask.History = []abi.PastTurn{{N: 1, Upto: uint64(len(turns)), Text: ask.Draft}}
		for i := range rapid.IntRange(0, 30).Draw(rt, "near") {
			ask.History = append(ask.History, abi.PastTurn{N: uint64(len(turns) + 1 + i), From: "aya", Text: strings.Repeat("後", 60)})
		}
		a := &asked{answer: verdict(t)}
		v, err := a.model(context).Verify(rt.Context(), ask)
		if abi.CodeOf(err) == abi.CodeTooLarge && context < 8000 {
			if len(a.reqs) > 0 {
				rt.Fatalf("%d requests were made before it was found too large", len(a.reqs))
			}
			return
		}
		if err != nil {
			rt.Fatal(err)
		}
		if err := v.Answers(keep); err != nil {
			rt.Fatal(err)
		}
		told := map[uint64]int{}
		for _, req := range a.reqs {
			fits(rt, req, context)
			for _, l := range linesOf(t, req) {
				if l.Turn > 0 && l.Keep == "" {
					told[l.Turn] += len(l.Text)
				}
			}
		}
		for _, turn := range turns {
			if told[turn.N] < len(turn.Text) {
				rt.Fatalf("turn %d: %d bytes of %d are told", turn.N, told[turn.N], len(turn.Text))
			}
		}
	})
}

// written is how a verdict may be written.
var written = map[string]*regexp.Regexp{
	abi.VerdictYes: regexp.MustCompile("^" + around + "(?:(?i:[yｙ][eｅ][sｓ])|はい)" + around + "$"),
	abi.VerdictNo:  regexp.MustCompile("^" + around + "(?:(?i:[nｎ][oｏ])|いいえ)" + around + "$"),
}

const around = "[ \t\r\n\u3000\"'`*.!。＂＇｀＊．！｡「」｢｣]*"

// FuzzReadVerified: a verdict that is taken is whole, and says what its JSON does.
func FuzzReadVerified(f *testing.F) {
	for _, raw := range bad() {
		f.Add(raw)
	}
	f.Add(`{"items":[` + m1 + `,` + m2 + `],` + rest + `}`)
	f.Fuzz(func(t *testing.T, raw string) {
		v, err := digest.ReadVerified(json.RawMessage(raw), keep)
		if err != nil {
			return
		}
		if err := v.Check(); err != nil {
			t.Errorf("%q: %v", raw, err)
		}
		if err := v.Answers(keep); err != nil {
			t.Errorf("%q: %v", raw, err)
		}
		var exact map[string]json.RawMessage
		var said string
		if json.Unmarshal([]byte(raw), &exact) != nil || json.Unmarshal(exact["verdict"], &said) != nil || !written[v.Verdict].MatchString(said) {
			t.Errorf("%q: read as %s", raw, v.Verdict)
		}
	})
}
