package neuro

import (
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/action"
	"github.com/companiond/companiond/host/card"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/force"
)

const (
	patience   = 10 * time.Second   // with a room that is told something
	asking     = 2 * time.Minute    // with a companion that is to act
	forgotten  = time.Second        // until a game that says nothing of itself is asked to offer its actions anew
	maxSteps   = 256                // that wait to be done for one game; it is not read from meanwhile
	maxReason  = 1000               // bytes of why an action failed
	loudFaults = 32                 // that are logged of one connection, and as many of a companion there
	maxOffers  = 2 * force.MaxNames // a second; the next message is read later
)

// Game is one connection of a game. Take is called by one goroutine, Show by one, and Run by one.
type Game struct {
	Guest
	hub  *Hub
	desk *desk
	lent *action.Game
	gone func() // ends what Enter began in the room
	log  *slog.Logger
	wake chan struct{} // there are steps, or another time
	room chan struct{} // there is place for more

	begun  bool // it has said something; Take's alone, as is how much it offered of late
	offers offering
	faults atomic.Int32 // of the game
	idle   atomic.Int32 // of the companion, and no fault of the game's
	asks   sync.WaitGroup

	started bool // it has said that it starts; the desk's lock guards this and the rest
	moved   bool // it has started on another connection since
	steps   []force.Step
	bare    map[string]bool // of its actions: it has no parameters
	seen    uint64          // seq of the newest entry that was shown
	asked   []over
	busy    bool       // the companion is being asked
	next    *force.Ask // what it is to be asked then
}

// offering counts the actions that a game offers in a second. The zero value is ready.
type offering struct {
	since time.Time
	n     int
}

// over is an asking that has ended. All that came of it stands before head.
type over struct {
	try, head uint64
	wrong     string // "": nothing
}

// Enter says in the room that the game is here, until leave is called.
func (g *Game) Enter() (leave func()) {
	at := place{g.Room.Name(), g.Companion}
	g.desk = g.hub.desk(at)
	g.bare = map[string]bool{}
	g.lent, g.gone = g.Room.Plug(g.Companion, g.Caller.Name)
	g.log = g.hub.cfg.Log.With("room", at.room, "companion", at.companion, "body", g.lent.ID())
	g.desk.mu.Lock()
	g.desk.games[g.lent.ID()] = g
	g.desk.mu.Unlock()
	return func() {
		g.leave()
		g.hub.leave(at)
	}
}

// leave takes back what the game offers. Actions of it that are out have failed, and what it
// told is told.
func (g *Game) leave() {
	g.gone()
	g.desk.mu.Lock()
	delete(g.desk.games, g.lent.ID())
	steps := append(g.steps, g.desk.machine.Leave(g.lent.ID(), "the game has left", time.Now())...)
	g.steps = nil
	g.desk.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for _, s := range steps {
		if _, ask := s.(force.Ask); !ask {
			g.do(ctx, s, nil)
		}
	}
}

func (g *Game) stir() {
	select {
	case g.wake <- struct{}{}:
	default:
	}
}

// Take does what a game says, and gives the frames that answer it. It waits where more is to be
// done for the game than may wait.
func (g *Game) Take(ctx context.Context, message []byte) (frames [][]byte) {
	name, c, wrong := decode(message)
	if wrong != nil && (wrong.rule == force.MessageRubbish || name == "" && !g.begun) {
		return g.tell(frames, wrong) // that is no game yet
	}
	frames = g.introduce(frames, name, c)
	if wrong != nil {
		return g.tell(frames, wrong)
	}
	if r, is := c.(register); is {
		frames = g.slow(ctx, frames, len(r.actions))
	}
	frames = g.command(frames, c)
	for {
		g.desk.mu.Lock()
		full := len(g.steps) > maxSteps
		g.desk.mu.Unlock()
		if !full {
			return frames
		}
		select {
		case <-g.room:
		case <-ctx.Done():
			return frames
		}
	}
}

// slow waits where more is offered in a second than may be: to look at a schema takes a while.
func (g *Game) slow(ctx context.Context, frames [][]byte, n int) [][]byte {
	now := time.Now()
	if now.Sub(g.offers.since) >= time.Second {
		g.offers = offering{since: now}
	}
	if g.offers.n += n; g.offers.n <= maxOffers {
		return frames
	}
	select {
	case <-time.After(time.Second - now.Sub(g.offers.since)):
	case <-ctx.Done():
	}
	g.offers = offering{since: time.Now(), n: n}
	return g.tell(frames, faultf(force.MessageMany, "more than %d actions are offered in a second", maxOffers))
}

