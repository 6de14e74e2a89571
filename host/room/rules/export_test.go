package rules

// What the tests of this package look at beside what it exports.
const (
	LongestLoad  = longestLoad
	Stalled      = stalled
	StateVersion = stateVersion
)

// Over is [State.over].
func (s *State) Over() string { return s.over() }
