package memories

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/cmd/companiond/paint"
	"github.com/companiond/companiond/host/context/told"
	"github.com/companiond/companiond/host/door/web/memories"
	"github.com/companiond/companiond/host/entry"
)

var said = time.Date(2026, 1, 2, 3, 4, 5, 0, time.Local)

const factID = "0123456789abcdef0123456789abcdef"

func cat() abi.Memory {
	return abi.Memory{
		ID: factID, Kind: abi.MemoryFact, Text: "Mika's cat is called Tama.", Quote: "my cat Tama", About: []string{"mika"}, Keys: []string{"Tama", "cat"},
		Room: "main", Turns: []uint64{12, 14}, SaidBy: "mika", SaidAt: said, ValidTo: said.Add(time.Hour), Importance: 4, Visibility: abi.VisiblePerson,
	}
}

// daemon answers the verbs, and writes down what it is asked.
type daemon struct {
	asked   []string
	runs    int // how often an order is still running
	refuses map[string]string
}

func (s *daemon) call(_ context.Context, method, path string, in, out any) error {
	body := ""
	if in != nil {
		b, _ := json.Marshal(in)
		body = " " + string(b)
	}
	s.asked = append(s.asked, method+" "+path+body)
	for what, why := range s.refuses {
		if strings.HasPrefix(method+" "+path, what) {
			return errors.New(why)
		}
	}
	var answer any
	order := memories.Order{ID: "o1", State: "done", As: "forgotten-3f9a1c", Stores: []memories.Count{{Store: "entries", Count: 3}, {Store: "memories", Count: 1}}, Left: []string{"companiond.db.bak"}}
	switch {
	case path == "/v1/companions":
		answer = []map[string]string{{"id": "aya"}, {"id": "kyoko"}}
	case strings.HasPrefix(path, "/v1/companions/aya/"):
		if method == "GET" && !strings.Contains(path, "?") {
			return errors.New("path.memory: aya remembers no such thing")
		}
		answer = page{Memories: []abi.Memory{}}
	case method == "GET" && strings.Contains(path, "?"):
		answer = page{Memories: []abi.Memory{cat()}, Next: factID, Total: 9}
	case method == "DELETE":
		answer = order
	case strings.HasPrefix(path, "/v1/companions/kyoko/"):
		answer = cat()
	case strings.HasPrefix(path, "/v1/forget"):
		if s.runs > 0 && !strings.Contains(body, "dry_run") {
			s.runs--
			order.State = "running"
		}
		if strings.Contains(body, "dry_run") {
			order.State, order.ID = "would", ""
		}
		answer = order
	case strings.HasSuffix(path, "/prompts"):
		answer = map[string]any{"prompts": []told.Prompt{{
			Seq: 14, At: said, Usage: entry.Usage{Who: "kyoko", Model: "small", Op: "speak", In: 900, Out: 12, Cached: 640, Calls: 2, Cost: .0021, Estimated: true},
			Parts: []told.Part{{Name: "system", Text: "You are Kyoko.\nSpeak.", Tokens: 5}, {Name: "task", Text: "Say it."}}, Left: []string{"12 older messages, for the budget"}, Exact: true, Memories: []string{"m1", "m2"}, Budget: 8000, Guess: 880,
		}, {Seq: 13, At: said, Usage: entry.Usage{Who: "aya", Op: "vote", Calls: 1, Error: "too slow"}, Why: "it is too old"}}}
	default:
		return errors.New("nothing is here")
	}
	b, _ := json.Marshal(answer)
	return json.Unmarshal(b, out)
}

