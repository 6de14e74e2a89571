package socket

import (
	"cmp"
	"context"
	"net/http"
	"slices"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/door/socket/actions"
	"github.com/companiond/companiond/host/door/socket/firehose"
	"github.com/companiond/companiond/host/door/socket/query"
	"github.com/companiond/companiond/host/door/socket/session"
	"github.com/companiond/companiond/host/identity"
	"github.com/companiond/companiond/host/rooms"
)

// openBody finds the companion, its room, and where to start.
func (f *Feed) openBody(r *http.Request) (v view, err error) {
	if err := identity.Of(r.Context()).May(identity.Act); err != nil {
		return view{}, err
	}
	asks := r.URL.Query()
	plays, err := query.Flag(asks, "playback", false)
	sounds, wrong := query.Flag(asks, "sounds", false)
	answers, odd := query.Flag(asks, "answers", true)
	if err := cmp.Or(err, wrong, odd); err != nil {
		return view{}, err
	}
	s := &session.Session{Speaks: f.cfg.Speaks, Plays: plays, Sounds: sounds, Answers: answers, Owns: f.cfg.Games.Plays}
	if s.Companion = asks.Get("companion"); asks.Has("room") && !asks.Has("companion") {
		v, err = f.bodiesOf(r, asks.Get("room"), s, &actions.Wire{})
	} else {
		v, err = f.bodyOf(r, s, &actions.Wire{})
	}
	if err == nil && plays && sounds { // else it only looks
		v.free, err = f.mouths.Take(v.talk.Name(), s.Companion)
	}
	return v, err
}

// openHose finds the room whose Firehose a client of aikyo's connects to. It is a body of all who are there,
// for it hears what they do and may speak it.
func (f *Feed) openHose(r *http.Request, room string) (view, error) {
	caller, asks := identity.Of(r.Context()), r.URL.Query()
	if err := cmp.Or(caller.May(identity.Read), caller.May(identity.Act)); err != nil {
		return view{}, err
	}
	plays, err := query.Flag(asks, "playback", false)
	if err != nil {
		return view{}, err
	}
	votes, err := query.Flag(asks, "states", false)
	if err != nil {
		return view{}, err
	}
	if asks.Has("since") {
		return view{}, abi.Field("query.since", abi.CodeInvalid, "a Firehose begins with what comes; what was said is at GET /v1/rooms/%s/messages", room)
	}
	key, err := f.cfg.NameKey(r.Context())
	if err != nil {
		return view{}, err
	}
	s := &session.Session{Speaks: func(string) bool { return true }, Plays: plays, Finishes: true, Answers: true}
	return f.bodiesOf(r, room, s, firehose.New(s.Everyone, key, votes, plays))
}

// bodiesOf finds the room of a client that is the body of all companions there, and where to start.
func (f *Feed) bodiesOf(r *http.Request, room string, s *session.Session, wire session.Codec) (v view, err error) {
	if v.talk, err = f.cfg.Rooms.Room(r.Context(), room); err != nil {
		return view{}, err
	}
	if v.since, _, err = start(r, v.talk); err != nil {
		return view{}, err
	}
	s.Room, s.Caller = v.talk, identity.Of(r.Context())
	s.Gather()
	if err := s.Recall(r.Context(), v.since); err != nil {
		return view{}, err
	}
	v.dialect = newFront(s, wire)
	return v, nil
}

// bodyOf finds the room of a body whose companion is known, and where to start.
func (f *Feed) bodyOf(r *http.Request, s *session.Session, wire session.Codec) (view, error) {
	asks, companion := r.URL.Query(), s.Companion
	if err := abi.CheckName("query.companion", companion); err != nil {
		return view{}, err
	}
	talk, err := f.roomOf(r.Context(), companion, asks.Get("room"), asks.Has("room"))
	if err != nil {
		return view{}, err
	}
	since, _, err := start(r, talk)
	if err != nil {
		return view{}, err
	}
	s.Room, s.Caller = talk, identity.Of(r.Context())
	return view{talk: talk, since: since, dialect: newFront(s, wire)}, nil
}

// roomOf finds the room that a client named, or else the companion's own.
func (f *Feed) roomOf(ctx context.Context, companion, name string, named bool) (rooms.Room, error) {
	if !named {
		return f.cfg.Rooms.Home(ctx, companion)
	}
	talk, err := f.cfg.Rooms.Room(ctx, name)
	if err != nil {
		return nil, err
	}
	members := talk.Info().Members
	if len(members) > 0 && !slices.ContainsFunc(members, func(m abi.Member) bool { return m.ID == companion && m.Kind == abi.KindCompanion }) {
		return nil, abi.Field("query.companion", abi.CodeNotFound, "%q is not in room %s", companion, name)
	}
	return talk, nil
}

// lives says where nobody is called like that whom a client names in its path: neither in the
// house nor in the room.
func (f *Feed) lives(talk rooms.Room, companion string) error {
	here := func(m abi.Member) bool { return m.ID == companion && m.Kind == abi.KindCompanion }
	if f.cfg.Lives == nil || f.cfg.Lives(companion) || slices.ContainsFunc(talk.Info().Members, here) {
		return nil
	}
	return abi.Field("path.companion", abi.CodeNotFound, "nobody is called %q here; GET /v1/companions lists who is, by their ids", companion)
}
