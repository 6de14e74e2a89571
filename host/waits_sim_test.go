package host_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/rooms"
)

// The simulation of agents that wait: each calls wait_for_turn again and again, and asks
// its model whenever that tells it of something. A model that is asked for nothing costs
// money; one that is not asked for something has missed it.

// waitWay is how such agents connect.
type waitWay struct {
	name   string
	era    string
	fresh  bool // a session a call
	shared bool // all in one session
}

var waitWays = []waitWay{
	{"a session each", "2025-11-25", false, false},
	{"a session a call", "2025-11-25", true, false},
	{"one session", "2025-11-25", false, true},
	{"no session", "2026-07-28", false, false},
	{"no session, one client", "2026-07-28", false, true},
}

// waitNews is what wait_for_turn tells.
type waitNews struct {
	Reason   string
	Head     uint64
	Messages []struct {
		Seq  uint64
		From string
	}
	Round *struct{ About uint64 }
	Grant *struct {
		Token string
		Basis uint64 `json:"basis_seq"`
	}

	Resource float64
	Price    float64 `json:"turn_price"`
}

// waiter is an agent that waits, with a mock for a model that counts how often it is asked.
type waiter struct {
	id    string
	t     *testing.T
	house simHouse
	way   waitWay
	own   *sdk.ClientSession
	rng   *rand.Rand
	acts  bool // it does what it is told to; another only listens

	mu     sync.Mutex
	told   map[string]int // how often it was told of what: "message 7", "round 7", "grant x"
	asked  int            // calls of its model
	wasted int            // of those, with nothing that it did not know
	short  bool           // there were too few points for its newest line, or for a turn when it was told of something
	shorts int            // how often
}

func (w *waiter) call(ctx context.Context, tool string, args map[string]any, into any) error {
	s := w.own
	if w.way.fresh {
		s = w.house.connect(w.way.era)
		defer func() { _ = s.Close() }()
	}
	args["from"] = w.id
	res, err := s.CallTool(ctx, &sdk.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		return err
	}
	if res.IsError {
		return fmt.Errorf("%s", res.Content[0].(*sdk.TextContent).Text)
	}
	return json.Unmarshal([]byte(res.Content[0].(*sdk.TextContent).Text), into)
}

// run waits until ctx ends. Its calls outlive ctx, as a session that is closed in the
// middle of one is another story.
func (w *waiter) run(ctx context.Context) {
	calls := context.WithoutCancel(ctx)
	for ctx.Err() == nil {
		var n waitNews
		if err := w.call(calls, "wait_for_turn", map[string]any{"timeout_seconds": 20}, &n); err != nil {
			w.t.Errorf("%s: %v", w.id, err)
			return
		}
		if n.Reason == "timeout" {
			continue
		}
		w.note(n)
		time.Sleep(time.Duration(300+w.rng.IntN(2700)) * time.Millisecond)
		w.act(calls, n)
	}
}

// note counts what the model is asked for.
func (w *waiter) note(n waitNews) {
	w.mu.Lock()
	defer w.mu.Unlock()
	fresh := n.Reason == "points" && w.short
	add := func(thing string) {
		fresh = fresh || w.told[thing] == 0
		w.told[thing]++
	}
	for _, m := range n.Messages {
		add(fmt.Sprint("message ", m.Seq))
	}
	switch n.Reason {
	case "asked":
		add(fmt.Sprint("round ", n.Round.About))
	case "granted":
		add(fmt.Sprint("grant ", n.Grant.Token, " at ", n.Grant.Basis)) // anew where a line was stale
	}
	w.asked++
	w.lacks(len(n.Messages) > 0 && n.Resource < n.Price)
	if !fresh {
		w.wasted++
	}
}

// lacks says whether there are too few points for it now. w.mu is held.
func (w *waiter) lacks(short bool) {
	if short && !w.short {
		w.shorts++
	}
	w.short = short
}

func (w *waiter) act(ctx context.Context, n waitNews) {
	if !w.acts {
		return
	}
	var out map[string]any
	switch n.Reason { // what is refused is known by the next wait
	case "asked":
		_ = w.call(ctx, "vote", map[string]any{"state": "speak", "importance": w.rng.IntN(10)}, &out)
	case "granted":
		_ = w.call(ctx, "say", map[string]any{"message": fmt.Sprintf("%s said it at %d", w.id, n.Head), "grant": n.Grant.Token}, &out)
	case "unseen", "addressed", "points":
		if w.rng.IntN(3) == 0 {
			_ = w.call(ctx, "consume", map[string]any{"message": fmt.Sprintf("%s at %d", w.id[:1], n.Head), "amount": 60}, &out)
			w.mu.Lock()
			if out["message"] == "Not enough resource." {
				w.lacks(true)
			} else if out["success"] == true {
				w.lacks(false)
			}
			w.mu.Unlock()
		}
	}
}

