package digest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/model"
	"github.com/companiond/companiond/host/model/tokens"
)

// TestLongest: a draft as long as a model has room for can be verified, also beside the largest things to be kept and turns on both sides; one that
// has the whole context to itself cannot.
func TestLongest(t *testing.T) {
	meter := new(tokens.Meter)
	for _, context := range []int{1000, 4000, 8000, 32_000} {
		a := &asked{answer: verdict(t)}
		m := a.model(context)
		ask := words{policy: strings.Repeat("方針。", 50), from: "taro", text: strings.Repeat("話", 3000), keep: strings.Repeat("鍵", 300), near: strings.Repeat("隣", 200)}.verifying()
		most := m.Longest(ask.Policy)
		if context == 1000 {
			if most != 0 {
				t.Errorf("%d of 1,000 tokens", most)
			}
			continue
		}
		draft := strings.Repeat("案", most*1000/meter.Tokens(tokens.Of(strings.Repeat("案", 1000))))
		put := func(text string) abi.Verifying {
			v := ask
			v.Draft, v.History = text, append([]abi.PastTurn{}, ask.History...)
			v.History[1].Text = v.Draft
			return v
		}
		if _, err := m.Verify(t.Context(), put(draft)); err != nil {
			t.Errorf("%d: a draft of %d tokens: %v", context, most, err)
		}
		if _, err := m.Verify(t.Context(), put(strings.Repeat("案", context))); abi.CodeOf(err) != abi.CodeTooLarge {
			t.Errorf("%d: a draft as long as the context: %v", context, err)
		}
	}
}

// TestPartsOfNoise: what the policy names has its room in the part in which it stands, however short the text is to be, and a part that is only noise may
// come to nothing.
func TestPartsOfNoise(t *testing.T) {
	var ask abi.Compressing
	for n := uint64(1); n <= 100; n++ {
		ask.Turns = append(ask.Turns, abi.PastTurn{N: n, From: "taro", Text: strings.Repeat("雑談です。", 40)})
	}
	for n := uint64(1); n <= 5; n++ {
		ask.Keep = append(ask.Keep, abi.KeepItem{ID: fmt.Sprint("M", n), Text: fmt.Sprintf("決まりは%d番、これは残す。", n), Turn: n, Policy: true})
	}
	ask.Length, ask.Unit = 90, abi.UnitCharacters
	a := &asked{}
	a.answer = func(req model.Request) (string, error) {
		all := linesOf(t, req)
		text := ""
		for _, l := range all {
			if l.Keep != "" {
				text += l.Text
			}
		}
		if n := len([]rune(text)); n > all[len(all)-1].Length {
			return "", fmt.Errorf("%d of %d letters", n, all[len(all)-1].Length)
		}
		return fmt.Sprintf(`{"text":%q}`, text), nil
	}
	c, err := a.model(8000).Compress(t.Context(), ask)
	if err != nil || strings.Count(c.Text, "決まりは") != 5 || len(a.reqs) < 4 {
		t.Errorf("%+v, %v; %d requests", c, err, len(a.reqs))
	}
	ask.Keep = nil // nothing at all is no text
	if c, err := a.model(8000).Compress(t.Context(), ask); abi.CodeOf(err) != abi.CodeInvalid || c.Text != "" {
		t.Errorf("%+v, %v", c, err)
	}
}
