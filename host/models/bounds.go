package models

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/config"
	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/limits"
	"github.com/companiond/companiond/host/model"
	"github.com/companiond/companiond/host/module"
)

// Store keeps what was spent in the day and the last minute; host/journal's store of keys is one.
type Store interface {
	KVGet(ctx context.Context, owner, key string) (value string, ok bool, err error)
	KVSet(ctx context.Context, owner, key, value string) error
}

// Where it is kept. No companion is called like that.
const (
	storeOwner = journal.House + "house"
	storeKey   = "spent"
)

// bounds are the limits of a house, for many goroutines at once.
type bounds struct {
	mu     sync.Mutex
	of     map[limits.Key]limits.Bounds
	limits *limits.Limits
	spent  chan struct{} // something was; it is to be kept
}

func newBounds(of map[limits.Key]limits.Bounds) *bounds {
	return &bounds{of: of, limits: limits.New(of), spent: make(chan struct{}, 1)}
}

func (b *bounds) set(of map[limits.Key]limits.Bounds) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.of = of
	b.limits.Set(of)
}

// has says whether there is a bound of its own for a key.
func (b *bounds) has(key limits.Key) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.of[key] != (limits.Bounds{})
}

// counted gives whose bounds a call counts for. A fork counts for the nearest room with bounds of its own, from itself back
// through those that it comes of, and where none has any for the first of them all: no room spends more for being forked.
func (m *Models) counted(ctx context.Context, model string, c module.Caller) ([]limits.Key, error) {
	room := limits.Key{Table: "room", Name: c.Room}
	for m.cfg.ForkedOf != nil && room.Name != "" && !m.bounds.has(room) {
		of, err := m.cfg.ForkedOf(ctx, room.Name)
		if err != nil {
			return nil, err
		}
		if of == "" {
			break
		}
		room.Name = of
	}
	return []limits.Key{{Table: "model", Name: model}, {Table: "companion", Name: c.Companion}, room}, nil
}

// may says why a call is not to be made; it counts nothing.
func (m *Models) may(keys []limits.Key, urgency limits.Urgency) error {
	return m.bounded((*limits.Limits).May, keys, urgency)
}

// take counts a request before it is sent, be it the first of a call or one that is sent again.
func (m *Models) take(keys []limits.Key, urgency limits.Urgency) error {
	err := m.bounded((*limits.Limits).Take, keys, urgency)
	if err == nil {
		m.bounds.changed()
	}
	return err
}

// bounded asks the limits. What somebody waits for is told when it may be made; what nobody does is not
// to come back for it. Neither is a call where something is left for those who call somebody: until then its
// speaker would not be asked by them.
func (m *Models) bounded(ask func(l *limits.Limits, now time.Time, urgency limits.Urgency, keys ...limits.Key) *limits.Refusal, keys []limits.Key, urgency limits.Urgency) error {
	b := m.bounds
	now := time.Now()
	b.mu.Lock()
	until, why := b.limits.Held(keys[0], now)
	var no *limits.Refusal
	if until.IsZero() {
		no = ask(b.limits, now, urgency, keys...)
	}
	b.mu.Unlock()
	switch {
	case !until.IsZero():
		err := abi.Errorf(abi.CodeUnavailable, "%s", why)
		err.After = milliseconds(until.Sub(now))
		return err
	case no == nil:
		return nil
	}
	if no.First && m.cfg.Log != nil {
		m.cfg.Log.Warn("a bound on calls of models is reached: what is over it is not asked", "why", no.Why)
	}
	err := abi.Errorf(abi.CodeExhausted, "%s", no.Why)
	if urgency > limits.Idle && no.Full {
		err.After = milliseconds(no.After)
	}
	return err
}

// spend counts what a call came to, whose requests were taken.
func (m *Models) spend(keys []limits.Key, used model.Usage, err error) {
	b := m.bounds
	now := time.Now()
	b.mu.Lock()
	b.limits.Spend(now, 0, used.Cost, keys...)
	if e := abi.AsError(err); e != nil && e.Code == abi.CodeUnavailable && e.After > 0 {
		b.limits.Hold(keys[0], now.Add(time.Duration(e.After)*time.Millisecond), e.Message)
	}
	b.mu.Unlock()
	b.changed()
}

// milliseconds rounds up, so that nobody comes back too early.
func milliseconds(d time.Duration) int64 {
	return int64((d + time.Millisecond - 1) / time.Millisecond)
}

func (b *bounds) changed() {
	select {
	case b.spent <- struct{}{}:
	default: // whoever keeps it will see this too
	}
}

func (b *bounds) days() []limits.Day {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.limits.Days()
}

// Restore reads what was spent in the day and the last minute before the daemon was started.
func (m *Models) Restore(ctx context.Context) error {
	kept, ok, err := m.cfg.Store.KVGet(ctx, storeOwner, storeKey)
	if err != nil || !ok {
		return err
	}
	var days []limits.Day
	if err := json.Unmarshal([]byte(kept), &days); err != nil {
		return fmt.Errorf("read what was spent today: %w", err)
	}
	m.bounds.mu.Lock()
	defer m.bounds.mu.Unlock()
	m.bounds.limits.Restore(days)
	return nil
}

// Run keeps what is spent in the day and the last minute, beside the calls, until ctx ends. A daemon that is killed
// loses what was spent since the last of it was written, which is a call or two, and
// what those cost that were running.
func (m *Models) Run(ctx context.Context) error {
	was := ""
	keep := func(ctx context.Context) {
		days := m.bounds.days()
		text, err := json.Marshal(days)
		if err != nil || len(days) == 0 || string(text) == was {
			return
		}
		if err = m.cfg.Store.KVSet(ctx, storeOwner, storeKey, string(text)); err == nil {
			was = string(text)
		} else if ctx.Err() == nil {
			m.cfg.Log.Warn("what models cost today cannot be written down; after a restart it would not count", "err", err)
		}
	}
	for {
		select {
		case <-m.bounds.spent:
			keep(ctx)
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
			defer cancel()
			keep(last)
			return nil
		}
	}
}

// Bounds gives the bounds on calls of models that a configuration sets.
func Bounds(c config.Config) map[limits.Key]limits.Bounds {
	all := map[limits.Key]limits.Bounds{}
	for _, m := range c.Models {
		all[limits.Key{Table: "model", Name: m.Name}] = limits.Bounds{Minute: m.CallsMinute, Day: m.CallsDay, Cost: m.CostDay}
	}
	for _, m := range c.Companions {
		all[limits.Key{Table: "companion", Name: m.Name}] = limits.Bounds{Minute: m.CallsMinute, Day: m.CallsDay, Cost: m.CostDay}
	}
	for _, m := range c.Rooms {
		all[limits.Key{Table: "room", Name: m.Name}] = limits.Bounds{Minute: m.CallsMinute, Day: m.CallsDay, Cost: m.CostDay}
	}
	return all
}
