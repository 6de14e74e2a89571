//go:build !wasip1

package abi

import "embed"

// Source holds this package's own Go files, tests included, so that a new
// character's folder can be given a copy and build without the network.
//
//go:embed *.go
var Source embed.FS

// Contract is ABI.md, for who makes a module in a language without an SDK.
//
//go:embed ABI.md
var Contract []byte
