package abi

// Pool is a talk budget's settings, the policy_settings of the policies "pool"
// and "vote+pool" (seed A). Points of the pool are what talking costs; each
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
// offers, as seed A does (flaw A1).
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
