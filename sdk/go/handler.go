package companion

import (
	"encoding/json"
	"errors"
	"slices"

	"github.com/companiond/companiond/abi"
)

// Handler is a module that acts for companions: it offers them actions, and carries out what they
// play. It lives in no room.
type Handler struct {
	Name    string // what the configuration and people call it
	Version string // your own version, shown to people
	Needs   []string
	// Actions are what it can do: each with a name, a description and the JSON Schema of its
	// parameters, which the daemon holds them to before Act is asked.
	Actions []Offer
	// Settings is the JSON Schema of its settings, an object; empty for a handler without any.
	Settings string
	// Act carries out an action. What it answers is told to the companion; an error says that nothing came
	// of it, and an [*abi.Error] says so in its own words. With [ErrLater] the work goes on, and [Host.TellResult] says
	// later what came of it.
	Act func(h *Host, a Acting) (message string, err error)
	// Show is told what a room shows of a companion: its lines, their parts and their sounds, when a body begins to
	// say them and when they are over, and its actions.
	Show func(h *Host, s abi.Showing)
	// Sense is asked about what a companion is to perceive, and Line about what it is to say: both may
	// let it pass, change it or refuse it.
	Sense func(h *Host, s abi.Sensing) (abi.Sensed, error)
	Line  func(h *Host, l abi.Lining) (abi.Lined, error)
	// Timer is called when a timer is due that [Host.SetTimer] set, and once at the start, with no name.
	Timer func(h *Host, t abi.Timer)
	// Run is called once and runs until h.Context() ends, beside the other calls, which makes it a
	// source: it may call h whenever something happens. In a program alone; variables that others use, too, need a
	// lock. Where it ends before, it is called again later.
	Run func(h *Host, r abi.Running) error
}

// ErrLater is what [Handler.Act] answers where the work takes longer than the call may: [Host.TellResult] tells what came of
// it, in another call of the handler, within ten minutes.
var ErrLater = errors.New("the work goes on")

// RegisterHandler makes c the handler of this module. Call it once, from init, in place of [Register].
func RegisterHandler(c Handler) {
	Register(Character{Name: c.Name, Version: c.Version, Needs: c.Needs, handler: &c})
}

func (c *Handler) describe() abi.Description {
	ops := []string{abi.OpDescribe}
	for op, has := range map[string]bool{
		abi.OpAct: c.Act != nil, abi.OpShow: c.Show != nil, abi.OpSense: c.Sense != nil, abi.OpLine: c.Line != nil, abi.OpTimer: c.Timer != nil, abi.OpRun: c.Run != nil,
	} {
		if has {
			ops = append(ops, op)
		}
	}
	slices.Sort(ops[1:])
	kind := abi.Handler
	if len(ops) == 2 && c.Act != nil {
		kind = abi.ActionHandler // which daemons know that know of no other ops
	}
	return abi.Description{
		ABI: "1", Name: c.Name, Version: c.Version, Kind: kind, Ops: ops,
		Needs: slices.Clone(c.Needs), Actions: slices.Clone(c.Actions), Settings: json.RawMessage(c.Settings),
	}
}

// dispatch runs one op.
func (c *Handler) dispatch(req abi.Request, h *Host) (any, error) {
	switch {
	case req.Op == abi.OpAct && c.Act != nil:
		return given(req, "an action", func(a Acting) (any, error) { return c.act(h, a) })
	case req.Op == abi.OpShow && c.Show != nil:
		return given(req, "something shown", func(s abi.Showing) (any, error) {
			c.Show(h, s)
			return struct{}{}, nil
		})
	case req.Op == abi.OpSense && c.Sense != nil:
		return given(req, "a perception", func(s abi.Sensing) (any, error) { return c.Sense(h, s) })
	case req.Op == abi.OpLine && c.Line != nil:
		return given(req, "words", func(l abi.Lining) (any, error) { return c.Line(h, l) })
	case req.Op == abi.OpTimer && c.Timer != nil:
		return given(req, "a timer", func(t abi.Timer) (any, error) {
			c.Timer(h, t)
			return struct{}{}, nil
		})
	case req.Op == abi.OpRun && c.Run != nil:
		return given(req, "companions", func(r abi.Running) (any, error) { return struct{}{}, c.Run(h, r) })
	}
	return nil, abi.Errorf(abi.CodeUnknownOp, "op %q is not one of mine", req.Op)
}

func (c *Handler) act(h *Host, a Acting) (abi.Acted, error) {
	message, err := c.Act(h, a)
	if errors.Is(err, ErrLater) {
		return abi.Acted{Later: true}, nil
	}
	if abi.CodeOf(err) == abi.CodeInternal {
		h.Log(abi.LevelError, "act: "+err.Error()) // which nobody else is told
	}
	return abi.Acted{Message: message}, err
}

// Emit has a companion perceive something. It has to be granted, and the companion be one of the handler's.
func (h *Host) Emit(p abi.PerceptionAsk) (e abi.Emitted, err error) {
	return e, h.Ask(abi.HostPerceptionEmit, p, &e)
}

// ActFor is [Host.Act] for a handler: one of its companions plays an action of its card. It has to be granted
// (action.emit). The action "speak" with a message is a wish to say something, as any that waits for the floor.
func (h *Host) ActFor(who, action string, parameters any) (played abi.ActionPlayed, err error) {
	return h.act(abi.ActionAsk{Companion: who, Action: action}, parameters)
}

// Retract takes back what was emitted and is not judged yet; count is how many perceptions that were.
func (h *Host) Retract(r abi.RetractAsk) (count int, err error) {
	var back abi.Retracted
	err = h.Ask(abi.HostPerceptionRetract, r, &back)
	return back.Count, err
}

// PutBlob gives the daemon something to keep for bodies and pages, at most [abi.MaxBlob] bytes. The ref has its address.
func (h *Host) PutBlob(b abi.Blob) (ref abi.BlobRef, err error) {
	return ref, h.Ask(abi.HostBlobPut, b, &ref)
}

// GetBlob gives what was put.
func (h *Host) GetBlob(ref abi.BlobRef) (b abi.Blob, err error) {
	return b, h.Ask(abi.HostBlobGet, ref, &b)
}

// Sound tells a room that a part of a line has a sound.
func (h *Host) Sound(s abi.Sound) error { return h.Ask(abi.HostSoundEmit, s, nil) }

// TellResult tells what came of an action for which [Handler.Act] answered [ErrLater]. It has to be granted. It is refused
// for an action that is not out: its result was told, it took too long, or its handler was another by then.
func (h *Host) TellResult(r abi.ResultAsk) error { return h.Ask(abi.HostActionResult, r, nil) }

// SetTimer has [Handler.Timer] called after a while.
func (h *Host) SetTimer(t abi.TimerAsk) error { return h.Ask(abi.HostTimerSet, t, nil) }