// do runs a verb, and gives what it prints. typed is what somebody at the terminal types;
// nobody is there where it is "-".
func (s *daemon) do(t *testing.T, typed, args string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	d := Desk{
		In: strings.NewReader(typed), Asks: typed != "-", Paint: paint.Painter{Out: &out}, Call: s.call,
		Usage: func(format string, args ...any) error { return fmt.Errorf("usage: "+format, args...) },
		Parse: func(fs *flag.FlagSet, args []string, _ int) (rest []string, err error) {
			for len(args) > 0 {
				if err := fs.Parse(args); err != nil {
					return nil, err
				}
				if args = fs.Args(); len(args) > 0 {
					rest, args = append(rest, args[0]), args[1:]
				}
			}
			return rest, nil
		},
	}
	words := strings.Fields(args)
	fs := flag.NewFlagSet("test", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	run := d.Memory
	if words[0] == "forget" {
		run = d.Forget
	}
	err := run(t.Context(), fs, words[1:])
	return out.String(), err
}

const shown = factID + `  Mika's cat is called Tama.
                                  mika said so in main #12, #14 on 2026-01-02 03:04:05: “my cat Tama”
                                  fact; importance 4; told where that person is; about mika; keys Tama, cat
                                  no longer so since 2026-01-02 04:04:05
`

const gone = `gone: 3 entries, 1 memories
where the name stood: forgotten-3f9a1c
not reached: companiond.db.bak
`

// Each verb asks the daemon for what was typed, and prints what it is answered.
func TestVerbs(t *testing.T) {
	const forgets, would = "POST /v1/forget ", "would go: 3 entries, 1 memories\nwhere the name stood: forgotten-3f9a1c\nnot reached: companiond.db.bak\n"
	one := "/v1/companions/kyoko/memories/" + factID
	for _, c := range []struct {
		args, typed, asked, out string
	}{
		{"memory kyoko", "", "GET /v1/companions/kyoko/memories?limit=50", shown + "there are more: companiond memory kyoko -after " + factID + "\n"},
		{"memory list kyoko -who mika -past -text cat -n 7 -after x", "", "GET /v1/companions/kyoko/memories?after=x&limit=7&past=true&text=cat&who=mika", ""},
		{"memory", "", "GET /v1/companions; GET /v1/companions/aya/memories?limit=50; GET /v1/companions/kyoko/memories?limit=50", "kyoko remembers\n" + shown + "there are more: companiond memory kyoko -after " + factID + "\n"},
		{"memory aya", "", "GET /v1/companions/aya/memories?limit=50", "nothing is remembered yet\n"},
		{"memory aya -text rain", "", "GET /v1/companions/aya/memories?limit=50&text=rain", "nothing of that is remembered\n"},
		{"memory add kyoko Mika is tall -keys a,,b -importance 5 -visibility room -about mika", "", `POST /v1/companions/kyoko/memories {"about":["mika"],"importance":5,"keys":["a","b"],"text":"Mika is tall","visibility":"room"}`, shown},
		{"memory add kyoko x", "", `POST /v1/companions/kyoko/memories {"text":"x"}`, shown},
		{"memory edit kyoko " + factID + " -text y -keys=", "", "PATCH " + one + ` {"keys":[],"text":"y"}`, shown},
		{"memory edit kyoko " + factID + " -still", "", "PATCH " + one + ` {"valid_to":""}`, shown},
		{"memory edit kyoko " + factID + " -until 2026-01-02T03:04:05Z", "", "PATCH " + one + ` {"valid_to":"2026-01-02T03:04:05Z"}`, shown},
		{"memory erase kyoko " + factID, "yes\n", "GET " + one + "; DELETE " + one, shown + "Nothing brings it back. Type yes to erase it: " + gone},
		{"memory erase kyoko " + factID + " -yes", "-", "GET " + one + "; DELETE " + one, gone},
		{"forget mika -dry-run", "-", forgets + `{"who":"mika","dry_run":true}`, would},
		{"forget mika", "mika", forgets + `{"who":"mika","dry_run":true}; ` + forgets + `{"who":"mika","confirm":"mika"}`, would + "Nothing brings it back. Type mika to erase it: " + gone},
		{"forget mika -yes -copies", "-", forgets + `{"who":"mika","copies":true,"dry_run":true}; ` + forgets + `{"who":"mika","copies":true,"confirm":"mika"}`, gone},
		{"forget " + factID + " -yes", "-", "GET /v1/companions; GET /v1/companions/aya/memories/" + factID + "; GET " + one + "; " + forgets + `{"fact":"` + factID + `","companion":"kyoko","dry_run":true}; ` + forgets + `{"fact":"` + factID + `","companion":"kyoko","confirm":"` + factID + `"}`, gone},
		{"forget m1 -of kyoko -yes", "-", forgets + `{"fact":"m1","companion":"kyoko","dry_run":true}; ` + forgets + `{"fact":"m1","companion":"kyoko","confirm":"m1"}`, gone},
	} {
		s := &daemon{}
		out, err := s.do(t, c.typed, c.args)
		if asked := strings.Join(s.asked, "; "); err != nil || asked != c.asked || c.out != "" && out != c.out {
			t.Errorf("%s: %v\nasked %s\nwant  %s\n%s", c.args, err, asked, c.asked, out)
		}
	}
}

// Nothing is erased unless somebody says so.
func TestNothingIsErasedUnasked(t *testing.T) {
	for _, c := range []struct{ args, typed, why string }{
		{"memory erase kyoko " + factID, "", "nothing was erased"},
		{"memory erase kyoko " + factID, "no\nyes\n", "nothing was erased"},
		{"memory erase kyoko " + factID, "-", "usage: nothing brings back what is erased, and nobody is here to be asked: say -yes, after a look at -dry-run"},
		{"forget mika", "yes\n", "nothing was erased"},
		{"forget mika", "Mika\n", "nothing was erased"},
		{"forget mika", "-", "usage: nothing brings back what is erased, and nobody is here to be asked: say -yes, after a look at -dry-run"},
		{"forget mika -json", "-", "usage: nothing brings back what is erased, and nobody is here to be asked: say -yes, after a look at -dry-run"},
		{"forget mika ken", "", "usage: forget whom, or what? companiond forget NAME, or FACT, the id of a memory"},
		{"forget", "", "usage: forget whom, or what? companiond forget NAME, or FACT, the id of a memory"},
	} {
		s := &daemon{}
		_, err := s.do(t, c.typed, c.args)
		asked := strings.Join(s.asked, "; ")
		if err == nil || err.Error() != c.why || strings.Contains(asked, "DELETE") || strings.Contains(asked, "confirm") {
			t.Errorf("%s: %v\n%s", c.args, err, asked)
		}
	}
}

func TestMistakes(t *testing.T) {
	const all = "usage: companiond memory [COMPANION], memory add COMPANION TEXT, memory edit COMPANION ID -text TEXT, memory erase COMPANION ID"
	for args, want := range map[string]string{
		"memory kyoko aya":                      all,
		"memory add kyoko":                      all,
		"memory edit kyoko":                     all,
		"memory erase":                          all,
		"memory edit kyoko x":                   "usage: edit what? -text, -keys, -importance, -visibility, -until or -still says it",
		"memory -after x":                       "usage: -after is for one companion's: companiond memory COMPANION -after x",
		"memory nobody":                         "there is no companion \"nobody\"; there are: aya, kyoko",
		"memory old":                            "the daemon has no memories; is it an older one?",
		"memory full -n 900":                    "-n: expected number <= 200",
		"memory edit kyoko x -until soon":       "usage: -until: \"soon\" is no time like 2026-01-02, 2026-01-02T03:04:05Z or now",
		"memory edit kyoko x -still -until now": "usage: -still and -until say the opposite",
		"memory edit broken x -importance 9":    "importance: expected number <= 5",
		"forget ken":                            "query.x: this token is mika's",
	} {
		s := &daemon{refuses: map[string]string{
			"GET /v1/companions/nobody": `path.id: there is no companion "nobody"`, "GET /v1/companions/old": `there is nothing at "/v1/companions/old/memories"`,
			"GET /v1/companions/full": "query.limit: expected number <= 200", "PATCH /v1/companions/broken": "importance: expected number <= 5", "POST /v1/forget": "query.x: this token is mika's",
		}}
		_, err := s.do(t, "-", args)
		if err == nil || err.Error() != strings.Replace(want, "query.x", "-x", 1) {
			t.Errorf("%s: %v", args, err)
		}
	}
}

// An order that takes its time is looked at until it is carried out, or nobody looks any more.
func TestOrdersAreFollowed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, begun := &daemon{runs: 3}, time.Now()
		out, err := s.do(t, "-", "forget mika -yes")
		if asked := strings.Join(s.asked, "; "); err != nil || out != gone || strings.Count(asked, "GET /v1/forget/o1") != 3 || time.Since(begun) != 3*again {
			t.Errorf("%v %s %s", err, out, asked)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(context.Background(), 90*time.Second)
		defer cancel()
		var out bytes.Buffer
		s := &daemon{runs: 1000}
		d := Desk{Paint: paint.Painter{Out: &out}, Call: s.call}
		if err := d.follow(ctx, memories.Order{ID: "o1", State: "running"}, false); err != nil || out.String() != "it goes on by itself, as the order o1\n" {
			t.Errorf("%v %s", err, &out)
		}
	})
	s := &daemon{refuses: map[string]string{"GET /v1/forget/o1": "the daemon is gone"}}
	synctest.Test(t, func(t *testing.T) {
		err := Desk{Call: s.call}.follow(t.Context(), memories.Order{ID: "o1", State: "running"}, false)
		if err == nil || err.Error() != "the daemon is gone; the order is o1" {
			t.Error(err)
		}
	})
}

