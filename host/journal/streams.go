package journal

import (
	"context"
	"iter"
	"strings"
)

// Beside rooms a journal has streams that are none: nobody talks there, and no list of rooms
// has them. Their names begin as no room's can, for in a room's stand letters, digits and
// little else.
const (
	house = "("
	// Memory is the stream of the talks that companions have not gone through yet.
	Memory = "(memory)"
	// memories begins the names of those in which companions remember.
	memories = Memory + "/"
)

// IsRoom says whether a name is a room's, and not that of a stream beside them.
func IsRoom(name string) bool { return !strings.HasPrefix(name, house) }

// AfterStreams is behind the names of all streams that are no rooms', and before all rooms'.
const AfterStreams = ")"

// MemoryOf names the stream of what a companion remembers.
func MemoryOf(companion string) string { return memories + companion }

// Remembers gives the companion whose memory a stream is, ok false for any other.
func Remembers(stream string) (companion string, ok bool) { return strings.CutPrefix(stream, memories) }

// AllStreams gives the rows of the streams that are no rooms', by name, as AllRooms does.
func AllStreams(ctx context.Context, j Index) iter.Seq2[Room, error] {
	return func(yield func(Room, error) bool) {
		for r, err := range all("", func(after string) ([]Room, error) { return j.Rooms(ctx, after, page) }, nameOf) {
			if err == nil && IsRoom(r.Name) || !yield(r, err) {
				return
			}
		}
	}
}
