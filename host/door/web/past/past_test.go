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
