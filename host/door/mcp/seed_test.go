package mcp

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
)

func freePool() abi.Pool {
	p := abi.DefaultPool()
	p.Pricing = abi.PricingFree
	return p
}

func want(t *testing.T, got map[string]any, success bool, resource float64, message string) {
	t.Helper()
	exact := map[string]any{"success": success, "resource": resource, "message": message}
	if !maps.Equal(got, exact) {
		t.Errorf("got %v, want %v", got, exact)
	}
}

// chat-relay, as its article shows it: names, shapes and words.
func TestSeedTools(t *testing.T) {
	h := openHome(t, map[string]entry.Rules{"main": rulesOf("pool", freePool())})
	a := h.connect(nil)
	if got, _ := a.call("status", nil); !maps.Equal(got, map[string]any{"resource": 100.0}) {
		t.Errorf("status: %v", got)
	}
	if got, _ := a.call("history", nil); fmt.Sprint(got) != "map[history:[]]" {
		t.Errorf("history: %v", got)
	}
	want(t, a.consume("companion_kyoko", 60, "こんにちは!"), true, 40, "Resource consumed.")
	want(t, a.consume("companion_aya", 60, "よろしくね"), false, 40, "Not enough resource.")
	want(t, a.consume("companion_aya", 40, "よろしくね"), true, 0, "Resource consumed.") // what is left may be spent whole
	if got, _ := a.call("status", nil); got["resource"] != 0.0 {
		t.Errorf("status: %v", got)
	}
	got, _ := a.call("history", nil)
	if fmt.Sprint(got) != "map[history:[map[from:companion_kyoko message:こんにちは!] map[from:companion_aya message:よろしくね]]]" {
		t.Errorf("history: %v", got)
	}
}

// The arguments and answers are declared as the seed declares them; only what
// may be left out is added.
func TestSeedSchemas(t *testing.T) {
	h := openHome(t, map[string]entry.Rules{"main": rulesOf("pool", abi.DefaultPool())})
	res, err := h.connect(nil).session.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	needs := map[string][]string{"consume": {"amount", "from", "message"}, "status": nil, "history": nil}
	gives := map[string][]string{"consume": {"message", "resource", "success"}, "status": {"resource"}, "history": {"history"}}
	for _, tool := range res.Tools {
		if _, seed := gives[tool.Name]; !seed {
			continue
		}
		if got := required(tool.InputSchema); !slices.Equal(got, needs[tool.Name]) {
			t.Errorf("%s needs %v", tool.Name, got)
		}
		if got := required(tool.OutputSchema); !slices.Equal(got, gives[tool.Name]) {
			t.Errorf("%s gives %v", tool.Name, got)
		}
		delete(gives, tool.Name)
	}
	if len(gives) > 0 {
		t.Errorf("not there: %v", gives)
	}
}

func required(schema any) []string {
	var names []string
	list, _ := schema.(map[string]any)["required"].([]any)
	for _, n := range list {
		names = append(names, n.(string))
	}
	slices.Sort(names)
	return names
}

