//go:build !wasip1

package main

import (
	"github.com/companiond/companiond/abi"
	companion "github.com/companiond/companiond/sdk/go"
	"github.com/companiond/companiond/sdk/go/process"
)

func init() {
	handler.Run = func(h *companion.Host, r abi.Running) error {
		if err := emit(h, r); err != nil {
			return err
		}
		<-h.Context().Done()
		return nil
	}
	companion.RegisterHandler(handler)
}

func main() { process.Main() }
