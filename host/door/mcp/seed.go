package mcp

import (
	"context"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/identity"
	"github.com/companiond/companiond/host/rooms"
)

// The tools of chat-relay: its names, its arguments and the shapes of its answers.
// What is added are arguments that may be left out; an answer has more in it
// only when such an argument asks for it.

type consumeIn struct {
	Amount  *float64 `json:"amount"`
	Message *string  `json:"message"`
	From    *string  `json:"from"`
	Room    string   `json:"room"`
	Basis   uint64   `json:"basis_seq"`
}

type consumeOut struct {
	Success  bool    `json:"success"`
	Resource float64 `json:"resource"`
	Message  string  `json:"message"`
}

type statusIn struct {
	Room string `json:"room"`
}

// statusOut is chat-relay's, whose agents refuse an answer with more in it. How far the
// talk is wait_for_turn tells.
type statusOut struct {
	Resource float64 `json:"resource"`
}

// sound is what a talk waits for.
type sound struct {
	Heard   string `json:"heard,omitempty"`   // whose line is heard now
	Waiting string `json:"waiting,omitempty"` // why nobody answers yet
}

// sounds are the properties of a sound.
func sounds() []prop {
	return []prop{
		{"heard?", words("Whose line a body says now; nobody else begins before it has ended.")},
		{"waiting?", words("Why nobody answers yet.")},
	}
}

type historyIn struct {
	Room  string  `json:"room"`
	Since *uint64 `json:"since"`
	Limit int     `json:"limit"`
}

// heard is one message of chat-relay's history; the fields from Seq on are there
// only when since was given.
type heard struct {
	From    string          `json:"from"`
	Message string          `json:"message"`
	Seq     uint64          `json:"seq,omitempty"`
	Kind    abi.MessageKind `json:"kind,omitempty"`
	To      []string        `json:"to,omitempty"`
	At      *time.Time      `json:"at,omitempty"`
	Cut     string          `json:"cut,omitempty"` // people heard no more of it than message has

	addressed []string
}

// cutAbout says what the mark of a message means.
const cutAbout = "People heard no more of it than this: somebody spoke over it, it was stopped, or it broke off."

// shown gives a message with all that is added to chat-relay's.
func shown(m abi.Message) heard {
	return heard{m.From, m.Text, m.Seq, m.Kind, m.To, &m.At, m.Cut, m.Addressed}
}

type historyOut struct {
	History []heard `json:"history"`
	Head    *uint64 `json:"head,omitempty"`
}

func (d *Door) addSeedTools() {
	roomArg := prop{"room?", words("どの部屋か。省略すると main。 Which room; main when absent.")}
	tool[consumeIn]{
		name: "consume", title: "Consume Resource", scope: identity.Talk, changes: true, run: d.consume, quick: true,
		about: "指定量のリソースを消費して発言します(残量以下なら成功)。 Says message for amount points of the room's resource; an amount above what is left is refused.",
		in: shape(
			prop{"amount", amount("消費する量。短い相槌5、通常60、長め80。 Points to spend.", 0, 100)},
			prop{"message", words("発言。 What to say.")},
			prop{"from", words("発言者のid。 Who says it.")},
			roomArg,
			prop{"basis_seq?", integer("The seq of the newest entry you have seen; a turn is refused when somebody spoke since. Known by itself when you called history in the same session.")},
		),
		out: shape(
			prop{"success", truth("")},
			prop{"resource", amount("残量。 What is left.", 0, 1<<31)},
			prop{"message", words("")},
		),
	}.add(d)
	tool[statusIn]{
		name: "status", title: "Check Resource Status", scope: identity.Read, run: d.status, quick: true,
		about: "現在のリソース残量を返します。 Gives what is left of the room's resource.",
		in:    shape(roomArg),
		out:   shape(prop{"resource", amount("残量。 What is left.", 0, 1<<31)}),
	}.add(d)
	tool[historyIn]{
		name: "history", title: "Check History", scope: identity.Read, run: d.history, quick: true,
		about: "現在の会話履歴(新しい方から最大100件、古い順)を返します。 Gives the newest messages, at most 100, oldest first.",
		in: shape(
			roomArg,
			prop{"since?", integer("Only messages with a greater seq; 0 gives all there are. The answer then has seq, kind and at of each message, and head, the basis_seq of what you say next.")},
			prop{"limit?", integer("At most so many, 1 to 100.")},
		),
		out: shape(
			prop{"history", list("", shape(
				prop{"from", words("")}, prop{"message", words("")}, prop{"seq?", integer("")},
				prop{"kind?", choice("", "turn", "backchannel")}, prop{"to?", list("", words(""))}, prop{"at?", words("")},
				prop{"cut?", choice(cutAbout, "cut", "stopped", "failed")},
			))},
			prop{"head?", integer("The seq of the room's newest entry.")},
		),
	}.add(d)
}

