package fold

import (
	"slices"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/playback"
	"github.com/companiond/companiond/host/room/queue"
	"github.com/companiond/companiond/host/turn"
)

// Floor is a grant in force.
type Floor struct {
	abi.Grant
	Who       string            `json:"who"`
	By        uint64            `json:"by"`                // seq of the decision
	Round     uint64            `json:"round"`             // seq of the round
	About     uint64            `json:"about"`             // seq of the newest turn when it was granted
	Subject   uint64            `json:"subject,omitempty"` // seq of what the round was about; 0: of none
	Silence   bool              `json:"silence,omitempty"`
	Addressed []string          `json:"addressed,omitempty"` // by the message the round was about
	Ranking   []entry.Candidate `json:"ranking"`
	Tried     []string          `json:"tried"`            // who had the floor in this round, Who last
	Again     bool              `json:"again,omitempty"`  // the line was stale once
	Lost      string            `json:"lost,omitempty"`   // why the line will not come
	Longer    int               `json:"longer,omitempty"` // times that it was held on to, because nobody else would speak
	Broke     bool              `json:"broke,omitempty"`  // somebody who had the floor in this round could not speak
	Until     time.Time         `json:"until,omitzero"`   // when the pool could pay for it
	Wish      *queue.Request    `json:"wish,omitempty"`   // the line comes with it
	Ahead     bool              `json:"ahead,omitempty"`  // granted while another line is heard
	Opened    time.Time         `json:"opened,omitzero"`  // when its round opened
	Spoken    string            `json:"spoken,omitempty"` // segments of the line that were shown
	Segments  int               `json:"segments,omitempty"`
}

// Closing is the wish to end that came with the vote of who has the floor.
func (f *Floor) Closing() abi.Closing {
	for _, c := range f.Ranking {
		if c.Who == f.Who {
			return c.Closing
		}
	}
	return ""
}

// Stale says whether a line that is made ahead is of no use any more.
func (f *Floor) Stale(s *State) bool {
	return f.Ahead && f.Segments == 0 && s.Newest().Seq > f.About && s.LastBy == abi.KindHuman && s.Rules.Stale != entry.StaleAccept
}

func (s *State) refused(e entry.Entry, b entry.Refused) {
	if r := s.Withdraw(b.Wish); r != nil && r.Waits == entry.WaitRound {
		return
	}
	if b.Grant == "" {
		s.Accounts.Refused(s.policy, b, time.Duration(s.Rules.Floor)*time.Millisecond, e.At)
		return
	}
	if s.Floor == nil || s.Floor.Token != b.Grant || s.Floor.Who != b.Who || b.Kind != abi.KindTurn {
		return // the floor is not lost by what others say with it, nor by a backchannel
	}
	if b.Code == abi.CodeStale {
		s.waste(e.At)
	}
	if b.Again {
		s.Floor.Again, s.Floor.Basis, s.Floor.About = true, s.Last.Seq, s.Last.Seq
		if !s.before3() { // it is made anew, and may take as long
			s.Floor.Expires = e.At.Add(time.Duration(s.Rules.Floor) * time.Millisecond)
		}
		return
	}
	if b.Code == abi.CodeStale && s.before3() {
		s.Debt[b.Who]++
	}
	s.Floor.Lost, s.Floor.Until = b.Why, b.Until
}

// Addresses says whether somebody was addressed by the newest turn, by a human who
// waits for an answer, or by what it has the floor to answer.
func (s *State) Addresses(who string) bool {
	if s.Floor != nil && s.Floor.Who == who && slices.Contains(s.Floor.Addressed, who) {
		return true
	}
	return slices.Contains(s.Meant, who) || s.Calls(who)
}

// Expires is when the floor is lost. A line that is made ahead, or while a human speaks,
// has its time from the moment at which it may begin; it is zero while somebody else is
// still heard. A line that has begun to sound and comes to no end is over when nothing of it
// was heard for a while.
func (s *State) Expires() time.Time {
	at := s.Floor.Expires
	if s.Floor.Segments > 0 {
		if l := s.Playing; l != nil && l.ID == s.Floor.Token && l.Of == 0 {
			if stuck := later(l.Ends(), s.Hush).Add(Stalled); stuck.Before(at) {
				return stuck
			}
		}
		return at
	}
	if s.Playing != nil && s.Playing.ID != s.Floor.Token {
		return time.Time{}
	}
	for _, begins := range []time.Time{s.Pace, s.Hush, s.Lingers()} {
		if t := begins.Add(time.Duration(s.Rules.Floor) * time.Millisecond); t.After(at) {
			at = t
		}
	}
	return at
}

// longestFloor is how many times as long a floor is held where nobody else would speak. No
// call for a line takes longer.
const longestFloor = 3

// NextSpeaker gives who has the floor after the one who has it now: where that one could not
// speak and a human waits for an answer, be it somebody who would rather listen.
func (s *State) NextSpeaker(broke bool) (entry.Candidate, bool) {
	f := s.Floor
	return turn.Next(turn.Ruling{Silence: f.Silence || broke && s.Answering(), Ranking: f.Ranking}, f.Tried)
}

// waitsOn says whether a line that takes long is waited for on.
func (s *State) waitsOn() bool {
	_, other := s.NextSpeaker(true)
	return !other && s.Floor.Longer < longestFloor-1 && s.Newest().Seq <= s.Floor.About && !s.before3()
}

// spoke notes a segment. A line that has begun to sound is not stale any more.
func (s *State) spoke(b entry.Segment, at time.Time) {
	if s.Floor != nil && s.Floor.Token == b.Grant {
		s.begins(at)
		s.Sound(b.Grant, b.Who, b.N, playback.Part{Text: b.Text, Voice: b.Voice, Shown: at}, s.Rules.Auto)
		if s.Playing != nil && s.Playing.ID == b.Grant {
			s.Playing.Basis = s.Floor.Basis
		}
		s.Floor.Spoken += b.Text
		s.Floor.Segments = b.N
	}
}

// Begun says whether a line with this grant has begun to sound.
func (s *State) Begun(grant string) bool {
	return s.Floor != nil && s.Floor.Token == grant && s.Floor.Segments > 0
}
