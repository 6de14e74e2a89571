package guide

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/door/mcp/watch"
	"github.com/companiond/companiond/host/identity"
	"github.com/companiond/companiond/host/rooms"
	"github.com/companiond/companiond/host/turn"
)

// Advice is what would be right to do now.
type Advice struct {
	Call string `json:"call,omitempty"` // the tool; empty: none
	Why  string `json:"why"`
}

// Advise says what would be right to do for somebody to whom wait_for_turn would tell
// these news of a room.
func Advise(you You, news watch.News, info rooms.Info) Advice {
	s := situation{info, you.Kind == abi.KindHuman, len(news.Messages)}
	switch {
	case info.Error != "":
		return Advice{"", "the room cannot take anything now: " + info.Error}
	case info.State == "archived":
		return Advice{"history", "the room was closed: its messages can be read, and nothing is said there any more"}
	case !slices.Contains(you.Scopes, identity.Talk):
		return Advice{"history", "you may read here, and not speak" + s.toSee("; ")}
	case you.Name == "":
		return Advice{"about", "say who you are: pass from, the name under which you speak, to about and to every other tool"}
	}
	switch news.Reason {
	case watch.Granted:
		return Advice{"say", fmt.Sprintf("you hold the floor until %s: call say with the grant %s", news.Grant.Expires.UTC().Format(time.RFC3339), news.Grant.Token)}
	case watch.Asked:
		return Advice{"vote", "a round waits for your vote: call vote" + s.toSee(", and read first: ")}
	case watch.Addressed, watch.Unseen:
		return s.toRead(news.Reason == watch.Addressed)
	case watch.Points:
		return Advice{"consume", "you had too few points for your line, and there are enough now: call consume, if it is still worth saying"}
	}
	return s.quiet()
}

// situation is what somebody has before it.
type situation struct {
	info   rooms.Info
	human  bool
	unseen int // messages
}

// toRead is the advice for who has not seen everything.
func (s situation) toRead(meant bool) Advice {
	first := "read history first: " + s.toSee("")
	if meant {
		first += ", and you are meant"
	}
	switch {
	case halted(s.info) != "" && !s.human:
		first += "; then call wait_for_turn: " + halted(s.info)
	case s.human:
		first += "; then say what you like: people need neither vote nor floor"
	case s.info.FreeTurns:
		first += "; then, if you have something to say, call consume"
	default:
		first += "; then call wait_for_turn, which tells when a round asks for your vote"
	}
	return Advice{"history", first}
}

// quiet is the advice for who has seen everything and is not asked.
func (s situation) quiet() Advice {
	i := s.info
	text := "nothing: call wait_for_turn"
	var why []string
	add := func(is bool, format string, args ...any) {
		if is {
			why = append(why, fmt.Sprintf(format, args...))
		}
	}
	poor := i.FreeTurns && i.Pool != nil && i.Pool.Level < i.Pool.TurnPrice()
	add(halted(i) != "", "%s", halted(i))
	add(i.Waiting != "", "%s", i.Waiting)
	add(i.Heard != "", "%s is heard now", i.Heard)
	add(i.Heard == "" && i.Floor != "", "%s has the floor", i.Floor)
	if poor {
		add(true, "%v points are left, and a turn costs %v", i.Pool.Level, i.Pool.TurnPrice())
	}
	switch {
	case len(why) > 0:
		return Advice{"wait_for_turn", text + " (" + strings.Join(why, "; ") + ")"}
	case s.human:
		return Advice{"wait_for_turn", text + ", or say what you like: people need neither vote nor floor"}
	case i.FreeTurns && i.Last == 0:
		return Advice{"consume", "nobody has spoken yet: you may begin, with consume"}
	case i.Last == 0:
		return Advice{"wait_for_turn", text + " (nobody has spoken yet: a person has to begin, or a companion)"}
	case i.FreeTurns:
		return Advice{"wait_for_turn", text + ", or consume if you want to say more"}
	}
	return Advice{"wait_for_turn", text + ", or vote if you want to speak"}
}

// halted says why nobody but people can speak in a room, "" where others can.
func halted(i rooms.Info) string {
	switch i.State {
	case "stopped":
		return "a human said STOP; a human's next line starts the talk again"
	case "capped":
		return turn.Taken(i.Turns) + " since a human spoke, which is the cap; a human's next line starts the talk again"
	case "closed":
		return "the talk has come to its end; a human's next line opens it again"
	}
	return ""
}

// toSee says how much there is to read, "" for nothing.
func (s situation) toSee(before string) string {
	switch s.unseen {
	case 0:
		return ""
	case 1:
		return before + "1 message you have not seen"
	}
	n := strconv.Itoa(s.unseen)
	if s.unseen >= abi.MaxHistory {
		n += " or more"
	}
	return before + n + " messages you have not seen"
}
