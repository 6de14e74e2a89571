package socket_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"pgregory.net/rapid"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
)

// happening is an entry and what nikoni's body is to see of it, "" for nothing.
type happening struct {
	kind entry.Kind
	body any
	sees string
}

// happenings draws what may happen in a room.
func happenings(t *rapid.T, n int, label string) []happening {
	all := make([]happening, n)
	for i := range all {
		who := rapid.SampledFrom([]string{"nikoni", "aya", "mika"}).Draw(t, label+" who")
		text := fmt.Sprintf("%s %d", label, i)
		h := happening{sees: "speak " + text}
		switch rapid.IntRange(0, 6).Draw(t, label+" what") {
		case 0:
			h = happening{kind: entry.KindAction, body: entry.Action{ID: text, Who: who, Action: "move", Parameters: json.RawMessage(`{}`)}, sees: "move " + text}
		case 1:
			h.kind, h.body = entry.KindSegment, entry.Segment{Who: who, N: 1, Text: text}
		case 2:
			h.kind, h.body = entry.KindSaid, line(who, text)
		case 3: // its segments were shown
			said := line(who, text)
			said.Segments = 1
			h = happening{kind: entry.KindSaid, body: said}
		case 4: // somebody takes a companion's name
			said := line(who, text)
			said.By = abi.KindHuman
			h = happening{kind: entry.KindSaid, body: said}
		case 5:
			h = happening{kind: entry.KindResult, body: entry.Done{Who: who, Result: abi.Result{ID: text}}}
		case 6:
			h = happening{kind: entry.KindVote, body: entry.Voted{Voter: who}}
		}
		if who != "nikoni" {
			h.sees = ""
		}
		all[i] = h
	}
	return all
}

// seen is a frame of either kind.
type seen struct {
	Type       string
	Method     string
	Result     *struct{}
	Seq        uint64
	ID         any
	Action     string
	Parameters struct{ Message string }
}

// resuming is a body that comes back with the seq it saw last, until it has seen
// the entry with seq last. It gives what it saw, "seq action text" each.
func resuming(s *bodies, cut *cutter, reference bool, since, last uint64) (all []string) {
	for since < last {
		path := fmt.Sprintf("/v1/actions?companion=nikoni&since=%d", since)
		if reference {
			path = fmt.Sprintf("/?since=%d", since)
		}
		d := websocket.Dialer{NetDialContext: cut.Dial}
		c, _, err := d.Dial("ws://localhost"+path, nil)
		if err != nil {
			continue
		}
		if reference {
			_ = c.WriteMessage(websocket.TextMessage, []byte(`{"jsonrpc":"2.0","id":1,"method":"subscribe","params":{"sessionId":"abc"}}`))
		}
		subscribed := !reference
		for since < last {
			_, frame, err := c.ReadMessage()
			if err != nil {
				break
			}
			var f seen
			if err := json.Unmarshal(frame, &f); err != nil {
				s.Fatal(err)
			}
			switch {
			case f.Result != nil:
				subscribed = true
				continue
			case !subscribed && f.Type == "newMessage":
				continue
			}
			if f.Action == "" { // a word about a line
				since = f.Seq
				continue
			}
			text := f.Parameters.Message
			if f.Action != "speak" {
				text, _ = f.ID.(string)
			}
			all = append(all, fmt.Sprintf("%d %s %s", f.Seq, f.Action, text))
			since = f.Seq
		}
		_ = c.Close()
	}
	return all
}

// However often and wherever the line breaks, a body that comes back with since
// sees everything its companion does, once and in order, at either socket.
func TestBodiesMissNothingAndSeeNothingTwice(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		before := happenings(rt, rapid.IntRange(0, 30).Draw(rt, "before"), "before")
		during := happenings(rt, rapid.IntRange(0, 40).Draw(rt, "during"), "during")
		during = append(during, happening{entry.KindAction, entry.Action{ID: "end", Who: "nikoni", Action: "move", Parameters: json.RawMessage(`{}`)}, "move end"})
		seen := rapid.IntRange(0, len(before)).Draw(rt, "since")
		batch := rapid.IntRange(1, 20).Draw(rt, "batch")
		cuts := rapid.SliceOfN(rapid.IntRange(0, 2000), 0, 12).Draw(rt, "cuts")
		reference := rapid.Bool().Draw(rt, "reference")
		pause := time.Duration(rapid.IntRange(0, 200).Draw(rt, "pause")) * time.Millisecond
		all := slices.Concat(before, during)
		var want, got []string
		onBodies(t, nil, func(s *bodies) {
			s.room.Wake() // else what comes first says whose it is
			start := len(s.room.Journal())
			for i, h := range all {
				if i >= seen && h.sees != "" {
					want = append(want, fmt.Sprintf("%d %s", start+i+1, h.sees))
				}
			}
			s.set(func() { s.sessions["abc"] = "nikoni of " })
			s.room.Batch(batch)
			for _, h := range before {
				s.room.Append(h.kind, h.body)
			}
			var talk sync.WaitGroup
			talk.Go(func() {
				for _, h := range during {
					time.Sleep(pause)
					s.room.Append(h.kind, h.body)
				}
			})
			got = resuming(s, &cutter{dial: s.pipe.Dial, cuts: slices.Clone(cuts)}, reference, uint64(start+seen), uint64(start+len(all)))
			talk.Wait()
		})
		if !slices.Equal(got, want) {
			rt.Fatalf("saw  %q\nwant %q", got, want)
		}
	})
}
