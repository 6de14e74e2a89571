package host_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/door/web/past"
	books "github.com/companiond/companiond/host/history"
	"github.com/companiond/companiond/host/waittest"
)

// lives are what becomes of compressions, step by step: calls of a person, and calls of the model, "draft" and "verify". With
// each the daemon is killed before, within or behind every step. The way tells the model what its drafts are to be; "own" are
// those of a person, of whom the second is whole.
var lives = []killedLife{
	{"better", books.Reverted, []string{"propose", "draft 1", "verify", "draft 2", "verify", "approve", "fork", "revert"}},
	{"good", books.Denied, []string{"propose", "draft 1", "verify", "fork", "deny"}},
	{"bad", books.Approved, []string{"propose", "draft 1", "verify", "draft 2", "verify", "draft 3", "verify", "extract", "fork", "approve"}},
	{"own", books.Approved, []string{"propose", "verify", "redraft", "verify", "approve", "fork"}},
}

type killedLife struct {
	way   string
	end   books.State
	steps []string
}

// TestKilledInCompression has turns compressed again and again, and kills the daemon with SIGKILL before, within or behind one
// of the steps, each of them in turn. It goes on by itself, a step is done once or not at all, what was acknowledged stays, what
// is told fits how the compression stands, forks are whole, and words are found. COMPANIOND_KILLS says how often.
func TestKilledInCompression(t *testing.T) {
	waittest.WithoutRaces(t)
	t.Parallel()
	rounds := 16
	if n, err := strconv.Atoi(os.Getenv("COMPANIOND_KILLS")); err == nil {
		rounds = n
	} else if testing.Short() {
		rounds = 4
	}
	type point struct{ life, at int }
	var points []point
	for i, life := range lives {
		for at := range 3 * len(life.steps) {
			points = append(points, point{i, at})
		}
	}
	rand.Shuffle(len(points), func(i, j int) { points[i], points[j] = points[j], points[i] })
	s := &killedScribe{}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	s.mortal = newMortal(t, fmt.Sprintf("[memory]\nby = \"rules\"\n[model.main]\nurl = %q\nmodel = \"tiny\"\ncalls_minute = 0\nretries = 0\n[room.main]\ncompanions = []\n", server.URL))
	rooms := []string{"main"}
	for round := range rounds {
		p := points[round%len(points)]
		k := &killedPast{mortal: s.mortal, t: t, round: round, life: lives[p.life], name: fmt.Sprintf("fork-%d", round)}
		k.play(p.at)
		if t.Failed() {
			t.Fatalf("in round %d, %q, the daemon was killed %s", round, k.life.steps, s.last)
		}
		rooms = append(rooms, k.name)
	}
	s.replays(rooms)
	where := []string{}
	for _, w := range slices.Sorted(maps.Keys(s.where)) {
		where = append(where, fmt.Sprintf("%s %d", w, s.where[w]))
	}
	t.Logf("%d kills: %s", s.kills, strings.Join(where, ", "))
}

// killedScribe is a language model that outlives the daemon. Of whoever asks it with the policy "good" its first draft is whole, with
// "better" its second, and with "bad" none.
type killedScribe struct{ *mortal }

