// Package reach looks whether the endpoint of a language model answers, by asking for its list of models, which costs nothing.
//
// It never has a model say anything, and sends a key nowhere but to the endpoint.
package reach

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/companiond/companiond/host/model"
)

// Endpoint is whom to ask, and for which model.
type Endpoint struct {
	API   string // model.OpenAI or model.Anthropic
	URL   string // as in model.Config
	Model string
	Key   string // empty: none
}

// list is where the endpoint has its list of models.
func (e Endpoint) list() string {
	base := strings.TrimRight(e.URL, "/")
	if e.API == model.Anthropic {
		return strings.TrimSuffix(base, "/v1") + "/v1/models?limit=1000"
	}
	if u, err := url.Parse(base); err == nil && u.Path == "" {
		base += "/v1"
	}
	return base + "/models"
}

func (e Endpoint) sign(h http.Header) {
	switch {
	case e.API == model.Anthropic:
		h.Set("Anthropic-Version", "2023-06-01")
		if e.Key != "" {
			h.Set("X-Api-Key", e.Key)
		}
	case e.Key != "":
		h.Set("Authorization", "Bearer "+e.Key)
	}
}

// Ask asks. listed says whether the model is in the list; it is true where the endpoint has none.
//
// # Errors
//
// Why it does not answer, or that it refuses the key; the key is in none.
func (e Endpoint) Ask(ctx context.Context) (listed bool, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, e.list(), nil)
	if err != nil {
		return false, err
	}
	e.sign(req.Header)
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Do(req)
	if err != nil {
		if inURL := (*url.Error)(nil); errors.As(err, &inURL) {
			err = inURL.Err
		}
		return false, fmt.Errorf("%s does not answer: %w", req.URL.Host, err)
	}
	defer resp.Body.Close()
	switch resp.StatusCode {
	case http.StatusOK:
	case http.StatusUnauthorized, http.StatusForbidden:
		return false, fmt.Errorf("%s refuses the key (%s)", req.URL.Host, resp.Status)
	case http.StatusNotFound, http.StatusMethodNotAllowed:
		return true, nil
	default:
		return false, fmt.Errorf("%s answers %s", req.URL.Host, resp.Status)
	}
	var list struct{ Data []struct{ ID string } }
	if json.NewDecoder(io.LimitReader(resp.Body, 4<<20)).Decode(&list) != nil || len(list.Data) == 0 {
		return true, nil
	}
	return slices.ContainsFunc(list.Data, func(m struct{ ID string }) bool {
		return m.ID == e.Model || m.ID == e.Model+":latest" // Ollama's
	}), nil
}
