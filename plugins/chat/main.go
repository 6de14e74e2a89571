// Command chat is a handler that has companions perceive the chat of a stream, on Twitch, YouTube or whatever OneComme gathers.
package main

import (
	"github.com/companiond/companiond/plugins/chat/audience"
	companion "github.com/companiond/companiond/sdk/go"
	"github.com/companiond/companiond/sdk/go/process"
)

func init() { companion.RegisterHandler(audience.Handler()) }

func main() { process.Main() }
