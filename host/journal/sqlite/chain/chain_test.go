package chain

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/companiond/companiond/host/entry"
)

// TestChainIsStable pins the sums: a file of today must verify for ever, and one
// of schema 1 can be told from a damaged one.
func TestChainIsStable(t *testing.T) {
	e := entry.Entry{Seq: 1, Epoch: 1, At: time.UnixMilli(1795219200000), Kind: entry.KindSaid, ID: "m1", V: 2, Body: []byte(`{"text":"おはよう"}`)}
	got := fmt.Sprintf("%x", Next(Genesis("広場"), e, Digest([]byte("0123456789abcdef"), e.Body)))
	if want := "8da8959e9ceff51d4af66bcde39aaa9c"; got != want {
		t.Errorf("sum is %s, want %s", got, want)
	}
	if got, want := fmt.Sprintf("%x", Old(Genesis("広場"), e)), "ca68d1953267c8a2d8254e8e8a6ba26f"; got != want {
		t.Errorf("sum of schema 1 is %s, want %s", got, want)
	}
}

// TestSaltsDiffer: the same body has another digest each time.
func TestSaltsDiffer(t *testing.T) {
	b := Salts(2)
	if len(b) != 2*Size || bytes.Equal(b[:Size], b[Size:]) {
		t.Errorf("two salts are %x", b)
	}
}
