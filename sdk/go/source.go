//go:build !wasip1

package companion

import "embed"

// Source holds the SDK's own Go files, tests included, so that a new
// character's folder can be given a copy and build without the network.
//
//go:embed *.go words/*.go talk/*.go talk/*/*.go
var Source embed.FS
