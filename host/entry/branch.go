package entry

// Forked is the body of KindForked, the first entry that a fork does not share with the room that it is
// forked of. Whoever had the floor there has not here, and nobody is asked about what was
// said before, but for a human's turn at the very end: that is still to be answered.
type Forked struct {
	Of   string `json:"of"`   // the other room
	At   uint64 `json:"at"`   // seq of the newest entry that both have
	Turn uint64 `json:"turn"` // the newest turn that both have, 0 for none
	By   string `json:"by"`   // who forked it
}
