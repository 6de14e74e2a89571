package perception

import "github.com/companiond/companiond/abi"

// Meant gives the companion that a client of the AI Companion Protocol names: by a session
// of its own, which counts as use of it, or by the companion's id.
//
// # Errors
//
// Those of Config.Card and of [Queues.Session]; CodeNotFound where name is neither.
func (s *Queues) Meant(name, caller string) (companion string, err error) {
	companion, err = s.Session(name, caller)
	if abi.CodeOf(err) != abi.CodeNotFound {
		return companion, err
	}
	_, err = s.cfg.Card(name)
	if abi.CodeOf(err) == abi.CodeNotFound {
		err = abi.Errorf(abi.CodeNotFound, "companion: %.64q is neither a session that is open nor a companion; open a session with POST /init, or name one of GET /v1/companions", name)
	}
	if err != nil {
		return "", err
	}
	return name, nil
}
