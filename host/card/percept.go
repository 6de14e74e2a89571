package card

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"mime"
	"slices"
	"strings"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/card/tree"
)

// Percept is what arrives, see [abi.Percept].
type Percept = abi.Percept

// The formats of a percept.
const (
	FormatObject = "object"
	FormatText   = "text"
	FormatImage  = "image"
)

// MaxBody bounds the body of a percept that is no image, in bytes.
const MaxBody = 64 << 10

// perceptFields are what the schema of a perception sees.
var perceptFields = []string{"title", "format", "body"}

// Check says why the companion cannot perceive a percept, and gives it in its one
// form otherwise; Check takes that form again and changes nothing.
//
//   - text: Body is a JSON string.
//   - object: Body is any JSON. A string that holds JSON becomes what it holds:
//     clients of the AI Companion Protocol make every body a string.
//   - image: Image has the bytes and MediaType says which kind they are; Body is
//     gone. It arrives so, or as a Body that is base64 or a data: URL. An address of
//     an image is refused: nothing is fetched.
//
// The perception's schema is asked about {title, format, body}. Where the companion
// takes a body in two forms the schema has to take one of them: an object as it is
// or as the JSON text of it, an image as base64 or as a data: URL.
//
// # Errors
//
// CodeNotFound for a perception that the card has not; CodeInvalid names the field,
// or the place in the body; CodeTooLarge.
func (c *Card) Check(p Percept) (Percept, error) {
	s, ok := c.Perception(p.Title)
	if !ok {
		return p, c.senseless("title", p.Title)
	}
	if !slices.Contains(s.Formats, p.Format) {
		return p, abi.Field("format", abi.CodeInvalid, "is %s, must be %s", tree.Show(p.Format), strings.Join(s.Formats, " or "))
	}
	if p.Format == FormatImage {
		return s.image(p)
	}
	switch {
	case len(p.Image) > 0 || p.MediaType != "":
		return p, abi.Field("image", abi.CodeInvalid, "is for the format image, and this is %s", p.Format)
	case len(p.Body) == 0:
		return p, abi.Field("body", abi.CodeInvalid, "is missing")
	case len(p.Body) > MaxBody:
		return p, abi.Field("body", abi.CodeTooLarge, "%d bytes, at most %d", len(p.Body), MaxBody)
	}
	body, err := read(p.Body, "body")
	if err != nil {
		return p, err
	}
	if p.Format == FormatText {
		return s.textual(p, body)
	}
	return s.structured(p, body)
}

// read reads a value that somebody sent.
func read(raw json.RawMessage, path string) (*tree.Node, error) {
	var why tree.Faults
	n := tree.Read(raw, path, &why)
	return n, why.Err(abi.CodeInvalid, path)
}

func (s *Perception) textual(p Percept, body *tree.Node) (Percept, error) {
	if body.Kind != tree.Text {
		return p, abi.Field("body", abi.CodeInvalid, "is %s, must be a string", body.Kind.Called())
	}
	p.Body = encode(body.Text)
	return p, s.fits(p, as(body))
}

func (s *Perception) structured(p Percept, body *tree.Node) (Percept, error) {
	raw := p.Body
	if body.Kind == tree.Text {
		raw = json.RawMessage(body.Text)
		held, err := read(raw, "body")
		if err != nil || held.Kind == tree.Text {
			return p, abi.Field("body", abi.CodeInvalid, "is a string that holds no JSON; the format object takes JSON, or a string with JSON in it")
		}
		body = held
	}
	p.Body = canonical(raw)
	return p, s.fits(p, as(body), as(tree.NewText(string(p.Body))))
}

// canonical gives what was read as JSON its one form, in which numbers stay as they
// were written.
func canonical(raw json.RawMessage) json.RawMessage {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	_ = dec.Decode(&v)
	return encode(v)
}

