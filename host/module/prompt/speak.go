package prompt

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/card"
	"github.com/companiond/companiond/host/context/layout"
	"github.com/companiond/companiond/host/context/quote"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/limits"
	"github.com/companiond/companiond/host/model"
	"github.com/companiond/companiond/host/module/prompt/spoken"
)

// maxModelTurns bounds how often the model is asked for one answer: it plays
// actions, hears what became of them, and goes on.
const maxModelTurns = 4

// speak makes a line and shows it sentence by sentence.
func (c *call) speak(ctx context.Context, s abi.Scene) (abi.Line, error) {
	triggers := c.inputs(s)
	c.draft = c.m.drafted(c.caller.Room, s)
	out := spoken.New(c.m.names(), others(s.Members, c.m.id), func(text, emotion string) error {
		_, err := host[struct{}](ctx, c, abi.HostSay, abi.SayAsk{Text: text, Emotion: emotion})
		return err
	})
	_, most := c.m.engine.cfg.Models.VotesWithLine(c.m.card.Model)
	if most > 0 {
		out.MayVote()
	}
	if s.Budget != nil {
		out.InOnePiece(s.Budget.Chars)
	}
	ask, err := c.put(ctx, c.lineOf(s, triggers, false))
	if err != nil {
		return abi.Line{}, err
	}
	var how json.RawMessage // it is said
	played, err := c.converse(ctx, ask, out.Take, out.Written, func(name string, args json.RawMessage) (string, error) {
		if name == card.Speak {
			beside := c.m.expressive && card.Beside(args) != nil
			if beside {
				how = args
			}
			return "ok", out.Speak(card.Message(args), beside)
		}
		return c.play(ctx, name, args, triggers)
	})
	c.m.keepActs(c.caller.Room, played)
	if err == nil || errors.Is(err, spoken.ErrOver) {
		err = out.End()
	}
	if out.Lost() != nil { // the floor is gone: the model's words are nobody's business now
		return abi.Line{}, out.Lost()
	}
	if err != nil && out.BreaksOff() { // what was shown stands, and people are told that more was to come
		return abi.Line{}, err
	}
	line := abi.Line{Text: out.Said(), Emotion: out.Emotion()}
	switch {
	case line.Text != "":
		line.Parameters = card.Saying(how, line.Text)
	case len(played) > 0: // an error would have it asked again, and play them again
		line.Pass = did(played, err)
	case err != nil:
		return abi.Line{}, err
	default:
		line.Pass = out.Why()
	}
	return line, nil
}

// did says what was played where nothing was said, and what went wrong then.
func did(played []string, err error) string {
	text := "played " + strings.Join(played, ", ")
	if err != nil {
		return text + "; then: " + abi.AsError(err).Message
	}
	return text + " and said nothing"
}

// acted gives the actions of the last line in a room.
func (m *Module) acted(room string) []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.lately[room]
}

func (m *Module) keepActs(room string, played []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.lately[room] = played
}

// inputs gives the perceptions that the newest message is: a person's words
// are one, those of others are none.
func (c *call) inputs(s abi.Scene) []string {
	if !isHuman(s.Members, s.Message.From) || s.Message.Seq == 0 {
		return nil
	}
	var titles []string
	for _, p := range c.m.card.Perceptions {
		if p.Input {
			titles = append(titles, p.Title)
		}
	}
	return titles
}

// converse asks the model until it plays nothing any more. It gives the names of
// the actions that were played, none of them "speak". between is called when an answer is whole and its
// actions come next.
func (c *call) converse(ctx context.Context, req Ask, onText func(string) error, between func([]model.ToolCall) error, play func(string, json.RawMessage) (string, error)) (played []string, err error) {
	for turn := range maxModelTurns {
		req.NoCalls = turn == maxModelTurns-1
		a, err := c.next(ctx, req, onText)
		if err != nil {
			return played, err
		}
		if len(a.Calls) == 0 {
			return played, nil
		}
		if between != nil {
			if err := between(a.Calls); err != nil {
				return played, err
			}
		}
		from := len(req.Messages)
		req.Messages = append(req.Messages, model.Message{Role: model.RoleAssistant, Text: quote.Plain(a.Text), Calls: a.Calls})
		silent := true
		for _, t := range a.Calls {
			told, err := play(t.Name, t.Arguments)
			if err == nil {
				if c.deed(t.Name) {
					played = append(played, t.Name)
				}
				silent = silent && t.Name == card.Speak
			} else {
				told, silent = abi.AsError(err).Message, false
			}
			req.Messages = append(req.Messages, model.Message{Role: model.RoleTool, CallID: t.ID, Text: quote.Plain(told), Failed: err != nil})
			if over := new(spoken.Ended); errors.As(err, over) {
				return played, over.Unwrap()
			}
			if ctx.Err() != nil {
				return played, ctx.Err()
			}
		}
		req.Told = more(req.Told, req.Messages[from:])
		if silent || c.games.answered != "" { // it has said what it wanted to, or done what was asked for; there is nothing to tell it
			return played, nil
		}
	}
	return played, nil
}

