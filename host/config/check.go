package config

import (
	"path"
	"strings"

	"github.com/companiond/companiond/host/config/form"
)

// Loopback says whether only this machine can reach the door, and the Firehose's. A name other than
// localhost is not looked up, so it counts as reachable.
func (d Door) Loopback() bool {
	return form.IsLoopback(d.Listen) && (d.Firehose == "" || form.IsLoopback(d.Firehose))
}

// isInside reports whether p is dir or lies under it, as far as the two paths
// themselves tell.
func isInside(p, dir string) bool {
	p, dir = path.Clean(p), path.Clean(dir)
	if path.IsAbs(p) != path.IsAbs(dir) {
		return false
	}
	if dir == "." {
		return p != ".." && !strings.HasPrefix(p, "../")
	}
	return p == dir || strings.HasPrefix(p, strings.TrimSuffix(dir, "/")+"/")
}
