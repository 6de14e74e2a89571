package engine_test

import (
	"encoding/json"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/companiond/companiond/plugins/voice/engine"
)

// TestMouthLastsAsLongAsTheSound: whatever a query says, a mouth moves just as long as its sound.
func TestMouthLastsAsLongAsTheSound(t *testing.T) {
	length := rapid.Float64Range(-0.1, 0.5)
	mora := rapid.Custom(func(t *rapid.T) map[string]any {
		return map[string]any{
			"consonant": rapid.SampledFrom([]string{"", "k", "m", "py", "ちょ"}).Draw(t, "consonant"), "consonant_length": length.Draw(t, "c"),
			"vowel": rapid.SampledFrom([]string{"a", "I", "u", "e", "O", "N", "cl", "pau", "", "x"}).Draw(t, "vowel"), "vowel_length": length.Draw(t, "v"), "pitch": 5,
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		b, err := json.Marshal(map[string]any{
			"accent_phrases": []any{map[string]any{"moras": rapid.SliceOf(mora).Draw(t, "moras"), "is_interrogative": rapid.Bool().Draw(t, "question"), "pause_mora": mora.Draw(t, "pause")}},
			"speedScale":     rapid.Float64Range(0, 4).Draw(t, "speed"), "prePhonemeLength": length.Draw(t, "before"), "postPhonemeLength": length.Draw(t, "after"),
		})
		if err != nil {
			t.Fatal(err)
		}
		seconds := rapid.Float64Range(0, 5).Draw(t, "seconds")
		total := 0
		for i, v := range engine.Mouth(b, seconds) {
			if v.MS <= 0 || v.Open < 0 || v.Open > 1 || v.Open == 0 && v.Shape != "" || len(v.Shape) > 1 {
				t.Fatalf("shape %d: %+v", i, v)
			}
			total += v.MS
		}
		if total != 0 && total != int(math.Round(seconds*1000)) {
			t.Fatalf("%d ms of %v s", total, seconds)
		}
	})
}

func FuzzMouth(f *testing.F) {
	f.Add([]byte(query), 1.4)
	f.Add([]byte(`{"speedScale":1e-300,"prePhonemeLength":1e300}`), 1.0)
	f.Fuzz(func(t *testing.T, b []byte, seconds float64) {
		if !(seconds >= 0 && seconds < 1000) {
			return
		}
		for _, v := range engine.Mouth(b, seconds) {
			if v.MS <= 0 {
				t.Fatalf("%+v", v)
			}
		}
	})
}
