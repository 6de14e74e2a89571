package fold

import (
	"encoding/json"
	"fmt"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/room/cast"
	"github.com/companiond/companiond/host/turn"
)

// Version is that of the decisions which this package makes of inputs: it grows
// when the same inputs lead to other entries. It stands in the room's rules, so
// that a replay derives again only what this version decided. 1 is that of commit
// 66dce41.
const Version = 6

// before3 says whether what is folded was decided by rules before version 3: they
// counted what was lost as the floor was granted, and each turn ended the silence that
// was broken.
func (s *State) before3() bool { return s.Rules.Version < 3 }

// before4 says whether what is folded was decided by rules before version 4: to them a
// chat's turn was one like all others.
func (s *State) before4() bool { return s.Rules.Version < 4 }

// before6 says whether what is folded was decided by rules before version 6: to them nothing sounded
// in a body whose daemon had ended.
func (s *State) before6() bool { return s.Rules.Version < 6 }

// StateVersion is the format of a snapshot. All since 1 are read; of a newer one
// nothing is known, and the journal is folded from its start instead.
const StateVersion = 4

// New gives the state of a room in which nothing has happened.
func New() *State {
	return &State{Version: StateVersion, Talk: Talk{Stage: abi.ClosingNone}, Rounds: Rounds{Debt: map[string]int{}}}
}

// Decode reads a snapshot.
func Decode(blob []byte) (*State, error) {
	s := New()
	s.Version = 0
	if err := json.Unmarshal(blob, s); err != nil {
		return nil, fmt.Errorf("decode snapshot: %w", err)
	}
	if s.Version < 1 || s.Version > StateVersion {
		return nil, fmt.Errorf("decode snapshot: format %d, this program knows 1 to %d", s.Version, StateVersion)
	}
	if s.Debt == nil {
		s.Debt = map[string]int{}
	}
	if s.Version < 3 {
		if err := s.fromVersion2(blob); err != nil {
			return nil, fmt.Errorf("decode snapshot: %w", err)
		}
	}
	s.uncounted, s.Version = s.Version < 4, StateVersion
	if s.Rules.Policy != "" {
		s.setPolicy()
	}
	return s, nil
}

// setPolicy makes the policy of the rules in force. One that this program does not
// know is no damage: the entries can be read, and nothing new is decided.
func (s *State) setPolicy() {
	s.policy, s.unjudged = nil, ""
	policy, err := turn.New(s.Rules.Policy, s.Rules.PolicyRaw)
	if err != nil {
		s.unjudged = fmt.Sprintf("its rules are not known to this companiond (%s); give the room others, or start the companiond that wrote them", abi.AsError(err).Message)
		return
	}
	s.policy = policy
}

// Assume gives a room for whoever looks the rules that it will have as soon as it is
// used.
func (s *State) Assume(r entry.Rules) {
	if s.Newer() == "" && r.Policy != "" {
		s.Rules = r
		s.setPolicy()
	}
}

// Unjudged says why nothing new can be decided in the room, though all that
// happened can be read; "" where it can. Other rules end it, unless Newer says why
// they do not.
func (s *State) Unjudged() string {
	if why := s.Newer(); why != "" {
		return why
	}
	return s.unjudged
}

// Newer says why only a later version of this program can decide anything in the
// room, "" where that is not so.
func (s *State) Newer() string {
	what, has, known := "rules", s.Rules.Version, Version
	if s.Shape > entry.Version {
		what, has, known = "entries", s.Shape, entry.Version
	}
	if has <= known {
		return ""
	}
	return fmt.Sprintf("its %s have version %d and this companiond knows %d; start the newer companiond", what, has, known)
}

// Judged says whether there are rules to decide by.
func (s *State) Judged() bool { return s.policy != nil && s.Newer() == "" }

// fromVersion2 brings a snapshot of version 1 or 2 up to date. In those a policy
// without settings could have the settings of the one before it.
func (s *State) fromVersion2(blob []byte) error {
	var old struct {
		Guests []string `json:"guests"` // without a time
	}
	if err := json.Unmarshal(blob, &old); err != nil {
		return err
	}
	for _, g := range old.Guests {
		s.People = append(s.People, cast.Person{Name: g, At: s.At})
	}
	s.Shape = 1
	if s.Rules.Policy == "vote" {
		s.Rules.PolicyRaw = nil
	}
	if s.Last.Seq > 0 {
		s.Meant = s.AddressedV1(s.Last) // those snapshots do not say it
	}
	if s.Round != nil && s.Round.About == s.Last.Seq && len(s.Round.Addressed) > 0 {
		s.Meant = s.Round.Addressed
	}
	return nil
}
