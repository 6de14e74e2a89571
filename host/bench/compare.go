package bench

// Behind is a figure in which a policy of the house is not ahead of another, nor level.
type Behind struct {
	Cast   string  `json:"cast"`
	Policy string  `json:"policy"`
	Than   string  `json:"than"`
	Figure string  `json:"figure"`
	Ours   float64 `json:"ours"`
	Theirs float64 `json:"theirs"`
}

// figure is one that is compared; more is better where Best is 1, less where it is -1.
type figure struct {
	name string
	best float64
	of   func(Metrics) float64
}

// against says on which figures the house is to be ahead of a baseline.
func against(baseline string) []figure {
	silence := figure{"silence while somebody had something to say", -1, func(m Metrics) float64 { return m.Silence }}
	if baseline == "round-robin" {
		return []figure{{"addressed answers", 1, func(m Metrics) float64 { return m.Answered }}, silence}
	}
	return []figure{
		{"gap", 1, func(m Metrics) float64 { return m.GapGood }},
		{"balance", 1, func(m Metrics) float64 { return m.Even }},
		{"starvation", -1, func(m Metrics) float64 { return m.Waited }},
		{"dead rooms", -1, func(m Metrics) float64 { return m.DeadRooms }},
	}
}

// compare finds where the policies of the house are behind on a cast.
func compare(c Cast) (behind []Behind) {
	for _, ours := range c.Rows {
		for _, theirs := range c.Rows {
			if !ours.House || theirs.House {
				continue
			}
			for _, f := range against(theirs.Policy) {
				if a, b := f.of(ours.Metrics), f.of(theirs.Metrics); (a-b)*f.best < 0 {
					behind = append(behind, Behind{c.Name, ours.Policy, theirs.Policy, f.name, a, b})
				}
			}
		}
	}
	return behind
}
