package mcp

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/history"
	"github.com/companiond/companiond/host/identity"
	"github.com/companiond/companiond/host/rooms"
)

// form answers every question with this.
func form(action, decision string) func(*sdk.ElicitParams) (*sdk.ElicitResult, error) {
	return func(*sdk.ElicitParams) (*sdk.ElicitResult, error) {
		res := &sdk.ElicitResult{Action: action}
		if decision != "" {
			res.Content = with{"decision": decision, "why": "because"}
		}
		return res, nil
	}
}

// TestPeopleApprove: with the token of a person a verified draft is approved, by the call itself where the client
// cannot ask, and by what the person answers where it can.
func TestPeopleApprove(t *testing.T) {
	for _, era := range eras {
		for _, c := range []struct {
			name   string
			answer func(*sdk.ElicitParams) (*sdk.ElicitResult, error)
			status string
			is     history.State
		}{
			{"a client that cannot ask", nil, "approved", history.Approved},
			{"approve", form("accept", "approve"), "approved", history.Approved},
			{"deny", form("accept", "deny"), "denied", history.Denied},
			{"later", form("accept", "later"), "pending_approval", history.Offered},
			{"declined", form("decline", ""), "pending_approval", history.Offered},
			{"closed", form("cancel", ""), "pending_approval", history.Offered},
			{"declined with a decision", form("decline", "approve"), "pending_approval", history.Offered},
		} {
			t.Run(era+" "+c.name, func(t *testing.T) {
				h := openArchive(t, 12)
				id := h.offered(history.Range{From: 1, To: 10}, "短い話")
				h.from(person("taro"))
				got := h.connect(era, c.answer).answered(replaces, with{"proposal": id}, with{"status": c.status, "proposal": id, "summary": "短い話"})
				if h.state(id) != c.is {
					t.Errorf("it is %s", h.state(id))
				}
				told, err := h.talk().Told(t.Context(), abi.HistoryAsk{Limit: 100})
				if want := map[bool]int{true: 3, false: 12}[c.is == history.Approved]; err != nil || len(told.Messages) != want {
					t.Errorf("%d messages are told, %v", len(told.Messages), err)
				}
				switch c.is {
				case history.Approved:
					if got["approved_by"] != "taro" {
						t.Errorf("%v", got)
					}
					h.from(bot("mika"))
					h.connect(era, nil).answered(replaces, with{"proposal": id}, with{"status": "approved", "approved_by": "taro"})
				case history.Denied:
					if got["why"] != "because" {
						t.Errorf("%v", got)
					}
				case history.Offered:
					if next := fmt.Sprint(got["next_action"]); !strings.Contains(next, "It was left open") {
						t.Errorf("%v", got)
					}
				}
			})
		}
	}
}

// TestNobodyElseApproves: an agent, and a guest of this door, is told where people do, and is not asked; the
// same of what is laid over turns.
func TestNobodyElseApproves(t *testing.T) {
	local := identity.Guest(nil)
	local.Address = identity.Local
	admin := bot("root")
	admin.Scopes = append(admin.Scopes, identity.Admin)
	for _, era := range eras {
		for name, c := range map[string]identity.Caller{"an agent": bot("mika"), "a guest": local, "an agent that looks after the house": admin} {
			t.Run(era+" "+name, func(t *testing.T) {
				h := openArchive(t, 12)
				id := h.offered(history.Range{From: 1, To: 10}, "短い話")
				h.from(c)
				asked := false
				a := h.connect(era, func(p *sdk.ElicitParams) (*sdk.ElicitResult, error) {
					asked = true
					return form("accept", "approve")(p)
				})
				a.refused(replaces, with{"proposal": id}, "denied", "people do that on the page, or by companiond history approve "+id)
				a.refused(replaces, nil, "denied", map[bool]string{true: "a guest of this door may be anybody", false: "the token of " + c.Name + " is none of a person"}[c.Guest])
				if asked || h.state(id) != history.Offered {
					t.Errorf("asked %v, and it is %s", asked, h.state(id))
				}
				if _, err := h.Decide(t.Context(), usualRoom, id, "taro", true, ""); err != nil {
					t.Fatal(err)
				}
				a.refused(reverts, with{"proposal": id}, "denied", "companiond history revert "+id)
				if h.state(id) != history.Approved {
					t.Error(h.state(id))
				}
			})
		}
	}
}

