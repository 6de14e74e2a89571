package journaltest

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"testing"
)

// Unzip reads a file of testdata/golden: a journal of an older version, or what is
// known of it.
func Unzip(t testing.TB, path string) []byte {
	t.Helper()
	zipped, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(zipped))
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
