package host_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestFetchIsGranted: a character in WebAssembly reaches what the configuration lists for it, and nothing without
// that, nor without the grant.
func TestFetchIsGranted(t *testing.T) {
	hits := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		hits++
		fmt.Fprint(w, "sunny")
	}))
	defer s.Close()
	for settings, want := range map[string]string{
		"": "denied: host_call: \"http.fetch\" is not granted to clerk",
		"[module.clerk]\ngrant = [\"http.fetch\"]\n":                                                                     "denied: url: \"127.0.0.1:",
		"[module.clerk]\ngrant = [\"http.fetch\"]\nhosts = [\"127.0.0.1\"]\n":                                            "denied: url: \"127.0.0.1:",
		"[module.clerk]\nhosts = [\"" + strings.TrimPrefix(s.URL, "http://") + "\"]\n":                                   "denied: host_call:",
		"[module.other]\ngrant = [\"http.fetch\"]\nhosts = [\"" + strings.TrimPrefix(s.URL, "http://") + "\"]\n":         "denied: host_call:",
		"[module.clerk]\ngrant = [\"http.fetch\"]\nhosts = [\"" + strings.TrimPrefix(s.URL, "http://") + "\"]\n# last\n": "200 sunny",
	} {
		h := newHome(t)
		h.drop(build(t, "./testdata/clerk", "clerk", ""), "clerk.wasm")
		h.open("[room.main]\nsilence = \"0s\"\npatience = \"10s\"\nfloor = \"30s\"\n" + settings)
		before := hits
		h.say("main", "taro", "clerk, fetch:"+s.URL+"/weather")
		var said string
		h.until("clerk answers", func() bool {
			all := h.messages("main")
			if len(all) == 2 {
				said = all[1].Text
			}
			return said != ""
		})
		if reached := hits > before; !strings.HasPrefix(said, want) || reached != (want == "200 sunny") {
			t.Errorf("with %q it says %q, and reached it: %v; want %q", settings, said, reached, want)
		}
		h.stop()
	}
}
