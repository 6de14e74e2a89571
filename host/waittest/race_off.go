//go:build !race

package waittest

// RaceDetector says whether it is on: compiled guests and their compiler are many times
// slower with it, and memory is several times what it is without.
const RaceDetector = false
