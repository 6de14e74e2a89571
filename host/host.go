// Package host builds the house: it opens the journal, loads the companions,
// runs the rooms and opens the doors, in this order, and takes them down in the
// reverse one.
//
// It never decides anything a room or a module should: it only knows who needs
// whom. Flags, the environment and signals are cmd/companiond's.
package host

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/blob"
	"github.com/companiond/companiond/host/cast"
	"github.com/companiond/companiond/host/check"
	"github.com/companiond/companiond/host/compress"
	"github.com/companiond/companiond/host/config"
	"github.com/companiond/companiond/host/door/chat"
	"github.com/companiond/companiond/host/door/guard"
	"github.com/companiond/companiond/host/door/listen"
	"github.com/companiond/companiond/host/door/mcp"
	"github.com/companiond/companiond/host/door/ops"
	"github.com/companiond/companiond/host/door/overlay"
	"github.com/companiond/companiond/host/door/socket"
	"github.com/companiond/companiond/host/door/socket/neuro"
	"github.com/companiond/companiond/host/door/web"
	"github.com/companiond/companiond/host/door/web/files"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/fetch"
	"github.com/companiond/companiond/host/forget"
	"github.com/companiond/companiond/host/handler"
	"github.com/companiond/companiond/host/handler/filter"
	"github.com/companiond/companiond/host/history"
	"github.com/companiond/companiond/host/hostops"
	"github.com/companiond/companiond/host/identity"
	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/journal/sqlite"
	"github.com/companiond/companiond/host/knowledge"
	"github.com/companiond/companiond/host/lately"
	"github.com/companiond/companiond/host/memory"
	"github.com/companiond/companiond/host/models"
	"github.com/companiond/companiond/host/module"
	"github.com/companiond/companiond/host/module/folder"
	"github.com/companiond/companiond/host/module/process"
	"github.com/companiond/companiond/host/namekey"
	"github.com/companiond/companiond/host/observed"
	"github.com/companiond/companiond/host/opening"
	"github.com/companiond/companiond/host/perception"
	"github.com/companiond/companiond/host/room"
	"github.com/companiond/companiond/host/room/registry"
	"github.com/companiond/companiond/host/search"
	"github.com/companiond/companiond/host/senses"
	"github.com/companiond/companiond/host/service"
)

// drainTime is how long a stop waits for the lines that are being made, and
// for clients to say goodbye.
const drainTime = 5 * time.Second

// Options is what a host is made of.
type Options struct {
	Config  config.Config
	Log     *slog.Logger
	Version web.Version
	// Tokens are those of the house. Nil means none.
	Tokens *identity.Register
	// SecretFile gives the path behind a setting that names a file with secrets.
	// Nil takes the setting for a path.
	SecretFile func(setting string) (string, error)
	// Source reads the configuration and the tokens anew, for a reload. Nil: there is none.
	Source func() (config.Config, *identity.Register, error)
	// Level is told of another level of the log. Nil: nobody is.
	Level func(string)
	// Control is the path of the daemon's own socket. Empty: there is none.
	Control string
	// Service is told how the daemon is. Nil: nobody is.
	Service *service.Manager
	// Environ is the environment, of which the programs of agents get what any program needs.
	Environ []string
}

// Host is a daemon. Make one with New; it does nothing before Run.
type Host struct {
	cfg     config.Config
	log     *slog.Logger
	lately  *lately.Log
	version web.Version
	tokens  *identity.Register
	environ []string
	service *service.Manager
	source  func() (config.Config, *identity.Register, error)
	level   func(string)
	control string // path
	since   time.Time
	secrets func(string) (string, error)
	ready   chan struct{}
	addr    string       // set before ready is closed
	hose    net.Listener // nil: the Firehose has no address of its own

	inForce   atomic.Pointer[config.Config] // of what a running daemon takes, the newest; never changed
	reloading sync.Mutex                    // guards what follows, and one at a time reloads
	waits     []string                      // keys that wait for a restart

	casting     sync.Mutex // one at a time tells the rooms who is there, so the newest word is the last
	journal     journal.Journal
	stores      journal.Stores
	nameKey     namekey.Key
	engines     []module.Engine
	plugins     *process.Engine // nil where no program is named
	models      *models.Models
	memory      *memory.Keeper
	search      *search.Keeper
	blobs       *blob.Store
	forgets     *forget.Service
	folder      *folder.Set
	handlers    *handler.Stage
	filter      *filter.Filter
	senses      *senses.Senses
	house       *cast.House
	rooms       *registry.Registry
	compress    *compress.Service
	projects    *projects // nil in a house without any
	perceptions *perception.Queues
	ops         *ops.Door // nil: nobody watches
	seen        *observed.Rooms
	feed        *socket.Feed
	agents      *mcp.Door
	server      *http.Server
	waiting     context.Context // of who waits at a door; ends first
	goHome      context.CancelFunc
}