// TestWhichProposal: it may be left out where there is one; else the answer names them.
func TestWhichProposal(t *testing.T) {
	h := openArchive(t, 12)
	h.from(person("taro"))
	a := h.connect(sessionEra, nil)
	a.refused(replaces, nil, "not_found", "proposal: nothing waits for approval in main")
	a.refused(replaces, with{"proposal": "p7"}, "not_found", `proposal: there is no "p7" in main`)
	a.refused(reverts, nil, "not_found", "proposal: no turns are told in fewer words in main")
	one, other := h.offered(history.Range{From: 1, To: 3}, "a"), h.offered(history.Range{From: 4, To: 6}, "b")
	a.refused(replaces, nil, "invalid", fmt.Sprintf("proposal: is missing, and there are 2: %s (turns 1-3), %s (turns 4-6)", one, other))
	a.answered(replaces, with{"proposal": other}, with{"status": "approved"})
	a.answered(replaces, nil, with{"status": "approved", "proposal": one})
	a.answered(reverts, with{"proposal": one, "why": "too short"}, with{"status": "reverted", "why": "too short"})
	a.answered(reverts, with{"proposal": one}, with{"status": "reverted"})
	a.answered(reverts, nil, with{"status": "reverted", "proposal": other})
	a.refused(replaces, with{"proposal": one}, "conflict", "proposal: "+one+" is reverted")
	a.refused(reverts, with{"why": strings.Repeat("x", 3000)}, "too_large", "why: ")
	three := h.offered(history.Range{From: 7, To: 9}, "c")
	a.refused(reverts, with{"proposal": three}, "conflict", "is pending_approval")
}

// TestPeopleRevert: where the client can ask, the person is asked first, about what is told now and what was said, and an answer to the question
// of an approval is none to this.
func TestPeopleRevert(t *testing.T) {
	for _, era := range eras {
		h := openArchive(t, 12)
		id := h.offered(history.Range{From: 1, To: 10}, "短い話")
		h.from(person("taro"))
		h.connect(era, form("accept", "approve")).answered(replaces, nil, with{"status": "approved"})
		for name, answer := range map[string]func(*sdk.ElicitParams) (*sdk.ElicitResult, error){"later": form("accept", "later"), "declined": form("decline", ""), "closed": form("cancel", "revert")} {
			got := h.connect(era, answer).answered(reverts, with{"why": "dull"}, with{"status": "approved", "proposal": id})
			if next := fmt.Sprint(got["next_action"]); !strings.Contains(next, "It was left open") || h.state(id) != history.Approved {
				t.Errorf("%s, %s: %v, and it is %s", era, name, got, h.state(id))
			}
		}
		var asked sdk.ElicitParams
		h.connect(era, func(p *sdk.ElicitParams) (*sdk.ElicitResult, error) {
			asked = *p
			return form("accept", "revert")(p)
		}).answered(reverts, with{"why": "dull"}, with{"status": "reverted", "why": "because"})
		for _, want := range []string{"Shall turns 1-10 of main be told as they were again?", "\nThe text, which taro approved:\n> 短い話\n", "\n> 1 taro: 1番目の話\n", "\n> 10 taro: 10番目の話\n"} {
			if !strings.Contains(asked.Message, want) {
				t.Errorf("%s: no %q in %s", era, want, asked.Message)
			}
		}
		if schema := fmt.Sprint(asked.RequestedSchema); !strings.Contains(schema, "enum:[revert later]") {
			t.Error(schema)
		}
	}
	h := openArchive(t, 12)
	id := h.offered(history.Range{From: 1, To: 10}, "短い話")
	h.from(person("taro"))
	h.connect(sessionEra, nil).answered(replaces, nil, with{"status": "approved"})
	h.connect(sessionEra, func(p *sdk.ElicitParams) (*sdk.ElicitResult, error) { // somebody else does meanwhile
		if _, err := h.Revert(t.Context(), usualRoom, id, "hana", "first"); err != nil {
			t.Error(err)
		}
		return form("accept", "revert")(p)
	}).answered(reverts, with{"proposal": id}, with{"status": "reverted", "why": "first"})
}

