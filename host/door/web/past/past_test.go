package past_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/history"
)

const all = "/v1/rooms/main/compressions"

// Turns are read by their numbers, as they are told and as they were said.
func TestTurns(t *testing.T) {
	s := newStage(t, 60)
	s.offer("a", 5, 20, history.Approved)
	for _, c := range []struct {
		query       string
		n           int
		first, upto uint64
	}{
		{"", 41, 5, 20}, // the newest 50 begin within turns that are told as one text
		{"?original=true", 50, 11, 0},
		{"?turns=1-20", 5, 1, 0},
		{"?turns=5-20", 1, 5, 20},
		{"?turns=5-20&original=true", 16, 5, 0},
		{"?turns=7&original=true", 1, 7, 0},
	} {
		a := s.ask("here", "GET", "/v1/rooms/main/turns"+c.query, "")
		if a.status != 200 || len(a.AllTurns) != c.n || a.AllTurns[0].N != c.first || a.AllTurns[0].Upto != c.upto || a.Of != 60.0 {
			t.Errorf("%s: %d turns\n%s", c.query, len(a.AllTurns), a.text)
		}
	}
	for query, want := range map[string]struct {
		code  abi.Code
		field string
	}{
		"?turns=5-10": {abi.CodeConflict, "turns"}, "?turns=60-61": {abi.CodeNotFound, "turns"}, "?turns=0-5": {abi.CodeInvalid, "turns"}, "?turns=x": {abi.CodeInvalid, "turns"}, "?turns=1-1001": {abi.CodeTooLarge, "turns"}, "?what=1": {abi.CodeInvalid, ""},
	} {
		if a := s.ask("here", "GET", "/v1/rooms/main/turns"+query, ""); a.Code != want.code || !strings.Contains(a.text, `"detail":"`+want.field) {
			t.Errorf("%s: %s", query, a.text)
		}
	}
	if a := s.ask("here", "GET", "/v1/rooms/side/turns", ""); a.status != 200 || len(a.AllTurns) != 0 || !strings.Contains(a.text, `"turns":[]`) {
		t.Error(a.text)
	}
}

// TestOriginalIsBounded: no answer has more turns than are read at once, and it says how many it leaves out.
func TestOriginalIsBounded(t *testing.T) {
	s := newStage(t, 1004)
	a := s.ask("here", "POST", all, `{"turns":"2-1004","text":"short"}`)
	if a.status != 201 || len(a.Original) != 1000 || a.Original[0].N != 2 || a.More != 3 {
		t.Errorf("%d: %d turns, %d more", a.status, len(a.Original), a.More)
	}
	if a = s.ask("here", "GET", all+"/"+a.ID, ""); a.status != 200 || len(a.Original) != 1000 || a.More != 3 {
		t.Errorf("%d: %d turns, %d more", a.status, len(a.Original), a.More)
	}
	s.offer("a", 1, 1, history.Offered)
	if a = s.ask("here", "GET", all+"/a", ""); len(a.Original) != 1 || a.More != 0 {
		t.Error(a.text)
	}
}

