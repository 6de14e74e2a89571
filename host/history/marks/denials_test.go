package marks_test

import (
	"strings"
	"testing"

	"github.com/companiond/companiond/host/history/marks"
)

// TestDenials: what is denied begins with what stands behind a negation in English, and is the word before it in Japanese.
func TestDenials(t *testing.T) {
	for clause, want := range map[string]string{
		"Mika does not pay Taro":                    "pay Taro",
		"They can't come and Mika won't call":       "come|call",
		"taro promises not to call Kenji":           "to call Kenji",
		"They disagreed on March 5":                 "agreed on March 5",
		"Not only Mika pays":                        "",
		"Don't forget to pay":                       "",
		"no more than 5000 yen":                     "",
		"whether or not they pay":                   "",
		"do not paint it blue but green":            "",
		"鍵を渡さない":                                    "渡",
		"現金は払いません":                                  "払",
		"3月28日ではない":                                 "3月28日",
		"8万4千円までじゃないです":                             "8万4千円",
		"渡すわけではない":                                  "渡",
		"渡さないわけではない":                                "",
		"渡さなければならない":                                "",
		"渡さないといけない":                                 "",
		"渡さないと帰れなくなる":                               "",
		"待たないで済む":                                   "",
		"渡さないと決めた":                                  "渡",
		"Bは不採用":                                     "採用",
		"必ず渡す":                                      "",
		"28日だけではない":                                 "",
		"":                                          "",
		"\xff not ":                                 "",
		strings.Repeat("İ", 50) + " does not pay":   "pay",
		"28日というのは誤り":                                "28日",
		"nobody pays":                               "pays",
		"the budget is not really at most 5000 yen": "really at most 5000 yen",
	} {
		var got []string
		for _, d := range marks.Denials(clause) {
			if d.Of != "" {
				got = append(got, d.Of)
			}
		}
		if s := strings.Join(got, "|"); s != want {
			t.Errorf("%q: %q, want %q", clause, s, want)
		}
	}
}
