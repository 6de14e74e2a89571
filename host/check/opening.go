package check

import (
	"strings"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/config"
)

// Opening reads what a room was opened with at a door.
//
// # Errors
//
// CodeInvalid, with the field of the first mistake, for what a room may not be opened with.
func Opening(name string, settings []byte) (config.Room, error) {
	r, problems := config.ReadRoom(name, settings)
	if r.Companion != "" {
		const why = "is for rooms of the configuration: whoever names no companion asks nowhere else"
		problems = append(problems, config.Problem{Key: "companion", Message: why, Severity: config.Error})
	}
	if r.CallsMinute != 0 || r.CallsDay != 0 || r.CostDay != 0 {
		const why = "bounds on calls are for rooms of the configuration"
		problems = append(problems, config.Problem{Key: "calls_minute", Message: why, Severity: config.Error})
	}
	if r.Compress == config.CompressAuto {
		const why = "approves in advance, which a person does in the configuration; write \"ask\""
		problems = append(problems, config.Problem{Key: "compress", Message: why, Severity: config.Error})
	}
	var mistakes []string
	var field string // of the first
	for _, p := range problems {
		if p.Severity == config.Error {
			if mistakes == nil {
				field = p.Key
			}
			why := strings.TrimPrefix(p.Key+": "+p.Message, ": ")
			if p.Hint != "" {
				why += " (" + p.Hint + ")"
			}
			mistakes = append(mistakes, why)
		}
	}
	if len(mistakes) > 0 {
		err := abi.Errorf(abi.CodeInvalid, "%s", strings.Join(mistakes, "; "))
		err.Field = field
		return config.Room{}, err
	}
	return r, nil
}