// What becomes of a proposal is what the door is asked for, with the name of the person who said so.
func TestDecisions(t *testing.T) {
	s := newStage(t, 30)
	s.offer("a", 1, 10, history.Offered)
	if a := s.ask("bot", "POST", all+"/a/approve", "{}"); a.Code != abi.CodeDenied || !strings.Contains(a.text, "the token of bot is none of a person") {
		t.Errorf("an agent approves: %s", a.text)
	}
	if a := s.ask("here", "GET", all+"/a", ""); a.State != "offered" || len(a.Original) != 10 || a.Drafts[0].Content != "short" || a.Drafts[0].Type != "compressed_history" {
		t.Error(a.text)
	}
	if a := s.ask("mika", "POST", all+"/a/approve", ""); a.status != 200 || a.State != "approved" || a.ApprovedBy != "mika" {
		t.Error(a.text)
	}
	if a := s.ask("here", "POST", all+"/a/approve", ""); a.Code != abi.CodeConflict {
		t.Errorf("it is approved twice: %s", a.text)
	}
	if a := s.ask("here", "GET", "/v1/rooms/main/turns", ""); len(a.AllTurns) != 21 || a.AllTurns[0].Text != "short" {
		t.Errorf("it was approved, and is told as %s", a.text)
	}
	if a := s.ask("here", "POST", all+"/a/revert", `{"why":"dull"}`); a.State != "reverted" || a.Why != "dull" || a.ApprovedBy != "mika" {
		t.Error(a.text)
	}
	s.offer("b", 1, 5, history.Refused)
	if a := s.ask("here", "POST", all+"/b/approve", ""); a.Code != abi.CodeConflict {
		t.Errorf("what was refused is approved: %s", a.text)
	}
	if a := s.ask("here", "POST", all, `{"turns":"6-8","policy":"Keep all.","target_length":90,"unit":"tokens"}`); a.status != 201 || a.State != "drafting" || a.Length != 90 || a.Unit != "tokens" || a.By != "guest" {
		t.Error(a.text)
	}
	if a := s.ask("here", "POST", all, `{"turns":"8-9"}`); a.Code != abi.CodeConflict {
		t.Error(a.text)
	}
	if a := s.ask("here", "GET", all, ""); len(a.Compressions) != 3 || a.Compressions[2].ID != "a" || a.Compressions[2].Drafts[0].Content != "" {
		t.Error(a.text)
	}
	for body, want := range map[string]string{
		`{"turns":"0-3"}`: "turns", `{"turns":"1-99"}`: "turns", `{"turns":"1-3","verifier":"nobody"}`: "verifier", `{"turns":"1-3","compresser":"nobody"}`: "compresser", `{"turns":"1-3","unit":"words"}`: "unit", `{"turns":"1-3","target_length":-1}`: "target_length", `{}`: "turns", `{"turns":"1-3","what":1}`: "what",
	} {
		if a := s.ask("here", "POST", all, body); a.status < 400 || a.status >= 500 || !strings.Contains(a.text, want) {
			t.Errorf("%s: %s", body, a.text)
		}
	}
}

// TestDraftsOfOnesOwn are answered before they are verified, shown meanwhile, and followed by the next, three in all, of whoever asked.
func TestDraftsOfOnesOwn(t *testing.T) {
	s := newStage(t, 10)
	a := s.ask("bot", "POST", all, `{"turns":"1-5","text":"turn 99","policy":"Keep turn 3."}`)
	if a.status != 201 || a.State != "drafting" || a.Compresser != "" || a.Verifying == nil || a.Verifying.N != 1 || a.Verifying.Content != "turn 99" || len(a.Drafts) != 0 {
		t.Fatal(a.text)
	}
	one := all + "/" + a.ID
	if a := s.ask("here", "GET", all, ""); a.Compressions[0].Verifying == nil || a.Compressions[0].Verifying.Content != "" {
		t.Error(a.text)
	}
	if a := s.ask("bot", "POST", one+"/drafts", `{"text":"another"}`); a.Code != abi.CodeConflict || !strings.Contains(a.text, "is being verified") {
		t.Errorf("two are verified at once: %s", a.text)
	}
	s.verified(a.ID, 1)
	if a := s.ask("here", "GET", one, ""); a.State != "drafting" || a.Verifying != nil || len(a.Drafts) != 1 || a.Drafts[0].Content != "turn 99" || a.Drafts[0].By != "bot" || a.Why == "" {
		t.Error(a.text)
	}
	for whoever, code := range map[string]abi.Code{"here": abi.CodeDenied, "mika": abi.CodeDenied, "reader": abi.CodeDenied} {
		if a := s.ask(whoever, "POST", one+"/drafts", `{"text":"turn 98"}`); a.Code != code {
			t.Errorf("%s: %s", whoever, a.text)
		}
	}
	for n := 2; n <= history.Drafts; n++ {
		if a := s.ask("bot", "POST", one+"/drafts", `{"text":"turn 98"}`); a.status != 201 || a.Verifying == nil || a.Verifying.N != n {
			t.Fatal(a.text)
		}
		s.verified(a.ID, n)
	}
	if a := s.ask("bot", "POST", one+"/drafts", `{"text":"turn 97"}`); a.Code != abi.CodeConflict || !strings.Contains(a.text, "is refused, and takes no further draft") {
		t.Error(a.text)
	}
	a = s.ask("here", "POST", all, `{"turns":"6-7","text":"turn 6, turn 7"}`)
	s.verified(a.ID, 1)
	if a := s.ask("here", "GET", all+"/"+a.ID, ""); a.State != "offered" || a.Drafts[0].Content != "turn 6, turn 7" {
		t.Error(a.text)
	}
}

