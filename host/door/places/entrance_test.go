package places_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/companiond/companiond/host/door/places"
	"github.com/companiond/companiond/host/rooms"
)

// TestEntrance: whoever is in is waited for, and nobody comes in who was refused a place, or when it
// is shut.
func TestEntrance(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var e places.Entrance
		house := places.New(places.Config{What: "seats", Total: 2})
		take := func() (*places.Place, error) { return house.Take("a", nil) }
		first, err := e.Enter(take)
		if err != nil {
			t.Fatal(err)
		}
		full := errors.New("full")
		if _, err := e.Enter(func() (*places.Place, error) { return nil, full }); err != full || e.In() != 1 {
			t.Errorf("%v, %d are in", err, e.In())
		}
		e.Shut()
		if _, err := e.Enter(take); err != error(rooms.ErrStopping) {
			t.Errorf("it is shut: %v", err)
		}
		brief, cancel := context.WithCancel(t.Context())
		cancel()
		if err := e.Empty(brief); !errors.Is(err, context.Canceled) {
			t.Errorf("one is in: %v", err)
		}
		empty := make(chan error, 1)
		go func() { empty <- e.Empty(t.Context()) }()
		synctest.Wait()
		if len(empty) > 0 {
			t.Error("it is empty with one in")
		}
		e.Leave(first)
		if err := <-empty; err != nil || e.In() != 0 {
			t.Errorf("%v, %d are in", err, e.In())
		}
	})
}
