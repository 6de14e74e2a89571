package host_test

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
)

// Talks of chat-relay's agents on the versions of their SDK, with the seed's prompt
// alone and with a model that heeds the texts of the tools as well. Two things went
// wrong there: a talk fell silent while somebody had not seen all of it, and a line
// was taken that its speaker had thought of something else.

// agentsWay is how the agents of a talk connect and what their model goes by.
type agentsWay struct {
	on    agentsOn
	heeds bool // the tools' own texts: it says who reads, and what its line is about
}

var agentsWays = []agentsWay{{aiSDK6, false}, {aiSDK6, true}, {aiSDK7, false}, {aiSDK7, true}}

func (w agentsWay) String() string {
	if w.heeds {
		return w.on.name + ", tool texts"
	}
	return w.on.name + ", the seed's prompt"
}

// settings are those of the agents.
func (w agentsWay) settings(seed int, least, most time.Duration) []string {
	s := []string{fmt.Sprint("SEED=", seed), fmt.Sprint("MODEL_MS_MIN=", least.Milliseconds()), fmt.Sprint("MODEL_MS_MAX=", most.Milliseconds())}
	if w.heeds {
		s = append(s, "HEEDS=1")
	}
	return s
}

// talked is what a talk came to.
type talked struct {
	lines, turns int // of agents
	stale        int // lines said behind a turn of somebody else that the speaker had not read
	unseen       string
	events       []agentEvent
	quiet        time.Duration // for how long somebody had nothing to do and had not seen everything, at the end
}

// silent says whether the talk fell silent for good: the pauses between two notices
// double while nobody speaks, and a busy agent misses one.
func (r talked) silent() bool { return r.quiet >= simQuiet }

// talkLine is a line of a talk.
type talkLine struct {
	entry.Said
	at time.Time
}

// talkingAgent is an agent as its events tell of it.
type talkingAgent struct {
	read  int // lines of the talk
	spoke int // lines of its own
	idle  bool
	since time.Time // it is so
}

// judgeTalk looks at a talk of agents that is over. What they read they tell
// themselves, what was said is in the journal.
func (h *home) judgeTalk(events []agentEvent) (r talked) {
	h.t.Helper()
	var lines []talkLine
	of := map[string][]int{} // the lines of each
	for _, e := range h.entries("main") {
		var s entry.Said
		if e.Kind != entry.KindSaid || json.Unmarshal(e.Body, &s) != nil {
			continue
		}
		of[s.From] = append(of[s.From], len(lines))
		lines = append(lines, talkLine{s, e.At})
		if s.By == abi.KindAgent {
			r.lines++
			if s.Kind == abi.KindTurn {
				r.turns++
			}
		}
	}
	r.events = events
	agents := map[string]*talkingAgent{}
	var end time.Time
	for _, e := range events {
		end = time.UnixMilli(e.T)
		if agents[e.Who] == nil {
			agents[e.Who] = &talkingAgent{}
		}
		a := agents[e.Who]
		switch {
		case e.Event == "error":
			h.t.Errorf("%s: %s", e.Who, e.Error)
		case e.Event == "generate-start", e.Event == "generate-end":
			a.idle, a.since = e.Event == "generate-end", end
		case e.Event == "read":
			a.read = e.Messages
		case e.Event == "consume" && e.Success:
			i := of[e.Who][a.spoke]
			a.spoke++
			if slices.ContainsFunc(lines[min(a.read, i):i], func(l talkLine) bool { return l.Kind == abi.KindTurn && l.From != e.Who }) {
				r.stale++
			}
		}
	}
	for who, a := range agents {
		if quiet := a.quiet(who, lines, end); quiet > r.quiet {
			r.quiet, r.unseen = quiet, who
		}
	}
	return r
}

// quiet gives for how long an agent had nothing to do at the end and had not seen
// everything.
func (a *talkingAgent) quiet(who string, lines []talkLine, end time.Time) time.Duration {
	unread := lines[min(a.read, len(lines)):]
	i := slices.IndexFunc(unread, func(l talkLine) bool { return l.From != who })
	if !a.idle || i < 0 {
		return 0
	}
	since := a.since
	if unread[i].at.After(since) {
		since = unread[i].at
	}
	return end.Sub(since)
}

// talk lets agents talk and judges them.
func (w agentsWay) talk(t *testing.T, d time.Duration, enough func(agentEvent) bool, settings []string) talked {
	t.Helper()
	h := newHome(t)
	h.open("[room.main]\npolicy = \"pool\"\n")
	events := h.runAgentsOn(w.on, d, "こんにちは!あなたたちは誰ですか?", enough, settings...)
	return h.judgeTalk(events)
}

// staleIs says whether a stale line is a fault: the seed's prompt alone does not tell
// a model to say who reads, and without a session nobody else does.
func (w agentsWay) staleIs() bool { return w.heeds || w.on.dir == agentsDir }

// TestTalks: a talk goes on until there are a dozen lines, or nobody wants to say more
// who has seen everything, however the agents connect.
func TestTalks(t *testing.T) {
	if testing.Short() {
		t.Skip("a talk takes half a minute")
	}
	for _, way := range agentsWays {
		t.Run(way.String(), func(t *testing.T) {
			way.on.needs(t)
			t.Parallel()
			const wanted = 12
			lines := 0
			r := way.talk(t, simQuiet+5*time.Second, func(e agentEvent) bool {
				if e.Event == "consume" && e.Success {
					lines++
				}
				return lines == wanted
			}, way.settings(2, 50*time.Millisecond, 400*time.Millisecond))
			t.Logf("%+v", r)
			if r.silent() || lines == 0 {
				t.Errorf("fell silent after %d lines: %s had not seen everything for %v", lines, r.unseen, r.quiet)
			}
			if r.stale > 0 && way.staleIs() {
				t.Errorf("%d lines were taken whose speakers had not read the newest turn", r.stale)
			}
		})
	}
}

// TestSlowTalks lets models think for 0.3 to 3 s a step, in talks of a minute:
// COMPANIOND_TALKS says how many of each.
func TestSlowTalks(t *testing.T) {
	talks, err := strconv.Atoi(os.Getenv("COMPANIOND_TALKS"))
	if err != nil {
		t.Skip("takes minutes: COMPANIOND_TALKS says how many talks of each")
	}
	for _, way := range agentsWays {
		t.Run(way.String(), func(t *testing.T) {
			way.on.needs(t)
			t.Parallel()
			var mu sync.Mutex
			var all []talked
			t.Cleanup(func() {
				silent, stale, lines, turns := 0, 0, 0, 0
				for _, r := range all {
					lines, turns, stale = lines+r.lines, turns+r.turns, stale+r.stale
					if r.silent() {
						silent++
					}
				}
				t.Logf("%s: %d talks, %d turns and %d backchannels; fell silent %d, stale lines %d", way, len(all), turns, lines-turns, silent, stale)
			})
			for i := range talks {
				t.Run(fmt.Sprint(i+1), func(t *testing.T) {
					t.Parallel()
					r := way.talk(t, time.Minute, nil, way.settings(i+1, 300*time.Millisecond, 3*time.Second))
					mu.Lock()
					all = append(all, r)
					mu.Unlock()
					if r.silent() {
						t.Errorf("fell silent: %s had not seen everything for %v", r.unseen, r.quiet)
						for _, e := range r.events[:min(len(r.events), 120)] {
							t.Logf("%+v", e)
						}
					}
					if r.stale > 0 && way.staleIs() {
						t.Errorf("%d of %d lines were taken whose speakers had not read the newest turn", r.stale, r.lines)
					}
				})
			}
		})
	}
}
