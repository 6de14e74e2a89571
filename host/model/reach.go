package model

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
)

// Reach looks whether the endpoint of a model answers, by asking for its list of models, which costs nothing. listed says whether the model is in it;
// it is true where the endpoint has no such list.
//
// # Errors
//
// Why it does not answer, or that it refuses the key; the key is in none.
func Reach(ctx context.Context, c Config) (listed bool, err error) {
	var api adapter = chatAPI{}
	at := strings.TrimSuffix(target(c.API, c.URL), chatPath) + "/models"
	if c.API == Anthropic {
		api, at = messagesAPI{}, strings.TrimSuffix(target(c.API, c.URL), "/messages")+"/models?limit=1000"
	}
	key := ""
	if c.Key != nil {
		if key, err = c.Key(); err != nil {
			return false, err
		}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil {
		return false, err
	}
	api.sign(req.Header, key)
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }} // a key goes nowhere else
	resp, err := client.Do(req)
	if err != nil {
		if inURL := (*url.Error)(nil); errors.As(err, &inURL) {
			err = inURL.Err
		}
		return false, fmt.Errorf("%s does not answer: %w", req.URL.Host, err)
	}
	defer resp.Body.Close()
	switch {
	case resp.StatusCode == http.StatusUnauthorized || resp.StatusCode == http.StatusForbidden:
		return false, fmt.Errorf("%s refuses the key (%s)", req.URL.Host, resp.Status)
	case resp.StatusCode == http.StatusNotFound || resp.StatusCode == http.StatusMethodNotAllowed:
		return true, nil
	case resp.StatusCode != http.StatusOK:
		return false, fmt.Errorf("%s answers %s", req.URL.Host, resp.Status)
	}
	var list struct{ Data []struct{ ID string } }
	if json.NewDecoder(io.LimitReader(resp.Body, 4<<20)).Decode(&list) != nil || len(list.Data) == 0 {
		return true, nil
	}
	return slices.ContainsFunc(list.Data, func(m struct{ ID string }) bool {
		return m.ID == c.Model || m.ID == c.Model+":latest" // Ollama's
	}), nil
}
