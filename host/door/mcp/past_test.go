package mcp

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/history"
	"github.com/companiond/companiond/host/identity"
	"github.com/companiond/companiond/host/waittest"
)

type with = map[string]any

// refused calls a tool that has to refuse, as a result and in words that begin with a field.
func (a *agent) refused(tool string, args with, code, words string) {
	a.t.Helper()
	got, failed := a.call(tool, args)
	if message := fmt.Sprint(got["message"]); !failed || got["code"] != code || !strings.Contains(message, words) {
		a.t.Errorf("%s %v: %v\nnot %s, %s", tool, args, got, code, words)
	}
}

// answered calls a tool that has to answer with these.
func (a *agent) answered(tool string, args, want with) with {
	a.t.Helper()
	got, failed := a.call(tool, args)
	if failed {
		a.t.Fatalf("%s %v: %v", tool, args, got)
	}
	for name, is := range want {
		if fmt.Sprint(got[name]) != fmt.Sprint(is) {
			a.t.Errorf("%s %v: %s is %v, not %v", tool, args, name, got[name], is)
		}
	}
	return got
}

const (
	reads     = "read_session_turns"
	summarize = "create_verified_summary"
	replaces  = "replace_session_turns"
	reverts   = "revert_compression"
)

// TestTurnsAreRead by their numbers, as they are told and as they were said; what is no turn is refused in words.
func TestTurnsAreRead(t *testing.T) {
	h := openArchive(t, 0)
	a := h.connect(sessionEra, nil)
	a.answered(reads, nil, with{"turns": "[]", "of": 0})
	a.refused(reads, with{"turns": "1"}, "not_found", "turns: there are no turns in main yet")
	h = openArchive(t, 60)
	a = h.connect(modernEra, nil)
	first := func(got with) with { return got["turns"].([]any)[0].(with) }
	got := a.answered(reads, with{"turns": "2-3"}, with{"of": 60})
	if n := len(got["turns"].([]any)); n != 2 || first(got)["n"] != 2.0 || first(got)["text"] != "2番目の話" || first(got)["from"] != "taro" || first(got)["at"] == nil {
		t.Errorf("%v", got)
	}
	if got := a.answered(reads, with{"start_turn": 60, "end_turn": 60}, nil); first(got)["n"] != 60.0 {
		t.Errorf("%v", got)
	}
	if got := a.answered(reads, nil, nil); len(got["turns"].([]any)) != 50 || first(got)["n"] != 11.0 {
		t.Errorf("%v", got)
	}
	for _, c := range []struct {
		args        with
		code, words string
	}{
		{with{"turns": "1-61"}, "not_found", "turns: 61 is no turn of main: it has 1 to 60 so far"},
		{with{"start_turn": 1, "end_turn": 61}, "not_found", "end_turn: 61 is no turn"},
		{with{"turns": "many"}, "invalid", `turns: "many" are no turns`},
		{with{"turns": "0-2"}, "invalid", "turns: 0: the first turn is 1"},
		{with{"turns": "3-2"}, "invalid", "turns: 3-2 ends before it begins"},
		{with{"turns": 5}, "invalid", "turns: must be a text"},
		{with{"start_turn": -1, "end_turn": 2}, "invalid", "start_turn: must be a whole number"},
		{with{"start_turn": 0, "end_turn": 2}, "invalid", "start_turn: is 0"},
		{with{"start_turn": 5, "end_turn": 2}, "invalid", "end_turn: 2 is before start_turn, 5"},
		{with{"start_turn": 5}, "invalid", "end_turn: is missing"},
		{with{"end_turn": 5}, "invalid", "start_turn: is missing"},
		{with{"turns": "1", "end_turn": 5}, "invalid", "turns: is the same as start_turn and end_turn"},
		{with{"from": "mika"}, "invalid", "from: there is no such argument"},
		{with{"room": "nowhere"}, "not_found", "nowhere"},
	} {
		a.refused(reads, c.args, c.code, c.words)
	}
	id := h.offered(history.Range{From: 5, To: 20}, "短い話")
	if _, err := h.Decide(t.Context(), usualRoom, id, "taro", true, ""); err != nil {
		t.Fatal(err)
	}
	got = a.answered(reads, with{"turns": "1-25"}, nil)
	if all := got["turns"].([]any); len(all) != 10 || all[4].(with)["upto"] != 20.0 || all[4].(with)["text"] != "短い話" {
		t.Errorf("%v", got)
	}
	if got := a.answered(reads, nil, nil); first(got)["n"] != 5.0 || len(got["turns"].([]any)) != 41 {
		t.Errorf("the newest begin within what is one text: %v", got)
	}
	a.refused(reads, with{"turns": "7-25"}, "conflict", "turns: turns 5-20 are told as one text")
	a.refused(reads, with{"turns": "7-25"}, "conflict", "original = true")
	if got := a.answered(reads, with{"turns": "7-25", "original": true}, nil); first(got)["text"] != "7番目の話" {
		t.Errorf("%v", got)
	}
}