// encode gives JSON in which < and > are themselves.
func encode(v any) json.RawMessage {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(v) // a string, or what was JSON
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// image brings an image into its one form. Its texts are made only for a schema that
// asks for more of the body than that it is a string, and one after the other, for
// each is longer than the image.
func (s *Perception) image(p Percept) (Percept, error) {
	if len(p.Image) > 0 && len(p.Body) > 0 {
		return p, abi.Field("body", abi.CodeInvalid, "an image is in body or in image, and this has both")
	}
	said := mediaType(p.MediaType)
	if len(p.Image) == 0 {
		var err error
		if p.Image, said, err = s.decode(p.Body, said); err != nil {
			return p, err
		}
	}
	p.Body = nil
	if int64(len(p.Image)) > s.MaxBytes {
		return p, abi.Field("body", abi.CodeTooLarge, "the image has %d bytes, at most %d", len(p.Image), s.MaxBytes)
	}
	is := sniff(p.Image)
	if said == "" {
		said = is
	}
	switch {
	case said == "":
		return p, abi.Field("body", abi.CodeInvalid, "is no image that is known; say its media type in a data: URL")
	case is != said && (is != "" || slices.Contains(usualMediaTypes, said)):
		return p, abi.Field("body", abi.CodeInvalid, "is said to be %s and is not", tree.Show(said))
	case !slices.Contains(s.MediaTypes, said):
		return p, abi.Field("body", abi.CodeInvalid, "is %s, must be %s", said, strings.Join(s.MediaTypes, " or "))
	}
	p.MediaType = said
	if cap(p.Image) > len(p.Image)+len(p.Image)/4+512 {
		// It stood among line ends, or in a form full of something else. A queue that keeps
		// it counts its length.
		p.Image = bytes.Clone(p.Image)
	}
	if !s.reads {
		return p, s.fits(p, as(tree.NewText("")))
	}
	return p, s.fits(p, coded("", p.Image), coded("data:"+said+";base64,", p.Image))
}

// coded makes the text of an image when it is asked for, in one piece of memory.
func coded(head string, image []byte) func() *tree.Node {
	return func() *tree.Node {
		var b strings.Builder
		b.Grow(len(head) + base64.StdEncoding.EncodedLen(len(image)))
		b.WriteString(head)
		enc := base64.NewEncoder(base64.StdEncoding, &b)
		_, _ = enc.Write(image) // a strings.Builder takes everything
		_ = enc.Close()
		return tree.NewText(b.String())
	}
}

// The keys beside which a schema asks nothing of the body but its type:
// plainTop at the top of a perception that has properties.body, plainBody in that.
var (
	plainTop = append([]string{"type", "title", "description", "properties", "required", "additionalProperties",
		"$schema", "$id", "$comment", "$defs", "definitions", "examples", "default"}, perceptionKeys...)
	plainBody = []string{"type", "title", "description", "$comment", "examples", "default", "format", "contentEncoding", "contentMediaType"}
)

// readsBody reports whether the schema that a perception is may ask for more of a
// body than its type. Whatever is not known to ask for nothing does.
func readsBody(n *tree.Node) bool {
	if !only(n, plainTop) {
		return true
	}
	body := n.Get("properties").Get("body")
	switch {
	case body == nil:
		return n.Get("additionalProperties") != nil
	case body.Kind == tree.Boolean:
		return !body.Truth
	}
	return !only(body, plainBody)
}

func only(object *tree.Node, keys []string) bool {
	return !slices.ContainsFunc(object.Fields, func(f tree.Field) bool { return !slices.Contains(keys, f.Name) })
}

// decode takes the bytes and the media type out of a body.
func (s *Perception) decode(raw json.RawMessage, said string) ([]byte, string, error) {
	switch {
	case len(raw) == 0:
		return nil, "", abi.Field("body", abi.CodeInvalid, "is missing")
	case int64(len(raw)) > int64(base64.StdEncoding.EncodedLen(int(s.MaxBytes)))*2+1024: // room for line ends
		return nil, "", abi.Field("body", abi.CodeTooLarge, "%d bytes, and the image may have at most %d", len(raw), s.MaxBytes)
	}
	body, err := inString(raw)
	if err != nil {
		return nil, "", abi.Field("body", abi.CodeInvalid, "must be a string with an image in base64, or a data: URL of one")
	}
	lower := strings.ToLower(string(body[:min(len(body), 8)]))
	if strings.HasPrefix(lower, "http:") || strings.HasPrefix(lower, "https:") {
		return nil, "", abi.Field("body", abi.CodeInvalid, "is the address of an image, and nothing is fetched; send the image itself in base64, or a data: URL")
	}
	if strings.HasPrefix(lower, "data:") {
		head, data, ok := bytes.Cut(body[len("data:"):], []byte(","))
		kind, coded := bytes.CutSuffix(head, []byte(";base64"))
		if !ok || !coded {
			return nil, "", abi.Field("body", abi.CodeInvalid, "must be a data: URL in base64, data:image/png;base64,...")
		}
		named, _, err := mime.ParseMediaType(string(kind))
		named = mediaType(named)
		if err != nil || said != "" && said != named {
			return nil, "", abi.Field("body", abi.CodeInvalid, "the data: URL is of the media type %s", tree.Show(string(kind)))
		}
		body, said = data, named
	}
	image, ok := decode64(base64.StdEncoding, body)
	if !ok {
		image, ok = decode64(base64.RawStdEncoding, body)
	}
	if !ok {
		return nil, "", abi.Field("body", abi.CodeInvalid, "is no image in base64, and no data: URL of one")
	}
	return image, said, nil
}

// inString gives what is in a JSON string. It is a part of raw where nothing is
// escaped, as in base64, so that a large image is not copied.
func inString(raw json.RawMessage) ([]byte, error) {
	in := bytes.TrimSpace(raw)
	if bytes.HasPrefix(in, []byte(`"`)) && bytes.IndexByte(in, '\\') < 0 && json.Valid(in) {
		return in[1 : len(in)-1], nil
	}
	var text string
	err := json.Unmarshal(raw, &text)
	return []byte(text), err
}

// decode64 gives the bytes, and false when there are none.
func decode64(enc *base64.Encoding, body []byte) ([]byte, bool) {
	image := make([]byte, enc.DecodedLen(len(body)))
	n, err := enc.Decode(image, body)
	return image[:n], err == nil && n > 0
}

// mediaType gives a media type its one spelling.
func mediaType(s string) string {
	if s = strings.ToLower(s); s == "image/jpg" {
		return "image/jpeg"
	}
	return s
}

// sniff tells the media type of an image by its first bytes; "" for one that is
// not known.
func sniff(image []byte) string {
	has := func(at int, magic string) bool {
		return len(image) >= at+len(magic) && string(image[at:at+len(magic)]) == magic
	}
	switch {
	case has(0, "\x89PNG\r\n\x1a\n"):
		return "image/png"
	case has(0, "\xff\xd8\xff"):
		return "image/jpeg"
	case has(0, "GIF87a"), has(0, "GIF89a"):
		return "image/gif"
	case has(0, "RIFF") && has(8, "WEBP"):
		return "image/webp"
	}
	return ""
}

// as gives a form of a body that is there already.
func as(body *tree.Node) func() *tree.Node { return func() *tree.Node { return body } }

// fits asks the schema about a percept with each of the forms of its body in turn,
// and makes none before it is needed. It gives the refusal of the first form that is
// not refused for its kind.
func (s *Perception) fits(p Percept, forms ...func() *tree.Node) error {
	var refused error
	var told bool
	for i, form := range forms {
		n := tree.NewObject(tree.Field{Name: "title", Value: tree.NewText(p.Title)},
			tree.Field{Name: "format", Value: tree.NewText(p.Format)}, tree.Field{Name: "body", Value: form()})
		why, code := s.schema.Check(n, "")
		if len(why) == 0 {
			return nil
		}
		if kind := why[0].Kind && why[0].Path == "body"; i == 0 || !told && !kind {
			refused, told = why.Err(code, "perception"), !kind
		}
	}
	return refused
}
