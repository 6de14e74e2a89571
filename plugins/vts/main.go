// Command vts is the handler of VTube Studio: companions show their emotions on a model there, move its mouth as they
// speak, and notice who clicks on it. It is a module of companiond's, and does nothing where it is started by hand.
package main

import (
	"github.com/companiond/companiond/plugins/vts/avatar"
	companion "github.com/companiond/companiond/sdk/go"
	"github.com/companiond/companiond/sdk/go/process"
)

func init() { companion.RegisterHandler(avatar.New(nil)) }

func main() { process.Main() }
