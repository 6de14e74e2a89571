package prompt

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/context/layout"
	"github.com/companiond/companiond/host/limits"
	"github.com/companiond/companiond/host/module/prompt/together"
)

// A panel is the characters of one model in a room, where one call is to vote for all of
// them. A room asks everybody at once, so that those who are asked in a round find each
// other: each waits a moment for the rest. Whoever gets no vote by that is asked about alone.

const (
	// panelWait is how long a vote waits for others that do not come.
	panelWait = 20 * time.Millisecond
	// maxPanel is how many characters one call votes for: more cards than that are not told
	// apart well, and take the place of what was said.
	maxPanel = 8
)

// part is the panel of a room, or one of several where there are many characters.
type part struct {
	room, model string
	n           int
}

// round is a round in which a part is asked: the message that it is about.
type round struct {
	part
	about uint64
}

// voter is one who is asked for a vote.
type voter struct {
	call  *call
	scene abi.Scene
	of    part
	all   []*Module // of the part, by id
}

// panel is a part as it is now.
type panel struct {
	hearer
	made string // of which cards
	ids  []string
	used uint64
}

// loaded notes a card that may be asked from now on.
func (e *Engine) loaded(m *Module) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.cards[m.id] = m
	clear(e.astray)
	clear(e.panels) // what they were told may have been erased, and then all are loaded anew
}

// closed forgets a card, unless a newer one has its place.
func (e *Engine) closed(m *Module) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if m.gone = true; e.cards[m.id] == m {
		delete(e.cards, m.id)
	}
}

// mates gives those for whom the same call is to vote, by id; ok is false where the
// character is asked about alone.
func (c *call) mates(s abi.Scene) (r round, all []*Module, ok bool) {
	e := c.m.engine
	model, on := e.cfg.Models.VotesTogether(c.m.card.Model)
	if !on || s.Conversation != nil || s.Message.Seq == 0 {
		return r, nil, false
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.astray[model] >= maxUnfit {
		return r, nil, false
	}
	if e.cards[c.m.id] == nil && !c.m.gone { // the one that was loaded after it was closed again
		e.cards[c.m.id] = c.m
	}
	for _, x := range s.Members {
		m := e.cards[x.ID]
		if x.Kind != abi.KindCompanion || m == nil || m.card.Talkativeness == 0 {
			continue
		}
		if its, on := e.cfg.Models.VotesTogether(m.card.Model); on && its == model {
			all = append(all, m)
		}
	}
	slices.SortFunc(all, func(a, b *Module) int { return strings.Compare(a.id, b.id) })
	i := slices.IndexFunc(all, func(m *Module) bool { return m.id == c.m.id })
	if i < 0 {
		return r, nil, false
	}
	r = round{part{c.caller.Room, model, i / maxPanel}, s.Message.Seq}
	all = all[r.n*maxPanel : min(len(all), (r.n+1)*maxPanel)]
	return r, all, len(all) > 1
}

// due gives those who are asked in a round: whoever spoke is not.
func due(all []*Module, s abi.Scene) (ids []string) {
	for _, m := range all {
		if m.id != s.Message.From {
			ids = append(ids, m.id)
		}
	}
	return ids
}

// declines tells those who wait for the character that it needs no call.
func (c *call) declines(ctx context.Context, s abi.Scene) {
	if r, all, ok := c.mates(s); ok {
		c.m.engine.tables.Decline(ctx, r, c.m.id, due(all, s))
	}
}

// voteTogether has one call vote for the character and for others; ok is false where it is
// to be asked about alone.
func (c *call) voteTogether(ctx context.Context, s abi.Scene) (v abi.Vote, ok bool, err error) {
	r, all, ok := c.mates(s)
	if !ok {
		return v, false, nil
	}
	v, ok, err = c.m.engine.tables.Ask(ctx, r, c.m.id, due(all, s), voter{c, s, r.part, all})
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return v, false, abi.Errorf(abi.CodeTimeout, "the model did not answer in time")
	case abi.CodeOf(err) == abi.CodeInvalid: // of no use for anybody
		return v, false, nil
	}
	return v, ok, err
}

