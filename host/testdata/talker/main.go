// Command talker is a character that plays a script within a module of WebAssembly, as the shipped ones did before scripts were
// files of the folder, and as makers in Go may.
package main

import (
	_ "embed"

	companion "github.com/companiond/companiond/sdk/go"
	"github.com/companiond/companiond/sdk/go/talk"
)

//go:embed rin.talk.txt
var script string

func init() { companion.Register(talk.Must(script)) }

func main() {}
