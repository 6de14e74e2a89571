//go:build linux || darwin

package statedir

import "golang.org/x/sys/unix"

// Free gives what an ordinary user can still write below dir, ok false
// when nobody knows.
func Free(dir string) (free int64, ok bool) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return 0, false
	}
	return int64(st.Bavail) * int64(st.Bsize), true
}
