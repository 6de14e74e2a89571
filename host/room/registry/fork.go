package registry

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/address"
	"github.com/companiond/companiond/host/conversation"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/history"
	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/room"
	"github.com/companiond/companiond/host/room/reader"
	"github.com/companiond/companiond/host/rooms"
)

// This file is forks: rooms that begin with the past of another. A fork is to be as the room is that it was
// forked of, also where that changes later, unless the configuration names it or it was opened anew with
// settings of its own.

// Fork makes a room of the past of another up to a turn, and answers when it is known for good. The other
// room stays as it is, and need not be awake.
func (g *Registry) Fork(ctx context.Context, f rooms.Forking) (rooms.Branch, error) {
	row, known, err := g.journal.Room(ctx, f.Of)
	if err != nil {
		return rooms.Branch{}, journal.Coded(err)
	}
	switch _, configured := g.rooms()[f.Of]; {
	case !known && configured:
		return rooms.Branch{}, unsaid(f.Of)
	case !known || !journal.IsRoom(f.Of):
		return rooms.Branch{}, notFound(f.Of)
	}
	set, err := g.settingsOf(ctx, f.Of, row, true)
	if err == nil && set.Terms == nil && set.Unknown == "" && set.Rules.MaxTurns == 0 && !f.By.Admin {
		err = abi.Field("room", abi.CodeDenied, "companions may talk for ever in %s, and in a fork of it; that takes the scope admin", f.Of)
	}
	if err != nil {
		return rooms.Branch{}, err
	}
	if row.By == halls && !f.By.Admin {
		return rooms.Branch{}, abi.Field("room", abi.CodeDenied, "%s is its members' to read, and a fork would be everybody's; that takes the scope admin", f.Of)
	}
	at, turn, err := g.forkAt(ctx, f, row)
	if err != nil {
		return rooms.Branch{}, err
	}
	g.opening.Lock()
	defer g.opening.Unlock()
	if f.Name == "" {
		if f.Name, err = g.forkName(ctx, row); err != nil {
			return rooms.Branch{}, err
		}
	}
	if err := checkRoomName(f.Name); err != nil {
		return rooms.Branch{}, err
	}
	if err := g.mayOpen(ctx, rooms.Opening{Name: f.Name, By: f.By}); err != nil {
		return rooms.Branch{}, err
	}
	switch _, known, err := g.journal.Room(ctx, f.Name); {
	case err != nil:
		return rooms.Branch{}, journal.Coded(err)
	case known:
		return rooms.Branch{}, abi.Field("name", abi.CodeConflict, "there was a room %q already; take another name", f.Name)
	}
	return g.makeFork(ctx, f, at, turn)
}

// makeFork makes it, under a name that is free.
func (g *Registry) makeFork(ctx context.Context, f rooms.Forking, at entry.Entry, turn uint64) (rooms.Branch, error) {
	e, err := entry.Entry{Kind: entry.KindForked}.WithBody(entry.Forked{Of: f.Of, At: at.Seq, Turn: turn, By: f.By.Name})
	if err != nil {
		return rooms.Branch{}, err
	}
	now := time.Now().UTC().Truncate(time.Millisecond)
	if at.At.After(now) { // the room's clock never runs back
		now = at.At
	}
	_, err = g.journal.Fork(ctx, f.Name, journal.Fork{Of: f.Of, At: at.Seq}, journal.Listing{Key: address.Skeleton(f.Name), By: f.By.Name},
		journal.New{ID: fmt.Sprintf("%s/%d", entry.KindForked, at.Seq+1), Kind: entry.KindForked, At: now, Body: e.Body})
	if errors.Is(err, journal.ErrConflict) {
		return rooms.Branch{}, abi.Field("name", abi.CodeConflict, "a room is there whose name reads or looks like %q; take another", f.Name)
	} else if err != nil {
		return rooms.Branch{}, journal.Coded(err)
	}
	if g.cfg.Opened != nil {
		g.cfg.Opened(f.Name)
	}
	// It answers whom it has to, and has a snapshot of its own when it sleeps, so that the other room keeps nothing for it. Where it
	// cannot be woken now, the next start of the daemon does.
	_, _ = g.wake(ctx, f.Name, nil)
	return rooms.Branch{Name: f.Name, Of: f.Of, At: at.Seq, Turn: turn, Turns: turn, By: rooms.Called(f.By.Name)}, nil
}

// forkAt gives the newest entry that a fork is to share: the last of a turn, with what the rules made of it, so
// that a replay of the fork makes the same. Where its turns, or those before it, came to be told otherwise before the next one was
// said, that is shared, too: whoever has a talk compressed and forks it then means what is told now.
func (g *Registry) forkAt(ctx context.Context, f rooms.Forking, row journal.Room) (at entry.Entry, turn uint64, err error) {
	n, err := reader.CountTurns(ctx, g.journal, f.Of, row.Head.Seq)
	if err != nil {
		return at, 0, journal.Coded(err)
	}
	if turn = cmp.Or(f.Turn, n); turn == 0 {
		return at, 0, unsaid(f.Of)
	}
	if turn > n {
		return at, 0, abi.Field("turn", abi.CodeNotFound, "%d is no turn of %s: it has 1 to %d so far", turn, f.Of, n)
	}
	seqs, err := reader.Turns(ctx, g.journal, f.Of, history.Range{From: turn, To: turn})
	if err != nil {
		return at, 0, err
	}
	if at, err = g.groupEnd(ctx, f.Of, seqs[1]); err != nil {
		return at, 0, err
	}
	told, err := g.toldSince(ctx, f.Of, at.Seq, turn, n)
	if err == nil && told > 0 {
		at, err = g.groupEnd(ctx, f.Of, told)
	}
	return at, turn, err
}

