// Package compress has turns of rooms compressed: a mind drafts a shorter text, another one verifies it
// against the original, up to three times, and then the draft waits for a person.
//
// It never lays a draft over anything by itself, unless the configuration says that what is verified is
// approved; what a verifier refused it cannot offer. It keeps nothing: where a proposal stands is in the
// room's journal, and a daemon that was killed goes on from there.
package compress

import (
	"cmp"
	"context"
	"log/slog"
	"sync"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/history"
	"github.com/companiond/companiond/host/rooms"
)

// Extract is the compresser, and the verifier, without a model.
const Extract = "extract"

// Mind drafts and verifies: a companion whose module answers these ops, or a model. Errors that are
// not about the answer itself are CodeUnavailable, CodeTimeout or CodeExhausted.
type Mind interface {
	Compress(ctx context.Context, room string, c abi.Compressing) (abi.Compressed, error)
	Verify(ctx context.Context, room string, v abi.Verifying) (abi.Verified, error)
}

// Config is what a service needs.
type Config struct {
	Rooms rooms.Directory
	// Mind gives whoever drafts or verifies by an id, CodeNotFound where there is none. Extract is none of
	// them.
	Mind func(id string) (Mind, error)
	// Usual are the ids of those who draft and verify where nobody is named.
	Usual func(room string) (compresser, verifier string)
	NewID func() string
	Log   *slog.Logger
}

// Service drafts. Make one with New; it does nothing before Run.
type Service struct {
	cfg     Config
	started chan struct{}
	running sync.WaitGroup

	mu     sync.Mutex // guards what follows
	ctx    context.Context
	busy   map[string]bool // proposals that are being drafted, by room and id
	missed []wanted        // told before Run
}

// wanted is a proposal that is to be drafted.
type wanted struct{ room, id string }

func (w wanted) String() string { return w.room + "\n" + w.id }

// New makes a service; nothing runs yet.
func New(c Config) *Service {
	return &Service{cfg: c, started: make(chan struct{}), busy: map[string]bool{}}
}

// Run drafts until ctx ends, and returns when all its goroutines are gone.
func (s *Service) Run(ctx context.Context) error {
	s.mu.Lock()
	s.ctx = ctx
	for _, w := range s.missed {
		s.begin(w)
	}
	s.missed = nil
	s.mu.Unlock()
	<-ctx.Done()
	s.running.Wait()
	return nil
}

// Told hears what became of the history of a room: what is to be drafted there is begun. It does not
// wait.
func (s *Service) Told(room string, now history.Book) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range now.Proposals {
		if p.State != history.BeingDrafted || p.Ask.Compresser == "" { // nobody here drafts it
			continue
		}
		if w := (wanted{room, p.ID}); s.ctx == nil {
			s.missed = append(s.missed, w)
		} else {
			s.begin(w)
		}
	}
}

// begin begins to draft a proposal, unless somebody does. The caller holds mu.
func (s *Service) begin(w wanted) {
	if s.busy[w.String()] || s.ctx.Err() != nil {
		return
	}
	s.busy[w.String()] = true
	s.running.Go(func() {
		defer func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			delete(s.busy, w.String())
		}()
		if err := s.draft(s.ctx, w); err != nil && s.ctx.Err() == nil {
			s.cfg.Log.Warn("turns cannot be compressed", "room", w.room, "proposal", w.id, "err", err)
		}
	})
}

// Request is what somebody wants compressed.
type Request struct {
	Room   string
	By     string // who wants it
	Turns  history.Range
	Policy string         // what must stay, what is noise; the words of the person
	Length history.Length // zero: a tenth of what the turns say
	// Compresser and Verifier are ids; empty: the usual ones.
	Compresser, Verifier string
	// Text is a draft from outside, made by By; empty: it is made here.
	Text string
	Auto bool // what is verified is approved
}

// share is the part of the original that a draft may come to where nobody says how long.
const share = 10

// shortest is how long a draft may be at least, in characters.
const shortest = 200

