package memories

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/identity"
)

type (
	addIn struct {
		ID   string `path:"id" doc:"The companion's id." example:"kyoko"`
		Body addMemoryBody
	}
	addMemoryBody struct {
		Text       string         `json:"text" doc:"What is to be remembered, at most 2 KiB." example:"Mika's cat is called Tama."`
		Kind       abi.MemoryKind `json:"kind,omitempty" enum:"fact,episode" doc:"A fact when left out."`
		About      []string       `json:"about,omitempty" doc:"Names of those whom it is about, at most 16." example:"[\"mika\"]"`
		Keys       []string       `json:"keys,omitempty" doc:"What it is found by besides its words, at most 16."`
		Importance int            `json:"importance,omitempty" minimum:"1" maximum:"5" doc:"3 when left out."`
		Visibility abi.Visibility `json:"visibility,omitempty" enum:"room,person,all" doc:"Where it may be used. Nobody said it in a room, so it is all when left out."`
	}
	editIn struct {
		ID     string `path:"id" doc:"The companion's id." example:"kyoko"`
		Memory string `path:"memory" doc:"The memory's id."`
		Body   editMemoryBody
	}
	editMemoryBody struct {
		Text       *string         `json:"text,omitempty" doc:"What is remembered instead, at most 2 KiB."`
		Keys       *[]string       `json:"keys,omitempty" doc:"What it is found by, at most 16; they take the place of those that are there."`
		Importance *int            `json:"importance,omitempty" minimum:"1" maximum:"5" doc:"How much it matters."`
		Visibility *abi.Visibility `json:"visibility,omitempty" enum:"room,person,all" doc:"Where it may be used."`
		ValidTo    *string         `json:"valid_to,omitempty" doc:"It was so until then, a time like 2026-01-02T03:04:05Z; empty: it still is."`
	}
	forgetIn   struct{ Body forgetBody }
	forgetBody struct {
		Who       string `json:"who,omitempty" doc:"Whose words are erased." example:"mika"`
		Fact      string `json:"fact,omitempty" doc:"Or the id of the one memory that is."`
		Companion string `json:"companion,omitempty" doc:"With fact: whose memory it is." example:"kyoko"`
		DryRun    bool   `json:"dry_run,omitempty" doc:"Erase nothing, and say what would go."`
		Confirm   string `json:"confirm,omitempty" doc:"Who or fact once more: nothing brings back what is erased." example:"mika"`
	}
	forgottenOut struct {
		DryRun    bool   `json:"dry_run" doc:"Nothing was erased."`
		Who       string `json:"who,omitempty" doc:"Whose words these are."`
		Companion string `json:"companion,omitempty" doc:"Whose memory it is."`
		Fact      string `json:"fact,omitempty" doc:"The memory's id."`
		Gone
	}
)

func (d *door) add(ctx context.Context, in *addIn) (abi.Memory, error) {
	a, err := keeper(ctx)
	if err != nil {
		return abi.Memory{}, err
	}
	b := in.Body
	if err := inBody(checkText(b.Text), checkNames(b.About), checkKeys(b.Keys)); err != nil {
		return abi.Memory{}, err
	}
	m := abi.Memory{Kind: b.Kind, Text: b.Text, About: b.About, Keys: b.Keys, Importance: b.Importance, Visibility: b.Visibility}
	if m.Kind == "" {
		m.Kind = abi.MemoryFact
	}
	if m.Importance == 0 {
		m.Importance = 3
	}
	if m.Visibility == "" {
		m.Visibility = abi.VisibleAll
	}
	kept, err := d.cfg.Memories.Add(ctx, in.ID, a.name, m)
	return kept, inPath("text", "kind", "about", "keys", "importance", "visibility").of(err)
}

func (d *door) edit(ctx context.Context, in *editIn) (abi.Memory, error) {
	a, err := keeper(ctx)
	if err != nil {
		return abi.Memory{}, err
	}
	b := in.Body
	c := Change{Text: b.Text, Keys: b.Keys, Importance: b.Importance, Visibility: b.Visibility}
	var wrong []error
	if b.Text != nil {
		wrong = append(wrong, checkText(*b.Text))
	}
	if b.Keys != nil {
		wrong = append(wrong, checkKeys(*b.Keys))
	}
	if b.ValidTo != nil {
		until, err := parseTime(*b.ValidTo)
		c.ValidTo, wrong = &until, append(wrong, err)
	}
	if err := inBody(wrong...); err != nil {
		return abi.Memory{}, err
	}
	if c == (Change{}) {
		return abi.Memory{}, at("body", abi.Errorf(abi.CodeInvalid, "says nothing to change: give text, keys, importance, visibility or valid_to"))
	}
	now, err := d.cfg.Memories.Edit(ctx, in.ID, in.Memory, a.name, c)
	return now, inPath("text", "keys", "importance", "visibility", "valid_to").of(err)
}

