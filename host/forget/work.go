package forget

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/context/kept"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/forget/known"
	"github.com/companiond/companiond/host/forget/ledger"
	"github.com/companiond/companiond/host/forget/origin"
	"github.com/companiond/companiond/host/forget/scrub"
	"github.com/companiond/companiond/host/journal"
)

const (
	// batch is how many entries are looked through in one go, and pause how long the
	// journal, and the processor, is left to the rooms afterwards.
	batch = 250
	pause = 10 * time.Millisecond
)

// work is an order that is followed. Where it is interrupted it is begun anew: what tells a
// repetition of the person's words, which are the person's words, goes last.
type work struct {
	order   ledger.Order
	words   *scrub.Words
	names   []string // of the person, as they were written
	known   known.Names
	origin  *origin.Book // of facts that go
	receipt Receipt
	done    time.Time

	seen map[string]uint64 // how far each room was when it was gone through
	ends map[string]uint64 // and when the order was done
	only map[string]bool   // these rooms, and their counts are added; nil: all
	late bool              // the order was done before
	// whole says that nobody knows the words any more, if this was begun before: what companions said
	// behind where a room was told, of what was there before, goes whole.
	whole bool
	lost  int                 // entries in this process
	found int                 // of these, that somebody made: who is here a room writes anew by itself
	per   map[string]tally    // entries that lost words, by room
	gone  map[string][]uint64 // their seqs
}

// once are the steps of which nobody can count afterwards what went.
var once = []string{"keys", "index", "memory", "settle"}

// follow does all that an order asks for.
func (s *Service) follow(ctx context.Context, o ledger.Order) (w work, err error) {
	w = work{order: o, receipt: *receiptOf(o), whole: true}
	defer func() {
		if err != nil && ctx.Err() == nil {
			w.receipt.State, w.receipt.Error = Failed, "it is tried again: "+why(err)
			s.log.Error("words cannot be erased now; it is tried again", "order", o.ID, "err", err)
			s.set(w.receipt)
		}
	}()
	for _, step := range []struct {
		name string
		do   func(context.Context, *work) error
	}{
		{"gather", s.gather}, {"keys", s.keys}, {"index", s.eraseIndex}, {"repeats", s.eraseRepeats}, {"rooms", s.eraseRooms},
		{"memory", s.eraseMemory}, {"streams", s.eraseStreams}, {"images", s.images}, {"settle", s.settle}, {"files", s.files},
	} {
		if err := step.do(ctx, &w); err != nil {
			return w, fmt.Errorf("%s: %w", step.name, err)
		}
		if slices.Contains(once, step.name) {
			if err := s.ledger.So(o.ID, w.receipt); err != nil {
				return w, err
			}
		}
		if err := s.stopped(step.name); err != nil {
			return w, err
		}
	}
	w.receipt.State, w.done = Done, time.Now()
	w.receipt.atLeast(o.Done)
	w.receipt.Nobody = w.receipt.Nobody && w.receipt.Entries == 0 && w.receipt.Memories == 0 // else it was begun before
	if err := s.ledger.Done(o.ID, w.receipt, w.done); err != nil {
		return w, err
	}
	if err := s.stopped("done"); err != nil {
		return w, err
	}
	if err := s.cfg.Journal.SetErased(ctx, o.ID); err != nil {
		return w, err
	}
	s.log.Info("words were erased", "order", o.ID, "rooms", w.receipt.Rooms, "entries", w.receipt.Entries, "keys", w.receipt.Keys, "memories", w.receipt.Memories)
	s.set(w.receipt)
	return w, nil
}

// why says why an order is tried again: of the disk's troubles the commonest, too, which meets the ledger as well.
func why(err error) string {
	if coded := abi.AsError(journal.Coded(err)); coded.Code != abi.CodeInternal || !errors.Is(err, syscall.ENOSPC) {
		return coded.Message
	}
	return "the disk is full; make room"
}

