// Command warm compiles modules into a cache directory. Tests run it because
// the race detector makes the compiler many times slower, and this program is
// built without it.
package main

import (
	"context"
	"log"
	"os"

	"github.com/companiond/companiond/host/module"
	"github.com/companiond/companiond/host/module/wasm"
	"github.com/companiond/companiond/host/module/wasm/compiler"
)

func main() {
	if code, ok := compiler.Main(os.Args[1:]); ok {
		os.Exit(code)
	}
	ctx := context.Background()
	engine, err := wasm.New(wasm.Config{CacheDir: os.Args[1]})
	if err != nil {
		log.Fatal(err)
	}
	for _, path := range os.Args[2:] {
		data, err := os.ReadFile(path)
		if err != nil {
			log.Fatal(err)
		}
		m, err := engine.Load(ctx, module.Source{ID: "warm", Name: path, Data: data, Generation: 1})
		if err != nil {
			log.Fatal(err)
		}
		<-m.(*wasm.Module).Compiled()
	}
	if err := engine.Close(ctx); err != nil {
		log.Fatal(err)
	}
}