// more notes what a model is told besides when it is asked on.
func more(t *entry.Told, messages []model.Message) *entry.Told {
	if t == nil {
		return nil
	}
	told := *t
	var lines []string
	if told.More != "" {
		lines = append(lines, told.More)
	}
	for _, m := range messages {
		lines = append(lines, string(m.Role)+": "+m.Text)
		for _, c := range m.Calls {
			lines = append(lines, "  "+c.Name+" "+string(c.Arguments))
		}
	}
	told.More = strings.Join(lines, "\n")
	return &told
}

// next gives the model's next answer: first the one that came with the vote, unless it
// is empty, or failed before anything of it was heard.
func (c *call) next(ctx context.Context, req Ask, onText func(string) error) (model.Answer, error) {
	if d := c.draft; d != nil {
		c.draft = nil
		a, heard, err := d.follow(ctx, onText)
		if heard || err == nil && len(a.Calls) > 0 {
			return a, err
		}
	}
	return c.generate(ctx, req, onText)
}

// tools offers what the events allow for these perceptions; in warn mode all. To speak is
// among them where something is judged. Whoever has the floor just writes its line, and has
// the tool only to say how that is said: no prompt tells of it, for there are models that
// cannot call tools.
func (c *call) tools(triggers []string, judging bool) []model.Tool {
	var tools []model.Tool
	for _, a := range c.m.card.Actions {
		t := model.Tool{Name: a.Title, Description: a.Description, Schema: a.Schema}
		switch {
		case a.Title == card.Speak && !judging:
			if c.m.expressive {
				tools = append(tools, c.m.tool(a))
			}
		case a.Query:
			tools = append(tools, c.m.tool(a))
		case c.trigger(triggers, a.Title) != "" || c.m.card.Mode == card.Warn && len(triggers) > 0:
			tools = append(tools, t)
		}
	}
	return tools
}

// trigger gives the first perception whose events allow an action.
func (c *call) trigger(triggers []string, action string) string {
	for _, title := range triggers {
		if slices.Contains(c.m.card.Allowed(title), action) {
			return title
		}
	}
	return ""
}

// play plays an action by the host, which checks it. The answer or the error is
// what the model is told.
func (c *call) play(ctx context.Context, name string, args json.RawMessage, triggers []string) (string, error) {
	if !json.Valid(args) {
		return "", abi.Errorf(abi.CodeInvalid, "parameters: are not JSON")
	}
	if c.games.offer(c.m.card, name) {
		return c.playOffered(ctx, name, args)
	}
	if name == look && !c.deed(name) {
		return c.read(ctx, args)
	}
	if a, ok := c.m.card.Action(name); ok && a.Query {
		return c.emit(ctx, abi.ActionAsk{Action: name, Parameters: args})
	}
	if len(triggers) == 0 { // a model may call what it was not offered
		return "", abi.Errorf(abi.CodeDenied, "action: nothing was perceived that an event is about, so %s is not played", name)
	}
	title := c.trigger(triggers, name)
	if title == "" {
		title = triggers[0] // the host says no, or warns
	}
	return c.emit(ctx, abi.ActionAsk{Action: name, Parameters: args, Perception: title})
}

// emit plays an action, and gives what the model is told of that.
func (c *call) emit(ctx context.Context, a abi.ActionAsk) (string, error) {
	done, err := host[abi.ActionPlayed](ctx, c, abi.HostActionEmit, a)
	if err != nil {
		return "", err
	}
	return c.m.played(done), nil
}

// names gives what the character is called.
func (m *Module) names() []string { return append([]string{m.card.Name, m.id}, m.card.Aliases...) }

// others gives the names of everybody else.
func others(members []abi.Member, self string) []string {
	var names []string
	for _, m := range members {
		if m.ID != self {
			names = append(names, m.ID, nameOf(m))
		}
	}
	return names
}

// lineOf asks for a line, withVote for a vote before it.
func (c *call) lineOf(s abi.Scene, triggers []string, withVote bool) asking {
	tools := c.tools(triggers, false)
	if c.games = (games{offers: s.Offers}); !withVote { // a vote comes without tools
		tools = append(tools, c.m.mind.Offered(s.Offers, nil)...)
	}
	a := asking{
		tail: c.m.mind.ForScene(layout.Asked{
			Scene: s, Now: c.now, Results: c.m.remembered(), Acted: c.m.acted(c.caller.Room), WithLine: withVote,
		}),
		tools: tools, reads: !withVote, members: s.Members, recent: recent(s), recall: true,
		about: s.Message.Seq, urgency: urgency(s),
	}
	if len(s.Waiting) > 0 || isHuman(s.Members, s.Message.From) {
		a.urgency = max(a.urgency, limits.Waits)
	}
	if s.Grant != nil {
		a.grant = s.Grant.Token
	}
	return a
}

// recent is what a scene itself says of the talk. A purpose is no entry, and told elsewhere.
func recent(s abi.Scene) []abi.Message {
	if len(s.Recent) == 0 && s.Message.Seq > 0 {
		return []abi.Message{s.Message}
	}
	return s.Recent
}

// memberOf gives what is known of somebody; of one who is not there the id alone.
func memberOf(members []abi.Member, id string) abi.Member {
	for _, m := range members {
		if m.ID == id {
			return m
		}
	}
	return abi.Member{ID: id}
}

func nameOf(m abi.Member) string { return cmp.Or(m.Name, m.ID) }
