package observed_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/journal/memory"
	"github.com/companiond/companiond/host/logtest"
	"github.com/companiond/companiond/host/observed"
	"github.com/companiond/companiond/host/room/turns"
)

func isAya(id string) bool { return id == "aya" }

// talk is what stands in a journal of a talk: a turn of a human, votes, a grant and a line.
func talk(t testing.TB) (all []entry.Entry) {
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
		made, err := entry.Entry{Seq: uint64(len(all)) + 2, Kind: e.kind, At: time.UnixMilli(int64(1000 * len(all))), V: entry.Version}.WithBody(e.body)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, made)
	}
	return all
}

// A talk leaves a line for each turn, without a name of a person or what was said.
func TestLines(t *testing.T) {
	log, over := &logtest.Log{}, []turns.Turn{}
	r := observed.New(observed.Config{Turn: func(t turns.Turn) { over = append(over, t) }, Companion: isAya, Log: log.Logger()})
	r.Wrote("main", talk(t))
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
	if len(over) != 4 || over[1].Who != "aya" || over[1].Took != 4*time.Second {
		t.Errorf("%+v", over)
	}
}

// It is seen how long a journal takes for what it takes, and nothing of what it refuses.
func TestAppended(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var took []time.Duration
		j := &observed.Journal{Journal: &slow{memory.New()}, Appended: func(d time.Duration) { took = append(took, d) }}
		head, err := j.Acquire(t.Context(), "main", "me", time.Now())
		if err != nil {
			t.Fatal(err)
		}
		one := journal.New{ID: "a", Kind: entry.KindStop, At: time.Now(), Body: []byte("{}")}
		next, err := j.Append(t.Context(), "main", head, one)
		if err != nil || next.Seq != head.Seq+1 {
			t.Fatal(next, err)
		}
		if at, err := j.Append(t.Context(), "main", head, one); !errors.Is(err, journal.ErrConflict) || at != head {
			t.Error(at, err)
		}
		if !slices.Equal(took, []time.Duration{time.Second}) {
			t.Error(took)
		}
	})
}

// slow is a journal on a slow disk.
type slow struct{ journal.Journal }

func (s *slow) Append(ctx context.Context, room string, h journal.Head, entries ...journal.New) (journal.Head, error) {
	time.Sleep(time.Second)
	return s.Journal.Append(ctx, room, h, entries...)
}

// BenchmarkWrote is what it costs that a talk of eight entries is seen.
func BenchmarkWrote(b *testing.B) {
	for name, log := range map[string]slog.Handler{"silent": slog.DiscardHandler, "logged": slog.NewJSONHandler(io.Discard, nil)} {
		b.Run(name, func(b *testing.B) {
			r, entries := observed.New(observed.Config{Turn: func(turns.Turn) {}, Companion: isAya, Log: slog.New(log)}), talk(b)
			b.ReportAllocs()
			for b.Loop() {
				r.Wrote("main", entries)
			}
		})
	}
}