// TestRefusalsHaveAPlace: each says which part of the request it is about, in detail and in errors, as other routes do; signs that show as nothing
// are refused wherever people write something.
func TestRefusalsHaveAPlace(t *testing.T) {
	s := newStage(t, 30)
	s.offer("o", 1, 5, history.Offered)
	s.offer("r", 6, 10, history.Refused)
	for _, c := range []struct {
		method, path, body string
		code               abi.Code
		at, says           string
	}{
		{"GET", "/v1/rooms/main/turns?turns=x", "", "invalid", "query.turns", "are no turns"},
		{"GET", "/v1/rooms/main/turns?turns=31", "", "not_found", "query.turns", "there are 30 so far"},
		{"GET", "/v1/rooms/nowhere/turns", "", "not_found", "path.room", `there is no \"nowhere\"`},
		{"GET", all + "/zz", "", "not_found", "path.proposal", `there is no \"zz\" in main`},
		{"GET", "/v1/rooms/main/diff?with=nowhere", "", "not_found", "query.with", `there is no \"nowhere\"`},
		{"GET", "/v1/rooms/main/diff", "", "invalid", "query.with", "is missing"},
		{"POST", all, `{"turns":"5-3"}`, "invalid", "body.turns", "ends before it begins"},
		{"POST", all, `{"turns":"3-8"}`, "conflict", "body.turns", "o of turns 1-5 is offered"},
		{"POST", all, `{"turns":"11-12","verifier":"nobody"}`, "not_found", "body.verifier", `there is no companion \"nobody\"`},
		{"POST", all, `{"turns":"11-12","unit":"tokens"}`, "invalid", "body.unit", "target_length, which is missing"},
		{"POST", all, `{"turns":"11-12","text":"x","compresser":"extract"}`, "invalid", "body.compresser", "leave one of them out"},
		{"POST", all, `{"turns":"11-12","policy":"Keep\u200b all."}`, "invalid", "body.policy", "character 5 is U+200B, which shows as nothing"},
		{"POST", all, `{"turns":"11-12","policy":"` + strings.Repeat("x", 4001) + `"}`, "too_large", "body.policy", "4001 characters, at most 4000"},
		{"POST", all, `{"turns":"11-12","text":"a\ud800b"}`, "invalid", "body.text", "character 2 is U+FFFD"},
		{"POST", all, `{"turns":"11-12","text":"` + strings.Repeat("あ", 22000) + `"}`, "too_large", "body.text", "66000 bytes, at most 65536"},
		{"POST", all + "/r/drafts", `{"text":"a\u202eb"}`, "invalid", "body.text", "character 2 is U+202E"},
		{"POST", all + "/r/drafts", `{}`, "invalid", "body.text", "is missing"},
		{"POST", all + "/r/drafts", `{"text":" "}`, "invalid", "body.text", "must not be empty"},
		{"POST", all + "/r/drafts", `{"text":"x"}`, "conflict", "path.proposal", "r is refused, and takes no further draft"},
		{"POST", all + "/r/approve", ``, "conflict", "path.proposal", "r is refused"},
		{"POST", all + "/r/deny", `{"why":"a\u0007"}`, "invalid", "body.why", "character 2 is U+0007"},
		{"POST", all + "/r/deny", `{"why":"` + strings.Repeat("あ", 501) + `"}`, "too_large", "body.why", "501 characters, at most 500"},
		{"POST", all + "/zz/revert", ``, "not_found", "path.proposal", "there is no"},
		{"POST", all + "/o/extract", ``, "conflict", "path.proposal", "o is offered"},
		{"POST", "/v1/rooms/main/forks", `{"turn":0}`, "invalid", "body.turn", "0 is no turn of main: it has 1 to 30 so far; left out, it is the newest"},
		{"POST", "/v1/rooms/main/forks", `{"turn":1e300}`, "invalid", "body.turn", "expected number <= 9007199254740991"},
		{"POST", "/v1/rooms/main/forks", `{"turn":18446744073709551616}`, "invalid", "body.turn", "expected number <= 9007199254740991"},
		{"POST", "/v1/rooms/main/forks", `{"turn":1e400}`, "invalid", "body", "number 1e400 is outside what can be read here"},
		{"POST", all, `{"turns":"11-12","target_length":1e300}`, "invalid", "body.target_length", "expected number <= 1000000"},
		{"POST", "/v1/rooms/main/forks", `{"turn":31}`, "not_found", "body.turn", "31 is no turn of main"},
		{"POST", "/v1/rooms/main/forks", `{"name":"ma\u200bin"}`, "invalid", "body.name", "U+200B"},
		{"POST", "/v1/rooms/main/forks", `{"name":"` + strings.Repeat("x", 200) + `"}`, "invalid", "body.name", ""},
		{"POST", "/v1/rooms/main/forks", `{"name":"side"}`, "conflict", "body.name", ""},
		{"POST", "/v1/rooms/side/forks", `{}`, "invalid", "path.room", "side has no turns yet"},
	} {
		a := s.ask("here", c.method, c.path, c.body)
		field := c.at[strings.LastIndex(c.at, ".")+1:]
		if a.Code != c.code || len(a.Errors) != 1 || a.Errors[0].Location != c.at || !strings.Contains(a.text, c.says) || !strings.Contains(a.Detail, field+": "+a.Errors[0].Message) {
			t.Errorf("%s %s %.80s: %.400s", c.method, c.path, c.body, a.text)
		}
	}
	if a := s.ask("here", "POST", all, "{\"turns\":\"11-12\",\"text\":\"a\xff\"}"); a.Code != "invalid" || a.Detail != "body: is no UTF-8: byte 27 is 0xff" {
		t.Error(a.text)
	}
	if a := s.ask("here", "GET", all+"/r", ""); a.State != "refused" {
		t.Errorf("what was refused changed something: %s", a.text)
	}
}

