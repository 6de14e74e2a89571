package actions

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/card"
	"github.com/companiond/companiond/host/door/socket/session"
	"github.com/companiond/companiond/host/force"
)

// maxOffers is how many actions a body may offer, or take back, in a second.
const maxOffers = 2 * force.MaxNames

// offering counts them. The zero value is ready.
type offering struct {
	since time.Time
	n     int
}

// may counts some more, and says whether they are not too many.
func (o *offering) may(n int, now time.Time) bool {
	if now.Sub(o.since) >= time.Second {
		o.since, o.n = now, 0
	}
	o.n += n
	return o.n <= maxOffers
}

// readOffer decodes {"offer":[{"name","description","schema"}],"withdraw":["name"],"companion"?}, of which one is enough; ok is
// false for another message.
func (w *Wire) readOffer(message []byte, now time.Time) (o session.Offer, ok bool, err error) {
	f := fieldsOf(message)
	if w.Shape != Own || !there(f.Offer, f.Withdraw) {
		return o, false, nil
	}
	var r struct {
		Companion string   `json:"companion"`
		Withdraw  []string `json:"withdraw"`
		Offer     []struct {
			Name        string          `json:"name"`
			Description string          `json:"description"`
			Schema      json.RawMessage `json:"schema"`
		} `json:"offer"`
	}
	if err := json.Unmarshal(message, &r); err != nil {
		if wrong := mistyped(err); wrong != nil {
			return o, true, wrong
		}
		return o, true, abi.Field("offer", abi.CodeInvalid, `must be a list: {"offer":[{"name":"wave","description":"Wave.","schema":{"type":"object"}}]}`)
	}
	if !w.offers.may(len(r.Offer)+len(r.Withdraw), now) {
		return o, true, abi.Field("offer", abi.CodeExhausted, "more than %d actions are offered or taken back in a second", maxOffers)
	}
	o.Companion, o.Withdraw = r.Companion, r.Withdraw
	for i, a := range r.Offer {
		made, err := card.NewAction(a.Name, a.Description, a.Schema)
		if err != nil {
			e := abi.AsError(err)
			return session.Offer{}, true, abi.Field(fmt.Sprintf("offer.%d.%s", i, e.Field), e.Code, "%s", e.Reason())
		}
		o.Actions = append(o.Actions, made)
	}
	return o, true, nil
}
