package web_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/door/guard"
	"github.com/companiond/companiond/host/identity"
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
			id, err := s.Open(companion, "", "")
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

// One client that opens as many sessions as there may be locked everybody out of POST /init.
// It is its own sessions that go, for itself and for others.
func TestOneClientLocksNobodyOutOfInit(t *testing.T) {
	in(t, func(t *testing.T, s *sensing) {
		guest := func(address string) identity.Caller {
			c := identity.Guest(nil)
			c.Sharer = address
			return c
		}
		mika := identity.Caller{Name: "mika", Kind: abi.KindHuman, Scopes: identity.Scopes(), Sharer: "token mika"}
		ask := func(c identity.Caller, path, session, body string) *httptest.ResponseRecorder {
			r := httptest.NewRequest("POST", path, strings.NewReader(body))
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("Mcp-Session-Id", session)
			w := httptest.NewRecorder()
			s.ServeHTTP(w, r.WithContext(identity.With(r.Context(), c)))
			return w
		}
		open := func(c identity.Caller) (session string) {
			t.Helper()
			var got struct{ Result struct{ SessionID string } }
			w := ask(c, "/init", "", `{"jsonrpc":"2.0","id":1}`)
			if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || w.Code != 200 || got.Result.SessionID == "" {
				t.Fatalf("%s: %d %s", c.Sharer, w.Code, w.Body)
			}
			return got.Result.SessionID
		}
		flooder, other := guest("address 192.0.2.1"), guest("address 192.0.2.2")
		flood := func() {
			for range 1100 {
				open(flooder)
			}
		}
		flood()
		sessions := map[string]identity.Caller{open(mika): mika, open(other): other}
		flood()
		for session, c := range sessions {
			if w := ask(c, "/perception", session, `{"jsonrpc":"2.0","id":1,"method":"perception","params":`+touch+`}`); w.Code != 200 {
				t.Errorf("%s has lost its session: %d %s", c.Sharer, w.Code, w.Body)
			}
		}
	})
}
