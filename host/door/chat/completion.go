package chat

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/door/answer"
	"github.com/companiond/companiond/host/door/guard"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/speech"
)

// completion is one answer to a client.
type completion struct {
	door          *door
	to            target
	stream, usage bool
	text          string // of an errand
	outcome       outcome
}

// outcome is what came of a request, for clients that know this house. The text of an
// answer that there is none of is empty: words of the daemon's would be taken for the
// character's.
type outcome struct {
	Room   string      `json:"room"`
	Said   uint64      `json:"said,omitempty"`  // seq of the message that is answered
	Again  bool        `json:"again,omitempty"` // it was said before, by a list like this
	From   string      `json:"from,omitempty"`  // who answers
	Seq    uint64      `json:"seq,omitempty"`   // of the line
	Cut    entry.End   `json:"cut,omitempty"`   // how it ended, where it breaks off
	None   answer.None `json:"none,omitempty"`  // why there is no line
	Notice string      `json:"notice,omitempty"`
}

// The reasons of this door's own.
const (
	nothing  answer.None = "nothing"  // the list has nothing new
	errand   answer.None = "errand"   // the front end asked for itself
	stopping answer.None = "stopping" // the daemon is
)

// notices say the reasons in words.
var notices = map[answer.None]string{
	answer.Silent:  "nobody wants to say anything to that",
	answer.Absent:  "nobody is there who could answer",
	answer.Closed:  "the talk has ended",
	answer.Capped:  "the characters have spoken as often as they may; say something",
	answer.Stopped: "somebody said STOP; the room rests until a person speaks",
	answer.Gone:    "the character has left",
	answer.Waits:   "the room waits, and may answer later; send the same list again to get that",
	answer.Late:    "no answer came in time; send the same list again to get one that comes later",
	nothing:        "there is nothing new in the list, so nothing was said",
	errand:         "this looks like a request of the front end's own, so nothing was said",
	stopping:       "the daemon is stopping",
}

// hear waits for the answer; piece is told its parts.
func (c *completion) hear(ctx context.Context, piece func(string) error) error {
	if c.outcome.Said == 0 {
		c.outcome.Notice = notices[c.outcome.None]
		if c.text == "" {
			return nil
		}
		return piece(c.text)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(c.door.cfg.Stopping, cancel)()
	lack, first := c.lacks(), patience
	if lack != "" {
		first = moment
	}
	late := time.AfterFunc(first, cancel)
	defer late.Stop()
	begun := false
	a, err := answer.Listen(ctx, c.to.talk, answer.Ask{Who: c.to.companion, Seq: c.outcome.Said, Patient: true, Piece: func(text string) error {
		if !begun && late.Stop() { // what is late already stays late
			begun = true
			late.Reset(longest)
		}
		return piece(text)
	}})
	why := cmp.Or(lack, c.to.talk.Info().Waiting)
	switch {
	case a.None != answer.Late && a.None != answer.Waits:
		why = ""
	case c.door.cfg.Stopping.Err() != nil:
		a.None, why = stopping, ""
	case why != "":
		a.None, why = answer.Waits, "the room waits: "+why
	}
	o := &c.outcome
	o.From, o.Seq, o.Cut, o.None, o.Notice = a.From, a.Seq, a.Cut, a.None, cmp.Or(why, notices[a.None])
	return err
}

// lacks says why nobody is there who could answer, "" where somebody may be. Agents that pay
// for their turns may be, whether they are known or not.
func (c *completion) lacks() (why string) {
	waits := map[string]string{}
	for _, one := range c.door.cfg.Companions() {
		waits[one.ID] = one.Waits
	}
	if w := waits[c.to.companion]; w != "" {
		return c.to.companion + " " + w
	}
	i := c.to.talk.Info()
	if c.to.companion != "" || i.FreeTurns || i.Loading {
		return ""
	}
	why = i.Waiting
	for _, m := range i.Members {
		switch {
		case m.Kind == abi.KindHuman:
		case waits[m.ID] == "":
			return ""
		default:
			why = m.ID + " " + waits[m.ID]
		}
	}
	return why
}

// The shapes of OpenAI's answers.
type (
	response struct {
		ID      string   `json:"id"`
		Object  string   `json:"object"`
		Created int64    `json:"created"`
		Model   string   `json:"model"`
		Choices []choice `json:"choices"`
		Usage   any      `json:"usage,omitempty"`
		Outcome *outcome `json:"x_companiond,omitempty"`
	}
	choice struct {
		Index        int      `json:"index"`
		Message      *message `json:"message,omitempty"`
		Delta        *message `json:"delta,omitempty"`
		Logprobs     any      `json:"logprobs"`
		FinishReason *string  `json:"finish_reason"`
	}
	message struct {
		Role    string  `json:"role,omitempty"`
		Content *string `json:"content,omitempty"`
	}
	// usage has zeros: what a line cost, which its character's model was asked for and by
	// whom, is in the room's entries.
	usage struct {
		Prompt     int `json:"prompt_tokens"`
		Completion int `json:"completion_tokens"`
		Total      int `json:"total_tokens"`
	}
)

// begin is what all parts of an answer have.
func (c *completion) begin(object string) response {
	return response{ID: fmt.Sprintf("chatcmpl-%s-%d", c.outcome.Room, c.outcome.Said), Object: object, Created: time.Now().Unix(), Model: c.to.model.ID, Choices: []choice{}}
}

// answer waits for the whole answer and gives it.
func (c *completion) answer(ctx context.Context, w http.ResponseWriter) error {
	text := ""
	if err := c.hear(ctx, func(piece string) error { text += piece; return nil }); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return nil // the client is gone
	}
	out, stop := c.begin("chat.completion"), "stop"
	out.Choices = append(out.Choices, choice{Message: &message{Role: "assistant", Content: &text}, FinishReason: &stop})
	out.Usage, out.Outcome = usage{}, &c.outcome
	return writeBody(w, out)
}

