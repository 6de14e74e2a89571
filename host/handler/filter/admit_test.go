package filter_test

import (
	"context"
	"reflect"
	"testing"
	"testing/synctest"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/handler/filter"
	"github.com/companiond/companiond/host/logtest"
	"github.com/companiond/companiond/host/rooms"
)

// home is the room of a companion, of which a filter needs no more.
type home struct {
	rooms.Room
	told []entry.Handled
	err  error
}

func (*home) Name() string { return "den" }

func (h *home) Handled(_ context.Context, e entry.Handled) error {
	h.told = append(h.told, e)
	return h.err
}

// TestAdmit: what the handlers did is written down in the companion's own room, whatever that is, before its sender hears of
// it; nobody wakes a room for one for whom nobody filters.
func TestAdmit(t *testing.T) {
	for answer, c := range map[string]struct {
		want string
		did  []string
		code abi.Code
	}{
		`{}`:                         {`"x"`, []string{"m passed"}, ""},
		`{"body":"y"}`:               {`"y"`, []string{"m changed"}, ""},
		`{"refuse":"it is no good"}`: {"", []string{"m refused: it is no good"}, abi.CodeDenied},
	} {
		room, m := new(home), says(answer)
		woken := 0
		f := filter.New(filter.Config{
			Handlers: []filter.Handler{{Name: "m", Module: "m", Companions: []string{"aya"}}}, NewID: func() string { return "x" }, Log: new(logtest.Log).Logger(),
			Module: func(string) (filter.Module, bool) { return m, true },
			Home:   func(context.Context, string) (rooms.Room, error) { woken++; return room, nil },
		})
		ctx, cancel := context.WithCancel(t.Context())
		cancel() // it came, though its sender has gone
		got, err := f.Admit(ctx, "aya", text("x"))
		if abi.CodeOf(err) != c.code || err == nil && string(got.Body) != c.want || err != nil && abi.AsError(err).Message != "refused by m: it is no good" {
			t.Errorf("%s: %s, %v", answer, got.Body, err)
		}
		if len(room.told) != 1 || room.told[0].Who != "aya" || room.told[0].Of != entry.OfPerception || room.told[0].Title != "chat.line" || !reflect.DeepEqual(did(room.told[0].Steps), c.did) {
			t.Errorf("%s: told %+v", answer, room.told)
		}
		if got, err := f.Admit(t.Context(), "kyoko", text("z")); err != nil || string(got.Body) != `"z"` || woken != 1 {
			t.Errorf("of kyoko: %s, %v, woken %d times", got.Body, err, woken)
		}
		room.err = abi.Errorf(abi.CodeUnavailable, "the disk is full")
		if _, err := f.Admit(t.Context(), "aya", text("x")); abi.CodeOf(err) != abi.CodeUnavailable {
			t.Errorf("%s: what cannot be written down: %v", answer, err)
		}
	}
}

// TestNothingPassesBeforeTheStart: a perception waits until the handlers are loaded, and not for ever.
func TestNothingPassesBeforeTheStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ready, there := make(chan struct{}), false
		f := filter.New(filter.Config{
			Handlers: []filter.Handler{{Name: "m", Module: "m", Companions: []string{"aya"}}}, NewID: func() string { return "x" }, Log: new(logtest.Log).Logger(),
			Module: func(string) (filter.Module, bool) { return says(`{"refuse":"no"}`), there }, Ready: ready,
			Home: func(context.Context, string) (rooms.Room, error) { return new(home), nil },
		})
		begun := time.Now()
		_, err := f.Admit(t.Context(), "aya", text("x"))
		if e := abi.AsError(err); e == nil || e.Code != abi.CodeUnavailable || !e.Retry || time.Since(begun) != 30*time.Second {
			t.Errorf("after %v: %v", time.Since(begun), err)
		}
		if _, err := f.Admit(t.Context(), "kyoko", text("x")); err != nil {
			t.Errorf("one for whom nobody filters: %v", err)
		}
		time.AfterFunc(time.Second, func() { there = true; close(ready) })
		begun = time.Now()
		if _, err := f.Admit(t.Context(), "aya", text("x")); abi.CodeOf(err) != abi.CodeDenied || time.Since(begun) != time.Second {
			t.Errorf("after %v: %v", time.Since(begun), err)
		}
	})
}
