package turn

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
)

// noon is when the tests of the pool play.
var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// spends makes a ledger of costs that were paid so many milliseconds before noon.
func spends(from string, agoAndCost ...float64) []Spend {
	var l []Spend
	for i := 0; i < len(agoAndCost); i += 2 {
		l = append(l, Spend{from, noon.Add(-time.Duration(agoAndCost[i]) * time.Millisecond), agoAndCost[i+1]})
	}
	return l
}

func offers(points float64) *float64 { return &points }

func letters(n int) string { return strings.Repeat("あ", n) }

// policyOf gives a policy that a test's settings are right for.
func policyOf(t fataler, name, settings string) Policy {
	p, err := New(name, json.RawMessage(settings))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

const free = `{"pricing":"free"}`

// TestPoolPrices holds the whole table of prices, kinds and refusals.
func TestPoolPrices(t *testing.T) {
	const turn, aside = abi.KindTurn, abi.KindBackchannel
	for _, tc := range []struct {
		settings string
		bid      Bid
		kind     abi.MessageKind
		cost     float64
		code     abi.Code
		why      string // part of the words of a refusal
	}{
		// Strict: the class of the length decides, in characters and not in bytes.
		{"", Bid{Text: letters(1)}, aside, 5, "", ""},
		{"", Bid{Text: letters(10)}, aside, 5, "", ""},
		{"", Bid{Text: letters(11)}, turn, 60, "", ""},
		{"", Bid{Text: letters(50)}, turn, 60, "", ""},
		{"", Bid{Text: letters(51)}, turn, 80, "", ""},
		{"", Bid{Text: letters(100)}, turn, 80, "", ""},
		{"", Bid{Text: letters(101)}, turn, 0, abi.CodeTooLarge, "101 characters, at most 100"},
		{"", Bid{Text: letters(101), Offer: offers(100)}, turn, 0, abi.CodeTooLarge, "101 characters"},
		// An explicit kind stands, but a backchannel is short.
		{"", Bid{Text: letters(3), Kind: turn}, turn, 5, "", ""},
		{"", Bid{Text: letters(10), Kind: aside}, aside, 5, "", ""},
		{"", Bid{Text: letters(11), Kind: aside}, aside, 0, abi.CodeTooLarge, "at most 10 characters"},
		// The price and more may be offered, less may not.
		{"", Bid{Text: letters(10), Offer: offers(5)}, aside, 5, "", ""},
		{"", Bid{Text: letters(10), Offer: offers(60)}, turn, 60, "", ""},
		{"", Bid{Text: letters(10), Offer: offers(60), Kind: aside}, aside, 60, "", ""},
		{"", Bid{Text: letters(11), Offer: offers(60)}, turn, 60, "", ""},
		{"", Bid{Text: letters(11), Offer: offers(5)}, turn, 0, abi.CodeInvalid, "costs 60, 5 was offered"},
		{"", Bid{Text: letters(1), Offer: offers(4.9)}, aside, 0, abi.CodeInvalid, "costs 5, 4.9 was offered"},
		{"", Bid{Text: letters(1), Offer: offers(0)}, aside, 0, abi.CodeInvalid, "amount:"},
		{"", Bid{Text: letters(1), Offer: offers(101)}, turn, 0, abi.CodeInvalid, "outside 0..100"},
		{"", Bid{Text: letters(1), Offer: offers(-1)}, aside, 0, abi.CodeInvalid, "outside 0..100"},
		// Free: any offer is taken, whatever the length (so chat-relay has it).
		{free, Bid{Text: letters(5000), Offer: offers(0)}, aside, 0, "", ""},
		{free, Bid{Text: letters(5000), Offer: offers(5)}, aside, 5, "", ""},
		{free, Bid{Text: letters(1), Offer: offers(6)}, turn, 6, "", ""},
		{free, Bid{Text: letters(5000), Offer: offers(0), Kind: turn}, turn, 0, "", ""},
		{free, Bid{Text: letters(5000), Kind: aside}, aside, 80, "", ""},
		{free, Bid{Text: letters(5000)}, turn, 80, "", ""},
		{free, Bid{Text: letters(11)}, turn, 60, "", ""},
		{free, Bid{Text: letters(10)}, aside, 5, "", ""},
		{free, Bid{Text: letters(1), Offer: offers(100.5)}, turn, 0, abi.CodeInvalid, "outside 0..100"},
		// A holder of the floor takes a turn, however short, and is not asked what it would pay.
		{"", Bid{Text: "はい", Floor: true}, turn, 5, "", ""},
		{"", Bid{Text: letters(20), Floor: true, Offer: offers(1)}, turn, 60, "", ""},
		{free, Bid{Text: "はい", Floor: true, Offer: offers(1)}, turn, 5, "", ""},
	} {
		b := tc.bid
		b.From, b.By, b.Now = "bot", abi.KindAgent, noon
		offer := "nothing"
		if b.Offer != nil {
			offer = num(*b.Offer)
		}
		t.Run(fmt.Sprintf("%d/%s/%s%v/%s", len([]rune(b.Text)), b.Kind, offer, b.Floor, tc.settings), func(t *testing.T) {
			v := policyOf(t, "pool", tc.settings).Admit(b)
			if v.Admit != (tc.code == "") || v.Code != tc.code || v.Kind != tc.kind || v.Admit && v.Cost != tc.cost {
				t.Errorf("%+v, want kind %q, cost %v, code %q", v, tc.kind, tc.cost, tc.code)
			}
			if !strings.Contains(v.Why, tc.why) || (v.Why == "") != v.Admit {
				t.Errorf("the words are %q, want %q in them", v.Why, tc.why)
			}
		})
	}
}

// TestPoolRefusesWhatItCannotPay is the boundary of chat-relay's code, not of its
// prose: a cost that equals the level is paid, and each spend comes back whole.
func TestPoolRefusesWhatItCannotPay(t *testing.T) {
	const reserve, share = `{"reserve":40}`, `{"share":70}`
	for _, tc := range []struct {
		name     string
		settings string
		ledger   []Spend
		bid      Bid
		until    float64 // milliseconds from noon; -1: admitted
	}{
		{"full", "", nil, Bid{Text: letters(100)}, -1},
		{"equal passes", "", spends("x", 10, 40), Bid{Text: letters(50)}, -1},
		{"a point too few", "", spends("x", 10, 41), Bid{Text: letters(50)}, 4990},
		{"came back just now", "", spends("x", 5000, 41), Bid{Text: letters(50)}, -1},
		{"comes back in a moment", "", spends("x", 4999, 41), Bid{Text: letters(50)}, 1},
		{"the first of two is enough", "", spends("x", 3000, 60, 1000, 10), Bid{Text: letters(50)}, 2000},
		{"both are needed", "", spends("x", 3000, 30, 1000, 30), Bid{Text: letters(100)}, 4000},
		{"empty", "", spends("x", 3000, 100), Bid{Text: letters(1)}, 2000},
		{"nothing costs nothing", free, spends("x", 3000, 100), Bid{Text: "x", Offer: offers(0)}, -1},
		{"the reserve is touched", reserve, spends("x", 1000, 1), Bid{Text: letters(50)}, 4000},
		{"the reserve is not touched", reserve, nil, Bid{Text: letters(50)}, -1},
		{"the reserve is for who is addressed", reserve, spends("x", 1000, 40), Bid{Text: letters(50), Addressed: true}, -1},
		{"the reserve has an end", reserve, spends("x", 1000, 41), Bid{Text: letters(50), Addressed: true}, 4000},
		{"another's share", share, spends("x", 1000, 30), Bid{Text: letters(50)}, -1},
		{"one's own share", share, spends("bot", 1000, 11), Bid{Text: letters(50)}, 4000},
		{"one's own share, all of it", share, spends("bot", 1000, 10), Bid{Text: letters(50)}, -1},
		{"being addressed is no larger share", share, spends("bot", 1000, 11), Bid{Text: letters(50), Addressed: true}, 4000},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := tc.bid
			b.From, b.By, b.Now, b.Ledger = "bot", abi.KindAgent, noon, tc.ledger
			v := policyOf(t, "pool", tc.settings).Admit(b)
			if tc.until < 0 {
				if !v.Admit {
					t.Errorf("refused: %+v", v)
				}
				return
			}
			until := noon.Add(time.Duration(tc.until) * time.Millisecond)
			if v.Admit || v.Code != abi.CodeExhausted || !v.Until.Equal(until) || !strings.HasPrefix(v.Why, "not enough resource") {
				t.Errorf("%+v, want exhausted until %v", v, until)
			}
		})
	}
}