// New makes a host. Nothing is opened yet.
func New(o Options) *Host {
	if o.SecretFile == nil {
		o.SecretFile = func(path string) (string, error) { return path, nil }
	}
	if o.Tokens == nil {
		o.Tokens = &identity.Register{}
	}
	lines := lately.New()
	o.Log = slog.New(lines.Handler(o.Log.Handler()))
	h := &Host{lately: lines, cfg: o.Config, source: o.Source, level: o.Level, control: o.Control, since: time.Now(), log: o.Log, version: o.Version, tokens: o.Tokens, environ: o.Environ, service: o.Service, secrets: o.SecretFile, ready: make(chan struct{}), blobs: blob.New(blob.MaxKept)}
	h.inForce.Store(&h.cfg)
	return h
}

// grantOf and hostsOf are what is in force.
func (h *Host) grantOf(module string) []string { return h.inForce.Load().GrantOf(module) }
func (h *Host) hostsOf(module string) []string { return h.inForce.Load().HostsOf(module) }

// Ready is closed when the doors are open and every file that was in the
// folder at the start was loaded or refused.
func (h *Host) Ready() <-chan struct{} { return h.ready }

// Addr is where the doors listen, once Ready is closed.
func (h *Host) Addr() string { return h.addr }

// Run opens the house and runs it until ctx ends. It returns when everything
// is closed and every goroutine is gone.
//
// # Errors
//
// The reason why the house cannot open, in words for whoever started it; and what
// ended it, when that was not ctx.
func (h *Host) Run(ctx context.Context) (err error) {
	db, err := sqlite.Open(sqlite.Config{Path: h.cfg.Journal.Path, Reserve: h.cfg.Journal.Ballast, Log: h.log})
	if err != nil {
		return err
	}
	h.journal, h.stores = db, db
	defer func() { err = errors.Join(err, db.Close()) }()
	h.buildOps()
	defer func() { err = errors.Join(err, h.closeEngines()) }()
	if err := h.buildRooms(); err != nil {
		return err
	}
	h.search = search.New(search.Config{Journal: db, Path: filepath.Join(filepath.Dir(h.cfg.Journal.Path), search.File), Log: h.log})
	defer func() { err = errors.Join(err, h.search.Close()) }()
	if err := h.buildForget(ctx, db); err != nil || ctx.Err() != nil {
		return err
	}
	if err := h.ops.Open(h.cfg.Door.Ops); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.ops.Close()) }()
	doors, hose, err := listen.Open(h.cfg, h.log)
	if err != nil {
		return err
	}
	listeners := []net.Listener{doors}
	if h.hose = hose; hose != nil {
		listeners = append(listeners, hose)
	}
	if err := h.buildDoors(doors.Addr()); err != nil {
		for _, l := range listeners {
			err = errors.Join(err, l.Close())
		}
		return err
	}
	return h.run(ctx, listeners...)
}

// buildRooms makes what is behind the doors.
func (h *Host) buildRooms() (err error) {
	h.models = models.New(models.Config{
		Settings: h.cfg.Models, File: h.secrets, Wants: h.modelOf, Log: h.log,
		Used: h.used, Bounds: models.Bounds(h.cfg), Store: h.stores.KVIn(""), ForkedOf: h.forkedOf,
	})
	h.buildMemory()
	calls := &hostops.Ops{Stores: h.stores, Generate: h.models.Ask, Fetch: fetch.New(h.hostsOf).Fetch, Memory: h.memory, Blobs: h.blobs, Knowledge: knowledge.New(h.cfg.Modules.Characters, h.log).Get}
	grants := module.Grants(h.grantOf)
	if err := h.openEngines(grants.Guard(calls)); err != nil {
		return err
	}
	if h.folder, err = h.newFolders(grants, h.changed); err != nil {
		return err
	}
	found, err := folder.IDs(h.cfg.Modules.Characters, h.engines...)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		h.log.Warn("the folder of characters cannot be read yet; names of companions are not kept until it can", "err", err)
	}
	for _, p := range check.Programs(h.cfg) {
		found = append(found, p.Module)
	}
	h.house = cast.New(h.folder, h.tokens, found)
	h.filter = h.newFilter()
	if h.rooms, err = h.newRegistry(h.house); err != nil {
		return err
	}
	h.buildCompress()
	if h.buildProjects(); h.projects != nil {
		calls.Talks = h.projects.talks
	}
	calls.History, calls.Segment, calls.Act = h.rooms.History, h.rooms.Segment, h.act
	h.senses = &senses.Senses{Card: h.card, Home: h.rooms.Home, Tokens: h.tokens}
	h.perceptions = h.senses.Queues(perception.Config{Filter: h.filter.Admit, Several: h.house.Several, NewID: newID, Log: h.log})
	h.handlers = handler.New(handler.Config{
		Handlers: h.cfg.Handlers, Home: h.rooms.Home, Companions: h.folder.Companions, Module: h.folder.Module,
		SecretFile: h.secrets, Perceive: h.senses.Perceive, Retract: h.perceptions.Retract, Log: h.log,
	})
	calls.Handlers, calls.Sound = h.handlers, hostops.InHome(h.handlers.Sound, h.rooms.Home)
	return nil
}

