package session

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"time"

	"github.com/companiond/companiond/abi"
)

// usedID is how many bytes of an id of the client's can stand in that of a message.
const usedID = 50

// Alias stands for a name in the ids of messages: key is the house's own, and secret, so that they do not tell the
// name once that is forgotten.
func Alias(key []byte, name string) string {
	mac := hmac.New(sha256.New, key)
	_, _ = mac.Write([]byte(name))
	return hex.EncodeToString(mac.Sum(nil)[:4])
}

// MessageID makes the id of a message of what the client of a wire calls it, the same for the same: WIRE.ALIAS.ID, or
// with a hash of one that is no name WIREh.ALIAS.HASH.
func MessageID(wire, alias, own string) string {
	if len(own) <= usedID && abi.CheckName("id", own) == nil {
		return wire + "." + alias + "." + own
	}
	sum := sha256.Sum256([]byte(own))
	return wire + "h." + alias + "." + hex.EncodeToString(sum[:16])
}

// Sooner gives the earlier of two times, of which zero is none.
func Sooner(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// Newest adds an id to those that are known, of which the newest stay.
func Newest(ids []string, id string, most int) []string {
	ids = append(ids, id)
	return ids[max(0, len(ids)-most):]
}
