package chat

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/address"
	"github.com/companiond/companiond/host/door/chat/news"
	"github.com/companiond/companiond/host/identity"
	"github.com/companiond/companiond/host/rooms"
)

// guest is who speaks without a token and without a name.
const guest = "guest"

// speaker is who says what is new.
type speaker struct {
	name string
	kind abi.ParticipantKind
	from string // where a guest calls from; empty for a token's holder
}

// speaker finds out who speaks. A token's holder is who it is, whatever the request says
// of its user: most clients put an id of their own there.
func (d *door) speaker(r *http.Request, user string) (s speaker, err error) {
	caller := identity.Of(r.Context())
	if caller.Guest {
		user, s.from = cmp.Or(user, guest), caller.Address
	} else {
		user = ""
	}
	if s.name, s.kind, err = caller.From(user, abi.KindHuman); err != nil {
		return s, ofUser(err)
	}
	if s.kind != abi.KindHuman {
		return s, abi.Errorf(abi.CodeDenied, "%s is an agent, which takes turns: connect it to /mcp; a token for this door is a person's", s.name)
	}
	for _, c := range d.cfg.Companions() {
		if address.Same(c.ID, s.name) || c.Name != "" && address.Same(c.Name, s.name) {
			return s, abi.Field("user", abi.CodeDenied, "%.64q is the name of %s, who lives here; take another", s.name, c.ID)
		}
	}
	return s, nil
}

// ofUser names the field of a request in which a guest gives its name.
func ofUser(err error) error {
	if e := abi.AsError(err); e.Field == "from" {
		return abi.Field("user", e.Code, "%s", e.Reason())
	}
	return err
}

// tell says in the room what is new in a client's list.
func (c *completion) tell(ctx context.Context, by speaker, in request) error {
	n := news.Of(in.list)
	c.outcome.Room = c.to.talk.Name()
	switch {
	case n.Errand != "":
		c.text, c.outcome.None = news.Run(n.Errand, c.to.model.Name), errand
		return nil
	case len(n.Lines) == 0:
		c.outcome.None = nothing
		return nil
	}
	was, err := c.said(ctx, by)
	if err != nil {
		return err
	}
	for i, line := range n.Lines {
		newest := i == len(n.Lines)-1
		if seq, ok := was.lists[line.Key]; ok {
			c.outcome.Said, c.outcome.Again = seq, newest
			continue
		}
		if !newest && was.texts[line.Text] { // it was said, and nobody answered
			continue
		}
		if line.Odd != "" {
			return abi.Field(place(line.At, ".content"), abi.CodeInvalid, "has a part of type %.32q, and what is said in a room is text; send a companion images as perceptions", line.Odd)
		}
		// A turn in any case: who waits for an answer is no listener, whatever the word.
		m, err := c.to.talk.Say(ctx, rooms.Utterance{ID: c.id(by, line.Key), From: by.name, By: by.kind, To: c.addressees(), Text: line.Text, Kind: abi.KindTurn})
		if err != nil {
			return ofLine(err, line.At)
		}
		c.outcome.Said = m.Seq
	}
	return nil
}

func (c *completion) addressees() []string {
	if c.to.companion == "" {
		return nil
	}
	return []string{c.to.companion}
}

// ofLine names the field of a request for one of what is said.
func ofLine(err error, at int) error {
	switch e := abi.AsError(err); e.Field {
	case "text":
		return abi.Field(place(at, ".content"), e.Code, "%s", e.Reason())
	case "from":
		return ofUser(err)
	}
	return err
}

// The id of a message that was said here is chat.WHO.KEY.HOUR: who says what to whom,
// the list in which it is new, and when that was. So a list that is sent twice at once is one
// message, also on two connections, and one that is sent again is found in the room.

// sentBy is what the ids begin with of all that somebody says to a model.
func (c *completion) sentBy(by speaker) string {
	sum := sha256.Sum256([]byte(strings.Join([]string{by.from, by.name, c.to.talk.Name(), c.to.companion}, "\x00")))
	return "chat." + hex.EncodeToString(sum[:6]) + "."
}

func (c *completion) id(by speaker, key string) string {
	hour := time.Now().Unix() / int64(sameAgain/time.Second)
	return c.sentBy(by) + key + "." + strconv.FormatInt(hour, 36)
}

// before is what somebody said here lately.
type before struct {
	lists map[string]uint64 // the seq, by the key of the list
	texts map[string]bool
}

// maxBack bounds how far back somebody's lines are looked for, in pages.
const maxBack = 10

// said looks up what somebody said to a model lately.
func (c *completion) said(ctx context.Context, by speaker) (was before, err error) {
	was = before{map[string]uint64{}, map[string]bool{}}
	prefix, since, upto := c.sentBy(by), time.Now().Add(-sameAgain), uint64(0)
	for range maxBack {
		page, err := c.to.talk.History(ctx, abi.HistoryAsk{Before: upto, Limit: abi.MaxHistory})
		if err != nil || len(page.Messages) == 0 {
			return was, err
		}
		for _, m := range page.Messages {
			rest, ok := strings.CutPrefix(m.ID, prefix)
			if !ok {
				continue
			}
			was.texts[m.Text] = true
			if key, _, _ := strings.Cut(rest, "."); !m.At.Before(since) {
				was.lists[key] = max(was.lists[key], m.Seq)
			}
		}
		first := page.Messages[0]
		if upto = first.Seq; first.At.Before(since) || len(page.Messages) < abi.MaxHistory {
			return was, nil
		}
	}
	return was, nil
}
