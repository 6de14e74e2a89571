package session

import (
	"slices"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
)

// cast is whose client a session is, where it is that of all who live in a room, and its bodies
// there. The zero value is empty.
type cast struct {
	here    []string
	bodies  map[string]body // by companion, while the client is there
	entered bool
}

type body struct {
	id    string
	leave func()
}

// body gives the id of a companion's body, empty where it has none.
func (c *cast) body(who string) string { return c.bodies[who].id }

// Gather makes the session the client of all companions that are in the room by now; who comes
// later, or goes, is found in the entries. Companion is to be empty.
func (s *Session) Gather() {
	for _, m := range s.Room.Info().Members {
		if m.Kind == abi.KindCompanion && !slices.Contains(s.cast.here, m.ID) {
			s.cast.here = append(s.cast.here, m.ID)
		}
	}
}

// Everyone gives the ids of the companions and agents that are in the room.
func (s *Session) Everyone() (ids []string) {
	for _, m := range s.Room.Info().Members {
		if m.Kind != abi.KindHuman {
			ids = append(ids, m.ID)
		}
	}
	return ids
}

// Enter says in the room that a body is here, of each companion whose client it is, until leave is
// called.
func (s *Session) Enter() (leave func()) {
	s.cast.entered, s.cast.bodies = true, map[string]body{}
	if s.Companion != "" {
		s.embody(s.Companion)
	}
	for _, who := range s.cast.here {
		s.embody(who)
	}
	return func() {
		s.cast.entered = false
		s.takeBack()
		for who := range s.cast.bodies {
			s.disembody(who)
		}
	}
}

func (s *Session) embody(who string) {
	if _, has := s.cast.bodies[who]; has || !s.cast.entered {
		return
	}
	id, leave := s.Room.Embody(entry.Body{Who: who, Plays: s.Plays, Finishes: s.Finishes, Sentences: s.Sentences && s.Plays, Answers: s.Answers})
	s.cast.bodies[who] = body{id, leave}
}

func (s *Session) disembody(who string) {
	if b, has := s.cast.bodies[who]; has {
		b.leave()
		delete(s.cast.bodies, who)
	}
}

// meets notes who came to the room and left it.
func (s *Session) meets(b entry.Cast) {
	for _, j := range b.Joined {
		if j.Kind == abi.KindCompanion && !slices.Contains(s.cast.here, j.ID) {
			s.cast.here = append(s.cast.here, j.ID)
			s.embody(j.ID)
		}
	}
	for _, l := range b.Left {
		s.cast.here = slices.DeleteFunc(s.cast.here, func(id string) bool { return id == l.ID })
		s.disembody(l.ID)
	}
}

// mine says whether it is a client of a companion's.
func (s *Session) mine(who string) bool {
	if s.Companion != "" {
		return who == s.Companion
	}
	return slices.Contains(s.cast.here, who)
}

// belongs notes whose an action or a line is.
func (s *Session) belongs(id, who string) {
	if s.Companion == "" && id != "" {
		s.whose.put(id, who)
	}
}

// owner gives whose an action or a line is, of which a field of what the client says has the id.
func (s *Session) owner(field, id string) (string, error) {
	if s.Companion != "" {
		return s.Companion, nil
	}
	who := s.whose.get(id)
	if who == "" {
		return "", abi.Field(field, abi.CodeNotFound, "%.64q was told to nobody here (any more)", id)
	}
	return who, nil
}
