// Package doctor looks at what a daemon needs on its machine: which engine it has, its folders, its addresses, its models, the clock, the disk and
// the limits of the system.
//
// It changes nothing but for files of its own that it makes in folders in which the daemon writes, and deletes again; and it mends nothing.
package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/companiond/companiond/host/config"
	"github.com/companiond/companiond/host/control"
	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/journal/sqlite"
	"github.com/companiond/companiond/host/journal/statedir"
	"github.com/companiond/companiond/host/journal/swap"
	"github.com/companiond/companiond/host/models"
	"github.com/companiond/companiond/host/module/js/npm"
	"github.com/companiond/companiond/host/module/wasm/compiler"
)

// State is how a thing is.
type State string

const (
	OK   State = "ok"
	Warn State = "warn" // the daemon runs, with less
	Fail State = "fail" // it does not run, or loses something
)

// Item is one thing that was looked at.
type Item struct {
	State State  `json:"state"`
	Thing string `json:"thing"`
	Found string `json:"found"`          // what was found
	Type  string `json:"type,omitempty"` // what to type, or to do
}

// Failed says whether one of the items is a failure.
func Failed(items []Item) bool {
	for _, i := range items {
		if i.State == Fail {
			return true
		}
	}
	return false
}

// Options are of which daemon.
type Options struct {
	Config     config.Config
	Control    string                             // the path of its control socket
	SecretFile func(value string) (string, error) // the path behind a setting that names a secret
	Starts     string                             // what to type that starts the daemon; empty: companiond run
	Now        func() time.Time
	Patience   time.Duration // with each model, and with the daemon; 0: five seconds
}

// wait bounds how long something is waited for.
func (o Options) wait(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, cmp.Or(o.Patience, 5*time.Second))
}

// Look looks at everything, which takes a few seconds where a model does not answer.
func Look(ctx context.Context, o Options) []Item {
	items := []Item{engine(), script()}
	status, running := o.daemon(ctx)
	items = append(items, o.running(status, running))
	items = append(items, o.journal(ctx)...)
	items = append(items, o.folders()...)
	items = append(items, strangers(o.state())...)
	items = append(items, o.disk())
	items = append(items, o.doors(ctx, status, running)...)
	items = append(items, o.models(ctx)...)
	items = append(items, o.clock(ctx))
	return append(items, system()...)
}

func engine() Item {
	if compiler.Supported(runtime.GOOS, runtime.GOARCH) {
		return Item{OK, "WebAssembly", "compiled", ""}
	}
	return Item{Warn, "WebAssembly", "interpreted on " + runtime.GOOS + "/" + runtime.GOARCH + ", about fifty times slower", "run companiond on linux, macOS or windows with amd64 or arm64"}
}

func script() Item {
	if npm.QuickJS() != nil {
		return Item{OK, "JavaScript", "built in", ""}
	}
	return Item{Warn, "JavaScript", "not in this companiond: characters in .js and .ts are not loaded", "make build, where npm is installed; releases have it"}
}

func (o Options) daemon(ctx context.Context) (s control.Status, running bool) {
	ctx, cancel := o.wait(ctx)
	defer cancel()
	s, err := control.Ask[control.Status](ctx, o.Control, http.MethodGet, "/status")
	return s, err == nil
}

// state is the state directory.
func (o Options) state() string { return filepath.Dir(o.Config.Journal.Path) }

func (o Options) running(s control.Status, running bool) Item {
	pid, held := statedir.Holder(o.state())
	switch {
	case running && len(s.Faults) > 0:
		return Item{Warn, "daemon", fmt.Sprintf("process %d; %s", s.PID, strings.Join(s.Faults, "; ")), "companiond status"}
	case running:
		return Item{OK, "daemon", fmt.Sprintf("process %d runs since %s", s.PID, s.Since), ""}
	case held:
		return Item{Fail, "daemon", fmt.Sprintf("process %d has %s, and does not answer at %s", pid, o.state(), o.Control), fmt.Sprintf("ps -p %d; if it is a companiond that hangs, kill -QUIT %d shows where", pid, pid)}
	}
	return Item{OK, "daemon", "none runs", cmp.Or(o.Starts, "companiond run")}
}

// journal looks whether the journal can be read, and how its newest entry lies in time.
func (o Options) journal(ctx context.Context) (items []Item) {
	path := o.Config.Journal.Path
	if swap.Pending(o.state()) {
		items = append(items, Item{Warn, "restore", "one was interrupted in " + o.state(), "companiond run, or the restore again, finishes it"})
	}
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return append(items, Item{OK, "journal", path + " is not there yet; the first start makes it", ""})
	}
	if err != nil {
		return append(items, Item{Fail, "journal", err.Error(), "run companiond doctor as the user of the daemon"})
	}
	j, err := sqlite.OpenReadOnly(path)
	if err != nil {
		return append(items, Item{Fail, "journal", err.Error(), "companiond restore -force BACKUP; docs/BACKUP.md"})
	}
	defer j.Close()
	rooms, newest := 0, time.Time{}
	for r, err := range journal.AllRooms(ctx, j) {
		if err != nil {
			return append(items, Item{Fail, "journal", err.Error(), "companiond replay; companiond restore -force BACKUP"})
		}
		rooms++
		es, err := j.Read(ctx, r.Name, r.Head.Seq-min(r.Head.Seq, 1), 1)
		if err != nil {
			return append(items, Item{Fail, "journal", r.Name + ": " + err.Error(), "companiond replay; companiond restore -force BACKUP"})
		}
		for _, e := range es {
			if e.At.After(newest) {
				newest = e.At
			}
		}
	}
	items = append(items, Item{OK, "journal", fmt.Sprintf("%s, %d rooms, %d MiB", path, rooms, info.Size()>>20), ""})
	if ahead := newest.Sub(o.Now()); ahead > time.Minute {
		items = append(items, Item{Fail, "clock", fmt.Sprintf("the newest entry of the journal is of %s, which is yet to come", newest.Format(time.RFC3339)), "date; set the clock, or wait: what is said until then looks older than what was said"})
	}
	return items
}

