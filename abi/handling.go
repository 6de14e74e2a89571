package abi

import "encoding/json"

// Acting is the data of OpAct: an action of a companion's, which an action handler offered, and is
// to carry out.
type Acting struct {
	ID         string          `json:"id"`        // of the action
	Companion  string          `json:"companion"` // that plays it
	Action     string          `json:"action"`
	Parameters json.RawMessage `json:"parameters,omitempty"` // by the schema that the handler gave
	Perception string          `json:"perception,omitempty"` // title of what led to it
	Settings   json.RawMessage `json:"settings,omitempty"`   // the handler's, of the configuration
}

// Acted is what came of it. An error of the module says that nothing did.
type Acted struct {
	Message string `json:"message,omitempty"` // for the companion, and whoever looks; at most MaxActed bytes are kept
}

// MaxActed bounds Acted.Message, and an error of OpAct, in bytes.
const MaxActed = 1000

// MaxHandled is how many actions a handler may offer.
const MaxHandled = 64

// checkHandling reports what is wrong with what a module says of itself as a handler.
func (d Description) checkHandling() error {
	acts := d.Kind == ActionHandler
	switch {
	case !acts && len(d.Actions) > 0:
		return Field("describe.actions", CodeInvalid, "are an %s's, and the kind is %q", ActionHandler, d.Kind)
	case !acts && len(d.Settings) > 0:
		return Field("describe.settings", CodeInvalid, "are a handler's, and the kind is %q", d.Kind)
	case acts && len(d.Actions) > MaxHandled:
		return Field("describe.actions", CodeTooLarge, "%d actions, at most %d", len(d.Actions), MaxHandled)
	}
	for _, a := range d.Actions {
		if err := CheckName("describe.actions", a.Name); err != nil {
			return err
		}
	}
	return nil
}
