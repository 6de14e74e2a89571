package mcp

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/door/mcp/streamable"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/rooms"
)

// largePool has prices that chat-relay's own pool could not pay.
func largePool() abi.Pool {
	p := abi.DefaultPool()
	p.Size, p.Prices = 300, []abi.Price{{Chars: 10, Cost: 15}, {Chars: 50, Cost: 120}, {Chars: 100, Cost: 240}}
	return p
}

// offered is what a tool says of itself.
func (a *agent) offered(name string) *sdk.Tool {
	a.t.Helper()
	list, err := a.session.ListTools(a.t.Context(), nil)
	if err != nil {
		a.t.Fatal(err)
	}
	for _, tool := range list.Tools {
		if tool.Name == name {
			return tool
		}
	}
	a.t.Fatalf("there is no %s", name)
	return nil
}

// amount gives what the tool consume says of the argument amount.
func (a *agent) amount() (most float64, about string) {
	a.t.Helper()
	schema := a.offered("consume").InputSchema
	most, _ = at(schema, "properties.amount.maximum").(float64)
	about, _ = at(schema, "properties.amount.description").(string)
	return most, about
}

// A pool of any size works with all its prices: the schema lets them through, the texts
// tell them, and what is beyond is refused in the room's own words.
func TestThePoolsOwnPrices(t *testing.T) {
	h := openHome(t, map[string]entry.Rules{"main": rulesOf("pool", largePool()), "den": rulesOf("vote", abi.Pool{}), "small": rulesOf("pool", abi.DefaultPool())})
	a := h.connect(nil)
	most, about := a.amount()
	if most != 300 || !strings.Contains(about, "短い相槌(10文字まで)15、通常(50文字まで)120、長め(100文字まで)240") || !strings.Contains(about, "Other rooms have other prices") {
		t.Errorf("up to %v: %s", most, about)
	}
	if say := a.offered("say").Description; !strings.Contains(say, "of up to 10 characters for 15 points") {
		t.Error(say)
	}
	for _, text := range []string{about, a.offered("consume").Description, a.offered("say").Description} {
		if strings.Contains(text, "60") || strings.Contains(text, "80") {
			t.Errorf("a price of another room: %s", text)
		}
	}
	want(t, a.consume("bot", 120, "これは普通の長さの発言です"), true, 180, "Resource consumed.")
	for _, c := range []struct {
		room   string
		amount float64
		want   string
	}{
		{"main", 301, "amount: 301 is outside 0..300"}, {"main", -1, "amount: -1 is outside 0..300"},
		{"small", 120, "amount: 120 is outside 0..100"}, {"den", 101, "amount: 101 is outside 0..100"},
	} {
		got, failed := a.call("consume", map[string]any{"room": c.room, "from": "bot", "amount": c.amount, "message": "これは普通の長さの発言です"})
		if !failed || got["message"] != c.want || got["field"] != "amount" {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// Where lines are voted on, the price of a turn is a wish like any other's, however large
// the pool is: as the amount that it is, 120 would beat everybody or be refused.
func TestAWishInALargePool(t *testing.T) {
	h := openHome(t, map[string]entry.Rules{"main": rulesOf("vote+pool", largePool())}, &actor{id: "aya"})
	h.human("main", "誰か話して")
	a := h.connect(nil)
	if got := a.consume("bot", 240, "私が話します、少し長いけれど聞いてください"); got["success"] != true {
		t.Fatalf("%v", got)
	}
	es, _, err := h.talk("main").Entries(t.Context(), 0, 100)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range es {
		if e.Kind == entry.KindWish {
			if w, err := entry.Decode[entry.Wish](e); err != nil || w.Importance != 10 {
				t.Errorf("%+v %v", w, err)
			}
			return
		}
	}
	t.Error("no wish was written down")
}

// Who listens is told of a room that was opened with other prices, and finds them in the
// schema; nobody is told where nothing is new.
func TestPricesOfARoomThatWasOpened(t *testing.T) {
	for _, era := range eras {
		t.Run(era, func(t *testing.T) {
			s := openShelf(t, false)
			a, told := s.connect(era)
			if era == modernEra {
				a.subscribe(uriOf(usualRoom, statusPart)) // it listens
			}
			most, about := a.amount()
			if most != 100 || strings.Contains(about, "Other rooms") {
				t.Errorf("up to %v: %s", most, about)
			}
			open := func(name, settings string) {
				t.Helper()
				if _, err := s.rooms.Open(t.Context(), rooms.Opening{Name: name, By: taro, Settings: []byte(settings)}); err != nil {
					t.Fatal(err)
				}
				s.door.RoomOpened(t.Context(), name)
			}
			open("alike", `{"policy":"vote"}`)
			open("den", `{"policy":"pool","size":500}`)
			if got := told.await(t); got != "tools" {
				t.Errorf("told of %s", got)
			}
			most, about = a.amount()
			if most != 500 || !strings.Contains(about, "Other rooms have other prices") {
				t.Errorf("up to %v: %s", most, about)
			}
			was := s.door.terms
			if err := s.rooms.Archive(t.Context(), "den", taro); err != nil {
				t.Fatal(err)
			}
			open("den", `{"policy":"pool","size":400}`)
			if s.door.terms != was {
				t.Errorf("%+v, was %+v", s.door.terms, was)
			}
			open("alike2", `{"policy":"pool","size":700}`)
			if got := told.await(t); got != "tools" {
				t.Errorf("told of %s", got)
			}
			if most, _ = a.amount(); most != 700 {
				t.Errorf("up to %v", most)
			}
		})
	}
}

// poorly is a directory whose usual room is in trouble for a while.
type poorly struct {
	rooms.Directory
	trouble atomic.Bool
}

type ill struct {
	rooms.Room
	of *poorly
}

func (p *poorly) Room(ctx context.Context, name string) (rooms.Room, error) {
	r, err := p.Directory.Room(ctx, name)
	return ill{r, p}, err
}

func (p *poorly) List(ctx context.Context, after string, limit int) ([]rooms.Info, error) {
	if p.trouble.Load() {
		return nil, errors.New("the disk is ill")
	}
	return p.Directory.List(ctx, after, limit)
}

func (r ill) Info() rooms.Info {
	if r.of.trouble.Load() {
		return rooms.Info{Name: r.Name(), Head: 1, State: "unavailable", Error: "the disk is ill"}
	}
	return r.Room.Info()
}

func (r ill) History(ctx context.Context, ask abi.HistoryAsk) (abi.History, error) {
	if r.of.trouble.Load() {
		return abi.History{}, errors.New("the disk is ill")
	}
	return r.Room.History(ctx, ask)
}

// A room that was in trouble when the daemon started counts from its first good day.
func TestPricesAfterTrouble(t *testing.T) {
	h := openHome(t, map[string]entry.Rules{"main": rulesOf("pool", largePool())})
	p := &poorly{Directory: h.rooms}
	p.trouble.Store(true)
	d := New(Config{Rooms: p, Version: "test", Cards: noCards, Stopping: t.Context()})
	if d.terms.Most != 100 {
		t.Errorf("in trouble: %+v", d.terms)
	}
	status := d.quick["status"]
	if res, err := status(t.Context(), streamable.Asker{Session: "s"}, nil); err != nil || !res.IsError {
		t.Errorf("%+v, %v", res, err)
	}
	p.trouble.Store(false)
	if res, err := status(t.Context(), streamable.Asker{Session: "s"}, nil); err != nil || res.IsError {
		t.Errorf("%+v, %v", res, err)
	}
	if got := d.terms; got.Most != 300 || !strings.Contains(got.Amount, "120") || strings.Contains(got.Amount, "Other rooms") {
		t.Errorf("on a good day: %+v", got)
	}
}

// chat-relay's agents get their one number of a room without a pool, and nothing that
// their schema does not have, as text or otherwise; one that says who it is, is told what
// the number is.
func TestStatusWhereNothingIsSpent(t *testing.T) {
	h := openHome(t, map[string]entry.Rules{"main": rulesOf("vote", abi.Pool{}), "pool": rulesOf("pool", abi.DefaultPool())})
	a := h.connect(nil)
	status := func(args map[string]any) (text string) {
		t.Helper()
		res, err := a.session.CallTool(t.Context(), &sdk.CallToolParams{Name: "status", Arguments: args})
		if err != nil || len(res.Content) != 1 {
			t.Fatalf("%+v, %v", res, err)
		}
		return res.Content[0].(*sdk.TextContent).Text
	}
	if text := status(nil); text != `{"resource":100}` {
		t.Error(text)
	}
	if text := status(map[string]any{"from": "bot"}); !strings.Contains(text, `"resource":100`) || !strings.Contains(text, "no pool") || !strings.Contains(text, "リソースがなく") {
		t.Error(text)
	}
	if text := status(map[string]any{"from": "bot", "room": "pool"}); strings.Contains(text, "note") {
		t.Errorf("with a pool: %s", text)
	}
}

// A completion has a hundred values at most, and says when there are more.
func TestCompletionsAreBounded(t *testing.T) {
	s := openShelf(t, false)
	for i := range listed + 3 {
		s.save(fmt.Sprintf("c%03d", i), spec("x", waveAction))
	}
	a, _ := s.connect(sessionEra)
	for value, want := range map[string]int{"c": listed + 3, "c00": 10, "c102": 1, "x": 0} {
		res, err := a.session.Complete(t.Context(), &sdk.CompleteParams{
			Ref: &sdk.CompleteReference{Type: "ref/resource", URI: "spec://{companion}"}, Argument: sdk.CompleteParamsArgument{Name: "companion", Value: value},
		})
		if err != nil || len(res.Completion.Values) != min(want, listed) || res.Completion.Total != want || res.Completion.HasMore != (want > listed) {
			t.Errorf("%q: %+v %v", value, res, err)
		}
	}
}

// A tool is offered anew while agents call it, also beside the SDK.
func TestOfferedAnewWhileItIsCalled(t *testing.T) {
	pool := freePool()
	pool.Recovery = 1 // millisecond
	h := openHome(t, map[string]entry.Rules{"main": rulesOf("pool", pool)})
	a := h.connect(nil)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := range 3 {
			name := fmt.Sprint("room", i)
			settings := fmt.Appendf(nil, `{"policy":"pool","size":%d}`, 200+100*i)
			if _, err := h.rooms.Open(t.Context(), rooms.Opening{Name: name, By: taro, Settings: settings}); err != nil {
				t.Error(err)
			}
			h.door.RoomOpened(t.Context(), name)
		}
	}()
	for n := 0; ; n++ {
		if got := a.consume("bot", 1, "うん"); got["message"] == "" {
			t.Errorf("%v", got)
		}
		select {
		case <-done:
			if most, _ := a.amount(); most != 400 {
				t.Errorf("up to %v after %d calls", most, n)
			}
			return
		default:
		}
	}
}
