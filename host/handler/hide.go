package handler

import (
	"strings"

	"github.com/companiond/companiond/host/module"
	"github.com/companiond/companiond/host/secret/hide"
)

// hide takes secrets out of a text that others may read.
func (p *post) hide(text string) string { return p.concealed.Text(text) }

// why says why a handler failed, in words that may be shown: secrets are taken out before it is shortened, or half of one would stay.
func (p *post) why(err error) string { return short(p.hide(reason(err))) }

// wrong says why the settings are wrong: of a secret the place alone.
func (p *post) wrong(err error) string {
	why := module.Reason(err)
	for _, name := range p.secrets {
		if place := "settings." + name; strings.HasPrefix(why, place) && !strings.HasPrefix(why, place+": is not known") { // that is of its name
			return place + ": is not as the handler's schema wants it; it is a secret, and not shown"
		}
	}
	return p.hide(why)
}

// hidden gives what was ever a secret of a module's handlers, of which there may be several: all of it is taken out of what the log
// says of the module.
func (s *Stage) hidden(id string) *hide.Secrets {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.hides[id] == nil {
		s.hides[id] = new(hide.Secrets)
	}
	return s.hides[id]
}
