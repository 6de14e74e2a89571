//go:build unix

package doctor

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestStrangers: a file of root's in the folder of a service that is another user is found, and by root, too.
func TestStrangers(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root gives files to others")
	}
	o := place(t, anyPort+"[journal]\npath = \"state/companiond.db\"\n")
	if err := os.MkdirAll(filepath.Join(o.state(), "characters"), 0o755); err != nil {
		t.Fatal(err)
	}
	const user = 65533
	lock := filepath.Join(o.state(), "lock")
	if err := os.WriteFile(lock, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(o.state(), user, user); err != nil {
		t.Fatal(err)
	}
	if items := strangers(o.state()); len(items) != 1 || !strings.HasPrefix(items[0].Found, "lock in ") || !strings.HasSuffix(items[0].Type, "sudo chown -R --reference=. lock") {
		t.Errorf("%+v", items)
	}
	if err := os.Chown(lock, user, user); err != nil {
		t.Fatal(err)
	}
	if items := strangers(o.state()); len(items) > 0 { // characters are a group's, too
		t.Errorf("%+v", items)
	}
}
