package namekey_test

import (
	"bytes"
	"testing"

	"github.com/companiond/companiond/host/journal/sqlite"
	"github.com/companiond/companiond/host/namekey"
)

// The key of names is made once, and is the same after a restart.
func TestNameKey(t *testing.T) {
	dir := t.TempDir()
	var keys [][]byte
	for _, path := range []string{dir + "/a.db", dir + "/a.db", dir + "/b.db"} {
		db, err := sqlite.Open(sqlite.Config{Path: path})
		if err != nil {
			t.Fatal(err)
		}
		var n namekey.Key
		for range 2 {
			key, err := n.Of(t.Context(), db.KVIn(""))
			if err != nil || len(key) != 32 {
				t.Fatalf("%x %v", key, err)
			}
			keys = append(keys, key)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for i, same := range []bool{true, true, true, true, false, false} {
		if bytes.Equal(keys[i], keys[0]) != same {
			t.Errorf("key %d: %x, the first %x", i, keys[i], keys[0])
		}
	}
}
