package config

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/companiond/companiond/abi"
)

// HasPool says whether the room's policy spends from a pool.
func (r Room) HasPool() bool { return r.Policy == "pool" || r.Policy == "vote+pool" }

// PoolSettings gives the pool in the words of the border.
func (r Room) PoolSettings() abi.Pool {
	p := abi.Pool{
		Pricing: abi.Pricing(r.PoolPricing), Size: float64(r.PoolSize), Recovery: r.PoolRecovery.Milliseconds(),
		Reserve: float64(r.PoolReserve), Share: float64(r.PoolShare),
	}
	for _, s := range r.PoolPrices {
		chars, cost, _ := cutPrice(s)
		p.Prices = append(p.Prices, abi.Price{Chars: chars, Cost: float64(cost)})
	}
	return p
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
func (p *parse) checkPool(at dotted, r Room) {
	err := r.PoolSettings().Check()
	if err == nil {
		return
	}
	name, why, _ := strings.Cut(abi.AsError(err).Message, ": ")
	keys := []dotted{at.add("pool_" + name)}
	for _, k := range poolKeys() {
		keys = append(keys, at.add(k.name))
	}
	p.complain(&fault{message: why}, keys...)
}
