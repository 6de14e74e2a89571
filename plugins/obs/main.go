// Command obs is a handler that has OBS follow what companions say and do. The work is package studio's; the
// command only serves it.
package main

import (
	"github.com/companiond/companiond/plugins/obs/studio"
	companion "github.com/companiond/companiond/sdk/go"
	"github.com/companiond/companiond/sdk/go/process"
)

func init() { companion.RegisterHandler(studio.Handler()) }

func main() { process.Main() }
