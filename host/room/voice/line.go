package voice

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/action"
	"github.com/companiond/companiond/host/call"
	"github.com/companiond/companiond/host/emotion"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/room/fold"
	"github.com/companiond/companiond/host/room/presence"
	"github.com/companiond/companiond/host/room/queue"
	"github.com/companiond/companiond/host/speech"
)

// Take takes what came of asking a companion for a line.
func (v *Voice) Take(a Answer) {
	if v.toHold(a) {
		v.hold(a.Grant, abi.SayAsk{}, &a)
		return
	}
	v.drop(a)
	a.Line.To = presence.Here(v.state().Members(), a.Line.To)
	if v.loop.Trouble() != nil {
		return // asked again when the journal is back
	}
	f := v.state().Floor
	if a.Err == nil && a.Line.Text != "" && (f == nil || f.Token != a.Grant) && v.stillOfUse(a) {
		return
	}
	if v.state().Begun(a.Grant) {
		broken := call.Clip(a.Refused)
		if a.Err != nil {
			_, broken = call.Failure(a.Err)
		}
		v.finish(a, broken, "")
		return
	}
	if a.Err != nil || a.Line.Text == "" {
		if f == nil || f.Token != a.Grant {
			return
		}
		b := entry.Failed{Grant: a.Grant, Who: a.Who, Error: "passed"}
		if a.Err != nil {
			b.Code, b.Error = call.Failure(a.Err)
			b.Until = call.Until(a.Err, v.loop.Now())
			v.cfg.Board.Count("line failed: " + string(b.Code))
		} else {
			b.Pass = true
			switch {
			case a.Refused != "":
				b.Error = call.Clip(a.Refused)
			case a.Line.Pass != "":
				b.Error = "passed: " + call.Clip(a.Line.Pass)
			}
		}
		v.loop.Input(entry.KindFailed, b)
		return
	}
	said := entry.Said{
		From: a.Who, By: abi.KindCompanion, To: a.Line.To, Text: a.Line.Text, Kind: abi.KindTurn,
		Basis: a.Basis, Grant: a.Grant, Closing: a.Line.Closing, Emotion: felt(a.Line.Emotion),
	}
	said.Parameters, said.Warning = a.how(said.Text)
	v.cfg.Say(said)
}

// how gives how a text is said, as the line tells it; else why that is not told on. A line
// is not lost for what comes with it.
func (a Answer) how(text string) (parameters json.RawMessage, warning string) {
	if a.Warning != "" {
		return nil, a.Warning
	}
	parameters, err := action.Said(a.Line.Parameters, text)
	if err != nil {
		return nil, call.Clip(abi.AsError(err).Message)
	}
	return parameters, ""
}

// stillOfUse takes a line that comes when the floor has passed on, on a slow machine for
// example: a human still waits for the answer, and nothing was said since.
func (v *Voice) stillOfUse(a Answer) bool {
	s := v.state()
	if s.Newest().Seq > a.Basis || !slices.ContainsFunc(s.Unanswered, func(u queue.Unanswered) bool { return u.Seq == a.About }) {
		return false
	}
	if f := s.Floor; f != nil && f.Who == a.Who && f.Wish == nil && f.Basis == a.Basis && !s.Begun(f.Token) { // it is asked once more
		v.cfg.Running.Over(v.Call(f))
		a.Grant = f.Token
		v.taken-- // the call that is ended counts itself
		v.Take(a)
		return true
	}
	if s.Full(a.Who) {
		return false
	}
	v.cfg.Board.Count("line late")
	how, _ := a.how(a.Line.Text)
	v.loop.Input(entry.KindWish, entry.Wish{
		Who: a.Who, Importance: 10, Reason: "its line came late", Text: a.Line.Text, To: a.Line.To, Basis: a.Basis, Answers: a.About,
		Closing: a.Line.Closing, Due: v.loop.Now().Add(queue.WishPatience), Parameters: how,
	})
	return true
}

// Segment takes a piece of the line that a companion is speaking: it sounds, or waits
// until it may. The error says why the line is over.
func (v *Voice) Segment(who, call string, a abi.SayAsk) error {
	if f := v.state().Floor; v.Has(who, call) && !v.state().PaysTurns() && v.holds(f) {
		if held := v.held; held != nil && held.bytes+len(a.Text) > abi.MaxText {
			return abi.Errorf(abi.CodeTooLarge, "say: the line is longer than %d bytes", abi.MaxText)
		}
		v.hold(f.Token, a, nil)
		return nil
	}
	return v.sound(who, call, a)
}

