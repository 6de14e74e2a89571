// Package search finds what was said by words that stand in it, in one room and its past or in all
// rooms, newest first. A word is found wherever it stands, also within another, for Japanese has no spaces between
// words; how it is written (width, case) makes no difference.
//
// What is found by is an index in a file of its own (host/journal/sqlite/words), which follows the
// journal and is made again where it is missing, damaged or of another journal: it is never in the
// journal's way. Each message is read in the journal before it is shown, as it is there now and as it was heard;
// so nothing is found that was erased, and nothing that does not have the words.
//
// It never ranks: in a talk of years the newest is what is meant most often, and to rank costs seconds.
package search

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/address"
	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/journal/sqlite/words"
	"github.com/companiond/companiond/host/room/reader"
	"github.com/companiond/companiond/host/search/gram"
)

// The bounds of a question.
const (
	MaxWords = 16  // words and phrases
	MaxQuery = 512 // bytes
	Usual    = 20  // how many are found where nobody says
	Most     = 100 // at most
)

// Ask is a question.
type Ask struct {
	// Query is words, all of which have to stand in a message, with spaces between them. What is in double
	// quotes is one, with its spaces.
	Query string
	Room  string // "" for all rooms
	From  string // whoever said it, "" for anybody; names that read alike are one
	// After and Before bound the seq in a room, both exclusive. In all rooms Before is the Next of the answer
	// before, and After is 0. Before 0 means no bound.
	After, Before uint64
	Limit         int // 0: Usual
	// May says whether whoever asks may read a room; nil: any. It is not asked about Room. What was said in one that may not be read
	// is found in a fork that has it and may, once and under the fork's name.
	May func(room string) bool
}

// Hit is a message that was found.
type Hit struct {
	Room    string
	Message abi.Message
	// Turn is its number, of a backchannel that of the turn it belongs to; 0 in what was said before turns were numbered.
	Turn uint64
}

// Answer is what was found, newest first.
type Answer struct {
	Hits []Hit
	// Next is the Before of the question that goes on, 0: there is no more. A page may have fewer
	// than the limit, or none, and go on: where many messages have the letters of a word, but not the word.
	Next uint64
	// Behind says that the newest messages are not in the index yet: it is being made.
	Behind bool
}

// question is an Ask as it is followed.
type question struct {
	Ask
	phrases []string // folded
	from    string   // as its name reads
	tokens  []string // of the speaker
	grams   []string // rarest first
}

func (a Ask) check() (q question, err error) {
	q = question{Ask: a, phrases: gram.Phrases(a.Query)}
	switch {
	case len(a.Query) > MaxQuery:
		return q, abi.Field("q", abi.CodeTooLarge, "%d bytes, at most %d", len(a.Query), MaxQuery)
	case !utf8.ValidString(a.Query):
		return q, abi.Field("q", abi.CodeInvalid, "is not UTF-8")
	case len(q.phrases) == 0:
		return q, abi.Field("q", abi.CodeInvalid, "has no words: write what stands in the message")
	case len(q.phrases) > MaxWords:
		return q, abi.Field("q", abi.CodeTooLarge, "%d words, at most %d", len(q.phrases), MaxWords)
	case a.Room == "" && a.After > 0:
		return q, abi.Field("after", abi.CodeInvalid, "is for one room")
	}
	if q.Limit, err = abi.Limit(a.Limit, Usual, Most); err != nil {
		return q, err
	}
	if a.From != "" {
		q.from = address.Reading(a.From)
		q.tokens = []string{speaker(q.from)}
	}
	for _, p := range q.phrases {
		q.grams = append(q.grams, gram.Of(p)...)
	}
	return q, nil
}

// speaker is the token of whoever spoke.
func speaker(reading string) string {
	sum := sha256.Sum256([]byte(reading))
	return "from" + hex.EncodeToString(sum[:8])
}

// has says whether a message is what is looked for.
func (q question) has(m abi.Message) bool {
	if q.from != "" && address.Reading(m.From) != q.from {
		return false
	}
	text := gram.Fold(m.Text)
	for _, p := range q.phrases {
		if !strings.Contains(text, p) {
			return false
		}
	}
	return true
}