func (s *killedScribe) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		Messages []struct{ Content string }
	}
	if err := json.NewDecoder(r.Body).Decode(&asked); err != nil || len(asked.Messages) == 0 {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	var told struct {
		policy, draft, refused, task string
		turns                        []string
		keep                         []abi.KeepItem
	}
	for line := range strings.Lines(asked.Messages[len(asked.Messages)-1].Content) {
		var l struct {
			Policy  any // a text, or of a keep line whether it names it
			Turn    uint64
			Text    string
			Keep    string
			Draft   any
			Refused string `json:"refused_draft"`
			Task    string
		}
		if json.Unmarshal([]byte(line), &l) != nil {
			continue
		}
		policy, _ := l.Policy.(string)
		named, _ := l.Policy.(bool)
		switch {
		case l.Keep != "":
			told.keep = append(told.keep, abi.KeepItem{ID: l.Keep, Text: l.Text, Policy: named})
		case l.Draft == true:
			told.draft = l.Text
		case l.Turn > 0:
			told.turns = append(told.turns, l.Text)
		}
		told.policy, told.refused, told.task = told.policy+policy, told.refused+l.Refused, told.task+l.Task
	}
	n := strings.Count(told.refused, "much") + 1 // draft 1 is "much", and so on
	answer := any(map[string]string{"text": strings.TrimSpace(strings.Repeat("much ", n))})
	if good := map[bool]int{strings.Contains(told.policy, "good"): 1, strings.Contains(told.policy, "better"): 2}[true]; good == n && told.task == "compress" {
		whole := told.turns[min(1, len(told.turns)-1)] // the last part of what is told in several may be one turn
		for _, k := range told.keep {
			if k.Policy && !strings.Contains(whole, k.Text) {
				whole += " " + k.Text
			}
		}
		answer = map[string]string{"text": whole}
	}
	step := fmt.Sprint("draft ", n)
	if told.task == "verify" {
		answer, step = verdictOn(told.keep, told.draft), "verify"
	}
	_ = s.step(step, func(context.Context) error {
		content, _ := json.Marshal(answer)
		b, _ := json.Marshal(map[string]any{
			"choices": []any{map[string]any{"message": map[string]string{"content": string(content)}, "finish_reason": "stop"}},
			"usage":   map[string]int{"prompt_tokens": 100, "completion_tokens": 10},
		})
		w.Header().Set("Content-Length", strconv.Itoa(len(b)))
		_, _ = w.Write(b)
		return http.NewResponseController(w).Flush()
	})
}

// verdictOn says what a draft has, letter by letter.
func verdictOn(keep []abi.KeepItem, draft string) map[string]any {
	verdict, items := abi.VerdictYes, []map[string]string{}
	for _, k := range keep {
		item := map[string]string{"id": k.ID, "status": abi.StatusKept, "quote": k.Text}
		if !strings.Contains(draft, k.Text) {
			item["status"], item["quote"] = abi.StatusMissing, ""
			if k.Policy {
				verdict = abi.VerdictNo
			}
		}
		items = append(items, item)
	}
	return map[string]any{"items": items, "added": []string{}, "feedback": "", "verdict": verdict}
}

// killedPast is one round: six turns are said, and compressed.
type killedPast struct {
	*mortal
	t     *testing.T
	round int
	life  killedLife
	name  string // of the fork
	turns books.Range
	id    string
}

// policy is what the model goes by, and whose round it is.
func (k *killedPast) policy() string {
	return fmt.Sprintf("Keep the budget. Round %d, %s.", k.round, k.life.way)
}

func (k *killedPast) budget() string { return fmt.Sprintf("The budget is %d yen.", 4000+k.round) }

// play goes through a life, and looks at what is there after each step.
func (k *killedPast) play(point int) {
	k.t.Helper()
	k.turns = books.Range{From: uint64(6*k.round + 1), To: uint64(6*k.round + 6)}
	for _, text := range []string{"Good morning.", k.budget(), "It is warm.", "Shall we eat?", "Later, then.", "Yes."} {
		k.tell(text)
	}
	k.plan(point)
	for _, step := range k.life.steps {
		switch step {
		case "propose":
			k.proposes()
		case "approve", "deny", "revert", "extract":
			k.decides(step)
		case "redraft":
			k.redrafts()
		case "fork":
			k.forks()
		}
		if k.looks(); k.t.Failed() {
			return
		}
	}
	k.missed() // a life may be over before its turn comes to be killed
	if c := k.looks(); c.State != string(k.life.end) {
		k.t.Errorf("it is %s, not %s", c.State, k.life.end)
	}
	k.found("main")
	k.found(k.name)
	k.do("", "DELETE", "/v1/rooms/"+k.name, nil, nil, http.StatusNoContent)
}

