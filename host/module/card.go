package module

import (
	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/card"
)

// ReadCard gives the card that a module described itself with, nil for none.
func ReadCard(d abi.Description) (*card.Card, error) {
	if len(d.Card) == 0 {
		return nil, nil
	}
	return card.Parse("describe.card", d.Card)
}

// Card gives the definition of the current generation, nil when it has none.
func (c *Companion) Card() *card.Card { return c.current().card }

// Permit checks an action against the card, see [card.Card.Permit]. Without one
// it is CodeDenied.
func (c *Companion) Permit(a abi.ActionAsk) (warning string, err error) {
	def := c.Card()
	if def == nil {
		return "", abi.Errorf(abi.CodeDenied, "action: %s has no card, which would say what it can do", c.id)
	}
	return def.Permit(a)
}
