package observed_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/journal/memory"
	"github.com/companiond/companiond/host/journal/observed"
	"github.com/companiond/companiond/host/logtest"
	"github.com/companiond/companiond/host/room/turns"
)

// seen notes what it is told.
type seen struct {
	appended int
	turns    []turns.Turn
}

func (s *seen) Appended(time.Duration) { s.appended++ }
func (s *seen) Turn(t turns.Turn)      { s.turns = append(s.turns, t) }

func isAya(id string) bool { return id == "aya" }

// talk is what stands in a journal of a talk: a turn of a human, votes, a grant and a line.
func talk(t testing.TB) (all []journal.New) {
	for _, e := range []struct {
		kind entry.Kind
		body any
	}{
		{entry.KindSaid, entry.Said{From: "Ken Secret", By: abi.KindHuman, Kind: abi.KindTurn, Turn: 1, Text: "my words"}},
		{entry.KindRound, entry.Round{About: 2, Electorate: []string{"aya", "Ken Agent"}}},
		{entry.KindVote, entry.Voted{Round: 3, Voter: "aya", Vote: abi.Vote{State: abi.Speak, Importance: 7, Reason: "my words"}}},
		{entry.KindVote, entry.Voted{Round: 3, Voter: "Ken Agent", Vote: abi.Vote{State: abi.Speak, Importance: 7}}},
		{entry.KindDecision, entry.Decision{Round: 3, Outcome: entry.OutcomeGrant, Speaker: "aya", Grant: &abi.Grant{Token: "g6"}}},
		{entry.KindSaid, entry.Said{From: "aya", By: abi.KindCompanion, Kind: abi.KindTurn, Turn: 2, Grant: "g6", Text: "my words"}},
		{entry.KindSaid, entry.Said{From: "Ken Agent", By: abi.KindAgent, Kind: abi.KindTurn, Turn: 3, Text: "my words"}},
		{entry.KindDecision, entry.Decision{Round: 3, Outcome: entry.OutcomeSilence}},
	} {
		body, err := json.Marshal(e.body)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, journal.New{ID: fmt.Sprint(len(all)), Kind: e.kind, At: time.UnixMilli(int64(1000 * len(all))), V: entry.Version, Body: body})
	}
	return all
}

// A talk leaves a line for each turn, without a name of a person or what was said, and what is in no room leaves none.
func TestLines(t *testing.T) {
	log, see := &logtest.Log{}, &seen{}
	j := observed.New(observed.Config{Journal: memory.New(), See: see, Companion: isAya, Log: log.Logger()})
	for _, room := range []string{"main", journal.Memory} {
		head, err := j.Acquire(t.Context(), room, "me", time.Now())
		if err == nil {
			_, err = j.Append(t.Context(), room, head, talk(t)...)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if _, err := j.Append(t.Context(), "main", journal.Head{}, talk(t)...); err == nil { // refused, and so never was
		t.Fatal("appended to another head")
	}
	var got []string
	for line := range strings.Lines(log.String()) {
		_, after, _ := strings.Cut(strings.TrimSpace(line), " ")
		got = append(got, after)
	}
	want := []string{
		`level=INFO msg=turn room=main turn=1 seq=2 outcome=human`,
		`level=DEBUG msg=vote room=main seq=4 round=3 companion=aya state=speak importance=7`,
		`level=INFO msg=turn room=main turn=2 seq=7 companion=aya outcome=said took=4s`,
		`level=INFO msg=turn room=main turn=3 seq=8 outcome=said`,
		`level=DEBUG msg=turn room=main seq=9 outcome=silence`,
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if see.appended != 2 || len(see.turns) != 4 || see.turns[1].Who != "aya" || see.turns[1].Took != 4*time.Second {
		t.Errorf("%+v", see)
	}
}

// BenchmarkAppend is what it costs that a talk of eight entries is seen, beside a journal that keeps it in memory.
func BenchmarkAppend(b *testing.B) {
	for name, over := range map[string]func(journal.Journal) journal.Journal{
		"plain": func(j journal.Journal) journal.Journal { return j },
		"observed": func(j journal.Journal) journal.Journal {
			return observed.New(observed.Config{Journal: j, See: &seen{}, Companion: isAya, Log: slog.New(slog.DiscardHandler)})
		},
		"logged": func(j journal.Journal) journal.Journal {
			return observed.New(observed.Config{Journal: j, See: &seen{}, Companion: isAya, Log: slog.New(slog.NewJSONHandler(discard{}, nil))})
		},
	} {
		b.Run(name, func(b *testing.B) {
			j := over(nowhere{})
			entries := talk(b)
			b.ReportAllocs()
			for b.Loop() {
				_, _ = j.Append(context.Background(), "main", journal.Head{}, entries...)
			}
		})
	}
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }

// nowhere takes everything, and keeps nothing.
type nowhere struct{ journal.Journal }

func (nowhere) Append(_ context.Context, _ string, _ journal.Head, entries ...journal.New) (journal.Head, error) {
	return journal.Head{Seq: uint64(len(entries)) + 1}, nil
}
