package address

// Set is some names and whose each is. A name is found by any name that a reader
// cannot tell from it ([Same]). The zero value is an empty set.
type Set struct {
	whose map[string]string
	// Long says that one is also found by a name that differs by macrons alone: Tarō and Taro. It is set before names are.
	Long bool
}

// Keys are what names that are the same have one of in common. They take some time to make, and are the same for ever.
type Keys [2]string

// KeysOf gives the keys of a name, none that anybody has for an empty one.
func KeysOf(name string) Keys {
	if name == "" {
		return Keys{}
	}
	return Keys{"s" + Skeleton(name), "r" + Reading(name)}
}

// Add adds a name, unless one that is the same is there: then it answers whose
// that is, and false.
func (s *Set) Add(name, whose string) (other string, added bool) {
	if !s.Long {
		return s.AddKeys(KeysOf(name), whose)
	}
	look := LookOf(name)
	if other, added = s.AddKeys(look.short, whose); added && look.whole != look.short {
		other, added = s.AddKeys(look.whole, whose)
	}
	return other, added
}

// AddKeys is Add for whoever has the keys of the name.
func (s *Set) AddKeys(keys Keys, whose string) (other string, added bool) {
	if other, taken := s.find(keys); taken {
		return other, false
	}
	if s.whose == nil {
		s.whose = map[string]string{}
	}
	for _, k := range keys {
		s.whose[k] = whose
	}
	return whose, true
}

// Find says whose a name is, taken false for nobody's. An empty name is nobody's.
func (s *Set) Find(name string) (whose string, taken bool) {
	if name == "" || s == nil {
		return "", false
	}
	whose, taken = s.find(KeysOf(name))
	if short := Short(name); !taken && s.Long && short != name {
		whose, taken = s.find(KeysOf(short))
	}
	return whose, taken
}

func (s *Set) find(keys Keys) (whose string, taken bool) {
	for _, k := range keys {
		if whose, taken = s.whose[k]; taken && k != "" {
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