func TestJSON(t *testing.T) {
	s := &daemon{}
	out, err := s.do(t, "", "memory kyoko -json")
	var p page
	if err != nil || json.Unmarshal([]byte(out), &p) != nil || p.Total != 9 || len(p.Memories) != 1 || p.Memories[0].Quote != cat().Quote {
		t.Errorf("%v %s", err, out)
	}
	out, err = s.do(t, "", "memory -json")
	var all map[string]page
	if err != nil || json.Unmarshal([]byte(out), &all) != nil || len(all) != 2 || len(all["kyoko"].Memories) != 1 {
		t.Errorf("%v %s", err, out)
	}
	for _, args := range []string{"forget mika -json -yes", "forget mika -json -dry-run", "memory erase kyoko " + factID + " -json -yes"} {
		out, err = s.do(t, "-", args)
		var o memories.Order
		if err != nil || json.Unmarshal([]byte(out), &o) != nil || len(o.Stores) != 2 {
			t.Errorf("%s: %v %s", args, err, out)
		}
	}
	out, err = s.do(t, "", "memory add kyoko x -json")
	var m abi.Memory
	if err != nil || json.Unmarshal([]byte(out), &m) != nil || m.ID != factID {
		t.Errorf("%v %s", err, out)
	}
}

func TestPromptsAreShown(t *testing.T) {
	var out bytes.Buffer
	s := &daemon{}
	d := Desk{Paint: paint.Painter{Out: &out}, Call: s.call}
	want := `kyoko speak, by the model small, written down as #14 at 2026-01-02 03:04:05
  the words that were sent, letter by letter
  system, about 5 tokens
    You are Kyoko.
    Speak.
  task, about 0 tokens
    Say it.
  left out: 12 older messages, for the budget
  remembered: m1, m2
  guessed at 880 tokens, of 8000 that it may come to
  cost: 900 tokens in (640 of them cached), 12 out, as guessed; 0.0021 by the prices of its settings; 2 requests

aya vote, by the model , written down as #13 at 2026-01-02 03:04:05
  what was sent is not there: it is too old
  cost: 0 tokens in, 0 out; failed: too slow
`
	if err := d.Prompts(t.Context(), "a b", 12); err != nil || out.String() != want {
		t.Errorf("%v\n%s", err, &out)
	}
	if s.asked[0] != "GET /v1/rooms/a%20b/entries/12/prompts" {
		t.Errorf("%s", s.asked)
	}
}

func TestTimes(t *testing.T) {
	for in, want := range map[string]time.Time{
		"2026-01-02": time.Date(2026, 1, 2, 0, 0, 0, 0, time.Local), "2026-01-02 03:04:05": said, "2026-01-02T03:04:05+09:00": time.Date(2026, 1, 1, 18, 4, 5, 0, time.UTC),
	} {
		if got, err := timeOf(in); err != nil || !got.Equal(want) {
			t.Errorf("%s: %v %v", in, got, err)
		}
	}
}