// entries calls f with all entries of a room behind one, in batches, with pauses while others
// want the journal.
func (s *Service) entries(ctx context.Context, room string, after, upto uint64, f func([]entry.Entry) error) error {
	for after < upto {
		es, err := s.cfg.Journal.Read(ctx, room, after, int(min(batch, upto-after)))
		if err != nil || len(es) == 0 {
			return err
		}
		after = es[len(es)-1].Seq
		if err := f(es); err != nil {
			return err
		}
		if s.rooms == nil || len(es) < batch {
			continue
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// everywhere calls f with every room of the journal. What companions remember stands beside
// the rooms, and is erased by who keeps it.
func (s *Service) everywhere(ctx context.Context, f func(journal.Room) error) error {
	for r, err := range journal.AllRooms(ctx, s.cfg.Journal) {
		if err != nil {
			return err
		}
		if err := f(r); err != nil {
			return fmt.Errorf("room %s: %w", r.Name, err)
		}
	}
	return nil
}

// gather learns what is looked for.
func (s *Service) gather(ctx context.Context, w *work) error {
	g := scrub.NewGatherer(w.order.Is, w.order.Facts)
	g.Alone, g.Theirs = w.order.By == "person", w.order.Theirs
	w.origin = origin.New(w.order.ID, w.order.Companion, w.order.Facts)
	if err := s.values(ctx, w, g); err != nil {
		return err
	}
	if err := s.each(ctx, func(companion string, m abi.Memory) {
		if w.order.Companion == "" || w.order.Companion == companion {
			now, was := w.origin.Remembered(companion, m)
			g.Remembered(now, was.Text)
		}
	}); err != nil {
		return err
	}
	w.known = known.Names{}
	learn := func(room string, e entry.Entry) { g.Learn(e); w.origin.Read(room, e) }
	weigh := func(_ string, e entry.Entry) { g.Weigh(e); w.known.Learn(e) }
	for _, read := range []func(string, entry.Entry){learn, weigh} {
		err := s.everywhere(ctx, func(r journal.Room) error {
			g.Enter(r.Name, r.By)
			return s.entries(ctx, r.Name, 0, r.Head.Seq, func(es []entry.Entry) error {
				for _, e := range es {
					read(r.Name, e)
				}
				return nil
			})
		})
		if err != nil {
			return err
		}
	}
	words, common := g.Words(w.order.ID, w.order.As)
	if !w.order.Theirs {
		words.Rests(w.origin)
	}
	w.words, w.receipt.Common, w.receipt.Unfound = words, max(common, w.receipt.Common), max(w.origin.Unfound(), w.receipt.Unfound)
	w.names = g.Names()
	w.receipt.Nobody = len(w.order.Who) > 0 && len(w.names) == 0
	return nil
}

// values learns what was remembered of what the person said, or of the facts, in few letters.
func (s *Service) values(ctx context.Context, w *work, g *scrub.Gatherer) error {
	for r, err := range journal.AllStreams(ctx, s.cfg.Journal) {
		if err != nil {
			return err
		}
		companion, ok := journal.Remembers(r.Name)
		if !ok {
			continue
		}
		if err := s.entries(ctx, r.Name, 0, r.Head.Seq, func(es []entry.Entry) error {
			for _, e := range es {
				w.origin.Written(companion, e)
				if m, err := entry.Decode[entry.Remembered](e); err == nil && e.Kind == entry.KindRemembered && !e.Blank && (w.order.Is(m.SaidBy) || w.named(companion, m.ID)) {
					g.Value(m.Value, m.SaidAt.UnixMilli())
				}
			}
			return nil
		}); err != nil {
			return fmt.Errorf("stream %s: %w", r.Name, err)
		}
	}
	return nil
}

// goes says whether something that is remembered goes: because of the person, or because words stand in it. What somebody
// else said, and an episode, which has the words of several, goes for fewer of them.
func (w *work) goes(companion string, m abi.Memory) bool {
	hits := w.words.Hits
	if m.SaidBy != "" || m.Kind == abi.MemoryEpisode {
		hits = func(text string) bool { return w.words.HitsOf(m.SaidBy, text) }
	}
	return w.named(companion, m.ID) || w.origin.Goes(companion, m) || w.order.Is(m.SaidBy) || w.order.Is(m.EditedBy) || slices.ContainsFunc(m.About, w.order.Is) ||
		hits(m.Text) || hits(m.Quote) || slices.ContainsFunc(m.Keys, hits)
}

// others says whether something that is remembered is somebody else's, or of somebody else, too.
func (w *work) others(m abi.Memory) bool {
	if m.Kind == abi.MemoryEpisode {
		return slices.ContainsFunc(m.About, func(who string) bool { return !w.order.Is(who) })
	}
	return m.SaidBy != "" && !w.order.Is(m.SaidBy) && !w.words.Told(m.SaidBy) && !slices.Contains(w.order.Facts, m.ID)
}

// named says whether a companion's memory is one of the facts that go.
func (w *work) named(companion, id string) bool {
	return companion == w.order.Companion && slices.Contains(w.order.Facts, id)
}

// eraseRepeats takes out of the rooms what others said after the person.
func (s *Service) eraseRepeats(ctx context.Context, w *work) error {
	return s.everywhere(ctx, func(r journal.Room) error {
		t := track{s: s, w: w, room: r.Name, lines: w.words.Lines()}
		return t.upTo(ctx, r.Head.Seq)
	})
}

// eraseRooms takes out what the person said, and all else, and has the rooms go on from what is
// left.
func (s *Service) eraseRooms(ctx context.Context, w *work) error {
	if w.only == nil {
		w.per, w.seen, w.gone = map[string]tally{}, map[string]uint64{}, map[string][]uint64{}
	}
	err := s.everywhere(ctx, func(r journal.Room) error {
		if w.only != nil && !w.only[r.Name] {
			return nil
		}
		return s.eraseRoom(ctx, w, r)
	})
	w.receipt.Rooms, w.receipt.Entries, w.receipt.Others, w.whole = 0, 0, Others{Memories: w.receipt.Others.Memories, Episodes: w.receipt.Others.Episodes}, false
	for _, n := range w.per {
		w.receipt.add(n)
	}
	return err
}

// tally counts entries, and what of them other people said.
type tally struct{ all, others, renamed, stay int }

// add adds what was counted in a room.
func (r *Receipt) add(n tally) {
	if n.all > 0 {
		r.Rooms++
	}
	r.Entries += n.all
	r.Others.Entries += n.others
	r.Others.Renamed += n.renamed
	r.Others.Stay += n.stay
}

func (s *Service) eraseRoom(ctx context.Context, w *work, r journal.Room) error {
	t := track{s: s, w: w, room: r.Name, all: true, lines: w.words.Lines()}
	told := uint64(0)
	defer func() { w.per[r.Name], w.seen[r.Name], w.gone[r.Name] = t.tally(), t.at+told, t.seqs }()
	if err := t.begin(ctx); err != nil {
		return err
	}
	if err := t.upTo(ctx, r.Head.Seq); err != nil {
		return err
	}
	if len(t.seqs) == 0 {
		return nil
	}
	if !t.told && (!w.late || t.lost) {
		told = 1 // the entry that tells the room
		if err := s.tell(ctx, &t); err != nil {
			return err
		}
	}
	from := slices.Min(t.seqs)
	if t.trimmed { // what was known of before is in all of them
		from = 0
	}
	return s.cfg.Journal.DropSnapshots(ctx, r.Name, from) // the newest is of what is left
}

// tell has a room go on from what is left, and know it.
func (s *Service) tell(ctx context.Context, t *track) error {
	if s.rooms == nil {
		return t.write(ctx)
	}
	defer s.cfg.Forgotten(t.room)
	return s.rooms.Forget(ctx, t.room, t.anew)
}

// eraseStreams takes out what stands beside the rooms: what models were told there. Of the streams of memories it
// is the names of those who changed something; what is remembered has gone by now, or stays as it is.
func (s *Service) eraseStreams(ctx context.Context, w *work) error {
	for r, err := range journal.AllStreams(ctx, s.cfg.Journal) {
		if err != nil {
			return err
		}
		if r.Name == kept.Stream { // cards and rules of the house, found by their hashes: nobody's words
			continue
		}
		t := track{s: s, w: w, room: r.Name, all: true}
		_, t.memory = journal.Remembers(r.Name)
		if err := t.upTo(ctx, r.Head.Seq); err != nil {
			return fmt.Errorf("stream %s: %w", r.Name, err)
		}
	}
	return nil
}

// images lets go of what is kept in memory of what was said.
func (s *Service) images(ctx context.Context, _ *work) error {
	s.cfg.Forgotten("")
	if s.modules != nil {
		s.modules.Renew(ctx)
	}
	return nil
}

// files sees to it that the files have nothing of it, and says which still do.
func (s *Service) files(ctx context.Context, w *work) error {
	copies, err := s.cfg.Journal.Copies()
	if err == nil && w.order.Copies {
		err = s.cfg.Journal.DeleteCopies(copies)
		copies = nil
	}
	if err != nil {
		return err
	}
	for _, c := range copies {
		w.receipt.Copies = append(w.receipt.Copies, filepath.Base(c))
	}
	return s.purge(ctx, w, s.rooms == nil)
}
