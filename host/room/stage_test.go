package room

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/logtest"
	"github.com/companiond/companiond/host/room/reader"
	"github.com/companiond/companiond/host/room/words"
	"github.com/companiond/companiond/host/rooms"
	"github.com/companiond/companiond/host/turn"
)

// actor is a companion made of functions. Nil functions vote to listen and
// pass.
type actor struct {
	id    string
	names []string
	vote  func(ctx context.Context, s abi.Scene) (abi.Vote, error)
	speak func(ctx context.Context, s abi.Scene) (abi.Line, error)
	line  func(ctx context.Context, req abi.Request) (abi.Line, error) // instead of speak, where the request matters
	judge func(ctx context.Context, p abi.Perceiving) (abi.Judgement, error)
	told  func(abi.Result)

	can     []string // actions it may play
	warning string
	carded  bool // it says of others that it has them not, as a card does

	mu    sync.Mutex
	asked int
	nows  []time.Time // that it was told
	call  string      // id of the newest perception's request

	withdrawn int // how often it was told that no line of its is wanted
}

func (a *actor) Withdraw(string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.withdrawn++
	return true
}

func (a *actor) Describe() abi.Description {
	return abi.Description{ABI: "1", Name: a.id, Aliases: a.names, Ops: []string{abi.OpVote, abi.OpSpeak, abi.OpPerceive, abi.OpResult}}
}

// Permit allows what is in can, with a number x.
func (a *actor) Permit(ask abi.ActionAsk) (string, error) {
	if !slices.Contains(a.can, ask.Action) && a.carded {
		return "", abi.Field("action", abi.CodeNotFound, "%s has no %s", a.id, ask.Action)
	}
	if !slices.Contains(a.can, ask.Action) {
		return "", abi.Errorf(abi.CodeInvalid, "action: %q is none of %v", ask.Action, a.can)
	}
	return a.warning, nil
}

func (a *actor) Call(ctx context.Context, req abi.Request) (json.RawMessage, error) {
	var s abi.Scene
	if err := json.Unmarshal(req.Data, &s); err != nil {
		return nil, err
	}
	a.mu.Lock()
	a.asked++
	a.nows = append(a.nows, req.Now)
	a.mu.Unlock()
	switch {
	case req.Op == abi.OpVote && a.vote != nil:
		return encoded(a.vote(ctx, s))
	case req.Op == abi.OpVote:
		return encoded(abi.Vote{State: abi.Listen}, nil)
	case req.Op == abi.OpPerceive && a.judge != nil:
		var p abi.Perceiving
		if err := json.Unmarshal(req.Data, &p); err != nil {
			return nil, err
		}
		a.call = req.ID
		return encoded(a.judge(ctx, p))
	case req.Op == abi.OpPerceive:
		return encoded(abi.Judgement{State: abi.Listen}, nil)
	case req.Op == abi.OpResult && a.told != nil:
		var d abi.Result
		if err := json.Unmarshal(req.Data, &d); err != nil {
			return nil, err
		}
		a.told(d)
		return encoded(struct{}{}, nil)
	case req.Op == abi.OpSpeak && a.line != nil:
		return encoded(a.line(ctx, req))
	case req.Op == abi.OpSpeak && a.speak != nil:
		return encoded(a.speak(ctx, s))
	}
	return encoded(abi.Line{}, nil)
}

func encoded[T any](v T, err error) (json.RawMessage, error) {
	if err != nil {
		return nil, err
	}
	return json.Marshal(v)
}

// wants votes to speak with an importance, and says numbered lines.
func wants_(id string, importance float64) *actor {
	n := 0
	var mu sync.Mutex
	return &actor{
		id: id,
		vote: func(context.Context, abi.Scene) (abi.Vote, error) {
			return abi.Vote{State: abi.Speak, Importance: importance}, nil
		},
		speak: func(context.Context, abi.Scene) (abi.Line, error) {
			mu.Lock()
			defer mu.Unlock()
			n++
			return abi.Line{Text: fmt.Sprintf("%s line %d", id, n)}, nil
		},
	}
}

