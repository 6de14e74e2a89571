// Command aya is the calm one: she researches distributed systems and explains them at
// length to whoever asks, and to some who did not.
//
//	GOOS=wasip1 GOARCH=wasm go build -buildmode=c-shared -o characters/aya/aya.wasm ./characters/aya
//
// Her lines are in the scripts beside this file; how a script is played is
// in package talk. Edit a line, build, and she says it in a running room.
package main

import (
	_ "embed"

	companion "github.com/companiond/companiond/sdk/go"
	"github.com/companiond/companiond/sdk/go/talk"
)

//go:embed aya.ja.txt
var japanese string

//go:embed aya.en.txt
var english string

func init() { companion.Register(talk.Must(japanese, english)) }

func main() {}
