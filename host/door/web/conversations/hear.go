package conversations

import (
	"context"
	"net/http"
	"reflect"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/conversation"
	"github.com/companiond/companiond/host/conversations"
	"github.com/companiond/companiond/host/door/guard"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/rooms"
)

// hearing is one who waits for the answer to a message.
type hearing struct {
	talk rooms.Room
	who  string // waits
	said abi.Message
	view conversations.View // how it stands, as far as that was handed on
	seen uint64             // seq of the newest message that was handed on

	answered bool // by a member
}

// hears is told what is heard, until it answers an error.
type hears struct {
	message func(abi.Message) error
	segment func(entry.Segment) error
	moved   func(entry.Lifecycle) error
	quiet   func() error // nothing was heard for a while
}

// hear waits until a member answers, or the conversation is over, or ctx ends. The room is
// read beside the client, so that a slow one holds nobody up.
func (h *hearing) hear(ctx context.Context, f hears) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	entries, over := beside(ctx, func(give func([]entry.Entry) error) error {
		return h.talk.Follow(ctx, h.said.Seq, give)
	})
	quiet := time.NewTicker(alive)
	defer quiet.Stop()
	for {
		var err error
		select {
		case all := <-entries:
			err = h.take(all, f)
		case <-quiet.C:
			err = f.quiet()
		case err := <-over:
			return err
		}
		if err != nil || h.answered || !h.view.Open() {
			cancel()
			<-over
			return err
		}
	}
}

// beside follows something in a goroutine of its own, where nobody else catches a panic. What
// is over tells why, nil where ctx has ended.
func beside[T any](ctx context.Context, follow func(give func(T) error) error) (got <-chan T, over <-chan error) {
	all, end := make(chan T), make(chan error, 1)
	run := func() (err error) {
		defer guard.Catch(&err)
		return follow(func(v T) error {
			select {
			case all <- v:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
	}
	go func() {
		err := run()
		if ctx.Err() != nil {
			err = nil
		}
		end <- err
	}()
	return all, end
}

// take hands on what entries tell.
func (h *hearing) take(all []entry.Entry, f hears) error {
	for _, e := range all {
		if err := h.one(e, f); err != nil {
			return err
		}
	}
	return nil
}

func (h *hearing) one(e entry.Entry, f hears) error {
	switch e.Kind {
	case entry.KindSaid:
		m, ok := e.Message()
		if !ok || m.Seq <= h.seen {
			return nil
		}
		h.seen = m.Seq
		h.answered = h.answered || m.From != h.who && h.view.Member(m.From) != nil
		return f.message(m)
	case entry.KindSegment:
		if s, err := entry.Decode[entry.Segment](e); err == nil {
			return f.segment(s)
		}
	case entry.KindLifecycle:
		b, err := entry.Decode[entry.Lifecycle](e)
		if err != nil {
			return nil
		}
		h.view.State = conversation.State(b.To)
		if b.Reason != "" {
			h.view.Ending = &conversation.Ending{By: b.EndedBy, Reason: conversation.Reason(b.Reason)}
		}
		return f.moved(b)
	}
	return nil
}

// chatAnswerOut is what POST /v1/chat answers.
type chatAnswerOut struct {
	ID       string               `json:"conversation_id" doc:"Which."`
	Status   conversation.State   `json:"status" doc:"How it stands now." example:"active"`
	Ending   *conversation.Ending `json:"ending,omitempty" doc:"How it ended, once it is over."`
	Message  string               `json:"message_id" doc:"Of what was said."`
	Seq      uint64               `json:"seq" doc:"Its place in the conversation."`
	Answered bool                 `json:"answered" doc:"The agent has answered; else the answer may yet come."`
	Messages []abi.Message        `json:"messages" doc:"What was said since, oldest first."`
	Next     string               `json:"next,omitempty" doc:"Where the answer is to be found once it has come, when it has not: GET this."`
}

func answerSchema(api huma.API) *huma.Schema {
	return api.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[chatAnswerOut](), true, "")
}

func (h *hearing) outcome(messages []abi.Message) chatAnswerOut {
	out := chatAnswerOut{ID: h.view.ID, Status: h.view.State, Ending: h.view.Ending, Message: h.said.ID, Seq: h.said.Seq, Answered: h.answered, Messages: messages}
	if !h.answered && h.view.Open() {
		out.Next = next(h.view.ID, h.seen)
	}
	return out
}

// answer gives the whole answer.
func (h *hearing) answer(ctx context.Context, out huma.Context) {
	messages := []abi.Message{}
	err := h.hear(ctx, hears{
		message: func(m abi.Message) error { messages = append(messages, m); return nil },
		segment: func(entry.Segment) error { return nil },
		moved:   func(entry.Lifecycle) error { return nil },
		quiet:   func() error { return nil },
	})
	w := writer(out)
	switch o := h.outcome(messages); {
	case err != nil:
		guard.Note(w, err)
		d := details(err)
		writeJSON(w, d.Status, "application/problem+json", d)
	case o.Next != "":
		writeJSON(w, http.StatusAccepted, "application/json", o)
	default:
		writeJSON(w, http.StatusOK, "application/json", o)
	}
}

// stream gives the answer as it comes.
func (h *hearing) stream(ctx context.Context, out huma.Context) {
	s := begin(out)
	defer s.end()
	if s.event("said", h.said.Seq, said{h.view.ID, h.view.State, h.said.ID, h.said.Seq}) != nil {
		return
	}
	err := h.hear(ctx, hears{
		message: func(m abi.Message) error { return s.event("message", m.Seq, m) },
		segment: func(g entry.Segment) error { return s.event("segment", 0, piece{g.Who, g.N, g.Text}) },
		moved:   func(b entry.Lifecycle) error { return s.event("conversation", 0, moved{h.view.ID, b}) },
		quiet:   s.quiet,
	})
	if s.gone {
		return
	}
	if err != nil {
		s.fail(err)
		return
	}
	_ = s.event("done", 0, h.outcome([]abi.Message{})) // the client is gone: nothing to do
}

// The events of a stream that have no shape elsewhere.
type (
	said struct {
		ID      string             `json:"conversation_id"`
		Status  conversation.State `json:"status"`
		Message string             `json:"message_id"`
		Seq     uint64             `json:"seq"`
	}
	moved struct {
		ID string `json:"conversation_id"`
		entry.Lifecycle
	}
	piece struct {
		From string `json:"from"`
		N    int    `json:"n"`
		Text string `json:"text"`
	}
)