// parseTime reads until when something was so, in the milliseconds that are kept.
func parseTime(s string) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		return t, abi.Field("valid_to", abi.CodeInvalid, "is no time like 2026-01-02T03:04:05Z")
	}
	return t.UTC().Truncate(time.Millisecond), nil
}

func (d *door) erase(ctx context.Context, in *oneIn) (out forgottenOut, err error) {
	a, err := who(ctx, identity.Talk)
	if err != nil {
		return out, err
	}
	return d.eraseOne(ctx, a, *in, false, inPath())
}

// eraseOne erases one memory that is the asker's to erase.
func (d *door) eraseOne(ctx context.Context, a asker, of oneIn, dry bool, p places) (out forgottenOut, err error) {
	if _, err := d.get(ctx, a, of, p); err != nil {
		return out, err
	}
	out, err = d.gone(ctx, Forget{Companion: of.ID, Fact: of.Memory, By: a.name, DryRun: dry})
	return out, p.of(err)
}

func (d *door) forget(ctx context.Context, in *forgetIn) (out forgottenOut, err error) {
	a, err := who(ctx, identity.Talk)
	if err != nil {
		return out, err
	}
	b := in.Body
	what, err := b.what()
	if err != nil {
		return out, err
	}
	if !b.DryRun && b.Confirm != what {
		return out, at("body.confirm", abi.Errorf(abi.CodeInvalid, "must be %.64q once more, for nothing brings back what is erased; dry_run says what would go", what))
	}
	if b.Fact != "" {
		return d.eraseOne(ctx, a, oneIn{b.Companion, b.Fact}, b.DryRun, places{"companion": "body.companion", "id": "body.fact", "fact": "body.fact"})
	}
	if !a.about(b.Who) {
		return out, at("body.who", abi.Errorf(abi.CodeDenied, "this token is %s's, who may have %[1]s forgotten and nobody else", a.name))
	}
	out, err = d.gone(ctx, Forget{Who: b.Who, By: a.name, DryRun: b.DryRun})
	return out, places{"who": "body.who"}.of(err)
}

// what gives the one thing that is to be erased, as it is to be confirmed.
func (b forgetBody) what() (string, error) {
	switch {
	case b.Who == "" && b.Fact == "":
		return "", at("body.who", abi.Errorf(abi.CodeInvalid, "is missing: say who, or fact and companion"))
	case b.Who != "" && b.Fact != "":
		return "", at("body.fact", abi.Errorf(abi.CodeInvalid, "is not for a request with who: one thing is erased at a time"))
	case b.Who != "" && b.Companion != "":
		return "", at("body.companion", abi.Errorf(abi.CodeInvalid, "goes with fact: whoever is forgotten is forgotten by all"))
	case b.Fact != "" && b.Companion == "":
		return "", at("body.companion", abi.Errorf(abi.CodeInvalid, "is missing: whose memory is it?"))
	case b.Fact != "":
		return b.Fact, nil
	}
	return b.Who, at("body.who", abi.CheckName("who", b.Who))
}

// gone erases. What was begun is not given up because whoever asked is gone.
func (d *door) gone(ctx context.Context, f Forget) (forgottenOut, error) {
	if !f.DryRun {
		ctx = context.WithoutCancel(ctx)
	}
	gone, err := d.cfg.Forgetting.Forget(ctx, f)
	gone.Stores, gone.Left = append([]Count{}, gone.Stores...), append([]string{}, gone.Left...)
	return forgottenOut{f.DryRun, f.Who, f.Companion, f.Fact, gone}, err
}

func checkText(text string) error {
	if len(text) > abi.MaxMemoryText {
		return abi.Field("text", abi.CodeTooLarge, "%d bytes, at most %d", len(text), abi.MaxMemoryText)
	}
	return abi.CheckText("text", text)
}

func checkNames(about []string) error {
	if len(about) > abi.MaxMemoryKeys {
		return abi.Field("about", abi.CodeTooLarge, "%d names, at most %d", len(about), abi.MaxMemoryKeys)
	}
	for i, name := range about {
		if err := abi.CheckName(fmt.Sprintf("about[%d]", i), name); err != nil {
			return err
		}
	}
	return nil
}

func checkKeys(keys []string) error {
	if len(keys) > abi.MaxMemoryKeys {
		return abi.Field("keys", abi.CodeTooLarge, "%d keys, at most %d", len(keys), abi.MaxMemoryKeys)
	}
	for i, key := range keys {
		field := fmt.Sprintf("keys[%d]", i)
		if len(key) > abi.MaxName {
			return abi.Field(field, abi.CodeTooLarge, "%d bytes, at most %d", len(key), abi.MaxName)
		}
		if err := abi.CheckText(field, key); err != nil {
			return err
		}
		if strings.ContainsAny(key, "\r\n") {
			return abi.Field(field, abi.CodeInvalid, "is more than one line")
		}
	}
	return nil
}
