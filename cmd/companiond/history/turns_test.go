package history

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/companiond/companiond/host/door/web/past"
	"github.com/companiond/companiond/host/history"
)

const over = `   1-9  2026-05-01 12:00 (compressed) The budget is 4,800 yen.
    b1: drafted by model, verified by model, approved by hana
`

// Turns are shown with their numbers, and what several are told as with its id and who approved it.
func TestShow(t *testing.T) {
	h := &house{turns: 12, all: []past.Compression{compression(id, 10, 11, history.Offered), compression("b1", 1, 9, history.Approved)}}
	out := h.types(t, "", "show")
	inOrder(t, out, "1-9  2026-05-01 12:00 (compressed) The budget is 4,800 yen.\n", "    b1: drafted by model, verified by model, approved by hana\n", "       12  2026-05-01 12:00 taro: turn 12\n",
		id+"  turns 10-11 of main: verified; it waits for a person\n", "  companiond history approve "+id+"  ", "  companiond history deny "+id+"  ")
	if out := h.types(t, "", "show -original"); strings.Contains(out, "compressed") || !strings.Contains(out, "        2  2026-05-01 12:00 taro: turn 2\n") {
		t.Error(out)
	}
	if out := h.types(t, "", "show 1-9"); !strings.HasSuffix(over, strings.TrimLeft(out, " ")) || out == "" {
		t.Errorf("%q", out)
	}
	if out := h.types(t, "", "show 10 11"); out != "       10  2026-05-01 12:00 taro: turn 10\n       11  2026-05-01 12:00 taro: turn 11\n" {
		t.Errorf("%q", out)
	}
	if out := h.types(t, "", "show 12-"); out != "       12  2026-05-01 12:00 taro: turn 12\n" {
		t.Errorf("%q", out)
	}
	var p page
	if err := json.Unmarshal([]byte(h.types(t, "", "show -json 1-12")), &p); err != nil || len(p.Turns) != 4 || p.Turns[0].Upto != 9 {
		t.Errorf("%+v %v", p, err)
	}
	h = &house{turns: 120}
	if out := h.types(t, "", "show -room 居間"); !strings.HasSuffix(out, "of 120 turns; those before: companiond history show -room 居間 21-70\n") || !strings.HasPrefix(h.asked[0], "GET /v1/rooms/%E5%B1%85%E9%96%93/turns") {
		t.Error(out, h.asked)
	}
	if out := (&house{}).types(t, "", "show"); out != "nothing was said in main so far\n" {
		t.Error(out)
	}
}

// A compression is shown with both texts, what was found, what left, and what to type next; beside each other where
// the terminal is wide.
func TestShowProposal(t *testing.T) {
	h := &house{turns: 12, all: []past.Compression{compression(id, 1, 9, history.Offered), compression("0b", 10, 11, history.Refused)}}
	out := h.types(t, "", "show "+id[:2])
	inOrder(t, out, id+"  turns 1-9 of main: verified; it waits for a person\n", "taro asked for it on 2026-05-01 12:00, in at most 600 characters\n", "policy: Keep the budget.\n", "draft 1 by model: NO, says model\n", "M1 is missing\n", "it was: Nothing much.\n", "draft 2 by model: YES, says model\n",
		"turns 1-9, 31 characters\n", "  1 taro: The budget\n  is 4,800 yen.\n  9 aya: 予算は了解です\n", "draft 2, 24 characters\n  The budget is 4,800 yen.\n", "of what the policy names 1 of 1 are there; of what may matter besides 0 of 1\n", "M1   kept       4,800 yen (turn 1), which the policy names: “4,800 yen”\n", "M2   not needed tea?\n",
		"what left and may matter, found without a model\n", "question   tea? (turn 3)\n", "only in the draft Aya\n", "companiond history approve "+id)
	h.width = 100
	wide := h.types(t, "", "show "+id)
	inOrder(t, wide, "turns 1-9, 31 characters"+strings.Repeat(" ", 24)+" │ draft 2, 24 characters\n", "1 taro: The budget"+strings.Repeat(" ", 30)+" │ The budget is 4,800 yen.\n", "9 aya: 予算は了解です"+strings.Repeat(" ", 27)+" │\n")
	inOrder(t, h.types(t, "", "show 0b"), "no draft was verified: M1 is missing", "companiond history extract 0b", "companiond history compress 10-11 -policy 'Keep the budget.' -length 600  asks anew: ")
	var c past.Compression
	if err := json.Unmarshal([]byte(h.types(t, "", "show -json "+id)), &c); err != nil || c.ID != id || len(c.Original) != 2 {
		t.Errorf("%+v %v", c, err)
	}
	if _, _, err := h.do(t.Context(), "", "show", "0"+"c"); err == nil || !strings.Contains(err.Error(), "companiond history show lists them") {
		t.Error(err)
	}
}

