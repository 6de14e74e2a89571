package forget

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/address"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/forget/ledger"
	"github.com/companiond/companiond/host/identity"
	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/room/fold"
)

// Journal is what words are erased from.
type Journal interface {
	journal.Journal
	journal.Eraser
}

// Rooms are the rooms while the daemon runs.
type Rooms interface {
	// Forget has a room go on from what is left of its entries, see room.Room.Forget.
	Forget(ctx context.Context, room string, anew func(ctx context.Context, head uint64) (*fold.State, entry.Forgotten, error)) error
	// Relist changes what the index knows of a room besides its entries.
	Relist(ctx context.Context, room string, l journal.Listing) error
}

// Memory is what companions remember.
type Memory interface {
	// Each calls f with all that companions remember. f must not change it.
	Each(ctx context.Context, f func(companion string, m abi.Memory)) error
	// Anew has what was found in talks before, and is not remembered yet, looked for again in what is left of them.
	Anew()
	// Erase erases memories of a companion, and says how many there were.
	Erase(ctx context.Context, companion string, ids []string, by string) (int, error)
}

// Words is an index by which words of the journal are found.
type Words interface {
	// Forget takes out of its files what the journal has lost of entries, by room and seq.
	Forget(ctx context.Context, gone map[string][]uint64) error
}

// Modules are those that are loaded.
type Modules interface {
	// Ready is closed when all that were there at the start are.
	Ready() <-chan struct{}
	// Tell tells all of them what is erased, each also in the forks in which it keeps something else than elsewhere, and answers
	// when they have done what they do then, or had their time.
	Tell(ctx context.Context, f abi.Forget, forks map[string][]string)
	// Renew makes them anew, so that nothing is left in what they hold in memory.
	Renew(ctx context.Context)
}

// Config is what a service needs.
type Config struct {
	Journal Journal
	Dir     string // the state directory, which has the ledger
	Owner   string // of the entries that are written while no room runs
	// Forgotten is told of a room in which words were erased, so that what is kept of it in
	// memory goes; with "" of all. Nil: nobody is.
	Forgotten func(room string)
	Memory    Memory // nil: nobody remembers anything
	Words     Words  // nil: there is no index
	// Resident says which companion that lives here, or agent of the configuration, has a name, or one that
	// looks like it: of them nobody is forgotten. Nil: there are none.
	Resident func(name string) (who string, lives bool)
	// Late is how long after an order what was said meanwhile is looked through once more: a line that was
	// begun before may come behind it. 0 means two minutes.
	Late time.Duration
	Log  *slog.Logger
}

// Service follows orders, one after the other. Make one with [Open].
type Service struct {
	cfg    Config
	ledger *ledger.Ledger
	log    *slog.Logger
	wake   chan struct{}

	// Set by Run; before that nothing runs.
	rooms   Rooms
	modules Modules
	untold  []abi.Forget // what modules are to be told when they are there

	mu       sync.Mutex
	receipts []*Receipt    // oldest first
	changed  chan struct{} // closed when a receipt changes
	stopped  func(step string) error
}

// Open opens the ledger. Nothing is erased yet.
func Open(c Config) (*Service, error) {
	l, err := ledger.Open(filepath.Join(c.Dir, ledger.File))
	if err != nil {
		return nil, err
	}
	s := &Service{cfg: c, ledger: l, log: c.Log, wake: make(chan struct{}, 1), changed: make(chan struct{}), stopped: func(string) error { return nil }}
	if s.cfg.Late == 0 {
		s.cfg.Late = 2 * time.Minute
	}
	if s.cfg.Resident == nil {
		s.cfg.Resident = func(string) (string, bool) { return "", false }
	}
	if s.cfg.Forgotten == nil {
		s.cfg.Forgotten = func(string) {}
	}
	for _, o := range l.Since("") {
		r := &Receipt{}
		if o.Done == nil || json.Unmarshal(o.Done, r) != nil {
			r = receiptOf(o)
		}
		s.receipts = append(s.receipts, r)
	}
	return s, nil
}

