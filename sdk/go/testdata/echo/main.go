// Command echo is the reference character as a module:
//
//	GOOS=wasip1 GOARCH=wasm go build -buildmode=c-shared -o echo.wasm ./sdk/go/testdata/echo
package main

import (
	companion "github.com/companiond/companiond/sdk/go"
	"github.com/companiond/companiond/sdk/go/testdata/reference"
)

func init() { companion.Register(reference.Character()) }

func main() {}
