package journal

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/companiond/companiond/abi"
)

// CheckRoom reports why a room cannot be called so.
func CheckRoom(name string) error {
	if name == "" || !utf8.ValidString(name) {
		return abi.Errorf(abi.CodeInvalid, "room: %q is empty or not UTF-8", name)
	}
	return nil
}

// Check reports the first of some entries that breaks a rule of New.
func Check(entries []New) error {
	for _, e := range entries {
		switch {
		case e.ID == "" || !utf8.ValidString(e.ID) || strings.HasPrefix(e.ID, OwnerID):
			return abi.Errorf(abi.CodeInvalid, "entry.id: %q is empty, not UTF-8 or reserved", e.ID)
		case e.Kind == "":
			return abi.Errorf(abi.CodeInvalid, "entry.kind: must not be empty")
		case !json.Valid(e.Body):
			return abi.Errorf(abi.CodeInvalid, "entry.body: of %q is not JSON", e.ID)
		}
	}
	return nil
}

// CheckPair reports why a companion cannot keep a value under a key, whatever
// else it keeps.
func CheckPair(companion, key, value string) error {
	if companion == "" || !utf8.ValidString(companion) {
		return abi.Errorf(abi.CodeInvalid, "companion: %q is empty or not UTF-8", companion)
	}
	return abi.KVPair{Key: key, Value: value}.Check()
}