// A mistake names the argument, and what is too much is not cut off silently.
func TestMistakesNameTheArgument(t *testing.T) {
	h := openHome(t, map[string]entry.Rules{"main": rulesOf("pool", abi.DefaultPool())}, &actor{id: "aya"})
	a := h.connect(nil)
	for _, c := range []struct {
		args map[string]any
		want string
	}{
		{map[string]any{"message": "x", "from": "k"}, "amount: is missing"},
		{map[string]any{"amount": 5, "from": "k"}, "message: is missing"},
		{map[string]any{"amount": "5", "message": "x", "from": "k"}, "amount: must be a number, not string"},
		{map[string]any{"amount": 101, "message": "x", "from": "k"}, "amount: 101 is outside 0..100"},
		{map[string]any{"amount": -1, "message": "x", "from": "k"}, "amount: -1 is outside 0..100"},
		{map[string]any{"amount": 5, "message": "x", "from": "k", "romm": "main"}, "romm: there is no such argument"},
		{map[string]any{"amount": 5, "message": "x", "from": "k", "room": "attic"}, `room: there is no "attic"`},
		{map[string]any{"amount": 5, "message": "x", "from": "k", "basis_seq": -1}, "basis_seq: must be a whole number of 0 or more, not number -1"},
	} {
		if got, failed := a.call("consume", c.args); !failed || got["message"] != c.want {
			t.Errorf("%v: %v", c.args, got)
		}
	}
	for _, c := range []struct {
		from, message string
		amount        float64
		want          string
	}{
		{"k k", "x", 5, `from: "k k" may not contain ' '`},
		{"", "x", 5, "from: must not be empty"},
		{"k", " ", 5, "message: must not be empty"},
		{"aya", "x", 5, `from: "aya" is a companion here; take another name`},
		{"ＡＹＡ", "x", 5, `from: "ＡＹＡ" is a companion here; take another name`},
		{"k", strings.Repeat("あ", 11), 5, "amount: a message of 11 characters costs 60, 5 was offered"},
		{"k", strings.Repeat("あ", 101), 100, "message: 101 characters, at most 100 here"},
	} {
		if got := a.consume(c.from, c.amount, c.message); got["success"] != false || got["message"] != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
	if past, _ := a.call("history", nil); fmt.Sprint(past) != "map[history:[]]" {
		t.Errorf("something was said: %v", past)
	}
}

// Who read the history is held to what it read, without knowing of a basis; who
// did not is not.
func TestWhatWasReadIsTheBasis(t *testing.T) {
	h := openHome(t, map[string]entry.Rules{"main": rulesOf("pool", freePool())})
	one, two := h.connect(nil), h.connect(nil)
	h.human("main", "こんにちは")
	one.call("history", nil)
	two.call("history", nil)
	if got := one.consume("one", 50, "先に言う"); got["success"] != true {
		t.Fatal(got)
	}
	got := two.consume("two", 50, "それを知らずに言う")
	if got["success"] != false || got["message"] != "Stale: one spoke meanwhile. Read history again." {
		t.Fatalf("a stale line: %v", got)
	}
	two.call("history", nil)
	if got := two.consume("two", 50, "読んでから言う"); got["success"] != true {
		t.Errorf("after it read again: %v", got)
	}
	if got := h.connect(nil).consume("three", 0, "何も読まない"); got["success"] != true {
		t.Errorf("who reads nothing: %v", got)
	}
	// A basis that is given counts, whatever was read.
	if got, _ := two.call("consume", map[string]any{"from": "two", "amount": 60, "message": "x", "basis_seq": 1}); got["success"] != false {
		t.Errorf("an old basis: %v", got)
	}
	// A backchannel is stale for nobody.
	one.call("history", nil)
	two.consume("two", 5, "うん")
	if got := one.consume("one", 0, "なるほど"); got["success"] != true {
		t.Errorf("after a backchannel: %v", got)
	}
}

// Asked with since, history has what chat-relay's lacks: seq, kind and head.
func TestHistorySince(t *testing.T) {
	h := openHome(t, map[string]entry.Rules{"main": rulesOf("pool", abi.DefaultPool())})
	a := h.connect(nil)
	first := h.human("main", "いち")
	second := h.human("main", "に")
	got, _ := a.call("history", map[string]any{"since": first.Seq})
	list := got["history"].([]any)
	if len(list) != 1 {
		t.Fatalf("%v", got)
	}
	m := list[0].(map[string]any)
	if m["seq"] != float64(second.Seq) || m["kind"] != "turn" || m["message"] != "に" || m["at"] == nil {
		t.Errorf("%v", m)
	}
	if got["head"].(float64) < float64(second.Seq) {
		t.Errorf("head %v", got["head"])
	}
	if got, failed := a.call("history", map[string]any{"limit": 101}); !failed || got["message"] != "limit: 101 is outside 1..100" {
		t.Errorf("%v", got)
	}
	if got, _ := a.call("history", map[string]any{"limit": 1}); len(got["history"].([]any)) != 1 {
		t.Errorf("%v", got)
	}
}

// Asked with a budget, history has the newest messages that fit; one that alone is too long is
// cut in its middle, and says so.
func TestHistoryKeepsToABudget(t *testing.T) {
	h := openHome(t, map[string]entry.Rules{"main": rulesOf("vote", abi.Pool{})})
	a := h.connect(nil)
	for i := range 30 {
		h.human("main", fmt.Sprintf("%d番目の発言です。", i))
	}
	got, _ := a.call("history", map[string]any{"budget": 200})
	list := got["history"].([]any)
	if len(list) < 3 || len(list) > 12 || list[len(list)-1].(map[string]any)["message"] != "29番目の発言です。" {
		t.Errorf("%d messages: %v", len(list), got)
	}
	h.human("main", strings.Repeat("あ", 1000)+strings.Repeat("ん", 1000))
	got, _ = a.call("history", map[string]any{"budget": 200})
	list = got["history"].([]any)
	text := list[0].(map[string]any)["message"].(string)
	if len(list) != 1 || !strings.HasPrefix(text, "ああ") || !strings.HasSuffix(text, "んん") || !strings.Contains(text, "letters left out]") || len([]rune(text)) > 400 {
		t.Errorf("%d messages, the newest is %s", len(list), text)
	}
	for _, c := range []struct {
		args map[string]any
		want string
	}{
		{map[string]any{"budget": -1}, "budget: -1 is less than 0"},
		{map[string]any{"budget": 10, "since": 0}, "budget: is for the newest messages, and since for those that follow; leave one of them out"},
	} {
		if got, failed := a.call("history", c.args); !failed || got["message"] != c.want {
			t.Errorf("%v: %v", c.args, got)
		}
	}
}

// A hundred clients at once: each gets its own answer and none fails.
// The answers tell them apart, since each leaves another level behind.
func TestHundredClients(t *testing.T) {
	pool := freePool()
	pool.Recovery = time.Hour.Milliseconds()
	rules := rulesOf("pool", pool)
	rules.MaxTurns = 0
	h := openHome(t, map[string]entry.Rules{"main": rules})
	const n = 100
	agents := make([]*agent, n)
	for i := range agents {
		agents[i] = h.connect(nil)
	}
	var mu sync.Mutex
	var wg sync.WaitGroup
	levels := map[float64]bool{}
	for i, a := range agents {
		wg.Go(func() {
			got := a.consume(fmt.Sprintf("agent%d", i), 1, fmt.Sprintf("line %d", i))
			mu.Lock()
			defer mu.Unlock()
			if got["success"] != true {
				t.Errorf("%d: %v", i, got)
			}
			levels[got["resource"].(float64)] = true
		})
	}
	wg.Wait()
	if len(levels) != n || !levels[0] || !levels[99] {
		t.Errorf("%d different answers of %d", len(levels), n)
	}
	if got := agents[0].consume("agent0", 1, "one more"); got["success"] != false {
		t.Errorf("the pool was overdrawn: %v", got)
	}
}

// Where turns are voted on, chat-relay's agents still talk: their line is a wish for
// the floor, and is said when it wins.
func TestConsumeWhereTurnsAreVotedOn(t *testing.T) {
	for _, policy := range []string{"vote", "vote+pool"} {
		t.Run(policy, func(t *testing.T) {
			t.Parallel()
			h := openHome(t, map[string]entry.Rules{"main": rulesOf(policy, abi.DefaultPool())}, &actor{id: "aya"})
			a := h.connect(nil)
			h.human("main", "誰か話して")
			got := a.consume("kyoko", 60, "私が話します")
			if got["success"] != true {
				t.Fatalf("%v", got)
			}
			past, _ := a.call("history", nil)
			if !strings.Contains(fmt.Sprint(past), "私が話します") {
				t.Errorf("%v", past)
			}
			if policy == "vote+pool" {
				want(t, a.consume("kyoko", 5, "うんうん"), true, 95, "Resource consumed.")
			} else if got := a.consume("kyoko", 5, "うんうん"); got["success"] != false {
				t.Errorf("a second turn in a row, nobody having answered: %v", got)
			}
		})
	}
}

// When somebody else wins, the line is refused with a reason.
func TestWishThatLoses(t *testing.T) {
	rules := rulesOf("vote", abi.Pool{})
	rules.Pace = 500
	h := openHome(t, map[string]entry.Rules{"main": rules}, &actor{id: "aya", importance: 9.5})
	a := h.connect(nil)
	a.call("wait_for_turn", map[string]any{"from": "kyoko", "timeout_seconds": 0})
	h.human("main", "誰か話して")
	a.call("history", nil)
	if got := a.consume("kyoko", 60, "私も!"); got["success"] != false || got["message"] != "Stale: aya spoke first. Read history again." {
		t.Errorf("%v", got)
	}
}

// A wish that loses again and again is wished more, so that no agent is refused
// for ever beside a companion that always wants to speak a little more.
func TestWishThatLosesIsWishedMore(t *testing.T) {
	rules := rulesOf("vote", abi.Pool{})
	rules.Pace = 200 // else they have taken all turns that there are before it has tried
	h := openHome(t, map[string]entry.Rules{"main": rules}, &actor{id: "aya", importance: 8.5}, &actor{id: "natsumi", importance: 8.4})
	a := h.connect(nil)
	h.human("main", "誰か話して")
	for n := range 6 {
		a.call("history", nil)
		if a.consume("kyoko", 60, fmt.Sprint("私も! ", n))["success"] == true {
			if n == 0 {
				t.Error("6 won over 8.5 at once")
			}
			return
		}
	}
	t.Error("refused six times in a row")
}
