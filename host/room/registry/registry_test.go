package registry_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/journal/memory"
	"github.com/companiond/companiond/host/room/reader"
	"github.com/companiond/companiond/host/room/registry"
	"github.com/companiond/companiond/host/rooms"
)

func oneRoom(t *testing.T) *house { return newHouse(t, settings("main", "*")) }

// TestSleepsAndWakes leaves a room alone, and talks in it again.
func TestSleepsAndWakes(t *testing.T) {
	in(t, oneRoom, func(t *testing.T, h *house) {
		h.meet("aya")
		for i := range 3 {
			h.say("main", fmt.Sprint("hello ", i))
			sleep(registry.Idle - time.Second)
			if !h.Awake("main") {
				t.Fatal("it sleeps already")
			}
			sleep(5 * time.Second)
			if h.Awake("main") || h.row("main").Awake {
				t.Fatalf("it does not sleep: %v %+v %s", h.Awake("main"), h.row("main"), h.kinds("main"))
			}
		}
		want := []string{
			"taro: hello 0", "aya: main heard hello 0", "taro: hello 1", "aya: main heard hello 1", "taro: hello 2", "aya: main heard hello 2",
		}
		if got := h.texts("main"); !slices.Equal(got, want) {
			t.Errorf("%q", got)
		}
		if kinds := h.kinds("main"); strings.Count(kinds, "owner") != 1 || strings.Count(kinds, "rules") != 1 || strings.Count(kinds, "cast") != 1 {
			t.Errorf("one owner, one rules and one cast were to be written: %s", kinds)
		}
	})
}

// TestReadingWakesNobody looks at everything that can be looked at.
func TestReadingWakesNobody(t *testing.T) {
	in(t, oneRoom, func(t *testing.T, h *house) {
		h.meet("aya")
		h.say("main", "hello")
		sleep(time.Minute)
		before := h.row("main")
		r := h.room("main")
		info := r.Info()
		if info.State != "capped" || info.Last == 0 || len(info.Members) != 2 || info.Head != before.Head.Seq {
			t.Errorf("asleep it looks like %+v", info)
		}
		if _, err := h.List(t.Context(), "", 10); err != nil {
			t.Error(err)
		}
		if ms, head, err := r.Messages(t.Context(), 0, 10); err != nil || len(ms) != 2 || head != info.Head {
			t.Errorf("%v %d %v", ms, head, err)
		}
		if got, err := r.History(t.Context(), abi.HistoryAsk{Limit: 1}); err != nil || len(got.Messages) != 1 || got.Messages[0].From != "aya" {
			t.Errorf("%v %v", got, err)
		}
		if _, err := r.Why(t.Context(), info.Last); err != nil {
			t.Error(err)
		}
		if _, pool := r.Budget(); pool {
			t.Error("a budget where there is no pool")
		}
		if after := h.row("main"); h.Awake("main") || after.Head != before.Head || after.Awake {
			t.Errorf("it woke: %+v, was %+v", after, before)
		}
	})
}

// TestInfoIsTheSameAsleep compares a room that is awake with what is read of it.
func TestInfoIsTheSameAsleep(t *testing.T) {
	in(t, oneRoom, func(t *testing.T, h *house) {
		h.meet("aya", "kyoko")
		h.say("main", "hello")
		sleep(registry.Idle / 2)
		awake := h.room("main").Info()
		sleep(registry.Idle)
		asleep := h.room("main").Info()
		awake.Counts, asleep.Counts = nil, nil // those are since it woke
		if a, b := fmt.Sprintf("%+v", awake), fmt.Sprintf("%+v", asleep); a != b || h.Awake("main") {
			t.Errorf("awake  %s\nasleep %s", a, b)
		}
	})
}

// TestDueWakes has a silence that is longer than a room stays awake.
func TestDueWakes(t *testing.T) {
	in(t, func(t *testing.T) *house {
		s := settings("main", "*")
		s.Rules.Silence, s.Rules.MaxTurns = 600_000, 9
		return newHouse(t, s)
	}, func(t *testing.T, h *house) {
		h.meet("aya", "kyoko")
		h.say("main", "hello")
		sleep(9 * time.Minute)
		if due := h.row("main").Due; h.Awake("main") || due.IsZero() {
			t.Fatalf("awake %v, due %v", h.Awake("main"), due)
		}
		if n := len(h.texts("main")); n != 2 {
			t.Fatalf("%d messages", n)
		}
		sleep(time.Minute + time.Second)
		if n := len(h.texts("main")); n != 3 {
			t.Errorf("%d messages after ten minutes of silence: %s", n, h.kinds("main"))
		}
	})
}

