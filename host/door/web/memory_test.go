package web_test

import (
	"bytes"
	"encoding/base64"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"runtime"
	"testing"

	"github.com/companiond/companiond/host/door/guard"
	"github.com/companiond/companiond/host/door/web"
)

// An image of 8 MiB is 11 MiB in base64. Its cost beyond the ways it has to
// take (as it came, out of the JSON, decoded) is what many at once fill the memory
// with: it was 116 MiB in JSON, 100 in a form and 118 over the wire. The bounds are of bytes allocated, which do not depend on
// how fast the machine is.
func TestLargeImagesAreCheap(t *testing.T) {
	s := newSensing(t)
	s.stop() // nobody waits for an answer
	g, err := guard.New(guard.Config{MaxBodyAt: map[string]int64{"/v1/companions": web.MaxPerception, "/perception": web.MaxPerception}}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	h := g.Handler(s)
	id, err := s.Open("nikoni", "", "")
	if err != nil {
		t.Fatal(err)
	}
	photo := append(bytes.Clone(pixel), make([]byte, 8<<20-len(pixel))...)
	plain := `{"title":"vision","format":"image","body":"` + base64.StdEncoding.EncodeToString(photo) + `"}`
	inForm, header := form([][2]string{{"title", "vision"}}, "image", "a.png", "", photo)
	for _, c := range []struct {
		name, path, contentType, body string
		status                        int
		mib                           uint64 // at most
	}{
		{"json", perceives, "application/json", plain, 202, 36},
		{"form", perceives, header, inForm, 202, 20},
		{"rpc", "/perception", "application/json", `{"jsonrpc":"2.0","id":7,"method":"perception","params":` + plain + `}`, 200, 48},
	} {
		body := []byte(c.body)
		ask := func() {
			r := httptest.NewRequest(http.MethodPost, c.path, bytes.NewReader(body))
			r.Host = "localhost"
			r.Header.Set("Content-Type", c.contentType)
			r.Header.Set("Mcp-Session-Id", id)
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			if w.Code != c.status {
				t.Fatalf("%s: %d %s", c.name, w.Code, w.Body)
			}
		}
		ask() // what is made once is made now
		const times = 2
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range times {
			ask()
		}
		runtime.ReadMemStats(&after)
		mib := (after.TotalAlloc - before.TotalAlloc) / times >> 20
		t.Logf("%s: %d MiB for an image of 8 MiB", c.name, mib)
		if mib > c.mib {
			t.Errorf("%s: %d MiB are allocated for an image of 8 MiB, at most %d", c.name, mib, c.mib)
		}
	}
}