// hang never answers before its deadline.
func hang[T any](ctx context.Context, _ abi.Scene) (v T, err error) {
	<-ctx.Done()
	return v, ctx.Err()
}

var testRules = entry.Rules{
	Policy: "vote", Seed: "test", Patience: 1000, Floor: 5000, Silence: 0, Pace: 0, MaxTurns: 6, Perceived: 12, Stale: entry.StaleReask,
}

// stage runs one room in a synctest bubble.
type stage struct {
	t       *testing.T
	mu      sync.Mutex // guards actors
	journal *memory
	on      journal.Journal // what the room stands on; nil: journal
	rules   entry.Rules
	actors  map[string]*actor
	house   House
	filter  words.Filter
	idle    time.Duration
	room    *Room
	ended   chan error // gets what Run answered
	end     func()
	ids     int
	runs    int
	log     logtest.Log
}

func newStage(t *testing.T, rules entry.Rules, actors ...*actor) *stage {
	s := &stage{t: t, journal: newMemory(), rules: rules, actors: map[string]*actor{}}
	for _, a := range actors {
		s.actors[a.id] = a
	}
	s.start()
	return s
}

// config is what the room stands on.
func (s *stage) config() Config {
	s.runs++
	c := Config{
		Journal: s.journal, Owner: fmt.Sprint("companiond/", s.runs), House: s.house, Filter: s.filter, Idle: s.idle, Log: s.log.Logger(),
		Find: func(id string) (Companion, bool) {
			s.mu.Lock()
			defer s.mu.Unlock()
			a, ok := s.actors[id]
			return a, ok
		},
		NewID: func() string {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.ids++
			return fmt.Sprintf("m%d", s.ids)
		},
	}
	if s.on != nil {
		c.Journal = s.on
	}
	return c
}

// start starts the room with those who are loaded, as after a restart.
func (s *stage) start() {
	s.t.Helper()
	s.run(s.config(), s.loaded())
}

// run runs the room. With a nil cast it does not know yet who is loaded.
func (s *stage) run(c Config, cast []entry.Joined) {
	s.room = New(Settings{Name: "main", Companions: []string{"*"}, Rules: s.rules}, c, cast)
	ctx, cancel := context.WithCancel(s.t.Context())
	ended, room := make(chan error, 1), s.room
	s.ended = ended
	go func() { ended <- room.Run(ctx) }()
	s.end = sync.OnceFunc(func() {
		cancel()
		<-room.Gone()
		if err := <-ended; err != nil {
			s.t.Errorf("run: %v", err)
		}
	})
	synctest.Wait()
}

// load puts a companion into the house, unload takes one out.
func (s *stage) load(a *actor) {
	s.mu.Lock()
	s.actors[a.id] = a
	s.mu.Unlock()
	s.cast()
}

func (s *stage) unload(id string) {
	s.mu.Lock()
	delete(s.actors, id)
	s.mu.Unlock()
	s.cast()
}

// cast tells the room who is loaded.
func (s *stage) cast() {
	if err := s.room.SetCast(s.t.Context(), s.loaded()); err != nil {
		s.t.Error(err)
	}
	synctest.Wait()
}

func (s *stage) loaded() []entry.Joined {
	cast := []entry.Joined{}
	for id, a := range s.actors {
		cast = append(cast, entry.Joined{ID: id, Name: id, Aliases: a.names, Kind: abi.KindCompanion, Engine: "test", Generation: 1})
	}
	slices.SortFunc(cast, func(a, b entry.Joined) int { return strings.Compare(a.ID, b.ID) })
	return cast
}

// drain waits until no line is made any more.
func (s *stage) drain() {
	s.room.Drain()
	for end := time.Now().Add(5 * time.Second); s.room.Draining() && time.Now().Before(end); {
		time.Sleep(5 * time.Millisecond)
	}
}

func (s *stage) say(from, text string, to ...string) abi.Message {
	s.t.Helper()
	m, err := s.room.Say(s.t.Context(), rooms.Utterance{From: from, Text: text, To: to})
	if err != nil {
		s.t.Fatalf("say %q: %v", text, err)
	}
	return m
}

