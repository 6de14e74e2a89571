package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestUnitFiles has systemd read the units of dist/systemd: nothing in them is unknown to it, and the service is as safe as
// docs/SERVICE.md has it (1.1; lower is safer).
func TestUnitFiles(t *testing.T) {
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("systemd-analyze is not here")
	}
	dir := t.TempDir()
	for _, name := range []string{"companiond.service", "companiond.socket"} {
		b, err := os.ReadFile(filepath.Join("..", "..", "dist", "systemd", name))
		if err != nil {
			t.Fatal(err)
		}
		text := strings.ReplaceAll(string(b), "/usr/bin/companiond", "/bin/true") // the program has to be there
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	service := filepath.Join(dir, "companiond.service")
	if out, err := exec.Command(analyze, "verify", "--man=no", service, filepath.Join(dir, "companiond.socket")).CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("verify: %v\n%s", err, out)
	}
	if out, err := exec.Command(analyze, "security", "--offline=true", "--threshold=11", service).CombinedOutput(); err != nil {
		t.Errorf("security: %v\n%s", err, out)
	}
}
