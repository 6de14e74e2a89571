//go:build !race

package wasm

const raceSlowness = 1