// check finds the first argument that is missing or wrong.
func (in consumeIn) check() error {
	switch {
	case in.Amount == nil:
		return abi.Errorf(abi.CodeInvalid, "amount: is missing")
	case in.Message == nil:
		return abi.Errorf(abi.CodeInvalid, "message: is missing")
	case in.From == nil:
		return abi.Errorf(abi.CodeInvalid, "from: is missing")
	case !(*in.Amount >= 0 && *in.Amount <= 100):
		return abi.Errorf(abi.CodeInvalid, "amount: %v is outside 0..100", *in.Amount)
	}
	return nil
}

// consume says something for points. An agent's line waits for what the room wants:
// see rooms.Room.Offer.
func (d *Door) consume(ctx context.Context, c call, in consumeIn) (any, error) {
	if err := in.check(); err != nil {
		return nil, err
	}
	talk, err := d.room(ctx, in.Room)
	if err != nil {
		return nil, err
	}
	who, kind, err := c.caller.From(*in.From, abi.KindAgent)
	if err != nil { // a name that is refused is so in chat-relay's words, whoever refuses it
		pool, _ := talk.Budget()
		return consumed(pool, err)
	}
	at := c.in(talk)
	u := rooms.Utterance{From: who, By: kind, Text: *in.Message, Basis: in.Basis, Offer: in.Amount}
	if u.Basis == 0 {
		u.Basis = d.readers.Basis(at)
	}
	say := talk.Consume
	if kind != abi.KindHuman {
		say = func(ctx context.Context, u rooms.Utterance) (abi.Message, abi.Budget, error) {
			return talk.Offer(ctx, u, *u.Offer/amountOfOne)
		}
	}
	m, pool, err := say(ctx, u)
	d.readers.Tried(at, u, m, err)
	return consumed(pool, err)
}

// amountOfOne is the amount that stands for an importance of 1, where a line is voted
// on instead of paid for.
const amountOfOne = 10

// consumed answers as chat-relay does: a refusal is an answer with success false,
// a fault of the house is an error.
func consumed(pool abi.Budget, err error) (any, error) {
	out := consumeOut{Success: err == nil, Resource: pool.Level, Message: "Resource consumed."}
	if pool.Size == 0 {
		out.Resource = full
	}
	if err == nil {
		return out, nil
	}
	e := abi.AsError(err)
	if e.Code == abi.CodeExhausted && e.Field == "" { // of the pool; a field says what else there is too much of
		out.Message = "Not enough resource."
		return out, nil
	}
	switch e.Code {
	case abi.CodeStale:
		out.Message = "Stale: " + e.Message + ". Read history again."
	case abi.CodeInvalid, abi.CodeDenied, abi.CodeConflict, abi.CodeTooLarge, abi.CodeTimeout, abi.CodeExhausted:
		out.Message = e.Message
	default:
		return nil, err
	}
	return out, nil
}

// full is what a room without a pool has left, in which nothing is spent.
const full = 100

// status gives the pool; a room without one says that it is full, since nothing
// is spent there.
func (d *Door) status(ctx context.Context, c call, in statusIn) (any, error) {
	talk, err := d.room(ctx, in.Room)
	if err != nil {
		return nil, err
	}
	info := talk.Info()
	if info.Error != "" {
		return nil, abi.Errorf(abi.CodeUnavailable, "%s", info.Error)
	}
	out := statusOut{Resource: full}
	if info.Pool != nil {
		d.readers.Told(c.in(talk), *info.Pool)
		out.Resource = info.Pool.Level
	}
	return out, nil
}

func (d *Door) history(ctx context.Context, c call, in historyIn) (any, error) {
	talk, err := d.room(ctx, in.Room)
	if err != nil {
		return nil, err
	}
	if in.Limit < 0 || in.Limit > abi.MaxHistory {
		return nil, abi.Errorf(abi.CodeInvalid, "limit: %d is outside 1..%d", in.Limit, abi.MaxHistory)
	}
	if in.Limit == 0 {
		in.Limit = abi.MaxHistory
	}
	past, err := talk.History(ctx, abi.HistoryAsk{Limit: in.Limit})
	if err != nil {
		return nil, err
	}
	d.readers.Read(c.in(talk), past.Head)
	out := historyOut{History: []heard{}}
	if in.Since != nil {
		out.Head = &past.Head
	}
	for _, m := range past.Messages {
		switch {
		case in.Since == nil:
			out.History = append(out.History, heard{From: m.From, Message: m.Text, Cut: m.Cut})
		case m.Seq > *in.Since:
			out.History = append(out.History, shown(m))
		}
	}
	return out, nil
}
