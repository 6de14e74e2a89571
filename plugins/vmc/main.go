// Command vmc is the handler of the VMC protocol: companions show their emotions on an avatar, and move its mouth as
// they speak, in any program that listens to VMC. It is a module of companiond's, and does nothing where it is started
// by hand.
package main

import (
	"github.com/companiond/companiond/plugins/vmc/marionette"
	companion "github.com/companiond/companiond/sdk/go"
	"github.com/companiond/companiond/sdk/go/process"
)

func init() { companion.RegisterHandler(marionette.New(nil)) }

func main() { process.Main() }
