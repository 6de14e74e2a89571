package memories

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/forget"
	"github.com/companiond/companiond/host/forget/known"
)

// Service is what erases. *forget.Service implements it.
type Service interface {
	Plan(ctx context.Context, o forget.Order) (forget.Receipt, error)
	Forget(ctx context.Context, o forget.Order) (forget.Receipt, error)
	Wait(ctx context.Context, id string) (forget.Receipt, error)
	Receipt(id string) (forget.Receipt, error)
	Receipts() []forget.Receipt
}

// Orders is a [Forgetting] by a service of host/forget.
type Orders struct{ Service Service }

var _ Forgetting = Orders{}

// Forget gives an order, and waits for it.
func (s Orders) Forget(ctx context.Context, f Forget) (Order, error) {
	o := forget.Order{By: f.By, Who: f.Who, Companion: f.Companion, Copies: f.Copies}
	if f.Fact != "" {
		o.Facts = []string{f.Fact}
	}
	if o.Who != "" {
		if err := s.meant(ctx, &o); err != nil {
			return Order{}, named(err)
		}
	}
	if f.By.Guest { // who may have everybody forgotten who has no token
		if o.Claimed = o.Who; o.Who == "" {
			o.Claimed = guest
		}
	}
	if f.DryRun {
		r, err := s.Service.Plan(ctx, o)
		return orderOf(r, true), named(err)
	}
	r, err := s.Service.Forget(ctx, o)
	if err != nil {
		return Order{}, named(err)
	}
	now, err := s.Service.Wait(ctx, r.ID)
	if err != nil && ctx.Err() != nil {
		err = nil // it goes on, and its order says how it stands
	}
	return orderOf(now, false), err
}

// meant finds out who is meant where somebody is called with an honorific, as people call each other: the one who is called so without it,
// unless somebody is called exactly so.
func (s Orders) meant(ctx context.Context, o *forget.Order) error {
	o.Who = strings.TrimPrefix(o.Who, "@")
	bare := known.Bare(o.Who)
	if bare == o.Who {
		return nil
	}
	exact := *o
	if o.By.Guest {
		exact.Claimed = o.Who
	}
	r, err := s.Service.Plan(ctx, exact)
	if err == nil && r.Nobody || abi.CodeOf(err) == abi.CodeDenied {
		o.Who, err = bare, nil
	}
	return err
}

// Order gives how an order stands.
func (s Orders) Order(_ context.Context, id string) (Order, error) {
	r, err := s.Service.Receipt(id)
	if abi.CodeOf(err) == abi.CodeNotFound {
		err = abi.Field("order", abi.CodeNotFound, "there is no such order")
	}
	return orderOf(r, false), err
}

// Orders gives the newest of them.
func (s Orders) Orders(context.Context) (all []Order, err error) {
	for _, r := range s.Service.Receipts() {
		all = append(all, orderOf(r, false))
	}
	return all, nil
}

// named gives the fields of an order the names that they have at this door.
func named(err error) error {
	e := (*abi.Error)(nil)
	if !errors.As(err, &e) {
		return err
	}
	switch e.Field {
	case "facts":
		return abi.Field("fact", e.Code, "%s", e.Reason())
	case "from":
		return abi.Field("who", e.Code, "%s", e.Reason())
	}
	return err
}

// orderOf shows a receipt.
func orderOf(r forget.Receipt, would bool) Order {
	o := Order{ID: r.ID, At: r.At, State: string(r.State), Kind: r.Kind, As: r.As, Nobody: r.Nobody, Called: r.Called, Why: r.Error}
	if would {
		o.ID, o.As, o.State = "", "", "would"
	}
	o.Stores = []Count{{"entries", r.Entries, r.Others.Entries + r.Others.Renamed}, {"memories", r.Memories, r.Others.Memories + r.Others.Episodes}, {"keys", r.Keys, 0}}
	o.Talks = r.Others.Episodes
	for _, file := range r.Copies {
		o.Left = append(o.Left, "the copy "+file+" of the journal")
	}
	for _, name := range r.Names {
		o.Left = append(o.Left, "the name of the room "+name)
	}
	if n := r.Others.Renamed; n > 0 {
		o.Left = append(o.Left, fmt.Sprintf("what other people said in %d lines, but for the name", n))
	}
	if n := r.Others.Stay; n > 0 {
		o.Left = append(o.Left, fmt.Sprintf("what other people said in %d lines that have letters of the name, or words which may be their own", n))
	}
	switch {
	case r.Kind == "facts":
		if r.Theirs {
			o.Left = append(o.Left, "what it was quoted from: that is somebody else's, who may have it erased, or an admin")
		}
		if r.Unfound > 0 {
			o.Left = append(o.Left, "the message that it rests on: none is known, or it is not there")
		}
		o.Left = append(o.Left, "what was said of it in other words, also by whoever told it")
	case r.Entries > 0:
		o.Left = append(o.Left, "what companions said after it in other words")
	}
	if r.Common > 0 {
		o.Left = append(o.Left, "words in what others said that many use")
	}
	return o
}
