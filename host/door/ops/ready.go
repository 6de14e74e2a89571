package ops

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/companiond/companiond/host/module"
)

// Patience is how long what has to be well may take to say so.
const Patience = 5 * time.Second

// check is something that has to be well for the daemon to be ready.
type check struct {
	name string
	// ask says how it is, in words for people, or what is wrong. What does not answer before ctx ends is not well.
	ask func(ctx context.Context) (how string, err error)
}

// checks are all there are, in the order in which they are shown.
func (d *Door) checks() []check {
	return []check{
		{"journal", func(context.Context) (string, error) { return "", d.cfg.Health() }},
		{"modules", func(context.Context) (string, error) { return d.modulesReady() }},
		{"rooms", func(ctx context.Context) (string, error) { return "", d.cfg.Answers(ctx) }},
		{"draining", func(context.Context) (string, error) {
			if d.cfg.Stopping() {
				return "", errors.New("the daemon is stopping")
			}
			return "", nil
		}},
	}
}

// modulesReady says whether every file of a module that was there at the start was loaded or refused, and there is one for each
// that the configuration names. One that was refused keeps nothing else from working.
func (d *Door) modulesReady() (how string, err error) {
	select {
	case <-d.cfg.Loaded():
	default:
		return "", errors.New("characters and handlers are still being loaded")
	}
	var missing []string
	if d.cfg.Named != nil {
		missing = d.cfg.Named()
	}
	for _, s := range d.cfg.Modules() {
		missing = slices.DeleteFunc(missing, func(id string) bool { return id == s.ID })
		if s.Error != "" {
			how = module.Sentence(how, s.ID+": "+s.Error)
		}
	}
	if len(missing) > 0 {
		return "", fmt.Errorf("the configuration names %s, of which there is no file", strings.Join(missing, ", "))
	}
	return how, nil
}

// Ready is whether the daemon is ready, and why not.
type Ready struct {
	Ready  bool            `json:"ready"`
	Checks map[string]Item `json:"checks"`
}

// Item is how one thing is.
type Item struct {
	OK     bool   `json:"ok"`
	Reason string `json:"reason,omitempty"` // why it is not well; of one that is, what there is to say of it
}

// readyz answers 200 where all is well, else 503, with how each thing is.
func (d *Door) readyz(w http.ResponseWriter, r *http.Request) {
	ready := d.ready(r.Context())
	status := http.StatusOK
	if !ready.Ready {
		status = http.StatusServiceUnavailable
	}
	if !r.URL.Query().Has("verbose") {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(ready) // whoever has gone does not want it
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	for _, c := range d.checks() {
		sign, item := "+", ready.Checks[c.name]
		if !item.OK {
			sign = "-"
		}
		fmt.Fprintln(w, strings.Join(strings.Fields("["+sign+"] "+c.name+" "+item.Reason), " "))
	}
}

// ready asks how all is, at once.
func (d *Door) ready(ctx context.Context) Ready {
	ctx, cancel := context.WithTimeout(ctx, Patience)
	defer cancel()
	r := Ready{Ready: true, Checks: map[string]Item{}}
	var mu sync.Mutex
	var asked sync.WaitGroup
	for _, c := range d.checks() {
		asked.Go(func() {
			item := Item{OK: true}
			how, err := c.ask(ctx)
			if item.Reason = how; err != nil {
				item = Item{Reason: err.Error()}
			}
			mu.Lock()
			defer mu.Unlock()
			r.Checks[c.name], r.Ready = item, r.Ready && item.OK
		})
	}
	asked.Wait()
	return r
}
