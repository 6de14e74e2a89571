//go:build unix

package doctor

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// strangers finds what in the state folder does not belong to whom the folder does: a daemon that is its owner cannot write there. Root, who
// may write anywhere, would not notice it otherwise.
func strangers(dir string) []Item {
	owner, ok := ownerOf(dir)
	files, err := os.ReadDir(dir)
	if !ok || err != nil { // which was said
		return nil
	}
	var wrong []string
	for _, f := range files {
		if is, ok := ownerOf(filepath.Join(dir, f.Name())); ok && is != owner && f.Name() != "characters" { // into which a group may drop files
			wrong = append(wrong, f.Name())
		}
	}
	if len(wrong) == 0 {
		return nil
	}
	return []Item{{Fail, "state folder", fmt.Sprintf("%s in %s: not of user %d, whose the folder is", strings.Join(wrong, ", "), dir, owner), "cd " + dir + " && sudo chown -R --reference=. " + strings.Join(wrong, " ")}}
}

func ownerOf(path string) (uint32, bool) {
	info, err := os.Lstat(path)
	if err != nil {
		return 0, false
	}
	is, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return is.Uid, true
}
