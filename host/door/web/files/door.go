// Package files is the files of characters over HTTP, for makers who never need the shell: which there are, a file's text,
// what is wrong with one, saving and deleting, and what a new character may begin with. docs/MAKERS.md has the rest.
//
// Rights are here, those of [identity.Caller.Maker]. The package touches no file itself.
package files

import (
	"context"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/companiond/companiond/host/module/files"
)

// Store has the files. *files.Store implements it.
type Store interface {
	List() (all []files.File, readOnly error, err error)
	Read(name string, was bool) (files.File, error)
	Check(ctx context.Context, name, text string) error
	Save(ctx context.Context, name, text, hash string) (now string, err error)
	Delete(name, hash string) error
}

var _ Store = (*files.Store)(nil)

// MaxBody is the largest body of a request, for the guard: a text, every letter of it escaped.
const MaxBody = 2 << 20

// Operation makes an operation of the API as its other ones are, in problems and bounds.
type Operation func(method, path, id, summary string, status int) huma.Operation

// CharacterFile is a file of a character as the door shows it.
type CharacterFile struct {
	File     string    `json:"file" doc:"Its name." example:"momo.talk.txt"`
	ID       string    `json:"id" doc:"The character's id." example:"momo"`
	Kind     string    `json:"kind" enum:"card,script,javascript,typescript" doc:"What it is written in."`
	Bytes    int64     `json:"bytes" doc:"How long it is."`
	Modified time.Time `json:"modified" doc:"When it was last written."`
	Deleted  bool      `json:"deleted,omitempty" doc:"It is gone, and what it was can still be read."`
	Before   bool      `json:"before,omitempty" doc:"What it was before its last save here can be read."`
}

// CharacterText is a file with what stands in it.
type CharacterText struct {
	CharacterFile
	Text string `json:"text" doc:"What stands in it."`
	Hash string `json:"hash" doc:"SHA-256 of it, in hex, which If-Match wants in quotes; ETag is the same."`
}

// TextProblem is one thing wrong with a text.
type TextProblem struct {
	Line   int    `json:"line,omitempty" doc:"In which line, from 1; absent: it is about the file as a whole."`
	Column int    `json:"column,omitempty" doc:"At which letter of it, from 1; absent where that is not known."`
	Path   string `json:"path,omitempty" doc:"Of a card, where in it." example:"actions[1].title"`
	Text   string `json:"text" doc:"What is wrong."`
}

type (
	body[T any] struct{ Body T }
	filesOut    struct {
		Files    []CharacterFile `json:"files" doc:"By name."`
		ReadOnly string          `json:"read_only,omitempty" doc:"Why no file can be saved, and what to do; absent: they can."`
	}
	readIn struct {
		Named
		Before bool `query:"before" doc:"What it was before its last save here, or before it was deleted here."`
	}
	textOut struct {
		ETag string `header:"ETag"`
		Body CharacterText
	}
	textBody struct {
		Text string `json:"text" doc:"What is to stand in it, at most 256 KiB."`
	}
	checkIn struct {
		Named
		Body textBody
	}
	checkOut struct {
		Problems []TextProblem `json:"problems" doc:"What is wrong, in order of lines; empty when it can be saved."`
	}
	saveIn struct {
		Named
		IfMatch     string `header:"If-Match" doc:"The hash of what it was when it was read, in quotes."`
		IfNoneMatch string `header:"If-None-Match" doc:"* for a file that is not there yet."`
		Body        textBody
	}
	saveOut struct {
		ETag string `header:"ETag"`
		Body struct {
			Hash string `json:"hash" doc:"SHA-256 of what is there now."`
		}
	}
	deleteIn struct {
		Named
		IfMatch string `header:"If-Match" doc:"The hash of what it was when it was read, in quotes."`
	}
	sampleIn struct {
		Name     string `query:"name" required:"true" doc:"The id of the new character." example:"momo"`
		Language string `query:"language" enum:"en,ja" default:"en" doc:"What it says is in this language."`
	}
	sampleOut struct {
		Samples []CharacterSample `json:"samples" doc:"One for each thing that a character can be."`
	}
)

// Named is the input of every operation on a file. Its name is upper case because huma passes over embedded fields that are not.
type Named struct {
	File string `path:"file" doc:"The file's name: the character's id, and .json, .talk.txt, .js or .ts." example:"momo.talk.txt"`
}

// CharacterSample is a file that a new character may begin with.
type CharacterSample struct {
	File string `json:"file" doc:"Its name." example:"momo.json"`
	Kind string `json:"kind" enum:"card,script,typescript" doc:"What it is written in."`
	Text string `json:"text" doc:"What stands in it."`
}

type door struct{ store Store }