// Propose asks for turns to be compressed, and answers when that is in the room's journal: the draft
// comes later. One from outside is verified first; then the answer has the verdict.
//
// # Errors
//
// CodeInvalid names the field. CodeNotFound where there is no such room, turn or mind. CodeConflict where a proposal
// is open for some of the turns, or some are told as one text with others.
func (s *Service) Propose(ctx context.Context, q Request) (history.Proposal, error) {
	talk, err := s.cfg.Rooms.Room(ctx, q.Room)
	if err != nil {
		return history.Proposal{}, err
	}
	past, err := talk.Past(ctx, q.Turns, false)
	if err != nil {
		return history.Proposal{}, err
	}
	if q.Length == (history.Length{}) {
		q.Length = history.Length{N: max(shortest, characters(past.Turns)/share), Unit: history.Characters}
	}
	compresser, verifier := s.cfg.Usual(q.Room)
	ask := history.Ask{
		Turns: q.Turns, Policy: q.Policy, Length: q.Length, Auto: q.Auto,
		Compresser: cmp.Or(q.Compresser, compresser, Extract), Verifier: cmp.Or(q.Verifier, verifier, Extract),
	}
	if q.Text != "" {
		ask.Compresser = ""
	}
	for field, id := range map[string]string{"compresser": ask.Compresser, "verifier": ask.Verifier} {
		if _, err := s.mind(id); err != nil {
			return history.Proposal{}, abi.Field(field, abi.CodeOf(err), "%s", abi.AsError(err).Message)
		}
	}
	p, err := talk.Happens(ctx, history.Input{Kind: history.Propose, Proposal: s.cfg.NewID(), By: q.By, Ask: &ask})
	if err != nil || q.Text == "" {
		return p, err
	}
	return s.outside(ctx, talk, p, q.Text, q.By)
}

// Redraft has a further draft from outside verified, of a proposal whose drafts come from there: a verifier
// refused the one before.
//
// # Errors
//
// CodeNotFound where there is no such room or proposal; CodeConflict where no draft from outside is awaited.
func (s *Service) Redraft(ctx context.Context, room, id, text, by string) (history.Proposal, error) {
	talk, p, err := s.find(ctx, room, id)
	switch {
	case err != nil:
		return p, err
	case p.State != history.BeingDrafted:
		return p, abi.Field("proposal", abi.CodeConflict, "%s is %s, and takes no further draft", p.ID, p.State)
	case p.Ask.Compresser != "":
		return p, abi.Field("proposal", abi.CodeConflict, "%s is being drafted by %s", p.ID, p.Ask.Compresser)
	}
	return s.outside(ctx, talk, p, text, by)
}

// mind gives whoever drafts or verifies; nil for nobody, and for whoever needs no model.
func (s *Service) mind(id string) (Mind, error) {
	if id == "" || id == Extract {
		return nil, nil
	}
	return s.cfg.Mind(id)
}

// TakeExtract makes a draft of what was said itself, without a model, where all drafts were refused, and
// answers how the proposal stands then.
//
// # Errors
//
// CodeConflict where the proposal was not refused; CodeTooLarge where what the policy names has no room in the length.
func (s *Service) TakeExtract(ctx context.Context, room, id, by string) (history.Proposal, error) {
	talk, p, err := s.find(ctx, room, id)
	if err != nil {
		return p, err
	}
	if p.State != history.Refused {
		return p, abi.Field("proposal", abi.CodeConflict, "%s is %s: the extract is for what was refused", p.ID, p.State)
	}
	p.Ask.Compresser, p.Ask.Verifier = Extract, Extract
	return s.attempt(ctx, talk, p)
}

// Decide approves a proposal or denies it, on the word of whoever may.
func (s *Service) Decide(ctx context.Context, room, id, by string, approve bool, why string) (history.Proposal, error) {
	kind := history.Deny
	if approve {
		kind = history.Approve
	}
	return s.happens(ctx, room, history.Input{Kind: kind, Proposal: id, By: by, Why: why})
}

// Revert takes off what was laid over turns: they are told as they were.
func (s *Service) Revert(ctx context.Context, room, id, by, why string) (history.Proposal, error) {
	return s.happens(ctx, room, history.Input{Kind: history.Revert, Proposal: id, By: by, Why: why})
}

func (s *Service) happens(ctx context.Context, room string, in history.Input) (history.Proposal, error) {
	talk, err := s.cfg.Rooms.Room(ctx, room)
	if err != nil {
		return history.Proposal{}, err
	}
	return talk.Happens(ctx, in)
}

func (s *Service) find(ctx context.Context, room, id string) (talk rooms.Room, p history.Proposal, err error) {
	if talk, err = s.cfg.Rooms.Room(ctx, room); err != nil {
		return nil, p, err
	}
	book, err := talk.Book(ctx)
	if err != nil {
		return nil, p, err
	}
	if found := book.Get(id); found != nil {
		return talk, *found, nil
	}
	return nil, p, abi.Field("proposal", abi.CodeNotFound, "there is no %q in %s", id, room)
}