// TestPoolSaysWhatItCanNeverPay: a speaker that offers more than the reserve or its
// share will ever leave is told that waiting does not help. Otherwise the turn would
// be kept for it again and again, and nobody else could talk.
func TestPoolSaysWhatItCanNeverPay(t *testing.T) {
	for _, settings := range []string{`{"reserve":40}`, `{"share":70}`} {
		for _, ledger := range [][]Spend{nil, spends("x", 1000, 5)} {
			v := policyOf(t, "pool", settings).Admit(Bid{From: "bot", By: abi.KindAgent, Text: letters(100), Now: noon, Ledger: ledger})
			if v.Admit || v.Code != abi.CodeExhausted || !v.Until.IsZero() {
				t.Errorf("%s, %d spends: %+v, want exhausted without an end", settings, len(ledger), v)
			}
		}
	}
}

// TestHumansAlwaysGetTheirWordIn: no length, price or empty pool stops a human,
// who pays no more than there is.
func TestHumansAlwaysGetTheirWordIn(t *testing.T) {
	for _, name := range []string{"pool", "vote+pool"} {
		for _, tc := range []struct {
			offer *float64
			kind  abi.MessageKind
			spent float64
			cost  float64
		}{
			{nil, "", 100, 0}, {offers(80), "", 100, 0}, {offers(80), "", 30, 70}, {offers(80), "", 0, 80},
			{offers(-3), "", 0, 0}, {offers(5), abi.KindBackchannel, 0, 5},
		} {
			v := policyOf(t, name, `{"reserve":40,"share":60}`).Admit(Bid{
				From: "taro", By: abi.KindHuman, Text: letters(5000), Kind: tc.kind, Offer: tc.offer, Now: noon, Ledger: spends("x", 10, tc.spent),
			})
			kind := tc.kind
			if kind == "" {
				kind = abi.KindTurn
			}
			if !v.Admit || v.Cost != tc.cost || v.Kind != kind {
				t.Errorf("%s, %+v: %+v", name, tc, v)
			}
		}
	}
}

