package abi

import "math"

// Pool is a talk budget's settings, the policy_settings of the policies "pool"
// and "vote+pool". Points of the pool are what talking costs; each
// spend comes back whole, Recovery after it was made.
type Pool struct {
	Pricing  Pricing `json:"pricing"`
	Size     float64 `json:"size"`        // points in a full pool
	Recovery int64   `json:"recovery_ms"` // until a spend comes back
	Prices   []Price `json:"prices"`      // shortest first; the first is a backchannel's
	Reserve  float64 `json:"reserve"`     // the last points, kept for those who were addressed
	Share    float64 `json:"share"`       // most that one participant may have spent at a time; 0: all
}

// Pricing says who names the price of a line.
type Pricing string

// Strict takes the price of the line's length; free takes what the speaker
// offers, whatever the line's length, as chat-relay does.
const (
	PricingStrict Pricing = "strict"
	PricingFree   Pricing = "free"
)

// Price is what a line of up to Chars characters (code points) costs.
type Price struct {
	Chars int     `json:"chars"`
	Cost  float64 `json:"cost"`
}

// Budget is a pool at a moment.
type Budget struct {
	Level  float64 `json:"level"`  // 0..Size
	Size   float64 `json:"size"`   // points in a full pool
	Chars  int     `json:"chars"`  // the longest line that can be paid for now; 0: none, -1: of any length
	Prices []Price `json:"prices"` // shortest first; the first is a backchannel's
}

// DefaultPool gives the settings of chat-relay: 100 points that come back after
// 5 s, and its prices 5, 60, 80 for lines of up to 10, 50, 100 characters.
func DefaultPool() Pool {
	return Pool{Pricing: PricingStrict, Size: 100, Recovery: 5000, Prices: []Price{{10, 5}, {50, 60}, {100, 80}}}
}

// TurnPrice is what a turn of usual length costs: the second price, the first
// being a backchannel's; 0 where nothing has a price.
func (p Pool) TurnPrice() float64 {
	if len(p.Prices) == 0 {
		return 0
	}
	return p.Prices[min(1, len(p.Prices)-1)].Cost
}

// TurnPrice is that of the pool.
func (b Budget) TurnPrice() float64 { return Pool{Prices: b.Prices}.TurnPrice() }

// Check reports the first setting that breaks a rule, by its name: "share: ...".
func (p Pool) Check() error {
	points := func(v float64) bool { return v >= 0 && v <= p.Size }
	switch {
	case p.Pricing != PricingStrict && p.Pricing != PricingFree:
		return Field("pricing", CodeInvalid, "%q is neither %q nor %q", p.Pricing, PricingStrict, PricingFree)
	case !(p.Size > 0 && p.Size <= math.MaxInt32):
		return Field("size", CodeInvalid, "%v is outside 1..%d", p.Size, math.MaxInt32)
	case p.Recovery < 1:
		return Field("recovery", CodeInvalid, "%d ms is less than 1", p.Recovery)
	case len(p.Prices) == 0:
		return Field("prices", CodeInvalid, "must not be empty")
	case !points(p.Reserve):
		return Field("reserve", CodeInvalid, "%v is outside 0..%v, the size", p.Reserve, p.Size)
	case !points(p.Share):
		return Field("share", CodeInvalid, "%v is outside 0..%v, the size", p.Share, p.Size)
	}
	for i, price := range p.Prices {
		switch {
		case price.Chars < 1 || !points(price.Cost):
			return Field("prices", CodeInvalid, "%d:%v is not CHARACTERS:COST with a cost of 0..%v, the size", price.Chars, price.Cost, p.Size)
		case i > 0 && (price.Chars <= p.Prices[i-1].Chars || price.Cost < p.Prices[i-1].Cost):
			return Field("prices", CodeInvalid, "%d:%v must be longer and not cheaper than what stands before it", price.Chars, price.Cost)
		}
	}
	switch turn := p.TurnPrice(); { // else companions could never take a turn
	case turn > p.Size-p.Reserve:
		return Field("reserve", CodeInvalid, "%v leaves less of %v than a turn costs, %v", p.Reserve, p.Size, turn)
	case p.Share > 0 && turn > p.Share:
		return Field("share", CodeInvalid, "%v is less than a turn costs, %v", p.Share, turn)
	}
	return nil
}
