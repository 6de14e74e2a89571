package config

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/companiond/companiond/abi"
)

// Pool is a room's pool_* keys; see abi.Pool.
type Pool struct {
	Pricing  string
	Size     int
	Recovery time.Duration
	Prices   []string // "CHARACTERS:COST"
	Reserve  int
	Share    int
}

// HasPool says whether the room's policy spends from a pool.
func (r Room) HasPool() bool { return r.Policy == "pool" || r.Policy == "vote+pool" }

// PoolSettings gives the pool in the words of the border.
func (r Room) PoolSettings() abi.Pool {
	p := abi.Pool{
		Pricing: abi.Pricing(r.Pool.Pricing), Size: float64(r.Pool.Size), Recovery: r.Pool.Recovery.Milliseconds(),
		Reserve: float64(r.Pool.Reserve), Share: float64(r.Pool.Share),
	}
	for _, s := range r.Pool.Prices {
		chars, cost, _ := cutPrice(s)
		p.Prices = append(p.Prices, abi.Price{Chars: chars, Cost: float64(cost)})
	}
	return p
}

func poolSettings() []setting {
	usual := abi.DefaultPool()
	var prices []string
	for _, p := range usual.Prices {
		prices = append(prices, fmt.Sprintf("%d:%v", p.Chars, p.Cost))
	}
	return []setting{
		{"room.NAME.pool_pricing", choice{[]string{string(abi.PricingStrict), string(abi.PricingFree)}}, string(usual.Pricing),
			"With policy \"pool\" or \"vote+pool\": \"strict\" takes a message's price by its length, \"free\" takes what the speaker offers, whatever it says for it.",
			func(_ *Config, t *table) any { return &t.room.Pool.Pricing }},
		{"room.NAME.pool_prices", list{cleanPrice}, strings.Join(prices, ","),
			"Prices as CHARACTERS:COST, shortest first. The first is a backchannel's, the last the longest message that strict pricing takes. Japanese needs fewer characters than English: for English talk try \"20:5\", \"120:60\", \"280:80\".",
			func(_ *Config, t *table) any { return &t.room.Pool.Prices }},
		{"room.NAME.pool_size", number{1, math.MaxInt32}, fmt.Sprint(usual.Size),
			"Points in a full pool.",
			func(_ *Config, t *table) any { return &t.room.Pool.Size }},
		{"room.NAME.pool_recovery", span{milli, day}, (time.Duration(usual.Recovery) * milli).String(),
			"How long until points that were spent come back.",
			func(_ *Config, t *table) any { return &t.room.Pool.Recovery }},
		{"room.NAME.pool_reserve", number{0, math.MaxInt32}, fmt.Sprint(usual.Reserve),
			"The last points of the pool, kept for participants who were addressed.",
			func(_ *Config, t *table) any { return &t.room.Pool.Reserve }},
		{"room.NAME.pool_share", number{0, math.MaxInt32}, fmt.Sprint(usual.Share),
			"Most points that one participant may have spent at a time. 0 means all of them.",
			func(_ *Config, t *table) any { return &t.room.Pool.Share }},
	}
}

// cleanPrice takes CHARACTERS:COST.
func cleanPrice(s string) (string, *fault) {
	chars, cost, ok := cutPrice(s)
	if !ok {
		return "", &fault{message: show(s) + " is not CHARACTERS:COST", hint: `try "10:5"`}
	}
	return fmt.Sprintf("%d:%d", chars, cost), nil
}

func cutPrice(s string) (chars, cost int, ok bool) {
	a, b, found := strings.Cut(s, ":")
	chars, err := strconv.Atoi(strings.TrimSpace(a))
	cost, err2 := strconv.Atoi(strings.TrimSpace(b))
	return chars, cost, found && err == nil && err2 == nil && chars > 0 && cost >= 0 && cost <= math.MaxInt32
}

// checkPool compares the keys of a room's pool with each other.
func (p *parse) checkPool(r Room) {
	err := r.PoolSettings().Check()
	if err == nil {
		return
	}
	name, why, _ := strings.Cut(abi.AsError(err).Message, ": ")
	keys := []string{roomKey(r.Name, "pool_"+name)}
	for _, s := range poolSettings() {
		if key := roomKey(r.Name, s.leaf()); key != keys[0] {
			keys = append(keys, key)
		}
	}
	p.complain(&fault{message: why}, keys...)
}
