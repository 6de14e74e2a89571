//go:build !npm

package npm

import "io/fs"

var (
	image   []byte
	sucrase fs.FS
)