// Search finds messages.
//
// # Errors
//
// An *abi.Error: CodeInvalid and CodeTooLarge with the field q, CodeNotFound for a room that is not there,
// CodeUnavailable where there is no index now, with the reason.
func (k *Keeper) Search(ctx context.Context, a Ask) (Answer, error) {
	q, err := a.check()
	if err != nil {
		return Answer{}, err
	}
	parts, err := k.past(ctx, q)
	if err != nil {
		return Answer{}, err
	}
	behind, err := k.ready(ctx, parts)
	if err != nil {
		return Answer{}, err
	}
	out := Answer{Hits: []Hit{}, Behind: behind}
	k.files.RLock()
	defer k.files.RUnlock()
	if k.index == nil {
		return Answer{}, k.none()
	}
	s := &seeker{k: k, q: q, out: &out, left: maxLooked}
	for _, p := range parts {
		if err := s.part(ctx, p); err != nil {
			return Answer{}, k.trouble(ctx, err)
		}
		if out.Next != 0 {
			break
		}
	}
	return out, nil
}

// part is what of the index belongs to one room's past: its own messages, or those that it has of the room
// that it was forked of.
type part struct {
	journal.Room
	after, before uint64 // seqs, exclusive; before 0 for none
}

// past gives the parts that a question is about, newest first. In all rooms it is one, without a name.
func (k *Keeper) past(ctx context.Context, q question) (parts []part, err error) {
	if q.Room == "" {
		return []part{{}}, nil
	}
	name, before := q.Room, q.Before
	for range journal.MaxDepth + 1 {
		row, ok, err := k.cfg.Journal.Room(ctx, name)
		if err != nil {
			return nil, journal.Coded(err)
		}
		if !ok {
			if len(parts) == 0 {
				return nil, abi.Field("room", abi.CodeNotFound, "there is no %q", q.Room)
			}
			return parts, nil
		}
		parts = append(parts, part{row, q.After, before})
		if row.Fork.Of == "" || row.Fork.At <= q.After {
			return parts, nil
		}
		if before == 0 || before > row.Fork.At+1 {
			before = row.Fork.At + 1
		}
		name = row.Fork.Of
	}
	return parts, nil
}

const (
	// maxLooked is how many messages one search reads at most, and page how many at once.
	maxLooked = 1000
	page      = 40
	// depth is how many of the newest messages with a gram are looked at to know how rare it is.
	depth = 200
	// rarest is how many grams are looked for together at first. The text tells the rest: to look for all is ten
	// times as slow where some are common.
	rarest = 2
)

// seeker goes through the index for one question.
type seeker struct {
	k    *Keeper
	q    question
	out  *Answer
	left int // messages that may still be read
	may  map[string]bool
	of   map[string][]journal.Room // forks of rooms that may not be read
}

// part looks through one part, and goes on in the answer where it was.
func (s *seeker) part(ctx context.Context, p part) error {
	in, tokens, ok, err := s.bounds(ctx, p)
	if err != nil || !ok {
		return err
	}
	grams, err := s.order(ctx, in)
	if err != nil || grams == nil {
		return err
	}
	for use := rarest; ; {
		with := append(grams[:min(use, len(grams)):min(use, len(grams))], tokens...)
		n := min(page, s.left)
		found, err := s.k.index.Find(ctx, with, in, n)
		if err != nil {
			return err
		}
		hits := 0
		for _, at := range found {
			s.left--
			ok, err := s.look(ctx, at)
			if err != nil {
				return err
			}
			if !ok {
				continue
			}
			if hits++; len(s.out.Hits) > s.q.Limit { // it is the first of the next page
				s.out.Hits = s.out.Hits[:s.q.Limit]
				s.goOn(at, 1)
				return nil
			}
		}
		if len(found) < n {
			return nil
		}
		if s.left == 0 {
			s.goOn(found[n-1], 0)
			return nil
		}
		if hits*4 < n {
			use *= 2
		}
		in.Before = found[n-1].ID
	}
}

