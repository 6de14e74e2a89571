package form

import (
	"testing"
	"time"
)

const (
	kib  = 1 << 10
	mib  = 1 << 20
	page = 64 * kib
)

func TestSpanText(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", time.Millisecond: "1ms", 1500 * time.Millisecond: "1.5s", 10 * time.Second: "10s", time.Minute: "1m",
		61 * time.Second: "1m1s", time.Hour: "1h", time.Hour + time.Second: "1h0m1s", 90 * time.Minute: "1h30m", 10 * time.Minute: "10m", 20 * time.Hour: "20h",
	} {
		if got := SpanText(d); got != want {
			t.Errorf("%d: got %s, want %s", d, got, want)
		}
		if back, err := time.ParseDuration(want); err != nil || back != d {
			t.Errorf("%s reads as %v, %v", want, back, err)
		}
	}
}

func TestSizeText(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0", 1: "1B", 1000: "1000B", kib: "1KiB", kib + 1: "1025B", 64 * kib: "64KiB", mib: "1MiB", 17 * page: "1088KiB", 1 << 30: "1GiB", 1 << 62: "4294967296GiB",
	} {
		if got := SizeText(n); got != want {
			t.Errorf("%d: got %s, want %s", n, got, want)
		}
		if back, ok := ParseSize(want); !ok || back != n {
			t.Errorf("%s reads as %d, %v", want, back, ok)
		}
	}
	for _, s := range []string{"", "B", "KiB", " 1", "1 ", "+1", "-1", "1_0", "0x1", "1KiBB", "8589934592GiB", "9223372036854775808", "1kib"} {
		if n, ok := ParseSize(s); ok {
			t.Errorf("%q reads as %d", s, n)
		}
	}
}
