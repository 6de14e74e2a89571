package child

import (
	"slices"
	"strings"
)

// common are the variables of the environment that any program needs, and that hold no
// secrets: where things are, and how people write.
var common = []string{
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TMPDIR", "TMP", "TEMP",
	"XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR",
	"SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS",
	"SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "USERNAME", "USERPROFILE", "HOMEDRIVE", "HOMEPATH",
	"APPDATA", "LOCALAPPDATA", "PROGRAMDATA", "PROGRAMFILES",
}

// HandedOn gives what programs of others get of the daemon's environment. Windows does not tell "Path" from
// "PATH".
func HandedOn(environ []string) (env []string) {
	for _, pair := range environ {
		name, _, _ := strings.Cut(pair, "=")
		if name = strings.ToUpper(name); slices.Contains(common, name) || strings.HasPrefix(name, "LC_") {
			env = append(env, pair)
		}
	}
	return env
}
