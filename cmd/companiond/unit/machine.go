package unit

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Machine is one on which the package for Debian, or `companiond service install -system`, may have made companiond a service. Empty
// means that there is none, and "/" is this one.
type Machine string

// Service gives the variables by which systemd tells that service its folders, for a verb that somebody types beside it, and nil where
// something else is meant: where config names another file, or none and so does the environment or the folder dir, which has a
// configuration or a journal of its own.
func (m Machine) Service(verb, config, dir string, env []string) map[string]string {
	file := m.at("etc/companiond/companiond.toml")
	switch {
	case m == "" || verb == "run" || elsewhere(env, config != ""):
		return nil
	case config != "":
		if !same(config, file) {
			return nil
		}
	case slices.Contains([]string{"check", "bench"}, verb) || there(filepath.Join(dir, "companiond.toml"), filepath.Join(dir, "state")):
		return nil
	case !there(file, m.at("lib/systemd/system/companiond.service"), m.at("etc/systemd/system/companiond.service")):
		return nil
	}
	return map[string]string{
		"CONFIGURATION_DIRECTORY": filepath.Dir(file),
		"STATE_DIRECTORY":         m.at("var/lib/companiond"),
		"CACHE_DIRECTORY":         m.at("var/cache/companiond"),
		"RUNTIME_DIRECTORY":       m.at("run/companiond"),
		"CREDENTIALS_DIRECTORY":   filepath.Dir(file), // the unit's LoadCredential=tokens:/etc/companiond/tokens
	}
}

func (m Machine) at(path string) string { return filepath.Join(string(m), filepath.FromSlash(path)) }

// elsewhere says whether the environment tells of folders, or, where no file is named, of keys: somebody's own daemon is meant then.
func elsewhere(env []string, named bool) bool {
	return slices.ContainsFunc(env, func(kv string) bool {
		name, value, _ := strings.Cut(kv, "=")
		switch name {
		case "CONFIGURATION_DIRECTORY", "STATE_DIRECTORY", "CACHE_DIRECTORY", "RUNTIME_DIRECTORY":
			return value != ""
		case "COMPANIOND_URL", "COMPANIOND_TOKEN":
			return false
		}
		return !named && strings.HasPrefix(name, "COMPANIOND_")
	})
}

// there says whether one of some files is, or may be where this process cannot look.
func there(paths ...string) bool {
	return slices.ContainsFunc(paths, func(path string) bool {
		_, err := os.Stat(path)
		return !errors.Is(err, fs.ErrNotExist)
	})
}

func same(a, b string) bool {
	one, err := os.Stat(a)
	other, oerr := os.Stat(b)
	return err == nil && oerr == nil && os.SameFile(one, other)
}
