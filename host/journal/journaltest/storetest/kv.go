package storetest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/journal"
	"pgregory.net/rapid"
)

// RunKV holds an engine to journal.KV. The suite closes what open gives if it
// has a Close method; reopen closes it and opens the same again, nil skips.
func RunKV(t *testing.T, open func(t *testing.T) journal.KV, reopen func(t *testing.T, kv journal.KV) journal.KV) {
	for _, c := range []struct {
		name string
		test func(t *testing.T, kv journal.KV)
	}{
		{"kv_bounds_are_named", kvBounds},
		{"kv_total_is_bounded_for_racers", kvRacers},
		{"kv_model", kvModel},
	} {
		t.Run(c.name, func(t *testing.T) {
			kv := open(t)
			defer closeKV(t, kv)
			c.test(t, kv)
		})
	}
	t.Run("kv_reopen_keeps_everything", func(t *testing.T) {
		if reopen == nil {
			t.Skip("no reopen hook")
		}
		kv := open(t)
		set(t, kv, "aya", "好きな食べ物", "りんご")
		kv = reopen(t, kv)
		defer closeKV(t, kv)
		wantValue(t, kv, "aya", "好きな食べ物", "りんご", true)
	})
}

func closeKV(t *testing.T, kv journal.KV) {
	if c, ok := kv.(interface{ Close() error }); ok {
		if err := c.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	}
}

func set(t *testing.T, kv journal.KV, companion, key, value string) {
	t.Helper()
	if err := kv.KVSet(t.Context(), companion, key, value); err != nil {
		t.Fatalf("set %q of %q: %v", key, companion, err)
	}
}

func wantValue(t *testing.T, kv journal.KV, companion, key, value string, there bool) {
	t.Helper()
	got, ok, err := kv.KVGet(t.Context(), companion, key)
	if got != value || ok != there || err != nil {
		t.Fatalf("get %q of %q: %q %v %v, want %q %v", key, companion, got, ok, err, value, there)
	}
}

// wantRefused checks the code of a refused set and that the bound is named.
func wantRefused(t *testing.T, err error, code abi.Code, names string) {
	t.Helper()
	if abi.CodeOf(err) != code || !strings.Contains(err.Error(), names) {
		t.Fatalf("got %v, want %s naming %s", err, code, names)
	}
}

func kvBounds(t *testing.T, kv journal.KV) {
	ctx := t.Context()
	set(t, kv, "aya", strings.Repeat("k", abi.MaxKVKey), strings.Repeat("v", abi.MaxKVValue))
	wantRefused(t, kv.KVSet(ctx, "aya", strings.Repeat("k", abi.MaxKVKey+1), ""), abi.CodeTooLarge, "MaxKVKey")
	wantRefused(t, kv.KVSet(ctx, "aya", "k", strings.Repeat("v", abi.MaxKVValue+1)), abi.CodeTooLarge, "MaxKVValue")
	wantRefused(t, kv.KVSet(ctx, "aya", "", "v"), abi.CodeInvalid, "key")
	wantRefused(t, kv.KVSet(ctx, "aya", "a\xff", "v"), abi.CodeInvalid, "UTF-8")
	wantRefused(t, kv.KVSet(ctx, "", "k", "v"), abi.CodeInvalid, "companion")

	var wg sync.WaitGroup // one after the other would take a commit each
	for w := range 10 {
		wg.Go(func() {
			for i := range abi.MaxKVKeys / 10 {
				if err := kv.KVSet(ctx, "rin", fmt.Sprintf("%d-%d", w, i), "v"); err != nil {
					t.Errorf("set: %v", err)
				}
			}
		})
	}
	wg.Wait()
	wantRefused(t, kv.KVSet(ctx, "rin", "one more", "v"), abi.CodeExhausted, "MaxKVKeys")
	set(t, kv, "rin", "0-0", "another value") // not one more
	if _, ok, err := kv.KVDel(ctx, "rin", "0-1"); !ok || err != nil {
		t.Fatalf("del: %v %v", ok, err)
	}
	set(t, kv, "rin", "one more", "v")

	// To the byte: sixteen values fill the store but for their keys.
	for i := range abi.MaxKVTotal/abi.MaxKVValue - 1 {
		set(t, kv, "hana", fmt.Sprintf("%02d", i), strings.Repeat("v", abi.MaxKVValue))
	}
	left := abi.MaxKVValue - 2*(abi.MaxKVTotal/abi.MaxKVValue)
	wantRefused(t, kv.KVSet(ctx, "hana", "xx", strings.Repeat("v", left+1)), abi.CodeExhausted, "MaxKVTotal")
	set(t, kv, "hana", "xx", strings.Repeat("v", left))
	set(t, kv, "hana", "00", strings.Repeat("w", abi.MaxKVValue))
	wantRefused(t, kv.KVSet(ctx, "hana", "y", ""), abi.CodeExhausted, "MaxKVTotal")
	wantValue(t, kv, "hana", "y", "", false)
}

