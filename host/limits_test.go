package host_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/journal/sqlite"

	"github.com/companiond/companiond/host/waittest"
)

// vendor is a language model for tests that listens in every vote and has one line for all. It
// notes when it was asked, and which of the numbered questions it was told for each line.
type vendor struct {
	takes time.Duration
	cast  []string // names of the characters; nil: three of them

	mu    sync.Mutex
	over  int // answers that are 429 still
	wait  string
	asked []time.Time
	votes int
	told  map[string]map[string]bool // by who is asked for a line
}

var question = regexp.MustCompile(`question [0-9]+`)

func (v *vendor) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	text := string(body)
	v.mu.Lock()
	v.asked = append(v.asked, time.Now())
	if v.over > 0 {
		v.over--
		v.mu.Unlock()
		w.Header().Set("Retry-After", v.wait)
		w.WriteHeader(http.StatusTooManyRequests)
		return
	}
	answer := "Hello to all of you."
	if strings.Contains(text, "Asked for: a decision") {
		v.votes++
		answer = `{"state":"listen","importance":2,"closing":"none","reason":"not mine"}`
	} else {
		for _, who := range []string{"Aya", "Ben", "Eri"} {
			if strings.Contains(text, "You are "+who+", in a room") {
				if v.told[who] == nil {
					v.told[who] = map[string]bool{}
				}
				for _, q := range question.FindAllString(text, -1) {
					v.told[who][q] = true
				}
			}
		}
	}
	v.mu.Unlock()
	time.Sleep(v.takes)
	w.Header().Set("Content-Type", "application/json")
	content, _ := json.Marshal(answer)
	fmt.Fprintf(w, `{"choices":[{"index":0,"message":{"role":"assistant","content":%s},"finish_reason":"stop"}],"usage":{"prompt_tokens":100,"completion_tokens":10}}`, content)
}

func (v *vendor) calls() []time.Time {
	v.mu.Lock()
	defer v.mu.Unlock()
	return slices.Clone(v.asked)
}

// openVendor opens a house of three characters who think with it.
func openVendor(t *testing.T, v *vendor, settings string) *home {
	t.Helper()
	h := newHome(t)
	h.openVendor(v)(settings)
	return h
}

// openVendor gives what opens it.
func (h *home) openVendor(v *vendor) (open func(settings string)) {
	h.t.Helper()
	v.told = map[string]map[string]bool{}
	server := httptest.NewServer(v)
	h.t.Cleanup(server.Close)
	if v.cast == nil {
		v.cast = []string{"Aya", "Ben", "Eri"}
	}
	for _, name := range v.cast {
		h.save(strings.ToLower(name)+".json", fmt.Appendf(nil, `{"name":%q,"personality":"x","role":"x"}`, name))
	}
	return func(settings string) {
		h.open("[memory]\nby = \"rules\"\n[room.main]\nmax_turns = 1\nsilence = \"0s\"\npatience = \"5s\"\n[model.main]\nurl = \"" + server.URL + "\"\nmodel = \"tiny\"\n" + settings)
	}
}

// TestRetryAfter: an endpoint that asks to be left alone is, and then the question is answered;
// also where the daemon was killed in between.
func TestRetryAfter(t *testing.T) {
	waittest.WithoutRaces(t)
	v := &vendor{over: 1, wait: "2", cast: []string{"Aya"}} // whoever is asked at the same time is no second try
	h := openVendor(t, v, "retries = 0\n")
	seq := h.say("main", "taro", "Aya, are you there?")
	h.until("Aya answers", func() bool { return len(h.messages("main")) == 2 })
	if m := h.messages("main")[1]; m.From != "aya" {
		t.Errorf("%+v", m)
	}
	before := v.calls()
	if wait := before[1].Sub(before[0]); wait < 2*time.Second {
		t.Errorf("asked again after %v", wait)
	}
	if why := h.why("main", seq); !strings.Contains(why, "rate limited, asked to wait 2s") {
		t.Errorf("why does not say it:\n%s", why)
	}
	t.Logf("asked again after %v", before[1].Sub(before[0]))
	h.replay("main")
}

// TestBoundsOfADay: what is spent counts after a restart, also for a bound that was not there before; who is waited for is answered when the
// others listen already, and why says which bound it is.
func TestBoundsOfADay(t *testing.T) {
	waittest.WithoutRaces(t)
	v := &vendor{}
	var said strings.Builder
	var mu sync.Mutex
	const settings = "calls_minute = 0\ncalls_day = 9\n"
	h := newHome(t)
	h.log = slog.New(slog.NewTextHandler(locked{&mu, &said}, nil))
	open := h.openVendor(v)
	open("calls_minute = 0\n")
	votes := func() int { v.mu.Lock(); defer v.mu.Unlock(); return v.votes }
	h.say("main", "taro", "What a day.")
	h.until("all are asked", func() bool { return votes() == 3 })
	h.until("it is decided", func() bool { return h.info("main").State == "resting" })
	h.say("main", "taro", "It rains.")
	h.until("all are asked", func() bool { return votes() == 6 })
	h.until("it is decided", func() bool { return h.info("main").State == "resting" })
	h.stop()
	open(settings)
	seq := h.say("main", "taro", "It rains again.")
	h.until("they listen", func() bool { return strings.Contains(h.why("main", seq), "model.main.calls_day: 9 a day are used up") })
	if n := votes(); n != 6 {
		t.Errorf("%d votes were asked", n)
	}
	h.say("main", "taro", "Aya, are you there?")
	h.until("Aya answers", func() bool { m := h.messages("main"); return m[len(m)-1].From == "aya" })
	h.stop()
	mu.Lock()
	defer mu.Unlock()
	if n := strings.Count(said.String(), "a bound on calls of models is reached"); n != 1 {
		t.Errorf("the log says it %d times:\n%s", n, said.String())
	}
}

