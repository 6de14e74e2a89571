package prompt

import (
	"context"
	"encoding/json"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/card"
	"github.com/companiond/companiond/host/context/quote"
	"github.com/companiond/companiond/host/model"
)

// look is the tool that reads a document of the companion's folder. A card's action of that
// name comes first.
const look = "knowledge_get"

// maxRead is how many bytes of a document a model is told at once: several times, it may fill
// what it can take.
const maxRead = 3000

// documents gives the tool that reads them, none where there are none.
func (c *call) documents(ctx context.Context) []model.Tool {
	if _, own := c.m.card.Action(look); own {
		return nil
	}
	shelf, err := host[abi.Knowledge](ctx, c, abi.HostKnowledgeGet, abi.KnowledgeAsk{})
	if err != nil || len(shelf.Documents) == 0 {
		return nil
	}
	return []model.Tool{c.m.mind.Documents(look, shelf.Documents)}
}

// read gives a part of a document, as data.
func (c *call) read(ctx context.Context, args json.RawMessage) (string, error) {
	var ask abi.KnowledgeAsk
	if err := json.Unmarshal(args, &ask); err != nil || ask.Name == "" {
		return "", abi.Errorf(abi.CodeInvalid, `%s: the parameters are {"name":"...","from":0}`, look)
	}
	ask.Limit = maxRead
	found, err := host[abi.Knowledge](ctx, c, abi.HostKnowledgeGet, ask)
	if abi.CodeOf(err) == abi.CodeNotFound {
		return "", abi.Errorf(abi.CodeNotFound, "name: there is no document %.64q", ask.Name)
	}
	if err != nil {
		return "", err
	}
	return quote.JSON(found), nil
}

// deed says whether a tool that was called is something that was done: to speak is the line itself, and
// to read is nothing that anybody sees.
func (c *call) deed(name string) bool {
	_, own := c.m.card.Action(look)
	return name != card.Speak && (name != look || own)
}
