// Package compress has turns of rooms compressed: a mind drafts a shorter text, another one verifies it
// against the original, up to three times, and then the draft waits for a person.
//
// Where a talk has grown long the configuration may ask, too. A draft is laid over nothing by itself, unless
// the configuration says that what is verified is approved; what a verifier refused it cannot offer. It keeps nothing: where a proposal stands is in the
// room's journal, and a daemon that was killed goes on from there.
package compress

import (
	"cmp"
	"context"
	"log/slog"
	"sync"
	"unicode/utf8"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/abi/plain"
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
	// Longest says how many tokens a draft may come to so that a verifier has room for it; false where that is not known. nil: it
	// never is.
	Longest func(verifier, policy string) (tokens int, known bool)
	// Usual are the ids of those who draft and verify where nobody is named.
	Usual func(room string) (compresser, verifier string)
	// Standing gives what the configuration says of a room now. Nil: nothing is asked for by itself.
	Standing func(ctx context.Context, room string) history.Standing
	NewID    func() string
	Log      *slog.Logger
}

// Service drafts. Make one with New; it does nothing before Run.
type Service struct {
	cfg     Config
	started chan struct{}
	running sync.WaitGroup

	mu     sync.Mutex // guards what follows
	ctx    context.Context
	busy   map[string]*work // proposals that are being drafted, by room and id
	missed []wanted         // told before Run

	asking  map[string]bool   // rooms of which it is looked at whether to ask for turns
	resting map[string]uint64 // rooms for which nothing is asked before an entry
	heard   uint64            // counts what was told
}

// work is what goes on for a proposal.
type work struct {
	again bool   // something came meanwhile
	end   func() // nobody wants it any more
}

// wanted is a proposal that is to be drafted.
type wanted struct{ room, id string }

func (w wanted) String() string { return w.room + "\n" + w.id }

// New makes a service; nothing runs yet.
func New(c Config) *Service {
	return &Service{cfg: c, started: make(chan struct{}), busy: map[string]*work{}, asking: map[string]bool{}, resting: map[string]uint64{}}
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
	s.mu.Lock()
	clear(s.resting) // behind which whoever begins something has seen that ctx ended, or is waited for
	s.mu.Unlock()
	s.running.Wait()
	return nil
}

// Told hears what became of the history of a room: what is to be drafted there is begun. It does not
// wait.
func (s *Service) Told(room string, now history.Book) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.heard++
	delete(s.resting, room)
	for _, p := range now.Proposals {
		if does := s.busy[wanted{room, p.ID}.String()]; does != nil && p.State == history.Denied {
			does.end()
		}
		drafts := p.State == history.BeingDrafted && !p.Awaits()
		if !drafts && !(p.State == history.Offered && p.Own()) { // there is nothing to do here
			continue
		}
		if w := (wanted{room, p.ID}); s.ctx == nil {
			s.missed = append(s.missed, w)
		} else {
			s.begin(w)
		}
	}
}

// begin begins to draft a proposal; whoever does already looks at it once more. The caller holds mu.
func (s *Service) begin(w wanted) {
	if s.ctx.Err() != nil {
		return
	}
	if does := s.busy[w.String()]; does != nil {
		does.again = true
		return
	}
	ctx, end := context.WithCancel(s.ctx)
	s.busy[w.String()] = &work{end: end}
	s.running.Go(func() {
		defer end()
		for again := true; again; again = s.again(w) {
			if err := s.draft(ctx, w); err != nil && ctx.Err() == nil {
				s.cfg.Log.Warn("turns cannot be compressed", "room", w.room, "proposal", w.id, "err", err)
			}
		}
	})
}

// again says whether a proposal is to be looked at once more, by whoever has just done so.
func (s *Service) again(w wanted) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if does := s.busy[w.String()]; does.again && s.ctx.Err() == nil {
		does.again = false
		return true
	}
	delete(s.busy, w.String())
	return false
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
}

// Bounds of what people write about a compression, in characters. A draft is as long as abi.MaxDigest, in bytes.
const (
	MaxPolicy = 4000
	MaxWhy    = 500
)

// Check finds the first field of words that is wrong by itself.
func (q Request) Check() error {
	switch {
	case q.Text == "":
	case q.Compresser != "":
		return abi.Field("compresser", abi.CodeInvalid, "is who drafts, and there is a text already: leave one of them out")
	default:
		if err := plain.Check("text", q.Text, abi.MaxDigest); err != nil {
			return err
		}
	}
	return words("policy", q.Policy, MaxPolicy)
}

// MaxTurns is how many turns one proposal may be for, each counted as it was said.
const MaxTurns = 10_000

// tooMany says why a range is too long for one proposal.
func tooMany(r history.Range) error {
	if r.To < r.From || r.To-r.From < MaxTurns {
		return nil
	}
	return abi.Field("turns", abi.CodeTooLarge, "%s are more than %d, which may be compressed at once: ask for %s first, and then for the rest", r, MaxTurns, history.Range{From: r.From, To: r.From + MaxTurns - 1})
}

// CheckWhy says why a text cannot be a reason; there need be none.
func CheckWhy(why string) error { return words("why", why, MaxWhy) }