// goOn has the answer say where the next page begins: before a place, or with 1 at it.
func (s *seeker) goOn(at words.Place, with uint64) {
	if s.out.Next = at.Seq + with; s.q.Room == "" {
		s.out.Next = uint64(at.ID) + with
	}
}

// bounds gives the span of a part, and the tokens that all in it have.
func (s *seeker) bounds(ctx context.Context, p part) (in words.Span, tokens []string, ok bool, err error) {
	tokens = s.q.tokens
	if p.Name == "" {
		return words.Span{Before: int64(min(s.q.Before, math.MaxInt64))}, tokens, true, nil
	}
	r, ok, err := s.k.index.Room(ctx, p.Name)
	if err != nil || !ok {
		return in, nil, false, err
	}
	in, ok, err = s.k.index.Within(ctx, r.Num, p.after, p.before)
	return in, append(tokens[:len(tokens):len(tokens)], words.InRoom(r.Num)), ok, err
}

// order gives the grams, rarest first; none where there is no message with one of them.
func (s *seeker) order(ctx context.Context, in words.Span) ([]string, error) {
	if len(s.q.grams) <= rarest {
		return s.q.grams, nil
	}
	type rare struct {
		gram string
		n    int
		id   int64
	}
	all := make([]rare, 0, len(s.q.grams))
	for _, g := range s.q.grams {
		n, id, err := s.k.index.Sparse(ctx, g, in, depth)
		if err != nil || n == 0 {
			return nil, err
		}
		all = append(all, rare{g, n, id})
	}
	slices.SortFunc(all, func(a, b rare) int { return cmp.Or(cmp.Compare(a.n, b.n), cmp.Compare(a.id, b.id)) })
	grams := make([]string, len(all))
	for i, r := range all {
		grams[i] = r.gram
	}
	return grams, nil
}

// look reads a message as it is in the journal now, and puts it into the answer where it is looked
// for.
func (s *seeker) look(ctx context.Context, at words.Place) (bool, error) {
	room, ok, err := s.where(ctx, at)
	if err != nil || !ok {
		return false, err
	}
	all, err := reader.Said(ctx, s.k.cfg.Journal, room, journal.Span{After: at.Seq - 1, Before: at.Seq + 1, Limit: 1})
	if err != nil || len(all) == 0 || !s.q.has(all[0]) {
		return false, journal.Coded(err)
	}
	turn, err := reader.TurnOf(ctx, s.k.cfg.Journal, room, at.Seq)
	if err != nil {
		return false, err
	}
	s.out.Hits = append(s.out.Hits, Hit{room, all[0], turn})
	return true, nil
}

// where gives the room in which whoever asks may read a message: the one that is searched, or of all the one in which it was said, or else of its forks, and theirs, that
// have it the one that is the fewest forks away, and the first by name.
func (s *seeker) where(ctx context.Context, at words.Place) (room string, ok bool, err error) {
	if s.q.Room != "" {
		return s.q.Room, true, nil // a fork has its own past, with the same numbers
	}
	for next := []string{at.Room}; len(next) > 0; next = next[1:] {
		if room = next[0]; s.readable(room) {
			return room, true, nil
		}
		forks, known := s.of[room]
		if !known {
			if forks, err = s.k.cfg.Journal.Forks(ctx, room); err != nil {
				return "", false, journal.Coded(err)
			}
			if s.of == nil {
				s.of = map[string][]journal.Room{}
			}
			s.of[room] = forks
		}
		for _, f := range forks {
			if f.Fork.At >= at.Seq {
				next = append(next, f.Name)
			}
		}
	}
	return "", false, nil
}

func (s *seeker) readable(room string) bool {
	if s.q.May == nil {
		return true
	}
	may, known := s.may[room]
	if !known {
		if s.may == nil {
			s.may = map[string]bool{}
		}
		may = s.q.May(room)
		s.may[room] = may
	}
	return may
}
