package chat_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// What the documents tell people to type is answered.
func TestTheCurlsOfTheDocuments(t *testing.T) {
	curl := regexp.MustCompile(`(?m)^curl (-N )?http://127\.0\.0\.1:3000(/v1/(?:chat/completions|models)\S*)(?: -H '([^']+)' -d '([^']+)')?$`)
	for file, want := range map[string]int{"docs/CHAT.md": 3, "docs/ja/CHAT.md": 2} {
		text, err := os.ReadFile("../../../" + file)
		if err != nil {
			t.Fatal(err)
		}
		all := curl.FindAllStringSubmatch(string(text), -1)
		if len(all) != want {
			t.Errorf("%s: %d commands, want %d", file, len(all), want)
		}
		together(t, func(t *testing.T, h *house) {
			for _, m := range all {
				method := "GET"
				if m[4] != "" {
					method = "POST"
				}
				r := h.ask(method, m[2], m[4], m[3])
				if streams := m[1] != ""; r.Status != 200 || streams != strings.HasPrefix(r.Header.Get("Content-Type"), "text/event-stream") {
					t.Errorf("%s: %s\n%d %s", file, m[0], r.Status, r.Raw)
				}
				if method == "POST" && !strings.Contains(r.Raw, "aya on ") && !strings.Contains(r.Raw, "kyoko on ") {
					t.Errorf("%s: %s\n%s", file, m[0], r.Raw)
				}
			}
		})
	}
}