// TestEach: whatever lies over the turns, each is given once and in order, and no request is for more than the
// daemon gives, or for a part of what is told as one text.
func TestEach(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := &house{turns: rapid.Uint64Range(1, 4000).Draw(t, "turns")}
		for from := uint64(1); from < h.turns; {
			from += rapid.Uint64Range(0, 1500).Draw(t, "gap")
			to := from + rapid.Uint64Range(0, 1500).Draw(t, "long")
			if to > h.turns {
				break
			}
			if rapid.Bool().Draw(t, "inner") {
				h.all = append([]past.Compression{compression(fmt.Sprint("inner", from), from, from, history.Approved)}, h.all...)
			}
			c := compression("c", from, to, rapid.SampledFrom([]history.State{history.Approved, history.Approved, history.Reverted, history.Offered}).Draw(t, "state"))
			if rapid.IntRange(0, 4).Draw(t, "erased") == 0 {
				c.Drafts[1].Content = ""
			}
			c.ID += history.Range{From: from, To: to}.String()
			h.all, from = append([]past.Compression{c}, h.all...), to+1
		}
		original := rapid.Bool().Draw(t, "original")
		d := Desk{Call: h.call}
		next := uint64(1)
		err := d.each(context.Background(), about{room: "main"}, history.Range{From: 1, To: h.turns}, original, func(x told) error {
			if x.N != next || x.Text == "" || original && x.Upto > 0 {
				t.Fatalf("behind turn %d comes %+v", next-1, x)
			}
			next = max(x.N, x.Upto) + 1
			return nil
		})
		if err != nil || next != h.turns+1 {
			t.Fatalf("it ends with %d of %d: %v", next-1, h.turns, err)
		}
	})
}

// What is asked for is what was typed, and each draft is told as it comes.
func TestCompress(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "policy.txt")
	if err := os.WriteFile(file, []byte("Keep the budget.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ args, typed, body string }{
		{"1-9", "", `{"turns":"1-9"}`},
		{"1 9 -policy x -length 300 -unit tokens -by aya -verify extract", "", `{"turns":"1-9","policy":"x","target_length":300,"unit":"tokens","compresser":"aya","verifier":"extract"}`},
		{"7 -policy-file " + file, "", `{"turns":"7","policy":"Keep the budget."}`},
		{"-text - 1-9", "mine\n", `{"turns":"1-9","text":"mine"}`},
	} {
		synctest.Test(t, func(t *testing.T) {
			first, second := compression(id, 1, 9, history.Refused), compression(id, 1, 9, history.Offered)
			first.State = string(history.BeingDrafted)
			h := &house{turns: 12, all: []past.Compression{compression(id, 1, 9, history.BeingDrafted)}}
			h.becomes = []past.Compression{h.all[0], first, first, second}
			begun := time.Now()
			out, told, err := h.do(t.Context(), c.typed, append([]string{"compress"}, strings.Fields(c.args)...)...)
			if err != nil || h.asked[0] != "POST /v1/rooms/main/compressions "+c.body || time.Since(begun) != 4*again {
				t.Errorf("%s: %v after %s\n%s", c.args, err, time.Since(begun), h.asked[0])
			}
			if want := "companiond: " + id + ": a draft of turns 1-9 is being made by model, and then verified by model\ncompaniond: draft 1 made by model, refused by model: M1 is missing\ncompaniond: draft 2 made by model, verified by model\n"; told != want {
				t.Errorf("%s", told)
			}
			inOrder(t, out, "draft 2, 24 characters", "what left and may matter", "companiond history approve "+id)
		})
	}
}

