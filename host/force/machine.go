// Package force is what games may want of a companion by the rules of the Neuro SDK's API: whose
// the name of an action is, one force at a time that is asked for until it is answered or was
// asked for often enough, results that have to come in time, and what a game tells meanwhile,
// which waits until they have.
//
// It is pure: the time comes in, what is to be done goes out as steps, in order, and it never
// asks a companion, sends anything or reads a clock.
package force

import (
	"fmt"
	"slices"
	"time"
)

// The bounds of a machine.
const (
	MaxTries   = 4                      // how often a companion is asked for one force
	ResultTime = 20 * time.Second       // in which the result of an action has to come
	Slow       = 500 * time.Millisecond // a result later than that is worth a word to the game's maker
	MaxHeld    = 64                     // what waits behind a result, of one game
	maxLate    = 64                     // ids of which it is known that they came too late
	firstPause = time.Second            // until a companion that did nothing is asked again, and twice that the next time
)

// Priority says how urgent a force is while the companion speaks.
type Priority string

// The priorities, the least urgent first.
const (
	Low      Priority = "low"
	Medium   Priority = "medium"
	High     Priority = "high"
	Critical Priority = "critical"
)

var priorities = []Priority{Low, Medium, High, Critical}

// Known says whether there is such a priority.
func (p Priority) Known() bool { return slices.Contains(priorities, p) }

func (p Priority) rank() int { return slices.Index(priorities, p) }

// Force is one action of several that a companion is to choose and to play now.
type Force struct {
	Body      string
	Query     string
	State     string
	Ephemeral bool // state and query are forgotten once it is over
	Priority  Priority
	Actions   []string
}

// Context is something that a game tells.
type Context struct {
	Text   string
	Silent bool // the companion need not answer
}

// Step is something that is to be done: [Ask], [Hear], [Finish] or [Fault].
type Step interface{ body() string }

type (
	// Ask has the companion asked for a force. Whoever does so calls [Machine.Asked] once it
	// has answered, and [Machine.Called] before that for each action that it plays.
	Ask struct {
		Force
		Try uint64 // of the asking
		N   int    // how often it was asked for this one, from 1
		Why string // of the last one that came to nothing
	}
	// Hear has the companion told something.
	Hear struct {
		Body string
		Context
	}
	// Finish says how an action ended.
	Finish struct {
		Body, ID string
		OK       bool
		Message  string
	}
	// Fault is a word for whoever writes the game.
	Fault struct {
		Body string
		Rule Rule
		Text string
	}
)

func (s Ask) body() string    { return s.Force.Body }
func (s Hear) body() string   { return s.Body }
func (s Finish) body() string { return s.Body }
func (s Fault) body() string  { return s.Body }

// BodyOf gives whose step it is.
func BodyOf(s Step) string { return s.body() }

// Machine is that of one companion, whatever games are connected. The zero value is ready; who
// uses it from several goroutines locks it.
type Machine struct {
	games []*game // in the order in which they came
	force *standing
	calls []call   // that are out, oldest first
	late  []string // ids of those that nobody waits for any more
	tries uint64
	steps []Step
}

// game is one that is connected.
type game struct {
	body  string
	names []string
	held  []any // Context or Force, behind a result
}

// standing is the force that there is.
type standing struct {
	Force
	asked int
	try   uint64    // that runs; 0: none
	call  string    // the action of it that is out
	due   time.Time // when it is asked again; zero: nobody waits for that
	why   string
}

// call is an action whose result is to come.
type call struct {
	id, body string
	at       time.Time
}

func (m *Machine) add(s Step) { m.steps = append(m.steps, s) }

func (m *Machine) fault(body string, rule Rule, format string, args ...any) {
	m.add(Fault{body, rule, fmt.Sprintf(format, args...)})
}

// done hands over the steps that were found.
func (m *Machine) done() []Step {
	steps := m.steps
	m.steps = nil
	return steps
}

func (m *Machine) game(body string) *game {
	i := slices.IndexFunc(m.games, func(g *game) bool { return g.body == body })
	if i < 0 {
		m.games = append(m.games, &game{body: body})
		i = len(m.games) - 1
	}
	return m.games[i]
}

// Clear forgets what a game offers: it starts, or has started elsewhere. Actions of it that are
// out have failed, for why.
func (m *Machine) Clear(body, why string, at time.Time) []Step {
	m.clear(body, why, at)
	return m.done()
}

// Leave forgets a game that is gone.
func (m *Machine) Leave(body, why string, at time.Time) []Step {
	m.clear(body, why, at)
	m.games = slices.DeleteFunc(m.games, func(g *game) bool { return g.body == body })
	return m.done()
}

func (m *Machine) clear(body, why string, at time.Time) {
	g := m.game(body)
	g.names = nil
	g.held = slices.DeleteFunc(g.held, func(x any) bool { _, is := x.(Force); return is })
	m.drop(body, ForceGone, why)
	m.fail(body, why, at)
}

