package prompt

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/model"
	"github.com/companiond/companiond/host/module/prompt/spoken"
)

// A draft is a line that is written behind its vote, in the same answer of the model: the
// vote is told as soon as it stands, and the line is there when the floor is. One that
// nobody wants is ended by [Module.Withdraw], so that a model writes for those alone who
// get to speak.

const (
	// maxVote is how many bytes of an answer may go by before its first line ends.
	maxVote = 200
	// maxUnfit is how many answers in a row may have no vote at their beginning; then the
	// model is asked for votes and lines one by one, until the card is loaded again.
	maxUnfit = 3
)

// errNoVote says that an answer does not begin with a vote.
var errNoVote = errors.New("the model's answer does not begin with a vote")

// errUnwanted ends a draft.
var errUnwanted = errors.New("the line is not wanted")

// about is what a line answers. A draft is of use for a scene that is about the same.
type about struct {
	subject, newest uint64 // seq of what is to be answered, and of the newest turn
	heard           string // of the newest turn, which may be cut off meanwhile
	turns           int
	closing         abi.Closing
}

func aboutOf(s abi.Scene) about {
	a := about{subject: s.Message.Seq, turns: s.Turns, closing: s.Closing}
	for _, m := range s.Recent {
		if m.Kind != abi.KindBackchannel {
			a.newest, a.heard = m.Seq, m.Text
		}
	}
	return a
}

// draft is an answer that streams in beside the calls of the character.
type draft struct {
	about about
	most  int // characters that it was told to keep to; -1: as many as it likes
	end   context.CancelCauseFunc
	voted chan struct{} // closed when vote and novote stand

	vote   abi.Vote
	novote error // why there is none

	mu     sync.Mutex
	more   chan struct{} // closed and made anew with each change of what follows
	head   strings.Builder
	line   strings.Builder // behind the vote
	over   bool
	answer model.Answer // when it is over
	err    error
}

// mayDraft says whether the model of a character is to write one more line behind a vote.
// free is to be called when it has. Of a model's places one is left to whoever has to be asked
// otherwise, or a round would wait for lines that wait for the round.
func (c *call) mayDraft() (free func(), ok bool) {
	model, most := c.m.engine.cfg.Models.VotesWithLine(c.m.card.Model)
	e := c.m.engine
	e.mu.Lock()
	defer e.mu.Unlock()
	if most == 0 || c.m.unfit.Load() >= maxUnfit || e.drafts[model] >= most {
		return nil, false
	}
	e.drafts[model]++
	return func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.drafts[model]--
	}, true
}

// voteAndLine asks the model for a vote with the line behind it, and gives the vote as
// soon as it stands. The line goes on beside; free is called when it is written.
func (c *call) voteAndLine(ctx context.Context, s abi.Scene, free func()) (abi.Vote, error) {
	if past, err := c.history(ctx, abi.HistoryAsk{Limit: abi.RecentInAsk}); err == nil {
		s.Recent = past.Messages
	}
	ask, err := c.put(ctx, c.lineOf(s, c.inputs(s), true))
	if err != nil {
		free()
		return abi.Vote{}, err
	}
	d := &draft{about: aboutOf(s), most: -1, voted: make(chan struct{}), more: make(chan struct{})}
	if s.Budget != nil {
		d.most = s.Budget.Chars
	}
	// It outlives the vote's call, but not the module, nor a vote that is given up.
	during, release, err := c.m.calls.Begin(context.WithoutCancel(ctx))
	if err != nil {
		free()
		return abi.Vote{}, err
	}
	during, d.end = context.WithCancelCause(during)
	unhook := context.AfterFunc(ctx, func() { d.end(context.Cause(ctx)) })
	c.m.keepDraft(c.caller.Room, d)
	go func() {
		defer release()
		defer free()
		a, err := c.generate(during, ask, d.take)
		if context.Cause(during) == errUnwanted {
			err = errUnwanted
		}
		d.close(a, err)
	}()
	<-d.voted
	if unhook(); d.novote != nil || d.vote.State == abi.Listen { // then no line comes
		c.m.Withdraw(c.caller.Room)
	}
	return d.vote, d.novote
}