// groupEnd gives the last of the entries that the rules made of one, itself where there are none.
func (g *Registry) groupEnd(ctx context.Context, name string, of uint64) (last entry.Entry, err error) {
	for e, err := range journal.AllEntries(ctx, g.journal, name, of-1) {
		if err != nil {
			return last, journal.Coded(err)
		}
		if e.Seq > of && e.Kind.IsInput() {
			break
		}
		last = e
	}
	return last, nil
}

// toldSince gives the newest entry behind one that changed what is told, of before the turn behind this one was said; 0 for none.
func (g *Registry) toldSince(ctx context.Context, name string, after, turn, turns uint64) (newest uint64, err error) {
	book, err := reader.New(g.journal, name).Book(ctx)
	if err != nil || book.Changed <= after {
		return 0, err
	}
	before := book.Changed + 1
	if turn < turns {
		next, err := reader.Turns(ctx, g.journal, name, history.Range{From: turn + 1, To: turn + 1})
		if err != nil {
			return 0, err
		}
		before = next[0]
	}
	for _, p := range book.Proposals {
		for _, seq := range []uint64{p.Since, p.Until} {
			if seq > after && seq < before {
				newest = max(newest, seq)
			}
		}
	}
	return newest, nil
}

// unsaid is the error of a room that has no past which another could begin with.
func unsaid(name string) error {
	return abi.Field("room", abi.CodeInvalid, "%s has no turns yet; open a room instead", name)
}

// forkName gives a name that is free: "main-2" of "main", and "main-3" of that one.
func (g *Registry) forkName(ctx context.Context, of journal.Room) (string, error) {
	const most = 10000
	stem := strings.TrimPrefix(of.Name, conversation.Prefix)
	if i := strings.LastIndexByte(stem, '-'); i > 0 && of.Fork.Of != "" && strings.Trim(stem[i+1:], "0123456789") == "" {
		stem = stem[:i]
	}
	for n := 2; n < most; n++ {
		suffix := fmt.Sprint("-", n)
		name := cut(stem, abi.MaxName-len(suffix)) + suffix
		_, known, err := g.journal.Room(ctx, name)
		if err != nil {
			return "", journal.Coded(err)
		}
		if _, configured := g.rooms()[name]; !known && !configured {
			return name, nil
		}
	}
	return "", abi.Field("name", abi.CodeInvalid, "must be there: %s has too many forks to find a name for one more", of.Name)
}

// cut gives the beginning of a name, of so many bytes at most.
func cut(s string, most int) string {
	for len(s) > most {
		_, size := utf8.DecodeLastRuneInString(s)
		s = s[:len(s)-size]
	}
	return s
}

// forkOf gives how a fork is to be that has no settings of its own: as the room that it was forked of, but
// of a conversation, or of a room of which nothing is known any more, as rooms usually are.
func (g *Registry) forkOf(ctx context.Context, row journal.Room) (room.Settings, error) {
	set := room.Settings{Unknown: "it is not known any more"}
	of, known, err := g.journal.Room(ctx, row.Fork.Of)
	if err != nil {
		return set, journal.Coded(err)
	}
	if known {
		if set, err = g.settingsOf(ctx, row.Fork.Of, of, true); err != nil {
			return set, err
		}
	}
	if set.Terms != nil || set.Unknown != "" {
		if set, err = g.cfg.Read(row.Name, []byte("{}")); err != nil {
			return set, err
		}
	}
	if set.Rules.Seed == set.Name { // each room draws for itself
		set.Rules.Seed = row.Name
	}
	set.Name, set.Open, set.Reopen, set.Closed = row.Name, nil, nil, row.Archived
	return set, nil
}

// Branches gives the family of a room: the room that all of them were forked of, and all its forks and theirs, each
// behind the one that it was forked of.
func (g *Registry) Branches(ctx context.Context, name string) ([]rooms.Branch, error) {
	row, known, err := g.journal.Room(ctx, name)
	for err == nil && known && row.Fork.Of != "" {
		row, known, err = g.journal.Room(ctx, row.Fork.Of)
	}
	switch _, configured := g.rooms()[name]; {
	case err != nil:
		return nil, journal.Coded(err)
	case !known && configured: // and was never used
		return []rooms.Branch{{Name: name}}, nil
	case !known || !journal.IsRoom(name):
		return nil, notFound(name)
	}
	return g.family(ctx, row, nil)
}

func (g *Registry) family(ctx context.Context, row journal.Room, all []rooms.Branch) ([]rooms.Branch, error) {
	b := rooms.Branch{Name: row.Name, Of: row.Fork.Of, At: row.Fork.At, By: rooms.Called(row.By), Closed: row.Archived}
	if row.By == halls {
		b.By = ""
	}
	var err error
	if b.Turns, err = reader.CountTurns(ctx, g.journal, row.Name, row.Head.Seq); err != nil {
		return nil, journal.Coded(err)
	}
	if b.Of != "" {
		if b.Turn, err = reader.CountTurns(ctx, g.journal, row.Name, row.Fork.At); err != nil {
			return nil, journal.Coded(err)
		}
	}
	all = append(all, b)
	forks, err := g.journal.Forks(ctx, row.Name)
	if err != nil {
		return nil, journal.Coded(err)
	}
	for _, f := range forks {
		if all, err = g.family(ctx, f, all); err != nil {
			return nil, err
		}
	}
	return all, nil
}
