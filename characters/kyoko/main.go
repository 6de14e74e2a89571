// Command kyoko is the curious one: bright and polite, she asks what everybody
// else was too shy to ask.
//
//	GOOS=wasip1 GOARCH=wasm go build -buildmode=c-shared -o characters/kyoko/kyoko.wasm ./characters/kyoko
//
// Her lines are in the scripts beside this file; how a script is played is
// in package talk. Edit a line, build, and she says it in a running room.
package main

import (
	_ "embed"

	companion "github.com/companiond/companiond/sdk/go"
	"github.com/companiond/companiond/sdk/go/talk"
)

//go:embed kyoko.ja.txt
var japanese string

//go:embed kyoko.en.txt
var english string

func init() { companion.Register(talk.Must(japanese, english)) }

func main() {}
