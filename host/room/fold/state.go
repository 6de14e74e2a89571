package fold

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/address"
	"github.com/companiond/companiond/host/conversation"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/history"
	"github.com/companiond/companiond/host/playback"
	"github.com/companiond/companiond/host/room/cast"
	"github.com/companiond/companiond/host/room/life"
	"github.com/companiond/companiond/host/room/queue"
	"github.com/companiond/companiond/host/turn"
)

// State is the fold of Apply over a room's entries and nothing else: no clock,
// no randomness, no modules. Its JSON form is the room's snapshot, in which its parts
// are not set off.
type State struct {
	Version int         `json:"version"`
	Head    uint64      `json:"head"`
	Epoch   uint64      `json:"epoch"`
	At      time.Time   `json:"at"`              // of the newest entry; the room's clock never runs back
	Shape   int         `json:"shape,omitempty"` // the newest version of an entry's body
	Rules   entry.Rules `json:"rules"`
	cast.Present
	Talk
	Rounds
	playback.Voice
	Floor *Floor `json:"floor,omitempty"` // held
	turn.Accounts
	queue.Wishes
	queue.Senses
	queue.Deeds
	queue.Games
	queue.Bars
	Life    life.Life    `json:"life,omitzero"`    // of the conversation that the room is for
	History history.Book `json:"history,omitzero"` // what the past is told as

	policy   turn.Policy
	unjudged string // why nothing can be decided, see Unjudged
	// uncounted says that the snapshot is of a version that did not count turns.
	uncounted bool
}

// Talk is what was said, and how far the talk has come.
type Talk struct {
	Last   abi.Message         `json:"last"` // the newest turn
	LastBy abi.ParticipantKind `json:"last_by,omitempty"`
	Meant  []string            `json:"meant,omitempty"`  // whom it addresses
	Heeded *Heeded             `json:"heeded,omitempty"` // nil: it is the newest turn
	queue.Answers
	Number       uint64      `json:"number,omitempty"` // turns in all: the number of the newest
	Turns        int         `json:"turns"`            // of others than humans since a human spoke
	Backchannels int         `json:"asides,omitempty"` // the same
	Seen         []time.Time `json:"seen,omitempty"`   // when perceptions led to turns, in the last minute
	Stage        abi.Closing `json:"stage"`
	Stopped      string      `json:"stopped,omitempty"` // who said STOP
	Silence      time.Time   `json:"silence,omitzero"`  // then somebody is asked to break the silence
	Of           uint64      `json:"of,omitempty"`      // entry that set Silence
	Broken       bool        `json:"broken,omitempty"`  // a silence since a human spoke was broken into already
	Knock        bool        `json:"knock,omitempty"`   // the next round breaks a silence
}

// Heeded is the newest turn that whoever speaks has to know: none of a chat's, in which so
// many write that no line would ever be about the newest.
type Heeded struct {
	Seq  uint64 `json:"seq"`
	From string `json:"from"`
}

// Rounds are how votes are asked for, and how that came out.
type Rounds struct {
	Asked uint64 `json:"asked"` // seq of the newest turn that has had its round
	turn.Series
	Pace  time.Time     `json:"pace,omitzero"`   // not before this does the next round open
	Rest  entry.Outcome `json:"rest,omitempty"`  // how the newest round ended, when nobody got the floor
	Alone bool          `json:"alone,omitempty"` // nobody was there to be asked about the newest turn
	// Silent are those who had the floor and said nothing until it was taken from them,
	// nor anything since: without a vote they are not asked for a line again.
	Silent []string `json:"silent,omitempty"`
	// Absence is there while the newest turn waits for somebody who can vote.
	Absence *queue.Absence `json:"absence,omitempty"`
	Debt    map[string]int `json:"debt,omitempty"` // lines of others since somebody was heard, in whose rounds it wanted to speak
}

// Apply changes the state by one entry. It is the only thing that does.
func (s *State) Apply(e entry.Entry) error {
	if e.Seq != s.Head+1 {
		return fmt.Errorf("apply entry %d: head is %d", e.Seq, s.Head)
	}
	if err := s.change(e); err != nil {
		return fmt.Errorf("apply entry %d (%s): %w", e.Seq, e.Kind, err)
	}
	s.Head, s.Epoch, s.Shape = e.Seq, e.Epoch, max(s.Shape, e.V)
	if e.At.After(s.At) {
		s.At = e.At
	}
	return nil
}