// TestASummaryFromOutside is verified at once. What is refused says why, and the next draft of the same
// compresser is the next of the same proposal; after three it is over.
func TestASummaryFromOutside(t *testing.T) {
	for _, era := range eras {
		h := openArchive(t, 12)
		a := h.connect(era, nil)
		h.says(history.No, history.Yes)
		got := a.answered(summarize, with{"turns": "1-5", "summary": "話", "policy": "keep SQLite"}, with{"status": "rejected", "summary": "話", "drafts": 1, "original_turns_range": "[1 5]", "policy": "keep SQLite", "room": "main"})
		v := got["verification"].(with)
		if next := fmt.Sprint(got["next_action"]); v["verdict"] != "NO" || v["feedback"] != "M1 is missing" || !strings.Contains(fmt.Sprint(v["findings"], got["lost"]), "missing") || !strings.Contains(next, "1 of 3 drafts") {
			t.Errorf("%v", got)
		}
		id := got["proposal"]
		a.refused(replaces, with{"proposal": id}, "conflict", "proposal: "+fmt.Sprint(id)+" is rejected. Mend the summary")
		got = a.answered(summarize, with{"turns": "1-5", "summary": "SQLiteの話", "policy": "keep SQLite"}, with{"status": "pending_approval", "proposal": id, "drafts": 2, "summary": "SQLiteの話"})
		if next := fmt.Sprint(got["next_action"]); !strings.Contains(next, "companiond history approve "+fmt.Sprint(id)) || !strings.Contains(next, "the page") || got["verification"].(with)["verdict"] != "YES" || got["approved_by"] != nil {
			t.Errorf("%v", got)
		}
		a.refused(summarize, with{"turns": "4-7", "summary": "x"}, "conflict", "turns: ")

		h.says(history.No, history.No, history.No)
		got = a.answered(summarize, with{"start_turn": 6, "end_turn": 7, "summary": "a"}, with{"status": "rejected"})
		id = got["proposal"]
		h.from(bot("kyoko"))
		h.connect(era, nil).refused(summarize, with{"proposal": id, "summary": "mine"}, "denied", "proposal: ")
		h.from(bot("mika"))
		a.answered(summarize, with{"proposal": id, "summary": "b"}, with{"status": "rejected", "drafts": 2})
		got = a.answered(summarize, with{"proposal": id, "summary": "c"}, with{"status": "rejected", "drafts": 3, "proposal": id})
		if next := fmt.Sprint(got["next_action"]); !strings.Contains(next, "cannot be approved") && !strings.Contains(next, "Nothing that its verifier refused") || !strings.Contains(next, "extract") {
			t.Errorf("%v", got)
		}
		h.from(person("taro"))
		h.connect(era, nil).refused(replaces, with{"proposal": id}, "conflict", "is rejected. Nothing that its verifier refused can be approved")
		if h.state(fmt.Sprint(id)) != history.Refused {
			t.Error("what was refused three times is", h.state(fmt.Sprint(id)))
		}
	}
}

