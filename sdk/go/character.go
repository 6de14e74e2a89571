package companion

import (
	"encoding/json"
	"maps"
	"math"
	"slices"

	"github.com/companiond/companiond/abi"
)

// The words of the border, so that a character needs one import only.
type (
	Scene   = abi.Scene
	Vote    = abi.Vote
	Line    = abi.Line
	Message = abi.Message
	Member  = abi.Member
	Closing = abi.Closing

	Perceiving = abi.Perceiving
	Judgement  = abi.Judgement
	Result     = abi.Result
	Forget     = abi.Forget

	Acting = abi.Acting
	Offer  = abi.Offer

	Compressing = abi.Compressing
	Compressed  = abi.Compressed
	Verifying   = abi.Verifying
	Verified    = abi.Verified
)

// Character is what a maker registers. Name is required; a character without
// Vote always listens, one without Speak passes the floor on, one without
// Perceive makes nothing of what its senses bring.
type Character struct {
	Name    string   // the name people call it by
	Aliases []string // other names it answers to
	Version string   // your own version, shown to people
	Needs   []string // host ops beyond those always granted
	// Card is the companion's definition as JSON, with what it perceives and does,
	// as characters without code have it. Empty for one without a body.
	Card string

	// Vote says whether the character wants to speak about s.Message. It should
	// be quick: the whole room waits for it.
	Vote func(h *Host, s Scene) Vote
	// Speak gives the line. s.Recent holds the newest messages.
	Speak func(h *Host, s Scene) Line
	// Perceive makes something of what the senses bring. Actions are played
	// meanwhile, with [Host.Act]. With Several that may be more than one at once:
	// p.More has those before p.Perception, oldest first.
	Perceive func(h *Host, p Perceiving) Judgement
	Several  bool
	// Result hears what became of an action.
	Result func(h *Host, r Result)
	// Forget hears that words were erased on somebody's word: take out of your keys what
	// you made of them. What is left of them there is deleted by the daemon.
	Forget func(h *Host, f Forget)
	// Compress tells a part of a room's past as a shorter text. What it is given are words of
	// others, and so is the policy: it says what matters, and nothing else.
	Compress func(h *Host, c Compressing) Compressed
	// Verify says whether such a text has all that has to stay: one item for each of
	// v.Keep, and "YES" or "NO".
	Verify func(h *Host, v Verifying) Verified

	handler *Handler // in place of all the rest but Name, Version and Needs
}

// registered is set once, by an initialiser, before the first call.
var registered *Character

// Register makes c the character of this module. Call it once, from init.
func Register(c Character) {
	if registered != nil {
		panic("companion: Register was called twice")
	}
	registered = &c
}

// Registered gives the character that was registered; ok is false if none was.
// It is for tests of a main package, with [NewLocal].
func Registered() (c Character, ok bool) {
	if registered == nil {
		return Character{}, false
	}
	return *registered, true
}

// Want is a vote to speak. Importance is 0 (would not mind) to 10 (must); a number
// outside is moved inside, and one finer than a tenth is rounded. The
// reason is shown to people who ask why.
func Want(importance float64, reason string) Vote {
	importance = math.Round(min(max(importance, 0), 10)*10) / 10
	return Vote{State: abi.Speak, Importance: importance, Reason: reason}
}

// Listen is a vote to stay silent.
func Listen(reason string) Vote { return Vote{State: abi.Listen, Reason: reason} }

// Say is a line to everybody, or to those whose ids are given.
func Say(text string, to ...string) Line { return Line{Text: text, To: to} }

// Express is a line with how it is said: the parameters of the card's action "speak" beside
// the message, as {"emotion": "joy"}. What the card does not take is left out, and the
// journal says so.
func Express(how map[string]any, text string, to ...string) Line {
	all := map[string]any{}
	maps.Copy(all, how)
	all["message"] = text
	b, err := json.Marshal(all)
	if err != nil { // what stands in the journal then is that this is no object
		b, _ = json.Marshal(err.Error())
	}
	return Line{Text: text, To: to, Parameters: b}
}

// Pass gives the floor back without a word.
func Pass(why string) Line { return Line{Pass: why} }

// describe is the answer to OpDescribe.
func (c *Character) describe() abi.Description {
	if c.handler != nil {
		return c.handler.describe()
	}
	d := abi.Description{
		ABI: "1", Name: c.Name, Aliases: c.Aliases, Version: c.Version,
		Ops: []string{abi.OpDescribe}, Needs: slices.Clone(c.Needs), Card: json.RawMessage(c.Card), Several: c.Several,
	}
	for _, op := range []struct {
		name string
		has  bool
	}{
		{abi.OpVote, c.Vote != nil}, {abi.OpSpeak, c.Speak != nil}, {abi.OpPerceive, c.Perceive != nil}, {abi.OpResult, c.Result != nil}, {abi.OpEvent, c.Forget != nil},
		{abi.OpCompress, c.Compress != nil}, {abi.OpVerify, c.Verify != nil},
	} {
		if op.has {
			d.Ops = append(d.Ops, op.name)
		}
	}
	return d
}
