package memories

import (
	"context"
	"slices"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/address"
	"github.com/companiond/companiond/host/identity"
)

// guest is who has the word on this machine without a token.
const guest = "guest"

// asker is who asks, and how much of it that one may.
type asker struct {
	identity.Caller
	name  string
	house bool // looks after the house: may see, change and erase everything
}

// who finds out who asks, and refuses whoever may do nothing here: only people may.
// The scope is what a person needs who asks about nobody else.
func who(ctx context.Context, scope identity.Scope) (asker, error) {
	c := identity.Of(ctx)
	switch {
	case c.Guest && c.Address == identity.Local:
		return asker{c, guest, true}, nil
	case c.Guest:
		return asker{}, abi.Errorf(abi.CodeDenied, "a guest who calls from elsewhere may not do this: connect with a token of a person (companiond token NAME -kind human)")
	case c.Kind != abi.KindHuman:
		return asker{}, abi.Errorf(abi.CodeDenied, "this is for people, and the token of %s is none of a person", orNobody(c.Name))
	case c.May(identity.Admin) == nil:
		return asker{c, c.Name, true}, nil
	}
	return asker{c, c.Name, false}, c.May(scope)
}

func orNobody(name string) string {
	if name == "" {
		return "nobody"
	}
	return name
}

// keeper is who, for what is not for a person alone.
func keeper(ctx context.Context) (asker, error) {
	a, err := who(ctx, identity.Admin)
	if err == nil && !a.house {
		err = identity.Of(ctx).May(identity.Admin)
	}
	return a, err
}

// about says whether it is the asker's to ask about somebody.
func (a asker) about(name string) bool { return a.house || address.Same(a.name, name) }

// concerned says whether a memory is the asker's to see and to erase: who said it, or whom
// it is about.
func (a asker) concerned(m abi.Memory) bool {
	return a.house || m.SaidBy != "" && a.about(m.SaidBy) || slices.ContainsFunc(m.About, a.about)
}
