package socket

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/door/socket/aituberkit"
	"github.com/companiond/companiond/host/door/socket/mouth"
	"github.com/companiond/companiond/host/door/socket/ollmv"
	"github.com/companiond/companiond/host/door/socket/query"
	"github.com/companiond/companiond/host/door/socket/session"
	"github.com/companiond/companiond/host/identity"
)

// linkageLimit is what a client of AITuberKit's may send at once: an image as a data: URL.
const linkageLimit = 16 << 20

// largeMessages is how many messages above readLimit are read at a time, of all clients, and
// largePatience how long one may take to come in: images sent at once would fill the memory.
const (
	largeMessages = 4
	largePatience = 30 * time.Second
)

// openFace finds the companion that a page is the face of, and its room: all that the companion says is for the page. The
// wire is still to be made.
func (f *Feed) openFace(r *http.Request, s *session.Session) (v view, speaker string, err error) {
	s.From, s.Caller, s.Speaks = r.URL.Query().Get("from"), identity.Of(r.Context()), func(string) bool { return true }
	if err := s.Caller.May(identity.Act); err != nil {
		return view{}, "", err
	}
	speaker, err = s.Speaker()
	if e := abi.AsError(err); err != nil && e.Field == "from" {
		return view{}, "", abi.Field("query.from", e.Code, "%s", e.Reason())
	}
	v, err = f.bodyOf(r, s, nil)
	if err != nil {
		return view{}, "", err
	}
	if err := f.lives(v.talk, s.Companion); err != nil {
		return view{}, "", err
	}
	home, err := f.cfg.Rooms.Home(r.Context(), s.Companion)
	if f.cfg.See != nil && err == nil && home.Name() == v.talk.Name() {
		s.See = func(ctx context.Context, image, from string) error { return f.cfg.See(ctx, s.Companion, image, from) }
	}
	v.limit = linkageLimit
	return v, speaker, s.Recall(r.Context(), v.since)
}

// openLinkage finds the companion that a client of AITuberKit's is the face of.
func (f *Feed) openLinkage(r *http.Request) (view, error) {
	s := &session.Session{Companion: r.PathValue("companion"), Finishes: true, Sentences: true}
	v, speaker, err := f.openFace(r, s)
	if err != nil {
		return view{}, err
	}
	key, err := f.cfg.NameKey(r.Context())
	if err != nil {
		return view{}, err
	}
	wire, past := aituberkit.New(v.talk.Name(), speaker, key), uint64(0)
	if r.URL.Query().Has("since") {
		_, head, err := v.talk.Entries(r.Context(), 0, 1)
		if err != nil {
			return view{}, err
		}
		if head > v.since {
			past = head
			wire.Follow()
		}
	}
	d := newFront(s, wire)
	d.past = past
	v.dialect = d
	return v, nil
}

// openPage finds the companion that a page of Open-LLM-VTuber's shows. Whose voice the page is, is the connection's: it may
// choose another companion, and be gone before that is shown.
func (f *Feed) openPage(r *http.Request) (view, error) {
	sounds, err := voiced(r)
	if err != nil {
		return view{}, err
	}
	if !sounds {
		return f.page(r, r.PathValue("companion"), nil)
	}
	voice := f.mouths.Voice()
	v, err := f.page(r, r.PathValue("companion"), voice)
	v.free = voice.Leave
	return v, err
}

// voiced says whether a page is to be its companion's voice: it has "sound" in its address, and may read what makes it one.
func voiced(r *http.Request) (bool, error) {
	asks := r.URL.Query()
	sounds, err := asks.Has("sound"), error(nil)
	if asks.Get("sound") != "" {
		sounds, err = query.Flag(asks, "sound", false)
	}
	if err != nil || !sounds {
		return false, err
	}
	return true, identity.Of(r.Context()).May(identity.Read)
}

// page finds what a page shows that is voice, nil: it is silent.
func (f *Feed) page(r *http.Request, companion string, voice *mouth.Voice) (view, error) {
	asks := r.URL.Query()
	if asks.Has("since") {
		return view{}, abi.Field("query.since", abi.CodeInvalid, "the page begins with what comes, and has what was said in its history")
	}
	model := asks.Get("model")
	if u, err := url.Parse(model); model != "" && (err != nil || u.Scheme != "http" && u.Scheme != "https") {
		return view{}, abi.Field("query.model", abi.CodeInvalid, "%.200q is no address of a Live2D model, http://.../NAME.model3.json", model)
	}
	s := &session.Session{Companion: companion, Plays: true, Sounds: voice != nil}
	v, speaker, err := f.openFace(r, s)
	if err != nil {
		return view{}, err
	}
	key, err := f.cfg.NameKey(r.Context())
	if err != nil {
		return view{}, err
	}
	wire := ollmv.Config{Companion: companion, Room: v.talk.Name(), Speaker: speaker, Model: model, Key: key, Choices: func() (all []ollmv.Choice) {
		for _, m := range v.talk.Info().Members {
			if m.Kind == abi.KindCompanion {
				all = append(all, ollmv.Choice{ID: m.ID, Name: m.Name})
			}
		}
		return all
	}}
	if voice != nil {
		wire.Sound = f.cfg.Sound
		if err := voice.Turn(v.talk.Name(), companion); err != nil {
			return view{}, err
		}
	}
	d := newFront(s, ollmv.New(wire))
	d.turnTo = func(companion string) (view, error) { return f.page(r, companion, voice) }
	v.dialect = d
	return v, nil
}

// read gives the next message of the client, and what is to be called when it was taken.
func (c *client) read(ctx context.Context) (message []byte, done func(), err error) {
	_, r, err := c.conn.NextReader()
	if err != nil {
		return nil, nil, err
	}
	done = func() {}
	var b bytes.Buffer
	if n, err := io.CopyN(&b, r, readLimit+1); n <= readLimit {
		if err == io.EOF {
			err = nil
		}
		return b.Bytes(), done, err
	}
	select {
	case c.large <- struct{}{}:
		done = func() { <-c.large }
	case <-ctx.Done():
		return nil, nil, context.Cause(ctx)
	}
	c.hurry = time.Now().Add(largePatience)
	_ = c.conn.SetReadDeadline(c.hurry)
	_, err = b.ReadFrom(r)
	c.hurry = time.Time{}
	if err != nil {
		done()
		return nil, nil, err
	}
	return b.Bytes(), done, nil
}
