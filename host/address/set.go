package address

// Set is some names and whose each is. A name is found by any name that a reader
// cannot tell from it ([Same]). The zero value is an empty set.
type Set struct{ whose map[string]string }

// keys are what names that are the same have one of in common.
func keys(name string) [2]string { return [2]string{"s" + Skeleton(name), "r" + Reading(name)} }

// Add adds a name, unless one that is the same is there: then it answers whose
// that is, and false.
func (s *Set) Add(name, whose string) (other string, added bool) {
	if other, taken := s.Find(name); taken {
		return other, false
	}
	if s.whose == nil {
		s.whose = map[string]string{}
	}
	for _, k := range keys(name) {
		s.whose[k] = whose
	}
	return whose, true
}

// Find says whose a name is, taken false for nobody's. An empty name is nobody's.
func (s *Set) Find(name string) (whose string, taken bool) {
	if name == "" || s == nil {
		return "", false
	}
	for _, k := range keys(name) {
		if whose, taken = s.whose[k]; taken {
			return whose, true
		}
	}
	return "", false
}

// Same says whether two names are one to people: a reader cannot tell them apart
// ([Skeleton]), or they read alike ([Reading]). It is symmetric, and no more than
// that: Ν is N and its small letter ν is v, but N is not v.
func Same(a, b string) bool { return Reading(a) == Reading(b) || Skeleton(a) == Skeleton(b) }

// Reading is what all names that read alike have in common: case, width and the
// choice of hiragana or katakana make no difference. It is for comparing many
// names, and not for showing.
func Reading(name string) string { return string(fold(name).folded) }
