package backup

import (
	"fmt"

	"github.com/companiond/companiond/host/config"
	"github.com/companiond/companiond/host/config/form"
)

// tooLarge says why a file is nothing for the folder of characters, empty where it may be there: the daemon would refuse it.
func tooLarge(cfg config.Config, size int64) string {
	if size <= cfg.Wasm.MaxFile {
		return ""
	}
	return fmt.Sprintf("it has %d bytes, and wasm.max_file is %s", size, form.SizeText(cfg.Wasm.MaxFile))
}

// bounded refuses an archive with files that are too large for where they would go.
func (r *restoring) bounded(cfg config.Config) error {
	for _, f := range r.Files {
		if f.part() != Characters || !r.wants(Characters) {
			continue
		}
		if why := tooLarge(cfg, f.Size); why != "" {
			return fmt.Errorf("%s: %s: %s; nothing was changed. For this once COMPANIOND_WASM_MAX_FILE in the environment raises that, and -only with the other parts leaves the characters out", r.File, f.Name, why)
		}
	}
	return nil
}
