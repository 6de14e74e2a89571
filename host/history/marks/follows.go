package marks

import "math/big"

// operands is how many marks are gone through for those that a number follows from.
const operands = 16

// Follows says whether a number is told by others of the same text, so that a text without it says it too: 200円 from
// each of 36人 are 7,200円, and 17 to 19 April are three days, or two nights.
func (m Mark) Follows(all []Mark) bool {
	if m.Kind != Number || len(all) > operands {
		return false
	}
	sum := m.amount()
	if sum == nil {
		return false
	}
	for i, a := range all {
		for _, b := range all[i+1:] {
			switch {
			case a.From == m.From || b.From == m.From:
			case a.Kind == Number && b.Kind == Number && !a.Weak && !b.Weak:
				if x, y := a.amount(), b.amount(); x != nil && y != nil && (sum.Cmp(new(big.Rat).Mul(x, y)) == 0 || a.Unit == b.Unit && sum.Cmp(new(big.Rat).Add(x, y)) == 0) {
					return true
				}
			case m.Unit == Days && a.Kind == Date && b.Kind == Date && a.day.date > 0 && b.day.date > 0 && (a.day.month == b.day.month || a.day.month*b.day.month == 0):
				if n := int64(b.day.date - a.day.date); n > 0 && (sum.Cmp(big.NewRat(n, 1)) == 0 || sum.Cmp(big.NewRat(n+1, 1)) == 0) {
					return true
				}
			}
		}
	}
	return false
}

// amount is the value of a number, nil for 0, 1 and what is none.
func (m Mark) amount() *big.Rat {
	r, ok := new(big.Rat).SetString(m.value)
	if !ok || r.Cmp(big.NewRat(1, 1)) <= 0 {
		return nil
	}
	return r
}