// entries gives the whole journal.
func (s *stage) entries() []entry.Entry {
	es, err := s.journal.Read(s.t.Context(), "main", 0, 1<<20)
	if err != nil {
		s.t.Fatal(err)
	}
	return es
}

// texts gives "from: text" of every message.
func (s *stage) texts() []string {
	var out []string
	for _, e := range s.entries() {
		if m, ok := e.Message(); ok {
			out = append(out, m.From+": "+m.Text)
		}
	}
	return out
}

func (s *stage) decisions() []entry.Decision {
	return bodies[entry.Decision](s.t, s.entries(), entry.KindDecision)
}

func bodies[T any](t *testing.T, es []entry.Entry, kind entry.Kind) []T {
	t.Helper()
	var out []T
	for _, e := range es {
		if e.Kind != kind {
			continue
		}
		var b T
		if err := json.Unmarshal(e.Body, &b); err != nil {
			t.Fatalf("entry %d: %v", e.Seq, err)
		}
		out = append(out, b)
	}
	return out
}

// finish stops the room and holds its journal to the laws.
func (s *stage) finish() {
	s.t.Helper()
	s.end()
	if err := s.verdict(); err != nil {
		s.t.Error(err)
	}
}

// verdict holds the journal to the laws and to a replay.
func (s *stage) verdict() error {
	es := s.entries()
	if err := checkLaws(es); err != nil {
		return fmt.Errorf("%w\n%s", err, dump(es))
	}
	r, err := reader.Replay(context.Background(), s.journal, "main")
	switch {
	case err != nil:
		return fmt.Errorf("replay: %w\n%s", err, dump(es))
	case r.Diff != nil:
		return fmt.Errorf("replay of %d entries: %v\n%s", r.Derived, r.Diff, dump(es))
	case r.Derived != len(es):
		return fmt.Errorf("replay derived %d of %d entries", r.Derived, len(es))
	}
	return nil
}

// play runs a test in fake time.
func play(t *testing.T, rules entry.Rules, actors []*actor, f func(s *stage)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, rules, actors...)
		f(s)
		s.finish()
	})
}

// law is a reading of a journal that knows nothing of the rules.
type law struct {
	holder, token, stopped string
	round                  uint64
	due, last              time.Time
	closing                abi.Closing
	turns, limit, asides   int
	bodies                 map[string]string // whose they are, by id
	sounds                 string            // the line that a body says
	auto                   bool              // lines without a body take their time
	asked                  map[uint64]bool   // turns of humans that nobody was granted the floor for and spoke
	about, subject         uint64            // of the open round, of the floor
	percepts               map[uint64]bool   // wishes that are about a perception
	answers                map[uint64]bool   // wishes that answer a human
	seen                   []time.Time       // when they were said
	perceived              int
	policy                 string
	rule                   turn.Policy
	spent                  []entry.Entry
}

// checkLaws holds a journal to laws 2, 3 and 7.
func checkLaws(es []entry.Entry) error {
	l := law{closing: abi.ClosingNone, asked: map[uint64]bool{}, percepts: map[uint64]bool{}, answers: map[uint64]bool{}, bodies: map[string]string{}}
	for i, e := range es {
		err := l.read(e)
		if e.Seq != uint64(i)+1 {
			err = fmt.Errorf("seq is not %d", i+1)
		}
		if err != nil {
			return fmt.Errorf("entry %d (%s): %w", e.Seq, e.Kind, err)
		}
	}
	return nil
}

