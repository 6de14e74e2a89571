package rules

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/address"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/turn"
)

// maxPeople is how many of the humans who spoke last a room remembers by name, and
// maxGuests how many of them are members for whoever looks.
const (
	maxPeople = 256
	maxGuests = 32
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
	Present
	Talk
	Rounds
	Floor *Floor `json:"floor,omitempty"` // held
	Pool
	Waiting
	Senses
	Acts []Act `json:"acts,omitempty"` // actions whose result may come, oldest first

	policy   turn.Policy
	unjudged string // why nothing can be decided, see Unjudged
}

// Present is the part of a room's state that says who is there.
type Present struct {
	Cast      []entry.Joined `json:"cast,omitempty"`      // companions and agents, by id
	People    []Person       `json:"people,omitempty"`    // humans who spoke, newest last
	Gathering bool           `json:"gathering,omitempty"` // who is here is not said yet: nobody is asked
	Opened    string         `json:"opened,omitempty"`    // who opened the room at a door
	Archived  string         `json:"archived,omitempty"`  // who closed the room
}

// Talk is what was said, and how far the talk has come.
type Talk struct {
	Last         abi.Message         `json:"last"` // the newest turn
	LastBy       abi.ParticipantKind `json:"last_by,omitempty"`
	Meant        []string            `json:"meant,omitempty"`  // whom it addresses
	Called       []string            `json:"called,omitempty"` // whom a human addressed since the last round opened
	Turns        int                 `json:"turns"`            // of others than humans since a human spoke
	Backchannels int                 `json:"asides,omitempty"` // the same
	Stage        abi.Closing         `json:"stage"`
	Stopped      string              `json:"stopped,omitempty"` // who said STOP
	Silence      time.Time           `json:"silence,omitzero"`  // then somebody is asked to break the silence
	Of           uint64              `json:"of,omitempty"`      // entry that set Silence
	Broken       bool                `json:"broken,omitempty"`  // the silence since the newest turn was broken into already
}

// Rounds are how votes are asked for, and how that came out.
type Rounds struct {
	Asked uint64         `json:"asked"`           // seq of the newest turn that has had its round
	Round *turn.Round    `json:"round,omitempty"` // open
	Chain []uint64       `json:"chain,omitempty"` // rounds superseded since the floor was last decided
	Held  *turn.Round    `json:"held,omitempty"`  // the newest of them, whose votes the next round carries
	Since time.Time      `json:"since,omitzero"`  // when the first of them opened
	Pace  time.Time      `json:"pace,omitzero"`   // not before this does the next round open
	Rest  entry.Outcome  `json:"rest,omitempty"`  // how the newest round ended, when nobody got the floor
	Alone bool           `json:"alone,omitempty"` // nobody was there to be asked about the newest turn
	Debt  map[string]int `json:"debt,omitempty"`  // rounds in which somebody wanted to speak and did not
}

// Pool is what a policy with a budget goes by.
type Pool struct {
	Ledger []turn.Spend `json:"ledger,omitempty"`
	Tries  []Try        `json:"tries,omitempty"` // who has had no luck, see keep; the longest first
	Kept   *Kept        `json:"kept,omitempty"`
	Waits  int          `json:"waits,omitempty"` // rounds put off since a companion or a human spoke
}

// Person is a human who spoke in the room.
type Person struct {
	Name string    `json:"name"`
	At   time.Time `json:"at"` // last
}

