//go:build race

package sqlite

// toMove is how many entries a room has whose migration is interrupted: it takes some
// seconds, which under the race detector fewer do.
const toMove = 4000
