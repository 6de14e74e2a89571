package web

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"slices"
	"strings"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/card"
	"github.com/companiond/companiond/host/door/guard"
)

// maxField bounds a field of a form that is not the file.
const maxField = 1 << 10

// readPerception reads the body of a perception, which is JSON or a form. Nothing
// of what it gives is of raw: a perception that waits to be judged must not keep all of that.
func readPerception(contentType string, raw []byte) (p card.Percept, from string, err error) {
	kind, params, err := mime.ParseMediaType(contentType)
	switch {
	case contentType == "", err == nil && kind == "application/json":
		return readJSON(raw)
	case err == nil && kind == "multipart/form-data":
		return readForm(raw, params["boundary"])
	}
	d := guard.DetailsOf(abi.Errorf(abi.CodeInvalid, "body: send it with Content-Type: application/json or multipart/form-data"))
	d.Status, d.Title = http.StatusUnsupportedMediaType, http.StatusText(http.StatusUnsupportedMediaType)
	return p, "", d
}

func readJSON(raw []byte) (p card.Percept, from string, err error) {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(raw, &all); err != nil || all == nil {
		why := "expected object"
		if syntax := (*json.SyntaxError)(nil); errors.As(err, &syntax) {
			why = syntax.Error()
		}
		return p, "", inBody(abi.Errorf(abi.CodeInvalid, "%s", why))
	}
	texts := map[string]*string{"title": &p.Title, "format": &p.Format, "media_type": &p.MediaType, "from": &from}
	var wrong []error
	for name, value := range all {
		into, known := texts[name]
		switch {
		case name == "body":
			p.Body = value
		case !known:
			wrong = append(wrong, abi.Field(clip(name), abi.CodeInvalid, "is not a known field"))
		case value[0] != '"' || json.Unmarshal(value, into) != nil:
			wrong = append(wrong, abi.Field(name, abi.CodeInvalid, "expected string"))
		}
	}
	for _, name := range []string{"title", "format", "body"} {
		if _, there := all[name]; !there {
			wrong = append(wrong, abi.Field(name, abi.CodeInvalid, "is missing"))
		}
	}
	slices.SortFunc(wrong, func(a, b error) int { return strings.Compare(abi.AsError(a).Field, abi.AsError(b).Field) })
	return p, from, inBody(wrong[:min(len(wrong), 10)]...)
}

// clip keeps what a client wrote short.
func clip(s string) string {
	if len(s) > 64 {
		return s[:64] + "..."
	}
	return s
}

// readForm reads an image that is sent as a file: the fields of JSON but body, of
// which format may be left out, and one file under any name.
func readForm(raw []byte, boundary string) (p card.Percept, from string, err error) {
	unread := bytes.NewReader(raw)
	form := multipart.NewReader(unread, boundary)
	var said string
	texts := map[string]*string{"title": &p.Title, "format": &p.Format, "media_type": &said, "from": &from}
	for {
		part, err := form.NextRawPart()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return p, "", brokenForm(err)
		}
		name := part.FormName()
		into, known := texts[name]
		isFile := part.FileName() != ""
		switch {
		case isFile && p.Image != nil:
			return p, "", ofForm(name, abi.CodeInvalid, "is the second file, and a perception is one image")
		case !isFile && !known:
			return p, "", ofForm(name, abi.CodeInvalid, "is not a known field, and no file")
		}
		data, err := readPart(part, isFile, unread.Len())
		switch {
		case err != nil:
			return p, "", brokenForm(err)
		case isFile:
			p.Image, p.MediaType = data, mediaType(part.Header.Get("Content-Type"))
		case len(data) > maxField:
			return p, "", ofForm(name, abi.CodeTooLarge, "%d bytes, at most %d", len(data), maxField)
		default:
			*into = string(data)
		}
	}
	if p.Format != "" && p.Format != card.FormatImage {
		return p, "", ofForm("format", abi.CodeInvalid, "is %q, must be %q: a form carries an image", clip(p.Format), card.FormatImage)
	}
	p.Format = card.FormatImage
	if said != "" {
		p.MediaType = said
	}
	return p, from, inBody(missing(p)...)
}

// readPart reads a part of a form, of which the reader below has so many bytes that
// are not read yet. A file gets memory for them at once: growing would take several
// times of that.
func readPart(part *multipart.Part, isFile bool, unread int) ([]byte, error) {
	b := &bytes.Buffer{}
	if isFile {
		b = bytes.NewBuffer(make([]byte, 0, unread+8<<10)) // and what the form's reader has read ahead
	}
	_, err := b.ReadFrom(part)
	return b.Bytes(), err
}

// missing tells what a form has to have and p has not.
func missing(p card.Percept) (wrong []error) {
	if p.Title == "" {
		wrong = append(wrong, abi.Field("title", abi.CodeInvalid, "is missing"))
	}
	if len(p.Image) == 0 {
		wrong = append(wrong, abi.Field("image", abi.CodeInvalid, "is missing: send the image as a file"))
	}
	return wrong
}

func brokenForm(err error) error {
	return inBody(abi.Errorf(abi.CodeInvalid, "is no form that can be read: %v", err))
}

// ofForm is what is wrong with one field of a form.
func ofForm(name string, code abi.Code, format string, args ...any) error {
	return inBody(abi.Field(clip(name), code, format, args...))
}

// mediaType gives the media type of a part, "" where it says nothing: many clients
// send every file as bytes of any kind.
func mediaType(header string) string {
	kind, _, err := mime.ParseMediaType(header)
	if err != nil || kind == "application/octet-stream" {
		return ""
	}
	return kind
}
