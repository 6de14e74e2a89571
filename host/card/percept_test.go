package card_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/card"
)

var (
	png  = []byte("\x89PNG\r\n\x1a\n rest")
	jpeg = []byte("\xff\xd8\xff\xe0 rest")
)

// quoted gives bytes as a JSON string in base64, after a head.
func quoted(head string, b []byte) string {
	return `"` + head + base64.StdEncoding.EncodeToString(b) + `"`
}

// A perception is brought into one form, or refused with the place.
func TestPercepts(t *testing.T) {
	nikoni, mine := load(t, nikoniFile), load(t, "testdata/everything.json")
	for name, c := range map[string]struct {
		card *card.Card
		p    card.Percept
		body string // of the result
		want string // the refusal
	}{
		"text":             {nikoni, card.Percept{Title: "input", Format: "text", Body: json.RawMessage(`"\u3053んにちは <3"`)}, `"こんにちは <3"`, ""},
		"object as string": {nikoni, card.Percept{Title: "vision", Format: "object", Body: json.RawMessage(`"{ \"b\": 1.50, \"a\": [\"<\"] }"`)}, `{"a":["<"],"b":1.50}`, ""},
		"object":           {nikoni, card.Percept{Title: "vision", Format: "object", Body: json.RawMessage(`{"n": 12345678901234567890}`)}, `{"n":12345678901234567890}`, ""},
		"list":             {nikoni, card.Percept{Title: "vision", Format: "object", Body: json.RawMessage(`[ 1 ]`)}, `[1]`, ""},
		"number":           {nikoni, card.Percept{Title: "vision", Format: "object", Body: json.RawMessage(`"5"`)}, `5`, ""},
		"own schema":       {mine, card.Percept{Title: "sensor", Format: "object", Body: json.RawMessage(`{"temperature": 20, "more": null}`)}, `{"more":null,"temperature":20}`, ""},
		"own schema, text": {mine, card.Percept{Title: "sensor", Format: "object", Body: json.RawMessage(`"{\"temperature\": 20}"`)}, `{"temperature":20}`, ""},
		"kept":             {nikoni, card.Percept{Title: "input", Format: "text", Body: json.RawMessage(`"a"`), Seq: 7, From: "taro", At: time.Unix(1, 0)}, `"a"`, ""},

		"no such title":   {nikoni, card.Percept{Title: "smell", Format: "text", Body: json.RawMessage(`"a"`)}, "", `not_found: title: ニコニ立体ちゃん does not perceive "smell"; there are vision, input`},
		"no format":       {nikoni, card.Percept{Title: "input", Body: json.RawMessage(`"a"`)}, "", `invalid: format: is "", must be object or text or image`},
		"other format":    {mine, card.Percept{Title: "ear", Format: "image", Body: json.RawMessage(`"a"`)}, "", `invalid: format: is "image", must be text`},
		"no body":         {nikoni, card.Percept{Title: "input", Format: "text"}, "", `invalid: body: is missing`},
		"no JSON":         {nikoni, card.Percept{Title: "input", Format: "text", Body: json.RawMessage(`hello`)}, "", `invalid: body: is no JSON: 'h' where a value has to begin; a text stands in "`},
		"no string":       {nikoni, card.Percept{Title: "input", Format: "text", Body: json.RawMessage(`{}`)}, "", `invalid: body: is an object, must be a string`},
		"too long":        {mine, card.Percept{Title: "ear", Format: "text", Body: json.RawMessage(`"12345678901"`)}, "", `invalid: body: has 11 characters, must have at most 10`},
		"no JSON inside":  {nikoni, card.Percept{Title: "vision", Format: "object", Body: json.RawMessage(`"a person"`)}, "", `invalid: body: is a string that holds no JSON; the format object takes JSON, or a string with JSON in it`},
		"string inside":   {nikoni, card.Percept{Title: "vision", Format: "object", Body: json.RawMessage(`"\"a\""`)}, "", `invalid: body: is a string that holds no JSON; the format object takes JSON, or a string with JSON in it`},
		"twice":           {nikoni, card.Percept{Title: "vision", Format: "object", Body: json.RawMessage(`{"a": [{"b": 1, "b": 2}]}`)}, "", `invalid: body.a[0].b: is there twice`},
		"wrong inside":    {mine, card.Percept{Title: "sensor", Format: "object", Body: json.RawMessage(`{"temperature": 20, "near": ["a", 1]}`)}, "", `invalid: body.near[1]: is a number, must be a string`},
		"missing inside":  {mine, card.Percept{Title: "sensor", Format: "object", Body: json.RawMessage(`{}`)}, "", `invalid: body.temperature: is missing`},
		"list for object": {mine, card.Percept{Title: "sensor", Format: "object", Body: json.RawMessage(`[]`)}, "", `invalid: body: is an array, must be an object`},
		"large":           {nikoni, card.Percept{Title: "input", Format: "text", Body: json.RawMessage(`"` + strings.Repeat("a", card.MaxBody) + `"`)}, "", `too_large: body: 65538 bytes, at most 65536`},
		"image for text":  {nikoni, card.Percept{Title: "input", Format: "text", Body: json.RawMessage(`"a"`), Image: png}, "", `invalid: image: is for the format image, and this is text`},
		"type for text":   {nikoni, card.Percept{Title: "input", Format: "text", Body: json.RawMessage(`"a"`), MediaType: "image/png"}, "", `invalid: image: is for the format image, and this is text`},
	} {
		before := string(c.p.Body)
		got, err := c.card.Check(c.p)
		if why := said(err); why != c.want || c.want == "" && string(got.Body) != c.body {
			t.Errorf("%s:\n got %s %s\nwant %s %s", name, got.Body, why, c.body, c.want)
		}
		if string(c.p.Body) != before {
			t.Errorf("%s: what was given was changed", name)
		}
		if err == nil {
			again(t, c.card, got)
			if c.p.Body = got.Body; !reflect.DeepEqual(got, c.p) {
				t.Errorf("%s: %+v, want %+v", name, got, c.p)
			}
		}
	}
}

