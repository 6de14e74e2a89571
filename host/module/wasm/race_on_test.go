//go:build race

package wasm

// raceSlowness is how many times longer host functions may take: the race detector is
// in them. make test runs this package once more without it.
const raceSlowness = 10