// words says why a text cannot be what somebody writes about a compression. There need be none.
func words(field, s string, most int) error {
	if n := utf8.RuneCountInString(s); n > most {
		return abi.Field(field, abi.CodeTooLarge, "%d characters, at most %d", n, most)
	}
	if s == "" {
		return nil
	}
	return plain.Check(field, s, most*utf8.UTFMax)
}

// share is the part of the original that a draft may come to where nobody says how long.
const share = 10

// usual is how long a draft of some turns may be where nobody says it: a tenth of them, or least, or what the policy names has room in, up to half of them.
func usual(turns []abi.PastTurn, named []abi.KeepItem, least int) history.Length {
	all := characters(turns)
	n := max(least, all/share, needs(letters(named, history.Characters)))
	return history.Length{N: max(shortest, all/share, min(n, all/2)), Unit: history.Characters}
}

// shortest is how long a draft may be at least, in characters.
const shortest = 200

// Propose asks for turns to be compressed, and answers when that is in the room's journal, with a draft from outside: the draft,
// and what a verifier says of one, comes later.
//
// # Errors
//
// CodeInvalid names the field. CodeNotFound where there is no such room, turn or mind. CodeConflict where a proposal
// is open for some of the turns, or some are told as one text with others. CodeTooLarge where they are more than MaxTurns, or the
// verifier has no room for such a draft.
func (s *Service) Propose(ctx context.Context, q Request) (history.Proposal, error) {
	if err := cmp.Or(q.Check(), tooMany(q.Turns)); err != nil {
		return history.Proposal{}, err
	}
	talk, err := s.cfg.Rooms.Room(ctx, q.Room)
	if err != nil {
		return history.Proposal{}, err
	}
	ask := s.terms(q.Room, history.Ask{Turns: q.Turns, Policy: q.Policy, Length: q.Length, Compresser: q.Compresser, Verifier: q.Verifier})
	in := history.Input{Kind: history.Propose, Proposal: s.cfg.NewID(), By: q.By, Ask: &ask}
	if q.Text != "" {
		ask.Compresser, in.Draft = "", &history.Draft{N: 1, Text: q.Text, By: q.By}
	}
	if err := s.mayAsk(ctx, talk, in); err != nil {
		return history.Proposal{}, err
	}
	past, err := talk.Past(ctx, q.Turns, false)
	if err != nil {
		return history.Proposal{}, err
	}
	if err := s.fit(ctx, &ask, seen(past.Turns), q.Text); err != nil {
		return history.Proposal{}, err
	}
	return talk.Happens(ctx, in)
}

// mayAsk says why turns cannot be asked for, by what costs nothing to know: it is asked before all of them are read and gone through. The
// room looks at it again.
func (s *Service) mayAsk(ctx context.Context, talk rooms.Room, in history.Input) error {
	for field, id := range map[string]string{"compresser": in.Ask.Compresser, "verifier": in.Ask.Verifier} {
		if _, err := s.mind(id); err != nil {
			return abi.Field(field, abi.CodeOf(err), "%s", abi.AsError(err).Message)
		}
	}
	n, err := talk.Turns(ctx)
	if err != nil || in.Ask.Turns.To > n { // which is said where they are read
		return err
	}
	book, err := talk.Book(ctx)
	if err != nil {
		return err
	}
	ask := *in.Ask
	if in.Ask = &ask; ask.Length == (history.Length{}) {
		ask.Length = history.Length{N: shortest, Unit: history.Characters}
	}
	return book.Refuses(in)
}

// Redraft takes a further draft from outside for a proposal whose drafts come from there, where a verifier refused the one
// before, and answers when it is in the room's journal; what a verifier says of it comes later.
//
// # Errors
//
// CodeInvalid and CodeTooLarge name the field. CodeNotFound where there is no such room or proposal; CodeDenied where somebody else asked
// for it with a draft, however it stands; CodeConflict where no draft from outside is awaited; CodeStale where the turns lost words since.
func (s *Service) Redraft(ctx context.Context, room, id, text, by string) (history.Proposal, error) {
	if err := plain.Check("text", text, abi.MaxDigest); err != nil {
		return history.Proposal{}, err
	}
	talk, p, err := s.find(ctx, room, id)
	if err != nil {
		return p, err
	}
	if p.Ask.Compresser == "" && p.By != by {
		return p, abi.Field("proposal", abi.CodeDenied, "%s was asked for by somebody else: ask for one of your own", p.ID)
	}
	return talk.Happens(ctx, history.Input{Kind: history.Hand, Proposal: id, By: by, Draft: &history.Draft{N: len(p.Drafts) + 1, Text: text, By: by}})
}

// terms names the usual ones where nobody is named.
func (s *Service) terms(room string, ask history.Ask) history.Ask {
	compresser, verifier := s.cfg.Usual(room)
	ask.Compresser, ask.Verifier = cmp.Or(ask.Compresser, compresser, Extract), cmp.Or(ask.Verifier, verifier, Extract)
	return ask
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
// CodeConflict where the proposal was not refused; CodeTooLarge where what the policy names has no room in the length; CodeInvalid where there is
// nothing to shorten.
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
//
// # Errors
//
// CodeInvalid and CodeTooLarge are about why. CodeNotFound, CodeConflict and CodeStale say what is in the way.
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
	if err := CheckWhy(in.Why); err != nil {
		return history.Proposal{}, err
	}
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
