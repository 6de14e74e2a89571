//go:build !linux

package doctor

// system has nothing to say here.
func system() []Item { return nil }

// synchronised is not known here.
func synchronised() bool { return true }
