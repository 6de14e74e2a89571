package prompt

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/card"
	"github.com/companiond/companiond/host/emotion"
	"github.com/companiond/companiond/host/model"
	"github.com/companiond/companiond/host/module/prompt/spoken"
)

// judgementImportance is how much a perception that made the character speak is
// worth: the model was asked whether, not how much.
const judgementImportance = 6

// perceive lets the model judge a perception, and those that wait with it, by the card's
// events, in one request. It does nothing but by tools: all that it writes besides is
// thinking.
func (c *call) perceive(ctx context.Context, p abi.Perceiving) (abi.Judgement, error) {
	if why := c.m.engine.cfg.Models.Waits(c.m.id, c.m.card.Model); why != "" {
		return abi.Judgement{}, abi.Errorf(abi.CodeUnavailable, "%s", why)
	}
	titles := titlesOf(p)
	title := strings.Join(titles, ", ")
	about := slices.DeleteFunc(slices.Clone(titles), func(t string) bool { return len(c.m.card.EventsOf(t)) == 0 })
	c.games = games{offers: p.Offers, force: p.Perception.Force}
	told := unasked(p)
	plays := told != ""
	if len(about) == 0 && !plays {
		return abi.Judgement{State: abi.Listen, Reason: "no event is about " + title}, nil
	}
	if _, speaks := c.m.card.Action(card.Speak); !speaks && told == answered { // it would have no way to tell
		return abi.Judgement{State: abi.Speak, Importance: judgementImportance, Reason: told}, nil
	}
	req, err := c.put(ctx, asking{
		tail:  c.m.mind.ForPerceptions(p, c.now, about, c.m.remembered()),
		tools: c.judging(about, plays), reads: true, members: p.Members, recent: p.Recent, recall: true, about: p.Perception.Seq,
	})
	if err != nil {
		return abi.Judgement{}, err
	}
	req.NeedsTools = true
	var text []string
	var parameters json.RawMessage // of the last words
	reason := ""
	played, err := c.converse(ctx, req, nil, nil, func(name string, args json.RawMessage) (string, error) {
		if name != card.Speak {
			return c.play(ctx, name, args, about)
		}
		warning, err := c.permit(args, about, plays)
		if warning != "" || abi.CodeOf(err) == abi.CodeDenied {
			reason = "no event lets it speak about " + title
		}
		if err != nil {
			return "", err
		}
		said, felt := emotion.Strip(strings.TrimSpace(card.Message(args)))
		if felt != "" {
			args = card.Saying(args, said)
		}
		if said == "" {
			return "", spoken.ErrNoMessage
		}
		text, parameters = append(text, said), args
		return "ok", nil
	})
	switch {
	case err != nil && len(played) == 0 && len(text) == 0:
		return abi.Judgement{}, err
	case len(text) > 0:
		j := abi.Judgement{State: abi.Speak, Importance: c.games.importance(), Reason: strings.TrimPrefix(reason+"; "+because(title, told), "; "), Text: strings.Join(text, "\n")}
		if len(text) == 1 && card.Message(parameters) == j.Text { // how it is said goes with it
			j.Parameters = parameters
		}
		return j, nil
	case len(played) > 0:
		return abi.Judgement{State: abi.Listen, Reason: did(played, err)}, nil
	case reason != "":
		return abi.Judgement{State: abi.Listen, Reason: reason}, nil
	case plays:
		return abi.Judgement{State: abi.Listen, Reason: "did nothing about " + told}, nil
	}
	return abi.Judgement{State: abi.Listen, Reason: "no event applies"}, nil
}

// because says what made the character speak: an event, or what it was told without one.
func because(title, told string) string {
	if title == "" {
		return told
	}
	return "an event about " + title
}

// judging offers what may be done about perceptions. plays says that games tell some of them: to
// speak is allowed then, and what they offer.
func (c *call) judging(about []string, plays bool) []model.Tool {
	tools := c.tools(about, true)
	has := func(name string) bool {
		return slices.ContainsFunc(tools, func(t model.Tool) bool { return t.Name == name })
	}
	if speak, ok := c.m.card.Action(card.Speak); ok && plays && !has(card.Speak) {
		tools = append(tools, c.m.tool(*speak))
	}
	return append(tools, c.m.mind.Offered(c.games.offers, c.games.only())...)
}

// titlesOf gives the titles of what was perceived, each once, the newest first; of what games
// tell, and of answers to queries, none.
func titlesOf(p abi.Perceiving) (titles []string) {
	for _, x := range slices.Backward(append(slices.Clone(p.More), p.Perception)) {
		if !x.Unasked() && !slices.Contains(titles, x.Title) {
			titles = append(titles, x.Title)
		}
	}
	return titles
}

// permit checks words that are said about one of several perceptions: it is enough
// that the events allow it for one, or that a game tells one.
func (c *call) permit(args json.RawMessage, titles []string, plays bool) (warning string, err error) {
	if plays {
		return c.m.card.Permit(abi.ActionAsk{Action: card.Speak, Parameters: args})
	}
	for _, title := range titles {
		warning, err = c.m.card.Permit(abi.ActionAsk{Action: card.Speak, Parameters: args, Perception: title})
		if err == nil && warning == "" {
			break
		}
	}
	return warning, err
}