// What does not end well, or is left, has an exit code of its own.
func TestCompressEnds(t *testing.T) {
	for state, want := range map[history.State]string{
		history.Refused: "code 3: no draft was verified", history.Failed: id + " is failed", history.Denied: id + " is denied", history.Offered: "", history.Approved: "",
	} {
		h := &house{turns: 12, all: []past.Compression{compression(id, 1, 9, state)}}
		_, _, err := h.do(t.Context(), "", "compress", "1-9", "-json")
		if got := ""; err != nil && err.Error() != want || err == nil && got != want {
			t.Errorf("%s: %v", state, err)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(context.Background(), 90*time.Second)
		defer cancel()
		h := &house{turns: 12, all: []past.Compression{compression(id, 1, 9, history.BeingDrafted)}}
		out, _, err := h.do(ctx, "", "compress", "-room", "x", "1-9")
		if out != "it goes on by itself: companiond history show -room x "+id+"\n" || err == nil || !strings.HasPrefix(err.Error(), "code 130: ") {
			t.Errorf("%v %s", err, out)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(context.Background(), 90*time.Second)
		defer cancel()
		h := &house{turns: 12, all: []past.Compression{compression(id, 1, 9, history.BeingDrafted)}}
		if out, told, err := h.do(ctx, "", "compress", "-json", "1-9"); out != "" || err == nil || !strings.HasSuffix(told, "it goes on by itself: companiond history show "+id+"\n") {
			t.Errorf("a program reads %q, %q, %v", out, told, err)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		h := &house{turns: 12, all: []past.Compression{compression(id, 1, 9, history.BeingDrafted)}, refuses: map[string]string{"GET /v1/rooms/main/compressions": "the daemon is gone"}}
		if _, _, err := h.do(t.Context(), "", "compress", "1-9"); err == nil || err.Error() != "the daemon is gone; it goes on by itself: companiond history show "+id {
			t.Error(err)
		}
	})
	own := compression(id, 1, 9, history.Refused)
	own.State, own.Compresser = string(history.BeingDrafted), ""
	h := &house{turns: 12, all: []past.Compression{own}}
	out, told, err := h.do(t.Context(), "mine", "compress", "1-9", "-text", "-")
	if err == nil || err.Error() != "code 3: no draft was verified" || told != "companiond: draft 1 made by model, refused by model: M1 is missing\n" {
		t.Errorf("%v %s", err, told)
	}
	inOrder(t, out, "a verifier refused draft 1; send the next with -redraft, or deny it", "M1 is missing", "companiond history compress -redraft "+id+" -text FILE  sends the next draft, 2 of 3\n", "companiond history deny "+id+"  nothing comes of it\n")
	for verb, drafts := range map[string]int{"extract": 1, "approve": 1, "approve -yes": 0} { // nothing is asked that the daemon refuses
		own.Drafts = own.Drafts[:drafts]
		h = &house{turns: 12, all: []past.Compression{own}}
		want := map[int]string{1: "a verifier refused draft 1 of " + id + ": send the next, ", 0: id + " waits for a draft of yours: "}[drafts] + "companiond history compress -redraft " + id + " -text FILE, or deny it, companiond history deny " + id
		if _, _, err := h.do(t.Context(), "y", append(strings.Fields(verb), id)...); err == nil || err.Error() != want || strings.Contains(fmt.Sprint(h.asked), "POST") {
			t.Errorf("%s: %v\n%s", verb, err, h.asked)
		}
		own.Drafts = compression(id, 1, 9, history.Refused).Drafts
	}
	failed := compression(id, 1, 9, history.Failed)
	failed.Drafts, failed.Why = nil, "the draft cannot be verified: there is no model"
	h = &house{turns: 12, all: []past.Compression{failed}}
	inOrder(t, h.types(t, "", "show "+id), "failed; the turns stay as they are: the draft cannot be verified", "there is no draft that a verifier has looked at", "companiond history compress 1-9 -policy 'Keep the budget.' -length 600  asks anew\n")
	h = &house{turns: 12, all: []past.Compression{compression(id, 1, 9, history.Refused)}}
	inOrder(t, h.types(t, "", "extract "+id), "verified; it waits for a person", "companiond history approve")
	if last := h.asked[len(h.asked)-1]; last != "POST /v1/rooms/main/compressions/"+id+"/extract" {
		t.Error(last)
	}
}

// TestRedraft: a further draft of one's own is sent for what was asked for, is said to be verified, and is told as it ends; what the one before
// it was refused for is not told again.
func TestRedraft(t *testing.T) {
	file := filepath.Join(t.TempDir(), "draft.txt")
	if err := os.WriteFile(file, []byte("\ufeffThe budget is 4,800 yen.\r\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		refused, offered := compression(id, 1, 9, history.Refused), compression(id, 1, 9, history.Offered)
		refused.State, refused.Compresser, offered.Compresser = string(history.BeingDrafted), "", ""
		verifying := refused
		verifying.Verifying = &past.Handed{N: 2, Content: "The budget is 4,800 yen."}
		h := &house{turns: 12, all: []past.Compression{refused}, becomes: []past.Compression{refused, verifying, verifying, offered}}
		h.drafts = verifying
		begun := time.Now()
		out, told, err := h.do(t.Context(), "", "compress", "-redraft", id[:2], "-text", file)
		if path := "POST /v1/rooms/main/compressions/" + id + `/drafts {"text":"The budget is 4,800 yen."}`; err != nil || h.asked[2] != path || time.Since(begun) != 3*again {
			t.Errorf("%v after %s: %q", err, time.Since(begun), h.asked)
		}
		if told != "companiond: "+id+": your draft of turns 1-9 is being verified by model\ncompaniond: draft 2 made by model, verified by model\n" {
			t.Errorf("%s", told)
		}
		inOrder(t, out, "draft 2, 24 characters", "companiond history approve "+id)
		h = &house{turns: 12, all: []past.Compression{verifying}}
		inOrder(t, h.types(t, "", "show "+id), "a draft from outside is being verified", "draft 2, 24 characters, is being verified", "The budget is 4,800 yen.", "companiond history deny "+id)
		refused.Drafts = nil
		h = &house{turns: 12, all: []past.Compression{refused}}
		inOrder(t, h.types(t, "", "show "+id), "it waits for a draft from outside", "no draft so far", "companiond history compress -redraft "+id+" -text FILE  sends the next draft, 1 of 3")
	})
}

// Both texts are shown before somebody is asked, and nothing happens unless that one says yes.
func TestDecide(t *testing.T) {
	path := "/v1/rooms/main/compressions/" + id
	for _, c := range []struct {
		args, typed string
		is          history.State
		posts, out  string
	}{
		{"approve " + id, "y\n", history.Offered, path + "/approve {}", "approve? y/N " + id + "  turns 1-9 of main: the turns are told so, approved by hana\n  companiond history revert " + id},
		{"approve -yes " + id, "-", history.Offered, path + "/approve {}", id + "  turns 1-9 of main: the turns are told so"},
		{"deny 0a -why dull", "yes", history.Offered, path + `/deny {"why":"dull"}`, "deny? y/N " + id + "  turns 1-9 of main: denied"},
		{"deny " + id + " -yes", "-", history.BeingDrafted, path + "/deny {}", ""},
		{"deny " + id + " -yes", "-", history.Refused, path + "/deny {}", id + "  turns 1-9 of main: denied; the turns stay as they are\n"},
		{"revert " + id, "Y", history.Approved, path + "/revert {}", "revert? y/N " + id + "  turns 1-9 of main: reverted; the turns are told as they were\n"},
		{"revert -json -yes " + id, "-", history.Approved, path + "/revert {}", `"state": "reverted"`},
	} {
		h := &house{turns: 12, all: []past.Compression{compression(id, 1, 9, c.is)}}
		out := h.types(t, c.typed, c.args)
		if last := h.asked[len(h.asked)-1]; last != "POST "+c.posts || !strings.Contains(out, c.out) {
			t.Errorf("%s: %s\n%s", c.args, last, out)
		}
		if c.typed != "-" {
			inOrder(t, out, "turns 1-9, 31 characters", "draft 2, 24 characters\n  The budget is 4,800 yen.", "of what the policy names 1 of 1", "question   tea?", "y/N")
		}
	}
	for _, c := range []struct {
		args, typed string
		is          history.State
		why         string
	}{
		{"approve " + id, "n\n", history.Offered, "nothing was changed"},
		{"approve " + id, "", history.Offered, "usage: nothing was changed, for nobody answered: say -yes, after a look at companiond history show " + id},
		{"approve " + id, "\ny\n", history.Offered, "nothing was changed"},
		{"approve " + id, "-", history.Offered, "usage: nobody is here to be asked: say -yes, after a look at companiond history show " + id},
		{"approve -json " + id, "-", history.Offered, "usage: nobody is here to be asked: say -yes, after a look at companiond history show " + id},
		{"approve -yes " + id, "", history.Refused, id + " is refused: what no verifier has said YES to cannot be approved; type companiond history extract " + id + ", or ask anew with another policy"},
		{"approve -yes " + id, "", history.BeingDrafted, id + " is being drafted; look again later: companiond history show " + id},
		{"approve -yes " + id, "", history.Approved, id + " is approved already"},
		{"approve -yes " + id, "", history.Denied, id + " is denied; ask anew: companiond history compress 1-9 -policy 'Keep the budget.' -length 600"},
		{"deny -yes " + id, "", history.Approved, id + " is approved; take it back: companiond history revert " + id},
		{"deny -yes " + id, "", history.Failed, id + " is failed, and the turns are told as they were"},
		{"revert -yes " + id, "", history.Offered, id + " is offered, and lies over nothing: companiond history deny " + id},
		{"revert -yes " + id, "", history.Reverted, id + " is reverted, and lies over nothing"},
		{"approve -yes x", "", history.Offered, `no compression in main is "x", or one alone begins so; companiond history show lists them, and -room says where else to look`},
		{"approve -yes", "", history.Offered, "usage: approve what? companiond history approve ID, and companiond history show lists those there are"},
	} {
		h := &house{turns: 12, all: []past.Compression{compression(id, 1, 9, c.is)}}
		_, _, err := h.do(t.Context(), c.typed, strings.Fields(c.args)...)
		if err == nil || err.Error() != c.why || strings.Contains(strings.Join(h.asked, ";"), "POST") {
			t.Errorf("%s of what is %s: %v\n%s", c.args, c.is, err, h.asked)
		}
	}
	// Of two that begin alike none is meant.
	h := &house{turns: 12, all: []past.Compression{compression("0a1", 1, 9, history.Offered), compression("0a2", 10, 11, history.Offered)}}
	if _, _, err := h.do(t.Context(), "", "approve", "-yes", "0a"); err == nil || !strings.HasPrefix(err.Error(), `no compression in main is "0a"`) {
		t.Error(err)
	}
}

func TestForks(t *testing.T) {
	h := &house{}
	if out := h.types(t, "", "fork -at 20"); h.asked[0] != `POST /v1/rooms/main/forks {"turn":20}` || out != "main-2 begins with the turns of main up to 20; talk there: companiond say -f -room main-2 TEXT\n" {
		t.Error(h.asked, out)
	}
	h.types(t, "", "fork -room x other")
	if h.asked[1] != `POST /v1/rooms/x/forks {"name":"other"}` {
		t.Error(h.asked)
	}
	h.types(t, "", "fork -at 0")
	if h.asked[2] != `POST /v1/rooms/main/forks {"turn":0}` {
		t.Error(h.asked)
	}
	if out := h.types(t, "", "branches -room main-2"); out != "  main  30 turns\n*   main-2  25 turns, of main up to turn 20, by taro\n      deep  5 turns, of main-2 up to turn 5, closed\n" {
		t.Errorf("%s", out)
	}
	if out := h.types(t, "", "diff main main-2"); out != "main and main-2 have 20 turns in common\nmain, 2 turns behind 20\n  21 taro: turn 21\n  22 taro: turn 22\nmain-2, 1 turns behind 20\n  21 taro: turn 21\n" {
		t.Errorf("%s", out)
	}
	if last := h.asked[len(h.asked)-1]; last != "GET /v1/rooms/main/diff?with=main-2" {
		t.Error(last)
	}
	for _, args := range []string{"fork -json", "branches -json", "diff main main-2 -json"} {
		if out := h.types(t, "", args); !json.Valid([]byte(out)) {
			t.Errorf("%s: %s", args, out)
		}
	}
}

// An export has everything, page by page, as text or as JSON, and a file is there as a whole or not at all.
func TestExport(t *testing.T) {
	h := &house{turns: 2500, all: []past.Compression{compression("b1", 1, 1200, history.Approved)}}
	dir := t.TempDir()
	file := filepath.Join(dir, "talk.jsonl")
	_, told, err := h.do(t.Context(), "", "export", "-o", file)
	raw, rerr := os.ReadFile(file)
	lines := strings.Split(strings.TrimSpace(string(raw)), "\n")
	if err != nil || rerr != nil || len(lines) != 1301 || told != "companiond: wrote 1300 turns and 1 text that stands for 1200 of main into "+file+"\n" {
		t.Fatalf("%v %v %d lines; %s", err, rerr, len(lines), told)
	}
	if want := `{"type":"compressed_history","content":"The budget is 4,800 yen.","original_turns_range":[1,1200],"timestamp":`; !strings.HasPrefix(lines[0], want) || !strings.HasSuffix(lines[0], `"policy":"Keep the budget.","by":"model","verified_by":"model","approved_by":"hana","id":"b1"}`) {
		t.Error(lines[0])
	}
	if !strings.HasPrefix(lines[1], `{"turn":1201,"from":"taro","text":"turn 1201","at":"2026-05-01T`) {
		t.Error(lines[1])
	}
	out := h.types(t, "", "export 1-1201")
	inOrder(t, out, "# main\n\n**1-1200, compressed**, 2026-05-01T", ": drafted by model, verified by model, approved by hana\n\n> The budget is 4,800 yen.\n\n**1201. taro**, 2026-05-01T", "Z\n\n> turn 1201\n")
	if out := h.types(t, "", "export -original -format jsonl 1200 1201"); strings.Count(out, "\n") != 2 || !strings.HasPrefix(out, `{"turn":1200,`) {
		t.Error(out)
	}
	if out := h.types(t, "", "export -format jsonl 2499-"); strings.Count(out, "\n") != 2 {
		t.Error(out)
	}
	h.refuses = map[string]string{"GET /v1/rooms/main/turns?original=true&turns=2": "the daemon is gone"}
	if _, _, err := h.do(t.Context(), "", "export", "-o", file, "-original"); err == nil {
		t.Error("half of it is an export")
	}
	if now, err := os.ReadFile(file); err != nil || string(now) != string(raw) {
		t.Errorf("a file of before is not what it was: %v", err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("%v %v", left, err)
	}
	for words, want := range map[string]string{"# a\nb": "\n\n> # a\n> b\n", "\x1b[31m\u202e": "\n\n> \\u001b[31m\\u202e\n"} {
		var b strings.Builder
		x := told1(words)
		if err := asMarkdown(&b, x); err != nil || !strings.HasSuffix(b.String(), want) {
			t.Errorf("%q", b.String())
		}
	}
}

func told1(words string) (x told) {
	x.N, x.From, x.Text = 1, "taro", words
	return x
}

// What the daemon refuses is told in the words that somebody typed.
func TestRefusalsOfHistory(t *testing.T) {
	for _, c := range []struct{ args, refused, want string }{
		{"compress 1-9", "turns: turns 1-50 are told as one text: take all of them, or revert that first", "TURNS: turns 1-50 are told as one text: take all of them, or revert that first; companiond history show says which, and with -original show and export take any"},
		{"compress 1-9 -length 4", "target_length: 4: must be 100 or more", "-length: 4: must be 100 or more"},
		{"compress 1-9 -by x", `compresser: there is no companion "x"`, `-by: there is no companion "x"`},
		{"compress 1-9", "turns: 01 of turns 5-9 is offered: approve or deny that one first", "TURNS: 01 of turns 5-9 is offered: approve or deny that one first: companiond history show lists it"},
		{"approve -yes " + id, "a person approves, denies and reverts, and the token of bot is none of a person", "a person approves, denies and reverts, and the token of bot is none of a person; put a person's into the environment as COMPANIOND_TOKEN (companiond token NAME -kind human makes one)"},
		{"approve -yes " + id, "proposal: turns 1-9 do not say any more what they said when " + id + " was drafted", "turns 1-9 do not say any more what they said when " + id + " was drafted: companiond history compress TURNS"},
		{"fork x", `name: there is a room "x" already`, `NAME: there is a room "x" already`},
		{"fork -at 44", "turns: 44: there are 12 so far", "-at: 44: there are 12 so far"},
		{"branches", `there is nothing at "/v1/rooms/main/branches"`, "the daemon has no turns and forks; is it an older one?"},
	} {
		h := &house{turns: 12, all: []past.Compression{compression(id, 1, 9, history.Offered)}, refuses: map[string]string{"POST ": c.refused, "GET /v1/rooms/main/branches": c.refused}}
		if _, _, err := h.do(t.Context(), "", strings.Fields(c.args)...); err == nil || err.Error() != c.want {
			t.Errorf("%s: %v", c.args, err)
		}
	}
	for args, want := range map[string]string{
		"compress": "usage: compress which turns?", "compress 5-": "usage: TURNS: 5- has no end", "compress 5-3": "usage: TURNS: 5-3 ends before it begins", "compress 0": "usage: TURNS: 0: the first turn is 1",
		"compress 1-9 -policy x -policy-file y": "usage: -policy and", "compress 1-9 -text - -policy-file -": "usage: one of", "compress 1-9 -text x -by y": "usage: -text is", "compress 1-9 -unit tokens": "usage: -unit is of -length",
		"compress 1-9 -text /nowhere/x": "open /nowhere/x", "compress 1-9 -text -": "usage: - is empty", "show 1 2 3": "usage: unexpected argument", "show 13-": "TURNS: there are 12 turns in main", "diff main": "usage: compare which rooms?",
		"compress -redraft 0a": "usage: -redraft sends a further draft of your own: say -text FILE", "compress -redraft 0a -text x 1-9": "usage: -redraft goes on", "compress -redraft 0a -text x -policy y": "usage: -redraft goes on",
		"compress -redraft 0a -text -": "usage: - is empty",
		"export -format pdf":           `usage: -format: "pdf"`, "export 3-1": "usage: TURNS: 3-1", "export -o /nowhere/x": "-o: open /nowhere/", "extract": "usage: extract what?", "show X": "usage: TURNS: \"X\" are no turns",
	} {
		h := &house{turns: 12}
		if _, _, err := h.do(t.Context(), "", strings.Fields(args)...); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v", args, err)
		}
	}
}
