package past

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/compress"
	"github.com/companiond/companiond/host/history"
	"github.com/companiond/companiond/host/identity"
	"github.com/companiond/companiond/host/rooms"
)

type (
	inRoom struct {
		Room string `path:"room" doc:"The room's name." example:"main"`
	}
	turnsIn struct {
		Room     string `path:"room" doc:"The room's name." example:"main"`
		Turns    string `query:"turns" doc:"The first and the last, from 1. Left out: the newest 50." example:"1-50"`
		Original bool   `query:"original" doc:"As they were said."`
	}
	turnsOut struct {
		Turns []abi.PastTurn `json:"turns" doc:"Oldest first."`
		Of    uint64         `json:"of" doc:"How many there are in all."`
	}
	oneIn struct {
		Room     string `path:"room" doc:"The room's name." example:"main"`
		Proposal string `path:"proposal" doc:"The compression's id."`
	}
	proposeIn struct {
		Room string `path:"room" doc:"The room's name." example:"main"`
		Body proposeBody
	}
	proposeBody struct {
		Turns      string `json:"turns" doc:"The first and the last turn, from 1." example:"1-50"`
		Policy     string `json:"policy,omitempty" doc:"What must stay, and what is noise, in words: at most 4000 characters." example:"Keep every decision and its reason; drop greetings."`
		Length     int    `json:"target_length,omitempty" minimum:"0" maximum:"1000000" doc:"What the draft may come to; a tenth more is let pass. Left out: a tenth of the turns." example:"600"`
		Unit       string `json:"unit,omitempty" enum:"characters,tokens" doc:"Of target_length: characters, unless it says tokens."`
		Compresser string `json:"compresser,omitempty" doc:"A companion that drafts, model, or extract, which needs no model." example:"model"`
		Verifier   string `json:"verifier,omitempty" doc:"A companion that verifies, model, or extract." example:"model"`
		Text       string `json:"text,omitempty" doc:"A draft of your own, at most 65536 bytes, which is verified alone."`
	}
	draftIn struct {
		Room     string `path:"room" doc:"The room's name." example:"main"`
		Proposal string `path:"proposal" doc:"The compression's id."`
		Body     draftBody
	}
	draftBody struct {
		Text string `json:"text" doc:"The draft, at most 65536 bytes."`
	}
	decideIn struct {
		Room     string `path:"room" doc:"The room's name." example:"main"`
		Proposal string `path:"proposal" doc:"The compression's id."`
		Body     *decideBody
	}
	decideBody struct {
		Why string `json:"why,omitempty" doc:"Of deny and revert: the reason, for whoever looks later, in at most 500 characters."`
	}
	listOut struct {
		Compressions []Listed `json:"compressions" doc:"The newest first."`
	}
)

// Compression is a proposal to tell some turns in fewer words, and what came of it.
type Compression struct {
	ID         string         `json:"id" doc:"Its id." example:"0198f0c2a1"`
	Room       string         `json:"room" doc:"The room."`
	State      string         `json:"state" doc:"drafting; offered: it waits for a person; refused: no draft was verified; approved: the turns are told so; denied, failed, reverted." enum:"drafting,offered,refused,approved,denied,failed,reverted"`
	Turns      history.Range  `json:"original_turns_range" doc:"The first and the last turn."`
	Policy     string         `json:"policy,omitempty" doc:"What must stay, and what is noise."`
	Length     int            `json:"target_length" doc:"What a draft may come to."`
	Unit       string         `json:"unit" doc:"Of target_length." enum:"characters,tokens"`
	Compresser string         `json:"compresser,omitempty" doc:"Who drafts; none where the draft came from outside."`
	Verifier   string         `json:"verifier" doc:"Who verifies."`
	By         string         `json:"by" doc:"Who asked for it."`
	At         time.Time      `json:"at" doc:"When."`
	ApprovedBy string         `json:"approved_by,omitempty" doc:"Who approved it."`
	Why        string         `json:"why,omitempty" doc:"What was wrong with the newest draft, or why it failed or was denied."`
	Erased     bool           `json:"erased,omitempty" doc:"The text that was verified lost its words, because somebody's were erased: what is left of the turns is told as it was said."`
	Auto       bool           `json:"auto,omitempty" doc:"The configuration approves what is verified."`
	Look       bool           `json:"look,omitempty" doc:"The configuration approves what is verified, and not this: a person took off before what lay over some of these turns, something that the policy names cannot be compared, or it names nothing of them that code finds."`
	Drafts     []Draft        `json:"drafts" doc:"Oldest first."`
	Verifying  *Handed        `json:"verifying,omitempty" doc:"A draft of the caller's own that is being verified. Where a compression without compresser is drafting and has none, it waits for the next one."`
	Original   []abi.PastTurn `json:"original,omitempty" doc:"The turns: the first 1000."`
	More       uint64         `json:"original_more,omitempty" doc:"How many turns come behind those of original."`
}

// Listed is a Compression in a list, which has no texts: neither those of drafts nor what was found about them.
type Listed struct {
	Compression
	Drafts    []ListedDraft `json:"drafts" doc:"Oldest first, without their texts, and what was found about them."`
	Verifying *ListedHanded `json:"verifying,omitempty" doc:"A draft of the caller's own that is being verified."`
}

