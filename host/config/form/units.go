package form

import (
	"cmp"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// SpanText writes a duration the short way: "1m", not "1m0s".
func SpanText(d time.Duration) string {
	s := d.String()
	for _, end := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(s, end) {
			s = s[:len(s)-2]
		}
	}
	return s
}

var spanLike = regexp.MustCompile(`^\s*([0-9.]+)\s*(ms|milli|mi|h|d)?`)

// GuessSpan makes a duration of what somebody may have meant by s.
func GuessSpan(s string) string {
	if m := spanLike.FindStringSubmatch(strings.ToLower(s)); m != nil {
		n, err := strconv.ParseFloat(m[1], 64)
		switch {
		case err != nil || n > 1e6:
		case m[2] == "d":
			return strconv.FormatFloat(n*24, 'f', -1, 64) + "h"
		default:
			return m[1] + map[string]string{"": "s", "ms": "ms", "milli": "ms", "mi": "m", "h": "h"}[m[2]]
		}
	}
	return "5s"
}

// sizeUnits are the units of a size, each 1024 of the next.
var sizeUnits = [...]string{"GiB", "MiB", "KiB", "B"}

const gib = 1 << 30

// ParseSize reads "16MiB", "512KiB", "100B" or plain bytes.
func ParseSize(s string) (int64, bool) {
	unit := int64(1)
	for i, name := range sizeUnits {
		if number, ok := strings.CutSuffix(s, name); ok {
			s, unit = number, gib>>(10*i)
			break
		}
	}
	n, err := strconv.ParseUint(s, 10, 63)
	if err != nil || n > math.MaxInt64/uint64(unit) {
		return 0, false
	}
	return int64(n) * unit, true
}

// SizeText writes bytes in the largest unit that keeps them whole.
func SizeText(n int64) string {
	for i, name := range sizeUnits {
		if unit := int64(gib >> (10 * i)); n != 0 && n%unit == 0 {
			return strconv.FormatInt(n/unit, 10) + name
		}
	}
	return strconv.FormatInt(n, 10)
}

var sizeLike = regexp.MustCompile(`^\s*([0-9]{1,6})(?:\.[0-9.]*)?\s*([^0-9]|$)`)

// GuessSize makes a size of what somebody may have meant by s.
func GuessSize(s string) string {
	m := sizeLike.FindStringSubmatch(strings.ToLower(s))
	if m == nil {
		return "16MiB"
	}
	return m[1] + cmp.Or(map[string]string{"k": "KiB", "g": "GiB"}[m[2]], "MiB")
}
