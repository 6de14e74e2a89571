package companion

import (
	"encoding/json"
	"slices"

	"github.com/companiond/companiond/abi"
)

// Handler is a module that acts for companions: it offers them actions, and carries out what they
// play. It lives in no room.
type Handler struct {
	Name    string // what the configuration and people call it
	Version string // your own version, shown to people
	Needs   []string
	// Actions are what it can do: each with a name, a description and the JSON Schema of its
	// parameters, which the daemon holds them to before Act is asked.
	Actions []Offer
	// Settings is the JSON Schema of its settings, an object; empty for a handler without any.
	Settings string
	// Act carries out an action. What it answers is told to the companion; an error says that nothing came
	// of it, and an [*abi.Error] says so in its own words.
	Act func(h *Host, a Acting) (message string, err error)
}

// RegisterHandler makes c the handler of this module. Call it once, from init, in place of [Register].
func RegisterHandler(c Handler) {
	Register(Character{Name: c.Name, Version: c.Version, Needs: c.Needs, handler: &c})
}

func (c *Handler) describe() abi.Description {
	return abi.Description{
		ABI: "1", Name: c.Name, Version: c.Version, Kind: abi.ActionHandler, Ops: []string{abi.OpDescribe, abi.OpAct},
		Needs: slices.Clone(c.Needs), Actions: slices.Clone(c.Actions), Settings: json.RawMessage(c.Settings),
	}
}

func (c *Handler) act(h *Host, a Acting) (abi.Acted, error) {
	if c.Act == nil {
		return abi.Acted{}, abi.Errorf(abi.CodeUnknownOp, "%s carries out nothing", c.Name)
	}
	message, err := c.Act(h, a)
	if abi.CodeOf(err) == abi.CodeInternal {
		h.Log(abi.LevelError, "act: "+err.Error()) // which nobody else is told
	}
	return abi.Acted{Message: message}, err
}