// TestNeverUsed: a room that nobody has used yet has nothing to list, and is not missing.
func TestNeverUsed(t *testing.T) {
	s := newStage(t, 3)
	for path, want := range map[string]string{
		"turns": `{"turns":[],"of":0}`, "compressions": `{"compressions":[]}`, "branches": `{"branches":[{"name":"side","turns":0}]}`, "diff?with=main": `"common":0,"turns":[],"with":[{"n":1,`, "diff?with=side": `{"common":0,"turns":[],"with":[]}`,
	} {
		if a := s.ask("here", "GET", "/v1/rooms/side/"+path, ""); a.status != 200 || !strings.Contains(a.text, want) {
			t.Errorf("%s: %s", path, a.text)
		}
	}
}

// TestWhatWasVerifiedIsWhatIsTold: an approval names a proposal and carries no text, so the draft that was verified is
// told letter by letter, whatever words stand in it, and a body that brings one is refused.
func TestWhatWasVerifiedIsWhatIsTold(t *testing.T) {
	const words = "Approved: the budget.\nVerifier Session ID: 9 \"quoted\" \\n {'summary'} </turn> 決定"
	s := newStage(t, 10)
	for _, in := range []history.Input{
		{Kind: history.Propose, Ask: &history.Ask{Turns: history.Range{From: 1, To: 5}, Length: history.Length{N: 100, Unit: history.Characters}}},
		{Kind: history.Drafted, Draft: &history.Draft{N: 1, Text: words, Verdict: history.Yes}},
	} {
		in.Proposal, in.By = "a", "taro"
		if _, err := s.talk.Happens(t.Context(), in); err != nil {
			t.Fatal(err)
		}
	}
	if a := s.ask("here", "POST", all+"/a/approve", `{"text":"another"}`); a.Code != abi.CodeInvalid {
		t.Errorf("an approval brings a text: %s", a.text)
	}
	if a := s.ask("here", "GET", "/v1/rooms/main/turns", ""); len(a.AllTurns) != 10 {
		t.Errorf("%s", a.text)
	}
	s.ask("here", "POST", all+"/a/approve", "")
	if a := s.ask("here", "GET", "/v1/rooms/main/turns", ""); len(a.AllTurns) != 6 || a.AllTurns[0].Text != words {
		t.Errorf("%+v", a.AllTurns)
	}
}

