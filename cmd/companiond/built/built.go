// Package built says what this program was built of. It never looks at anything but the program.
package built

import (
	"runtime/debug"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/door/web"
)

// release is the version that a release was made of (-ldflags -X).
var release string

// Version says what was built. Without version control in the build it is
// "(devel)".
func Version() web.Version {
	v := web.Version{Version: "(devel)", ABI: abi.Version}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	if info.Main.Version != "" {
		v.Version = info.Main.Version
	}
	if release != "" {
		v.Version = release
	}
	v.Go = info.GoVersion
	built := map[string]string{}
	for _, s := range info.Settings {
		built[s.Key] = s.Value
	}
	if v.Revision = built["vcs.revision"]; built["vcs.modified"] == "true" {
		v.Revision += "+dirty"
	}
	return v
}
