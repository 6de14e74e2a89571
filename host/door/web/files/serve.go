package files

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/door/guard"
	"github.com/companiond/companiond/host/identity"
	"github.com/companiond/companiond/host/module/files"
	"github.com/companiond/companiond/sdk/scaffold"
)

// Register adds the operations to an API.
func Register(api huma.API, op Operation, store Store) {
	d := &door{store}
	const all, one = "/v1/characters", "/v1/characters/{file}"
	const makers = "Needs the scope admin, or, where there are no tokens, a caller on the same machine."
	forMakers := func(method, path, id, summary, more string) huma.Operation {
		o := op(method, path, id, summary, http.StatusOK)
		o.Description, o.MaxBodyBytes = strings.TrimSpace(makers+" "+more), MaxBody
		return o
	}
	add(api, d.list, forMakers(http.MethodGet, all, "list-characters", "List the files of characters", "Only files with one text, directly in the folder."))
	add(api, d.read, forMakers(http.MethodGet, one, "get-character", "Read the file of a character", ""))
	add(api, d.check, forMakers(http.MethodPost, one+"/check", "check-character", "Ask what is wrong with a text", "It is loaded as it would be from the folder, and nothing is changed."))
	add(api, d.save, forMakers(http.MethodPut, one, "save-character", "Save the file of a character",
		"Nothing changes where the text has a mistake (400, as of check-character), or the file is another than If-Match says (412). What it was stays beside it, as FILE~. Running rooms have the new one a moment later."))
	remove := forMakers(http.MethodDelete, one, "delete-character", "Delete the file of a character", "What it was stays beside it, as FILE~. The character leaves a moment later.")
	remove.DefaultStatus = http.StatusNoContent
	add(api, d.remove, remove)
	add(api, d.samples, forMakers(http.MethodGet, "/v1/character-samples", "character-samples", "Get what a new character may begin with", "Nothing is saved."))
}

// add adds an operation for makers.
func add[I, O any](api huma.API, h func(context.Context, *I) (*O, error), op huma.Operation) {
	huma.Register(api, op, func(ctx context.Context, in *I) (*O, error) {
		if err := identity.Of(ctx).Maker(); err != nil {
			return nil, refusal(err)
		}
		out, err := h(ctx, in)
		if err != nil {
			return nil, refusal(err)
		}
		return out, nil
	})
}

func (d *door) list(context.Context, *struct{}) (*body[filesOut], error) {
	all, readOnly, err := d.store.List()
	out := filesOut{Files: []CharacterFile{}}
	for _, f := range all {
		out.Files = append(out.Files, shown(f))
	}
	if readOnly != nil {
		out.ReadOnly = abi.AsError(readOnly).Message
	}
	return &body[filesOut]{out}, err
}

func shown(f files.File) CharacterFile {
	return CharacterFile{f.Name, f.ID, string(f.Kind), f.Size, f.Modified, f.Deleted, f.Before}
}

func (d *door) read(_ context.Context, in *readIn) (*textOut, error) {
	f, err := d.store.Read(in.File, in.Before)
	return &textOut{tag(f.Hash), CharacterText{shown(f), f.Text, f.Hash}}, err
}

func tag(hash string) string { return `"` + hash + `"` }

// hashIn gives the hash that If-Match has.
func hashIn(match string) (hash string, ok bool) {
	hash, ok = strings.CutPrefix(strings.TrimSpace(match), `"`)
	if ok {
		hash, ok = strings.CutSuffix(hash, `"`)
	}
	return hash, ok && hash != "" && !strings.ContainsAny(hash, `", `)
}

func (d *door) check(ctx context.Context, in *checkIn) (*body[checkOut], error) {
	out := checkOut{[]TextProblem{}}
	err := d.store.Check(ctx, in.File, in.Body.Text)
	var wrong *files.Refused
	if errors.As(err, &wrong) {
		for _, p := range wrong.Problems {
			out.Problems = append(out.Problems, TextProblem(p))
		}
		err = nil
	}
	return &body[checkOut]{out}, err
}

func (d *door) save(ctx context.Context, in *saveIn) (*saveOut, error) {
	hash, match := hashIn(in.IfMatch)
	switch anew := strings.TrimSpace(in.IfNoneMatch) == "*"; {
	case in.IfMatch == "" && in.IfNoneMatch == "":
		return nil, abi.Field("If-Match", abi.CodeInvalid, "is missing: send the hash of what was read, in quotes, or, for a new file, If-None-Match: *")
	case in.IfMatch != "" && in.IfNoneMatch != "", in.IfMatch != "" && !match, in.IfNoneMatch != "" && !anew:
		return nil, abi.Field("If-Match", abi.CodeInvalid, `must be one hash in quotes, or If-None-Match: * stand there in its place`)
	}
	now, err := d.store.Save(ctx, in.File, in.Body.Text, hash)
	out := &saveOut{ETag: tag(now)}
	out.Body.Hash = now
	return out, err
}

func (d *door) remove(_ context.Context, in *deleteIn) (*struct{}, error) {
	hash, ok := hashIn(in.IfMatch)
	if !ok {
		return nil, abi.Field("If-Match", abi.CodeInvalid, "must be the hash of what was read, in quotes")
	}
	return nil, d.store.Delete(in.File, hash)
}

func (d *door) samples(_ context.Context, in *sampleIn) (*body[sampleOut], error) {
	out := sampleOut{[]CharacterSample{}}
	kinds := map[scaffold.Lang]files.Kind{scaffold.Card: files.Card, scaffold.Talk: files.Script, scaffold.TypeScript: files.TypeScript}
	for _, lang := range scaffold.Ones() {
		o := scaffold.One{Name: in.Name, Lang: lang, Ja: in.Language == "ja"}
		text, err := o.Text()
		if err != nil {
			return nil, err
		}
		out.Samples = append(out.Samples, CharacterSample{o.File(), string(kinds[lang]), text})
	}
	return &body[sampleOut]{out}, nil
}

// refusal gives an error as this API answers it, with the place in the request, or in the text, that it is about.
func refusal(err error) error {
	d := *guard.DetailsOf(err)
	var wrong *files.Refused
	var e *abi.Error
	switch {
	case errors.As(err, &wrong):
		for _, p := range wrong.Problems {
			d.Errors = append(d.Errors, guard.Field{Location: placed(p), Message: p.Text})
		}
	case d.Status >= http.StatusInternalServerError || len(d.Errors) > 0 || !errors.As(err, &e):
	case e.Code == abi.CodeConflict:
		d.Status = http.StatusPreconditionFailed
	case e.Field == "file":
		d.Errors = []guard.Field{{Location: "path.file", Message: e.Reason()}}
	case e.Field == "name":
		d.Errors = []guard.Field{{Location: "query.name", Message: e.Reason()}}
	case e.Field == "text":
		d.Errors = []guard.Field{{Location: "body.text", Message: e.Reason()}}
	case e.Field == "If-Match":
		d.Errors = []guard.Field{{Location: "header.If-Match", Message: e.Reason()}}
	}
	d.Title = http.StatusText(d.Status)
	return &d
}

// placed is where in the text a problem is: "body.text", line and column behind it, and the path of a card.
func placed(p files.Problem) string {
	at := "body.text"
	if p.Line > 0 {
		at += fmt.Sprintf(":%d", p.Line)
	}
	if p.Column > 0 {
		at += fmt.Sprintf(":%d", p.Column)
	}
	if p.Path != "" {
		at += " " + p.Path
	}
	return at
}
