// Command natsumi is the quick one: short comebacks, no patience, always hungry.
//
//	GOOS=wasip1 GOARCH=wasm go build -buildmode=c-shared -o characters/natsumi/natsumi.wasm ./characters/natsumi
//
// Her lines are in the scripts beside this file; how a script is played is
// in package talk. Edit a line, build, and she says it in a running room.
package main

import (
	_ "embed"

	companion "github.com/companiond/companiond/sdk/go"
	"github.com/companiond/companiond/sdk/go/talk"
)

//go:embed natsumi.ja.txt
var japanese string

//go:embed natsumi.en.txt
var english string

func init() { companion.Register(talk.Must(japanese, english)) }

func main() {}
