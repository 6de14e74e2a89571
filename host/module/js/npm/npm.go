// Package npm is what JavaScript runs in, as npm has it: QuickJS-NG as a file of WebAssembly (quickjs-wasi), and sucrase, which takes
// the types out of TypeScript. None of it stands in this repository: make puts it beside this package, by the checksums of its
// lock file, and the build tag npm embeds it.
//
// It runs nothing.
package npm

import "io/fs"

// QuickJS is the file of WebAssembly, nil in a build without it.
func QuickJS() []byte { return image }

// Sucrase is its modules of JavaScript, the folder dist/esm of the package; nil in a build without it.
func Sucrase() fs.FS { return sucrase }
