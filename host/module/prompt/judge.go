package prompt

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/card"
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
	if len(about) == 0 {
		return abi.Judgement{State: abi.Listen, Reason: "no event is about " + title}, nil
	}
	req, err := c.put(ctx, asking{
		tail:  c.m.mind.ForPerceptions(p, c.now, about, c.m.remembered()),
		tools: c.tools(about, true), members: p.Members, recent: p.Recent, recall: true, about: p.Perception.Seq,
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
		warning, err := c.permit(args, about)
		if warning != "" || abi.CodeOf(err) == abi.CodeDenied {
			reason = "no event lets it speak about " + title
		}
		if err != nil {
			return "", err
		}
		said := strings.TrimSpace(card.Message(args))
		if said == "" {
			return "", spoken.ErrNoMessage
		}
		text, parameters = append(text, said), args
		return "ok", nil
	})
	switch {
	case err != nil && len(played) == 0:
		return abi.Judgement{}, err
	case len(text) > 0:
		j := abi.Judgement{State: abi.Speak, Importance: judgementImportance, Reason: strings.TrimPrefix(reason+"; an event about "+title, "; "), Text: strings.Join(text, "\n")}
		if len(text) == 1 && card.Message(parameters) == j.Text { // how it is said goes with it
			j.Parameters = parameters
		}
		return j, nil
	case len(played) > 0:
		return abi.Judgement{State: abi.Listen, Reason: did(played, err)}, nil
	case reason != "":
		return abi.Judgement{State: abi.Listen, Reason: reason}, nil
	}
	return abi.Judgement{State: abi.Listen, Reason: "no event applies"}, nil
}

// titlesOf gives the titles of what was perceived, each once, the newest first.
func titlesOf(p abi.Perceiving) []string {
	titles := []string{p.Perception.Title}
	for _, x := range slices.Backward(p.More) {
		if !slices.Contains(titles, x.Title) {
			titles = append(titles, x.Title)
		}
	}
	return titles
}

// permit checks words that are said about one of several perceptions: it is enough
// that the events allow it for one.
func (c *call) permit(args json.RawMessage, titles []string) (warning string, err error) {
	for _, title := range titles {
		warning, err = c.m.card.Permit(abi.ActionAsk{Action: card.Speak, Parameters: args, Perception: title})
		if err == nil && warning == "" {
			break
		}
	}
	return warning, err
}
