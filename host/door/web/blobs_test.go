package web_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/blob"
	"github.com/companiond/companiond/host/door/guard"
	"github.com/companiond/companiond/host/door/web"
	"github.com/companiond/companiond/host/identity"
)

// TestBlobs: what a module made is there under its hash, as what it is and never as a page; one that is not kept any more is told
// to be so, nothing lists them, and whoever may not read gets none.
func TestBlobs(t *testing.T) {
	kept := blob.New(100)
	mux := http.NewServeMux()
	if err := web.Register(mux, web.Config{Companions: func() []web.Companion { return nil }, Usual: func() string { return "" }, Blobs: kept}); err != nil {
		t.Fatal(err)
	}
	scopes := []identity.Scope{identity.Read}
	h := guard.Mux(mux)
	get := func(method, path string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(method, path, nil)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r.WithContext(identity.With(r.Context(), identity.Caller{Name: "obs", Kind: abi.KindHuman, Scopes: scopes})))
		return w
	}
	sound, err := kept.Put(abi.Blob{Type: "audio/wav", Bytes: []byte("RIFF....WAVE" + strings.Repeat("x", 40))})
	if err != nil {
		t.Fatal(err)
	}
	mouth, err := kept.Put(abi.Blob{Type: "application/json", Bytes: []byte(`[{"ms":1}]`)})
	if err != nil {
		t.Fatal(err)
	}
	for _, ref := range []abi.BlobRef{sound, mouth} {
		w := get("GET", ref.URL)
		for name, want := range map[string]string{"Content-Type": ref.Type, "X-Content-Type-Options": "nosniff", "Cache-Control": "private, max-age=300"} {
			if got := w.Header()[name]; len(got) != 1 || got[0] != want {
				t.Errorf("%s: %s is %q", ref.Type, name, got)
			}
		}
		if b, _ := kept.Get(ref.Hash); w.Code != http.StatusOK || w.Body.String() != string(b.Bytes) {
			t.Errorf("%d, %d bytes", w.Code, w.Body.Len())
		}
	}
	none := strings.Repeat("0", 64)
	for path, want := range map[string]int{
		"/v1/blobs/" + none: 404, "/v1/blobs/": 404, "/v1/blobs": 404, "/v1/blobs/short": 400, "/v1/blobs/" + strings.ToUpper(sound.Hash): 400,
		"/v1/blobs/..%2fsecret": 400, sound.URL + "/x": 404, sound.URL + "?x=1": 400,
	} {
		w := get("GET", path)
		if w.Code != want || !strings.HasPrefix(w.Header().Get("Content-Type"), "application/problem+json") {
			t.Errorf("%s: %d %s %s", path, w.Code, w.Header(), w.Body)
		}
	}
	if w := get("GET", "/v1/blobs/"+none); !strings.Contains(w.Body.String(), "is kept (any more)") || w.Header().Get("Cache-Control") == "private, max-age=300" {
		t.Errorf("%s %s", w.Header(), w.Body)
	}
	if w := get("POST", sound.URL); w.Code != http.StatusMethodNotAllowed {
		t.Errorf("POST: %d", w.Code)
	}
	scopes = []identity.Scope{identity.Talk}
	if w := get("GET", sound.URL); w.Code != http.StatusForbidden || strings.Contains(w.Body.String(), "RIFF") {
		t.Errorf("without the scope read: %d %s", w.Code, w.Body)
	}
	scopes = []identity.Scope{identity.Read}
	kept.Clear()
	if w := get("GET", sound.URL); w.Code != http.StatusNotFound {
		t.Errorf("what was erased: %d", w.Code)
	}
}
