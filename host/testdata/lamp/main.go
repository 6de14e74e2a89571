//go:build !wasip1

package main

import "github.com/companiond/companiond/sdk/go/process"

func main() { process.Main() }
