package web

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"reflect"
	"slices"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/card"
	"github.com/companiond/companiond/host/door/guard"
	"github.com/companiond/companiond/host/identity"
	"github.com/companiond/companiond/host/perception"
)

// Perceptions, and the cards that say what companions perceive.

// MaxPerception is the largest body of a perception, for the guard: an image of 8
// MiB in base64, and what is around it.
const MaxPerception = 12 << 20

type (
	// OfCompanion is the input of every operation about one companion. It is upper
	// case for the same reason as InRoom.
	OfCompanion struct {
		ID string `path:"id" doc:"The companion's id." example:"nikoni"`
	}
	companionDetail struct {
		Companion
		Card   json.RawMessage `json:"card,omitempty" doc:"Its definition, where it has one."`
		Senses map[string]int  `json:"senses" doc:"What it was offered to perceive since the daemon started: taken = judged + failed + replaced + waiting; of these were cooled; besides, refused and said (input)."`
	}
	perceiveIn struct {
		OfCompanion
		ContentType string `header:"Content-Type" hidden:"true"`
		Wait        int    `query:"wait" minimum:"0" maximum:"55" doc:"Wait up to so many seconds for the judgement."`

		body io.Reader
	}
	perceiveOut struct {
		Status int
		Body   takenOut
	}
	takenOut struct {
		Room    string       `json:"room" doc:"Where: the companion's home."`
		State   string       `json:"state" enum:"said,queued,cooling,judged,replaced" doc:"said: it was input, and is a message now. queued, cooling: it will be judged, or of frames a newer one takes its place. judged, replaced: so it was, while you waited."`
		Seq     uint64       `json:"seq,omitempty" doc:"With queued and cooling: of the entry in which it waits, also through a restart. None where a newer one may take its place."`
		Message *abi.Message `json:"message,omitempty" doc:"With said."`
		Judged  *abi.Judged  `json:"judged,omitempty" doc:"With judged."`
	}
	// perceptionBody describes what perceive reads by itself, since it may be a form.
	perceptionBody struct {
		Title     string `json:"title" doc:"Which of the card's perceptions." example:"vision"`
		Format    string `json:"format" enum:"object,text,image"`
		Body      any    `json:"body" doc:"Of a text the text, of an object any JSON, or a string that holds it; of an image base64, or a data: URL."`
		MediaType string `json:"media_type,omitempty" doc:"Of an image. Found out when left out." example:"image/png"`
		From      string `json:"from,omitempty" doc:"Who sends it. With a token it is the token's name, and may be left out." example:"camera-1"`
	}
	// verbatim is a file as it is.
	verbatim struct {
		ContentType string `header:"Content-Type" hidden:"true"`
		Body        []byte
	}
)

// Resolve keeps the request's body for perceive to read. huma would copy it, and keep
// the copy until the request was answered, which may be a minute for an image.
func (in *perceiveIn) Resolve(ctx huma.Context) []error {
	in.body = ctx.BodyReader()
	return nil
}

func registerSenses(api huma.API, d *door) {
	add(api, identity.Read, d.companion, http.MethodGet, "/v1/companions/{id}", "get-companion", "Look at one companion", http.StatusOK)
	addAs(api, identity.Read, d.card, operation(api, http.MethodGet, "/v1/companions/{id}/card", "get-card", "Read a companion's definition, as its file has it", http.StatusOK))
	addAs(api, identity.Read, d.cardSchema, operation(api, http.MethodGet, "/v1/schemas/companion.json", "get-card-schema", "Read the JSON Schema of definitions", http.StatusOK))
	op := operation(api, http.MethodPost, "/v1/companions/{id}/perceptions", "perceive", "Let a companion perceive something", http.StatusAccepted)
	op.Description = "Perceptions that are input need the scope talk, the others act. They are judged in order. Of frames that wait only the newest is judged: those are images, and what the card says with coalesce. All others are in the journal when this answers, and are judged also after a restart. When too many wait the answer is 429 with Retry-After."
	addAs(api, "", d.perceive, op)
}

// describePerceptions says what huma cannot find out by itself.
func describePerceptions(doc *huma.OpenAPI) {
	file := map[string]*huma.Schema{
		"title":      {Type: huma.TypeString, Description: "Which of the card's perceptions."},
		"format":     {Type: huma.TypeString, Enum: []any{card.FormatImage}, Description: "May be left out: a form carries an image."},
		"media_type": {Type: huma.TypeString, Description: "Of the image, as in JSON. It counts for more than the file's own."},
		"from":       {Type: huma.TypeString, Description: "Who sends it, as in JSON."},
		"image":      {Type: huma.TypeString, Format: "binary", Description: "The image. The field may have another name."},
	}
	op := doc.Paths["/v1/companions/{id}/perceptions"].Post
	op.RequestBody = &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{
		"application/json":    {Schema: doc.Components.Schemas.Schema(reflect.TypeFor[perceptionBody](), true, "")},
		"multipart/form-data": {Schema: &huma.Schema{Type: huma.TypeObject, Properties: file, Required: []string{"title", "image"}}},
	}}
	content := op.Responses["202"].Content
	op.Responses["200"] = &huma.Response{Description: "It was judged, or replaced, while you waited", Content: content}
	op.Responses["201"] = &huma.Response{Description: "It was said", Content: content}
	object := &huma.Schema{Type: huma.TypeObject}
	doc.Paths["/v1/companions/{id}/card"].Get.Responses["200"].Content = map[string]*huma.MediaType{"application/json": {Schema: object}}
	doc.Paths["/v1/schemas/companion.json"].Get.Responses["200"].Content = map[string]*huma.MediaType{"application/schema+json": {Schema: object}}
}