// TestWhatASummaryIsAskedWith is passed on, and what is wrong names its argument.
func TestWhatASummaryIsAskedWith(t *testing.T) {
	h := openArchive(t, 12)
	a := h.connect(sessionEra, nil)
	got := a.answered(summarize, with{"turns": "2-3", "policy": "方針", "target_length": 30, "unit": "tokens", "compresser": "aya", "verifier": "extract", "timeout_seconds": 0}, with{"status": "drafting", "summary": "", "verification": nil, "lost": "[]", "drafts": 0})
	if q := h.asked[0]; q.Turns != (history.Range{From: 2, To: 3}) || q.Policy != "方針" || q.Length != (history.Length{N: 30, Unit: "tokens"}) || q.Compresser != "aya" || q.Verifier != "extract" || q.By != "mika" || q.Room != "main" {
		t.Errorf("%+v", q)
	}
	if next := fmt.Sprint(got["next_action"]); !strings.Contains(next, "create_verified_summary with proposal = p1") {
		t.Error(next)
	}
	for _, c := range []struct {
		args        with
		code, words string
	}{
		{with{}, "invalid", "turns: is missing: give the first and the last turn, as in 1-50"},
		{with{"turns": "1-13"}, "not_found", "turns: 13 is no turn of main"},
		{with{"turns": "1", "summary": " \n"}, "invalid", "summary: is empty"},
		{with{"turns": "1", "summary": strings.Repeat("x", 65<<10)}, "too_large", "summary: "},
		{with{"turns": "1", "summary": "x", "compresser": "aya"}, "invalid", "compresser: "},
		{with{"turns": "1", "policy": strings.Repeat("あ", 4001)}, "too_large", "policy: 4001 characters"},
		{with{"turns": "1", "summary": "a\u200bb"}, "invalid", "summary: character 2 is U+200B, which shows as nothing"},
		{with{"turns": "1", "policy": "a\u202e"}, "invalid", "policy: character 2 is U+202E, which turns"},
		{with{"turns": "1", "target_length": -1}, "invalid", "target_length: "},
		{with{"turns": "1", "unit": "tokens"}, "invalid", "unit: is of target_length"},
		{with{"turns": "1", "target_length": 1, "unit": "words"}, "invalid", `unit: "words" is none`},
		{with{"turns": "1", "timeout_seconds": 56}, "invalid", "timeout_seconds: 56 is outside 0..55"},
		{with{"proposal": "p1", "turns": "1"}, "invalid", "proposal: has turns"},
		{with{"proposal": "p9"}, "not_found", `proposal: there is no "p9" in main`},
	} {
		a.refused(summarize, c.args, c.code, c.words)
	}
	h.from(identity.Caller{Name: "spy", Kind: "agent", Scopes: []identity.Scope{identity.Read}})
	b := h.connect(modernEra, nil)
	for _, tool := range []string{summarize, replaces, reverts, "fork_session"} {
		b.refused(tool, with{}, "denied", `has not the scope "talk"`)
	}
	for _, kind := range []abi.ParticipantKind{abi.KindAgent, abi.KindHuman} {
		h.from(identity.Caller{Name: "mouth", Kind: kind, Scopes: []identity.Scope{identity.Talk}})
		for _, era := range eras {
			b := h.connect(era, nil)
			for _, tool := range []string{reads, summarize, replaces, reverts, "fork_session", "list_branches"} {
				b.refused(tool, with{}, "denied", `has not the scope "read"`)
			}
		}
	}
}

// TestADraftIsWaitedFor, with the client told how far it is; the same call again waits for the same.
func TestADraftIsWaitedFor(t *testing.T) {
	for _, era := range eras {
		h := openArchive(t, 12)
		var mu sync.Mutex
		var told []string
		first := make(chan struct{})
		a := h.connectAs(era, &sdk.ClientOptions{ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) {
			mu.Lock()
			defer mu.Unlock()
			if told = append(told, r.Params.Message); len(told) == 1 {
				close(first)
			}
		}})
		args := with{"turns": "1-5", "timeout_seconds": 55}
		answer := make(chan *sdk.CallToolResult, 1)
		go func() {
			res, err := a.session.CallTool(t.Context(), &sdk.CallToolParams{Name: summarize, Arguments: args, Meta: sdk.Meta{"progressToken": "p"}})
			if err != nil {
				t.Error(err)
			}
			answer <- res
		}()
		<-first
		quiet := make(chan with, 1)
		go func() {
			got, _ := h.connect(era, nil).call(summarize, args)
			quiet <- got
		}()
		h.says(history.No, history.Yes)
		for _, text := range []string{"a", "b"} {
			if _, err := h.drafted(t.Context(), "p1", text); err != nil {
				t.Fatal(err)
			}
		}
		for _, got := range []with{(<-answer).StructuredContent.(with), <-quiet} {
			if got["status"] != "pending_approval" || got["summary"] != "b" || got["proposal"] != "p1" {
				t.Errorf("%s: %v", era, got)
			}
		}
		waittest.Until(t, "all of it was told", func() bool {
			mu.Lock()
			defer mu.Unlock()
			all := strings.Join(told, " ")
			return strings.HasPrefix(all, "Turns 1-5 are being drafted.") && strings.Contains(all, "Draft 1 of at most 3: the verifier says NO.") && strings.Contains(all, "Draft 2 of at most 3: the verifier says YES.")
		})
		if len(h.asked) != 1 {
			t.Errorf("%s: it was asked for %d times", era, len(h.asked))
		}
	}
}

