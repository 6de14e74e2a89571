package mcp

import (
	"cmp"
	"context"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/identity"
	"github.com/companiond/companiond/host/rooms"
)

// The tools that chat-relay lacks: an agent waits for its turn, votes as a companion
// of the house does (aikyo's State), and speaks with the grant it won.

// Bounds of wait_for_turn in seconds. Clients of MCP give up after 60 s.
const (
	usualWait   = 25.0
	longestWait = 55.0
)

type waitIn struct {
	From    string   `json:"from"`
	Room    string   `json:"room"`
	Basis   *uint64  `json:"basis_seq"`
	Timeout *float64 `json:"timeout_seconds"`
}

type voteIn struct {
	From       string      `json:"from"`
	Room       string      `json:"room"`
	About      uint64      `json:"about"`
	State      abi.State   `json:"state"`
	Importance float64     `json:"importance"`
	Selected   bool        `json:"selected"`
	Closing    abi.Closing `json:"closing"`
	Reason     string      `json:"reason"`
}

type voteOut struct {
	Counted bool   `json:"counted"`
	About   uint64 `json:"about"`
}

type sayIn struct {
	From    string          `json:"from"`
	Message *string         `json:"message"`
	Grant   string          `json:"grant"`
	Kind    abi.MessageKind `json:"kind"`
	To      []string        `json:"to"`
	Room    string          `json:"room"`
	Basis   uint64          `json:"basis_seq"`
}

type sayOut struct {
	Seq      uint64          `json:"seq"`
	ID       string          `json:"id"`
	Kind     abi.MessageKind `json:"kind"`
	Resource *float64        `json:"resource,omitempty"`
}

func (d *Door) addTurnTools() {
	from := prop{"from?", words("Your id. May be left out with a token, which has a name of its own.")}
	roomArg := prop{"room?", words("Which room; main when absent.")}
	message := shape(
		prop{"from", words("")}, prop{"message", words("")}, prop{"seq", integer("")},
		prop{"kind", choice("", "turn", "backchannel")}, prop{"to?", list("", words(""))}, prop{"at", words("")},
		prop{"cut?", choice(cutAbout, "cut", "stopped", "failed")},
	)
	tool[waitIn]{
		name: "wait_for_turn", title: "Wait For Turn", scope: identity.Talk, run: d.waitForTurn,
		about: "Waits until there is something for you to do, and says what: granted (you hold the floor: call say with the grant), " +
			"asked (a round waits for your vote: call vote), addressed or unseen (something was said that you have not seen), or timeout: then call it again.",
		in: shape(
			from, roomArg,
			prop{"basis_seq?", integer("The seq of the newest entry you have seen; absent: what this session was shown.")},
			prop{"timeout_seconds?", amount("How long to wait: 25 when absent.", 0, longestWait)},
		),
		out: shape(append(sounds(),
			prop{"reason", choice("", reasonGranted, reasonAsked, reasonAddressed, reasonUnseen, reasonTimeout)},
			prop{"room", words("")},
			prop{"head", integer("The basis_seq of what you say next.")},
			prop{"grant?", shape(prop{"token", words("")}, prop{"basis_seq", integer("")}, prop{"expires", words("")})},
			prop{"round?", shape(prop{"about", integer("The seq of the message.")}, prop{"due", words("Votes are counted then at the latest.")}, prop{"addressed", truth("You are meant.")})},
			prop{"messages", list("What you have not seen, oldest first.", message)},
			prop{"resource?", amount("What is left of the room's pool.", 0, 1<<31)},
			prop{"closing", choice("How far the talk has come to its end.", "none", "pre-closing", "closing", "terminal")},
			prop{"turns", integer("Turns taken since a person spoke.")},
			prop{"max_turns", integer("As many may be taken; 0: no cap.")},
		)...),
	}.add(d)
	tool[voteIn]{
		name: "vote", title: "Vote", scope: identity.Talk, changes: true, run: d.vote,
		about: "Says whether you want to speak next. The highest importance among those who were addressed, or else among all, gets the floor; wait_for_turn tells whether it is you.",
		in: shape(
			from, roomArg,
			prop{"about?", integer("The seq of the message your vote is about; absent: the newest.")},
			prop{"state", choice("", "speak", "listen")},
			prop{"importance?", amount("How much you want to speak: 0 would not mind, 10 must.", 0, 10)},
			prop{"selected?", truth("A hint that you were meant; the daemon finds out by itself.")},
			prop{"closing?", choice("Whether you wish to bring the talk to an end.", "none", "pre-closing", "closing", "terminal")},
			prop{"reason?", words("For people who ask why.")},
		),
		out: shape(prop{"counted", truth("")}, prop{"about", integer("")}),
	}.add(d)
	tool[sayIn]{
		name: "say", title: "Say", scope: identity.Talk, changes: true, run: d.say,
		about: "Says a turn with the grant you won, or a short backchannel (なるほど) beside who speaks, in a room with a pool.",
		in: shape(
			from, roomArg,
			prop{"message", words("What to say.")},
			prop{"grant?", words("The token of your grant.")},
			prop{"kind?", choice("turn when absent and a grant is given.", "turn", "backchannel")},
			prop{"to?", list("Ids of those you mean.", words(""))},
			prop{"basis_seq?", integer("The seq of the newest entry you have seen; absent: that of the grant, or what this session was shown.")},
		),
		out: shape(prop{"seq", integer("")}, prop{"id", words("")}, prop{"kind", choice("", "turn", "backchannel")}, prop{"resource?", amount("What is left of the room's pool.", 0, 1<<31)}),
	}.add(d)
}