// refusal is what a client sees of an error, with how long to wait where that is
// known.
func refusal(err error) error {
	d := guard.DetailsOf(err)
	if after := guard.RetryAfter(err); after != "" {
		return huma.ErrorWithHeaders(d, http.Header{"Retry-After": {after}})
	}
	return d
}

func (d *door) companion(_ context.Context, in *OfCompanion) (out companionDetail, err error) {
	all := d.cfg.Companions()
	i := slices.IndexFunc(all, func(c Companion) bool { return c.ID == in.ID })
	if i < 0 {
		return out, abi.Errorf(abi.CodeNotFound, "companion: there is no %.64q", in.ID)
	}
	out = companionDetail{Companion: all[i], Senses: d.cfg.Perceptions.Counts(in.ID)}
	if c, err := d.cfg.Cards(in.ID); err == nil && c != nil {
		out.Card = c.Source()
	}
	return out, nil
}

func (d *door) card(_ context.Context, in *OfCompanion) (*verbatim, error) {
	c, err := d.cfg.Cards(in.ID)
	if err != nil {
		return nil, err
	}
	if c == nil {
		return nil, abi.Errorf(abi.CodeNotFound, "card: %s has none", in.ID)
	}
	return &verbatim{"application/json", c.Source()}, nil
}

func (d *door) cardSchema(context.Context, *struct{}) (*verbatim, error) {
	return &verbatim{"application/schema+json", card.Schema()}, nil
}

func (d *door) perceive(ctx context.Context, in *perceiveIn) (*perceiveOut, error) {
	taken, err := d.take(ctx, in)
	if err != nil {
		return nil, err
	}
	guard.BodyDone(ctx)
	home, err := d.cfg.Rooms.Home(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	out := &perceiveOut{http.StatusAccepted, takenOut{Room: home.Name(), State: taken.State, Seq: taken.Seq, Message: taken.Message}}
	if taken.Message != nil {
		out.Status = http.StatusCreated
		return out, nil
	}
	if in.Wait == 0 {
		return out, nil
	}
	wait, cancel := d.patience(ctx, time.Duration(in.Wait)*time.Second)
	defer cancel()
	select {
	case o := <-taken.Outcome:
		switch {
		case o.Err != nil:
			return nil, o.Err
		case o.Replaced:
			return &perceiveOut{http.StatusOK, takenOut{Room: home.Name(), State: "replaced"}}, nil
		}
		return &perceiveOut{http.StatusOK, takenOut{Room: home.Name(), State: "judged", Judged: &o.Judged}}, nil
	case <-wait.Done():
		return out, nil
	}
}

// take reads a perception and offers it. Nothing of the body is kept after that.
func (d *door) take(ctx context.Context, in *perceiveIn) (perception.Taken, error) {
	raw, err := guard.ReadBody(in.body, MaxPerception)
	if err != nil {
		return perception.Taken{}, err
	}
	p, from, err := readPerception(in.ContentType, raw)
	if err != nil {
		return perception.Taken{}, err
	}
	taken, err := d.offer(ctx, in.ID, p, from)
	if e := abi.AsError(err); e != nil && e.Field != "" {
		if p.Image != nil && e.Field == "body" { // it came in a form, which has no such field
			err = abi.Field("image", e.Code, "%s", e.Reason())
		}
		err = inBody(err)
	}
	return taken, err
}

// patience bounds how long somebody waits for what a companion makes of something.
func (d *door) patience(ctx context.Context, most time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(ctx, most)
	forget := context.AfterFunc(d.cfg.Stopping, cancel)
	return ctx, func() { forget(); cancel() }
}

// offer hands on a perception of whoever asks, who may leave its name out.
func (d *door) offer(ctx context.Context, companion string, p card.Percept, claimed string) (perception.Taken, error) {
	caller := identity.Of(ctx)
	if err := caller.May(d.scopeOf(companion, p.Title)); err != nil {
		return perception.Taken{}, err
	}
	if claimed == "" && caller.Guest {
		claimed = guest
	}
	from, _, err := caller.From(claimed, abi.KindHuman)
	if err == nil {
		err = abi.CheckName("from", from)
	}
	if err != nil {
		return perception.Taken{}, err
	}
	return d.cfg.Perceptions.Offer(ctx, companion, p, from)
}

// scopeOf says what somebody must be allowed for a perception: to talk for what
// people say, to act for everything else, also what does not exist.
func (d *door) scopeOf(companion, title string) identity.Scope {
	if c, err := d.cfg.Cards(companion); err == nil && c != nil {
		if p, ok := c.Perception(title); ok && p.Input {
			return identity.Talk
		}
	}
	return identity.Act
}
