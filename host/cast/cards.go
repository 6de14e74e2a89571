package cast

import (
	"slices"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/card"
	"github.com/companiond/companiond/host/module"
)

// Card gives a companion's card, nil where it has none.
//
// # Errors
//
// CodeNotFound where there is no such companion, CodeUnavailable where its file is there and not loaded.
func (r *House) Card(companion string) (*card.Card, error) {
	if c, ok := r.folders.Companion(companion); ok {
		return c.Card(), nil
	}
	for _, s := range r.folders.Status() {
		if s.ID == companion && s.State == module.StateFailed {
			return nil, abi.Errorf(abi.CodeUnavailable, "companion: the file of %s could not be loaded: %s", companion, s.Error)
		}
	}
	if slices.Contains(r.Residents(), companion) {
		return nil, abi.Errorf(abi.CodeUnavailable, "companion: %s is being loaded; try again", companion)
	}
	return nil, abi.Errorf(abi.CodeNotFound, "companion: there is no %.64q", companion)
}

// Several says whether a companion judges several perceptions in one call.
func (r *House) Several(companion string) bool {
	c, ok := r.folders.Companion(companion)
	return ok && c.Describe().Several
}

// Fits says why a companion cannot perceive something.
func (r *House) Fits(companion string, p abi.Percept) error {
	def, err := r.Card(companion)
	if err == nil && def != nil {
		_, err = def.Check(p)
	}
	return err
}

// Speaks says whether a companion's body is to hear what it says as the action
// "speak": always, but where its card has no such action.
func (r *House) Speaks(companion string) bool {
	def, err := r.Card(companion)
	if err != nil || def == nil {
		return err == nil
	}
	_, ok := def.Action(card.Speak)
	return ok
}

// Plays says whether a companion's card has an action.
func (r *House) Plays(companion, action string) bool {
	_, ok := r.action(companion, action)
	return ok
}

// Asks says whether an action of a companion's card is a query.
func (r *House) Asks(companion, action string) bool {
	a, ok := r.action(companion, action)
	return ok && a.Query
}

func (r *House) action(companion, action string) (*card.Action, bool) {
	def, err := r.Card(companion)
	if err != nil || def == nil {
		return nil, false
	}
	return def.Action(action)
}
