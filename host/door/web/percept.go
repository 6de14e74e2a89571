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

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/card"
	"github.com/companiond/companiond/host/door/gate"
)

// maxField bounds a field of a form that is not the file.
const maxField = 1 << 10

// readPerception reads the body of a perception, which is JSON or a form. Nothing
// of what it gives is of raw, which is used again.
func readPerception(contentType string, raw []byte) (p card.Percept, from string, err error) {
	kind, params, err := mime.ParseMediaType(contentType)
	switch {
	case contentType == "", err == nil && kind == "application/json":
		return readJSON(raw)
	case err == nil && kind == "multipart/form-data":
		return readForm(raw, params["boundary"])
	}
	d := gate.DetailsOf(abi.Errorf(abi.CodeInvalid, "body: send it with Content-Type: application/json or multipart/form-data"))
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
		return p, "", fields(at("body", abi.Errorf(abi.CodeInvalid, "body: %s", why)))
	}
	texts := map[string]*string{"title": &p.Title, "format": &p.Format, "media_type": &p.MediaType, "from": &from}
	var wrong []error
	for name, value := range all {
		into, known := texts[name]
		switch {
		case name == "body":
			p.Body = value
		case !known:
			wrong = append(wrong, at("body."+clip(name), abi.Errorf(abi.CodeInvalid, "field: is not a known field")))
		case value[0] != '"' || json.Unmarshal(value, into) != nil:
			wrong = append(wrong, at("body."+name, abi.Errorf(abi.CodeInvalid, "field: expected string")))
		}
	}
	for _, name := range []string{"title", "format", "body"} {
		if _, there := all[name]; !there {
			wrong = append(wrong, at("body."+name, abi.Errorf(abi.CodeInvalid, "field: is missing")))
		}
	}
	return p, from, refuseFields(wrong)
}

// refuseFields makes one refusal of findings, the fields by name, a few of them.
func refuseFields(wrong []error) error {
	if len(wrong) == 0 {
		return nil
	}
	slices.SortFunc(wrong, func(a, b error) int {
		return bytes.Compare([]byte(a.(located).location), []byte(b.(located).location)) //nolint:errorlint // they come from at
	})
	return fields(errors.Join(wrong[:min(len(wrong), 10)]...))
}

// clip keeps what a client wrote short.
func clip(s string) string {
	if len(s) > 64 {
		return s[:64] + "..."
	}
	return s
}

// readForm reads an image that is sent as a file: fields title and from, and one
// file under any name.
func readForm(raw []byte, boundary string) (p card.Percept, from string, err error) {
	broken := func(err error) error {
		return fields(at("body", abi.Errorf(abi.CodeInvalid, "body: is no form that can be read: %v", err)))
	}
	form := multipart.NewReader(bytes.NewReader(raw), boundary)
	texts := map[string]*string{"title": &p.Title, "from": &from}
	for {
		part, err := form.NextRawPart()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return p, "", broken(err)
		}
		data, err := io.ReadAll(part)
		if err != nil {
			return p, "", broken(err)
		}
		name := part.FormName()
		into, known := texts[name]
		switch {
		case part.FileName() != "" && p.Image != nil:
			return p, "", fields(at("body."+clip(name), abi.Errorf(abi.CodeInvalid, "file: is the second file, and a perception is one image")))
		case part.FileName() != "":
			p.Format, p.Image = card.FormatImage, data
			p.MediaType = mediaType(part.Header.Get("Content-Type"))
		case !known:
			return p, "", fields(at("body."+clip(name), abi.Errorf(abi.CodeInvalid, "field: is not a known field, and no file")))
		case len(data) > maxField:
			return p, "", fields(at("body."+name, abi.Errorf(abi.CodeTooLarge, "field: %d bytes, at most %d", len(data), maxField)))
		default:
			*into = string(data)
		}
	}
	var wrong []error
	if p.Title == "" {
		wrong = append(wrong, at("body.title", abi.Errorf(abi.CodeInvalid, "field: is missing")))
	}
	if len(p.Image) == 0 {
		wrong = append(wrong, at("body.image", abi.Errorf(abi.CodeInvalid, "field: is missing: send the image as a file")))
	}
	return p, from, refuseFields(wrong)
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
