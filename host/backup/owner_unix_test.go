//go:build unix

package backup

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestOwner: what root puts back belongs to whom the state folder and that of characters belong, or the service could not start on it.
func TestOwner(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root gives files to others")
	}
	const user, group, makers = 65533, 65532, 65531
	for _, there := range []bool{true, false} { // whether the files are, or the folders alone
		h := newHome(t)
		h.write("companiond.toml", "")
		h.write("state/plugins/lamp", "#!")
		h.write("characters/mio/main.ts", "old")
		h.write("state/erasures", "{\"id\":\"1\"}\n")
		h.talk("main", "one")
		give := func(path string, gid int) {
			if err := filepath.WalkDir(h.path(path), func(at string, _ fs.DirEntry, err error) error {
				if err != nil {
					return err
				}
				return os.Lchown(at, user, gid)
			}); err != nil {
				t.Fatal(err)
			}
		}
		give("state", group)
		give("characters", makers)
		if _, err := h.save("b.tar.gz"); err != nil {
			t.Fatal(err)
		}
		if there {
			h.write("characters/mio/main.ts", "new")
			h.write("characters/aya.talk.txt", "new")
			give("characters", makers)
		} else {
			for _, dir := range []string{"state", "characters"} {
				files, err := os.ReadDir(h.path(dir))
				if err != nil {
					t.Fatal(err)
				}
				for _, f := range files {
					if err := os.RemoveAll(filepath.Join(h.path(dir), f.Name())); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
		if _, err := h.back(h.path("b.tar.gz"), force); err != nil {
			t.Fatal(err)
		}
		for path, gid := range map[string]uint32{"state": group, "characters": makers} {
			if err := filepath.WalkDir(h.path(path), func(at string, d fs.DirEntry, err error) error {
				if err != nil {
					return err
				}
				info, err := d.Info()
				if err != nil {
					return err
				}
				if is := info.Sys().(*syscall.Stat_t); is.Uid != user || is.Gid != gid {
					t.Errorf("files there: %v; %s belongs to %d:%d", there, at, is.Uid, is.Gid)
				}
				return nil
			}); err != nil {
				t.Fatal(err)
			}
		}
	}
}
