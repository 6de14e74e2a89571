package rooms

// Common gives the newest turn that two rooms of a family have in common, 0 for none. all is the family,
// as [Directory.Branches] gives it.
func Common(all []Branch, a, b string) uint64 {
	if a == b {
		return lineage(all, a)[a]
	}
	mine, theirs := lineage(all, a), lineage(all, b)
	var common uint64
	for name, turns := range mine {
		if other, both := theirs[name]; both {
			common = max(common, min(turns, other))
		}
	}
	return common
}

// lineage gives the rooms that a room is made of, itself among them, and up to which turn of each.
func lineage(all []Branch, name string) map[string]uint64 {
	upto := map[string]uint64{}
	least := ^uint64(0)
	for name != "" {
		next := ""
		for _, b := range all {
			if b.Name == name {
				least = min(least, b.Turns)
				upto[name] = least
				next, least = b.Of, min(least, b.Turn)
				break
			}
		}
		name = next
	}
	return upto
}
