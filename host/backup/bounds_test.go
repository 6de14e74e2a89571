package backup

import (
	"slices"
	"strings"
	"testing"
)

// TestTooLarge: a file that the folder of characters would refuse for its size is neither saved nor put back, and the bound is named.
func TestTooLarge(t *testing.T) {
	h := newHome(t)
	const bound = "[wasm]\nmax_file = \"1KiB\"\n"
	h.write("companiond.toml", bound)
	h.write("characters/aya.talk.txt", "name: Aya\n")
	h.write("characters/big.wasm", strings.Repeat("x", 1025))
	h.write("characters/full.wasm", strings.Repeat("x", 1024))
	h.talk("main", "one")
	made, err := h.save("b.tar.gz")
	if left := strings.Join(made.LeftOut, "\n"); err != nil || !strings.Contains(left, "big.wasm: it has 1025 bytes, and wasm.max_file is 1KiB") || strings.Contains(left, "full") {
		t.Errorf("%v %q", err, made.LeftOut)
	}

	h.write("companiond.toml", "")
	if _, err := h.save("large.tar.gz"); err != nil {
		t.Fatal(err)
	}
	other := newHome(t)
	other.write("companiond.toml", bound)
	before := other.files()
	only := func(parts ...string) func(*Back) { return func(b *Back) { b.Only = parts } }
	if _, err := other.back(h.path("large.tar.gz"), only(Journal, Characters)); err == nil || !strings.Contains(err.Error(), "characters/big.wasm: it has 1025 bytes, and wasm.max_file is 1KiB") {
		t.Errorf("%v", err)
	}
	if after := other.files(); !slices.Equal(before, after) {
		t.Errorf("there were %q, and are %q", before, after)
	}
	if _, err := other.back(h.path("large.tar.gz"), only(Journal)); err != nil {
		t.Errorf("without the characters: %v", err)
	}
	if _, err := newHome(t).back(h.path("large.tar.gz")); err != nil {
		t.Errorf("with the settings of the backup: %v", err)
	}
}