func receiptOf(o ledger.Order) *Receipt {
	r := &Receipt{ID: o.ID, At: o.At, State: Running, Kind: "person", As: o.As, Theirs: o.Theirs}
	if len(o.Facts) > 0 {
		r.Kind = "facts"
	}
	if o.So != nil && o.Done == nil { // it goes on from there
		_ = json.Unmarshal(o.So, r)
	}
	return r
}

// Forget writes an order down, durably, and answers: the erasing goes on beside, and where the
// daemon is killed at its next start.
//
// # Errors
//
// An *abi.Error: CodeDenied where it is not the caller's to give, CodeInvalid and
// CodeTooLarge with the field, CodeNotFound for facts that nobody remembers, CodeUnavailable where it
// cannot be written down.
func (s *Service) Forget(ctx context.Context, o Order) (Receipt, error) {
	by, theirs, err := s.allow(ctx, o)
	if err != nil {
		return Receipt{}, err
	}
	id := ledger.NewID()
	order := ledger.Order{ID: id, At: time.Now().UTC().Truncate(time.Millisecond), By: by, Facts: o.Facts, Companion: o.Companion, Theirs: theirs, Copies: o.Copies}
	if o.Who != "" {
		order.As = address.Forgotten + id
		order.Name(o.Who)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if same := s.runs(o); same != nil {
		return *same, nil
	}
	if err := s.ledger.Add(order); err != nil {
		return Receipt{}, abi.Wrap(abi.CodeUnavailable, err, "the order cannot be written down now; try again")
	}
	s.receipts = append(s.receipts, receiptOf(order))
	s.log.Info("words are to be erased", "order", id, "by", by)
	select {
	case s.wake <- struct{}{}:
	default:
	}
	return *s.receipts[len(s.receipts)-1], nil
}

// allow says who gives an order, and whether of facts that somebody else told, or why it is not to be followed.
func (s *Service) allow(ctx context.Context, o Order) (by string, theirs bool, err error) {
	admin, err := o.check()
	if err != nil {
		return "", false, err
	}
	by = "person"
	if admin {
		by = "admin"
	}
	if who, lives := s.cfg.Resident(o.Who); lives && o.Who != "" {
		return "", false, abi.Field("who", abi.CodeDenied, "%s is a companion that lives here, or an agent: what one says is not erased this way, but with what it repeats of a person", who)
	}
	if len(o.Facts) == 0 {
		return by, false, nil
	}
	mine, _, err := o.By.From(o.Claimed, abi.KindHuman)
	if err != nil {
		return "", false, err
	}
	left := slices.Clone(o.Facts)
	var denied bool
	err = s.each(ctx, func(companion string, m abi.Memory) {
		at := slices.Index(left, m.ID)
		if companion != o.Companion || at < 0 {
			return
		}
		left = slices.Delete(left, at, at+1)
		theirs = theirs || !admin && !o.By.Guest && m.SaidBy != "" && !address.Same(m.SaidBy, mine)
		own := address.Same(m.SaidBy, mine) || slices.ContainsFunc(m.About, func(n string) bool { return address.Same(n, mine) })
		denied = denied || !admin && !own && !(o.By.Guest && o.By.Address == identity.Local)
	})
	switch {
	case err != nil:
		return "", false, journal.Coded(err)
	case len(left) > 0:
		return "", false, abi.Field("facts", abi.CodeNotFound, "%s remembers no %q", o.Companion, left[0])
	case denied:
		return "", false, abi.Field("facts", abi.CodeDenied, "somebody else said that, and of somebody else; an admin may have it erased")
	}
	return by, theirs, nil
}

func (s *Service) each(ctx context.Context, f func(companion string, m abi.Memory)) error {
	if s.cfg.Memory == nil {
		return nil
	}
	return s.cfg.Memory.Each(ctx, f)
}

// runs gives the receipt of the same order where that is not done yet. s.mu is held.
func (s *Service) runs(o Order) *Receipt {
	for _, was := range s.ledger.Since("") {
		same := o.Who != "" && was.Is(o.Who) || o.Who == "" && was.Companion == o.Companion && slices.Equal(was.Facts, o.Facts)
		if was.Done == nil && same && was.Copies == o.Copies {
			return s.receipt(was.ID)
		}
	}
	return nil
}

func (s *Service) receipt(id string) *Receipt {
	for _, r := range s.receipts {
		if r.ID == id {
			return r
		}
	}
	return nil
}

// Receipt looks an order up.
func (s *Service) Receipt(id string) (Receipt, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r := s.receipt(id); r != nil {
		return *r, nil
	}
	return Receipt{}, abi.Errorf(abi.CodeNotFound, "there is no such order")
}

// Receipts gives the newest 100, newest first.
func (s *Service) Receipts() []Receipt {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := []Receipt{}
	for _, r := range slices.Backward(s.receipts[max(0, len(s.receipts)-100):]) {
		all = append(all, *r)
	}
	return all
}

// Wait answers when an order is done, or ctx ends: then with its error, and the receipt as it is.
func (s *Service) Wait(ctx context.Context, id string) (Receipt, error) {
	for {
		s.mu.Lock()
		changed := s.changed
		s.mu.Unlock()
		r, err := s.Receipt(id)
		if err != nil || r.State == Done {
			return r, err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return r, ctx.Err()
		}
	}
}

// set changes a receipt.
func (s *Service) set(r Receipt) {
	s.mu.Lock()
	defer s.mu.Unlock()
	*s.receipt(r.ID) = r
	close(s.changed)
	s.changed = make(chan struct{})
}

// retry is how long the service waits after something could not be erased.
const retry = 10 * time.Second

// Resume does what is in the ledger and not in the journal: orders of before a kill, and all of those that
// an older journal, which was put in place, does not know. It is called before anything
// runs, so that nobody is shown what was erased.
func (s *Service) Resume(ctx context.Context) error {
	at, err := s.cfg.Journal.Erased(ctx)
	if err != nil {
		return fmt.Errorf("erase: %w", err)
	}
	for _, o := range s.ledger.Since(at) {
		if o.Done != nil {
			s.log.Info("an older journal was put in place; what had been erased is erased again", "order", o.ID)
		}
		if _, err := s.follow(ctx, o); err != nil {
			return fmt.Errorf("erase (order %s): %w", o.ID, err)
		}
	}
	if err := s.resumeLate(ctx); err != nil {
		return fmt.Errorf("erase: %w", err)
	}
	return nil
}

// Run follows orders until ctx ends.
func (s *Service) Run(ctx context.Context, rooms Rooms, modules Modules) error {
	s.rooms, s.modules = rooms, modules
	select {
	case <-modules.Ready():
	case <-ctx.Done():
		return nil
	}
	for _, f := range s.untold {
		s.tellModules(ctx, f)
		if err := s.eraseKeys(ctx, f.Words); err != nil {
			s.log.Warn("keys of modules cannot be looked through", "err", err)
		}
	}
	s.untold = nil
	var again []work
	for ctx.Err() == nil {
		wait := time.Hour
		at, err := s.cfg.Journal.Erased(ctx)
		if err == nil {
			for _, o := range s.ledger.Since(at) {
				w, ferr := s.follow(ctx, o)
				if err = ferr; err != nil {
					break
				}
				again = append(again, w)
			}
		}
		again = slices.DeleteFunc(again, func(w work) bool {
			return err == nil && time.Since(w.done) >= s.cfg.Late && s.late(ctx, w)
		})
		for _, w := range again {
			wait = min(wait, max(10*time.Millisecond, s.cfg.Late-time.Since(w.done)))
		}
		if err != nil {
			wait = retry
		}
		select {
		case <-s.wake:
		case <-time.After(wait):
		case <-ctx.Done():
		}
	}
	return nil
}