// TestWaitsForSomebody says something where nobody is; whoever comes answers, also
// after a restart.
func TestWaitsForSomebody(t *testing.T) {
	for _, restart := range []bool{false, true} {
		in(t, oneRoom, func(t *testing.T, h *house) {
			h.meet()
			h.say("main", "is anybody here?")
			sleep(time.Hour)
			if h.Awake("main") {
				t.Fatal("it waits awake")
			}
			if restart {
				h.end()
				h.run()
			}
			sleep(time.Hour)
			if n := len(h.texts("main")); n != 1 {
				t.Fatalf("%d messages", n)
			}
			h.meet("aya")
			sleep(time.Second)
			if got := h.texts("main"); len(got) != 2 || got[1] != "aya: main heard is anybody here?" {
				t.Errorf("restart %v: %q", restart, got)
			}
		})
	}
}

// TestTakesMessagesWhileCompanionsLoad speaks before it is known who is here (R7b).
func TestTakesMessagesWhileCompanionsLoad(t *testing.T) {
	in(t, oneRoom, func(t *testing.T, h *house) {
		before := time.Now()
		h.say("main", "hello")
		if took := time.Since(before); took > 0 {
			t.Errorf("it took %v", took)
		}
		sleep(time.Minute)
		if kinds := h.kinds("main"); strings.Contains(kinds, "round") {
			t.Fatalf("somebody was asked: %s", kinds)
		}
		h.meet("aya")
		sleep(time.Second)
		if got := h.texts("main"); len(got) != 2 {
			t.Errorf("%q: %s", got, h.kinds("main"))
		}
	})
}

// TestPerceivesAfterRestart wakes a room by what a companion of it perceives.
func TestPerceivesAfterRestart(t *testing.T) {
	in(t, oneRoom, func(t *testing.T, h *house) {
		for range 2 {
			h.meet("aya")
			if _, err := h.room("main").Perceive(t.Context(), "aya", abi.Percept{Title: "input", Format: "text"}); err != nil {
				t.Fatal(err)
			}
			h.end()
			h.run()
		}
	})
}

// TestRestart knows rooms that were opened, as they were opened.
func TestRestart(t *testing.T) {
	in(t, oneRoom, func(t *testing.T, h *house) {
		h.meet("aya")
		if err := h.open("lab", mine, `{"companions":["aya"],"max_turns":2}`); err != nil {
			t.Fatal(err)
		}
		if err := h.open("empty", mine, `{}`); err != nil {
			t.Fatal(err)
		}
		h.say("lab", "hello")
		sleep(time.Second)
		h.end()
		h.run()
		h.meet("aya")
		h.say("lab", "again")
		sleep(time.Second)
		if got := h.texts("lab"); len(got) != 4 || got[3] != "aya: lab heard again" {
			t.Errorf("%q", got)
		}
		all, err := h.List(t.Context(), "", 10)
		if err != nil || len(all) != 3 || all[0].Name != "empty" || all[1].Name != "lab" || all[1].MaxTurns != 2 {
			t.Errorf("%+v %v", all, err)
		}
		if kinds := h.kinds("lab"); strings.Count(kinds, "owner") != 2 || strings.Count(kinds, "opened") != 1 || strings.Count(kinds, "rules") != 1 {
			t.Errorf("two owners, one opened and one rules were to be written: %s", kinds)
		}
	})
}

// TestNobodyIsWokenInVain starts a house with rooms in which a person waits for
// somebody who did not come: a look at each would cost the start, and entries.
func TestNobodyIsWokenInVain(t *testing.T) {
	in(t, func(t *testing.T) *house {
		return newHouse(t, settings("main", "*"), settings("lonely"), settings("ben-s", "ben"))
	}, func(t *testing.T, h *house) {
		h.meet("aya")
		heads := map[string]journal.Head{}
		for _, name := range []string{"lonely", "ben-s"} {
			h.say(name, "is anybody here?")
			sleep(time.Hour)
			heads[name] = h.row(name).Head
		}
		h.end()
		h.run()
		h.meet("aya")
		sleep(time.Hour)
		h.meet("aya", "mika")
		sleep(time.Hour)
		for name, head := range heads {
			if got := h.row(name).Head; got != head {
				t.Errorf("%s was woken: from %+v to %+v", name, head, got)
			}
		}
		h.meet("aya", "ben", "mika")
		sleep(time.Second)
		if got := h.texts("ben-s"); len(got) != 2 {
			t.Errorf("ben is here: %q", got)
		}
	})
}