// locked is a writer for several goroutines.
type locked struct {
	mu *sync.Mutex
	w  io.Writer
}

func (l locked) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(b)
}

// TestFloodOfAChat: 10,000 messages of a chat within about ten seconds cost no more calls than
// are configured, and the 30 that call a character by name are answered by lines that were told
// them.
func TestFloodOfAChat(t *testing.T) {
	waittest.WithoutRaces(t)
	if testing.Short() {
		t.Skip("10,000 messages")
	}
	v := &vendor{takes: 300 * time.Millisecond}
	h := openVendor(t, v, "")
	const messages, calls = 10_000, 30
	var all sync.WaitGroup
	next := make(chan string)
	begun := time.Now()
	for range 8 {
		all.Go(func() {
			for body := range next {
				if status, answer := h.ask("POST", "/v1/rooms/main/messages", body); status != http.StatusCreated {
					t.Errorf("%d %s", status, answer)
					return
				}
			}
		})
	}
	asked := 0
	for n := range messages {
		text := fmt.Sprintf("w %d", n)
		if n%(messages/calls) == 100 && asked < calls {
			text = fmt.Sprintf("%s, question %d?", []string{"Aya", "Ben", "Eri"}[asked%3], n)
			asked++
		}
		next <- fmt.Sprintf(`{"from":"viewer%d","text":%q,"source":"chat"}`, n, text)
		time.Sleep(time.Until(begun.Add(time.Duration(n) * time.Millisecond)))
	}
	close(next)
	all.Wait()
	took := time.Since(begun)
	during := len(v.calls())
	h.until("all are answered", func() bool { s := h.info("main").State; return s == "resting" || s == "capped" || s == "closed" }) // their lines are alike, which may end the talk
	h.replay("main")
	es := readAll(t, h)
	answers, lines := covered(t, es, v)
	at := v.calls()
	most := 0
	for i, from := range at {
		n := len(at[i:])
		for j, to := range at[i:] {
			if to.Sub(from) >= time.Minute {
				n = j
				break
			}
		}
		most = max(most, n)
	}
	t.Logf("%d messages in %v: %d calls within, %d in all (%d votes), at most %d in a minute; %d of %d answered by %d lines; %d entries",
		messages, took.Round(time.Millisecond), during, len(at), v.votes, most, answers, asked, lines, len(es))
	if answers != asked || most > 120 {
		t.Error("that is too few answers, or too many calls")
	}
}

// readAll reads the journal of a house that is closed.
func readAll(t *testing.T, h *home) (all []entry.Entry) {
	t.Helper()
	j, err := sqlite.OpenReadOnly(filepath.Join(h.dir, "state", "companiond.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	for {
		var after uint64
		if len(all) > 0 {
			after = all[len(all)-1].Seq
		}
		es, err := j.Read(context.Background(), "main", after, 1000)
		if err != nil {
			t.Fatal(err)
		}
		if len(es) == 0 {
			return all
		}
		all = append(all, es...)
	}
}

// covered counts the questions that were answered: by a line whose basis is behind it, of whom it
// calls, who was told it.
func covered(t *testing.T, es []entry.Entry, v *vendor) (answers, lines int) {
	t.Helper()
	var said []entry.Said
	type asked struct {
		seq  uint64
		body entry.Said
	}
	var questions []asked
	for _, e := range es {
		if e.Kind != entry.KindSaid {
			continue
		}
		b, err := entry.Decode[entry.Said](e)
		if err != nil {
			t.Fatal(err)
		}
		if b.By == abi.KindCompanion {
			said = append(said, b)
		} else if question.MatchString(b.Text) {
			questions = append(questions, asked{e.Seq, b})
		}
	}
	for _, q := range questions {
		who, text, _ := strings.Cut(q.body.Text, ", ")
		ok := slices.ContainsFunc(said, func(l entry.Said) bool { return l.Basis >= q.seq && l.From == strings.ToLower(who) })
		if ok && v.told[who][strings.TrimSuffix(text, "?")] {
			answers++
		} else {
			t.Logf("#%d %q: a line came %v, it was told %v", q.seq, q.body.Text, ok, v.told[who][strings.TrimSuffix(text, "?")])
		}
	}
	return answers, len(said)
}
