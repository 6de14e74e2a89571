package unit

import (
	"fmt"
	"os"
	"strings"
)

// Settings reads the file of a configuration, which is no pipe but where shells hand those on: to open one would wait for whoever writes.
func Settings(name string) ([]byte, error) {
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() && !strings.HasPrefix(name, "/dev/") {
		what := "a pipe or a device, and no file"
		if info.IsDir() {
			what = "a directory, and no file"
		}
		return nil, fmt.Errorf("%s is %s", name, what)
	}
	return os.ReadFile(name)
}