// kvRacers lets many writers try to pass the bound together.
func kvRacers(t *testing.T, kv journal.KV) {
	var wg sync.WaitGroup
	for w := range 40 {
		wg.Go(func() {
			err := kv.KVSet(t.Context(), "aya", fmt.Sprintf("%02d", w), strings.Repeat("v", abi.MaxKVValue))
			if err != nil && abi.CodeOf(err) != abi.CodeExhausted {
				t.Errorf("set: %v", err)
			}
		})
	}
	wg.Wait()
	keys, err := kv.KVList(t.Context(), "aya", "", "", 100)
	if want := abi.MaxKVTotal/abi.MaxKVValue - 1; err != nil || len(keys) != want {
		t.Fatalf("%d values of %d bytes are stored, want %d: %v", len(keys), abi.MaxKVValue, want, err)
	}
}

func kvModel(t *testing.T, kv journal.KV) {
	n := 0
	word, text := rapid.StringMatching(`[aAb%_猫\x{10FFFF}\x00]{1,3}`), rapid.StringMatching(`[ab猫\x00]{0,3}`)
	part := rapid.StringMatching(`[aAb%_猫\x{10FFFF}]{0,2}`) // of keys
	rapid.Check(t, func(rt *rapid.T) {
		n++
		who, m := fmt.Sprintf("aya%d", n), map[string]string{} // the keys of others are the same
		ctx := context.Background()
		rt.Repeat(map[string]func(*rapid.T){
			"set": func(rt *rapid.T) {
				k, v := word.Draw(rt, "key"), text.Draw(rt, "value")
				if err := kv.KVSet(ctx, who, k, v); err != nil {
					rt.Fatalf("set: %v", err)
				}
				m[k] = v
			},
			"del": func(rt *rapid.T) {
				k := word.Draw(rt, "key")
				want, there := m[k]
				if old, ok, err := kv.KVDel(ctx, who, k); err != nil || old != want || ok != there {
					rt.Fatalf("del %q: %q %v %v, want %q %v", k, old, ok, err, want, there)
				}
				delete(m, k)
			},
			"get": func(rt *rapid.T) {
				k := word.Draw(rt, "key")
				want, there := m[k]
				if got, ok, err := kv.KVGet(ctx, who, k); err != nil || got != want || ok != there {
					rt.Fatalf("get %q: %q %v %v, want %q %v", k, got, ok, err, want, there)
				}
			},
			"": func(rt *rapid.T) {
				prefix, after, limit := part.Draw(rt, "prefix"), part.Draw(rt, "after"), rapid.SampledFrom([]int{-1, 0, 1, 2, 100}).Draw(rt, "limit")
				var want []string
				for k, v := range m {
					if got, ok, err := kv.KVGet(ctx, who, k); err != nil || !ok || got != v {
						rt.Fatalf("get %q: %q %v %v, want %q", k, got, ok, err, v)
					}
					if strings.HasPrefix(k, prefix) && k > after {
						want = append(want, k)
					}
				}
				slices.Sort(want)
				want = first(want, limit)
				if got, err := kv.KVList(ctx, who, prefix, after, limit); err != nil || !slices.Equal(got, want) {
					rt.Fatalf("list %q after %q: %q %v, want %q", prefix, after, got, err, want)
				}
			},
		})
	})
}