// TestPolicyThereAndBack changes the policy of a room to the pool and back, as an
// editor of the configuration would, with a talk each time: one rules entry a change,
// one owner entry a start, and none for what is refused, nor for the time that passes.
func TestPolicyThereAndBack(t *testing.T) {
	in(t, oneRoom, func(t *testing.T, h *house) {
		pool, err := json.Marshal(abi.DefaultPool())
		if err != nil {
			t.Fatal(err)
		}
		for i, policy := range []string{"vote", "pool", "pool", "vote", "vote"} {
			h.end()
			h.config.Rooms[0].Rules.Policy, h.config.Rooms[0].Rules.PolicyRaw = policy, nil
			if policy == "pool" {
				h.config.Rooms[0].Rules.PolicyRaw = pool
			}
			h.run()
			h.meet("aya")
			h.say("main", fmt.Sprint("hello ", i))
			sleep(10 * time.Second)
			if got, want := h.texts("main"), fmt.Sprintf("aya: main heard hello %d", i); len(got) != 2*i+2 || got[2*i+1] != want {
				t.Errorf("%s: %q, not %s", policy, got, want)
			}
			before := h.row("main").Head
			for range 50 {
				_, err := h.room("main").Say(t.Context(), rooms.Utterance{From: "aya", Text: "it is me"})
				wantCode(t, err, abi.CodeDenied, "aya")
			}
			sleep(time.Hour)
			if after := h.row("main").Head; after != before {
				t.Errorf("%s: refusals and an hour moved the head from %d to %d", policy, before.Seq, after.Seq)
			}
		}
		if kinds := h.kinds("main"); strings.Count(kinds, "owner") != 5 || strings.Count(kinds, "rules") != 3 {
			t.Errorf("five owners and three rules were to be written: %s", kinds)
		}
	})
}

// TestOpenAndArchive is what may be opened and closed, and by whom.
func TestOpenAndArchive(t *testing.T) {
	in(t, oneRoom, func(t *testing.T, h *house) {
		ctx := t.Context()
		h.meet("aya")
		admin := rooms.Owner{Name: "boss", Admin: true}
		for _, c := range []struct {
			name  string
			by    rooms.Owner
			raw   string
			code  abi.Code
			words string
		}{
			{"main", mine, `{}`, abi.CodeConflict, "the configuration has"},
			{"maіn", mine, `{}`, abi.CodeInvalid, "name"}, // a Cyrillic letter among Latin ones
			{"a b", mine, `{}`, abi.CodeInvalid, "name"},
			{"system", mine, `{}`, abi.CodeInvalid, "name"},
			{"lab", mine, `{"policy":"dice"}`, abi.CodeInvalid, "policy"},
			{"lab", mine, `{"max_turns":0}`, abi.CodeDenied, "max_turns"},
			{"free", admin, `{"max_turns":0}`, "", ""},
			{"lab", mine, `{"companions":["aya"]}`, "", ""},
			{"lab", mine, `{}`, abi.CodeConflict, "already"},
			{"lab", rooms.Owner{Name: "mika"}, `{}`, abi.CodeConflict, "already"},
			{"LAB", rooms.Owner{Name: "mika"}, `{}`, abi.CodeConflict, "looks like"},
			{"two", mine, `{}`, "", ""},
			{"three", mine, `{}`, "", ""},
			{"four", mine, `{}`, abi.CodeExhausted, "3 are open"},
		} {
			err := h.open(c.name, c.by, c.raw)
			wantCode(t, err, c.code, c.words)
		}
		wantCode(t, h.Archive(ctx, "main", admin), abi.CodeDenied, "companiond.toml")
		wantCode(t, h.Archive(ctx, "nowhere", admin), abi.CodeNotFound)
		wantCode(t, h.Archive(ctx, "lab", rooms.Owner{Name: "mika"}), abi.CodeDenied, "not yours")
		h.say("lab", "hello")
		sleep(time.Second)
		for range 2 { // closing what is closed is no mistake
			if err := h.Archive(ctx, "lab", mine); err != nil {
				t.Fatal(err)
			}
		}
		_, err := h.room("lab").Say(ctx, rooms.Utterance{From: "taro", Text: "hello?"})
		wantCode(t, err, abi.CodeDenied, "lab was closed")
		h.end() // the first who is refused after a start writes nothing either
		h.run()
		h.meet("aya")
		head := h.row("lab").Head
		_, err = h.room("lab").Say(ctx, rooms.Utterance{From: "taro", Text: "hello?"})
		wantCode(t, err, abi.CodeDenied, "lab was closed")
		if got := h.row("lab").Head; got != head {
			t.Errorf("a refusal moved the head from %+v to %+v", head, got)
		}
		if info := h.room("lab").Info(); info.State != "archived" || info.Error != "" || len(h.texts("lab")) != 2 {
			t.Errorf("%+v", info)
		}
		if err := h.open("four", mine, `{}`); err != nil { // there is space again
			t.Error(err)
		}
		wantCode(t, h.open("lab", rooms.Owner{Name: "mika"}, `{}`), abi.CodeDenied, "taro's")
		wantCode(t, h.open("lab", mine, `{}`), abi.CodeExhausted)
		if err := h.open("lab", admin, `{"companions":["*"]}`); err != nil {
			t.Fatal(err)
		}
		h.say("lab", "back")
		sleep(time.Second)
		if got := h.texts("lab"); len(got) != 4 || got[3] != "aya: lab heard back" {
			t.Errorf("%q", got)
		}
	})
}

