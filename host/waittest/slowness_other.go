//go:build !unix

package waittest

// Slowness is not known here.
func Slowness() float64 { return 1 }