func (s *State) change(e entry.Entry) error {
	if e.Blank && e.Kind != entry.KindSaid {
		if erased := entry.ErasedBy(e) != ""; !erased {
			s.blank(e)
			return nil
		} else if e.Kind == entry.KindPerceived { // there is nothing left to judge, or to tell
			return with(e, func(b entry.Perceived) {
				b.Body, b.Force = nil, nil
				s.Tell(e, b)
			})
		}
	}
	switch e.Kind {
	case entry.KindRules:
		return with(e, func(b entry.Rules) {
			s.Rules = b
			s.setPolicy()
		})
	case entry.KindOpened:
		return with(e, func(b entry.Opened) { s.Opened, s.Archived = b.By, "" })
	case entry.KindArchived:
		return with(e, func(b entry.Archived) {
			s.Archived = b.By
			s.hush()
			s.Asked, s.Alone = s.Last.Seq, false // opened anew, it does not go on where it was
		})
	case entry.KindOwner:
		s.taken(e.At)
	case entry.KindCast:
		return with(e, s.castChanged)
	case entry.KindSaid:
		return with(e, func(b entry.Said) { s.said(e, b) })
	case entry.KindVote:
		return with(e, s.voted)
	case entry.KindFailed:
		return with(e, func(b entry.Failed) { s.failed(e, b) })
	case entry.KindDue:
		return with(e, func(b entry.Due) { s.due(e, b) })
	case entry.KindStop:
		return with(e, func(b entry.Stop) {
			s.Stopped = b.From
			s.hush()
		})
	case entry.KindMuted:
		return with(e, func(b entry.Muted) { s.muted(e, b) })
	case entry.KindRound:
		return with(e, func(b entry.Round) { s.opened(e, b) })
	case entry.KindDecision:
		return with(e, func(b entry.Decision) { s.decided(e, b) })
	case entry.KindClosing:
		return with(e, func(b entry.ClosingMoved) { s.Stage = b.To; s.Moved() })
	case entry.KindRefused:
		return with(e, func(b entry.Refused) { s.refused(e, b) })
	case entry.KindWish:
		return with(e, func(b entry.Wish) { s.requested(e.Seq, b) })
	case entry.KindPerceived:
		return with(e, func(b entry.Perceived) { s.perceived(e, b) })
	case entry.KindJudged:
		return with(e, func(b entry.Judged) { s.Judge(b.Perceptions...) })
	case entry.KindSegment:
		return with(e, func(b entry.Segment) { s.spoke(b, e.At) })
	case entry.KindBody:
		return with(e, func(b entry.Bodies) {
			s.Connect(b, e.At)
			s.Unplug(b.Left)
		})
	case entry.KindOffered:
		return with(e, s.Offer)
	case entry.KindPlayed:
		return with(e, func(b entry.Played) { s.Report(b, e.At) })
	case entry.KindSound:
		return with(e, s.Sounded)
	case entry.KindSpeaking:
		return with(e, func(b entry.Speaking) { s.Listen(b, e.At) })
	case entry.KindHeard:
		return with(e, func(b entry.Heard) { s.wasHeard(e, b) })
	case entry.KindConversation:
		return with(e, func(b conversation.Input) { s.happened(e, b) })
	case entry.KindLifecycle:
		return with(e, func(b entry.Lifecycle) {
			if s.Life.Shown = conversation.State(b.To); s.Life.Over() {
				s.hush()
			}
		})
	case entry.KindForked:
		s.forked(e)
	case entry.KindHistory:
		return with(e, func(b history.Input) { s.History.Happens(b, e.Seq, e.At) })
	case entry.KindForgotten:
		return with(e, func(b entry.Forgotten) { s.forgotten(e, b) })
	case entry.KindAction:
		return with(e, s.Act)
	case entry.KindResult:
		return with(e, func(b entry.Done) { s.Finish(b.ID) })
	}
	return nil // a kind of a later version that changes nothing here
}

// blank is change for an entry whose body was taken out. Its consequences have bodies
// of their own, so that hardly anything is missing: a round is about the newest turn
// and asks everybody, and a vote can no longer be carried on.
func (s *State) blank(e entry.Entry) {
	if e.Kind == entry.KindRound {
		var left entry.Round // of its body
		_ = json.Unmarshal(e.Body, &left)
		b := entry.Round{About: cmp.Or(left.About, s.subject(), s.Last.Seq), Electorate: s.Voters()}
		if _, _, b.Addressed = s.turnAt(b.About); s.Last.Seq > b.About {
			b.Upto = s.Last.Seq
		}
		s.opened(e, b)
	}
}

// with hands the body of an entry on.
func with[T any](e entry.Entry, f func(T)) error {
	b, err := entry.Decode[T](e)
	if err == nil {
		f(b)
	}
	return err
}

// hush forgets all that somebody might say, or judge: it was stopped, or the room was closed.
func (s *State) hush() {
	s.Silence, s.Held, s.Late, s.Past, s.Requests, s.Unanswered, s.Absence = time.Time{}, nil, nil, nil, nil, nil, nil
	s.Perceived, s.Dismissed, s.Keeps = nil, nil, false
	s.Unask()
}