func said(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// fataler is what a test and a property have in common.
type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

// again holds that what was accepted is accepted as it then is, also after a
// journey as JSON, and stays the same.
func again(t fataler, c *card.Card, p card.Percept) {
	t.Helper()
	wire, err := json.Marshal(p)
	if err != nil {
		t.Fatalf("%v", err)
	}
	var back card.Percept
	if err := json.Unmarshal(wire, &back); err != nil {
		t.Fatalf("%v", err)
	}
	for _, p2 := range []card.Percept{p, back} {
		got, err := c.Check(p2)
		if err != nil {
			t.Fatalf("%+v is not accepted again: %v", p2, err)
		}
		if !bytes.Equal(got.Body, p.Body) || !bytes.Equal(got.Image, p.Image) || got.MediaType != p.MediaType {
			t.Fatalf("%+v became %+v", p2, got)
		}
	}
}

func TestImages(t *testing.T) {
	nikoni, mine := load(t, nikoniFile), load(t, "testdata/everything.json")
	avif := []byte("\x00\x00\x00\x1cftypavif")
	for name, c := range map[string]struct {
		card      *card.Card
		title     string
		body      string
		mediaType string
		image     []byte
		is        string
		want      string
	}{
		"base64":             {nikoni, "vision", quoted("", png), "", nil, "image/png", ""},
		"base64, no padding": {nikoni, "vision", strings.ReplaceAll(quoted("", png), "=", ""), "", nil, "image/png", ""},
		"base64, lines":      {nikoni, "vision", strings.Replace(quoted("", png), "g", `g\r\n`, 1), "", nil, "image/png", ""},
		"base64 and type":    {nikoni, "vision", quoted("", jpeg), "image/jpg", nil, "image/jpeg", ""},
		"data":               {nikoni, "vision", quoted("data:image/jpeg;base64,", jpeg), "", nil, "image/jpeg", ""},
		"data, loosely":      {nikoni, "vision", quoted("DATA:Image/JPG;x=y;base64,", jpeg), "", nil, "image/jpeg", ""},
		"decoded":            {nikoni, "vision", "", "image/png", png, "image/png", ""},
		"decoded, sniffed":   {nikoni, "vision", "", "", jpeg, "image/jpeg", ""},
		"gif":                {nikoni, "vision", quoted("", []byte("GIF89a")), "", nil, "image/gif", ""},
		"webp":               {nikoni, "vision", quoted("", []byte("RIFF....WEBP")), "", nil, "image/webp", ""},
		"other kind":         {mine, "目.eye-1", quoted("data:image/avif;base64,", avif), "", nil, "image/avif", ""},

		"address":       {nikoni, "vision", `"https://example.com/a.png"`, "", nil, "", `invalid: body: is the address of an image, and nothing is fetched; send the image itself in base64, or a data: URL`},
		"address, http": {nikoni, "vision", `"HTTP://example.com/a.png"`, "", nil, "", `invalid: body: is the address of an image, and nothing is fetched; send the image itself in base64, or a data: URL`},
		"none":          {nikoni, "vision", "", "", nil, "", `invalid: body: is missing`},
		"empty":         {nikoni, "vision", `""`, "", nil, "", `invalid: body: is no image in base64, and no data: URL of one`},
		"object":        {nikoni, "vision", `{}`, "", nil, "", `invalid: body: must be a string with an image in base64, or a data: URL of one`},
		"no base64":     {nikoni, "vision", `"a picture of a cat"`, "", nil, "", `invalid: body: is no image in base64, and no data: URL of one`},
		"no image":      {nikoni, "vision", quoted("", []byte("hello")), "", nil, "", `invalid: body: is no image that is known; say its media type in a data: URL`},
		"plain data":    {nikoni, "vision", `"data:image/svg+xml,<svg/>"`, "", nil, "", `invalid: body: must be a data: URL in base64, data:image/png;base64,...`},
		"no kind":       {nikoni, "vision", quoted("data:;base64,", png), "", nil, "", `invalid: body: the data: URL is of the media type ""`},
		"two kinds":     {nikoni, "vision", quoted("data:image/png;base64,", png), "image/gif", nil, "", `invalid: body: the data: URL is of the media type "image/png"`},
		"false kind":    {nikoni, "vision", quoted("data:image/png;base64,", jpeg), "", nil, "", `invalid: body: is said to be "image/png" and is not`},
		"no such bytes": {nikoni, "vision", quoted("data:image/png;base64,", avif), "", nil, "", `invalid: body: is said to be "image/png" and is not`},
		"not taken":     {nikoni, "vision", quoted("data:image/avif;base64,", avif), "", nil, "", `invalid: body: is image/avif, must be image/png or image/jpeg or image/webp or image/gif`},
		"not taken, 2":  {mine, "目.eye-1", quoted("", jpeg), "", nil, "", `invalid: body: is image/jpeg, must be image/avif or image/png`},
		"both":          {nikoni, "vision", quoted("", png), "", png, "", `invalid: body: an image is in body or in image, and this has both`},
		"large":         {mine, "目.eye-1", quoted("", append(png, make([]byte, 1000)...)), "", nil, "", `too_large: body: the image has 1013 bytes, at most 1000`},
		"large, direct": {mine, "目.eye-1", "", "", append(png, make([]byte, 1000)...), "", `too_large: body: the image has 1013 bytes, at most 1000`},
		"huge":          {mine, "目.eye-1", quoted("", make([]byte, 4000)), "", nil, "", `too_large: body: 5338 bytes, and the image may have at most 1000`},
	} {
		got, err := c.card.Check(card.Percept{Title: c.title, Format: "image", Body: json.RawMessage(c.body), MediaType: c.mediaType, Image: c.image})
		if why := said(err); why != c.want {
			t.Errorf("%s:\n got %s\nwant %s", name, why, c.want)
		}
		if err != nil {
			continue
		}
		if got.MediaType != c.is || got.Body != nil || len(got.Image) == 0 {
			t.Errorf("%s: %+v", name, got)
		}
		again(t, c.card, got)
	}
}

// A schema that takes one form of an image only takes it whichever way it came.
func TestImageForms(t *testing.T) {
	for pattern, takes := range map[string]bool{"^data:image/png;base64,iVBOR": true, "^iVBOR": true, "^https:": false} {
		c := parse(t, `{"name": "a", "perceptions": [{"title": "eye", "properties": {"body": {"type": "string", "pattern": "`+pattern+`"}}}]}`)
		for _, p := range []card.Percept{
			{Body: json.RawMessage(quoted("", png))}, {Body: json.RawMessage(quoted("data:image/png;base64,", png))}, {Image: png},
		} {
			p.Title, p.Format = "eye", "image"
			if _, err := c.Check(p); (err == nil) != takes {
				t.Errorf("%s: %v", pattern, err)
			} else if !takes && !strings.HasPrefix(err.Error(), "invalid: body: is \"iVBOR") {
				t.Error(err)
			}
		}
	}
}

// An object may have to be an object, or the text of one; and what is then wrong
// with it is told of the form that the schema asks for.
func TestObjectForms(t *testing.T) {
	for _, c := range []struct{ schema, body, want string }{
		{`{"type": "object"}`, `{"a": 1}`, ``},
		{`{"type": "object"}`, `"{\"a\": 1}"`, ``},
		{`{"type": "string"}`, `{"a": 1}`, ``},
		{`{"type": "string", "maxLength": 7}`, `{ "a" : 1 }`, ``},
		{`{"type": "string", "maxLength": 6}`, `{"a": 1}`, `invalid: body: has 7 characters, must have at most 6`},
		{`{"type": "object", "required": ["b"]}`, `{"a": 1}`, `invalid: body.b: is missing`},
		{`{"type": "array"}`, `{"a": 1}`, `invalid: body: is an object, must be an array`},
		{`{"type": ["array", "null"]}`, `"[]"`, ``},
		{`false`, `{}`, `invalid: body: is not allowed`},
	} {
		def := parse(t, `{"name": "a", "perceptions": [{"title": "p", "properties": {"body": `+c.schema+`}}]}`)
		_, err := def.Check(card.Percept{Title: "p", Format: "object", Body: json.RawMessage(c.body)})
		if got := said(err); got != c.want {
			t.Errorf("%s of %s:\n got %s\nwant %s", c.schema, c.body, got, c.want)
		}
	}
}

// An image of the size that is usually allowed is looked at quickly enough, and a
// schema that looks at it too often is refused.
func TestLargeImage(t *testing.T) {
	c := load(t, nikoniFile)
	large := append(bytes.Clone(png), make([]byte, 8<<20-len(png))...)
	begin := time.Now()
	got, err := c.Check(card.Percept{Title: "vision", Format: "image", Body: json.RawMessage(quoted("", large))})
	if err != nil || len(got.Image) != 8<<20 {
		t.Fatal(err)
	}
	t.Logf("an image of 8 MiB in %v", time.Since(begin))
	if _, err := c.Check(card.Percept{Title: "vision", Format: "image", Image: append(large, 0)}); abi.CodeOf(err) != abi.CodeTooLarge {
		t.Error(err)
	}
	often := parse(t, `{"name": "a", "perceptions": [{"title": "eye", "properties": {"body": {"allOf": [`+strings.Repeat(`{"minLength": 1}, `, 20)+`true]}}}]}`)
	if _, err := often.Check(card.Percept{Title: "eye", Format: "image", Image: large}); abi.CodeOf(err) != abi.CodeTooLarge {
		t.Error(err)
	}
	if _, err := often.Check(card.Percept{Title: "eye", Format: "image", Image: png}); err != nil {
		t.Error(err)
	}
}

// TestCoalesces: what may give way to a newer one is the card's to say, and without a
// word of it that is images alone.
func TestCoalesces(t *testing.T) {
	for said, want := range map[string][3]bool{
		``:                    {false, false, true},
		`, "coalesce": true`:  {true, true, true},
		`, "coalesce": false`: {false, false, false},
	} {
		c, err := card.Parse("f", []byte(`{"name": "a", "perceptions": [{"title": "b"`+said+`}]}`))
		if err != nil {
			t.Fatal(err)
		}
		p, _ := c.Perception("b")
		if got := [3]bool{p.Coalesces(card.FormatObject), p.Coalesces(card.FormatText), p.Coalesces(card.FormatImage)}; got != want {
			t.Errorf("%q: %v, want %v", said, got, want)
		}
	}
}
