package digest_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/model"
	"github.com/companiond/companiond/host/module/prompt/digest"

	"github.com/companiond/companiond/host/waittest"
)

// TestCompress: the model is told all that matters, and its text is the answer.
func TestCompress(t *testing.T) {
	a := &asked{answer: says("{\"text\":\" 予算は84,000円。\\n\"}")}
	ask := words{policy: "金額は残す。", from: "taro", text: "予算は84,000円。", keep: "84,000円", draft: "予算の話。", feedback: "M1 がない。"}.compressing()
	c, err := a.model(8000).Compress(t.Context(), ask)
	if err != nil || c.Text != "予算は84,000円。" || len(a.reqs) != 1 {
		t.Fatalf("%+v, %v", c, err)
	}
	all := linesOf(t, a.reqs[0])
	task, refused := all[len(all)-1], all[len(all)-2]
	if refused.Refused != ask.Draft || refused.Feedback != ask.Feedback || *all[0].Policy != ask.Policy || all[1].Keep != "M1" || all[2].Turn != 7 || all[3].Upto != 9 {
		t.Errorf("told %s", a.reqs[0].Messages[0].Text)
	}
	if task.Task != "compress" || task.Length != 100 || task.Unit != "characters" || task.Language != "ja" || task.Parts != 0 {
		t.Errorf("asked %+v", task)
	}
}

// TestNoText: what cannot stand for turns is none.
func TestNoText(t *testing.T) {
	for name, raw := range map[string]string{
		"nothing": ``, "no JSON": `予算は`, "cut off": `{"text":"予算は`, "a word": `"予算"`, "no text": `{}`, "empty": `{"text":" \n"}`, "a list": `{"text":["a"]}`,
		"null": `{"text":null}`, "two": `{"text":"a","text":"b"}`, "another": `{"Text":"a"}`, "control": `{"text":"a\u0000b"}`, "turned": `{"text":"a\u202eb"}`,
		"no UTF-8": "{\"text\":\"\xff\"}", "endless": `{"text":"` + strings.Repeat("a", abi.MaxDigest+1) + `"}`,
	} {
		a := &asked{answer: says(raw)}
		ask := words{text: "話"}.compressing()
		if c, err := a.model(8000).Compress(t.Context(), ask); err == nil || c.Text != "" {
			t.Errorf("%s: %+v, %v", name, c, err)
		}
		if c, err := digest.ReadCompressed(json.RawMessage(raw)); err == nil {
			t.Errorf("%s: %+v", name, c)
		}
	}
	a := &asked{answer: says(`{"text":"短い。"}`), stop: model.StopLength}
	if c, err := a.model(8000).Compress(t.Context(), words{text: "話"}.compressing()); abi.CodeOf(err) != abi.CodeInvalid || c.Text != "" {
		t.Errorf("cut off: %+v, %v", c, err)
	}
	if _, err := a.model(8000).Compress(t.Context(), abi.Compressing{}); abi.CodeOf(err) != abi.CodeInvalid {
		t.Errorf("nothing is asked: %v", err)
	}
}

// TestTooLong: the model is told once that its text is too long.
func TestTooLong(t *testing.T) {
	long := strings.Repeat("話", 30)
	for _, c := range []struct {
		answers []string
		unit    string
		want    string
		times   int
	}{
		{[]string{long, "短い。"}, abi.UnitCharacters, "短い。", 2},
		{[]string{long, long + "話"}, abi.UnitCharacters, long + "話", 2},
		{[]string{"短い。"}, abi.UnitCharacters, "短い。", 1},
		{[]string{long, "短い。"}, abi.UnitTokens, "短い。", 2},
		{[]string{strings.Repeat("a", 30)}, abi.UnitTokens, strings.Repeat("a", 30), 1},
	} {
		n := 0
		a := &asked{answer: func(model.Request) (string, error) { n++; return fmt.Sprintf(`{"text":%q}`, c.answers[n-1]), nil }}
		ask := words{text: strings.Repeat("長い話。", 20)}.compressing()
		ask.Length, ask.Unit = 20, c.unit
		got, err := a.model(8000).Compress(t.Context(), ask)
		if err != nil || got.Text != c.want || len(a.reqs) != c.times {
			t.Errorf("%v: %q after %d, %v", c.answers, got.Text, len(a.reqs), err)
		}
	}
}

// TestUnseen: what nobody sees is no part of a text, nor of its length.
func TestUnseen(t *testing.T) {
	const seen = "短い。"
	a := &asked{answer: says(`{"text":"\ufeff` + strings.Repeat("\u200b", 30) + `短\ud83d\udb40\udc41い。\udb40"}`)} // halves of signs
	ask := words{text: strings.Repeat("長い話。", 20)}.compressing()
	ask.Length, ask.Unit = 20, abi.UnitCharacters
	if got, err := a.model(8000).Compress(t.Context(), ask); err != nil || got.Text != seen || len(a.reqs) != 1 {
		t.Errorf("%+q after %d, %v", got.Text, len(a.reqs), err)
	}
}

// shorten answers with the beginning of the turns, as long as it may be.
func shorten(t testing.TB) func(model.Request) (string, error) {
	return func(req model.Request) (string, error) {
		all := linesOf(t, req)
		var said []rune
		for _, l := range all {
			if l.Turn > 0 && l.Keep == "" {
				said = append(said, []rune(strings.ReplaceAll(l.Text, "\n", "/"))...)
			}
		}
		b, err := json.Marshal(map[string]string{"text": strings.TrimSpace("・" + string(said[:min(len(said), max(1, all[len(all)-1].Length-1))]))})
		return string(b), err
	}
}

