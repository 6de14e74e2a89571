//go:build npm

package npm

import (
	"embed"
	"io/fs"
)

//go:embed node_modules/quickjs-wasi/quickjs.wasm
var image []byte

//go:embed node_modules/sucrase/dist/esm
var files embed.FS

var sucrase, _ = fs.Sub(files, "node_modules/sucrase/dist/esm") // the path is valid
