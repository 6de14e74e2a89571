package memories

import (
	"context"
	"slices"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/context/told"
	"github.com/companiond/companiond/host/identity"
	"github.com/companiond/companiond/host/memory"
)

type (
	listIn struct {
		ID    string `path:"id" doc:"The companion's id." example:"kyoko"`
		Who   string `query:"who" doc:"Only what this one said, or what is about it." example:"mika"`
		Text  string `query:"text" maxLength:"1000" doc:"Only what has to do with these words, the best first."`
		Past  bool   `query:"past" doc:"Also what is no longer so."`
		Limit int    `query:"limit" default:"50" minimum:"1" maximum:"200" doc:"At most so many."`
		After string `query:"after" maxLength:"128" doc:"Only what comes behind the one with this id; next of the page before."`
	}
	memoriesOut struct {
		Memories []abi.Memory `json:"memories" doc:"The newest first; where text is asked for, the best."`
		Next     string       `json:"next,omitempty" doc:"There may be more: ask for those after this one."`
		Total    *int         `json:"total,omitempty" doc:"All that it remembers, whatever was asked for; for whoever looks after the house."`
	}
	oneIn struct {
		ID     string `path:"id" doc:"The companion's id." example:"kyoko"`
		Memory string `path:"memory" doc:"The memory's id."`
	}
	promptsIn struct {
		Room string `path:"room" doc:"The room's name." example:"main"`
		Seq  uint64 `path:"seq" minimum:"1" maximum:"9007199254740991" doc:"A message, or another entry that a model was asked about."`
	}
	promptsOut struct {
		Prompts []told.Prompt `json:"prompts" doc:"One for each call: those for votes, and the one for the line."`
	}
)

func (d *door) list(ctx context.Context, in *listIn) (out memoriesOut, err error) {
	a, err := who(ctx, identity.Read)
	if err != nil {
		return out, err
	}
	if in.Who != "" && !a.about(in.Who) {
		return out, at("query.who", abi.Errorf(abi.CodeDenied, "this token is %s's, which sees what is remembered of %[1]s alone", a.name))
	}
	if !a.house {
		in.Who = a.name
	}
	if err := d.known(ctx, in.ID); err != nil {
		return out, err
	}
	page, err := d.cfg.Memories.List(ctx, in.ID, memory.Filter{Who: in.Who, Text: in.Text, Past: in.Past, After: in.After, Limit: in.Limit})
	if err != nil {
		return out, places{"companion": "path.id", "after": "query.after", "who": "query.who", "text": "query.text", "limit": "query.limit"}.of(err)
	}
	if a.house {
		out.Total = &page.Total
	}
	// The keeper looks for names; whose memories they are is decided here.
	out.Memories, out.Next = []abi.Memory{}, page.Next
	for _, m := range page.Memories {
		if a.concerned(m) {
			out.Memories = append(out.Memories, m)
		}
	}
	return out, nil
}

// known refuses a companion that neither lives here nor has ever remembered anything: a
// typing error is not answered as if it remembered nothing.
func (d *door) known(ctx context.Context, companion string) error {
	if d.cfg.Lives(companion) {
		return nil
	}
	all, err := d.cfg.Memories.Companions(ctx)
	if err == nil && !slices.Contains(all, companion) {
		return at("path.id", abi.Errorf(abi.CodeNotFound, "there is no companion %.64q", companion))
	}
	return err
}

func (d *door) one(ctx context.Context, in *oneIn) (abi.Memory, error) {
	a, err := who(ctx, identity.Read)
	if err != nil {
		return abi.Memory{}, err
	}
	return d.get(ctx, a, *in, inPath())
}

// get finds a memory that is the asker's to see. Whether there is one of somebody else's is
// not told.
func (d *door) get(ctx context.Context, a asker, of oneIn, p places) (abi.Memory, error) {
	m, err := d.cfg.Memories.Get(ctx, of.ID, of.Memory)
	if err == nil && !a.concerned(m) || !a.house && abi.CodeOf(err) == abi.CodeNotFound {
		err = abi.Field("id", abi.CodeNotFound, "%.64q remembers nothing of %s with the id %.64q", of.ID, a.name, of.Memory)
	}
	if err != nil {
		return abi.Memory{}, p.of(err)
	}
	return m, nil
}

func (d *door) prompts(ctx context.Context, in *promptsIn) (out promptsOut, err error) {
	if _, err := keeper(ctx); err != nil {
		return out, err
	}
	found, err := d.cfg.Prompts(ctx, in.Room, in.Seq)
	if err != nil {
		return out, places{"room": "path.room", "seq": "path.seq"}.of(err)
	}
	out.Prompts = append([]told.Prompt{}, found...)
	for i := range out.Prompts {
		out.Prompts[i].Parts = append([]told.Part{}, out.Prompts[i].Parts...)
	}
	return out, nil
}