// TestLongCompress: what is longer than the context is told in parts, behind one another.
func TestLongCompress(t *testing.T) {
	var ask abi.Compressing
	for i := range 100 {
		n := uint64(i + 1)
		ask.Turns = append(ask.Turns, abi.PastTurn{N: n, From: "taro", Text: fmt.Sprintf("%d番の話。%s", n, strings.Repeat("設計。", 40))})
		ask.Keep = append(ask.Keep, abi.KeepItem{ID: fmt.Sprint("M", n), Text: fmt.Sprint(n, "番"), Turn: n, Policy: true})
	}
	ask.Length, ask.Unit, ask.Draft, ask.Feedback = 1000, abi.UnitCharacters, "前の案", "M7 がない。"
	a := &asked{answer: shorten(t)}
	c, err := a.model(8000).Compress(t.Context(), ask)
	if err != nil {
		t.Fatal(err)
	}
	n := utf8.RuneCountInString(c.Text)
	if len(a.reqs) < 4 || n > 1000 || n < 900 || strings.Count(c.Text, "・") != len(a.reqs) {
		t.Errorf("%d requests made %d characters", len(a.reqs), n)
	}
	next := uint64(1)
	for i, req := range a.reqs {
		all := linesOf(t, req)
		if task := all[len(all)-1]; task.Part != i+1 || task.Parts != len(a.reqs) || all[len(all)-2].Feedback != ask.Feedback || all[len(all)-2].Refused != "" {
			t.Errorf("request %d: %+v, %+v", i, task, all[len(all)-2])
		}
		kept := map[uint64]bool{}
		for _, l := range all {
			switch {
			case l.Keep != "":
				kept[l.Turn] = true
			case l.Turn > 0:
				if l.Turn != next || !kept[l.Turn] {
					t.Errorf("turn %d stands where %d should, kept %v", l.Turn, next, kept[l.Turn])
				}
				next++
			}
		}
	}
	if next != 101 {
		t.Errorf("%d turns are told", next-1)
	}

	whole := shorten(t) // too long in parts: once more of what they are
	a.reqs, a.answer = nil, func(req model.Request) (string, error) {
		all := linesOf(t, req)
		if all[len(all)-1].Part == 0 {
			return whole(req)
		}
		return `{"text":"` + strings.Repeat("長", all[len(all)-1].Length+20) + `"}`, nil
	}
	c, err = a.model(16_000).Compress(t.Context(), ask)
	last := linesOf(t, a.reqs[len(a.reqs)-1])
	turn := last[len(last)-3]
	if err != nil || utf8.RuneCountInString(c.Text) > 1000 || turn.Turn != 1 || turn.Upto != 100 || !strings.HasPrefix(turn.Text, "長") {
		t.Errorf("%d characters of %+v, %v", utf8.RuneCountInString(c.Text), turn, err)
	}
	a.answer = func(req model.Request) (string, error) {
		return "", abi.Errorf(abi.CodeUnavailable, "no model")
	}
	if _, err := a.model(8000).Compress(t.Context(), ask); abi.CodeOf(err) != abi.CodeUnavailable {
		t.Error(err)
	}
	if _, err := a.model(800).Compress(t.Context(), ask); abi.CodeOf(err) != abi.CodeTooLarge {
		t.Error(err)
	}
}

// TestCompressFits: whatever the turns, no request is longer than the context, and each turn is in one
// in all its length.
func TestCompressFits(t *testing.T) {
	waittest.WithoutRaces(t)
	rapid.Check(t, func(rt *rapid.T) {
		turns, keep := drawTurns(rt)
		context := rapid.SampledFrom([]int{1000, 2000, 4000, 8000, 128_000}).Draw(rt, "context")
		ask := abi.Compressing{
			Turns: turns, Keep: keep, Policy: "数は残す。", Length: rapid.SampledFrom([]int{1, 50, 1000, 20_000}).Draw(rt, "length"),
			Unit: rapid.SampledFrom([]string{abi.UnitCharacters, abi.UnitTokens}).Draw(rt, "unit"), Feedback: strings.Repeat("直", rapid.SampledFrom([]int{0, 100}).Draw(rt, "feedback")),
		}
		a := &asked{answer: shorten(t)}
		c, err := a.model(context).Compress(rt.Context(), ask)
		if abi.CodeOf(err) == abi.CodeTooLarge && context == 1000 && len(a.reqs) == 0 {
			return
		}
		if err != nil {
			rt.Fatal(err)
		}
		if c.Text == "" {
			rt.Fatal("nothing is told")
		}
		taskOf := func(req model.Request) line { all := linesOf(t, req); return all[len(all)-1] }
		inParts := slices.ContainsFunc(a.reqs, func(req model.Request) bool { return taskOf(req).Part > 0 })
		told := map[uint64]int{}
		for _, req := range a.reqs {
			fits(rt, req, context)
			for _, l := range linesOf(t, req) {
				if l.Turn > 0 && l.Keep == "" && (taskOf(req).Part > 0) == inParts {
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

// FuzzReadCompressed: a text that is taken can stand for turns.
func FuzzReadCompressed(f *testing.F) {
	f.Add(`{"text":"予算は84,000円。"}`)
	f.Add(`{"text":"a","text":"b"}`)
	f.Fuzz(func(t *testing.T, raw string) {
		c, err := digest.ReadCompressed(json.RawMessage(raw))
		if err != nil {
			return
		}
		var exact map[string]string
		if err := c.Check(); err != nil {
			t.Errorf("%q: %v", raw, err)
		}
		var any map[string]json.RawMessage
		if json.Unmarshal([]byte(raw), &any) != nil {
			t.Errorf("%q is taken", raw)
		}
		if len(any) == 1 && (json.Unmarshal([]byte(raw), &exact) != nil || strings.TrimSpace(exact["text"]) != c.Text) {
			t.Errorf("%q: read as %q", raw, c.Text)
		}
	})
}