func (l *law) read(e entry.Entry) error {
	if e.At.Before(l.last) {
		return fmt.Errorf("time runs back from %v", l.last)
	}
	l.last = e.At
	if l.round != 0 && e.At.After(l.due) && e.Kind != entry.KindOwner {
		return fmt.Errorf("round %d was due at %v", l.round, l.due)
	}
	switch e.Kind {
	case entry.KindOwner:
		l.round, l.holder, l.token, l.bodies = 0, "", "", map[string]string{}
	case entry.KindBody:
		b := decode[entry.Bodies](e)
		for _, j := range b.Joined {
			if !j.Mute { // a game has no voice
				l.bodies[j.ID] = j.Who
			}
		}
		for _, j := range b.Left {
			delete(l.bodies, j.ID)
		}
	case entry.KindHeard:
		if b := decode[entry.Heard](e); b.Line != l.sounds && l.sounds != "" { // one that was read and broke off ends so too
			return fmt.Errorf("%s is over, %q sounds", b.Line, l.sounds)
		}
		l.sounds = ""
	case entry.KindRules:
		r := decode[entry.Rules](e)
		l.limit, l.policy, l.perceived = r.MaxTurns, r.Policy, r.Perceived
		l.auto = r.Auto
		rule, err := turn.New(r.Policy, r.PolicyRaw)
		if err != nil {
			return err
		}
		l.rule = rule
	case entry.KindRound:
		if l.round != 0 || l.holder != "" || l.stopped != "" {
			return fmt.Errorf("round %d is open, the floor is %q's, STOP is %q's", l.round, l.holder, l.stopped)
		}
		b := decode[entry.Round](e)
		l.round, l.due, l.about = e.Seq, b.Due, b.About
	case entry.KindDecision:
		return l.decision(decode[entry.Decision](e))
	case entry.KindSaid:
		if err := l.paid(e); err != nil {
			return err
		}
		if b := decode[entry.Said](e); b.By != abi.KindHuman && b.Kind == abi.KindTurn && b.Segments == 0 {
			if err := l.begins(cmp.Or(b.Grant, e.ID), b.From); err != nil {
				return err
			}
		}
		return l.said(e.Seq, e.At, decode[entry.Said](e))
	case entry.KindClosing:
		b := decode[entry.ClosingMoved](e)
		if b.From != l.closing || b.To.Stage() != l.closing.Stage()+1 {
			return fmt.Errorf("closing moves from %s to %s", l.closing, b.To)
		}
		l.closing = b.To
	case entry.KindSegment:
		if b := decode[entry.Segment](e); b.N == 1 || l.auto { // else a body that comes later has not its beginning
			if err := l.begins(b.Grant, b.Who); err != nil {
				return err
			}
		}
		if b := decode[entry.Segment](e); l.holder != b.Who || l.token != b.Grant || l.stopped != "" {
			return fmt.Errorf("%s speaks, the floor is %q's, STOP is %q's", b.Who, l.holder, l.stopped)
		}
	case entry.KindAction, entry.KindPerceived, entry.KindWish:
		if l.stopped != "" {
			return fmt.Errorf("%s after STOP", e.Kind)
		}
		if e.Kind == entry.KindWish && decode[entry.Wish](e).Answers != 0 {
			l.answers[e.Seq] = true
		}
		if e.Kind == entry.KindWish && decode[entry.Wish](e).Perception != 0 {
			l.percepts[e.Seq] = true
		}
	case entry.KindStop:
		l.stopped = decode[entry.Stop](e).From
	}
	return nil
}

// begins holds a line to law 3: no other one sounds.
func (l *law) begins(line, who string) error {
	if l.sounds != "" && l.sounds != line {
		return fmt.Errorf("%s begins with %q while %q sounds", who, line, l.sounds)
	}
	for _, whose := range l.bodies {
		if whose == who {
			l.sounds = line
		}
	}
	return nil
}

func (l *law) decision(d entry.Decision) error {
	if l.round == 0 && l.holder == "" && d.Round != 0 {
		return errors.New("nothing is to be decided")
	}
	if d.Reason == "" {
		return errors.New("no reason is written")
	}
	if d.Wish != 0 && (l.round != 0 || l.holder != "" && !l.answers[d.Wish]) {
		return fmt.Errorf("the floor goes to wish %d over round %d and %q", d.Wish, l.round, l.holder)
	}
	fresh := l.round != 0
	l.round, l.holder, l.token = 0, "", ""
	if fresh {
		l.subject = l.about
	} else if d.Wish != 0 {
		l.subject = 0
	}
	if d.Outcome == entry.OutcomeGrant {
		l.holder, l.token = d.Speaker, d.Grant.Token
	}
	if d.Outcome == entry.OutcomeSilence && fresh && slices.ContainsFunc(d.Ranking, turn.Wants) {
		return errors.New("silence, though somebody wanted to speak")
	}
	return nil
}

