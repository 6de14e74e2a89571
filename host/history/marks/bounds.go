package marks

// bound is what a number, a day or a time limits.
type bound struct {
	side   int  // -1: it is the most or the last; 1: it is the least or the first
	strict bool // it does not belong to it itself: 未満, before
	denied bool // something like it is denied, so that no side is known
	point  bool // of a time: it is said to be just then
}

// Against says whether the same number, day or time is another bound in a second mark: 以上 and 以下, 以内 and 未満, by and after; or is only
// passed there, where it is itself meant here: "after March 5" for March 5.
func (m Mark) Against(o Mark) bool {
	a, b := m.bound, o.bound
	switch {
	case a.denied || b.denied:
		return false
	case a.side*b.side < 0:
		return true
	case m.Kind != o.Kind || !b.strict && !(a.strict && b.side != 0):
		return false
	case m.Kind == Number:
		return a.strict != b.strict
	}
	return a.side == 0 && (b.side > 0 || a.point)
}

var (
	fewer  = Compile(`^ ?\p{Han}?(?:以下|以内|未満)|^ ?(?:まで(?:[^もず]|$)|が上限|が限度|が限界|を超え(?:ない|ず|たら|ると|ては)|max(?:imum)?\b|or (?:less|fewer|under)\b|at most\b|tops\b)|^(?:を|は)?(?:越え|超え)(?:ない|ず|ては)`)
	denied = Compile(`(?i)\b(?:nothing|no|not|never|none|n't|cannot)\b[^,.;]{0,25}$`)
	noMore = Compile(`(?i)\b(?:no|not) more than ?[¥$€£]?$`)
	larger = Compile(`^ ?\p{Han}?以上|^ ?(?:超|より(?:多|上|高)|を(?:超え|上回)る|から(?:$|[、。])|or (?:more|over|above)\b|at least\b|minimum\b)`)
	upto   = Compile(`(?i)(?:\bat most|\bno more than|\bnot more than|\bup to|\bunder|\bbelow|\bless than|\bfewer than|\bwithin|\bmax(?:imum)?(?: of)?|\bcap(?:ped)? at|\blimit(?:ed)?(?: is| of| to)?|\bno later than|\bnot exceed(?:ing)?|\bnever over|\bnot over|上限は?|最大で?|最高で?|多くて(?:も)?|高くて(?:も)?) ?[¥$€£]?$`)
	from   = Compile(`(?i)(?:\bat least|\bno less than|\bnot less than|\bno fewer than|\bmore than|\babove|\bmin(?:imum)?(?: of)?|最低で?も?|少なくとも|下限は?) ?[¥$€£]?$`)

	below = Compile(`^ ?(?:\p{Han}?未満|or under\b)`)
	under = Compile(`(?i)(?:\bunder|\bbelow|\bless than|\bfewer than) ?[¥$€£]?$`)
	above = Compile(`^ ?(?:超|より(?:多|上|高)|を(?:超える|上回る))`)
	over  = Compile(`(?i)(?:\bmore than|\babove) ?[¥$€£]?$`)

	// What limits a day or a time.
	last    = Compile(`^(?:まで|以前|必着|締め?切)`)
	earlier = Compile(`^(?:よりも?(?:前|早)|前(?:に|$|[、。]))`)
	first   = Compile(`^(?:から|以降|以後)`)
	later   = Compile(`^(?:よりも?(?:後|あと|遅)|を?過ぎ|すぎ|の?(?:後|あと)(?:に|$|[、。]))`)
	by      = Compile(`(?i)\b(?:by|until|till|through|up to|due(?: by| on)?|(?:no|not) later than|not after)(?: at| on)? ?$`)
	ahead   = Compile(`(?i)\b(?:before|prior to|earlier than) ?$`)
	since   = Compile(`(?i)\b(?:from|since|starting|beginning|as of|(?:no|not) earlier than|not before)(?: at| on)? ?$`)
	after   = Compile(`(?i)\b(?:after|later than|past) ?$`)
	just    = Compile(`(?i)\b(?:at|on) ?$`)
	moment  = Compile(`^(?:に|開始|集合)`)
	shut    = Compile(`(?i)\b(?:closed|away|off|out|shut)\b[^,.;]{0,15}$`)
	shutJa  = Compile(`^[^、。]{0,6}(?:休|不在|閉|禁止|不可|留守)`)
	of      = Compile(`^'s\b`)
)

// bound reads whether a number is the most or the least.
func (p *page) bound(m *Mark) {
	start := p.before(m.From)
	switch rest := p.behind(m.To); {
	case p.in(denied, start) && !p.in(noMore, start):
		m.bound.denied = true
	case p.in(fewer, rest) || p.in(upto, start):
		m.bound = bound{side: -1, strict: p.in(below, rest) || p.in(under, start)}
	case p.in(larger, rest) || p.in(from, start):
		m.bound = bound{side: 1, strict: p.in(above, rest) || p.in(over, start)}
	}
}

// dated reads whether a day or a time is the last, the first or just the one.
func (p *page) dated(m *Mark) {
	start, rest := p.before(m.From), p.behind(m.To)
	switch {
	case m.Weak || p.in(of, rest):
	case p.in(shut, start) || p.in(shutJa, rest):
		m.bound.denied = true
	case p.in(by, start) || p.in(last, rest):
		m.bound = bound{side: -1}
	case p.in(since, start):
		m.bound = bound{side: 1}
	case p.in(denied, start):
		m.bound.denied = true
	case p.in(earlier, rest) || p.in(ahead, start):
		m.bound = bound{side: -1, strict: true}
	case p.in(later, rest) || p.in(after, start):
		m.bound = bound{side: 1, strict: true}
	case p.in(first, rest):
		m.bound = bound{side: 1}
	case p.in(just, start) || p.in(moment, rest):
		m.bound.point = true
	}
}
