package perception_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/card"
	"github.com/companiond/companiond/host/perception"
)

// TestFilter is asked about all that fits the card, before it is said, kept or put into its queue, and about nothing else;
// it is taken as it was left.
func TestFilter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, 0)
		var asked []string
		h.filter = func(companion string, p abi.Percept) (abi.Percept, error) {
			asked = append(asked, fmt.Sprintf("%s %s %s from %s", companion, p.Title, p.Body, p.From))
			if string(p.Body) == `"no"` {
				return p, abi.Errorf(abi.CodeDenied, "refused by ngword: no")
			}
			p.Body = []byte(`"changed"`)
			return p, nil
		}
		defer h.run()()
		h.must(t, text("news", "x"))
		synctest.Wait()
		if said := h.must(t, text("input", "hello")); said.State != perception.StateSaid || said.Message.Text != "changed" {
			t.Errorf("%+v", said)
		}
		for _, p := range []card.Percept{text("news", "no"), text("input", "no")} {
			if _, err := h.Offer(context.Background(), "nikoni", p, "cam"); abi.CodeOf(err) != abi.CodeDenied {
				t.Errorf("%s: %v", p.Title, err)
			}
		}
		if _, err := h.Offer(context.Background(), "nikoni", text("smell", "x"), "cam"); abi.CodeOf(err) != abi.CodeNotFound {
			t.Error(err)
		}
		if got := h.bodies(); !slices.Equal(got, []string{`"changed"`}) {
			t.Errorf("perceived %q", got)
		}
		want := []string{`nikoni news "x" from cam`, `nikoni input "hello" from cam`, `nikoni news "no" from cam`, `nikoni input "no" from cam`}
		if !slices.Equal(asked, want) {
			t.Errorf("asked %q", asked)
		}
		h.expect(t, map[string]int{"taken": 1, "judged": 1, "said": 1, "refused": 3})
	})
}

// TestAFullQueueAsksNobody: what is not taken anyway costs no handler's time, and what a person says is asked about however
// much waits.
func TestAFullQueueAsksNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, 2)
		h.takes = time.Minute
		asked := 0
		h.filter = func(_ string, p abi.Percept) (abi.Percept, error) {
			asked++
			return p, nil
		}
		defer h.run()()
		h.must(t, text("news", "is judged"))
		synctest.Wait()
		for n := range 2 {
			h.must(t, text("news", fmt.Sprint(n)))
		}
		for _, p := range []card.Percept{text("news", "too much"), gift(7), object("vision", `{"x":1}`)} {
			var full *perception.Full
			if _, err := h.Offer(context.Background(), "nikoni", p, "cam"); abi.CodeOf(err) != abi.CodeExhausted || !errors.As(err, &full) {
				t.Errorf("%s: %v", p.Title, err)
			}
		}
		if asked != 3 {
			t.Errorf("the filter was asked %d times", asked)
		}
		h.must(t, text("input", "hello"))
		if asked != 4 {
			t.Errorf("with what is said, the filter was asked %d times", asked)
		}
		h.expect(t, map[string]int{"taken": 3, "said": 1, "refused": 3, "waiting": 3})
	})
}