// sound shows a piece of a line that may sound.
func (v *Voice) sound(who, call string, a abi.SayAsk) error {
	s := v.state()
	f := s.Floor
	switch {
	case !v.Has(who, call):
		return abi.Errorf(abi.CodeDenied, "say: %s does not have the floor", who)
	case s.PaysTurns():
		return abi.Errorf(abi.CodeUnavailable, "say: lines are paid for here and said in one piece")
	case f.Segments == 0 && v.stale(f):
		return abi.Errorf(abi.CodeStale, "say: %s spoke meanwhile", s.Newest().From)
	case len(f.Spoken)+len(a.Text) > abi.MaxText:
		return abi.Errorf(abi.CodeTooLarge, "say: the line is longer than %d bytes", abi.MaxText)
	}
	v.loop.Input(entry.KindSegment, entry.Segment{Grant: f.Token, Who: who, N: f.Segments + 1, Text: a.Text, Voice: speech.Beats(a.Text), Emotion: felt(a.Emotion)})
	return nil
}

// felt gives the word that the journal has for how something is said: whatever a module calls it, one of
// the six, or nothing.
func felt(name string) string {
	if name == "" {
		return ""
	}
	return string(emotion.Named(name))
}

// stale says whether a line that has not begun to sound is about a moment that is gone. Where somebody
// called its speaker, and a line for that was lost already, it is not for what others say to nobody:
// who keeps talking would keep the one who asked from an answer for ever.
func (v *Voice) stale(f *fold.Floor) bool {
	s := v.state()
	if !s.Behind(f.Basis, f.Who) || s.Rules.Stale == entry.StaleAccept {
		return false
	}
	u := s.Turn(f.Subject)
	called := u != nil && slices.Contains(u.Meant, f.Who)
	noise := s.LastBy == abi.KindHuman && !slices.ContainsFunc(s.Unanswered, func(u queue.Unanswered) bool { return u.Seq > f.Basis && len(u.Meant) > 0 })
	if called && noise && v.lost == f.Subject {
		return false
	}
	v.lost = f.Subject
	return true
}

// BreakOff ends a line that has begun to sound: the part that went out is the message, and
// nothing that its call still says is of use.
func (v *Voice) BreakOff(ends entry.End, why string) {
	if f := v.state().Floor; v.loop.Trouble() == nil && f != nil && v.state().Begun(f.Token) {
		v.cfg.Board.Count("line broken off")
		v.finish(Answer{}, why, ends)
		v.cfg.Running.Over(v.Call(f))
	}
}

// finish says a line that has begun to sound. Its words are those that were
// shown, and what the speaker adds to them; broken says why no more comes, and ends how that
// is called where it is no failure.
func (v *Voice) finish(a Answer, broken string, ends entry.End) {
	f, line := v.state().Floor, a.Line
	rest, ok := strings.CutPrefix(line.Text, f.Spoken)
	switch {
	case line.Text == "" || ok && strings.TrimSpace(rest) == "":
	case !ok || len(line.Text) > abi.MaxText || abi.CheckText("", rest) != nil:
		v.Astray(f.Who)
	default:
		v.loop.Input(entry.KindSegment, entry.Segment{Grant: f.Token, Who: f.Who, N: f.Segments + 1, Text: rest, Voice: speech.Beats(rest), Emotion: felt(line.Emotion)})
	}
	if v.loop.Trouble() != nil {
		return
	}
	f = v.state().Floor
	said := entry.Said{
		From: f.Who, By: abi.KindCompanion, To: line.To, Text: f.Spoken, Kind: abi.KindTurn,
		Basis: f.Basis, Grant: f.Token, Closing: line.Closing, Segments: f.Segments, Broken: broken, Ends: ends,
		Emotion: felt(line.Emotion),
	}
	said.Parameters, said.Warning = a.how(said.Text)
	v.cfg.Say(said)
}

// Astray tells of a line whose rest is not said. It may be called beside the loop.
func (v *Voice) Astray(who string) {
	v.cfg.Board.Count("rest of a line dropped")
	v.cfg.Log.Warn("the rest of a line is not said: the line does not begin with the pieces that were, or is no good text", "companion", who)
}

// Resume ends what was heard when the daemon was killed: what had gone out of a line is
// the message.
func (v *Voice) Resume() {
	l := v.state().Playing
	if l == nil || l.Of != 0 || v.state().Floor != nil {
		return
	}
	v.cfg.Say(entry.Said{
		From: l.Who, By: abi.KindCompanion, Text: l.Text(), Kind: abi.KindTurn, Basis: cmp.Or(l.Basis, v.state().Last.Seq), Grant: l.ID,
		Segments: len(l.Parts), Broken: "the daemon was stopped",
	})
}