// Floor is a grant in force.
type Floor struct {
	abi.Grant
	Who       string            `json:"who"`
	By        uint64            `json:"by"`    // seq of the decision
	Round     uint64            `json:"round"` // seq of the round
	About     uint64            `json:"about"` // seq of the newest turn when it was granted
	Silence   bool              `json:"silence,omitempty"`
	Addressed []string          `json:"addressed,omitempty"` // by the message the round was about
	Ranking   []entry.Candidate `json:"ranking"`
	Tried     []string          `json:"tried"`            // who had the floor in this round, Who last
	Again     bool              `json:"again,omitempty"`  // the line was stale once
	Lost      string            `json:"lost,omitempty"`   // why the line will not come
	Until     time.Time         `json:"until,omitzero"`   // when the pool could pay for it
	Wish      *Request          `json:"wish,omitempty"`   // the line comes with it
	Spoken    string            `json:"spoken,omitempty"` // segments of the line that were shown
	Segments  int               `json:"segments,omitempty"`
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
		s.blank(e)
		return nil
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
			s.Archived, s.Silence, s.Held, s.Requests, s.Perceived = b.By, time.Time{}, nil, nil, nil
			s.Asked, s.Alone, s.Called = s.Last.Seq, false, nil // opened anew, it does not go on where it was
		})
	case entry.KindOwner:
		s.taken()
	case entry.KindCast:
		return with(e, s.castChanged)
	case entry.KindSaid:
		return with(e, func(b entry.Said) { s.said(e, b) })
	case entry.KindVote:
		return with(e, s.voted)
	case entry.KindFailed:
		return with(e, s.failed)
	case entry.KindDue:
		return with(e, func(b entry.Due) { s.due(e.Seq, b) })
	case entry.KindStop:
		return with(e, func(b entry.Stop) {
			s.Stopped, s.Silence, s.Held, s.Requests, s.Perceived = b.From, time.Time{}, nil, nil, nil
		})
	case entry.KindRound:
		return with(e, func(b entry.Round) { s.opened(e, b) })
	case entry.KindDecision:
		return with(e, func(b entry.Decision) { s.decided(e, b) })
	case entry.KindClosing:
		return with(e, func(b entry.ClosingMoved) { s.Stage = b.To })
	case entry.KindRefused:
		return with(e, func(b entry.Refused) { s.refused(e, b) })
	case entry.KindWish:
		return with(e, func(b entry.Wish) { s.requested(e.Seq, b) })
	case entry.KindPerceived:
		return with(e, func(b entry.Perceived) { s.perceived(e.Seq, b) })
	case entry.KindJudged:
		return with(e, func(b entry.Judged) { s.judgedAll(b.Perceptions) })
	case entry.KindSegment:
		return with(e, s.spoke)
	case entry.KindAction:
		return with(e, s.acted)
	case entry.KindResult:
		return with(e, func(b entry.Done) { s.Acts = slices.DeleteFunc(s.Acts, func(a Act) bool { return a.ID == b.ID }) })
	}
	return nil // a kind of a later version that changes nothing here
}