// do asks the daemon until it is answered; again says that it was asked more than once. Of a step it is one that may be killed.
func (k *killedPast) do(step, method, path string, body, out any, want ...int) (again bool, status int) {
	k.t.Helper()
	for ; ; again = true {
		life, url, err := k.alive()
		if err != nil {
			k.t.Fatal(err)
		}
		var answer []byte
		call := func(ctx context.Context) error {
			b, _ := json.Marshal(body)
			req, err := http.NewRequestWithContext(ctx, method, url+path, bytes.NewReader(b))
			if err != nil {
				return err
			}
			if body != nil {
				req.Header.Set("Content-Type", "application/json")
			}
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				return err
			}
			defer resp.Body.Close()
			status = resp.StatusCode
			answer, err = io.ReadAll(resp.Body)
			return err
		}
		if step != "" {
			err = k.step(step, call)
		} else {
			ctx, cancel := context.WithTimeout(context.Background(), waittest.Long)
			err = call(ctx)
			cancel()
		}
		if err != nil {
			if err := k.outlived(life, err); err != nil {
				k.t.Fatalf("%s %s: %v", method, path, err)
			}
			continue
		}
		if again {
			want = append(want, http.StatusConflict) // it was done, and nobody was told
		}
		if !slices.Contains(want, status) {
			k.t.Fatalf("%s %s: %d %s", method, path, status, answer)
		}
		if out != nil && status < 300 {
			if err := json.Unmarshal(answer, out); err != nil {
				k.t.Fatalf("%s %s: %v: %s", method, path, err, answer)
			}
		}
		return again, status
	}
}

func (k *killedPast) proposes() {
	var c past.Compression
	body := map[string]any{"turns": k.turns.String(), "policy": k.policy(), "target_length": 200}
	if k.life.way == "own" {
		body["text"] = "much"
	}
	if _, status := k.do("propose", "POST", "/v1/rooms/main/compressions", body, &c, http.StatusCreated); status == http.StatusConflict {
		c = k.asked()
	}
	k.id = c.ID
}

// redrafts sends a draft once the one before was refused. Where it was written down and nobody was told, a further one is a
// conflict, or, when it was verified by then, too late.
func (k *killedPast) redrafts() {
	for end := time.Now().Add(waittest.Long); ; time.Sleep(5 * time.Millisecond) {
		c := k.looks()
		if len(c.Drafts) == 1 && c.Verifying == nil {
			break
		}
		if len(c.Drafts) > 1 || c.State != string(books.BeingDrafted) || time.Now().After(end) {
			k.t.Fatalf("a draft is to be sent, and it is %+v", c)
		}
	}
	k.do("redraft", "POST", "/v1/rooms/main/compressions/"+k.id+"/drafts", map[string]any{"text": k.budget()}, nil, http.StatusCreated)
}

// asked gives the one compression that was asked for in this round.
func (k *killedPast) asked() (found past.Compression) {
	var all struct{ Compressions []past.Compression }
	k.do("", "GET", "/v1/rooms/main/compressions", nil, &all, http.StatusOK)
	n := 0
	for _, c := range all.Compressions {
		if c.Policy == k.policy() {
			found = c
			n++
		}
	}
	if n != 1 {
		k.t.Fatalf("it was asked for %d times: %+v", n, all)
	}
	return found
}

// decides has a person decide, once the model is done.
func (k *killedPast) decides(what string) {
	want := map[string]books.State{"approve": books.Offered, "deny": books.Offered, "revert": books.Approved, "extract": books.Refused}[what]
	k.until(want)
	k.do(what, "POST", "/v1/rooms/main/compressions/"+k.id+"/"+what, map[string]any{}, nil, http.StatusOK)
	is := map[string]books.State{"approve": books.Approved, "deny": books.Denied, "revert": books.Reverted, "extract": books.Offered}[what]
	if c := k.looks(); c.State != string(is) {
		k.t.Fatalf("%s was acknowledged, and it is %s", what, c.State)
	}
}

// until waits until it stands so.
func (k *killedPast) until(state books.State) {
	for end := time.Now().Add(waittest.Long); ; time.Sleep(5 * time.Millisecond) {
		c := k.looks()
		if c.State == string(state) {
			return
		}
		if c.State != string(books.BeingDrafted) || time.Now().After(end) {
			k.t.Fatalf("it is %s (%s), and should become %s", c.State, c.Why, state)
		}
	}
}