// taken empties the room for a new owner, who is there from a moment on: the next cast says who is here, and a round
// or a grant that was open asks again with a whole patience, for nobody was
// there to answer.
func (s *State) taken(at time.Time) {
	if s.Round != nil || s.Floor != nil || s.Held != nil {
		s.Asked = min(s.Asked, s.Last.Seq-1)
	}
	s.Cast, s.Round, s.Floor, s.Held, s.Late, s.Past, s.Tries, s.Kept, s.Keeps = nil, nil, nil, nil, nil, nil, nil, nil, false
	if s.Absence != nil {
		s.askAgain()
	}
	s.Unbar(func(bar queue.Bar) bool { return bar.House })
	if s.before6() {
		at = time.Time{}
	}
	s.Abandon(s.At, at)
	s.Offered = nil
	s.Awaits, s.Gathering = nil, true
}

func (s *State) castChanged(b entry.Cast) {
	for _, j := range b.Joined {
		s.joined(j)
	}
	for _, l := range b.Left {
		s.left(l)
	}
	s.Gathering, s.Awaits = b.Loading, b.Awaits
	if b.Addressed == nil {
		return
	}
	s.Meant = *b.Addressed
	if u := s.Turn(s.Last.Seq); u != nil && len(s.Meant) > 0 {
		u.Meant, u.Calls = s.Meant, false
	}
}

func (s *State) joined(b entry.Joined) {
	s.word(b.ID)
	s.Joins(b)
	s.came()
}

// came has those asked who are here now, where nobody was.
func (s *State) came() {
	if (s.Alone || s.Absence != nil) && len(s.Voters()) > 0 {
		s.Alone = false
		s.askAgain()
	}
}

func (s *State) left(b entry.Left) {
	s.Leaves(b.ID)
	s.Unbar(func(bar queue.Bar) bool { return bar.Who == b.ID })
	s.gaveUp(b.ID, "left the room")
}

// muted takes from somebody what it wanted to say, and the floor; what sounds of it ends at once, whatever the room does else where
// somebody speaks over a line.
func (s *State) muted(e entry.Entry, b entry.Muted) {
	if s.SetMuted(b.Who, b.On); !b.On {
		s.word(b.Who)
		s.came()
		return
	}
	s.gaveUp(b.Who, "was muted")
	rules := s.Rules
	rules.Interrupt = entry.InterruptNow
	s.Hurry(b.Who, b.By+", who muted it", true, rules, e.At)
}

// gaveUp forgets what somebody wanted to say, who speaks here no more.
func (s *State) gaveUp(who, why string) {
	delete(s.Debt, who)
	s.Luck(who)
	s.word(who)
	s.Drop(func(r queue.Request) bool { return r.Who == who })
	if s.Round != nil {
		s.Round.Fail(who, why)
	}
	if s.Floor != nil && s.Floor.Who == who {
		s.Floor.Lost = why
	}
}

func (s *State) said(e entry.Entry, b entry.Said) {
	s.numbered(b)
	s.Life.Hears(b, e.At)
	s.Spend(s.policy, turn.Spend{From: b.From, At: e.At, Cost: b.Cost})
	s.Withdraw(b.Wish)
	if b.By == abi.KindHuman {
		s.Hears(b.From, e.At)
	}
	if b.Kind == abi.KindBackchannel {
		if b.By != abi.KindHuman {
			s.Backchannels++
		}
		return
	}
	s.Luck(b.From)
	s.word(b.From)
	s.Drop(func(r queue.Request) bool { return r.Waits == entry.WaitRound && r.Text == "" }) // it was about the turn before
	if b.By == abi.KindCompanion {
		s.Waits = 0
	}
	var subject uint64
	if s.Floor != nil && s.Floor.Token == b.Grant {
		subject = s.Floor.Subject
	}
	crowd := b.By == abi.KindHuman && b.Source == entry.SourceChat && !s.before4()
	s.heed(crowd)
	s.Last, _ = e.Message()
	s.LastBy, s.Meant = b.By, b.Addressed
	if e.V < 2 { // it does not say it
		s.Meant = s.AddressedV1(s.Last)
	}
	s.Silence, s.Rest, s.Knock, s.Alone, s.Dismissed = time.Time{}, "", false, false, nil
	s.goesOn(crowd, e.At)
	s.Broken = s.Broken && !s.before3()
	if b.By == abi.KindHuman {
		if !s.before4() {
			subject = s.subject()
		}
		s.Ask(queue.Unanswered{Message: s.Last, Meant: s.Meant, Calls: b.How == string(address.Unknown), Crowd: crowd}, subject)
		s.Interrupt(b, s.Rules, e.At)
		s.Turns, s.Backchannels, s.Waits, s.Stage, s.Broken, s.Pace, s.Kept = 0, 0, 0, abi.ClosingNone, false, time.Time{}, nil
		if b.Source != entry.SourceChat || b.From == s.Stopped { // what somebody stopped, no chat begins again
			s.Stopped = ""
		}
		return
	}
	if s.Answer(b, subject) && !s.before3() {
		s.Turns = 0 // it is as if the human had spoken just before
	}
	if s.Floor == nil || s.Floor.Wish == nil || s.Floor.Wish.Perception == 0 || s.before3() {
		s.Turns++
	} else { // what somebody saw is no turn among companions
		s.Seen = append(s.seen(e.At), e.At)
	}
	s.count(b)
	s.Debt[b.From] = 0
	s.sounded(e, b)
	if s.Floor != nil && (s.Floor.Token == b.Grant || s.Floor.Who == b.From) { // paid for or granted, it was its turn
		s.Floor = nil
	}
}

