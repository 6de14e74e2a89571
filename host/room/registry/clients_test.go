package registry_test

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/journal/memory"
	"github.com/companiond/companiond/host/room/reader"
	"github.com/companiond/companiond/host/rooms"
	"pgregory.net/rapid"
)

// act is what a client does next.
type act struct {
	What string
	Room int
}

// acts are what clients do; "say2" sends a message twice.
var acts = []string{"say", "say", "say", "say", "say", "say2", "open", "open", "archive", "list"}

// client opens rooms, talks there and closes them, and remembers what it was told.
type client struct {
	h     *house
	name  string
	n     int
	kept  []string // texts that were acknowledged
	wrong []string
}

func roomName(n int) string { return fmt.Sprint("room", n) }

// do does something, whoever else does what to the same room at the time.
func (c *client) do(a act) {
	ctx, name := context.Background(), roomName(a.Room)
	var err error
	switch a.What {
	case "open":
		err = c.h.open(name, rooms.Owner{Name: c.name, Admin: true}, `{"companions":["aya"]}`)
	case "archive":
		err = c.h.Archive(ctx, name, rooms.Owner{Name: c.name, Admin: true})
	case "list":
		_, err = c.h.List(ctx, "", 100)
	default:
		c.n++
		text := fmt.Sprintf("%s/%s/%d", name, c.name, c.n)
		for range len(a.What) - len("say") + 1 {
			err = c.say(ctx, name, text)
			if err == nil && !slices.Contains(c.kept, text) {
				c.kept = append(c.kept, text)
			}
		}
	}
	switch code := abi.CodeOf(err); {
	case err == nil, code == abi.CodeNotFound, code == abi.CodeDenied, code == abi.CodeConflict:
	case code == abi.CodeUnavailable && !strings.Contains(err.Error(), "stopping"):
	default:
		c.wrong = append(c.wrong, fmt.Sprintf("%+v: %v", a, err))
	}
}

func (c *client) say(ctx context.Context, name, text string) error {
	talk, err := c.h.Room(ctx, name)
	if err != nil {
		return err
	}
	m, err := talk.Say(ctx, rooms.Utterance{From: c.name, Text: text, ID: strings.ReplaceAll(text, "/", ".")})
	if err == nil && m.Text != text {
		return fmt.Errorf("%q was said, not %q", m.Text, text)
	}
	return err
}

// TestClientsComeAndGo has eight clients open and close rooms while they and others
// talk there, companions come and go, rooms fall asleep at every occasion, and the
// journal is away now and then. No message is lost, said twice, or said elsewhere,
// also not over a restart.
func TestClientsComeAndGo(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		scripts := rapid.SliceOfN(rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) act {
			return act{rapid.SampledFrom(acts).Draw(rt, "what"), rapid.IntRange(0, 3).Draw(rt, "room")}
		}), 10, 60), 8, 8).Draw(rt, "scripts")
		h := newHouse(t, settings("main", "*"))
		h.config.Room.Idle = time.Microsecond
		h.run()
		defer func() { h.end() }()
		clients := make([]*client, len(scripts))
		for i := range 4 {
			if err := h.open(roomName(i), mine, `{"companions":["aya"]}`); err != nil && i < h.config.MaxRooms {
				rt.Fatal(err)
			}
		}
		var busy, beside sync.WaitGroup
		for i, script := range scripts {
			clients[i] = &client{h: h, name: fmt.Sprint("client", i)}
			busy.Go(func() {
				for _, a := range script {
					clients[i].do(a)
				}
			})
		}
		over := make(chan struct{})
		beside.Go(func() { h.disturb(over) })
		busy.Wait()
		close(over)
		beside.Wait()
		h.end()
		h.run()
		h.meet("aya")
		for _, c := range clients {
			if len(c.wrong) > 0 {
				rt.Fatalf("%s was told %q", c.name, c.wrong)
			}
		}
		h.audit(rt, clients)
	})
}

// disturb lets companions come and go, and the journal be away, until it is over.
func (h *house) disturb(over <-chan struct{}) {
	j := h.journal.(*memory.Journal)
	for i := 0; ; i++ {
		switch i % 3 {
		case 0:
			h.meet("aya")
		case 1:
			j.Fail(journal.ErrUnavailable)
			runtime.Gosched()
			j.Fail(nil)
		case 2:
			h.meet()
		}
		select {
		case <-over:
			return
		case <-time.After(time.Millisecond):
		}
	}
}

// audit compares what was acknowledged with what is in the journal.
func (h *house) audit(t *rapid.T, clients []*client) {
	heads := map[string]int{} // how often each line was said
	rooms, err := h.List(context.Background(), "", 100)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rooms {
		ms, _, err := h.room(r.Name).Messages(context.Background(), 0, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range ms {
			if m.From == "aya" {
				if !strings.HasPrefix(m.Text, r.Name+" heard "+r.Name+"/") {
					t.Fatalf("in %s aya said %q", r.Name, m.Text)
				}
				continue
			}
			heads[m.Text]++
			if !strings.HasPrefix(m.Text, r.Name+"/"+m.From+"/") || heads[m.Text] > 1 {
				t.Fatalf("in %s %s said %q, the %dth time", r.Name, m.From, m.Text, heads[m.Text])
			}
		}
		if info, row := h.room(r.Name).Info(), h.row(r.Name); row.Archived && info.State != "archived" {
			t.Fatalf("room %s is %s, and the index has archived %v", r.Name, info.State, row.Archived)
		}
		if got, err := reader.Replay(context.Background(), h.journal, r.Name); err != nil || got.Diff != nil || got.Folded > 0 {
			t.Fatalf("room %s: %+v %v", r.Name, got, err)
		}
	}
	for _, c := range clients {
		for _, text := range c.kept {
			if heads[text] != 1 {
				t.Fatalf("%q was acknowledged, and is there %d times", text, heads[text])
			}
		}
	}
}
