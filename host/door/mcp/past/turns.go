package past

import (
	"context"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/history"
	"github.com/companiond/companiond/host/rooms"
)

// span is some turns, in one of the two ways to write them.
type span struct {
	turns      string
	start, end *uint64
}

// given says whether any were written.
func (s span) given() bool { return s.turns != "" || s.start != nil || s.end != nil }

// last is the argument that has the last turn.
func (s span) last() string {
	if s.turns != "" || s.end == nil {
		return "turns"
	}
	return "end_turn"
}

// read reads it, and refuses turns that are not among so many.
func (s span) read(of uint64, room string) (r history.Range, err error) {
	switch {
	case !s.given():
		return r, abi.Field("turns", abi.CodeInvalid, "is missing: give the first and the last turn, as in 1-50, or start_turn and end_turn")
	case s.turns != "" && (s.start != nil || s.end != nil):
		return r, abi.Field("turns", abi.CodeInvalid, "is the same as start_turn and end_turn: give either")
	case s.turns != "":
		r, err = history.ParseRange(s.turns)
	case s.start == nil:
		return r, abi.Field("start_turn", abi.CodeInvalid, "is missing: give the first turn and the last")
	case s.end == nil:
		return r, abi.Field("end_turn", abi.CodeInvalid, "is missing: give the first turn and the last")
	case *s.start < 1:
		return r, abi.Field("start_turn", abi.CodeInvalid, "is 0: the first turn is 1")
	case *s.end < *s.start:
		return r, abi.Field("end_turn", abi.CodeInvalid, "%d is before start_turn, %d", *s.end, *s.start)
	default:
		r = history.Range{From: *s.start, To: *s.end}
	}
	switch {
	case err != nil:
		return r, err
	case of == 0:
		return r, abi.Field(s.last(), abi.CodeNotFound, "there are no turns in %s yet", room)
	case r.To > of:
		return r, abi.Field(s.last(), abi.CodeNotFound, "%d is no turn of %s: it has 1 to %d so far", r.To, room, of)
	}
	return r, nil
}

// ReadIn asks for turns.
type ReadIn struct {
	Room     string  `json:"room"`
	Turns    string  `json:"turns"`
	Start    *uint64 `json:"start_turn"`
	End      *uint64 `json:"end_turn"`
	Original bool    `json:"original"`
}

func (in ReadIn) span() span { return span{in.Turns, in.Start, in.End} }

// ReadOut is turns.
type ReadOut struct {
	Turns []abi.PastTurn `json:"turns"` // oldest first
	Of    uint64         `json:"of"`    // how many there are in all
}

// UsualTurns is how many turns are read where nobody says which, and MostTurns how many at once.
const (
	UsualTurns = 50
	MostTurns  = 1000
)

// ReadTurns reads turns by their numbers.
func (d *Desk) ReadTurns(ctx context.Context, _ Caller, in ReadIn) (any, error) {
	talk, err := d.Room(ctx, in.Room)
	if err != nil {
		return nil, err
	}
	out := ReadOut{Turns: []abi.PastTurn{}}
	if out.Of, err = talk.Turns(ctx); err != nil {
		return nil, err
	}
	asked := in.span()
	r := history.Range{From: out.Of - min(out.Of, UsualTurns) + 1, To: out.Of}
	switch {
	case asked.given():
		if r, err = asked.read(out.Of, talk.Name()); err != nil {
			return nil, err
		}
	case out.Of == 0:
		return out, nil
	}
	if r.To-r.From >= MostTurns {
		return nil, abi.Field(asked.last(), abi.CodeTooLarge, "%s are %d turns: read at most %d at once", r, r.To-r.From+1, MostTurns)
	}
	past, err := told(ctx, talk, r, asked.given(), in.Original)
	switch e := abi.AsError(err); {
	case abi.CodeOf(err) == abi.CodeConflict:
		return nil, abi.Field(asked.last(), abi.CodeConflict, "%s; or read them as they were said, with original = true", e.Reason())
	case err != nil:
		return nil, err
	}
	bytes := 0
	for _, t := range past {
		bytes += t.Bytes()
	}
	if bytes > abi.MaxPastBytes {
		return nil, abi.Field(asked.last(), abi.CodeTooLarge, "%s are %d bytes, at most %d at once: read fewer", r, bytes, abi.MaxPastBytes)
	}
	out.Turns = append(out.Turns, past...)
	return out, nil
}

// told gives turns. Of the newest, where nobody said which, those that are told as one text with earlier ones are
// given with them.
func told(ctx context.Context, talk rooms.Room, r history.Range, asked, original bool) ([]abi.PastTurn, error) {
	past, err := talk.Past(ctx, r, original)
	if asked || abi.CodeOf(err) != abi.CodeConflict {
		return past.Turns, err
	}
	book, err := talk.Book(ctx)
	if err != nil {
		return nil, err
	}
	for _, p := range book.Laid(^uint64(0)) {
		if p.Ask.Turns.Has(history.Range{From: r.From, To: r.From}) {
			r.From = p.Ask.Turns.From
		}
	}
	past, err = talk.Past(ctx, r, original)
	return past.Turns, err
}
