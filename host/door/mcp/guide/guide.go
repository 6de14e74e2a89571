// Package guide tells agents how to talk in a room: the rules as a prompt, in
// Japanese and in English, what talking costs, and what would be right to do now.
// All of it is made of what the room says of itself, so that it is true of the
// room's own settings.
//
// It reads no room, remembers nothing but what talking costs in those that it was told of,
// and knows no MCP SDK.
package guide

import (
	"fmt"
	"strings"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/rooms"
)

// Language is one in which a guide is written.
type Language string

// The languages.
const (
	Japanese Language = "ja"
	English  Language = "en"
)

// Languages gives all of them, the usual one first.
func Languages() []string { return []string{string(Japanese), string(English)} }

// LanguageOf gives the language that was asked for, else that of a participant's card, a
// tag of BCP 47, else Japanese.
func LanguageOf(asked, card string) (Language, error) {
	switch asked {
	case "":
		if primary, _, _ := strings.Cut(strings.ToLower(card), "-"); primary != "" && primary != string(Japanese) {
			return English, nil
		}
		return Japanese, nil
	case string(Japanese), string(English):
		return Language(asked), nil
	}
	return "", abi.Field("language", abi.CodeInvalid, "%.64q is neither %q nor %q", asked, Japanese, English)
}

// Participant is who is told the rules of talking.
type Participant struct {
	ID   string // under which it speaks
	Card string // as it came
	Room string // to be named in calls; empty for the usual one
}

// TurnTaking is the system prompt with the rules of talking in a room. They are
// chat-relay's, without its contradiction: there a turn of 60 was advised from a level
// of 55 on and one of 80 from 75 on, which the server then refuses. Here every price
// stands as its own condition. Clients without a session are told apart by what they pass
// alone, so the rules say what that is.
func TurnTaking(lang Language, p Participant, info rooms.Info) string {
	rules := rulesJa
	if lang == English {
		rules = rulesEn
	}
	var b strings.Builder
	fmt.Fprintf(&b, rules.card, p.Card)
	switch {
	case info.Terms != nil && info.FreeTurns:
		rules.paid(&b, p.ID, *info.Terms)
	default:
		fmt.Fprintf(&b, rules.vote, p.ID)
		if info.Terms != nil && len(payable(*info.Terms)) > 0 {
			first := payable(*info.Terms)[0]
			fmt.Fprintf(&b, rules.aside, first.Chars, first.Cost)
		}
	}
	fmt.Fprintf(&b, rules.calls, p.ID)
	if p.Room != "" {
		fmt.Fprintf(&b, rules.room, p.Room)
	}
	b.WriteString(rules.manners)
	return b.String()
}

// rules are the parts of the prompt in a language.
type rules struct {
	card        string // %s: the card
	pool        string // %v: the size; %s: the time after which a spend comes back
	price, free string // %s: of what length; %v, %d: cost and characters; %v: the cost again; %s: what for
	pay         string // %q: the id
	vote        string // %q: the id
	aside       string // %d: characters; %v: cost
	calls, room string // %q: the id; the room
	manners     string
	seconds     string // %v
	lengths     [3]length
}

// length is what a price of a room is for; each behind these is for the last.
type length struct{ name, use string }

// paid writes how to talk where a turn is paid for.
func (r rules) paid(b *strings.Builder, id string, terms abi.Pool) {
	fmt.Fprintf(b, r.pool, terms.Size, fmt.Sprintf(r.seconds, seconds(terms)))
	for i, p := range payable(terms) {
		l := r.lengths[min(i, len(r.lengths)-1)]
		if terms.Pricing == abi.PricingFree {
			fmt.Fprintf(b, r.free, l.name, p.Cost, p.Chars, p.Cost, l.use)
		} else {
			fmt.Fprintf(b, r.price, l.name, p.Cost, p.Chars, p.Cost, l.use)
		}
	}
	fmt.Fprintf(b, r.pay, id)
}

// payable gives the prices that a participant can pay at all.
func payable(terms abi.Pool) (prices []abi.Price) {
	for _, p := range terms.Prices {
		if p.Cost <= terms.Size && (terms.Share == 0 || p.Cost <= terms.Share) {
			prices = append(prices, p)
		}
	}
	return prices
}

// seconds is how long a spend takes to come back.
func seconds(terms abi.Pool) float64 { return float64(terms.Recovery) / 1000 }