// drop ends the force, where it is the body's.
func (m *Machine) drop(body string, rule Rule, why string) {
	if m.force != nil && m.force.Body == body {
		m.force = nil
		m.fault(body, rule, "the force is dropped: %s", why)
	}
}

// fail ends all that a game has out, and lets go of what waits behind it.
func (m *Machine) fail(body, why string, at time.Time) {
	m.calls = slices.DeleteFunc(m.calls, func(c call) bool {
		if c.body == body {
			m.add(Finish{body, c.id, false, why})
			m.gone(c.id)
		}
		return c.body == body
	})
	m.release(body, at)
}

// gone notes an id that nobody waits for any more.
func (m *Machine) gone(id string) {
	m.late = append(m.late, id)
	m.late = m.late[max(0, len(m.late)-maxLate):]
}

// Register notes actions that a game offers, as far as it got their names.
func (m *Machine) Register(body string, names ...string) {
	g := m.game(body)
	for _, n := range names {
		if !slices.Contains(g.names, n) {
			g.names = append(g.names, n)
		}
	}
}

// Unregister takes actions back. A force of which none is left is dropped; while an action of it is
// out, what becomes of that decides: games take a disposable action back before they send its result.
func (m *Machine) Unregister(body string, names ...string) []Step {
	g, lost := m.game(body), func(n string) bool { return slices.Contains(names, n) }
	for _, n := range names {
		if !slices.Contains(g.names, n) {
			m.fault(body, UnregisterUnknown, "%q is not offered", n)
		}
	}
	g.names = slices.DeleteFunc(g.names, lost)
	if f := m.force; f != nil && f.Body == body && f.call == "" {
		m.left("all its actions were taken back")
	}
	return m.done()
}

// left says whether something is left of the force; else it is dropped, for why.
func (m *Machine) left(why string) bool {
	f, names := m.force, m.game(m.force.Body).names
	f.Actions = slices.DeleteFunc(slices.Clone(f.Actions), func(n string) bool { return !slices.Contains(names, n) })
	if len(f.Actions) == 0 {
		m.drop(f.Body, ForceGone, why)
	}
	return len(f.Actions) > 0
}

// Context takes what a game tells. While a result of it is to come it waits.
func (m *Machine) Context(body string, c Context) []Step {
	if g := m.game(body); !m.waits(body) {
		m.add(Hear{body, c})
	} else if len(g.held) < MaxHeld {
		g.held = append(g.held, c)
	} else {
		m.fault(body, ContextMany, "%d messages wait behind a result already, and this one is not told", MaxHeld)
	}
	return m.done()
}

// Force takes a force. While a result of the game is to come it waits, too, for it was made of
// what the game knew then.
func (m *Machine) Force(f Force, at time.Time) []Step {
	g := m.game(f.Body)
	switch {
	case len(f.Actions) == 0:
		m.fault(f.Body, ForceEmpty, "action_names is empty; name at least one action that is registered")
	case !m.waits(f.Body):
		m.stand(f, at)
	case len(g.held) < MaxHeld:
		g.held = append(g.held, f)
	default:
		m.fault(f.Body, ContextMany, "%d messages wait behind a result already, and this force is dropped", MaxHeld)
	}
	return m.done()
}

// stand makes a force the one that there is.
func (m *Machine) stand(f Force, at time.Time) {
	g := m.game(f.Body)
	var known, unknown []string
	for _, n := range f.Actions {
		switch {
		case slices.Contains(known, n):
		case slices.Contains(g.names, n):
			known = append(known, n)
		default:
			unknown = append(unknown, n)
		}
	}
	switch {
	case len(known) == 0:
		m.fault(f.Body, ForceUnknown, "none of %q is registered", f.Actions)
		return
	case len(unknown) > 0:
		m.fault(f.Body, ForceSome, "%q are not registered, and left out", unknown)
	}
	if !f.Priority.Known() {
		if f.Priority != "" {
			m.fault(f.Body, ForcePriority, "%.32q is none of %q", string(f.Priority), priorities)
		}
		f.Priority = Low
	}
	f.Actions = known
	if was := m.force; was != nil && was.Body != f.Body && f.Priority.rank() < was.Priority.rank() {
		m.fault(f.Body, ForceRefused, "another game forces with priority %s", was.Priority)
		return
	} else if was != nil {
		m.fault(was.Body, ForceMultiple, "a newer force takes its place before it was answered")
	}
	m.force = &standing{Force: f}
	m.ask()
}

// ask has the companion asked.
func (m *Machine) ask() {
	f := m.force
	m.tries++
	f.asked++
	f.try, f.call, f.due = m.tries, "", time.Time{}
	one := f.Force
	one.Actions = slices.Clone(f.Actions)
	m.add(Ask{Force: one, Try: f.try, N: f.asked, Why: f.why})
}