// folders looks whether the daemon can read and write where it has to. It has the rights of whoever runs doctor.
func (o Options) folders() (items []Item) {
	m := o.Config.Modules
	items = append(items, writable("state folder", o.state()), writable("modules.cache", m.Cache))
	items = append(items, readable("modules.characters", m.Characters, "companiond new character NAME makes one there"))
	if len(o.Config.Handlers) > 0 || len(o.Config.Module) > 0 {
		items = append(items, readable("modules.plugins", m.Plugins, "make plugins builds them"))
	}
	if o.Config.Identity.Tokens != "" {
		items = append(items, o.tokens())
	}
	return items
}

func (o Options) tokens() Item {
	path, err := o.SecretFile(o.Config.Identity.Tokens)
	if err != nil {
		return Item{Warn, "identity.tokens", err.Error(), "look from within the service: systemctl status companiond"}
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return Item{Fail, "identity.tokens", err.Error(), "companiond token NAME makes it"}
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0:
		return Item{Warn, "identity.tokens", "others on this machine can read or change " + path, "chmod 600 " + path}
	}
	return Item{OK, "identity.tokens", path, ""}
}

func readable(thing, path, make string) Item {
	files, err := os.ReadDir(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Item{Warn, thing, path + " is not there", make}
	case err != nil:
		return Item{Fail, thing, err.Error(), "chmod -R u+rX " + path + ", or run the daemon as its owner"}
	case len(files) == 0:
		return Item{Warn, thing, path + " is empty", make}
	}
	return Item{OK, thing, fmt.Sprintf("%s, %d files", path, len(files)), ""}
}

// writable looks at a folder, or at that in which it would be made.
func writable(thing, path string) Item {
	at := path
	for {
		info, err := os.Stat(at)
		if err == nil && info.IsDir() {
			break
		}
		if err == nil {
			return Item{Fail, thing, at + " is no folder", "mv " + at + " elsewhere"}
		}
		up := filepath.Dir(at)
		if !errors.Is(err, fs.ErrNotExist) || up == at {
			return Item{Fail, thing, err.Error(), "run companiond doctor as the user of the daemon"}
		}
		at = up
	}
	f, err := os.CreateTemp(at, ".doctor-*")
	if err != nil {
		return Item{Fail, thing, err.Error(), "sudo chown -R $USER " + at + ", or run the daemon as its owner"}
	}
	_ = f.Close()
	_ = os.Remove(f.Name())
	if at != path {
		return Item{OK, thing, path + " will be made", ""}
	}
	return Item{OK, thing, path, ""}
}

// Bounds of what is free, beside the ballast.
const (
	leastFree  = 64 << 20
	littleFree = 1 << 30
)

func (o Options) disk() Item {
	dir := o.state()
	for {
		if _, err := os.Stat(dir); err == nil || filepath.Dir(dir) == dir {
			break
		}
		dir = filepath.Dir(dir)
	}
	free, ok := statedir.Free(dir)
	if !ok {
		return Item{OK, "disk", "what is free is not known here", ""}
	}
	found := fmt.Sprintf("%d MiB are free for %s", free>>20, dir)
	switch {
	case free < leastFree:
		return Item{Fail, "disk", found, "df -h " + dir + "; rooms write down their end and then wait for space"}
	case free < littleFree:
		return Item{Warn, "disk", found, "df -h " + dir}
	}
	return Item{OK, "disk", found, ""}
}

// models asks each model's endpoint, all at once.
func (o Options) models(ctx context.Context) []Item {
	ctx, cancel := o.wait(ctx)
	defer cancel()
	items := make([]Item, len(o.Config.Models))
	var all sync.WaitGroup
	for i, m := range o.Config.Models {
		all.Go(func() {
			thing, began := "model."+m.Name, time.Now()
			listed, err := models.Reach(ctx, m, o.SecretFile)
			switch took := time.Since(began).Round(time.Millisecond); {
			case err != nil:
				items[i] = Item{Warn, thing, err.Error(), "start it, or mend [" + thing + "]; its characters listen until then"}
			case !listed:
				items[i] = Item{Warn, thing, fmt.Sprintf("its endpoint answers and does not list %q", m.Model), "mend " + thing + ".model, or with Ollama: ollama pull " + m.Model}
			default:
				items[i] = Item{OK, thing, fmt.Sprintf("answered in %v", took), ""}
			}
		})
	}
	all.Wait()
	return items
}

// clockTry is how long the two clocks are compared.
const clockTry = 50 * time.Millisecond

// clock looks whether the wall clock is plausible, and runs as fast as the other.
func (o Options) clock(ctx context.Context) Item {
	began := o.Now()
	if began.Year() < 2026 {
		return Item{Fail, "clock", "it is " + began.Format(time.RFC3339) + " here", "set the clock: timedatectl set-ntp true"}
	}
	select {
	case <-time.After(clockTry):
	case <-ctx.Done():
	}
	now := o.Now()
	if off := now.Round(0).Sub(began.Round(0)) - now.Sub(began); off.Abs() > clockTry/2 {
		return Item{Warn, "clock", fmt.Sprintf("it was set by %v meanwhile", off), "timedatectl; entries keep their order, and their times jump"}
	}
	if !synchronised() {
		return Item{Warn, "clock", "nobody keeps it right: " + now.Format(time.RFC3339), "timedatectl set-ntp true"}
	}
	return Item{OK, "clock", now.Format(time.RFC3339), ""}
}
