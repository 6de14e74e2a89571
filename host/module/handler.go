package module

import (
	"strings"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/card"
)

// IsCharacter says whether a module can live in a room.
func IsCharacter(d abi.Description) bool { return d.Kind == "" || d.Kind == abi.Character }

// CheckHandler refuses an action handler whose actions or settings nobody could use.
func CheckHandler(d abi.Description) error {
	_, err := HandledActions(d)
	if err != nil {
		return err
	}
	if len(d.Settings) > 0 {
		if _, err := card.NewAction("settings", "", d.Settings); err != nil {
			return abi.Errorf(abi.CodeInvalid, "describe.settings: %s", Reason(err))
		}
	}
	return nil
}

// HandledActions gives what an action handler can do.
func HandledActions(d abi.Description) (all []card.Action, err error) {
	for i, o := range d.Actions {
		a, err := card.NewAction(o.Name, o.Description, o.Schema)
		if err != nil {
			return nil, abi.Errorf(abi.CodeInvalid, "describe.actions[%d]: %s", i, Reason(err))
		}
		all = append(all, a)
	}
	return all, nil
}

// CheckSettings holds a handler's settings to the schema that it gave; nil is none.
func CheckSettings(d abi.Description, settings []byte) error {
	if len(settings) == 0 {
		settings = []byte("{}")
	}
	if len(d.Settings) == 0 {
		if string(settings) != "{}" {
			return abi.Errorf(abi.CodeInvalid, "settings: %s has none", d.Name)
		}
		return nil
	}
	a, err := card.NewAction("settings", "", d.Settings)
	if err == nil {
		err = a.Check(settings)
	}
	if err != nil {
		return abi.Errorf(abi.CodeOf(err), "%s", strings.ReplaceAll(Reason(err), "parameters", "settings"))
	}
	return nil
}
