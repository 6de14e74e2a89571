package avatar

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/plugins/face"
	"github.com/companiond/companiond/plugins/vts/studio"
)

// session is one connection that VTube Studio has let in.
type session struct {
	l *link
	c *studio.Conn

	read    chan struct{} // has a value when the model is to be read again
	emotion chan struct{} // has a value when an emotion is to be shown
	clicked chan struct{} // has a value when there are clicks
	wrong   chan string   // has what is to be logged, of those who may not wait

	mu     sync.Mutex
	model  model
	loads  bool      // another model was loaded, and not read yet,
	fresh  bool      // and was read, and shows no emotion yet
	pose   face.Pose // the last whose emotion is to be shown; worn is 0 in none
	clicks int
	click  studio.Clicked  // the last
	said   map[string]bool // what the log was told
	speaks bool            // the mouth was put, and not shut since; Play's alone
}

func newSession(l *link) *session {
	return &session{
		l: l, read: make(chan struct{}, 1), emotion: make(chan struct{}, 1), clicked: make(chan struct{}, 1), wrong: make(chan string, 16), said: map[string]bool{},
	}
}

// poke puts a value into a channel of one, if it has none.
func poke(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// event hears one of VTube Studio's. It may not wait.
func (n *session) event(name string, data json.RawMessage) {
	switch name {
	case studio.ModelLoaded:
		n.mu.Lock()
		n.loads = true
		n.mu.Unlock()
		poke(n.read)
	case studio.ModelChanged:
		poke(n.read)
	case studio.ModelClicked:
		var click studio.Clicked
		if json.Unmarshal(data, &click) != nil || !click.OnModel {
			return
		}
		n.mu.Lock()
		n.clicks++
		n.click = click
		n.mu.Unlock()
		poke(n.clicked)
	}
}

// begin reads what the model can do, and subscribes to what happens.
func (n *session) begin(ctx context.Context) error {
	// In this order, so that no change between the two is missed.
	events := []string{studio.ModelLoaded, studio.ModelChanged}
	if n.l.s.Touch != "" {
		events = append(events, studio.ModelClicked)
	}
	for _, event := range events {
		config := map[string]any{}
		if event == studio.ModelClicked {
			config["onlyClicksOnModel"] = true
		}
		if err := n.ask(ctx, studio.SubscribeRequest, studio.Subscription{Event: event, Subscribe: true, Config: config}, nil); err != nil {
			return err
		}
	}
	return n.learn(ctx)
}

// learn reads what the model can do.
func (n *session) learn(ctx context.Context) error {
	var hotkeys studio.Hotkeys
	var expressions studio.Expressions
	var parameters studio.Parameters
	if err := n.ask(ctx, studio.HotkeysRequest, struct{}{}, &hotkeys); err != nil {
		return err
	}
	if err := n.ask(ctx, studio.ExpressionsRequest, studio.ExpressionsOf{}, &expressions); err != nil {
		return err
	}
	if err := n.ask(ctx, studio.ParametersRequest, struct{}{}, &parameters); err != nil {
		return err
	}
	m := model{loaded: hotkeys.Loaded, name: hotkeys.Model, hotkeys: hotkeys.All, expressions: expressions.All}
	mouth, made, missing := mouthOf(parameters, n.l.s.Mouth)
	m.mouth = mouth
	if made {
		create := studio.Creation{Name: mouth.Name, Explanation: "How far the mouth of a companion is open, 0 to 1. Map it to the mouth of the model.", Max: 1}
		if err := n.ask(ctx, studio.CreateRequest, create, nil); err != nil {
			m.mouth = studio.Parameter{}
			n.once(abi.LevelWarn, "a parameter for the mouth cannot be made: "+err.Error())
		}
	}
	if missing {
		var names []string
		for _, p := range append(parameters.Custom, parameters.Default...) {
			names = append(names, p.Name)
		}
		n.once(abi.LevelWarn, fmt.Sprintf("settings.mouth: VTube Studio has no parameter %q, and the mouth does not move; it has %s", n.l.s.Mouth, list(names)))
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.model = m
	if n.loads {
		n.loads, n.fresh = false, true
		if n.pose.Worn > 0 {
			poke(n.emotion) // the model that came shows it as well
		}
	}
	return nil
}

// about gives what the model can do.
func (n *session) about() model {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.model
}

// live moves the face and hears events until the connection ends.
func (n *session) live(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	var all sync.WaitGroup
	defer all.Wait()
	defer cancel()
	all.Go(func() { n.l.face.Play(ctx, 0, n.put) })
	all.Go(func() { n.emote(ctx) })
	all.Go(func() { n.touched(ctx) })
	all.Go(func() { n.reread(ctx) })
	all.Go(func() {
		for {
			select {
			case text := <-n.wrong:
				n.once(abi.LevelWarn, text)
			case <-ctx.Done():
				return
			}
		}
	})
	select {
	case <-n.c.Ended():
	case <-ctx.Done():
	}
}

// rereadEvery is how soon the model is read again after it was: events come in bursts, and a parameter that is
// missing is missed thirty times a second.
const rereadEvery = time.Second

// reread reads the model when it has changed.
func (n *session) reread(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-n.read:
		}
		if err := n.learn(ctx); err != nil && ctx.Err() == nil {
			n.l.h.Log(abi.LevelWarn, "what the model can do cannot be read: "+err.Error())
		} else if err == nil {
			n.l.h.Log(abi.LevelDebug, n.about().words())
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(rereadEvery):
		}
	}
}

// ask asks VTube Studio. Where it does not know the handler any more, the connection ends.
func (n *session) ask(ctx context.Context, request string, data, into any) error {
	ctx, cancel := context.WithTimeout(ctx, answering)
	defer cancel()
	err := n.c.Ask(ctx, request, data, into)
	n.out(err)
	return err
}

// out ends the connection where the permission was taken back; the next one asks for another.
func (n *session) out(err error) {
	if id := studio.ID(err); id == studio.ErrNotAuthenticated || id == studio.ErrDenied {
		n.c.Close(err)
	}
}

// unavailable gives an error of an action.
func (n *session) unavailable(err error) error {
	if studio.ID(err) >= 0 {
		return abi.Errorf(abi.CodeUnavailable, "%v", err)
	}
	return abi.Errorf(abi.CodeUnavailable, "VTube Studio did not answer: %v", err)
}

// trigger triggers a hotkey, again where VTube Studio has too many, or this one was just now.
func (n *session) trigger(ctx context.Context, id string) error {
	for try := 0; ; try++ {
		err := n.ask(ctx, studio.HotkeyRequest, studio.Trigger{Hotkey: id}, nil)
		if refused := studio.ID(err); try == 5 || refused != studio.ErrHotkeyCooldown && refused != studio.ErrHotkeyQueueFull {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// once tells the log something that it was not told in this session. It waits for the daemon.
func (n *session) once(level abi.Level, text string) {
	n.mu.Lock()
	had := n.said[text]
	if len(n.said) > 100 {
		clear(n.said) // rather twice than for ever more
	}
	n.said[text] = true
	n.mu.Unlock()
	if !had {
		n.l.h.Log(level, text)
	}
}