// take hears the answer. Its error ends it: of a vote to listen no line is wanted.
func (d *draft) take(delta string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.standing() {
		d.add(delta)
		return nil
	}
	d.head.WriteString(delta)
	head := strings.TrimLeft(d.head.String(), spoken.Marks)
	switch {
	case strings.Contains(head, "\n"):
		return d.cast(head)
	case d.head.Len() > maxVote:
		return d.cast("")
	}
	return nil
}

// cast reads the vote at the beginning of an answer: "speak 7 none", or "listen". What
// stands behind it is the line. No vote is told of text without one.
func (d *draft) cast(head string) error {
	defer close(d.voted)
	m := spoken.Vote(head)
	if m == nil {
		d.novote = errNoVote
		return errUnwanted
	}
	importance, _ := strconv.ParseFloat(m[2], 64) // "" is 0
	d.vote = abi.Vote{State: abi.State(strings.ToLower(m[1])), Importance: importance, Closing: abi.Closing(strings.ToLower(m[3]))}
	if err := d.vote.Check(); err != nil || d.vote.State == abi.Speak && m[2] == "" {
		d.novote = errNoVote
		return errUnwanted
	}
	if d.vote.State == abi.Listen {
		return errUnwanted
	}
	d.add(head[len(m[0]):])
	return nil
}

func (d *draft) standing() bool {
	select {
	case <-d.voted:
		return true
	default:
		return false
	}
}

// add takes what stands behind the vote. Blanks before the line are none of it, nor are
// the marks of code, in which some models put what has a form.
func (d *draft) add(text string) {
	if d.line.Len() == 0 {
		text = strings.TrimLeft(text, "` \t\r\n")
	}
	if text == "" {
		return
	}
	d.line.WriteString(text)
	d.changed()
}

func (d *draft) changed() {
	close(d.more)
	d.more = make(chan struct{})
}

// close notes how the answer ended.
func (d *draft) close(a model.Answer, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.standing():
	case err == nil && strings.Trim(d.head.String(), spoken.Marks) == "" && slices.ContainsFunc(a.Calls, spoken.Says):
		// Some models write nothing beside a tool that they call. They want to speak.
		d.vote = abi.Vote{State: abi.Speak, Importance: judgementImportance}
		close(d.voted)
	case err == nil:
		_ = d.cast(strings.TrimLeft(d.head.String(), spoken.Marks)) // it has ended
	default:
		d.novote = err
		close(d.voted)
	}
	a.Text = d.line.String()
	d.answer, d.err, d.over = a, err, true
	d.changed()
}

// follow gives the line to onText as it comes, and then the whole answer, as
// [Models.Generate] does. used says that onText was given something.
func (d *draft) follow(ctx context.Context, onText func(string) error) (_ model.Answer, used bool, err error) {
	given := 0
	for {
		d.mu.Lock()
		text, more, over, a, err := d.line.String()[given:], d.more, d.over, d.answer, d.err
		d.mu.Unlock()
		if given += len(text); text != "" {
			if err := onText(text); err != nil {
				d.end(errUnwanted)
				return model.Answer{}, true, err
			}
		}
		if over {
			return a, given > 0, err
		}
		select {
		case <-more:
		case <-ctx.Done():
			d.end(errUnwanted)
			return model.Answer{}, given > 0, ctx.Err()
		}
	}
}

// keepDraft has a draft wait for the floor. The one before it in that room is ended.
func (m *Module) keepDraft(room string, d *draft) {
	m.mu.Lock()
	before := m.drafts[room]
	m.drafts[room] = d
	m.mu.Unlock()
	if before != nil {
		before.end(errUnwanted)
	}
}

// Withdraw ends the line that waits for the floor of a room, and says whether there was
// one.
func (m *Module) Withdraw(room string) bool {
	d := m.takeDraft(room)
	if d != nil {
		d.end(errUnwanted)
	}
	return d != nil
}

func (m *Module) takeDraft(room string) *draft {
	m.mu.Lock()
	defer m.mu.Unlock()
	d := m.drafts[room]
	delete(m.drafts, room)
	return d
}

// drafted gives the line that was begun with the vote, nil where there is none for this
// scene.
func (m *Module) drafted(room string, s abi.Scene) *draft {
	d := m.takeDraft(room)
	if d == nil {
		return nil
	}
	fits := s.Budget == nil || s.Budget.Chars < 0 || d.most >= 0 && d.most <= s.Budget.Chars
	if !fits || s.Retry || d.about != aboutOf(s) {
		d.end(errUnwanted)
		return nil
	}
	return d
}
