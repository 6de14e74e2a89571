package turn

// SameName says whether two names read alike: case, width and the choice of
// hiragana or katakana make no difference.
func SameName(a, b string) bool { return string(fold(a).folded) == string(fold(b).folded) }

// Awaits says whether the voter's own answer for this round is still to come.
func (r *Round) Awaits(voter string) bool {
	b, ok := r.Ballots[voter]
	return !r.Decided && r.has(voter) && (!ok || (b.Carried && b.Failed == ""))
}