// TestVotePoolAdmits: the floor is by votes and free, backchannels are priced
// beside it.
func TestVotePoolAdmits(t *testing.T) {
	const turn, aside = abi.KindTurn, abi.KindBackchannel
	for _, tc := range []struct {
		name  string
		bid   Bid
		spent float64
		want  Verdict // without Why
	}{
		{"a turn with the floor", Bid{Text: letters(500), Kind: turn, Floor: true}, 100, Verdict{Admit: true, Kind: turn}},
		{"a short one of no kind with the floor", Bid{Text: "はい", Floor: true}, 100, Verdict{Admit: true, Kind: turn}},
		{"a turn without the floor", Bid{Text: letters(20), Kind: turn}, 0, Verdict{Kind: turn, Code: abi.CodeDenied}},
		{"a long line of no kind", Bid{Text: letters(20)}, 0, Verdict{Kind: turn, Code: abi.CodeDenied}},
		{"a long line in an empty pool", Bid{Text: letters(20)}, 100, Verdict{Kind: turn, Code: abi.CodeDenied}},
		{"much offered for a short line", Bid{Text: "はい", Offer: offers(60)}, 0, Verdict{Kind: turn, Code: abi.CodeDenied}},
		{"a backchannel", Bid{Text: "はい"}, 0, Verdict{Admit: true, Kind: aside, Cost: 5}},
		{"a backchannel, by name", Bid{Text: "はい", Kind: aside}, 95, Verdict{Admit: true, Kind: aside, Cost: 5}},
		{"a backchannel of who has the floor", Bid{Text: "はい", Kind: aside, Floor: true}, 0, Verdict{Admit: true, Kind: aside, Cost: 5}},
		{"a backchannel and an empty pool", Bid{Text: "はい"}, 96, Verdict{Kind: aside, Cost: 5, Code: abi.CodeExhausted, Until: noon.Add(4990 * time.Millisecond)}},
		{"a long backchannel", Bid{Text: letters(11), Kind: aside}, 0, Verdict{Kind: aside, Cost: 60, Code: abi.CodeTooLarge}},
	} {
		b := tc.bid
		b.From, b.By, b.Now, b.Ledger = "bot", abi.KindAgent, noon, spends("x", 10, tc.spent)
		v := policyOf(t, "vote+pool", "").Admit(b)
		if (v.Why == "") != v.Admit {
			t.Errorf("%s: the words are %q", tc.name, v.Why)
		}
		v.Why = ""
		if tc.want.Code != "" && tc.want.Code != abi.CodeExhausted {
			v.Cost, tc.want.Cost = 0, 0 // of no line
		}
		if v != tc.want {
			t.Errorf("%s: %+v, want %+v", tc.name, v, tc.want)
		}
	}
}