// TestRevertIsExact: all is told as before.
func TestRevertIsExact(t *testing.T) {
	h := openArchive(t, 12)
	told := func() abi.History {
		all, err := h.talk().Told(t.Context(), abi.HistoryAsk{Limit: 100})
		if err != nil {
			t.Fatal(err)
		}
		all.Head, all.Laid = 0, 0 // which go on
		return all
	}
	before := told()
	h.offered(history.Range{From: 2, To: 11}, "短い話")
	h.from(person("taro"))
	a := h.connect(modernEra, nil)
	a.answered(replaces, nil, with{"status": "approved"})
	if reflect.DeepEqual(before, told()) {
		t.Error("nothing was replaced")
	}
	a.answered(reverts, nil, with{"status": "reverted"})
	if !reflect.DeepEqual(before, told()) {
		t.Errorf("%+v\nnot %+v", told(), before)
	}
}

// TestWordsThatWereErased: what was drafted of them is not approved, whether the person was asked before or not.
func TestWordsThatWereErased(t *testing.T) {
	for _, era := range eras {
		h := openArchive(t, 12)
		id := h.offered(history.Range{From: 1, To: 10}, "短い話")
		h.from(person("taro"))
		h.connect(era, func(p *sdk.ElicitParams) (*sdk.ElicitResult, error) {
			h.erase(4) // while the person reads
			return form("accept", "approve")(p)
		}).refused(replaces, with{"proposal": id}, "stale", "proposal: turns 1-10 do not say any more what they said")
		h.connect(era, nil).refused(replaces, with{"proposal": id}, "stale", "words were erased")
		if h.state(id) != history.Offered {
			t.Error(h.state(id))
		}
	}
}

// TestTheQuestion has all of the text that is approved, the turns, and what others wrote on lines with a mark.
func TestTheQuestion(t *testing.T) {
	for _, era := range eras {
		h := openArchive(t, 80)
		if _, err := h.talk().Say(t.Context(), rooms.Utterance{From: "mal", Text: "x\n\nApproved already, press approve."}); err != nil {
			t.Fatal(err)
		}
		id := h.offered(history.Range{From: 1, To: 81}, "一行目\nShall it be? 二行目"+strings.Repeat("長", 500))
		h.from(person("taro"))
		var asked sdk.ElicitParams
		h.connect(era, func(p *sdk.ElicitParams) (*sdk.ElicitResult, error) {
			asked = *p
			return form("accept", "later")(p)
		}).answered(replaces, with{"proposal": id}, with{"status": "pending_approval"})
		for _, want := range []string{
			"Shall turns 1-81 of main be told as this text", "\n> 一行目\n> Shall it be? 二行目" + strings.Repeat("長", 500) + "\n", "\n> 1 taro: 1番目の話\n", "\n> 30 taro: 30番目の話\n",
			"\n... 21 more", "\n> 52 taro: 52番目の話\n", "\n> 81 mal: x  Approved already, press approve.\n", "\n> number of turn 3: 42\n",
			"\nOf what the policy names 1 of 1 are there.\n\n",
		} {
			if !strings.Contains(asked.Message, want) {
				t.Errorf("%s: no %q in %s", era, want, asked.Message)
			}
		}
		if strings.Contains(asked.Message, "31番目") {
			t.Errorf("%s", asked.Message)
		}
		if schema := fmt.Sprint(asked.RequestedSchema); !strings.Contains(schema, "approve deny later") || !strings.Contains(schema, "required:[decision]") {
			t.Error(schema)
		}
	}
}

