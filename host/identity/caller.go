// Package identity says who is who: which token is whose, and what its holder
// may do. The name a participant speaks under comes from here and is never
// believed.
//
// It is pure: it opens no file, knows no clock and draws no random number, and
// no token is in anything it says.
package identity

import (
	"context"
	"slices"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/address"
)

// Scope is something a caller may do.
type Scope string

// The scopes.
const (
	Read  Scope = "read"  // see rooms, messages, entries and companions
	Talk  Scope = "talk"  // speak, vote, say stop
	Act   Scope = "act"   // send perceptions and take actions
	Admin Scope = "admin" // change the house
)

// Scopes gives all scopes, the weakest first.
func Scopes() []Scope { return []Scope{Read, Talk, Act, Admin} }

// Caller is who makes a request. The zero value may do nothing.
type Caller struct {
	Name   string              // empty for a guest
	Kind   abi.ParticipantKind // empty for a guest
	Scopes []Scope
	Guest  bool
	Sharer string // under which it has a share of what is bounded: its token's name, else its address
	// Address is where it calls from, as far as callers are told apart by that; Local for
	// this machine. Empty where no guard stands before.
	Address string
	Foreign bool // a page of another site asks for it, which the house lets in

	register *Register // whose names a guest may not take; may be nil
}

// Local is the address of whoever calls from this machine, by whichever of its names.
const Local = "local"

// Guest is a caller without a token in a house with these tokens, nil for none.
func Guest(r *Register) Caller {
	return Caller{Guest: true, Scopes: []Scope{Read, Talk, Act}, register: r}
}

// May says why a caller may not do something: CodeDenied names the scope.
func (c Caller) May(s Scope) error {
	if slices.Contains(c.Scopes, s) {
		return nil
	}
	if c.Guest {
		return abi.Errorf(abi.CodeDenied, "a guest may not do this: connect with a token that has the scope %q", s)
	}
	return abi.Errorf(abi.CodeDenied, "the token of %s has not the scope %q", c.Name, s)
}

// SomeGuest is the name of whoever calls from this machine without a token and without a name.
const SomeGuest = "guest"

// Person gives the name of the person who calls, and refuses everybody else, agents and guests from elsewhere. does says in
// the refusal what persons alone do, as in "approves, denies and reverts".
//
// # Errors
//
// CodeDenied.
func (c Caller) Person(does string) (string, error) {
	switch {
	case c.Guest && c.Address == Local:
		return SomeGuest, nil
	case c.Guest:
		return "", abi.Errorf(abi.CodeDenied, "a guest who calls from elsewhere may not do this: connect with a token of a person (companiond token NAME -kind human)")
	case c.Kind != abi.KindHuman:
		return "", abi.Errorf(abi.CodeDenied, "a person %s, and the token of %s is none of a person", does, c.Name)
	}
	return c.Name, nil
}

// Maker refuses whoever may not change the characters of the house, and see its log: everybody without the scope admin, but
// for the person at this machine, on no page of another site, in a house that nobody has a token for.
//
// # Errors
//
// CodeDenied.
func (c Caller) Maker() error {
	here := c.Guest && c.Address == Local && c.register.Len() == 0
	switch {
	case here && c.Foreign:
		return abi.Errorf(abi.CodeDenied, "origin: a page of another site may not do this without a token, also where door.origins lists it")
	case here:
		return nil
	}
	if err := c.May(Admin); err == nil || !c.Guest {
		return err
	}
	if c.register.Len() > 0 {
		return abi.Errorf(abi.CodeDenied, "a guest may not do this where there are tokens: connect with one that has the scope %q (companiond token NAME -kind human -scope read,talk,act,admin)", Admin)
	}
	return abi.Errorf(abi.CodeDenied, "a guest who calls from elsewhere may not do this: connect from the machine that companiond runs on, or with a token that has the scope %q", Admin)
}

// From gives the name and the kind under which a caller speaks. A token's holder
// speaks under its own name: claimed may be that, or empty. A guest speaks as
// what the door takes it for, under any name that can be told from others, that no
// token's holder has, and that is not reserved; whether somebody who lives here or
// is in the room has it is the room's to say.
func (c Caller) From(claimed string, door abi.ParticipantKind) (name string, kind abi.ParticipantKind, err error) {
	if !c.Guest {
		if claimed != "" && claimed != c.Name {
			return "", "", abi.Field("from", abi.CodeDenied, "this token is %s's, not %.64q's", c.Name, claimed)
		}
		return c.Name, c.Kind, nil
	}
	if holder, taken := c.register.Taken(claimed); taken {
		return "", "", abi.Field("from", abi.CodeDenied, "%s has a token; connect with it, or take another name", holder)
	}
	if claimed == "" {
		return claimed, door, nil // the door says what is missing
	}
	if err := address.CheckName("from", claimed); err != nil {
		return "", "", err
	}
	if why := address.Reserved(claimed, door); why != "" {
		return "", "", abi.Field("from", abi.CodeDenied, "%s", why)
	}
	return claimed, door, nil
}

type key struct{}

// With puts a caller into a request's context.
func With(ctx context.Context, c Caller) context.Context { return context.WithValue(ctx, key{}, c) }

// Of gives the caller of a request; one that passed no guard is a guest.
func Of(ctx context.Context) Caller {
	if c, ok := ctx.Value(key{}).(Caller); ok {
		return c
	}
	return Guest(nil)
}
