// Package paint shows entries of a room, its turns and what they are told as, and conversations of agents to people at
// a terminal. Words that somebody else wrote are shown and never obeyed.
//
// It never asks a daemon, and never looks at the environment: whoever paints says
// where to, and whether in colours.
package paint

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"strings"
	"unicode"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/rooms"
)

// Painter writes lines for people to Out, with Colour in one colour a speaker,
// and with Votes also who asked for the floor and who got it. The zero Painter has
// nowhere to write to.
type Painter struct {
	Out    io.Writer
	Colour bool
	Votes  bool
	Raw    bool // entries are lines of JSON
	Width  int  // columns of the terminal; 0: none is there, or nobody knows
}

// Unreadable says why an entry cannot be shown: its body is not what its kind has.
type Unreadable struct{ error }

func (u Unreadable) Unwrap() error { return u.error }

// Entry writes one entry in a line or more; kinds nobody needs to see write
// nothing. An error is [Unreadable], or Out's.
func (p Painter) Entry(e entry.Entry) error {
	if p.Raw {
		return json.NewEncoder(p.Out).Encode(e)
	}
	line, err := p.line(e)
	if err != nil {
		return Unreadable{fmt.Errorf("its body is not that of %q: %w", e.Kind, err)}
	}
	if line != "" {
		_, err = fmt.Fprintln(p.Out, line)
	}
	return err
}

func (p Painter) line(e entry.Entry) (string, error) {
	if m, ok := e.Message(); ok {
		to := ""
		if len(m.To) > 0 {
			to = p.dim(" → " + strings.Join(m.To, ", "))
		}
		if entry.ErasedBy(e) != "" {
			to += p.dim(" (erased)")
		}
		return p.said(m) + to, nil
	}
	if e.Blank || !p.Votes && (e.Kind == entry.KindVote || e.Kind == entry.KindFailed) {
		return "", nil
	}
	switch e.Kind {
	case entry.KindSaid: // it is no message
		return shown(e, func(entry.Said) string { return "" })
	case entry.KindOpened:
		return shown(e, func(b entry.Opened) string { return p.aside("%s opened the room", rooms.Called(b.By)) })
	case entry.KindArchived:
		return shown(e, func(b entry.Archived) string { return p.aside("%s closed the room", rooms.Called(b.By)) })
	case entry.KindStop:
		return shown(e, func(b entry.Stop) string { return p.aside("STOP by %s", b.From) })
	case entry.KindMuted:
		return shown(e, func(b entry.Muted) string {
			if b.On {
				return p.aside("%s muted %s", b.By, b.Who)
			}
			return p.aside("%s lets %s speak again", b.By, b.Who)
		})
	case entry.KindCast:
		return shown(e, p.cast)
	case entry.KindClosing:
		return shown(e, func(b entry.ClosingMoved) string { return p.aside("the talk moves on to %s: %s", b.To, b.Why(e.Seq)) })
	case entry.KindLifecycle:
		return shown(e, p.lifecycle)
	case entry.KindRefused:
		return shown(e, func(b entry.Refused) string { return p.aside("%s was not heard (%s): %s", b.Who, b.Why, b.Text) })
	case entry.KindDecision:
		return shown(e, p.decision)
	case entry.KindForgotten:
		return shown(e, func(b entry.Forgotten) string {
			return p.aside("words of somebody were erased, in %d entries", b.Count)
		})
	case entry.KindOffered:
		return shown(e, p.offered)
	case entry.KindAction:
		return shown(e, p.action)
	case entry.KindResult:
		return shown(e, p.result)
	case entry.KindHandled:
		return shown(e, p.handled)
	case entry.KindVote:
		return shown(e, p.vote)
	case entry.KindFailed:
		return shown(e, func(b entry.Failed) string { return p.aside("%s: %s", b.Who, b.Error) })
	}
	return "", nil
}

// said is a message behind its time, its number and its speaker.
func (p Painter) said(m abi.Message) string {
	at := fmt.Sprintf("%s #%-4d", m.At.Local().Format("15:04:05"), m.Seq)
	return fmt.Sprintf("%s %s: %s", p.dim(at), p.name(plain(m.From, 0)), plain(m.Text, 15))
}

func shown[T any](e entry.Entry, f func(T) string) (string, error) {
	var b T
	if err := json.Unmarshal(e.Body, &b); err != nil {
		return "", err
	}
	return f(b), nil
}

func (p Painter) offered(b entry.Offered) string {
	var parts, names []string
	for _, a := range b.Actions {
		names = append(names, a.Name)
	}
	if len(names) > 0 {
		parts = append(parts, fmt.Sprintf("%s lets %s do: %s", b.By, b.Who, strings.Join(names, ", ")))
	}
	if len(b.Withdrawn) > 0 {
		parts = append(parts, fmt.Sprintf("%s takes back: %s", b.By, strings.Join(b.Withdrawn, ", ")))
	}
	return p.aside("%s", strings.Join(parts, "; "))
}

