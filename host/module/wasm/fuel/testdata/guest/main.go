// Command guest is a module as the standard Go compiler makes it, for the
// tests of package fuel.
package main

import (
	"sort"
	"strconv"
	"strings"
)

// work builds strings, maps and slices from n and returns a number that
// depends on all of them.
//
//go:wasmexport work
func work(n int32) int32 {
	count := map[string]int{}
	for i := range n {
		count[strconv.Itoa(int(i*i%97))] += int(i)
	}
	words := make([]string, 0, len(count))
	for w, k := range count {
		words = append(words, strings.Repeat(w, 1+k%3))
	}
	sort.Strings(words)
	sum := int32(0)
	for i, w := range words {
		for _, c := range w {
			sum = sum*31 + c + int32(i)
		}
	}
	return sum
}

// forever never returns.
//
//go:wasmexport forever
func forever() {
	for {
	}
}

func main() {}