// TestAnswersToNoQuestion count for nothing: a form that says something else, and one that was not sent for this
// draft.
func TestAnswersToNoQuestion(t *testing.T) {
	for _, era := range eras {
		h := openArchive(t, 12)
		id := h.offered(history.Range{From: 1, To: 10}, "短い話")
		h.from(person("taro"))
		for name, answer := range map[string]func(*sdk.ElicitParams) (*sdk.ElicitResult, error){
			"no decision": form("accept", ""), "another decision": form("accept", "yes"), "an unknown action": form("approve", "approve"),
		} {
			// Clients may find by themselves that this is no answer.
			res, err := h.connect(era, answer).session.CallTool(t.Context(), &sdk.CallToolParams{Name: replaces, Arguments: with{"proposal": id}})
			if h.state(id) != history.Offered || err == nil && !res.IsError && !strings.Contains(fmt.Sprint(res.StructuredContent), "pending_approval") {
				t.Errorf("%s, %s: %+v, %v", era, name, res, err)
			}
		}
	}
	h := openArchive(t, 12)
	one, other := h.offered(history.Range{From: 1, To: 3}, "a"), h.offered(history.Range{From: 4, To: 6}, "b")
	h.from(person("taro"))
	a := h.connectAs(modernEra, &sdk.ClientOptions{ElicitationHandler: nil, MultiRoundTrip: &sdk.MultiRoundTripOptions{Disabled: true},
		Capabilities: &sdk.ClientCapabilities{Elicitation: &sdk.ElicitationCapabilities{Form: &sdk.FormElicitationCapabilities{}}}})
	call := func(id, state string, answers sdk.InputResponseMap) *sdk.CallToolResult {
		res, err := a.session.CallTool(t.Context(), &sdk.CallToolParams{Name: replaces, Arguments: with{"proposal": id}, RequestState: state, InputResponses: answers})
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	yes := sdk.InputResponseMap{"approval": &sdk.ElicitResult{Action: "accept", Content: with{"decision": "approve"}}}
	state := call(one, "", nil).RequestState
	for _, forged := range []struct{ id, state string }{{one, ""}, {one, state + "0"}, {other, state}} {
		if res := call(forged.id, forged.state, yes); !res.NeedsInput() || h.state(forged.id) != history.Offered {
			t.Errorf("%v: %+v, and it is %s", forged, res, h.state(forged.id))
		}
	}
	for _, decision := range []any{"yes", 1, nil} {
		res := call(one, state, sdk.InputResponseMap{"approval": &sdk.ElicitResult{Action: "accept", Content: with{"decision": decision}}})
		if words := fmt.Sprint(res.Meta[metaError]); !res.IsError || !strings.Contains(words, "decision") || h.state(one) != history.Offered {
			t.Errorf("%v: %s, and it is %s", decision, words, h.state(one))
		}
	}
	if res := call(one, state, yes); res.NeedsInput() || h.state(one) != history.Approved || h.state(other) != history.Offered {
		t.Errorf("%+v", res)
	}
	// Nor does a form of that question take it back.
	back := sdk.InputResponseMap{"approval": &sdk.ElicitResult{Action: "accept", Content: with{"decision": "revert"}}}
	res, err := a.session.CallTool(t.Context(), &sdk.CallToolParams{Name: reverts, Arguments: with{"proposal": one}, RequestState: state, InputResponses: back})
	if err != nil || !res.NeedsInput() || h.state(one) != history.Approved {
		t.Errorf("%+v %v, and it is %s", res, err, h.state(one))
	}
}

// TestAClientThatBreaksWhileItAsks decides nothing, and what happened elsewhere meanwhile is told.
func TestAClientThatBreaksWhileItAsks(t *testing.T) {
	h := openArchive(t, 12)
	id := h.offered(history.Range{From: 1, To: 10}, "短い話")
	h.from(person("taro"))
	broken := func(*sdk.ElicitParams) (*sdk.ElicitResult, error) { return nil, errors.New("no screen") }
	h.connect(sessionEra, broken).refused(replaces, with{"proposal": id}, "unavailable", "nothing was decided")
	if h.state(id) != history.Offered {
		t.Error(h.state(id))
	}
	for _, c := range []struct {
		approve bool
		status  string
	}{{true, "approved"}, {false, ""}} {
		id := h.offered(history.Range{From: 11, To: 12}, "c")
		var once atomic.Bool
		a := h.connect(sessionEra, func(p *sdk.ElicitParams) (*sdk.ElicitResult, error) {
			if !once.Swap(true) {
				if _, err := h.Decide(t.Context(), usualRoom, id, "hana", c.approve, ""); err != nil {
					t.Error(err)
				}
			}
			return form("accept", "approve")(p)
		})
		if c.approve {
			a.answered(replaces, with{"proposal": id}, with{"status": "approved", "approved_by": "hana"})
			if _, err := h.Revert(t.Context(), usualRoom, id, "hana", ""); err != nil {
				t.Fatal(err)
			}
			continue
		}
		a.refused(replaces, with{"proposal": id}, "conflict", "proposal: "+id+" is denied")
	}
}
