package rules

import (
	"encoding/json"

	v1 "github.com/companiond/companiond/host/address/v1"
)

// This file reads what older versions wrote.

// meantByVersion1 gives whom the newest turn addressed by the rule of commit
// 66dce41. Entries of version 1 do not say it: there it was asked for again at each
// fold.
func (s *State) meantByVersion1() []string {
	ms := make([]v1.Member, 0, len(s.Cast))
	for _, m := range s.Cast {
		ms = append(ms, v1.Member{ID: m.ID, Names: append([]string{m.ID, m.Name}, m.Aliases...)})
	}
	return v1.Addressed(s.Last, ms)
}

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
		s.People = append(s.People, Person{g, s.At})
	}
	s.Version, s.Shape = stateVersion, 1
	if s.Rules.Policy == "vote" {
		s.Rules.PolicyRaw = nil
	}
	if s.Last.Seq > 0 {
		s.Meant = s.meantByVersion1()
	}
	if s.Round != nil && s.Round.About == s.Last.Seq && len(s.Round.Addressed) > 0 {
		s.Meant = s.Round.Addressed
	}
	return nil
}