// longest is how much of an action's parameters is shown, in bytes.
const longest = 200

func (p Painter) action(b entry.Action) string {
	with := string(b.Parameters)
	if len(with) > longest {
		with = strings.ToValidUTF8(with[:longest], "") + "…"
	}
	if with == "{}" {
		with = ""
	}
	by := ""
	if b.By != "" {
		by = " for " + b.By
	}
	return p.aside("%s", strings.TrimSpace(fmt.Sprintf("%s plays %s%s %s", b.Who, b.Action, by, with)))
}

func (p Painter) result(b entry.Done) string {
	became := "succeeded"
	if !b.OK {
		became = "failed"
	}
	if b.Reason != "" {
		became += ": " + b.Reason
	}
	if b.By != "" {
		became += " (" + b.By + ")"
	}
	return p.aside("%s of %s %s", b.Action, b.Who, became)
}

// handled tells what handlers did, but that they let something pass.
func (p Painter) handled(b entry.Handled) string {
	of := "what " + b.Who + " says"
	if b.Of == entry.OfPerception {
		of = fmt.Sprintf("what %s perceives as %s", b.Who, b.Title)
	}
	var parts []string
	for _, s := range b.Steps {
		if s.Did != entry.DidPass {
			parts = append(parts, s.Handler+" "+s.Said(of))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return p.aside("%s", strings.Join(parts, "; "))
}

func (p Painter) cast(b entry.Cast) string {
	var parts []string
	for _, j := range b.Joined {
		if j.Kind == abi.KindAgent {
			parts = append(parts, j.ID+" is here (agent)")
			continue
		}
		parts = append(parts, fmt.Sprintf("%s is here (%s, generation %d)", j.ID, j.Engine, j.Generation))
	}
	for _, l := range b.Left {
		parts = append(parts, fmt.Sprintf("%s left (%s)", l.ID, l.Reason))
	}
	return p.aside("%s", strings.Join(parts, "; "))
}

func (p Painter) vote(b entry.Voted) string {
	if b.State == abi.Listen {
		return p.aside("%s listens", b.Voter)
	}
	why := ""
	if b.Reason != "" {
		why = " (" + b.Reason + ")"
	}
	return p.aside("%s asks for the floor, importance %g%s", b.Voter, b.Importance, why)
}

func (p Painter) decision(b entry.Decision) string {
	switch {
	case b.Outcome == entry.OutcomeGrant && p.Votes:
		return p.aside("%s gets the floor: %s", b.Speaker, b.Reason)
	case b.Outcome == entry.OutcomeGrant, b.Outcome == entry.OutcomeSuperseded, b.Outcome == entry.OutcomeWaits && !p.Votes:
		return ""
	}
	return p.aside("%s: %s", b.Outcome, b.Reason)
}

func (p Painter) lifecycle(b entry.Lifecycle) string {
	what := "the conversation is " + b.To
	if b.Reason != "" {
		what += " (" + b.Reason
		if b.EndedBy != "" {
			what += ", " + b.EndedBy
		}
		what += ")"
	}
	return p.aside("%s", what)
}

func (p Painter) aside(format string, args ...any) string {
	return p.dim(strings.Repeat(" ", 15) + plain(fmt.Sprintf(format, args...), 15))
}

// Plain is what a terminal may be given of somebody's words, set in by nothing.
func Plain(s string) string { return plain(s, 0) }

// plain takes what a terminal would act on out of somebody's words: they are
// not to move the cursor, hide lines or turn the text around. Further lines are
// set in below the first.
func plain(s string, indent int) string {
	var b strings.Builder
	for _, r := range strings.TrimRight(s, "\r\n") {
		switch {
		case r == '\n':
			b.WriteString("\n" + strings.Repeat(" ", indent))
		case r == '\t':
			b.WriteByte(' ')
		case unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r), r == '\u2028', r == '\u2029', hidden(r):
			if r > 0xffff {
				fmt.Fprintf(&b, "\\U%08x", r)
				continue
			}
			fmt.Fprintf(&b, "\\u%04x", r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// hidden says whether a sign shows as nothing and joins or varies nothing either: somebody who reads does not know of it.
func hidden(r rune) bool {
	return abi.Ignorable(r) && r != '\u200c' && r != '\u200d' && !unicode.Is(unicode.Variation_Selector, r)
}

func (p Painter) dim(s string) string { return p.in("2", s) }

// name gives a speaker the colour that its name always has.
func (p Painter) name(who string) string {
	h := fnv.New32a()
	_, _ = h.Write([]byte(who)) // never fails
	colours := []string{"36", "33", "35", "32", "34", "31"}
	return p.in("1;"+colours[h.Sum32()%uint32(len(colours))], who)
}

func (p Painter) in(code, s string) string {
	if !p.Colour {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}
