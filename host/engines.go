package host

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"path/filepath"
	"slices"
	"time"

	"github.com/KimMachineGun/automemlimit/memlimit"

	"github.com/companiond/companiond/host/check"
	"github.com/companiond/companiond/host/child"
	"github.com/companiond/companiond/host/config"
	"github.com/companiond/companiond/host/context/kept"
	"github.com/companiond/companiond/host/handler/filter"
	"github.com/companiond/companiond/host/module"
	"github.com/companiond/companiond/host/module/extism"
	"github.com/companiond/companiond/host/module/files"
	"github.com/companiond/companiond/host/module/folder"
	"github.com/companiond/companiond/host/module/js"
	"github.com/companiond/companiond/host/module/js/npm"
	"github.com/companiond/companiond/host/module/process"
	"github.com/companiond/companiond/host/module/prompt"
	"github.com/companiond/companiond/host/module/script"
	"github.com/companiond/companiond/host/module/wasm"
	"github.com/companiond/companiond/host/module/wasm/drive"
	"github.com/companiond/companiond/host/rooms"
	"github.com/companiond/companiond/host/secret/hide"
)

// engine is one way in which modules run.
type engine struct {
	closed module.Engine // what it takes can be asked of it, and nothing else
	open   func(h *Host, calls module.HostCalls) (module.Engine, error)
}

// engines are all there are, that of WebAssembly first. A new one is a line here.
func engines() []engine {
	return []engine{
		{&wasm.Engine{}, openWasm},
		{&prompt.Engine{}, openPrompt},
		{&js.Engine{}, openJS},
		{&script.Engine{}, openScript},
	}
}

// closedEngines tells files of characters from others without a daemon.
func closedEngines() (all []module.Engine) {
	for _, e := range engines() {
		all = append(all, e.closed)
	}
	return all
}

// openEngines opens them; the host ops that modules ask for go to calls. Those that
// are open have to be closed, also when the next one cannot be opened.
func (h *Host) openEngines(calls module.HostCalls) error {
	for _, e := range engines() {
		opened, err := e.open(h, calls)
		if err != nil {
			return err
		}
		h.engines = append(h.engines, opened)
	}
	dir := ""
	if h.journal != nil { // whose lock keeps every other daemon from there
		dir = filepath.Join(filepath.Dir(h.cfg.Journal.Path), "run")
	}
	var err error
	h.plugins, err = h.openPlugins(h.cfg, dir, calls)
	return err
}

// newFolders makes the folder of characters, and that of handlers and programs.
func (h *Host) newFolders(grants module.Grants, changed func(folder.Change)) (*folder.Set, error) {
	characters := folder.Config{
		Dir: h.cfg.Modules.Characters, Engines: h.engines, Debounce: h.cfg.Modules.Debounce, Rescan: h.cfg.Modules.Rescan,
		MaxFile: h.cfg.Wasm.MaxFile, Grants: grants, Log: h.log, Changed: changed,
		Limits: module.Limits{
			Grace: h.cfg.Modules.Grace, Faults: h.cfg.Modules.Faults,
			FaultWindow: h.cfg.Modules.FaultWindow, CoolDown: h.cfg.Modules.CoolDown,
		},
	}
	plugins := characters
	plugins.Dir, plugins.Handlers, plugins.Engines = h.cfg.Modules.Plugins, true, append(slices.Clone(h.engines), h.plugins)
	return folder.NewSet(characters, plugins)
}

// files are those of characters that makers change at a door. Texts are judged by engines that serve nobody, for those that do
// know their characters by the ids, but for JavaScript's, which is slow to open.
func (h *Host) files() *files.Store {
	engines := []module.Engine{prompt.New(prompt.Config{}), &script.Engine{}}
	for _, e := range h.engines {
		if _, is := e.(*js.Engine); is {
			engines = append(engines, e)
		}
	}
	return files.New(files.Config{Dir: h.cfg.Modules.Characters, Engines: engines, Grants: h.grantOf, Taken: func() (ids []string) {
		for _, s := range h.folder.Status() {
			if s.Folder != h.cfg.Modules.Characters {
				ids = append(ids, s.ID)
			}
		}
		return ids
	}})
}

