package prompt

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/model/tokens"
)

// costs is what a talk came to.
type costs struct{ calls, votes, tokens, cached int }

// count adds requests, of which an endpoint keeps those that begin alike.
func (c *costs) count(asks []asked_) {
	meter := new(tokens.Meter)
	kept := map[string][]string{} // by the key of the cache and the schema: what the newest one was, part by part
	for _, a := range asks {
		parts := []string{string(a.Schema), a.System}
		for _, m := range a.Messages {
			parts = append(parts, string(m.Role)+m.Text)
		}
		c.calls++
		if a.Op == abi.OpVote {
			c.votes++
		}
		key, same := a.CacheKey+a.SchemaName, true
		for i, p := range parts {
			n := meter.Tokens(tokens.Of(p))
			c.tokens += n
			if same = same && i < len(kept[key]) && kept[key][i] == p; same {
				c.cached += n
			}
		}
		kept[key] = parts
	}
}

func (c costs) String() string {
	return fmt.Sprintf("%d calls (%d for votes), %d tokens of prompts, %d %% of them read before, which at a tenth of the price is %d",
		c.calls, c.votes, c.tokens, 100*c.cached/c.tokens, c.tokens-c.cached*9/10)
}

// TestWhatPanelsCost: a talk of a person and three characters, a person's turn in four, with
// and without votes in one call.
func TestWhatPanelsCost(t *testing.T) {
	const turns = 100
	more := fmt.Sprintf(`,"story":%q`, strings.Repeat("grew up in a town by the sea, and works in a café there. ", 40))
	cost := map[bool]costs{}
	for _, alone := range []bool{true, false} {
		inHall(t, []string{"aya " + more, "bob " + more, "cid " + more}, func(h *hall) {
			h.alone = alone
			for i := range turns {
				from := []string{"taro", "aya", "bob", "cid"}[i%4]
				seq := uint64(i + 1)
				h.said["main"] = append(h.said["main"], abi.Message{
					Seq: seq, From: from, Kind: abi.KindTurn,
					Text: fmt.Sprintf("And that is what I think of it, for the %dth time today; but what would the rest of you say about that, if you were asked?", i),
				})
				var ids []string
				for _, id := range trio {
					if id != from {
						ids = append(ids, id)
					}
				}
				h.round("main", h.scene(from, seq), ids...)
				s := h.scene(from, seq) // and one of them speaks
				s.Grant = &abi.Grant{Token: "g", Basis: seq}
				if _, err := call_[abi.Line](&rig{t: t, m: h.mods[ids[i%len(ids)]]}, context.Background(), abi.OpSpeak, s); err != nil {
					t.Fatal(err)
				}
			}
			var c costs
			c.count(h.asks)
			cost[alone] = c
			t.Logf("votes alone %v: %v", alone, c)
		})
	}
	if one, each := cost[false], cost[true]; one.votes != turns || each.votes != turns*9/4 || one.tokens > each.tokens*3/4 || one.cached*10 < one.tokens*8 {
		t.Errorf("together %v; one by one %v", one, each)
	}
}