// judge has the model vote for several. It is asked for the first of them, who is said to
// have used it, with the others.
func (e *Engine) judge(ctx context.Context, voters []together.Seat[voter]) (map[string]abi.Vote, error) {
	first := voters[0].Ask
	var who []string
	most := limits.Idle
	for _, v := range voters {
		who, most = append(who, v.Who), max(most, urgency(v.Ask.scene))
	}
	p := e.panel(first)
	ask, err := first.call.put(ctx, asking{
		of: &p.hearer, tail: p.mind.ForVotes(first.scene, first.call.now, who), members: first.scene.Members,
		recent: recent(first.scene), about: first.scene.Message.Seq, urgency: most,
	})
	if err != nil {
		return nil, err
	}
	ask.Schema, ask.SchemaName, ask.MaxTokens, ask.With = votesSchema(p.ids), "votes", voteTokens*len(who), who[1:]
	ask.Check = func(raw json.RawMessage) error { _, err := readVotes(raw, who); return err }
	a, err := first.call.generate(ctx, ask, nil)
	var votes map[string]abi.Vote
	if err == nil {
		votes, err = readVotes(a.JSON, who)
	}
	e.strays(first, err)
	return votes, err
}

// strays counts the answers of a model that are of no use. After some in a row its characters
// are asked about one by one, until a card is loaded.
func (e *Engine) strays(v voter, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case err == nil:
		e.astray[v.of.model] = 0
	case abi.CodeOf(err) == abi.CodeInvalid:
		if e.astray[v.of.model]++; e.astray[v.of.model] == maxUnfit {
			e.cfg.Log.Warn("the model does not vote for several characters in one answer: each vote is asked for alone from now on",
				"model", v.of.model, "why", abi.AsError(err).Message)
		}
	}
}

// panel gives the panel of a part. It goes on hearing a room as long as its cards stay.
func (e *Engine) panel(v voter) *panel {
	e.mu.Lock()
	defer e.mu.Unlock()
	var minds []*layout.Mind
	var ids []string
	var made strings.Builder
	for _, m := range v.all {
		minds, ids = append(minds, m.mind), append(ids, m.id)
		fmt.Fprintf(&made, "%s@%d\n", m.id, m.generation)
	}
	e.turn++
	p := e.panels[v.of]
	if p == nil || p.made != made.String() {
		p = &panel{
			hearer: hearer{mind: layout.Panel(minds, e.cfg.Zone), talk: &talk{names: map[string]string{}}, key: made.String() + v.of.room},
			made:   made.String(), ids: ids,
		}
		e.forgetOne()
		e.panels[v.of] = p
	}
	p.used = e.turn
	return p
}

// forgetOne drops the panel that was not used for longest, where there are too many.
func (e *Engine) forgetOne() {
	if len(e.panels) < maxTalks {
		return
	}
	var oldest part
	least := e.turn
	for of, p := range e.panels {
		if p.used < least {
			oldest, least = of, p.used
		}
	}
	delete(e.panels, oldest)
}

// votesSchema is what an answer has to be. It is the same whoever of the panel is asked
// about: endpoints keep it with what they have read.
func votesSchema(ids []string) json.RawMessage {
	who, _ := json.Marshal(ids) // texts can always be written
	one := strings.Replace(voteSchema, `"properties":{`, `"properties":{"who":{"type":"string","enum":`+string(who)+`},`, 1)
	one = strings.Replace(one, `"required":[`, `"required":["who",`, 1)
	return json.RawMessage(`{"type":"object","properties":{"votes":{"type":"array","items":` + one + `}},"required":["votes"],"additionalProperties":false}`)
}

// readVotes reads the votes of those who were asked about. One that is no good vote is none,
// and so are two of one character.
func readVotes(raw json.RawMessage, who []string) (map[string]abi.Vote, error) {
	var all struct {
		Votes []json.RawMessage `json:"votes"`
	}
	if err := json.Unmarshal(raw, &all); err != nil {
		return nil, abi.Errorf(abi.CodeInvalid, "the votes are not what was asked for: %v", err)
	}
	votes, times := map[string]abi.Vote{}, map[string]int{}
	for _, one := range all.Votes {
		var of struct {
			Who string `json:"who"`
		}
		if json.Unmarshal(one, &of) != nil || !slices.Contains(who, of.Who) {
			continue
		}
		times[of.Who]++
		v, err := readVote(one)
		if delete(votes, of.Who); err == nil && times[of.Who] == 1 {
			votes[of.Who] = v
		}
	}
	if len(votes) == 0 {
		return nil, abi.Errorf(abi.CodeInvalid, "votes: has none of %s", strings.Join(who, ", "))
	}
	return votes, nil
}
