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
	switch {
	case companion == "" || !utf8.ValidString(companion):
		return abi.Errorf(abi.CodeInvalid, "companion: %q is empty or not UTF-8", companion)
	case key == "" || !utf8.ValidString(key) || !utf8.ValidString(value):
		return abi.Errorf(abi.CodeInvalid, "kv: key is empty, or key or value are not UTF-8")
	case len(key) > abi.MaxKVKey:
		return abi.Errorf(abi.CodeTooLarge, "kv.key: %d bytes, at most %d (MaxKVKey)", len(key), abi.MaxKVKey)
	case len(value) > abi.MaxKVValue:
		return abi.Errorf(abi.CodeTooLarge, "kv.value: %d bytes, at most %d (MaxKVValue)", len(value), abi.MaxKVValue)
	}
	return nil
}

// CheckTotal reports why a companion cannot keep so many keys, which have so many
// bytes with their values.
func CheckTotal(keys, bytes int) error {
	switch {
	case keys > abi.MaxKVKeys:
		return abi.Errorf(abi.CodeExhausted, "kv: %d keys, at most %d (MaxKVKeys)", keys, abi.MaxKVKeys)
	case bytes > abi.MaxKVTotal:
		return abi.Errorf(abi.CodeExhausted, "kv: %d bytes in all, at most %d (MaxKVTotal)", bytes, abi.MaxKVTotal)
	}
	return nil
}
