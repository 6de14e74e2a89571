package ops

import (
	"context"
	"errors"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/module"
	"github.com/companiond/companiond/host/room/turns"
)

const namespace = "companiond"

// Outcomes of calls of modules that are no [module.FaultKind].
const (
	callOK          = "ok"
	callError       = "error"       // the module's own answer
	callUnavailable = "unavailable" // it was not asked: it is put aside, has ended, or was replaced
	callGivenUp     = "given_up"    // nobody waited for it any more
)

// figures are what is counted while the daemon runs, in a registry of their own.
type figures struct {
	registry *prometheus.Registry
	rooms    labels
	modules  labels
	open     atomic.Int64 // connections of the HTTP server

	turns     *prometheus.CounterVec
	turnTook  *prometheus.HistogramVec
	voteTook  *prometheus.HistogramVec
	calls     *prometheus.CounterVec
	reloads   *prometheus.CounterVec
	dropped   *prometheus.CounterVec
	appending prometheus.Histogram
	reload    prometheus.Gauge
	reloaded  prometheus.Gauge
}

// Buckets of durations, in seconds: of turns, which people wait for, of votes, and of what is written.
var (
	turnBuckets   = []float64{.1, .25, .5, 1, 2, 3, 5, 8, 13, 20, 30, 60}
	voteBuckets   = []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10}
	appendBuckets = []float64{.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, 1, 5}
)

func newFigures(c Config) *figures {
	f := &figures{registry: prometheus.NewRegistry()}
	f.rooms.only = c.Configured
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: namespace, Name: name, Help: help}, labels)
	}
	histogram := func(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
		return prometheus.NewHistogramVec(prometheus.HistogramOpts{Namespace: namespace, Name: name, Help: help, Buckets: buckets}, labels)
	}
	gauge := func(name, help string) prometheus.Gauge {
		return prometheus.NewGauge(prometheus.GaugeOpts{Namespace: namespace, Name: name, Help: help})
	}
	f.turns = counter("turns_total", "Turns that are over, and rounds in which nobody got the floor, by what became of them.", "room", "outcome")
	f.turnTook = histogram("turn_duration_seconds", "How long turns took that were said, since votes were asked for.", turnBuckets, "room")
	f.voteTook = histogram("vote_duration_seconds", "How long modules took to vote.", voteBuckets, "module")
	f.calls = counter("module_calls_total", "Calls of modules, by op and by how they ended.", "module", "export", "outcome")
	f.reloads = counter("module_reloads_total", "Files of modules that were loaded, replaced, refused, or went.", "outcome")
	f.dropped = counter("door_dropped_total", "Clients that were dropped, and requests that were refused for how many there were.", "door", "reason")
	f.appending = prometheus.NewHistogram(prometheus.HistogramOpts{
		Namespace: namespace, Name: "journal_append_duration_seconds", Help: "How long the journal took to make entries durable.", Buckets: appendBuckets,
	})
	f.reload = gauge("config_last_reload_successful", "Whether the configuration that was read last is in force.")
	f.reloaded = gauge("config_last_reload_success_timestamp_seconds", "When a configuration was read last that is in force.")
	f.configured(nil)
	f.registry.MustRegister(
		f.turns, f.turnTook, f.voteTook, f.calls, f.reloads, f.dropped, f.appending, f.reload, f.reloaded, newNow(f, c),
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
	return f
}

// Turn counts a turn that is over.
func (d *Door) Turn(t turns.Turn) {
	if d == nil {
		return
	}
	room := d.rooms.of(t.Room)
	d.turns.WithLabelValues(room, string(t.Outcome)).Inc()
	if t.Timed && t.Number > 0 {
		d.turnTook.WithLabelValues(room).Observe(t.Took.Seconds())
	}
}

// Appended notes how long the journal took.
func (d *Door) Appended(took time.Duration) { d.appending.Observe(took.Seconds()) }

// Calls gives what counts calls of a module that have ended.
func (d *Door) Calls(id string) func(op string, took time.Duration, err error) {
	if d == nil {
		return func(string, time.Duration, error) {}
	}
	id = d.modules.of(id)
	return func(op string, took time.Duration, err error) { d.called(id, op, took, err) }
}

func (d *Door) called(id, op string, took time.Duration, err error) {
	if !slices.Contains(ops, op) {
		op = other
	}
	d.calls.WithLabelValues(id, op, outcomeOf(err)).Inc()
	if op == abi.OpVote {
		d.voteTook.WithLabelValues(id).Observe(took.Seconds())
	}
}

