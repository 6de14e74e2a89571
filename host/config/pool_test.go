package config_test

import (
	"strings"
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/config"
)

// The keys of a room's pool come out in the words of the border, and without
// any they are the border's own.
func TestPool(t *testing.T) {
	c, problems := config.Parse("x.toml", []byte(`
[room.main]
policy = "vote+pool"
pool_pricing = "free"
pool_prices = ["20:5", " 120 : 60"]
pool_size = 200
pool_recovery = "2s"
pool_reserve = 20
pool_share = 100
[room.other]
`), nil)
	if config.Failed(problems) {
		t.Fatal(problems)
	}
	main, other := c.Rooms[0], c.Rooms[1]
	got := main.PoolSettings()
	if !main.HasPool() || got.Pricing != abi.PricingFree || got.Size != 200 || got.Recovery != 2000 || got.Reserve != 20 || got.Share != 100 {
		t.Errorf("%+v", got)
	}
	if len(got.Prices) != 2 || got.Prices[1] != (abi.Price{Chars: 120, Cost: 60}) {
		t.Errorf("prices: %+v", got.Prices)
	}
	usual, want := other.PoolSettings(), abi.DefaultPool()
	if other.HasPool() || other.PoolRecovery != 5*time.Second || usual.Recovery != want.Recovery || len(usual.Prices) != 3 || usual.Prices[2] != want.Prices[2] {
		t.Errorf("defaults: %+v", usual)
	}
}

// A price that nobody can ever pay is told of, and the file is taken as it was before.
func TestPricesThatCanNeverBePaid(t *testing.T) {
	for _, c := range []struct{ lines, want string }{
		{"pool_share = 70", `x.toml:3:14: room.main.pool_prices: 100:80 can never be paid, because pool_share is 70 (set pool_share = 80, or 0 for no share)`},
		{"pool_prices = [\"10:5\", \"50:60\", \"90:75\"]\npool_share = 70", `x.toml:3:15: room.main.pool_prices: 90:75 can never be paid, because pool_share is 70 (set pool_share = 75, or 0 for no share)`},
		{"pool_share = 80", ""}, {"pool_share = 0", ""}, {"pool_size = 300\npool_prices = [\"10:5\", \"50:120\"]", ""}, {"pool_reserve = 40", ""},
	} {
		for _, policy := range []string{"pool", "vote+pool", "vote"} {
			got, problems := config.Parse("x.toml", []byte("[room.main]\npolicy = \""+policy+"\"\n"+c.lines+"\n"), nil)
			want := c.want
			if policy == "vote" { // where nothing is paid
				want = ""
			}
			if config.Failed(problems) || len(got.Rooms) != 1 || len(problems) != min(len(want), 1) || want != "" && (problems[0].String() != want || problems[0].Severity != config.Warning) {
				t.Errorf("%s, %s:\n got %v\nwant %s", policy, c.lines, problems, want)
			}
		}
	}
}

// What is wrong with a pool is said at the key that is wrong.
func TestPoolMistakes(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{`pool_prices = ["10"]`, `x.toml:2:16: room.main.pool_prices: "10" is not CHARACTERS:COST (try "10:5")`},
		{`pool_prices = ["50:60", "10:5"]`, "x.toml:2:15: room.main.pool_prices: 10:5 must be longer and not cheaper than what stands before it"},
		{`pool_prices = []`, "x.toml:2:15: room.main.pool_prices: must not be empty"},
		{`pool_prices = ["10:5", "50:101"]`, "room.main.pool_prices: 50:101 is not CHARACTERS:COST with a cost of 0..100, the size"},
		{`pool_reserve = 50`, "x.toml:2:16: room.main.pool_reserve: 50 leaves less of 100 than a turn costs, 60"},
		{`pool_share = 59`, "x.toml:2:14: room.main.pool_share: 59 is less than a turn costs, 60"},
		{`pool_size = 50`, "x.toml:2:13: room.main.pool_"},
		{`pool_pricing = "fair"`, `room.main.pool_pricing: "fair" is unknown, have: strict, free`},
		{`pool_recovery = "0s"`, `room.main.pool_recovery: "0s" is outside 1ms..24h`},
		{`policy = "poll"`, `did you mean "pool"?`},
	} {
		_, problems := config.Parse("x.toml", []byte("[room.main]\n"+c.line+"\n"), nil)
		if !config.Failed(problems) || len(problems) != 1 || !strings.Contains(problems[0].String(), c.want) {
			t.Errorf("%s:\n got %v\nwant %s", c.line, problems, c.want)
		}
	}
}