// looks looks whether how it stands, its drafts and what is told fit each other. What is told changes in the daemon's own time, so
// how it stands is looked at before and behind.
func (k *killedPast) looks() past.Compression {
	k.t.Helper()
	for {
		var c, again past.Compression
		k.do("", "GET", "/v1/rooms/main/compressions/"+k.id, nil, &c, http.StatusOK)
		told := k.told("main")
		k.do("", "GET", "/v1/rooms/main/compressions/"+k.id, nil, &again, http.StatusOK)
		if c.State != again.State {
			continue
		}
		k.fits(c, told)
		return c
	}
}

func (k *killedPast) fits(c past.Compression, told []string) {
	k.t.Helper()
	texts, verdicts := []string{}, ""
	for i, d := range c.Drafts {
		texts, verdicts = append(texts, d.Content), verdicts+d.Verdict+" "
		if d.N != i+1 {
			k.t.Errorf("draft %d is the one behind %d", d.N, i)
		}
	}
	may := map[books.State][]string{
		books.BeingDrafted: {"", "NO ", "NO NO "}, books.Refused: {"NO NO NO "}, books.Denied: {"YES "},
		books.Offered: {"YES ", "NO YES ", "NO NO NO YES "}, books.Approved: {"NO YES ", "NO NO NO YES "}, books.Reverted: {"NO YES "},
	}[books.State(c.State)]
	if !slices.Contains(may, verdicts) {
		k.t.Errorf("it is %s with the drafts %q, %s", c.State, texts, verdicts)
	}
	want := k.original()
	if c.State == string(books.Approved) {
		want = texts[len(texts)-1:]
	}
	if !slices.Equal(told, want) {
		k.t.Errorf("it is %s, and the turns are told as %q", c.State, told)
	}
}

func (k *killedPast) original() (texts []string) {
	var out struct{ Turns []abi.PastTurn }
	k.do("", "GET", "/v1/rooms/main/turns?original=true&turns="+k.turns.String(), nil, &out, http.StatusOK)
	for _, t := range out.Turns {
		texts = append(texts, t.Text)
	}
	if len(texts) != 6 || texts[1] != k.budget() {
		k.t.Fatalf("the turns are %q", texts)
	}
	return texts
}

func (k *killedPast) told(room string) (texts []string) {
	var out struct{ Turns []abi.PastTurn }
	k.do("", "GET", "/v1/rooms/"+room+"/turns?turns="+k.turns.String(), nil, &out, http.StatusOK)
	for _, t := range out.Turns {
		texts = append(texts, t.Text)
	}
	return texts
}

// forks forks the room where it is. A fork that was begun is there with all its past, or not at all; then it is made again.
func (k *killedPast) forks() {
	if k.life.end != books.Reverted && k.life.way != "own" { // there it is forked behind the approval
		k.until(books.Offered)
	}
	k.do("fork", "POST", "/v1/rooms/main/forks", map[string]any{"name": k.name}, nil, http.StatusCreated)
	if got, want := k.told(k.name), k.told("main"); !slices.Equal(got, want) {
		k.t.Errorf("the fork is told %q, and the room %q", got, want)
	}
	var all struct {
		Branches []struct {
			Name, Of    string
			Turn, Turns uint64
		}
	}
	k.do("", "GET", "/v1/rooms/main/branches", nil, &all, http.StatusOK)
	n := 0
	for _, b := range all.Branches {
		if b.Name == k.name && b.Of == "main" && b.Turn == k.turns.To && b.Turns == b.Turn {
			n++
		}
	}
	if n != 1 || len(all.Branches) != k.round+2 {
		k.t.Errorf("the family is %+v", all)
	}
}

// found looks for what was said.
func (k *killedPast) found(room string) {
	for end := time.Now().Add(waittest.Long); ; time.Sleep(10 * time.Millisecond) {
		var out struct {
			Hits []struct{ Message abi.Message }
		}
		k.do("", "GET", "/v1/rooms/"+room+"/search?q="+url.QueryEscape(strconv.Quote(fmt.Sprint(4000+k.round))), nil, &out, http.StatusOK)
		if len(out.Hits) == 1 {
			return
		}
		if len(out.Hits) > 1 || time.Now().After(end) {
			k.t.Errorf("in %s is found %+v", room, out)
			return
		}
	}
}
