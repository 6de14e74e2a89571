package compiler

// Supported says where wazero v1.12 compiles. On amd64 it also wants
// SSE4.1, which every such processor since 2008 has.
func Supported(goos, goarch string) bool {
	switch goos {
	case "linux", "darwin", "freebsd", "netbsd", "windows":
		return goarch == "amd64" || goarch == "arm64"
	case "dragonfly", "solaris", "illumos":
		return goarch == "amd64"
	}
	return false
}