func (d *Door) waitForTurn(ctx context.Context, c call, in waitIn) (any, error) {
	talk, who, kind, err := d.speaker(ctx, c, in.Room, in.From)
	if err != nil {
		return nil, err
	}
	limit := usualWait
	if in.Timeout != nil {
		limit = *in.Timeout
	}
	if !(limit >= 0 && limit <= longestWait) {
		return nil, abi.Errorf(abi.CodeInvalid, "timeout_seconds: %v is outside 0..%v", limit, longestWait)
	}
	attend := func() error { return nil }
	if kind == abi.KindAgent {
		// Where turns are paid for, nobody has to be asked.
		attend = func() error { return talk.Attend(ctx, who, !talk.Info().FreeTurns) }
	}
	if err := attend(); err != nil {
		return nil, err
	}
	at := c.in(talk)
	seen := d.readers.Seen(at)
	if in.Basis != nil {
		seen = *in.Basis
	}
	leave, err := d.enterWait()
	if err != nil {
		return nil, err
	}
	defer leave()
	n, info, err := wait(ctx, d.cfg.Stopping, time.Duration(limit*float64(time.Second)), talk, who, seen)
	if err == nil && !isHere(info, who) {
		// A human may have its name by now, whose words are not its own: it is told so
		// and has seen nothing.
		err = attend()
	}
	if err != nil {
		return nil, err
	}
	n.Reason = cmp.Or(n.Reason, reasonTimeout)
	n.Head = max(n.Head, seen)
	d.readers.Read(at, n.Head)
	return n, nil
}

// speaker finds the room of a call and the name under which it speaks.
func (d *Door) speaker(ctx context.Context, c call, roomName, from string) (talk rooms.Room, who string, kind abi.ParticipantKind, err error) {
	if talk, err = d.room(ctx, roomName); err != nil {
		return nil, "", "", err
	}
	if who, kind, err = c.caller.From(from, abi.KindAgent); err != nil {
		return nil, "", "", err
	}
	return talk, who, kind, abi.CheckName("from", who)
}

func (d *Door) vote(ctx context.Context, c call, in voteIn) (any, error) {
	talk, who, kind, err := d.speaker(ctx, c, in.Room, in.From)
	if err != nil {
		return nil, err
	}
	if kind != abi.KindAgent {
		return nil, abi.Errorf(abi.CodeDenied, "from: people need no vote, they may speak whenever they like")
	}
	if err := talk.Attend(ctx, who, true); err != nil {
		return nil, err
	}
	if in.About == 0 {
		in.About = newestTurn(talk.Info())
	}
	v := abi.Vote{State: in.State, Importance: in.Importance, Selected: in.Selected, Closing: in.Closing, Reason: in.Reason}
	if err := talk.Vote(ctx, who, in.About, v); err != nil {
		return nil, err
	}
	return voteOut{Counted: true, About: in.About}, nil
}

func (d *Door) say(ctx context.Context, c call, in sayIn) (any, error) {
	talk, who, kind, err := d.speaker(ctx, c, in.Room, in.From)
	if err != nil {
		return nil, err
	}
	if in.Message == nil {
		return nil, abi.Errorf(abi.CodeInvalid, "message: is missing")
	}
	at := c.in(talk)
	u := rooms.Utterance{From: who, By: kind, To: in.To, Text: *in.Message, Kind: in.Kind, Grant: in.Grant, Basis: in.Basis}
	if info := talk.Info(); u.Basis == 0 && in.Grant != "" && info.Grant != nil && info.Grant.Token == in.Grant {
		u.Basis = info.Grant.Basis
	}
	if u.Basis == 0 {
		u.Basis = d.readers.Basis(at)
	}
	if in.Grant != "" && u.Kind == "" {
		u.Kind = abi.KindTurn
	}
	m, pool, err := talk.Consume(ctx, u)
	d.readers.Tried(at, u, m, err)
	if err != nil {
		return nil, err
	}
	out := sayOut{Seq: m.Seq, ID: m.ID, Kind: m.Kind}
	if pool.Size > 0 {
		out.Resource = &pool.Level
	}
	return out, nil
}
