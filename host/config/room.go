package config

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/config/form"
	"github.com/companiond/companiond/host/turn"
)

// ReadRoom reads the keys of [room.NAME] from a JSON object instead of a file, with
// the same defaults and the same problems. The Key of a problem is the key alone. If
// one of them is an [Error], the Room is the zero value.
func ReadRoom(name string, object []byte) (Room, []Problem) {
	var keys map[string]any
	if err := json.Unmarshal(object, &keys); err != nil {
		return Room{}, []Problem{{Message: "is no JSON object: " + err.Error(), Severity: Error}}
	}
	for key := range keys {
		keys[key] = fromJSON(keys[key])
	}
	p := newParse("")
	p.fill(map[string]any{sectionRoom: map[string]any{name: keys}}, nil)
	for i, problem := range p.problems {
		p.problems[i].Key = strings.TrimPrefix(problem.Key, dotted{sectionRoom, name}.String()+".")
	}
	sortProblems(p.problems)
	if Failed(p.problems) {
		return Room{}, p.problems
	}
	return p.config.Rooms[0], p.problems
}

// fromJSON gives a JSON value as the TOML library would have given it.
func fromJSON(v any) any {
	switch v := v.(type) {
	case float64:
		if n := int64(v); float64(n) == v {
			return n
		}
	case []any:
		for i := range v {
			v[i] = fromJSON(v[i])
		}
	}
	return v
}

// PaceAuto is the pace of a room whose pauses are as long as its lines take to say.
const PaceAuto = "auto"

// Pause gives the pause behind a line, and whether it is as long as the line instead.
func (r Room) Pause() (pause time.Duration, auto bool) {
	pause, _ = time.ParseDuration(r.Pace)
	return pause, r.Pace == PaceAuto
}

func cleanPace(s string) (string, *form.Fault) {
	if s == PaceAuto {
		return s, nil
	}
	d, err := time.ParseDuration(s)
	switch {
	case err != nil || d < 0 || d > time.Minute:
		return "", &form.Fault{Message: form.Show(s) + ` is neither "auto" nor a duration of 0s to 1m`, Hint: `try "auto" or "700ms"`}
	case d%time.Millisecond != 0: // a room would round it, to none at last
		return "", &form.Fault{Message: form.Show(s) + " is finer than a millisecond"}
	}
	return form.SpanText(d), nil
}

// HasPool says whether the room's policy spends from a pool.
func (r Room) HasPool() bool {
	policy, err := turn.New(r.Policy, nil)
	return err == nil && policy.Memory() > 0
}

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
func cleanPrice(s string) (string, *form.Fault) {
	chars, cost, ok := cutPrice(s)
	if !ok {
		return "", &form.Fault{Message: form.Show(s) + " is not CHARACTERS:COST", Hint: `try "10:5"`}
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
	at, pool := dotted{sectionRoom, r.Name}, r.PoolSettings()
	err := pool.Check()
	if err == nil {
		if last := pool.Prices[len(pool.Prices)-1]; r.HasPool() && pool.Share > 0 && last.Cost > pool.Share {
			p.complain(&fault{
				message:  fmt.Sprintf("%d:%v can never be paid, because pool_share is %v", last.Chars, last.Cost, pool.Share),
				hint:     fmt.Sprintf("set pool_share = %v, or 0 for no share", last.Cost),
				severity: Warning, // configurations of before have it, and talk with their other prices
			}, at.add("pool_prices"), at.add("pool_share"))
		}
		return
	}
	refused := abi.AsError(err)
	keys := []dotted{at.add("pool_" + refused.Field)}
	for _, key := range sectionOf(at).names() {
		if strings.HasPrefix(key, "pool_") {
			keys = append(keys, at.add(key))
		}
	}
	p.complain(&fault{message: refused.Reason()}, keys...)
}

// CompressAuto is a Room.Compress: what is verified is approved.
const CompressAuto = "auto"

// checkCompress tells of an approval in advance that does not say of what.
func (p *parse) checkCompress(r Room) {
	if at := (dotted{sectionRoom, r.Name}); r.Compress == CompressAuto && r.CompressPolicy == "" {
		p.complain(&fault{
			message: `must say what stays: compress = "auto" approves what is verified by it`,
			hint:    `write compress_policy = "Keep every decision with its reason, all numbers and dates. Greetings are noise."`,
		}, at.add("compress_policy"), at.add("compress"))
	}
}

// minds are who compresses and verifies besides companions.
var minds = []string{"", "model", "extract"}
