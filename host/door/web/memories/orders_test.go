package memories

import (
	"context"
	"slices"
	"testing"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/forget"
	"github.com/companiond/companiond/host/identity"
)

func TestOrderOfAReceipt(t *testing.T) {
	o := orderOf(forget.Receipt{State: forget.Done, Entries: 12, Memories: 4, Keys: 1, Others: forget.Others{Entries: 3, Memories: 1, Episodes: 1}}, false)
	if want := []Count{{"entries", 12, 3}, {"memories", 4, 2}, {"keys", 1, 0}}; !slices.Equal(o.Stores, want) || o.Talks != 1 {
		t.Errorf("%+v", o)
	}
}

// called is a service of a house in which people have some names.
type called struct {
	Service
	names []string
	asked []string // of whom an order was given
}

func (c *called) Plan(_ context.Context, o forget.Order) (forget.Receipt, error) {
	if o.By.Name != "" && o.By.Name != o.Who {
		return forget.Receipt{}, abi.Field("who", abi.CodeDenied, "you may have erased what you said yourself")
	}
	return forget.Receipt{Nobody: !slices.Contains(c.names, o.Who), Called: []string{o.Who}}, nil
}

func (c *called) Forget(_ context.Context, o forget.Order) (forget.Receipt, error) {
	if o.By.Guest && o.Claimed != o.Who {
		return forget.Receipt{}, abi.Errorf(abi.CodeDenied, "another one")
	}
	c.asked = append(c.asked, o.Who)
	return forget.Receipt{}, nil
}

func (c *called) Wait(context.Context, string) (forget.Receipt, error) {
	return forget.Receipt{State: forget.Done}, nil
}

// TestHowPeopleAreCalled: whom people call with さん, or with an @, is meant, where nobody is called exactly so.
func TestHowPeopleAreCalled(t *testing.T) {
	for _, c := range []struct {
		by    identity.Caller
		names []string
		who   string
		want  string
	}{
		{identity.Caller{}, []string{"Mika"}, "Mikaさん", "Mika"},
		{identity.Caller{}, []string{"mika"}, "@mika", "mika"},
		{identity.Caller{}, []string{"mika"}, "@mika-chan", "mika"},
		{identity.Caller{}, []string{"Mika", "Mikaさん"}, "Mikaさん", "Mikaさん"},
		{identity.Caller{}, []string{"taro"}, "さん", "さん"},
		{identity.Caller{Guest: true}, []string{"ゆき"}, "ゆきちゃん", "ゆき"},
		{identity.Caller{Name: "mika"}, []string{"mika"}, "mikaさん", "mika"},
	} {
		s := &called{names: c.names}
		orders := Orders{Service: s}
		if _, err := orders.Forget(t.Context(), Forget{Who: c.who, By: c.by}); err != nil || !slices.Equal(s.asked, []string{c.want}) {
			t.Errorf("%s is %q: %v", c.who, s.asked, err)
		}
		if would, err := orders.Forget(t.Context(), Forget{Who: c.who, By: c.by, DryRun: true}); err != nil || would.Nobody != !slices.Contains(c.names, c.want) || !slices.Equal(would.Called, []string{c.want}) {
			t.Errorf("%s would be %+v: %v", c.who, would, err)
		}
	}
}
