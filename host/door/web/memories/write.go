package memories

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/memory"
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
		Visibility abi.Visibility `json:"visibility,omitempty" enum:"room,person,all" doc:"Where it may be used. Nobody said it in a room, so it is person when left out: where one of those is whom it is about, or, about nobody, who wrote it."`
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
	if err := d.known(ctx, in.ID); err != nil {
		return abi.Memory{}, err
	}
	kept, err := d.cfg.Memories.Write(ctx, in.ID, abi.MemoryAdd{Kind: b.Kind, Text: b.Text, About: b.About, Keys: b.Keys, Importance: b.Importance}, b.Visibility, a.name)
	return kept, inPath("text", "kind", "about", "keys", "importance", "visibility").of(err)
}

func (d *door) edit(ctx context.Context, in *editIn) (abi.Memory, error) {
	a, err := keeper(ctx)
	if err != nil {
		return abi.Memory{}, err
	}
	b := in.Body
	c := memory.Changes{Text: b.Text, Keys: b.Keys, Importance: b.Importance, Visibility: b.Visibility}
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
	if c == (memory.Changes{}) {
		return abi.Memory{}, at("body", abi.Errorf(abi.CodeInvalid, "says nothing to change: give text, keys, importance, visibility or valid_to"))
	}
	now, err := d.cfg.Memories.Edit(ctx, in.ID, in.Memory, c, a.name)
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
		field := fmt.Sprintf("about[%d]", i)
		if len(name) > abi.MaxName {
			return abi.Field(field, abi.CodeTooLarge, "%d bytes, at most %d", len(name), abi.MaxName)
		}
		if err := abi.CheckName(field, name); err != nil {
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