// again says whether the force is asked for once more; else it is over.
func (m *Machine) again(rule Rule, why string) bool {
	f := m.force
	if f.why = why; f.asked < MaxTries {
		often := "once"
		if f.asked > 1 {
			often = fmt.Sprintf("%d times", f.asked)
		}
		m.fault(f.Body, rule, "asked for %s, of %d times at most: %s", often, MaxTries, why)
		return true
	}
	m.force = nil
	m.fault(f.Body, ForceGivenUp, "asked for %d times, the last time: %s", MaxTries, why)
	return false
}

// Called says that the companion plays an action of a game, whose result is to come.
func (m *Machine) Called(body, id, name string, at time.Time) {
	m.calls = append(m.calls, call{id, body, at})
	if f := m.force; f != nil && f.Body == body && f.call == "" && slices.Contains(f.Actions, name) {
		f.call, f.due = id, time.Time{}
	}
}

// Asked says that an asking is over, and what went wrong with it, "" for nothing. All that the
// companion played by then was told by Called.
func (m *Machine) Asked(try uint64, wrong string, at time.Time) []Step {
	f := m.force
	if f == nil || f.try != try {
		return nil
	}
	why := "no action was played"
	if wrong != "" {
		why += ": " + wrong
	}
	if f.try = 0; f.call == "" && m.again(ForceSilence, why) {
		f.due = at.Add(firstPause << (f.asked - 1))
	}
	return m.done()
}

// GiveUp ends what a game forces, also what waits behind a result: nobody is to be asked, for why.
func (m *Machine) GiveUp(body, why string) []Step {
	if f := m.force; f != nil && f.Body == body {
		m.force = nil
		m.fault(body, ForceGivenUp, "the force is given up: %s", why)
	}
	g := m.game(body)
	g.held = slices.DeleteFunc(g.held, func(x any) bool {
		_, is := x.(Force)
		if is {
			m.fault(body, ForceGivenUp, "the force is given up before it was asked for: %s", why)
		}
		return is
	})
	return m.done()
}

// Result takes what became of an action, by the word of the game. One that nobody waits for is
// let go.
func (m *Machine) Result(body, id string, ok bool, message string, at time.Time) []Step {
	i := slices.IndexFunc(m.calls, func(c call) bool { return c.id == id && c.body == body })
	switch {
	case i < 0 && slices.Contains(m.late, id):
		m.fault(body, ResultLate, "nobody waits for the result of %.64q any more", id)
		return m.done()
	case i < 0:
		m.fault(body, ResultUnknown, "no action %.64q waits for a result", id)
		return m.done()
	}
	took := at.Sub(m.calls[i].at)
	m.calls = slices.Delete(m.calls, i, i+1)
	m.add(Finish{body, id, ok, message})
	if took > Slow {
		m.fault(body, ResultSlow, "it took %v; answer once the action was looked at, before it is carried out", took.Round(time.Millisecond))
	}
	if !ok && message == "" {
		m.fault(body, ResultSilent, "it failed without a message; say what to do instead")
	}
	m.ended(body, id, ok, message, at)
	return m.done()
}

// ended draws what follows from the end of an action.
func (m *Machine) ended(body, id string, ok bool, why string, at time.Time) {
	f := m.force
	mine := f != nil && f.call == id
	again := mine && !ok && m.left("what was played failed, and all its actions were taken back: "+why) && m.again(ForceFailed, why)
	if mine && ok {
		m.force = nil
	}
	m.release(body, at)
	if again && m.force == f {
		m.ask()
	}
}

// waits says whether a result of a game is to come.
func (m *Machine) waits(body string) bool {
	return slices.ContainsFunc(m.calls, func(c call) bool { return c.body == body })
}

// release lets go of what waited behind the results of a game, in order, once all have come.
func (m *Machine) release(body string, at time.Time) {
	if m.waits(body) {
		return
	}
	g := m.game(body)
	held := g.held
	g.held = nil
	for _, x := range held {
		switch x := x.(type) {
		case Context:
			m.add(Hear{body, x})
		case Force:
			m.stand(x, at)
		}
	}
}

// Next gives when Tick is to be called, ok false for never.
func (m *Machine) Next() (at time.Time, ok bool) {
	for _, c := range m.calls {
		if due := c.at.Add(ResultTime); !ok || due.Before(at) {
			at, ok = due, true
		}
	}
	if f := m.force; f != nil && !f.due.IsZero() && (!ok || f.due.Before(at)) {
		at, ok = f.due, true
	}
	return at, ok
}

// Tick does what is due at a moment.
func (m *Machine) Tick(at time.Time) []Step {
	for {
		i := slices.IndexFunc(m.calls, func(c call) bool { return !at.Before(c.at.Add(ResultTime)) })
		if i < 0 {
			break
		}
		c := m.calls[i]
		m.calls = slices.Delete(m.calls, i, i+1)
		m.gone(c.id)
		why := fmt.Sprintf("no result within %v", ResultTime)
		m.add(Finish{c.body, c.id, false, why})
		m.fault(c.body, ResultMissing, "%q: %s", c.id, why)
		m.ended(c.body, c.id, false, why, at)
	}
	if f := m.force; f != nil && !f.due.IsZero() && !at.Before(f.due) {
		m.ask()
	}
	return m.done()
}