// send streams the answer: a sentence in each chunk.
func (c *completion) send(ctx context.Context, w http.ResponseWriter) {
	h := w.Header()
	h.Set("Content-Type", "text/event-stream; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no") // of nginx, which would keep the words back
	s := &stream{w: w, control: http.NewResponseController(w)}
	first := c.begin("chat.completion.chunk")
	if c.usage {
		first.Usage = json.RawMessage("null")
	}
	chunk := func(delta message, end *string) error {
		next := first
		next.Choices = []choice{{Delta: &delta, FinishReason: end}}
		if end != nil {
			next.Outcome = &c.outcome
		}
		return s.event(next)
	}
	none := ""
	if chunk(message{Role: "assistant", Content: &none}, nil) != nil {
		return
	}
	err := c.follow(ctx, s, func(text string) error { return chunk(message{Content: &text}, nil) })
	if err != nil {
		guard.Note(w, err)
		f, _ := faultOf(err)
		_ = s.event(map[string]fault{"error": f})
	} else {
		stop := "stop"
		_ = chunk(message{}, &stop)
		if c.usage {
			last := first
			last.Usage = usage{}
			_ = s.event(last)
		}
	}
	_ = s.write("data: [DONE]\n\n") // the client is gone: nothing to do
	_ = s.control.SetWriteDeadline(time.Time{})
}

// follow hands on what is heard, and shows that the stream is there while nothing is.
// The room is read beside the client, so that a slow one holds nobody up.
func (c *completion) follow(ctx context.Context, s *stream, say func(text string) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	pieces, over := make(chan string), make(chan error, 1)
	go func() {
		over <- c.hearBeside(ctx, func(text string) error {
			select {
			case pieces <- text:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
	}()
	quiet := time.NewTicker(alive)
	defer quiet.Stop()
	for {
		var err error
		select {
		case text := <-pieces:
			at := 0
			for _, end := range speech.Sentences(text) {
				if err = say(text[at:end]); err != nil {
					break
				}
				at = end
			}
		case <-quiet.C:
			err = s.write(": still here\n\n")
		case err := <-over:
			return err
		}
		if err != nil { // the client is gone
			cancel()
			<-over
			return nil
		}
	}
}

// hearBeside is hear in a goroutine of its own, where nobody else catches a panic.
func (c *completion) hearBeside(ctx context.Context, piece func(string) error) (err error) {
	defer guard.Catch(&err)
	return c.hear(ctx, piece)
}

// stream writes events.
type stream struct {
	w       http.ResponseWriter
	control *http.ResponseController
}

func (s *stream) event(v any) error {
	body, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return s.write("data: " + string(body) + "\n\n")
}

// write sends what a client must read within a while.
func (s *stream) write(text string) error {
	_ = s.control.SetWriteDeadline(time.Now().Add(slowest)) // a test's recorder has none, and cannot be slow
	if _, err := s.w.Write([]byte(text)); err != nil {
		return err
	}
	return s.control.Flush()
}
