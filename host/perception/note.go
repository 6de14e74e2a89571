package perception

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/card"
	"github.com/companiond/companiond/host/entry"
)

// shortBody is how many bytes of a body are kept in the journal of what does not wait there.
const shortBody = 4 << 10

// Note gives what the journal keeps of a perception. All of one that waits, or that a game
// tells, but an image: those are large, and an hour later worth nothing.
func Note(who string, p abi.Percept, kept bool) entry.Perceived {
	data := []byte(p.Body)
	if p.Format == card.FormatImage {
		data = p.Image
	}
	sum := sha256.Sum256(data)
	k := entry.Perceived{
		Who: who, Title: p.Title, Format: p.Format, From: p.From, MediaType: p.MediaType, Size: len(data), SHA256: hex.EncodeToString(sum[:]), Kept: kept,
		Game: p.Game, Force: p.Force, Answers: p.Answers, Key: p.Key,
	}
	if p.Format != card.FormatImage && (kept || len(data) <= shortBody || p.Unasked()) {
		k.Body = p.Body
	}
	return k
}
