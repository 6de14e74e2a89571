// Package told is who has to hear of it when words are erased: the modules, which are told and made
// anew, and the keeper of what companions remember.
//
// It decides nothing; host/forget does.
package told

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/memory"
	"github.com/companiond/companiond/host/module"
	"github.com/companiond/companiond/host/module/folder"
)

// patience is how long a module may take to let go of what it made of somebody's words.
const patience = 10 * time.Second

// Modules are those of some folders.
type Modules struct {
	Folder *folder.Set
	NewID  func() string
	Log    *slog.Logger
}

// Ready is closed when all that were there at the start are loaded or refused.
func (m Modules) Ready() <-chan struct{} { return m.Folder.Ready() }

// Renew has all loaded anew, and answers when they are, or had their time.
func (m Modules) Renew(ctx context.Context) {
	was := map[string]uint64{}
	for _, c := range m.Folder.Companions() {
		was[c.ID()] = c.Generation()
	}
	m.Folder.Renew()
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for slices.ContainsFunc(m.Folder.Companions(), func(c *module.Companion) bool { return c.Generation() == was[c.ID()] }) {
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			return
		}
	}
}

// Tell tells all that answer events, each also in its forks, whose keys it reaches in no other room, and answers when they
// have.
func (m Modules) Tell(ctx context.Context, f abi.Forget, forks map[string][]string) {
	data, err := json.Marshal(abi.Event{Kind: abi.EventForget, Forget: &f})
	if err != nil {
		m.Log.Error("modules cannot be told what is erased", "err", err)
		return
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var told sync.WaitGroup
	for _, c := range m.Folder.Companions() {
		if slices.Contains(c.Describe().Ops, abi.OpEvent) {
			told.Go(func() {
				for _, room := range append([]string{""}, forks[c.ID()]...) {
					m.tell(ctx, c, room, data)
				}
			})
		}
	}
	told.Wait()
}

func (m Modules) tell(ctx context.Context, c *module.Companion, room string, data json.RawMessage) {
	_, err := c.Call(ctx, abi.Request{V: abi.Version, Op: abi.OpEvent, ID: m.NewID(), Self: c.ID(), Room: room, Now: time.Now().UTC().Truncate(time.Millisecond), Data: data})
	if err != nil { // what it says may have the words in it
		m.Log.Warn("a companion that was told to forget did not answer; what it left is deleted", "companion", c.ID(), "code", abi.CodeOf(err))
	}
}

// Memory is what companions remember, also what is no longer so.
type Memory struct{ Keeper *memory.Keeper }

// Each calls f with all of it.
func (m Memory) Each(ctx context.Context, f func(companion string, m abi.Memory)) error {
	companions, err := m.Keeper.Companions(ctx)
	if err != nil {
		return err
	}
	for _, c := range companions {
		ask := memory.Filter{Past: true, Limit: memory.MaxList}
		for {
			page, err := m.Keeper.List(ctx, c, ask)
			if err != nil {
				return err
			}
			for _, one := range page.Memories {
				f(c, one)
			}
			if ask.After = page.Next; ask.After == "" {
				break
			}
		}
	}
	return nil
}

// Anew has talks that are gone through in this moment gone through again.
func (m Memory) Anew() { m.Keeper.Anew() }

// Erase erases some of a companion's, and says how many there were.
func (m Memory) Erase(ctx context.Context, companion string, ids []string, by string) (int, error) {
	gone, err := m.Keeper.Erase(ctx, companion, ids, by)
	return len(gone), err
}
