package rules

import (
	"encoding/json"

	"github.com/companiond/companiond/host/address"
)

// This file reads what older versions wrote.

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
		s.Meant = address.Addressed(s.Last, s.Named()) // those snapshots do not say it
	}
	if s.Round != nil && s.Round.About == s.Last.Seq && len(s.Round.Addressed) > 0 {
		s.Meant = s.Round.Addressed
	}
	return nil
}