// newFilter makes what has handlers look at what companions perceive and say.
func (h *Host) newFilter() *filter.Filter {
	return filter.New(filter.Config{
		Handlers: h.cfg.Handlers, NewID: newID, Fits: h.house.Fits, Ready: h.folder.Ready(), Log: h.log,
		Home:     func(ctx context.Context, companion string) (rooms.Room, error) { return h.rooms.Home(ctx, companion) }, // they are not there yet
		Module:   func(id string) (filter.Module, bool) { return h.folder.Module(id) },
		Settings: func(one filter.Handler) (json.RawMessage, *hide.Secrets, error) { return h.handlers.Settings(one) }, // nor they
	})
}

// openPlugins opens an engine of programs, those that a configuration names, in a directory of its own: "" is any.
func (h *Host) openPlugins(c config.Config, dir string, calls module.HostCalls) (*process.Engine, error) {
	return process.New(process.Config{
		Programs: check.Programs(c), Dir: dir, Environ: child.HandedOn(h.environ), LogBytesPerSecond: int(h.cfg.Wasm.LogRate), Memory: h.cfg.Modules.ProgramMemory, Host: calls, Log: h.log,
	})
}

func (h *Host) closeEngines() (err error) {
	ctx, cancel := context.WithTimeout(context.Background(), drainTime)
	defer cancel()
	if h.plugins != nil {
		err = h.plugins.Close(ctx)
	}
	for _, e := range h.engines {
		if c, ok := e.(module.Closer); ok {
			err = errors.Join(err, c.Close(ctx))
		}
	}
	return err
}

func openWasm(h *Host, calls module.HostCalls) (module.Engine, error) {
	return wasm.New(wasm.Config{
		CacheDir: h.cfg.Modules.Cache, CacheSize: h.cfg.Wasm.CacheSize,
		MaxMemory: h.cfg.Wasm.Memory, MemoryTotal: memoryTotal(h.cfg.Wasm.MemoryTotal),
		FuelPerCall: h.cfg.Wasm.Fuel, LogBytesPerSecond: int(h.cfg.Wasm.LogRate),
		Guard: wasm.Guard(h.cfg.Wasm.Guard), Host: calls, Log: h.log, Interpreter: js.Interpreter(npm.QuickJS()),
		Dialects: []drive.Dialect{extism.Dialect()},
	})
}

// openJS makes the engine of JavaScript on that of WebAssembly.
func openJS(h *Host, _ module.HostCalls) (module.Engine, error) {
	if npm.QuickJS() == nil {
		return &js.Engine{}, nil
	}
	return js.New(h.engines[0].(*wasm.Engine), npm.Sucrase()), nil
}

func openScript(h *Host, calls module.HostCalls) (module.Engine, error) {
	c := script.Config{Host: calls, Log: h.log}
	if h.journal != nil { // on the bench nothing is kept
		c.Recall = h.memory.Recall
	}
	return script.New(c), nil
}

func openPrompt(h *Host, calls module.HostCalls) (module.Engine, error) {
	c := prompt.Config{Models: h.models, Host: calls, Log: h.log, Zone: time.Local}
	if h.journal != nil { // on the bench nothing is kept
		c.Keep = kept.New(h.journal, newID()).Put
		c.Recall = h.memory.Recall
	}
	return prompt.New(c), nil
}

// CollectAt is how far the heap may grow before it is collected, in percent of what is
// in use. The daemon's own heap is small: with Go's 100 a busy door collects all the time,
// and above 200 there is more memory for little time.
const CollectAt = 200

// memoryTotal gives what the daemon should keep within: what is configured, or half of
// what the machine has, or a container of it. 0 is for a machine that does not say.
func memoryTotal(configured int64) int64 {
	if configured > 0 {
		return configured
	}
	has, err := memlimit.ApplyFallback(memlimit.FromCgroup, memlimit.FromSystem)()
	if err != nil {
		return 0
	}
	return int64(min(has, math.MaxInt64) / 2)
}