// command does what a game wants.
func (g *Game) command(frames [][]byte, c command) [][]byte {
	d, body, now := g.desk, g.lent.ID(), time.Now()
	switch c := c.(type) {
	case startup:
		g.desk.mu.Lock()
		again := g.started
		g.started = true
		g.desk.mu.Unlock()
		if again {
			frames = g.tell(frames, faultf(force.StartupAgain, "it started on this connection already; its actions are cleared"))
			g.start(g.lent.Name())
		}
		return append(frames, started(g.hub.cfg.NewID(), g.Companion, g.display()))
	case register:
		return g.register(frames, c)
	case unregister:
		g.lent.Withdraw(c.names)
		d.mu.Lock()
		d.hand(d.machine.Unregister(body, c.names...))
		d.mu.Unlock()
	case context_:
		d.mu.Lock()
		d.hand(d.machine.Context(body, c.Context))
		d.mu.Unlock()
	case forces:
		if g.away() {
			return g.tell(frames, faultf(force.StartupElsewhere, "%s", moved))
		}
		f := c.Force
		f.Body = body
		d.mu.Lock()
		d.hand(d.machine.Force(f, now))
		d.mu.Unlock()
	case result:
		d.mu.Lock()
		d.hand(d.machine.Result(body, c.id, c.ok, c.message, now))
		d.mu.Unlock()
	}
	return frames
}

// register offers actions, as far as they can be.
func (g *Game) register(frames [][]byte, c register) [][]byte {
	if g.away() {
		return g.tell(frames, faultf(force.StartupElsewhere, "%s", moved))
	}
	var good []card.Action
	for _, o := range c.actions {
		switch {
		case o.bad != "":
			frames = g.tell(frames, &fault{o.bad, o.why})
		case g.hub.cfg.Plays(g.Companion, o.Title):
			frames = g.tell(frames, faultf(force.RegisterConflict, "%q is an action of the card of %s", o.Title, g.Companion))
		default:
			if poor := o.Poor(); len(poor) > 0 {
				frames = g.tell(frames, faultf(force.RegisterWord, "%q uses %q, which other servers of this protocol are said not to understand", o.Title, poor))
			}
			good = append(good, o.Action)
		}
	}
	lost := map[string]bool{}
	for _, r := range g.lent.Offer(good) {
		frames = g.tell(frames, &fault{r.Rule, r.Reason()})
		lost[r.Name] = r.Rule != force.RegisterAgain
	}
	if g.away() { // meanwhile, and what it lost it has again
		for _, a := range good {
			g.lent.Withdraw([]string{a.Title})
		}
		return frames
	}
	g.desk.mu.Lock()
	defer g.desk.mu.Unlock()
	for _, a := range good {
		if !lost[a.Title] {
			if _, had := g.bare[a.Title]; !had {
				g.bare[a.Title] = a.Bare()
			}
			g.desk.machine.Register(g.lent.ID(), a.Title)
		}
	}
	return frames
}

// display is what the companion is called.
func (g *Game) display() string {
	for _, m := range g.Room.Info().Members {
		if m.ID == g.Companion && m.Name != "" {
			return m.Name
		}
	}
	return g.Companion
}

// tell says what is wrong: in the log, and to the game, where it wants to know.
func (g *Game) tell(frames [][]byte, wrong *fault) [][]byte {
	text := wrong.text
	if len(text) > maxReason {
		text = strings.ToValidUTF8(text[:maxReason], "") + "…"
	}
	what, which := "a game broke a rule", &g.faults
	if wrong.rule.Companions() {
		what, which = "a companion did not do what a game forces", &g.idle
	}
	g.log.Log(context.Background(), loud(which), what, "game", g.lent.Name(), "rule", string(wrong.rule), "why", text)
	if g.Told {
		frames = append(frames, diagnosed(wrong.rule, text))
	}
	return frames
}

// loud is how loud the next word of its kind is in the log. A companion that does not play leaves
// the game's maker the words about the game.
func loud(said *atomic.Int32) slog.Level {
	if said.Add(1) > loudFaults {
		return slog.LevelDebug
	}
	return slog.LevelInfo
}

// Show gives the frames for an entry of the room.
func (g *Game) Show(e entry.Entry) (frames [][]byte, err error) {
	g.desk.mu.Lock()
	defer g.desk.mu.Unlock()
	switch e.Kind {
	case entry.KindAction:
		var a entry.Action
		if a, err = entry.Decode[entry.Action](e); err == nil && a.Body == g.lent.ID() {
			g.desk.machine.Called(a.Body, a.ID, a.Action, time.Now())
			frames = append(frames, act(a, g.bare[a.Action]))
			g.stir() // its result has a time
		}
	case entry.KindHeard:
		var h entry.Heard
		if h, err = entry.Decode[entry.Heard](e); err == nil && h.Who == g.Companion {
			frames = append(frames, spoken(h))
		}
	case entry.KindStop:
		var b entry.Stop
		if b, err = entry.Decode[entry.Stop](e); err == nil {
			g.desk.hand(g.desk.machine.GiveUp(g.lent.ID(), b.From+" said STOP"))
		}
	}
	g.seen = e.Seq
	g.settle()
	return frames, err
}

// settle ends the askings of which all is seen that came of them. The lock is held.
func (g *Game) settle() {
	left := g.asked[:0]
	for _, o := range g.asked {
		if o.head > g.seen {
			left = append(left, o)
			continue
		}
		g.desk.hand(g.desk.machine.Asked(o.try, o.wrong, time.Now()))
	}
	g.asked = left
	g.stir()
}

