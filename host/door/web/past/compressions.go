package past

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/compress"
	"github.com/companiond/companiond/host/history"
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
		Policy     string `json:"policy,omitempty" maxLength:"4000" doc:"What must stay, and what is noise, in words." example:"Keep every decision and its reason; drop greetings."`
		Length     int    `json:"target_length,omitempty" minimum:"0" maximum:"1000000" doc:"What the draft may come to at most. Left out: a tenth of the turns." example:"600"`
		Unit       string `json:"unit,omitempty" enum:"characters,tokens" doc:"Of target_length: characters, unless it says tokens."`
		Compresser string `json:"compresser,omitempty" doc:"A companion that drafts, model, or extract, which needs no model." example:"model"`
		Verifier   string `json:"verifier,omitempty" doc:"A companion that verifies, model, or extract." example:"model"`
		Text       string `json:"text,omitempty" doc:"A draft of your own, which is verified alone."`
	}
	decideIn struct {
		Room     string `path:"room" doc:"The room's name." example:"main"`
		Proposal string `path:"proposal" doc:"The compression's id."`
		Body     *decideBody
	}
	decideBody struct {
		Why string `json:"why,omitempty" maxLength:"500" doc:"Of deny and revert: the reason, for whoever looks later."`
	}
	listOut struct {
		Compressions []Compression `json:"compressions" doc:"The newest first."`
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
	Auto       bool           `json:"auto,omitempty" doc:"The configuration approves what is verified."`
	Drafts     []Draft        `json:"drafts" doc:"Oldest first."`
	Original   []abi.PastTurn `json:"original,omitempty" doc:"The turns, where one compression was asked for."`
}

// Draft is one text that was drafted, and the verdict.
type Draft struct {
	Type       string            `json:"type" doc:"Always compressed_history." example:"compressed_history"`
	N          int               `json:"n" doc:"From 1."`
	Content    string            `json:"content" doc:"The text, where one compression was asked for; empty where it was erased."`
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
		Compresser: p.Ask.Compresser, Verifier: p.Ask.Verifier, By: p.By, At: p.At, ApprovedBy: p.ApprovedBy, Why: p.Why, Auto: p.Ask.Auto, Drafts: []Draft{},
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
	out.Compressions = []Compression{}
	for _, p := range slices.Backward(book.Proposals) {
		out.Compressions = append(out.Compressions, compressionOf(in.Room, p))
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
	past, err := talk.Past(ctx, p.Ask.Turns, true)
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
	if b.Length > 0 {
		q.Length = history.Length{N: b.Length, Unit: cmp.Or(history.Unit(b.Unit), history.Characters)}
	}
	p, err := d.cfg.Compressing.Propose(ctx, q)
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
		by, err := person(ctx)
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
	p, err := d.cfg.Compressing.TakeExtract(ctx, in.Room, in.Proposal, caller(ctx))
	if err != nil {
		return out, err
	}
	return d.whole(ctx, talk, p)
}
