package memories

import (
	"context"
	"strings"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/forget/known"
	"github.com/companiond/companiond/host/identity"
)

// patience is how long an erasure is waited for; it goes on without anybody who waits.
const patience = 20 * time.Second

type (
	forgetIn   struct{ Body forgetBody }
	forgetBody struct {
		Who       string `json:"who,omitempty" doc:"Whose words are erased." example:"mika"`
		Fact      string `json:"fact,omitempty" doc:"Or the id of the one memory that is."`
		Companion string `json:"companion,omitempty" doc:"With fact: whose memory it is." example:"kyoko"`
		Copies    bool   `json:"copies,omitempty" doc:"Delete the copies of the journal that lie beside it, too."`
		DryRun    bool   `json:"dry_run,omitempty" doc:"Erase nothing, and say what would go."`
		Confirm   string `json:"confirm,omitempty" doc:"Who or fact once more: nothing brings back what is erased." example:"mika"`
	}
	orderIn struct {
		Order string `path:"order" doc:"The order's id."`
	}
	ordersOut struct {
		Orders []Order `json:"orders" doc:"The newest first."`
	}
)

func (d *door) erase(ctx context.Context, in *oneIn) (out Order, err error) {
	a, err := who(ctx, identity.Talk)
	if err != nil {
		return out, err
	}
	return d.eraseOne(ctx, a, *in, false, inPath())
}

// eraseOne erases one memory that is the asker's to erase.
func (d *door) eraseOne(ctx context.Context, a asker, of oneIn, dry bool, p places) (out Order, err error) {
	if _, err := d.get(ctx, a, of, p); err != nil {
		return out, err
	}
	out, err = d.gone(ctx, Forget{Companion: of.ID, Fact: of.Memory, By: a.Caller, DryRun: dry})
	return out, p.of(err)
}

func (d *door) forget(ctx context.Context, in *forgetIn) (out Order, err error) {
	a, err := who(ctx, identity.Talk)
	if err != nil {
		return out, err
	}
	b := in.Body
	what, err := b.what()
	if err != nil {
		return out, err
	}
	if !b.DryRun && b.Confirm != what {
		return out, at("body.confirm", abi.Errorf(abi.CodeInvalid, "must be %.64q once more, for nothing brings back what is erased", what))
	}
	if b.Fact != "" {
		return d.eraseOne(ctx, a, oneIn{b.Companion, b.Fact}, b.DryRun, places{"companion": "body.companion", "id": "body.fact", "fact": "body.fact"})
	}
	if !a.about(strings.TrimPrefix(b.Who, "@")) && !a.about(known.Bare(b.Who)) {
		return out, at("body.who", abi.Errorf(abi.CodeDenied, "this token is %s's, who may have %[1]s forgotten and nobody else", a.name))
	}
	if b.Copies { // others' words are in them, too
		if err := a.May(identity.Admin); err != nil {
			return out, at("body.copies", err)
		}
	}
	out, err = d.gone(ctx, Forget{Who: b.Who, Copies: b.Copies, By: a.Caller, DryRun: b.DryRun})
	return out, places{"who": "body.who"}.of(err)
}

// what gives the one thing that is to be erased, as it is to be confirmed.
func (b forgetBody) what() (string, error) {
	switch {
	case b.Who == "" && b.Fact == "":
		return "", at("body.who", abi.Errorf(abi.CodeInvalid, "is missing: say who, or fact and companion"))
	case b.Who != "" && b.Fact != "":
		return "", at("body.fact", abi.Errorf(abi.CodeInvalid, "is not for a request with who: one thing is erased at a time"))
	case b.Who != "" && b.Companion != "":
		return "", at("body.companion", abi.Errorf(abi.CodeInvalid, "goes with fact: whoever is forgotten is forgotten by all"))
	case b.Fact != "" && b.Copies:
		return "", at("body.copies", abi.Errorf(abi.CodeInvalid, "goes with who"))
	case b.Fact != "" && b.Companion == "":
		return "", at("body.companion", abi.Errorf(abi.CodeInvalid, "is missing: whose memory is it?"))
	case b.Fact != "":
		return b.Fact, nil
	}
	return b.Who, at("body.who", abi.CheckName("who", strings.TrimPrefix(b.Who, "@")))
}

// gone erases. What was begun is not given up because whoever asked is gone, or has waited
// for long enough.
func (d *door) gone(ctx context.Context, f Forget) (Order, error) {
	if !f.DryRun {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), patience)
		defer cancel()
		defer context.AfterFunc(d.cfg.Stopping, cancel)()
	}
	o, err := d.cfg.Forgetting.Forget(ctx, f)
	return o.shaped(), err
}

func (d *door) order(ctx context.Context, in *orderIn) (out Order, err error) {
	if _, err := who(ctx, identity.Read); err != nil {
		return out, err
	}
	out, err = d.cfg.Forgetting.Order(ctx, in.Order)
	return out.shaped(), places{"order": "path.order", "id": "path.order"}.of(err)
}

func (d *door) orders(ctx context.Context, _ *struct{}) (out ordersOut, err error) {
	if _, err := keeper(ctx); err != nil {
		return out, err
	}
	all, err := d.cfg.Forgetting.Orders(ctx)
	out.Orders = []Order{}
	for _, o := range all {
		out.Orders = append(out.Orders, o.shaped())
	}
	return out, err
}

// shaped leaves no null in an order.
func (o Order) shaped() Order {
	o.Stores, o.Left = append([]Count{}, o.Stores...), append([]string{}, o.Left...)
	return o
}