// TestPoolSettings: a wrong setting is refused by its name, so that it never
// replaces a good one (law 5).
func TestPoolSettings(t *testing.T) {
	for settings, want := range map[string]string{
		``: "", `null`: "", `{}`: "", `{"pricing":"free"}`: "", `{"reserve":40}`: "", `{"share":60}`: "", `{"prices":null}`: "",
		`{"prices":[{"chars":1,"cost":100}]}`:                    "",
		`{"prices":[{"chars":1,"cost":0},{"chars":2,"cost":0}]}`: "",
		`[]`:                                  "policy_settings:",
		`{"level":3}`:                         "policy_settings:",
		`{"size":"x"}`:                        "policy_settings:",
		`{"pricing":"cheap"}`:                 "pricing:",
		`{"size":0}`:                          "size:",
		`{"size":-5}`:                         "size:",
		`{"size":1e300}`:                      "size:",
		`{"recovery_ms":0}`:                   "recovery:",
		`{"prices":[]}`:                       "prices:",
		`{"prices":[{"chars":0,"cost":5}]}`:   "prices: 0:5",
		`{"prices":[{"chars":10,"cost":-1}]}`: "prices: 10:-1",
		`{"prices":[{"chars":10,"cost":5},{"chars":50,"cost":101}]}`: "prices: 50:101",
		`{"prices":[{"chars":10,"cost":5},{"chars":10,"cost":6}]}`:   "prices: 10:6",
		`{"prices":[{"chars":10,"cost":5},{"chars":20,"cost":4}]}`:   "prices: 20:4",
		`{"reserve":41}`:  "reserve: 41 leaves less of 100 than a turn costs, 60",
		`{"reserve":-1}`:  "reserve:",
		`{"reserve":101}`: "reserve:",
		`{"share":59}`:    "share: 59 is less than a turn costs, 60",
		`{"share":-1}`:    "share:",
		`{"share":101}`:   "share:",
		`{"size":50}`:     "prices: 50:60",
		`{"prices":[{"chars":10,"cost":5},{"chars":50,"cost":60}],"size":4}`: "prices: 10:5",
	} {
		for _, name := range []string{"pool", "vote+pool"} {
			_, err := New(name, json.RawMessage(settings))
			switch {
			case want == "" && err != nil:
				t.Errorf("%s %s: %v", name, settings, err)
			case want != "" && (err == nil || abi.CodeOf(err) != abi.CodeInvalid || !strings.Contains(err.Error(), want)):
				t.Errorf("%s %s: %v, want %q", name, settings, err, want)
			}
		}
	}
}

// TestPoolSettingsAreTheirOwn: a price of the settings takes nothing over from
// the default price that stood in its place.
func TestPoolSettingsAreTheirOwn(t *testing.T) {
	p := policyOf(t, "pool", `{"prices":[{"chars":20},{"chars":30,"cost":7}]}`).(Pool)
	if got := asJSON(t, p.set.Prices); got != `[{"chars":20,"cost":0},{"chars":30,"cost":7}]` {
		t.Errorf("the prices are %s", got)
	}
	if got := asJSON(t, abi.DefaultPool().Prices); got != `[{"chars":10,"cost":5},{"chars":50,"cost":60},{"chars":100,"cost":80}]` {
		t.Errorf("the default prices are %s now", got)
	}
}
