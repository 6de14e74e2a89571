package web_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/card"
	"github.com/companiond/companiond/host/door/doortest"
	"github.com/companiond/companiond/host/door/guard"
	"github.com/companiond/companiond/host/door/web"
)

// A client that has sent a large body and waits for what comes of it holds up no other: here
// wait ten, and the guard has space for one. They are texts, for of frames a newer
// one would take the place.
func TestWhoWaitsKeepsNoSpace(t *testing.T) {
	large := `{"title":"vision","format":"text","body":"a cat"}` + strings.Repeat(" ", 6000)
	wire := func(string) string { return "/perception" }
	api := func(companion string) string { return "/v1/companions/" + companion + "/perceptions?wait=55" }
	t.Run("api", func(t *testing.T) { tenWait(t, api, large, 202) })
	t.Run("wire", func(t *testing.T) {
		tenWait(t, wire, `{"jsonrpc":"2.0","id":7,"method":"perception","params":`+large+`}`, 200)
	})
}

// tenWait has five bodies wait at each of two companions, which is all they take.
func tenWait(t *testing.T, path func(companion string) string, body string, status int) {
	t.Helper()
	in(t, func(t *testing.T, s *sensing) {
		s.judge = func(ctx context.Context, _ string, _ abi.Percept) (abi.Judged, error) {
			<-ctx.Done()
			return abi.Judged{}, ctx.Err()
		}
		g, err := guard.New(guard.Config{MaxBody: 8000, LargeBody: 1000, LargeBodies: 8000}, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		h := g.Handler(s)
		var all sync.WaitGroup
		for _, companion := range []string{"nikoni", "zoe"} {
			id, err := s.Open(companion, "")
			if err != nil {
				t.Fatal(err)
			}
			for range 5 {
				all.Go(func() {
					r := httptest.NewRequest("POST", path(companion), strings.NewReader(body))
					r.Host = "localhost"
					r.Header.Set("Content-Type", "application/json")
					r.Header.Set("Mcp-Session-Id", id)
					w := httptest.NewRecorder()
					h.ServeHTTP(w, r)
					if w.Code != status {
						t.Errorf("%s: %d %s", companion, w.Code, w.Body)
					}
				})
				synctest.Wait()
			}
		}
		time.Sleep(5 * time.Second)
		s.stop()
		all.Wait()
	})
}

// A form may say what JSON has to: that it is an image, and of which kind, which
// counts for more than what the file's own header says.
func TestFormSaysWhatItIs(t *testing.T) {
	in(t, func(t *testing.T, s *sensing) {
		for _, c := range []struct{ fields [][2]string }{
			{[][2]string{{"title", "vision"}, {"format", "image"}}},
			{[][2]string{{"title", "vision"}, {"format", ""}, {"media_type", ""}}},
			{[][2]string{{"media_type", "image/png"}, {"title", "vision"}, {"format", "image"}}},
			{[][2]string{{"media_type", "Image/PNG"}, {"title", "vision"}}},
		} {
			for _, own := range []string{"", "image/png", "image/gif"} {
				body, header := form(c.fields, "image", "a.png", own, pixel)
				w := s.ask("POST", perceives+"?wait=30", body, "Content-Type", header)
				says := slices.ContainsFunc(c.fields, func(f [2]string) bool { return f[0] == "media_type" && f[1] != "" })
				if want := map[bool]int{true: 200, false: 400}[says || own != "image/gif"]; w.Code != want {
					t.Errorf("%v in %q: %d %s", c.fields, own, w.Code, w.Body)
				}
			}
		}
	})
}

// A client that opens too many sessions is told when to come again.
func TestInitIsFull(t *testing.T) {
	in(t, func(t *testing.T, s *sensing) {
		for range 1024 {
			if w := s.ask("POST", "/init", ""); w.Code != 200 {
				t.Fatalf("%d %s", w.Code, w.Body)
			}
		}
		w := s.ask("POST", "/init", `{"jsonrpc":"2.0","id":1}`)
		exactly(t, w, 429, `{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"1024 sessions are open already; try again in 30s"}}`)
		if after := w.Header().Get("Retry-After"); after != "30" {
			t.Errorf("Retry-After %q", after)
		}
	})
}

// Without a name it is "main" when that has a card, as it is over MCP.
func TestInitPrefersMain(t *testing.T) {
	c, err := card.Parse("nikoni.json", []byte(definition))
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		cards []string
		want  string
	}{
		{[]string{"zoe", "main", "aya"}, "main"}, {[]string{"zoe", "aya"}, "aya"}, {[]string{"zoe"}, "zoe"},
	} {
		opened := &opener{}
		mux := http.NewServeMux()
		err = web.Register(mux, web.Config{
			Rooms: doortest.NewHouse(t, "main"), Perceptions: opened,
			Cards: func(id string) (*card.Card, error) {
				if slices.Contains(x.cards, id) {
					return c, nil
				}
				return nil, nil
			},
			Companions: func() []web.Companion { return []web.Companion{{ID: "zoe"}, {ID: "main"}, {ID: "aya"}} },
		})
		if err != nil {
			t.Fatal(err)
		}
		w := httptest.NewRecorder()
		mux.ServeHTTP(w, httptest.NewRequest("POST", "/init", nil))
		if w.Code != 200 || opened.companion != x.want {
			t.Errorf("%v: %q, want %q: %s", x.cards, opened.companion, x.want, fmt.Sprint(w.Code, w.Body))
		}
	}
}

// opener remembers with whom a session was opened.
type opener struct {
	web.Perceiver
	companion string
}

func (o *opener) Open(companion, _ string) (string, error) {
	o.companion = companion
	return "s", nil
}
