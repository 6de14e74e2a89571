package web

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/blob"
	"github.com/companiond/companiond/host/identity"
)

// Blobs keeps what modules made for bodies and pages. *blob.Store implements it.
type Blobs interface {
	Get(hash string) (abi.Blob, error)
}

var _ Blobs = (*blob.Store)(nil)

type (
	blobIn struct {
		Hash string `path:"hash" pattern:"^[0-9a-f]{64}$" patternDescription:"64 digits of 0-9 and a-f" doc:"SHA-256 of what it is, in hex, as an entry of the kind sound and a body's frame name it."`
	}
	blobOut struct {
		ContentType string `header:"Content-Type" hidden:"true"`
		Cache       string `header:"Cache-Control" hidden:"true"`
		NoSniff     string `header:"X-Content-Type-Options" hidden:"true"`
		Body        []byte
	}
)

// registerBlobs mounts the blobs, each under its hash; nothing lists them.
func registerBlobs(api huma.API, d *door) {
	op := operation(api, http.MethodGet, "/v1/blobs/{hash}", "get-blob", "Get a sound or a picture that a module made; the newest are kept", http.StatusOK)
	content := map[string]*huma.MediaType{}
	for _, name := range blob.Types() {
		content[name] = &huma.MediaType{Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}}
	}
	op.Responses["200"] = &huma.Response{Description: "It is", Content: content}
	addAs(api, identity.Read, d.blob, op)
}

// blob answers with a blob. Its address has its hash, so that what is there is never another.
func (d *door) blob(_ context.Context, in *blobIn) (*blobOut, error) {
	b, err := d.cfg.Blobs.Get(in.Hash)
	return &blobOut{b.Type, "private, max-age=300", "nosniff", b.Bytes}, err
}