// TestWaitingForADraftEnds when nobody can make one, with the daemon, and with the time it was given.
func TestWaitingForADraftEnds(t *testing.T) {
	h := openArchive(t, 12)
	a := h.connect(sessionEra, nil)
	a.answered(summarize, with{"turns": "1", "timeout_seconds": 0.01}, with{"status": "drafting"})
	answers := make(chan with, 2)
	wait := func(args with) {
		go func() {
			got, _ := a.call(summarize, args)
			answers <- got
		}()
	}
	wait(with{"proposal": "p1"})
	if _, err := h.talk().Happens(t.Context(), history.Input{Kind: history.Fail, Proposal: "p1", Why: "the model is away"}); err != nil {
		t.Fatal(err)
	}
	if got := <-answers; got["status"] != "failed" || got["why"] != "the model is away" {
		t.Errorf("%v", got)
	}
	wait(with{"turns": "2"})
	waittest.Until(t, "it was asked for", func() bool {
		book, err := h.talk().Book(t.Context())
		return err == nil && book.Get("p2") != nil
	})
	h.stops()
	if got := <-answers; got["status"] != "drafting" {
		t.Errorf("%v", got)
	}
}

// TestBranches: a fork has the past up to a turn, and both are listed.
func TestBranches(t *testing.T) {
	h := openArchive(t, 6)
	a := h.connect(sessionEra, nil)
	got := a.answered("fork_session", with{"turn": 4, "name": "design-b"}, with{"name": "design-b", "of": "main", "turn": 4, "turns": 4, "by": "mika"})
	if !strings.Contains(fmt.Sprint(got["next_action"]), "room = design-b") {
		t.Errorf("%v", got)
	}
	a.answered(reads, with{"room": "design-b"}, with{"of": 4})
	all := a.answered("list_branches", with{"room": "design-b"}, with{"room": "design-b"})["branches"].([]any)
	if len(all) != 2 || all[0].(with)["name"] != "main" || all[0].(with)["turns"] != 6.0 || all[1].(with)["of"] != "main" {
		t.Errorf("%v", all)
	}
	a.refused("fork_session", with{"turn": 7}, "not_found", "turn")
	a.refused("fork_session", with{"turn": 0}, "invalid", "turn: 0 is no turn of main: it has 1 to 6 so far")
	a.refused("fork_session", with{"name": "design-b"}, "conflict", "name: ")
	a.refused("list_branches", with{"room": "nowhere"}, "not_found", "nowhere")
	h.from(identity.Guest(nil))
	h.connect(modernEra, nil).answered("fork_session", nil, with{"of": "main", "turn": 6})
}

// TestToolsForThePastAreOffered where something has turns compressed, each with the shape of its answers.
func TestToolsForThePastAreOffered(t *testing.T) {
	h := openArchive(t, 0)
	offered := func(h *agent) (names []string) {
		list, err := h.session.ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, tool := range list.Tools {
			if tool.OutputSchema != nil {
				names = append(names, tool.Name)
			}
		}
		return names
	}
	all := strings.Join(offered(h.connect(sessionEra, nil)), " ")
	plain := strings.Join(offered(openHome(t, map[string]entry.Rules{"main": rulesOf("vote", freePool())}).connect(nil)), " ")
	for _, name := range []string{reads, summarize, replaces, reverts, "fork_session", "list_branches"} {
		if !strings.Contains(all, name) || strings.Contains(plain, name) {
			t.Errorf("%s is missing of %s, or in %s", name, all, plain)
		}
	}
}
