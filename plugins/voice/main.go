// Command voice is a handler that has programs say what companions say: each part of a line becomes a sound, with how a
// mouth moves to it. It plays none: bodies and pages do.
package main

import (
	companion "github.com/companiond/companiond/sdk/go"
	"github.com/companiond/companiond/sdk/go/process"

	"github.com/companiond/companiond/plugins/voice/studio"
)

func init() { companion.RegisterHandler(studio.Handler()) }

func main() { process.Main() }
