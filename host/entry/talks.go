package entry

// KindTalks stands in the stream of the talks that companions have not gone through yet, and
// never in a room's.
const KindTalks Kind = "talks" // input, Talks: people talked, or a talk was gone through

// Talks is the body of KindTalks. It has nothing of what was said.
type Talks struct {
	Done  []string `json:"done,omitempty"`  // rooms of which nothing waits any more
	Waits []Talk   `json:"waits,omitempty"` // after Done; one of a room that waits already takes its place
}

// Talk is what waits to be gone through in a room.
type Talk struct {
	Room string   `json:"room"`
	From uint64   `json:"from"` // seq of the first entry of it
	Here []string `json:"here"` // the companions that were there before that
}