// Whoever wants to hear of rooms is told of each that was opened, when it can be looked
// at; of none that was not.
func TestOpenedIsTold(t *testing.T) {
	var told []string
	in(t, func(t *testing.T) *house {
		h := oneRoom(t)
		h.config.Opened = func(name string) { told = append(told, name+" "+h.room(name).Info().State) }
		return h
	}, func(t *testing.T, h *house) {
		for range 2 {
			if err := h.open("lab", mine, `{}`); err != nil {
				t.Fatal(err)
			}
			if h.open("lab", mine, `{}`) == nil || h.open("den", mine, `{"policy":"dice"}`) == nil {
				t.Error("it was opened")
			}
			if err := h.Archive(t.Context(), "lab", mine); err != nil {
				t.Fatal(err)
			}
		}
		if !slices.Equal(told, []string{"lab resting", "lab resting"}) {
			t.Errorf("told of %q", told)
		}
	})
}

// TestOpenedAnewIsQuiet: a line said before a room was closed is not answered by
// whoever lives there when it is opened again.
func TestOpenedAnewIsQuiet(t *testing.T) {
	in(t, oneRoom, func(t *testing.T, h *house) {
		h.meet("aya", "ben")
		for _, opening := range []string{`{"companions":[]}`, `{"companions":["aya"],"max_turns":1}`, `{"companions":["aya","ben"],"max_turns":9}`} {
			before := strings.Count(h.kinds("lab"), "round")
			if err := h.open("lab", mine, opening); err != nil {
				t.Fatal(err)
			}
			sleep(time.Hour)
			if got := h.kinds("lab"); strings.Count(got, "round") != before {
				t.Errorf("opened with %s: %s", opening, got)
			}
			h.say("lab", "is anybody here?")
			sleep(time.Second)
			if err := h.Archive(t.Context(), "lab", mine); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// TestArchivedStays lets the journal fail in a room that was opened, archived, and is
// still awake: it was opened before, not anew.
func TestArchivedStays(t *testing.T) {
	in(t, oneRoom, func(t *testing.T, h *house) {
		h.meet("aya")
		if err := h.open("lab", mine, `{"companions":["aya"]}`); err != nil {
			t.Fatal(err)
		}
		answers := make(chan struct{})
		h.live["aya"] = slow{parrot{"aya"}, answers}
		h.say("lab", "hello")
		if err := h.Archive(t.Context(), "lab", mine); err != nil {
			t.Fatal(err)
		}
		h.Used(t.Context(), "lab", entry.Usage{}) // is to be written with what comes next
		h.journal.(*memory.Journal).Fail(journal.ErrUnavailable)
		h.meet()
		h.journal.(*memory.Journal).Fail(nil)
		sleep(2 * time.Second)
		if state := h.room("lab").Info().State; state != "archived" {
			t.Errorf("state %q: %s", state, h.kinds("lab"))
		}
		close(answers)
	})
}

// TestConfigurationWins has a room in the configuration that was opened at a door.
func TestConfigurationWins(t *testing.T) {
	for _, archived := range []bool{false, true} {
		in(t, oneRoom, func(t *testing.T, h *house) {
			h.meet("aya")
			if err := h.open("lab", mine, `{"companions":["aya"],"max_turns":7}`); err != nil {
				t.Fatal(err)
			}
			h.say("lab", "one")
			sleep(time.Second)
			if archived {
				if err := h.Archive(t.Context(), "lab", mine); err != nil {
					t.Fatal(err)
				}
			}
			h.end()
			all := h.config.Rooms
			h.config.Rooms = append(slices.Clone(all), settings("lab", "aya"))
			h.run()
			h.meet("aya")
			h.say("lab", "two")
			sleep(time.Second)
			if got := h.texts("lab"); len(got) != 4 || h.room("lab").Info().MaxTurns != 1 {
				t.Errorf("archived %v: %q %+v", archived, got, h.room("lab").Info())
			}
			wantCode(t, h.Archive(t.Context(), "lab", mine), abi.CodeDenied)
			if all, err := h.List(t.Context(), "", 10); err != nil || len(all) != 2 {
				t.Errorf("%+v %v", all, err)
			}
			h.end()
			h.config.Rooms = all
			h.run()
			h.meet("aya")
			_, err := h.room("lab").Say(t.Context(), rooms.Utterance{From: "taro", Text: "three"})
			if archived {
				wantCode(t, err, abi.CodeDenied, "lab was closed")
			} else if err != nil {
				t.Error(err)
			}
		})
	}
}

// TestLeftTheConfiguration reads a room that is in no file any more.
func TestLeftTheConfiguration(t *testing.T) {
	in(t, func(t *testing.T) *house { return newHouse(t, settings("main", "*"), settings("lab", "*")) }, func(t *testing.T, h *house) {
		h.meet("aya")
		h.say("lab", "hello")
		sleep(time.Second)
		h.end()
		h.config.Rooms = h.config.Rooms[:1]
		h.run()
		h.meet("aya")
		sleep(time.Minute)
		if got := h.texts("lab"); len(got) != 2 {
			t.Errorf("%q", got)
		}
		closedWith(t, h, "lab", "[room.lab]")
		wantCode(t, h.open("lab", mine, `{}`), abi.CodeConflict, "in the configuration once")
	})
}

// TestUnknownSettings has rooms whose settings or rules only a newer companiond
// knows: they are read, closed, and not said to be damaged.
func TestUnknownSettings(t *testing.T) {
	in(t, func(t *testing.T) *house {
		return newHouse(t, settings("main", "*"), settings("rules", "*"), settings("entries", "*"))
	}, func(t *testing.T, h *house) {
		h.meet("aya")
		if err := h.journal.Register(t.Context(), "lab", journal.Listing{Key: "lab", By: "taro", Settings: []byte(`{"policy":"dice"}`)}); err != nil {
			t.Fatal(err)
		}
		closedWith(t, h, "lab", `policy: "dice" is unknown`)
		for name, r := range map[string]journal.New{
			"rules":   {V: entry.Version, Kind: entry.KindRules, Body: []byte(`{"policy":"vote","version":9}`)},
			"entries": {V: entry.Version + 1, Kind: entry.KindClosing, Body: []byte(`{}`)},
		} {
			wrote(t, h, name, r)
			closedWith(t, h, name, "its "+name+" have version")
		}
	})
}

// TestUnknownPolicyIsReplaced gives a room whose policy nobody knows another one.
func TestUnknownPolicyIsReplaced(t *testing.T) {
	in(t, oneRoom, func(t *testing.T, h *house) {
		wrote(t, h, "main", journal.New{Kind: entry.KindRules, Body: []byte(`{"policy":"dice"}`)})
		if i := h.room("main").Info(); i.Error != "" {
			t.Errorf("%+v", i)
		}
		h.meet("aya")
		h.say("main", "hello")
		sleep(time.Second)
		if got := h.texts("main"); len(got) != 2 {
			t.Errorf("%q", got)
		}
	})
	in(t, oneRoom, func(t *testing.T, h *house) { // by rules of this very version
		wrote(t, h, "main", journal.New{ID: "rules/2", V: entry.Version, Kind: entry.KindRules, Body: []byte(`{"version":2,"policy":"auction"}`)})
		h.meet("aya")
		h.say("main", "hello")
		sleep(time.Second)
		if r, err := reader.Replay(t.Context(), h.journal, "main"); err != nil || r.Diff != nil || r.Folded == 0 || r.Derived < 5 {
			t.Errorf("replay: %+v %v", r, err)
		}
	})
}

// wrote lets another daemon, which is gone, have written an entry.
func wrote(t *testing.T, h *house, name string, e journal.New) {
	t.Helper()
	sleep(time.Millisecond) // the house has looked which rooms are awake
	head, err := h.journal.Acquire(t.Context(), name, "another companiond", time.Now())
	if err == nil {
		e.ID, e.At = cmp.Or(e.ID, "e"), time.Now()
		head, err = h.journal.Append(t.Context(), name, head, e)
	}
	if err == nil {
		err = h.journal.Rest(t.Context(), name, head, time.Time{})
	}
	if err != nil {
		t.Fatal(err)
	}
}

// closedWith wants a room that says everywhere why it takes nothing new.
func closedWith(t *testing.T, h *house, name, why string) {
	t.Helper()
	ctx, r := t.Context(), h.room(name)
	before := h.row(name).Head
	if i := r.Info(); i.State != "unjudged" || !strings.Contains(i.Error, why) {
		t.Errorf("asleep: %s %q", i.State, i.Error)
	}
	_, err := r.Say(ctx, rooms.Utterance{From: "taro", Text: "hello?"})
	wantCode(t, err, abi.CodeUnavailable, why)
	_, _, err = r.Consume(ctx, rooms.Utterance{From: "mochi", By: abi.KindAgent, Text: "hello?"})
	wantCode(t, err, abi.CodeUnavailable, why)
	wantCode(t, r.Attend(ctx, "mochi", true), abi.CodeUnavailable, why)
	wantCode(t, r.Vote(ctx, "mochi", 1, abi.Vote{State: abi.Listen}), abi.CodeUnavailable, why)
	_, err = r.Stop(ctx, "taro")
	wantCode(t, err, abi.CodeUnavailable, why)
	_, err = r.Perceive(ctx, "aya", abi.Percept{Title: "input", Format: "text"})
	wantCode(t, err, abi.CodeUnavailable, why)
	_, err = r.Act(ctx, "aya", rooms.Player{Agent: "mochi"}, abi.ActionAsk{Action: "move"})
	wantCode(t, err, abi.CodeUnavailable, why)
	if i := r.Info(); i.State != "unjudged" || !strings.Contains(i.Error, why) {
		t.Errorf("awake: %s %q", i.State, i.Error)
	}
	if _, _, err := r.Messages(ctx, 0, 10); err != nil {
		t.Error(err)
	}
	if grown := h.row(name).Head.Seq - before.Seq; grown > 1 { // whose it is
		t.Errorf("%d entries were written: %s", grown, h.kinds(name))
	}
}

// TestDamagedIsReadable reads a room that has an entry which cannot be understood.
func TestDamagedIsReadable(t *testing.T) {
	in(t, oneRoom, func(t *testing.T, h *house) {
		h.meet("aya")
		h.say("main", "hello")
		sleep(time.Minute)
		wrote(t, h, "main", journal.New{Kind: entry.KindVote, Body: []byte(`{"round":"one"}`)})
		for range 2 { // asleep, and when somebody tried to wake it
			if got, err := h.room("main").History(t.Context(), abi.HistoryAsk{}); err != nil || len(got.Messages) != 2 || got.Head == 0 {
				t.Errorf("%+v %v", got, err)
			}
			if got := h.texts("main"); len(got) != 2 {
				t.Errorf("%q", got)
			}
			if i := h.room("main").Info(); i.State != "unavailable" || !strings.Contains(i.Error, "damaged") || i.Head == 0 {
				t.Errorf("%+v", i)
			}
			_, err := h.room("main").Say(t.Context(), rooms.Utterance{From: "taro", Text: "hello?"})
			wantCode(t, err, abi.CodeUnavailable, "damaged")
		}
	})
}

// TestFencedIsOneRoomsTrouble lets another daemon take a room over.
func TestFencedIsOneRoomsTrouble(t *testing.T) {
	in(t, func(t *testing.T) *house { return newHouse(t, settings("main", "*"), settings("lab", "*")) }, func(t *testing.T, h *house) {
		h.meet("aya")
		h.say("main", "one")
		h.say("lab", "one")
		sleep(time.Second)
		if _, err := h.journal.Acquire(t.Context(), "lab", "another", time.Now()); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			_, err := h.room("lab").Say(t.Context(), rooms.Utterance{From: "taro", Text: "two"})
			wantCode(t, err, abi.CodeUnavailable, "another daemon")
			sleep(time.Second)
			if i := h.room("lab").Info(); i.State != "unavailable" || !strings.Contains(i.Error, "another daemon") {
				t.Errorf("%+v", i)
			}
		}
		h.say("main", "two")
		sleep(time.Minute)
		if main, lab := h.texts("main"), h.texts("lab"); len(main) != 4 || len(lab) != 2 {
			t.Errorf("main %q, lab %q", main, lab)
		}
	})
}

// TestTheJournalIsAway closes doors for as long, and loses nothing.
func TestTheJournalIsAway(t *testing.T) {
	in(t, oneRoom, func(t *testing.T, h *house) {
		h.meet("aya")
		h.say("main", "one")
		sleep(time.Minute)
		j := h.journal.(*memory.Journal)
		j.Fail(fmt.Errorf("%w: the disk is full", journal.ErrUnavailable))
		_, err := h.room("main").Say(t.Context(), rooms.Utterance{From: "taro", Text: "lost"})
		wantCode(t, err, abi.CodeUnavailable, "the disk is full")
		wantCode(t, h.open("lab", mine, `{}`), abi.CodeUnavailable, "the disk is full")
		sleep(time.Minute)
		j.Fail(nil)
		h.say("main", "two")
		sleep(time.Minute)
		if got := h.texts("main"); len(got) != 4 {
			t.Errorf("%q", got)
		}
	})
}

// TestHome finds the room of a companion (R12).
func TestHome(t *testing.T) {
	in(t, func(t *testing.T) *house {
		h := newHouse(t, settings("cafe", "aya", "kyoko"), settings("main", "natsumi"), settings("zoo", "aya", "kyoko"))
		h.config.Homes = map[string]string{"aya": "zoo"}
		return h
	}, func(t *testing.T, h *house) {
		for companion, want := range map[string]string{"aya": "zoo", "kyoko": "cafe", "natsumi": "main"} {
			if talk, err := h.Home(t.Context(), companion); err != nil || talk.Name() != want {
				t.Errorf("%s is at home in %v %v, want %s", companion, talk, err, want)
			}
		}
		_, err := h.Home(t.Context(), "nobody")
		wantCode(t, err, abi.CodeNotFound, "[companion.nobody]")
	})
}

// TestStopping answers those who come when the daemon stops.
func TestStopping(t *testing.T) {
	in(t, oneRoom, func(t *testing.T, h *house) {
		h.meet("aya")
		h.say("main", "one")
		h.end()
		_, err := h.room("main").Say(t.Context(), rooms.Utterance{From: "taro", Text: "two"})
		wantCode(t, err, abi.CodeUnavailable, "stopping")
		if h.row("main").Awake {
			t.Error("it counts as awake")
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, _, err := h.room("main").Messages(ctx, 0, 1); err != nil && !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
}

// TestAnOrdinaryStopIsNoTrouble ends the house while it looks which rooms are due and
// while rooms load: of that there is nothing to tell.
func TestAnOrdinaryStopIsNoTrouble(t *testing.T) {
	var log bytes.Buffer
	h := newHouse(t, settings("main", "*"), settings("side", "*"))
	h.journal = hasty{h.journal}
	h.log = slog.NewTextHandler(&log, nil)
	for range 50 {
		h.run()
		ended := make(chan error)
		go func() {
			_, err := h.room("side").Say(context.Background(), rooms.Utterance{From: "taro", Text: "hello"})
			ended <- err
		}()
		h.end()
		if <-ended == nil {
			t.Error("it was said in a room that did not load")
		}
	}
	if log.Len() > 0 {
		t.Errorf("%s", &log)
	}
}

// hasty is a journal that answers nobody whose context has ended.
type hasty struct{ journal.Journal }

func (h hasty) Waking(ctx context.Context, by time.Time, after string, limit int) ([]journal.Room, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func (h hasty) Acquire(ctx context.Context, name, owner string, at time.Time) (journal.Head, error) {
	<-ctx.Done()
	return journal.Head{}, ctx.Err()
}