// ListedDraft is a Draft in a list, and ListedHanded a Handed.
type (
	ListedDraft struct {
		Type       string    `json:"type" doc:"Always compressed_history." example:"compressed_history"`
		N          int       `json:"n" doc:"From 1."`
		Timestamp  time.Time `json:"timestamp" doc:"When it was drafted."`
		By         string    `json:"by" doc:"Who drafted it."`
		VerifiedBy string    `json:"verified_by" doc:"Who verified it."`
		Verdict    string    `json:"verdict" doc:"YES or NO." enum:"YES,NO"`
	}
	ListedHanded struct {
		N int `json:"n" doc:"From 1."`
	}
)

func listed(c Compression) Listed {
	l := Listed{Compression: c, Drafts: []ListedDraft{}}
	if c.Verifying != nil {
		l.Verifying = &ListedHanded{c.Verifying.N}
	}
	for _, d := range c.Drafts {
		l.Drafts = append(l.Drafts, ListedDraft{d.Type, d.N, d.Timestamp, d.By, d.VerifiedBy, d.Verdict})
	}
	return l
}

// Handed is a draft from outside of which no verifier has said anything yet.
type Handed struct {
	N       int    `json:"n" doc:"From 1."`
	Content string `json:"content" doc:"The text; empty where it was erased."`
}

// Awaits says whether the next draft is to come from outside.
func (c *Compression) Awaits() bool {
	return c.State == string(history.BeingDrafted) && c.Compresser == "" && c.Verifying == nil
}

// Draft is one text that was drafted, and the verdict.
type Draft struct {
	Type       string            `json:"type" doc:"Always compressed_history." example:"compressed_history"`
	N          int               `json:"n" doc:"From 1."`
	Content    string            `json:"content" doc:"The text; empty where it was erased."`
	Timestamp  time.Time         `json:"timestamp" doc:"When it was drafted."`
	By         string            `json:"by" doc:"Who drafted it."`
	VerifiedBy string            `json:"verified_by" doc:"Who verified it."`
	Verdict    string            `json:"verdict" doc:"YES or NO." enum:"YES,NO"`
	Feedback   string            `json:"feedback,omitempty" doc:"What has to be mended."`
	Findings   []history.Finding `json:"findings" doc:"What had to stay, and what became of it."`
	Lost       []history.Loss    `json:"lost" doc:"What left with the original and may matter, found without a model."`
}

func compressionOf(room string, p history.Proposal) Compression {
	c := Compression{
		ID: p.ID, Room: room, State: string(p.State), Turns: p.Ask.Turns, Policy: p.Ask.Policy, Length: p.Ask.Length.N, Unit: string(p.Ask.Length.Unit),
		Compresser: p.Ask.Compresser, Verifier: p.Ask.Verifier, By: p.By, At: p.At, ApprovedBy: p.ApprovedBy, Why: p.Why, Erased: p.Erased(), Auto: p.Ask.Auto && !p.Ask.Look, Look: p.Ask.Look, Drafts: []Draft{},
	}
	if p.Handed != 0 {
		c.Verifying = &Handed{N: len(p.Drafts) + 1}
	}
	for _, d := range p.Drafts {
		c.Drafts = append(c.Drafts, Draft{
			Type: string(abi.KindCompressed), N: d.N, Timestamp: d.At, By: d.By, VerifiedBy: d.VerifiedBy, Verdict: string(cmp.Or(d.Verdict, history.No)),
			Findings: []history.Finding{}, Lost: []history.Loss{},
		})
	}
	return c
}

// usually is how many turns are read where nobody says which.
const usually = 50

// most is how many turns are read at once.
const most = 1000

func (d *door) turns(ctx context.Context, in *turnsIn) (out turnsOut, err error) {
	talk, err := d.room(ctx, in.Room)
	if err != nil {
		return out, err
	}
	if out.Of, err = talk.Turns(ctx); err != nil {
		return out, err
	}
	out.Turns = []abi.PastTurn{}
	r := history.Range{From: max(1, out.Of-min(out.Of, usually)+1), To: out.Of}
	if in.Turns != "" {
		if r, err = history.ParseRange(in.Turns); err != nil {
			return out, err
		}
	} else if out.Of == 0 {
		return out, nil
	} else if r.From, err = whole(ctx, talk, r.From, in.Original); err != nil {
		return out, err
	}
	if in.Turns != "" && r.To-r.From >= most {
		return out, abi.Field("turns", abi.CodeTooLarge, "%s: at most %d at once", r, most)
	}
	past, err := talk.Past(ctx, r, in.Original)
	out.Turns = append(out.Turns, past.Turns...)
	return out, err
}

// whole gives the first turn of what a turn is told as one text with.
func whole(ctx context.Context, talk rooms.Room, from uint64, original bool) (uint64, error) {
	if original {
		return from, nil
	}
	book, err := talk.Book(ctx)
	for _, p := range book.Laid(^uint64(0)) {
		if p.Ask.Turns.Has(history.Range{From: from, To: from}) {
			return p.Ask.Turns.From, err
		}
	}
	return from, err
}

