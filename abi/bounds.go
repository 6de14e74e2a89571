package abi

import "unicode/utf8"

// Limit gives how many of something are asked for: usual where nothing is said,
// and at most most.
func Limit(asked, usual, most int) (int, error) {
	switch {
	case asked == 0:
		return usual, nil
	case asked < 0 || asked > most:
		return 0, Errorf(CodeInvalid, "limit: %d is outside 1..%d", asked, most)
	}
	return asked, nil
}

// Check reports why so many random bytes cannot be had.
func (a RandomAsk) Check() error {
	if a.N < 1 || a.N > MaxRandom {
		return Errorf(CodeInvalid, "n: %d is outside 1..%d", a.N, MaxRandom)
	}
	return nil
}

// Check reports why a pair cannot be kept, whatever else is.
func (p KVPair) Check() error {
	switch {
	case p.Key == "" || !utf8.ValidString(p.Key) || !utf8.ValidString(p.Value):
		return Errorf(CodeInvalid, "kv: key is empty, or key or value are not UTF-8")
	case len(p.Key) > MaxKVKey:
		return Errorf(CodeTooLarge, "kv.key: %d bytes, at most %d (MaxKVKey)", len(p.Key), MaxKVKey)
	case len(p.Value) > MaxKVValue:
		return Errorf(CodeTooLarge, "kv.value: %d bytes, at most %d (MaxKVValue)", len(p.Value), MaxKVValue)
	}
	return nil
}

// CheckKV reports why a character cannot keep so many keys, which have so many
// bytes with their values.
func CheckKV(keys, bytes int) error {
	switch {
	case keys > MaxKVKeys:
		return Errorf(CodeExhausted, "kv: %d keys, at most %d (MaxKVKeys)", keys, MaxKVKeys)
	case bytes > MaxKVTotal:
		return Errorf(CodeExhausted, "kv: %d bytes in all, at most %d (MaxKVTotal)", bytes, MaxKVTotal)
	}
	return nil
}
