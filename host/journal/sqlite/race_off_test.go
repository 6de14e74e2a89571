//go:build !race

package sqlite

const toMove = 20_000