// ops are what modules are asked.
var ops = []string{
	abi.OpDescribe, abi.OpVote, abi.OpSpeak, abi.OpPerceive, abi.OpResult, abi.OpEvent, abi.OpCompress, abi.OpVerify, abi.OpAct, abi.OpShow, abi.OpSense,
	abi.OpLine, abi.OpTimer, abi.OpRun,
}

func outcomeOf(err error) string {
	var fault *module.Fault
	switch {
	case err == nil:
		return callOK
	case errors.As(err, &fault):
		return string(fault.Kind)
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return callGivenUp
	case abi.CodeOf(err) == abi.CodeUnavailable:
		return callUnavailable
	}
	return callError
}

// Loaded counts a file of a module that was loaded, replaced or refused, or went.
func (d *Door) Loaded(outcome string) {
	if d != nil {
		d.reloads.WithLabelValues(outcome).Inc()
	}
}

// Dropped gives what counts clients that a door drops, by their reason.
func (d *Door) Dropped(door string) func(reason string) {
	if d == nil {
		return func(string) {}
	}
	return func(reason string) { d.dropped.WithLabelValues(door, reason).Inc() }
}

// Reloaded notes what came of reading the configuration anew.
func (d *Door) Reloaded(err error) {
	if d != nil {
		d.configured(err)
	}
}

func (f *figures) configured(err error) {
	f.reload.Set(0)
	if err == nil {
		f.reload.Set(1)
		f.reloaded.SetToCurrentTime()
	}
}

// Connection counts the connections of an HTTP server, as its ConnState. A WebSocket is none any more.
func (d *Door) Connection(_ net.Conn, s http.ConnState) {
	if d == nil {
		return
	}
	switch s {
	case http.StateNew:
		d.open.Add(1)
	case http.StateClosed, http.StateHijacked:
		d.open.Add(-1)
	}
}

// Connected gives how many connections are open.
func (d *Door) Connected() int { return int(d.open.Load()) }

// now tells how things are when it is asked.
type now struct {
	*figures
	cfg                                              Config
	build, engine, awake, inbox, memory, connections *prometheus.Desc
}

func newNow(f *figures, c Config) now {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc(prometheus.BuildFQName(namespace, "", name), help, labels, nil)
	}
	return now{
		figures: f, cfg: c,
		build:       desc("build_info", "Which companiond it is; always 1.", "version", "revision", "go"),
		engine:      desc("module_engine_info", "How WebAssembly runs here, compiled or interpreted; always 1.", "engine"),
		awake:       desc("rooms", "Rooms that are awake."),
		inbox:       desc("inbox_depth", "Requests that wait in a room.", "room"),
		memory:      desc("module_memory_bytes", "Memory of modules in use.", "module"),
		connections: desc("door_connections", "Clients that are connected.", "door"),
	}
}

// Describe implements [prometheus.Collector].
func (n now) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{n.build, n.engine, n.awake, n.inbox, n.memory, n.connections} {
		to <- d
	}
}

// Collect implements [prometheus.Collector].
func (n now) Collect(to chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, value float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
	}
	sums := func(d *prometheus.Desc, of map[string]float64) {
		for label, sum := range of {
			gauge(d, sum, label)
		}
	}
	gauge(n.build, 1, n.cfg.Build.Version, n.cfg.Build.Revision, n.cfg.Build.Go)
	gauge(n.engine, 1, n.cfg.Engine)
	rooms, waiting := n.cfg.Rooms(), map[string]float64{}
	for name, requests := range rooms {
		waiting[n.rooms.of(name)] += float64(requests)
	}
	gauge(n.awake, float64(len(rooms)))
	sums(n.inbox, waiting)
	used := map[string]float64{}
	for _, m := range n.cfg.Modules() {
		if m.Generation > 0 {
			used[n.modules.of(m.ID)] += float64(m.MemoryBytes)
		}
	}
	sums(n.memory, used)
	for door, clients := range n.cfg.Doors() {
		gauge(n.connections, float64(clients), door)
	}
}

// other is the label of all that have none of their own. No room and no module is called so.
const other = "(other)"

// maxLabels is how many rooms, or modules, have figures of their own.
const maxLabels = 256

// labels are names that have figures of their own: the first that come, where they may.
type labels struct {
	only func(string) bool // nil: any may

	mu    sync.Mutex
	known map[string]bool
}

// of gives the label of a name. One that has had its own keeps it.
func (l *labels) of(name string) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.known[name]:
		return name
	case len(l.known) >= maxLabels, !utf8.ValidString(name), l.only != nil && !l.only(name):
		return other
	case l.known == nil:
		l.known = map[string]bool{}
	}
	l.known[name] = true
	return name
}