func (s *State) failed(e entry.Entry, b entry.Failed) {
	if b.Perception != 0 {
		s.Judge(b.Perception)
	} else if b.Until.After(e.At) {
		s.Bar(queue.Bar{Who: b.Who, Until: b.Until, Why: b.Error, House: b.Code == abi.CodeExhausted})
	}
	s.NoVote(b)
	if s.Floor != nil && b.Grant == s.Floor.Token {
		s.Floor.Lost, s.Floor.Broke = b.Error, s.Floor.Broke || !b.Pass
	}
}

func (s *State) due(e entry.Entry, b entry.Due) {
	switch b.What {
	case entry.DueHeard:
		s.Expire(b.Of)
	case entry.DueCut:
		s.CutOff(b.Of)
	case entry.DueSpoken:
		s.Spoken(s.Rules, e.At)
	case entry.DueGrant:
		switch {
		case s.Floor == nil || s.Floor.By != b.Of:
		case s.waitsOn():
			s.Floor.Longer++
			s.Floor.Expires = e.At.Add(time.Duration(s.Rules.Floor) * time.Millisecond)
		default:
			s.Floor.Lost, s.Floor.Broke = "the floor was held too long", true
			if s.Floor.Segments == 0 && !slices.Contains(s.Silent, s.Floor.Who) {
				s.Silent = append(s.Silent, s.Floor.Who)
			}
		}
	case entry.DueWish:
		s.Asked = min(s.Asked, s.Last.Seq-1)
	case entry.DueStale:
		s.Withdraw(b.Of)
	case entry.DueAbsent:
		s.askAgain()
	case entry.DueSilence:
		s.Silence, s.Of = time.Time{}, e.Seq
		s.Broken, s.Knock = true, true
		s.Recall()
		s.Asked = min(s.Asked, s.Last.Seq-1) // ask about the newest turn once more
	}
}

func (s *State) voted(b entry.Voted) {
	if s.Vote(b, s.Absence != nil) {
		s.askAgain()
	}
}

func (s *State) perceived(e entry.Entry, b entry.Perceived) {
	if s.Stopped == "" {
		s.Perceive(e.Seq, b)
	}
	s.Tell(e, b)
	if f := b.Force; f != nil && (f.Priority == "high" || f.Priority == "critical") {
		s.Hurry(b.Who, "a game that waits for an action", f.Priority == "critical", s.Rules, e.At)
	}
}

func (s *State) opened(e entry.Entry, b entry.Round) {
	if e.V < 2 && len(b.Addressed) > 0 {
		s.Meant = b.Addressed // whoever opened the round knew
	}
	m, by, _ := s.turnAt(b.About)
	s.Begin(turn.Open(e.Seq, b, turn.Voter{ID: m.From, Kind: by}, s.Kinds()), e.At)
	s.Asked, s.Began = s.Round.Newest(), e.At
	s.Lift(e.At)
	for _, bar := range s.Barred {
		s.Round.Bar(bar.Who, bar.Note(e.At))
	}
	s.asks()
}

// Over says why nobody may speak until something changes, "" where somebody may.
func (s *State) Over() string {
	switch {
	case s.Archived != "":
		return s.Archived + " closed the room"
	case s.Stopped != "":
		return s.Stopped + " said STOP"
	case s.Life.Over():
		return "the conversation is over"
	}
	return ""
}

// Decides gives all that a policy is told to end the open round at a moment, with what it
// remembers of the past.
func (s *State) Decides(at time.Time, past []turn.Spend) turn.Input {
	return turn.Input{
		Round: s.Round, Seed: s.Rules.Seed, Lost: s.Debt, Stage: s.Stage, Silent: s.Silent,
		Turns: s.Turns, MaxTurns: s.cap(), Now: at, Ledger: past,
	}
}

// Policy is what decides in the room, nil where nothing is judged.
func (s *State) Policy() turn.Policy { return s.policy }