// paid holds the talk to a pool with chat-relay's settings: the points spent in
// five seconds are never more than there are, and no line of others than humans
// is cheaper than its length, but for turns whose floor is free.
func (l *law) paid(e entry.Entry) error {
	b := decode[entry.Said](e)
	l.spent = append(l.spent, e)
	sum := 0.0
	for _, s := range l.spent {
		if e.At.Sub(s.At) < 5*time.Second {
			sum += decode[entry.Said](s).Cost
		}
	}
	price, n := 0.0, len([]rune(b.Text))
	for _, p := range slices.Backward(abi.DefaultPool().Prices) {
		if n <= p.Chars {
			price = p.Cost
		}
	}
	free := l.rule.Memory() == 0 || !l.rule.FreeTurns() && b.Kind == abi.KindTurn
	switch {
	case sum > 100:
		return fmt.Errorf("%v points were spent in five seconds", sum)
	case free && b.Cost != 0:
		return fmt.Errorf("it cost %v", b.Cost)
	case !free && b.By != abi.KindHuman && (b.Cost < price || n > 100):
		return fmt.Errorf("%d characters for %v", n, b.Cost)
	}
	return nil
}

func (l *law) said(seq uint64, at time.Time, b entry.Said) error {
	paid := l.rule.FreeTurns() && b.Grant == "" && (l.holder == "" || l.holder == b.From)
	switch {
	case b.By == abi.KindHuman && b.Kind == abi.KindBackchannel:
		return nil
	case b.By == abi.KindHuman:
		l.turns, l.asides, l.stopped, l.closing = 0, 0, "", abi.ClosingNone
		l.asked[seq] = true
		return nil
	case b.Kind == abi.KindBackchannel:
		l.asides++
		if l.stopped != "" || l.rule.Memory() == 0 || l.limit > 0 && l.asides > 5*l.limit {
			return fmt.Errorf("backchannel %d in a room of %s, stopped by %q", l.asides, l.policy, l.stopped)
		}
		return nil
	}
	if b.Grant == l.token && b.Grant != "" && l.asked[l.subject] { // a human who was spoken over is answered, once
		delete(l.asked, l.subject)
		l.turns = 0
	}
	if l.percepts[b.Wish] {
		l.seen = append(slices.DeleteFunc(l.seen, func(t time.Time) bool { return at.Sub(t) >= time.Minute }), at)
	} else {
		l.turns++
	}
	switch {
	case l.perceived > 0 && len(l.seen) > l.perceived:
		return fmt.Errorf("%d turns in a minute about what was perceived, at most %d", len(l.seen), l.perceived)
	case !paid && (l.holder != b.From || l.token != b.Grant):
		return fmt.Errorf("%s spoke with %q, the floor is %q's by %q", b.From, b.Grant, l.holder, l.token)
	case l.stopped != "":
		return fmt.Errorf("%s said STOP", l.stopped)
	case l.limit > 0 && l.turns > l.limit:
		return fmt.Errorf("turn %d of %d", l.turns, l.limit)
	case l.closing == abi.ClosingTerminal:
		return errors.New("the talk had ended")
	}
	l.holder, l.token = "", ""
	return nil
}

// decode reads a body; one that does not decode is a bug of the test.
func decode[T any](e entry.Entry) (b T) {
	if err := json.Unmarshal(e.Body, &b); err != nil {
		panic(fmt.Sprintf("entry %d: %v", e.Seq, err))
	}
	return b
}

func dump(es []entry.Entry) string {
	var b strings.Builder
	for _, e := range es {
		fmt.Fprintf(&b, "%4d %s %-8s %s\n", e.Seq, e.At.Format("05.000"), e.Kind, e.Body)
	}
	return b.String()
}
