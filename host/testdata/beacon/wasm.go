//go:build wasip1

package main

import companion "github.com/companiond/companiond/sdk/go"

var _ = emit // programs have a run

func init() { companion.RegisterHandler(handler) }

func main() {}