// newRegistry makes the rooms, of which none is awake yet.
func (h *Host) newRegistry(house *cast.House) (*registry.Registry, error) {
	homes := map[string]string{}
	for _, c := range h.cfg.Companions {
		homes[c.Name] = c.Home
	}
	return registry.New(registry.Config{
		Room: room.Config{
			Journal: h.journal, NewID: newID, House: house, Log: h.log, Here: h.here, Named: h.named, Conversed: h.conversed, Heard: h.memory.Heard, Wrote: h.seen.Wrote,
			Asks: house.Asks, Filter: h.filter, Kept: func(companion string, p abi.Percept) { h.perceptions.Add(companion, p) },
			Told: func(room string, now history.Book) { h.compress.Told(room, now) },
			Find: func(id string) (room.Companion, bool) { return loaded(h.folder.Companion(id)) },
			Blame: func(id, op string, err error) {
				if c, ok := h.folder.Companion(id); ok {
					c.Blame(op, err)
				}
			},
		},
		Rooms: opening.All(h.cfg.Rooms), Usual: cast.UsualRoom(h.cfg.Rooms), Homes: homes, MaxRooms: h.cfg.Door.MaxRooms, Read: opening.Read, Talks: talkRules(),
		Opened: func(name string) { h.agents.RoomOpened(context.Background(), name) }, // the doors are open by then
	})
}

// loaded keeps a nil *module.Companion from becoming a room.Companion.
func loaded(c *module.Companion, ok bool) (room.Companion, bool) { return c, ok }

// newID makes an id of the time in milliseconds and 80 random bits: ids that are made
// one after the other lie beside each other in the journal's index.
func newID() string {
	var b [16]byte
	binary.BigEndian.PutUint64(b[:8], uint64(time.Now().UnixMilli())<<16)
	_, _ = rand.Read(b[6:]) // it never fails, but ends the program instead
	return hex.EncodeToString(b[:])
}

// tellCast tells the rooms who is loaded, and agents which cards there are, but not
// before everybody who was there at the start was tried: a room would take them for gone.
func (h *Host) tellCast(ctx context.Context) {
	select {
	case <-h.folder.Ready():
	default:
		return
	}
	h.casting.Lock()
	defer h.casting.Unlock()
	cast := []entry.Joined{}
	for _, c := range h.folder.Companions() {
		d := c.Describe()
		cast = append(cast, entry.Joined{
			ID: c.ID(), Name: d.Name, Aliases: d.Aliases, Kind: abi.KindCompanion,
			Engine: c.Engine(), Generation: c.Generation(),
		})
	}
	slices.SortFunc(cast, func(a, b entry.Joined) int { return strings.Compare(a.ID, b.ID) })
	h.rooms.SetCast(ctx, cast)
	h.agents.CardsChanged()
	h.wakeSenses()
	h.handlers.Changed()
}

// warnOfNames tells of tokens whose holder could never speak: the rooms keep the
// names of those who live here from everybody else.
func (h *Host) warnOfNames() {
	for _, c := range h.folder.Companions() {
		d := c.Describe()
		for _, name := range append([]string{c.ID(), d.Name}, d.Aliases...) {
			if holder, taken := h.tokens.Taken(name); taken {
				h.log.Warn("a token is for the name of a companion, whom nobody else can speak as; make one for another name", "holder", holder, "companion", c.ID())
			}
		}
	}
}

