package memory

import (
	"context"
	"testing"
)

// Index makes a batch of vectors, as Run does.
func Index(ctx context.Context, t testing.TB, k *Keeper, companion string) {
	t.Helper()
	if err := k.indexOf(ctx, companion); err != nil {
		t.Fatal(err)
	}
}
