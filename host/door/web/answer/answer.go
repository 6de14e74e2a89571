// Package answer waits in a room for what a companion says because of something: a
// message, or a wish to speak about what it perceived. The wire of the AI Companion Protocol
// answers a perception with that.
//
// It reads what the room writes down, and nothing else; it never asks anybody, and
// changes nothing.
package answer

import (
	"context"
	"errors"
	"slices"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/rooms"
)

// ToMessage waits until a companion has answered the message with seq in its room,
// until the room rests, or until ctx ends. The text is empty when it said nothing.
//
// # Errors
//
// Those of the room; that ctx ended is none.
func ToMessage(ctx context.Context, talk rooms.Room, companion string, seq uint64) (text string, err error) {
	return follow(ctx, talk, seq, &reply{who: companion})
}

// OfWish waits until a companion has said what it wished to, until it is clear that
// it will not, or until ctx ends. wish is the seq of the wish. Text and errors are
// as those of [ToMessage].
func OfWish(ctx context.Context, talk rooms.Room, companion string, wish uint64) (text string, err error) {
	return follow(ctx, talk, wish, &wished{who: companion, wish: wish})
}

// listener is told what happens in a room, until it has heard enough.
type listener interface {
	hear(e entry.Entry) (text string, enough bool)
}

var errEnough = errors.New("heard enough")

func follow(ctx context.Context, talk rooms.Room, since uint64, l listener) (heard string, err error) {
	err = talk.Follow(ctx, since, func(entries []entry.Entry) error {
		for _, e := range entries {
			if text, enough := l.hear(e); enough {
				heard = text
				return errEnough
			}
		}
		return nil
	})
	if errors.Is(err, errEnough) || ctx.Err() != nil {
		return heard, nil
	}
	return "", err
}

// reply hears a companion's answer to a message, from what follows it. That is
// its next turn for which the floor was given after the message, when everybody
// who decided knew of it, or for which it was asked again since. A line that was
// on its way before is no answer, and neither is one about something perceived.
type reply struct {
	who    string
	grants map[string]bool
}

func (r *reply) hear(e entry.Entry) (string, bool) {
	switch e.Kind {
	case entry.KindSaid:
		s, err := entry.Decode[entry.Said](e)
		return s.Text, err == nil && isTurnOf(s, r.who) && (s.Grant == "" || r.grants[s.Grant])
	case entry.KindDecision:
		d, _ := entry.Decode[entry.Decision](e)
		if d.Wish != 0 {
			return "", false
		}
		switch d.Outcome {
		case entry.OutcomeGrant:
			if d.Speaker == r.who && d.Grant != nil {
				r.granted(d.Grant.Token)
			}
		case entry.OutcomeSilence, entry.OutcomeAbsent, entry.OutcomeClosed, entry.OutcomeCapped, entry.OutcomeStopped:
			return "", true // the room rests
		}
	case entry.KindRefused:
		if b, _ := entry.Decode[entry.Refused](e); b.Again && b.Who == r.who {
			r.granted(b.Grant)
		}
	}
	return "", gone(e, r.who)
}

func (r *reply) granted(token string) {
	if r.grants == nil {
		r.grants = map[string]bool{}
	}
	r.grants[token] = true
}

// wished hears the line of a wish to speak, from what follows the wish.
type wished struct {
	who   string
	wish  uint64
	grant string // token, once it was granted
}

func (w *wished) hear(e entry.Entry) (string, bool) {
	switch e.Kind {
	case entry.KindSaid:
		s, err := entry.Decode[entry.Said](e)
		return s.Text, err == nil && isTurnOf(s, w.who) && w.grant != "" && s.Grant == w.grant
	case entry.KindDecision:
		d, _ := entry.Decode[entry.Decision](e)
		if d.Wish == w.wish && d.Outcome == entry.OutcomeGrant && d.Grant != nil {
			w.grant = d.Grant.Token
			return "", false
		}
		return "", d.Wish == w.wish || w.grant != "" // it cannot be, or somebody else has the floor by now
	case entry.KindDue:
		b, _ := entry.Decode[entry.Due](e)
		return "", b.What == entry.DueStale && b.Of == w.wish
	case entry.KindFailed:
		b, _ := entry.Decode[entry.Failed](e)
		return "", b.Grant != "" && b.Grant == w.grant
	case entry.KindRefused:
		b, _ := entry.Decode[entry.Refused](e)
		return "", b.Grant != "" && b.Grant == w.grant && b.Kind == abi.KindTurn && !b.Again
	}
	return "", gone(e, w.who)
}

// gone says whether nothing is to be heard of a companion: somebody said STOP, or
// it left.
func gone(e entry.Entry, who string) bool {
	switch e.Kind {
	case entry.KindStop:
		return true
	case entry.KindCast:
		b, _ := entry.Decode[entry.Cast](e)
		return slices.ContainsFunc(b.Left, func(l entry.Left) bool { return l.ID == who })
	}
	return false
}

func isTurnOf(s entry.Said, who string) bool {
	return s.From == who && s.By == abi.KindCompanion && s.Kind == abi.KindTurn
}