// waitTalk is a talk of people among agents that wait; it gives the agents and all that
// was said.
func waitTalk(t *testing.T, way waitWay, policy string, seed uint64) ([]*waiter, []abi.Message) {
	var ws []*waiter
	var ends []func()
	h := openHouse(t, t.Context(), entry.Rules{Policy: policy, Seed: "sim", Patience: 6000, Floor: 10000, MaxTurns: 8, Stale: entry.StaleReask}, func() {
		for _, end := range ends {
			end()
		}
	})
	ctx, cancel := context.WithCancel(t.Context())
	var shared *sdk.ClientSession
	var all sync.WaitGroup
	for i, id := range []string{"aya", "kyoko", "natsumi", "lazy"} {
		w := &waiter{id: id, t: t, house: h, way: way, rng: rand.New(rand.NewPCG(seed, uint64(i))), acts: id != "lazy", told: map[string]int{}}
		if way.shared && shared != nil {
			w.own = shared
		} else if !way.fresh {
			w.own = h.connect(way.era)
			shared = w.own
			ends = append(ends, func() { _ = w.own.Close() })
		}
		ws = append(ws, w)
		all.Go(func() { w.run(ctx) })
	}
	rng := rand.New(rand.NewPCG(seed, 99))
	synctest.Wait()
	for n := range 12 {
		time.Sleep(time.Duration(200+rng.IntN(30000)) * time.Millisecond)
		if _, err := h.talk.Say(context.WithoutCancel(ctx), rooms.Utterance{From: "taro", Text: fmt.Sprint("みんな、聞こえる? ", n)}); err != nil {
			t.Error(err)
		}
	}
	time.Sleep(3 * time.Minute)
	cancel()
	all.Wait()
	ms, _, err := h.talk.Messages(context.WithoutCancel(ctx), 0, 10000)
	if err != nil {
		t.Error(err)
	}
	return ws, ms
}

// An agent that waits is told of everything that others say, of each round and each grant, once, and
// its model is never asked for nothing: in a session, in a fresh one for each call, in one
// that it shares with others, and without any.
func TestAgentsThatWait(t *testing.T) {
	for _, way := range waitWays {
		for _, policy := range []string{"pool", "vote", "vote+pool"} {
			t.Run(way.name+"/"+policy, func(t *testing.T) {
				var asked, things int
				synctest.Test(t, func(t *testing.T) {
					ws, said := waitTalk(t, way, policy, 1)
					for _, w := range ws {
						a, n := w.judge(t, said)
						asked, things = asked+a, things+n
					}
				})
				t.Logf("%d calls of models for %d things", asked, things)
				if asked == 0 || asked > things {
					t.Errorf("models were asked %d times for %d things", asked, things)
				}
			})
		}
	}
}

// judge gives how often the model was asked, and how many things there were.
func (w *waiter) judge(t *testing.T, said []abi.Message) (asked, things int) {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, m := range said {
		times := w.told[fmt.Sprint("message ", m.Seq)]
		if own := m.From == w.id; own && times != 0 || !own && times != 1 {
			t.Errorf("%s was told %d times of message %d of %s", w.id, times, m.Seq, m.From)
		}
	}
	for thing, times := range w.told {
		if times > 1 {
			t.Errorf("%s was told %d times of %s", w.id, times, thing)
		}
	}
	if w.wasted > 0 {
		t.Errorf("the model of %s was asked %d times for nothing", w.id, w.wasted)
	}
	return w.asked, len(w.told) + w.shorts
}

// ghost reads a room once and is never heard of again.
func ghost(t *testing.T, h simHouse, i int) (end func()) {
	era, args := "2025-11-25", map[string]any{}
	if i%3 > 0 {
		era = "2026-07-28"
	}
	if i%2 > 0 {
		args["from"] = fmt.Sprint("ghost", i)
	}
	c := h.connect(era)
	if _, err := c.CallTool(h.ctx, &sdk.CallToolParams{Name: "history", Arguments: args}); err != nil {
		t.Error(err)
	}
	return func() { _ = c.Close() }
}

// Who read once and left is not waited for: no notice is sent again for three hundred of
// them, whether agents are there, which read when they are told, or sockets alone.
func TestGhostsAreNotWaitedFor(t *testing.T) {
	for _, way := range append(simWays, simWay{name: "sockets alone"}) {
		if way.shared { // whoever shares a socket cannot be counted by it
			continue
		}
		t.Run(way.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var ends []func()
				h := openHouse(t, t.Context(), simRules(), func() {
					for _, end := range ends {
						end()
					}
				})
				say := func(text string) {
					if _, err := h.talk.Say(context.WithoutCancel(t.Context()), rooms.Utterance{From: "taro", Text: text}); err != nil {
						t.Error(err)
					}
				}
				var mu sync.Mutex
				again := 0
				for _, who := range simNames {
					s := &doorServer{t: t, house: h, way: way, talk: h.talk, sessions: map[string]*sdk.ClientSession{}}
					if way.era != "" {
						c := h.connect(way.era)
						s.sessions[who] = c
						ends = append(ends, func() { _ = c.Close() })
					}
					ends = append(ends, h.listen(func(notice []byte) {
						var n struct{ Again bool }
						_ = json.Unmarshal(notice, &n)
						mu.Lock()
						if n.Again {
							again++
						}
						mu.Unlock()
						if way.era != "" {
							time.Sleep(time.Second)
							s.history(who)
						}
					}))
				}
				synctest.Wait()
				say("こんにちは")
				time.Sleep(3 * time.Second)
				for i := range 300 {
					ends = append(ends, ghost(t, h, i))
				}
				say("誰かいる?")
				time.Sleep(90 * time.Second)
				say("もしもし")
				time.Sleep(90 * time.Second)
				mu.Lock()
				defer mu.Unlock()
				if again > 0 {
					t.Errorf("%d notices were sent again", again)
				}
			})
		})
	}
}
