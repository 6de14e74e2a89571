package abi

import "time"

// MemoryKind says what is remembered.
type MemoryKind string

// A fact is something that somebody said of themselves or of the world; an episode is what
// happened in a talk.
const (
	MemoryFact    MemoryKind = "fact"
	MemoryEpisode MemoryKind = "episode"
)

// Visibility says where a companion may use what it remembers.
type Visibility string

// The visibilities, the narrowest first.
const (
	VisibleRoom   Visibility = "room"   // in the room where it was said
	VisiblePerson Visibility = "person" // in every room in which whoever said it is
	VisibleAll    Visibility = "all"    // everywhere
)

// Bounds of what a companion remembers.
const (
	MaxMemoryText = 2 << 10 // bytes of a text or a quotation
	MaxMemoryKeys = 16      // keys of one, at most MaxName bytes each
	MaxMemories   = 50      // found by one search
	MaxMemoryAdds = 30      // memory.add of a companion in a minute
)

// Memory is one thing that a companion remembers. Text and Quote are words of others: data
// and never instructions.
type Memory struct {
	ID   string     `json:"id"`
	Kind MemoryKind `json:"kind"`
	Text string     `json:"text"`
	// Quote is the part of the source that Text rests on, letter by letter; the daemon found
	// it there. Empty for what a module added, or a person wrote at a door.
	Quote  string   `json:"quote,omitempty"`
	About  []string `json:"about,omitempty"` // ids of those whom it is about
	Keys   []string `json:"keys,omitempty"`  // what it is found by: names, things
	Room   string   `json:"room,omitempty"`  // where it was said
	Turns  []uint64 `json:"turns,omitempty"` // seqs there
	SaidBy string   `json:"said_by,omitempty"`
	// EditedBy is who wrote Text as it is now at a door: it is not what SaidBy said any more,
	// and has no Quote.
	EditedBy   string     `json:"edited_by,omitempty"`
	SaidAt     time.Time  `json:"said_at,omitzero"`
	ValidFrom  time.Time  `json:"valid_from,omitzero"`
	ValidTo    time.Time  `json:"valid_to,omitzero"` // it was so until then; zero: it still is
	Importance int        `json:"importance"`        // 1..5
	Visibility Visibility `json:"visibility,omitempty"`
}

type (
	// MemoryAsk looks for what the companion remembers that has to do with Text, of what it
	// may use in the room of the call.
	MemoryAsk struct {
		Text  string   `json:"text,omitempty"`  // empty: the newest, the most important first
		About []string `json:"about,omitempty"` // and those whom it is about
		Limit int      `json:"limit,omitempty"` // 0 means 8; at most MaxMemories
		Past  bool     `json:"past,omitempty"`  // also what is no longer so
	}
	// Memories answers HostMemorySearch, the best first.
	Memories struct {
		Memories []Memory `json:"memories"`
	}
	// MemoryAdd is something to remember. With a Turn, the seq of a message of the room of
	// the call, Quote has to stand in it, and whoever said that is who said it; without one
	// there is no Quote, and nobody said it but the module itself. Replaces are ids of what is
	// no longer so.
	MemoryAdd struct {
		Kind       MemoryKind `json:"kind,omitempty"` // empty: a fact
		Text       string     `json:"text"`
		Quote      string     `json:"quote,omitempty"`
		Turn       uint64     `json:"turn,omitempty"`
		About      []string   `json:"about,omitempty"`
		Keys       []string   `json:"keys,omitempty"`
		Importance int        `json:"importance,omitempty"` // 1..5; 0 means 3
		Replaces   []string   `json:"replaces,omitempty"`
	}
)

// Check reports what is wrong with a search.
func (a MemoryAsk) Check() error {
	if len(a.Text) > MaxText {
		return Field("text", CodeTooLarge, "%d bytes, at most %d (MaxText)", len(a.Text), MaxText)
	}
	_, err := Limit(a.Limit, 8, MaxMemories)
	return err
}

// Check reports what is wrong with something to remember, whatever else is.
func (a MemoryAdd) Check() error {
	if err := CheckText("text", a.Text); err != nil {
		return err
	}
	switch {
	case len(a.Text) > MaxMemoryText:
		return Field("text", CodeTooLarge, "%d bytes, at most %d (MaxMemoryText)", len(a.Text), MaxMemoryText)
	case len(a.Quote) > MaxMemoryText:
		return Field("quote", CodeTooLarge, "%d bytes, at most %d (MaxMemoryText)", len(a.Quote), MaxMemoryText)
	case a.Quote == "" && a.Turn != 0:
		return Field("quote", CodeInvalid, "must not be empty with a turn; give the words of the turn that it rests on, letter by letter")
	case a.Quote != "" && a.Turn == 0:
		return Field("turn", CodeInvalid, "must be given with a quote: the seq of the message that it stands in")
	case len(a.Keys) > MaxMemoryKeys:
		return Field("keys", CodeTooLarge, "%d keys, at most %d (MaxMemoryKeys)", len(a.Keys), MaxMemoryKeys)
	case len(a.About) > MaxMembers || len(a.Replaces) > MaxMembers:
		return Field("about", CodeTooLarge, "at most %d ids in about and in replaces (MaxMembers)", MaxMembers)
	case a.Importance < 0 || a.Importance > 5:
		return Field("importance", CodeInvalid, "%d is outside 1..5", a.Importance)
	case a.Kind != "" && a.Kind != MemoryFact && a.Kind != MemoryEpisode:
		return Field("kind", CodeInvalid, "%q is neither %q nor %q", a.Kind, MemoryFact, MemoryEpisode)
	}
	return nil
}

// EventKind names what a module is told of.
type EventKind string

// EventForget says that words of somebody were erased, and that what the module made of
// them has to go, too: whatever is left of them in its keys is deleted by the daemon.
const EventForget EventKind = "forget"

// Event is the data of OpEvent.
type Event struct {
	Kind   EventKind `json:"kind"`
	Forget *Forget   `json:"forget,omitempty"`
}

// Forget is what was erased: all that somebody said, or one thing that was remembered.
type Forget struct {
	Who   string   `json:"who,omitempty"`
	Facts []string `json:"facts,omitempty"` // ids
	Words []string `json:"words,omitempty"` // what must not be left anywhere
}
