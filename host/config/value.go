package config

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// spanText writes a duration the short way: "1m", not "1m0s".
func spanText(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = s[:len(s)-2]
	}
	if strings.HasSuffix(s, "h0m") {
		s = s[:len(s)-2]
	}
	return s
}

// guessSpan makes a duration of what somebody may have meant by s.
func guessSpan(s string) string {
	number, unit := cutNumber(s)
	n, err := strconv.ParseFloat(number, 64)
	if err != nil || n > 1e6 {
		return "5s"
	}
	switch {
	case strings.HasPrefix(unit, "ms"), strings.HasPrefix(unit, "milli"):
		return number + "ms"
	case strings.HasPrefix(unit, "mi"):
		return number + "m"
	case strings.HasPrefix(unit, "h"):
		return number + "h"
	case strings.HasPrefix(unit, "d"):
		return strconv.FormatFloat(n*24, 'f', -1, 64) + "h"
	}
	return number + "s"
}

// parseSize reads "16MiB", "512KiB", "100B" or plain bytes.
func parseSize(s string) (int64, bool) {
	number, unit := s, int64(1)
	for _, u := range sizeUnits() {
		if n, ok := strings.CutSuffix(s, u.name); ok {
			number, unit = n, u.bytes
			break
		}
	}
	n, err := strconv.ParseUint(number, 10, 63)
	if err != nil || n > math.MaxInt64/uint64(unit) {
		return 0, false
	}
	return int64(n) * unit, true
}

// sizeText writes bytes in the largest unit that keeps them whole.
func sizeText(n int64) string {
	for _, u := range sizeUnits() {
		if n != 0 && n%u.bytes == 0 {
			return strconv.FormatInt(n/u.bytes, 10) + u.name
		}
	}
	return strconv.FormatInt(n, 10)
}

type sizeUnit struct {
	name  string
	bytes int64
}

// sizeUnits gives the units, the largest first.
func sizeUnits() []sizeUnit {
	return []sizeUnit{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"B", 1}}
}

// guessSize makes a size of what somebody may have meant by s.
func guessSize(s string) string {
	number, unit := cutNumber(s)
	number, _, _ = strings.Cut(number, ".")
	if number == "" || len(number) > 6 {
		return "16MiB"
	}
	switch {
	case strings.HasPrefix(unit, "k"):
		return number + "KiB"
	case strings.HasPrefix(unit, "g"):
		return number + "GiB"
	}
	return number + "MiB"
}

// cutNumber gives the number s begins with and what follows, in lower case.
func cutNumber(s string) (number, rest string) {
	s = strings.ToLower(strings.TrimSpace(s))
	rest = strings.TrimLeft(s, "0123456789.")
	return s[:len(s)-len(rest)], strings.TrimSpace(rest)
}