func (d *door) list(ctx context.Context, in *inRoom) (out listOut, err error) {
	talk, err := d.room(ctx, in.Room)
	if err != nil {
		return out, err
	}
	book, err := talk.Book(ctx)
	out.Compressions = []Listed{}
	for _, p := range slices.Backward(book.Proposals) {
		out.Compressions = append(out.Compressions, listed(compressionOf(in.Room, p)))
	}
	return out, err
}

func (d *door) one(ctx context.Context, in *oneIn) (out Compression, err error) {
	talk, err := d.room(ctx, in.Room)
	if err != nil {
		return out, err
	}
	book, err := talk.Book(ctx)
	if err != nil {
		return out, err
	}
	p := book.Get(in.Proposal)
	if p == nil {
		return out, abi.Field("proposal", abi.CodeNotFound, "there is no %q in %s", in.Proposal, in.Room)
	}
	return d.whole(ctx, talk, *p)
}

// whole is a compression with its texts.
func (d *door) whole(ctx context.Context, talk rooms.Room, p history.Proposal) (out Compression, err error) {
	out = compressionOf(talk.Name(), p)
	for i, was := range p.Drafts {
		draft, err := talk.Draft(ctx, was.Seq)
		if err != nil {
			return out, err
		}
		o := &out.Drafts[i]
		o.Content, o.Feedback = draft.Text, draft.Feedback
		o.Findings, o.Lost = append(o.Findings, draft.Findings...), append(o.Lost, draft.Lost...)
	}
	if p.Handed != 0 {
		draft, err := talk.Draft(ctx, p.Handed)
		if err != nil {
			return out, err
		}
		out.Verifying.Content = draft.Text
	}
	r := p.Ask.Turns
	if r.To-r.From >= most {
		out.More = r.To - r.From + 1 - most
		r.To -= out.More
	}
	past, err := talk.Past(ctx, r, true)
	if out.Original = past.Turns; abi.CodeOf(err) == abi.CodeNotFound { // they were trimmed since
		err = nil
	}
	return out, err
}

func (d *door) propose(ctx context.Context, in *proposeIn) (out Compression, err error) {
	talk, err := d.room(ctx, in.Room)
	if err != nil {
		return out, err
	}
	b := in.Body
	q := compress.Request{Room: in.Room, By: caller(ctx), Policy: b.Policy, Compresser: b.Compresser, Verifier: b.Verifier, Text: b.Text}
	if q.Turns, err = history.ParseRange(b.Turns); err != nil {
		return out, err
	}
	if b.Unit != "" && b.Length == 0 {
		return out, abi.Field("unit", abi.CodeInvalid, "is of target_length, which is missing")
	}
	if b.Length > 0 {
		q.Length = history.Length{N: b.Length, Unit: cmp.Or(history.Unit(b.Unit), history.Characters)}
	}
	p, err := d.cfg.Compressing.Propose(ctx, q)
	if err != nil {
		return out, err
	}
	return d.whole(ctx, talk, p)
}

func (d *door) redraft(ctx context.Context, in *draftIn) (out Compression, err error) {
	talk, err := d.room(ctx, in.Room)
	if err != nil {
		return out, err
	}
	p, err := d.cfg.Compressing.Redraft(ctx, in.Room, in.Proposal, in.Body.Text, caller(ctx))
	if err != nil {
		return out, err
	}
	return d.whole(ctx, talk, p)
}

func (d *door) decide(kind history.Kind) func(context.Context, *decideIn) (Compression, error) {
	return func(ctx context.Context, in *decideIn) (out Compression, err error) {
		talk, err := d.room(ctx, in.Room)
		if err != nil {
			return out, err
		}
		by, err := identity.Of(ctx).Person("approves, denies and reverts")
		if err != nil {
			return out, err
		}
		why := ""
		if in.Body != nil {
			why = in.Body.Why
		}
		var p history.Proposal
		if kind == history.Revert {
			p, err = d.cfg.Compressing.Revert(ctx, in.Room, in.Proposal, by, why)
		} else {
			p, err = d.cfg.Compressing.Decide(ctx, in.Room, in.Proposal, by, kind == history.Approve, why)
		}
		if err != nil {
			return out, err
		}
		return d.whole(ctx, talk, p)
	}
}

func (d *door) extract(ctx context.Context, in *oneIn) (out Compression, err error) {
	talk, err := d.room(ctx, in.Room)
	if err != nil {
		return out, err
	}
	book, err := talk.Book(ctx)
	if err != nil {
		return out, err
	}
	if p := book.Get(in.Proposal); p != nil && p.Awaits() && len(p.Drafts) > 0 {
		return out, abi.Field("proposal", abi.CodeConflict, "a verifier refused draft %d of %s: send the next, or deny it; the extract is there once %d were refused", len(p.Drafts), p.ID, history.Drafts)
	}
	p, err := d.cfg.Compressing.TakeExtract(ctx, in.Room, in.Proposal, caller(ctx))
	if err != nil {
		return out, err
	}
	return d.whole(ctx, talk, p)
}