// Run does what is to be done for the game until ctx ends. since is where what it is shown
// begins, and send sends a frame.
func (g *Game) Run(ctx context.Context, since uint64, send func([]byte) error) {
	g.desk.mu.Lock()
	g.seen = max(g.seen, since)
	g.settle()
	g.desk.mu.Unlock()
	defer g.asks.Wait()
	anew := time.NewTimer(forgotten)
	defer anew.Stop()
	due := time.NewTimer(time.Nanosecond) // none runs out before it is waited for, see host/room/loop
	defer due.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-anew.C:
			if g.silent() && send(reregister()) != nil {
				return
			}
			continue
		case <-due.C:
		case <-g.wake:
		}
		for {
			s, ok := g.step(due)
			if !ok {
				break
			}
			g.do(ctx, s, send)
			select {
			case g.room <- struct{}{}:
			default:
			}
		}
	}
}

// silent says whether the game has not said that it starts.
func (g *Game) silent() bool {
	g.desk.mu.Lock()
	defer g.desk.mu.Unlock()
	return !g.started && !g.Once
}

// step gives the next thing that is to be done for the game; where there is none, due is set.
func (g *Game) step(due *time.Timer) (s force.Step, ok bool) {
	d := g.desk
	d.mu.Lock()
	defer d.mu.Unlock()
	now := time.Now()
	d.hand(d.machine.Tick(now))
	if len(g.steps) == 0 {
		due.Reset(d.next(now))
		return nil, false
	}
	s, g.steps = g.steps[0], g.steps[1:]
	return s, true
}

// do does one thing. Without send nothing is sent any more.
func (g *Game) do(ctx context.Context, s force.Step, send func([]byte) error) {
	telling, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var err error
	switch s := s.(type) {
	case force.Fault:
		for _, frame := range g.tell(nil, &fault{s.Rule, s.Text}) {
			if send != nil {
				_ = send(frame) // whoever follows the room finds out as well
			}
		}
	case force.Finish:
		err = g.Room.Done(telling, g.Companion, g.Caller.Name, abi.Result{ID: s.ID, OK: s.OK, Reason: clip(s.Message)}, nil)
	case force.Hear:
		if p := g.percept("context", "text", s.Text); s.Silent {
			err = g.Room.Note(telling, g.Companion, p)
		} else {
			err = g.hub.cfg.Tell(telling, g.Companion, p)
		}
	case force.Ask:
		g.wants(ctx, s)
	}
	if err != nil && ctx.Err() == nil {
		g.log.Log(context.Background(), loud(&g.faults), "what a game told came to nothing", "game", g.lent.Name(), "err", err)
	}
}

// percept is what the game tells.
func (g *Game) percept(title, format string, body any) abi.Percept {
	raw, _ := json.Marshal(body) // texts
	return abi.Percept{Title: title, Format: format, Body: raw, From: g.Caller.Name, Game: g.lent.Name()}
}

// wants has the companion asked, once it has answered what it was asked before: a game that
// wants something else each moment costs no more than one call at a time.
func (g *Game) wants(ctx context.Context, s force.Ask) {
	g.desk.mu.Lock()
	defer g.desk.mu.Unlock()
	if g.busy {
		g.next = &s
		return
	}
	g.busy = true
	g.asks.Go(func() {
		for next := &s; next != nil; {
			g.ask(ctx, *next)
			g.desk.mu.Lock()
			next, g.next = g.next, nil
			g.busy = next != nil
			g.desk.mu.Unlock()
		}
	})
}

// ask has the companion asked for an action, and says when that is over.
func (g *Game) ask(ctx context.Context, s force.Ask) {
	p := g.percept("force", "object", struct {
		Query string `json:"query"`
		State string `json:"state,omitempty"`
	}{s.Query, s.State})
	p.Force = &abi.Force{Actions: s.Actions, Priority: string(s.Priority), Ephemeral: s.Ephemeral, Try: s.N, Failed: clip(s.Why)}
	asked, cancel := context.WithTimeout(ctx, asking)
	defer cancel()
	_, err := g.Room.Perceive(asked, g.Companion, p)
	if ctx.Err() != nil {
		return
	}
	o, stopped := over{try: s.Try}, false
	if err != nil {
		o.wrong = clip(abi.AsError(err).Message)
		stopped = abi.CodeOf(err) == abi.CodeDenied && g.Room.Info().State == "stopped"
		g.log.Log(context.Background(), loud(&g.idle), "a companion did not answer a game", "game", g.lent.Name(), "err", err)
	}
	if _, head, err := g.Room.Entries(ctx, 0, 1); err == nil { // else it is over in any case
		o.head = head
	}
	g.desk.mu.Lock()
	defer g.desk.mu.Unlock()
	if stopped {
		g.desk.hand(g.desk.machine.GiveUp(g.lent.ID(), o.wrong))
	}
	g.asked = append(g.asked, o)
	g.settle()
}

// clip keeps the words of a game to what a result may have.
func clip(s string) string {
	if len(s) <= maxReason {
		return s
	}
	return strings.ToValidUTF8(s[:maxReason-len("…")], "") + "…"
}