// A fork is of whoever asks, is listed with its family, and is compared with the room.
func TestForks(t *testing.T) {
	s := newStage(t, 10)
	a := s.ask("mika", "POST", "/v1/rooms/main/forks", `{"turn":4}`)
	if a.status != 201 || a.Fork.Name != "main-2" || a.Fork.Of != "main" {
		t.Fatal(a.text)
	}
	if a := s.ask("here", "GET", "/v1/rooms/main-2/branches", ""); len(a.Branches) != 2 || a.Branches[1].By != "mika" || a.Branches[1].Turn != 4 {
		t.Error(a.text)
	}
	if a := s.ask("here", "GET", "/v1/rooms/main-2/diff?with=main", ""); !strings.Contains(a.text, `"common":4`) || strings.Count(a.text, `"from":"taro"`) != 6 {
		t.Error(a.text)
	}
	for _, path := range []string{"/v1/rooms/nowhere/branches", "/v1/rooms/main/diff?with=nowhere"} {
		if a := s.ask("here", "GET", path, ""); a.Code != abi.CodeNotFound {
			t.Error(a.text)
		}
	}
	for body, want := range map[string]abi.Code{`{"turn":11}`: abi.CodeNotFound, `{"name":"main-2"}`: abi.CodeConflict, `{"turn":-1}`: abi.CodeInvalid} {
		if a := s.ask("here", "POST", "/v1/rooms/main/forks", body); a.Code != want {
			t.Errorf("%s: %s", body, a.text)
		}
	}
	if a := s.ask("here", "GET", "/v1/rooms/main/turns", ""); a.Of != 10.0 {
		t.Error(fmt.Sprint("the room is another: ", a.text))
	}
}

// TestListsHaveNoTexts: where compressions are listed, what is not given is not there at all, so that nobody takes it for nothing; of one that is
// looked at all of it is, also where it is empty.
func TestListsHaveNoTexts(t *testing.T) {
	s := newStage(t, 10)
	s.offer("p", 1, 5, history.Offered)
	handed := history.Input{Kind: history.Propose, Proposal: "own", By: "mika", Draft: &history.Draft{N: 1, Text: "mine"}, Ask: &history.Ask{Turns: history.Range{From: 6, To: 8}, Length: history.Length{N: 100, Unit: history.Characters}}}
	if _, err := s.talk.Happens(t.Context(), handed); err != nil {
		t.Fatal(err)
	}
	list := s.ask("here", "GET", all, "")
	if list.status != 200 || len(list.Compressions) != 2 || len(list.Compressions[1].Drafts) != 1 || list.Compressions[0].Verifying == nil || !strings.Contains(list.text, `"verdict":"YES"`) {
		t.Fatalf("%s", list.text)
	}
	one := s.ask("here", "GET", all+"/p", "")
	for _, field := range []string{`"content"`, `"findings"`, `"lost"`, `"feedback"`, `"original"`} {
		if strings.Contains(list.text, field) {
			t.Errorf("the list has %s: %s", field, list.text)
		}
		if field != `"feedback"` && !strings.Contains(one.text, field) {
			t.Errorf("one has no %s: %s", field, one.text)
		}
	}
}

// TestExtractOfOnesOwn: the extract is for what was refused for good; where the next draft is awaited that is said.
func TestExtractOfOnesOwn(t *testing.T) {
	s := newStage(t, 10)
	for _, in := range []history.Input{
		{Kind: history.Propose, Draft: &history.Draft{N: 1, Text: "mine"}, Ask: &history.Ask{Turns: history.Range{From: 1, To: 5}, Length: history.Length{N: 100, Unit: history.Characters}}},
		{Kind: history.Drafted, Draft: &history.Draft{N: 1, Text: "mine", Verdict: history.No}},
	} {
		in.Proposal, in.By = "p", "mika"
		if _, err := s.talk.Happens(t.Context(), in); err != nil {
			t.Fatal(err)
		}
	}
	if a := s.ask("here", "POST", all+"/p/extract", ""); a.Code != abi.CodeConflict || !strings.Contains(a.text, "a verifier refused draft 1 of p: send the next, or deny it; the extract is there once 3 were refused") {
		t.Error(a.text)
	}
}
