package judge_test

import (
	"testing"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/history"
	"github.com/companiond/companiond/host/history/judge"
	"github.com/companiond/companiond/host/history/keep"
)

// TestShortThingsAreJudged: what is forbidden, open, decided or limited in a few words is kept in other words, and refuses a draft that leaves it out
// or turns it.
func TestShortThingsAreJudged(t *testing.T) {
	for _, c := range []struct{ policy, said, good, bad string }{
		{"Keep all prohibitions.", "Do not share the password with anybody.", "The password is not shared with anybody.", "The password is shared with everybody."},
		{"Keep what is forbidden.", "No smoking in here.", "Smoking is not allowed.", "Smoking is allowed."},
		{"Keep what is forbidden.", "You may not smoke here.", "They may not smoke here.", "They may smoke here."},
		{"Keep what is forbidden. Redis matters.", "We do not use Redis.", "Redis is not used.", "They use Redis."},
		{"禁止事項を残す。", "ケーブルに触るな。", "ケーブルに触らない。", "ケーブルに触る。"},
		{"禁止事項を残す。", "立入禁止です。", "立入は禁止。", "立入は自由。"},
		{"Keep open questions.", "The venue is still open.", "The venue is undecided.", "The venue is the town hall."},
		{"決定を残す。", "デザインBに決めました。", "デザインBに決定。", "みんな元気で、何かに決めました。"},
		{"Keep decisions.", "We agreed on blue.", "They agreed on blue.", "They agreed on red."},
		{"Keep limits.", "Temperature must stay below 4 degrees.", "The temperature stays under 4 degrees.", "The temperature must stay below 9 degrees."},
		{"Keep limits.", "The speed limit is 3 knots.", "Speed limit: 3 knots.", "The speed limit is 8 knots."},
		{"Keep limits.", "No more than 3 dogs.", "At most 3 dogs.", "At least 3 dogs."},
		{"Keep the PIN.", "The PIN is 4711.", "PIN: 4711.", "They have a PIN."},
	} {
		turns := []abi.PastTurn{{N: 1, From: "mika", Text: "Hello there. 8 or 9 of us, red or blue?"}, {N: 2, From: "taro", Text: c.said}}
		items := keep.Items(turns, c.policy)
		for draft, want := range map[string]history.Verdict{c.good: history.Yes, c.bad: history.No, "They had a nice talk.": history.No, c.said: history.Yes} {
			if draft[0] == 'T' && c.said[0] > 'z' {
				continue // in another language it cannot be compared
			}
			if v, f, why := judged(turns, items, draft, anyLength, judge.Verify(turns, items, draft)); v != want {
				t.Errorf("%s -> %s: %s %+v\n%s", c.said, draft, v, f, why)
			}
			said := abi.Verified{Verdict: abi.VerdictYes}
			for _, k := range items {
				said.Items = append(said.Items, abi.VerifiedItem{ID: k.ID, Status: abi.StatusKept, Quote: draft})
			}
			if v, f, why := judged(turns, items, draft, anyLength, said); v != want {
				t.Errorf("%s -> %s: %s by a model %+v\n%s", c.said, draft, v, f, why)
			}
		}
	}
}