// buildDoors makes the doors for an address.
func (h *Host) buildDoors(at net.Addr) error {
	h.addr = at.String()
	h.waiting, h.goHome = context.WithCancel(context.Background())
	limited := h.ops.Dropped("http")
	g, err := guard.New(guard.Config{
		Listen: h.addr, Hosts: h.cfg.Door.Hosts, Origins: h.cfg.Door.Origins,
		Tokens: h.tokens, TokensOnly: !h.cfg.GuestsAllowed(), Rate: guard.PerSecond(h.cfg.Door.Rate), Burst: 2 * h.cfg.Door.Rate, Limited: func() { limited("rate") },
		MaxBodyAt: map[string]int64{"/mcp": mcp.MaxBody, "/v1/chat/completions": chat.MaxBody, "/add": web.MaxAdd, "/perception": web.MaxPerception, "/v1/companions": web.MaxPerception, "/v1/characters": files.MaxBody},
	}, h.log)
	if err != nil {
		return err
	}
	h.agents = mcp.New(mcp.Config{
		Rooms: members{h.rooms}, Tokens: h.tokens, Version: h.version.Version, Log: h.log, MaxSessions: h.cfg.Door.MaxClients, MaxStreams: h.cfg.Door.MaxClients,
		Conversations: h.converse(), Search: h.search, Compressing: h.compress, Cards: h.cards, Meant: h.perceptions.Meant, RequireSpec: h.cfg.Door.RequireSpec, Stopping: h.waiting, Dropped: h.ops.Dropped("mcp"),
	})
	h.feed = socket.New(socket.Config{
		Rooms: members{h.rooms}, CheckOrigin: g.CheckOrigin, Log: h.log, MaxClients: h.cfg.Door.MaxClients, Waiting: h.agents.Waiting, Listens: h.agents.Listens, Dropped: h.ops.Dropped("socket"),
		Games:   neuro.Config{Tell: h.perceptions.Tell, Plays: h.house.Plays, NewID: newID},
		Session: h.perceptions.Meant, Speaks: h.house.Speaks, See: h.senses.See, Usual: h.usual,
		Lives: func(id string) bool { return slices.Contains(h.house.Residents(), id) },
		Sound: func(hash string) ([]byte, error) {
			b, err := h.blobs.Get(hash)
			return b.Bytes, err
		},
		NameKey: func(ctx context.Context) ([]byte, error) { return h.nameKey.Of(ctx, h.stores.KVIn("")) },
	})
	mux := http.NewServeMux()
	h.feed.Register(mux)
	h.agents.Register(mux)
	chat.Register(mux, chat.Config{Rooms: members{h.rooms}, Companions: h.chatters, MaxWaiting: h.cfg.Door.MaxClients, Stopping: h.waiting})
	if err := web.Register(mux, web.Config{Rooms: members{h.rooms}, Companions: h.companions, Version: h.version, Perceptions: h.perceptions, Cards: h.card, Usual: h.usual, RoomKeys: roomKeys(), Conversations: h.talksDoor(), Memories: h.memoriesDoor(), Compressing: h.compress, Search: h.search, Blobs: h.blobs, Handlers: h.handlers, Files: h.files(), Log: h.lately, Stopping: h.waiting}); err != nil {
		return err
	}
	if err := overlay.Register(mux, overlay.Config{Rooms: members{h.rooms}, Lives: h.isOurs, Sheet: h.cfg.Door.OverlayCSS}); err != nil {
		return err
	}
	h.buildSummoner(at)
	h.server = guard.Server(listen.AtHose(h.hose, h.rooms.Usual, chat.Errors(g.Handler(h.feed.Relay(h.noticed(g.CheckOrigin, guard.Mux(mux)))))), h.log)
	h.server.ConnState = h.ops.Connection
	return nil
}

// chatters is what the chat door shows of the folder.
func (h *Host) chatters() []chat.Companion {
	list, waits := []chat.Companion{}, h.waitingForModels()
	for _, s := range h.folder.Status() {
		if s.Kind == "" { // nobody talks with a handler
			list = append(list, chat.Companion{ID: s.ID, Name: s.Name, Since: s.LoadedAt, Waits: waits[s.ID]})
		}
	}
	return list
}

// roomKeys are what a room may be opened with at a door.
func roomKeys() (keys []web.RoomKey) {
	for _, k := range config.Keys() {
		if leaf, ok := strings.CutPrefix(k.Name, "room.NAME."); ok && leaf != "companion" {
			keys = append(keys, web.RoomKey{Name: leaf, Doc: k.Doc + " Default: " + k.Default + "."})
		}
	}
	return keys
}

// companions is what the web door shows of the folder.
func (h *Host) companions() []web.Companion {
	list, waits := []web.Companion{}, h.waitingForModels()
	for _, s := range h.folder.Status() {
		if s.Error == "" {
			s.Error = waits[s.ID]
		}
		if s.File != "" {
			s.File = filepath.ToSlash(filepath.Join(s.Folder, s.File))
		}
		list = append(list, web.Companion{
			ID: s.ID, Name: s.Name, Kind: s.Kind, Engine: s.Engine, Generation: s.Generation, State: string(s.State),
			File: s.File, Progress: s.Progress, Error: s.Error, Faults: s.Faults, MemoryBytes: s.MemoryBytes, LoadedAt: s.LoadedAt,
		})
	}
	return list
}