// blank is change for an entry whose body was taken out. Its consequences have bodies
// of their own, so that hardly anything is missing: a round is about the newest turn
// and asks everybody, and a vote can no longer be carried on.
func (s *State) blank(e entry.Entry) {
	if e.Kind == entry.KindRound {
		s.opened(e, entry.Round{About: s.Last.Seq, Electorate: s.Voters(), Addressed: s.Meant})
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

// taken empties the room for a new owner: the next cast says who is here, and a round
// or a grant that was open asks again with a whole patience, for nobody was
// there to answer.
func (s *State) taken() {
	if s.Round != nil || s.Floor != nil || s.Held != nil {
		s.Asked = min(s.Asked, s.Last.Seq-1)
	}
	s.Cast, s.Round, s.Floor, s.Held, s.Tries, s.Kept = nil, nil, nil, nil, nil, nil
	s.Gathering = true
}

func (s *State) castChanged(b entry.Cast) {
	for _, j := range b.Joined {
		s.joined(j)
	}
	for _, l := range b.Left {
		s.left(l)
	}
	s.Gathering = b.Loading
	if b.Addressed == nil {
		return
	}
	s.Meant = *b.Addressed
	if s.LastBy == abi.KindHuman && len(s.Meant) > 0 {
		s.Called = s.Meant
	}
}

func (s *State) joined(b entry.Joined) {
	i, found := slices.BinarySearchFunc(s.Cast, b.ID, func(m entry.Joined, id string) int { return strings.Compare(m.ID, id) })
	if found {
		s.Cast[i] = b
	} else {
		s.Cast = slices.Insert(s.Cast, i, b)
	}
	if s.Alone && len(s.Voters()) > 0 {
		s.Alone, s.Asked = false, min(s.Asked, s.Last.Seq-1)
	}
}

func (s *State) left(b entry.Left) {
	s.Cast = slices.DeleteFunc(s.Cast, func(m entry.Joined) bool { return m.ID == b.ID })
	delete(s.Debt, b.ID)
	delete(s.Lost, b.ID)
	s.luck(b.ID)
	s.forget(func(r Request) bool { return r.Who == b.ID })
	if s.Round != nil {
		s.Round.Fail(b.ID, "left the room")
	}
	if s.Floor != nil && s.Floor.Who == b.ID {
		s.Floor.Lost = "left the room"
	}
}

func (s *State) said(e entry.Entry, b entry.Said) {
	s.spend(b, e.At)
	s.end(b.Wish)
	if b.By == abi.KindHuman {
		s.People = append(slices.DeleteFunc(s.People, func(p Person) bool { return p.Name == b.From }), Person{b.From, e.At})
		if len(s.People) > maxPeople {
			s.People = slices.Delete(s.People, 0, 1)
		}
	}
	if b.Kind == abi.KindBackchannel {
		if b.By != abi.KindHuman {
			s.Backchannels++
		}
		return
	}
	s.luck(b.From)
	delete(s.Lost, b.From)
	s.forget(func(r Request) bool { return r.Waits == entry.WaitRound && r.Text == "" }) // it was about the turn before
	if b.By == abi.KindCompanion {
		s.Waits = 0
	}
	s.Last, _ = e.Message()
	s.LastBy, s.Meant = b.By, b.Addressed
	if e.V < 2 { // it does not say it
		s.Meant = address.Addressed(s.Last, s.Named())
	}
	s.Silence, s.Rest, s.Broken, s.Alone = time.Time{}, "", false, false
	if b.By == abi.KindHuman {
		if len(s.Meant) > 0 {
			s.Called = s.Meant
		}
		s.Turns, s.Backchannels, s.Waits, s.Stage, s.Stopped, s.Pace, s.Kept = 0, 0, 0, abi.ClosingNone, "", time.Time{}, nil
		return
	}
	s.Called = slices.DeleteFunc(slices.Clone(s.Called), func(id string) bool { return id == b.From })
	s.Turns++
	s.Debt[b.From] = 0
	s.Pace = e.At.Add(time.Duration(s.Rules.Pace) * time.Millisecond)
	if s.Floor != nil && (s.Floor.Token == b.Grant || s.Floor.Who == b.From) { // paid for or granted, it was its turn
		s.Floor = nil
	}
}

func (s *State) failed(b entry.Failed) {
	if b.Perception != 0 {
		s.judgedAll([]uint64{b.Perception})
	}
	if s.Round != nil && b.Round == s.Round.ID {
		s.Round.Fail(b.Who, b.Error)
	}
	if s.Floor != nil && b.Grant == s.Floor.Token {
		s.Floor.Lost = b.Error
	}
}

func (s *State) due(seq uint64, b entry.Due) {
	switch b.What {
	case entry.DueGrant:
		if s.Floor != nil && s.Floor.By == b.Of {
			s.Floor.Lost = "the floor was held too long"
		}
	case entry.DueWish:
		s.Asked = min(s.Asked, s.Last.Seq-1)
	case entry.DueStale:
		s.lose(s.end(b.Of))
	case entry.DueSilence:
		s.Silence, s.Of = time.Time{}, seq
		s.Broken = true
		s.Asked = min(s.Asked, s.Last.Seq-1) // ask about the newest turn once more
	}
}

// voted counts a vote for the open round; one for a round that was superseded
// on the way to it stands until the voter answers anew.
func (s *State) voted(b entry.Voted) {
	switch {
	case s.Round == nil:
	case s.Round.ID == b.Round:
		s.Round.Cast(b.Voter, b.Vote)
	case slices.Contains(s.Chain, b.Round):
		old := turn.Round{Ballots: map[string]turn.Ballot{b.Voter: {Vote: b.Vote}}}
		s.Round.Carry(&old)
	}
}

func (s *State) opened(e entry.Entry, b entry.Round) {
	if e.V < 2 && len(b.Addressed) > 0 {
		s.Meant = b.Addressed // whoever opened the round knew
	}
	s.Round = turn.Open(e.Seq, b, turn.Voter{ID: s.Last.From, Kind: s.LastBy}, s.Kinds())
	if s.Held != nil {
		s.Round.Carry(s.Held)
		s.Held = nil
	} else {
		s.Chain, s.Since = nil, e.At
	}
	if s.Since.IsZero() {
		s.Since = e.At
	}
	s.Asked, s.Called = b.About, nil
	s.asks()
}

func (s *State) decided(e entry.Entry, d entry.Decision) {
	if d.Wish != 0 {
		s.granted(e, d)
		return
	}
	s.Rest = d.Outcome
	if d.Outcome == entry.OutcomeSuperseded {
		if s.Round != nil {
			s.Held, s.Chain = s.Round, append(s.Chain, s.Round.ID)
		}
		s.Round, s.Floor = nil, nil
		return
	}
	if d.Outcome == entry.OutcomeWaits {
		s.waits(d)
		return
	}
	if d.Outcome != entry.OutcomeGrant {
		if s.Floor == nil || s.Floor.Round != 0 { // else the newest turn still waits for its round
			s.Asked = s.Last.Seq
		}
		s.Round, s.Floor = nil, nil
		if d.Outcome == entry.OutcomeSilence {
			s.Alone = len(s.Voters()) == 0
			s.awaitSilence(e)
		}
		return
	}
	f := &Floor{Grant: *d.Grant, Who: d.Speaker, By: e.Seq, Round: d.Round, About: s.Last.Seq, Ranking: d.Ranking}
	switch {
	case d.Rule == entry.RuleNext && s.Floor != nil:
		f.Tried, f.Silence, f.Addressed = s.Floor.Tried, s.Floor.Silence, s.Floor.Addressed
	case s.Round != nil:
		f.Silence, f.Addressed = s.Round.Silence, s.Round.Addressed
		for _, c := range d.Ranking {
			if c.Who != d.Speaker && Wants(c) {
				s.Debt[c.Who]++
			}
		}
	}
	f.Tried = append(slices.Clone(f.Tried), d.Speaker)
	if _, here := s.Kinds()[d.Speaker]; !here {
		f.Lost = "left the room"
	}
	f.Wish = s.take(func(r Request) bool { return r.Waits == entry.WaitRound && r.Who == d.Speaker }) // it was voted for
	s.Floor, s.Round, s.Rest = f, nil, ""
}

// Wants says whether a candidate asked for the floor.
func Wants(c entry.Candidate) bool {
	return c.Standing == "human" || c.Standing == "addressed" || c.Standing == "speak"
}

// awaitSilence sets when a quiet room is woken: once after each turn, and only
// in a talk that nobody is bringing to an end.
func (s *State) awaitSilence(e entry.Entry) {
	if s.Rules.Silence > 0 && !s.Broken && len(s.Voters()) > 0 && s.Stage.Stage() == 0 && s.Stopped == "" {
		s.Silence, s.Of = e.At.Add(time.Duration(s.Rules.Silence)*time.Millisecond), e.Seq
	}
}

func (s *State) refused(e entry.Entry, b entry.Refused) {
	if r := s.end(b.Wish); r != nil && r.Waits == entry.WaitRound {
		s.lose(r)
		return
	}
	if b.Grant == "" {
		s.keep(e, b)
		return
	}
	if s.Floor == nil || s.Floor.Token != b.Grant || s.Floor.Who != b.Who || b.Kind != abi.KindTurn {
		return // the floor is not lost by what others say with it, nor by a backchannel
	}
	if b.Again {
		s.Floor.Again, s.Floor.Basis, s.Floor.About = true, s.Last.Seq, s.Last.Seq
		return
	}
	if b.Code == abi.CodeStale {
		s.Debt[b.Who]++ // it was ready to speak, and somebody was quicker
	}
	s.lose(s.Floor.Wish)
	s.Floor.Lost, s.Floor.Until = b.Why, b.Until
}

// addressed says whether somebody was addressed by the newest turn, by a human
// since the last round, or by what it has the floor to answer.
func (s *State) addressed(who string) bool {
	if s.Floor != nil && s.Floor.Who == who && slices.Contains(s.Floor.Addressed, who) {
		return true
	}
	return slices.Contains(s.Meant, who) || slices.Contains(s.Called, who)
}
