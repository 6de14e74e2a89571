package web_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/door/guard"
	"github.com/companiond/companiond/host/door/web"
	"github.com/companiond/companiond/host/identity"
	"github.com/companiond/companiond/host/logtest"
)

// deaf is a connection whose client is gone; the server notices by a failed write.
type deaf struct {
	http.ResponseWriter
	gone     func()
	statuses int
}

func (d *deaf) Write([]byte) (int, error) { d.gone(); return 0, errors.New("broken pipe") }
func (d *deaf) WriteHeader(int)           { d.statuses++ }

// A client that goes away while it is answered leaves nothing in the log that anybody has
// to look at: before its entries are read, and in the middle of them.
func TestAClientGoesAway(t *testing.T) {
	f := newDoor(t, nil)
	var log logtest.Log
	g, err := guard.New(guard.Config{}, log.Logger())
	if err != nil {
		t.Fatal(err)
	}
	h := g.Handler(f)
	for _, late := range []bool{false, true} {
		ctx, cancel := context.WithCancel(t.Context())
		if !late {
			cancel()
		}
		d := &deaf{httptest.NewRecorder(), cancel, 0}
		r := httptest.NewRequestWithContext(ctx, "GET", "/v1/rooms/main/entries?limit=1000", nil)
		r.Host = "localhost"
		h.ServeHTTP(d, r)
		if n := strings.Count(log.String(), "level=DEBUG"); n == 0 || n != strings.Count(log.String(), "\n") || d.statuses != 1 {
			t.Errorf("late %v: %d statuses, log %s", late, d.statuses, &log)
		}
	}
}

// Every way to get a perception wrong is told with its place.
func TestPerceptionRefusals(t *testing.T) {
	s := newSensing(t)
	notPNG, notHeader := form([][2]string{{"title", "vision"}}, "image", "a.png", "image/png", []byte("no image"))
	noFile, noHeader := form([][2]string{{"title", "vision"}}, "", "", "", nil)
	noTitle, noTitleHeader := form(nil, "image", "a.png", "", pixel)
	odd, oddHeader := form([][2]string{{"title", "vision"}, {"colour", "red"}}, "image", "a.png", "", pixel)
	two, twoHeader := form([][2]string{{"title", "vision"}}, "image", "a.png", "", pixel)
	boundary := strings.TrimPrefix(twoHeader, "multipart/form-data; boundary=")
	two = strings.TrimSuffix(two, "--\r\n") + "\r\nContent-Disposition: form-data; name=\"image2\"; filename=\"b.png\"\r\n\r\nx\r\n--" + boundary + "--\r\n"
	asText, asTextHeader := form([][2]string{{"title", "vision"}, {"format", "text"}}, "image", "a.png", "", pixel)
	asJPEG, asJPEGHeader := form([][2]string{{"title", "vision"}, {"media_type", "image/jpeg"}}, "image", "a.png", "image/png", pixel)
	long, longHeader := form([][2]string{{"title", strings.Repeat("x", 2000)}}, "image", "a.png", "", pixel)
	for _, c := range []struct {
		name, path, body, header string
		status                   int
		code                     abi.Code
		where, detail            string
	}{
		{"unknown companion", "/v1/companions/bo/perceptions", touch, "", 404, "not_found", "", "bo"},
		{"no card", "/v1/companions/aya/perceptions", touch, "", 404, "not_found", "body.title", "aya has no card"},
		{"unknown title", perceives, `{"title":"smell","format":"text","body":"x"}`, "", 404, "not_found", "body.title", "smell"},
		{"wrong format", perceives, `{"title":"touch","format":"text","body":"x"}`, "", 400, "invalid", "body.format", "format: "},
		{"the schema's path", perceives, `{"title":"touch","format":"object","body":{"at":[1,"x"]}}`, "", 400, "invalid", "body.body.at[1]", "body.at[1]: "},
		{"a URL", perceives, `{"title":"vision","format":"image","body":"https://example.com/cat.png"}`, "", 400, "invalid", "body.body", "body: "},
		{"no JSON", perceives, `{"title":`, "", 400, "invalid", "body", "body: "},
		{"a list", perceives, `[]`, "", 400, "invalid", "body", "expected object"},
		{"null", perceives, `null`, "", 400, "invalid", "body", "expected object"},
		{"two values", perceives, touch + touch, "", 400, "invalid", "body", "body: "},
		{"nothing", perceives, `{}`, "", 400, "invalid", "body.body body.format body.title", "body: is missing; format: is missing; title: is missing"},
		{"typing error", perceives, `{"titel":"touch","format":"object","body":{}}`, "", 400, "invalid", "body.titel body.title", "titel: is not a known field"},
		{"capitals", perceives, `{"Title":"touch","format":"object","body":{}}`, "", 400, "invalid", "body.Title body.title", "Title: is not a known field"},
		{"wrong type", perceives, `{"title":7,"format":null,"body":{}}`, "", 400, "invalid", "body.format body.title", "title: expected string"},
		{"bad name", perceives, `{"title":"touch","format":"object","body":{"at":[]},"from":"a b"}`, "", 400, "invalid", "body.from", "from: "},
		{"plain text", perceives, `x`, "text/plain", 415, "invalid", "", "multipart/form-data"},
		{"no media type", perceives, `x`, ";;", 415, "invalid", "", "multipart/form-data"},
		{"a broken form", perceives, "--x\r\nno", "multipart/form-data; boundary=x", 400, "invalid", "body", "no form"},
		{"a form without a boundary", perceives, "x", "multipart/form-data", 400, "invalid", "body", "no form"},
		{"no file", perceives, noFile, noHeader, 400, "invalid", "body.image", "image: is missing"},
		{"no title", perceives, noTitle, noTitleHeader, 400, "invalid", "body.title", "title: is missing"},
		{"two files", perceives, two, twoHeader, 400, "invalid", "body.image2", "second file"},
		{"an unknown field", perceives, odd, oddHeader, 400, "invalid", "body.colour", "colour"},
		{"a long field", perceives, long, longHeader, 413, "too_large", "body.title", "title"},
		{"a form of another format", perceives, asText, asTextHeader, 400, "invalid", "body.format", `format: is "text", must be "image": a form carries an image`},
		{"another kind than the bytes", perceives, asJPEG, asJPEGHeader, 400, "invalid", "body.image", `image: is said to be "image/jpeg"`},
		{"not that kind of image", perceives, notPNG, notHeader, 400, "invalid", "body.image", "image: "},
		{"waits too long", perceives + "?wait=56", touch, "", 400, "invalid", "query.wait", "wait"},
		{"unknown parameter", perceives + "?wiat=5", touch, "", 400, "invalid", "query.wiat", "wiat"},
	} {
		t.Run(c.name, func(t *testing.T) {
			header := []string{}
			if c.header != "" {
				header = []string{"Content-Type", c.header}
			}
			w := s.ask("POST", c.path, c.body, header...)
			d := decode[guard.Details](t, w, c.status)
			var where []string
			for _, e := range d.Errors {
				where = append(where, e.Location)
			}
			if d.Code != c.code || strings.Join(where, " ") != c.where || !strings.Contains(d.Detail, c.detail) || w.Body.Len() > 1000 {
				t.Errorf("%s", w.Body)
			}
			if n, all := s.Counts("nikoni")["taken"], s.room.Happened(); n != 0 || len(all) != 0 {
				t.Errorf("%d were taken, and written down %v", n, all)
			}
		})
	}
}

// Input needs the scope talk and everything else act, so that a camera cannot
// speak for people and a chat cannot see for a companion.
func TestPerceptionScopes(t *testing.T) {
	in(t, func(t *testing.T, s *sensing) {
		const input = `{"title":"input","format":"text","body":"x"}`
		for _, c := range []struct {
			scope  identity.Scope
			body   string
			status int
		}{
			{identity.Talk, input, 201}, {identity.Act, input, 403}, {identity.Read, input, 403}, {identity.Admin, input, 403},
			{identity.Act, touch, 202}, {identity.Talk, touch, 403}, {identity.Read, touch, 403},
			{identity.Talk, `{"title":"smell","format":"text","body":"x"}`, 403}, {identity.Act, `{"title":"smell","format":"text","body":"x"}`, 404},
		} {
			if w := s.as(holder("mika", abi.KindHuman, c.scope), "POST", perceives, c.body); w.Code != c.status {
				t.Errorf("%s with %s: %d %s", c.body, c.scope, w.Code, w.Body)
			}
		}
		// The name is the token's.
		if w := s.as(holder("mika", abi.KindHuman, identity.Talk), "POST", perceives, `{"title":"input","format":"text","body":"x","from":"taro"}`); w.Code != 403 {
			t.Errorf("%d %s", w.Code, w.Body)
		}
		for _, path := range []string{"/v1/companions/nikoni", "/v1/companions/nikoni/card", "/v1/schemas/companion.json"} {
			for _, scope := range identity.Scopes() {
				if w := s.as(holder("mika", abi.KindHuman, scope), "GET", path, ""); (w.Code == 200) != (scope == identity.Read) {
					t.Errorf("%s with %s: %d", path, scope, w.Code)
				}
			}
		}
	})
}

// TestBodiesAreBounded: bodies of 200 MB were taken. Behind the guard as the host
// makes it one of 8 MiB of image comes through, and one byte over the limit does not.
func TestBodiesAreBounded(t *testing.T) {
	s := newSensing(t)
	g, err := guard.New(guard.Config{MaxBodyAt: map[string]int64{"/v1/companions": web.MaxPerception, "/perception": web.MaxPerception}}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	h := g.Handler(s)
	ask := func(path, contentType string, body []byte) *httptest.ResponseRecorder {
		r := httptest.NewRequest("POST", path, bytes.NewReader(body))
		r.Host = "localhost"
		r.Header.Set("Content-Type", contentType)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w
	}
	photo := append(bytes.Clone(pixel), make([]byte, 8<<20-len(pixel))...)
	in64 := func(image []byte) []byte {
		return []byte(`{"title":"vision","format":"image","body":"` + base64.StdEncoding.EncodeToString(image) + `"}`)
	}
	if w := ask(perceives, "application/json", in64(photo)); w.Code != 202 {
		t.Errorf("8 MiB: %d %s", w.Code, w.Body)
	}
	body, header := form([][2]string{{"title", "vision"}}, "image", "a.png", "", photo)
	if w := ask(perceives, header, []byte(body)); w.Code != 202 {
		t.Errorf("8 MiB in a form: %d %s", w.Code, w.Body)
	}
	if w := ask(perceives, "application/json", in64(append(photo, 0))); w.Code != 413 {
		t.Errorf("a byte more than 8 MiB: %d %s", w.Code, w.Body)
	}
	for _, path := range []string{perceives, "/perception"} {
		if w := ask(path, "application/json", make([]byte, web.MaxPerception+1)); w.Code != 413 {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
	if w := ask("/init", "application/json", make([]byte, 2<<20)); w.Code != 413 {
		t.Errorf("/init: %d %s", w.Code, w.Body)
	}
	// Without a guard the door itself has the bound.
	if w := s.ask("POST", perceives, strings.Repeat("x", web.MaxPerception+1)); w.Code != 413 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// TestOrderIsKeptOverHTTP: perceptions that one client sends one after the other are
// judged so, and never two at once.
func TestOrderIsKeptOverHTTP(t *testing.T) {
	in(t, func(t *testing.T, s *sensing) {
		var got []string
		running := 0
		s.judge = func(_ context.Context, _ string, p abi.Percept) (abi.Judged, error) {
			if running++; running > 1 {
				return abi.Judged{}, errors.New("two at once")
			}
			time.Sleep(100 * time.Millisecond)
			got = append(got, string(p.Body))
			running--
			return abi.Judged{}, nil
		}
		for i := range 4 {
			body := fmt.Sprintf(`{"title":"vision","format":"text","body":"%d"}`, i)
			if w := s.ask("POST", perceives, body); w.Code != 202 {
				t.Errorf("%d %s", w.Code, w.Body)
			}
		}
		time.Sleep(5 * time.Minute)
		synctest.Wait()
		if strings.Join(got, " ") != `"0" "1" "2" "3"` {
			t.Errorf("%v", got)
		}
	})
}

// Any request is answered, and never as a fault of ours.
func FuzzPerceive(f *testing.F) {
	f.Add("application/json", touch)
	f.Add("application/json", `{"title":"vision","format":"image","body":"data:image/png;base64,`+base64.StdEncoding.EncodeToString(pixel)+`"}`)
	body, header := form([][2]string{{"title", "vision"}, {"from", "cam-1"}}, "image", "a.png", "image/png", pixel)
	f.Add(header, body)
	f.Add("multipart/form-data; boundary=x", "--x\r\nContent-Disposition: form-data; name=title\r\n\r\nvision\r\n--x--")
	s := newSensing(f)
	id, err := s.Open("nikoni", "", "")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, contentType, body string) {
		for _, path := range []string{perceives, "/init", "/perception?x=" + id} {
			r := httptest.NewRequest("POST", path, strings.NewReader(body))
			r.Header.Set("Content-Type", contentType)
			r.Header.Set("Mcp-Session-Id", id)
			ctx, cancel := context.WithCancel(context.Background())
			cancel() // nobody waits
			w := httptest.NewRecorder()
			s.ServeHTTP(w, r.WithContext(ctx))
			if w.Code >= 500 || !json.Valid(w.Body.Bytes()) {
				t.Errorf("%s: %d %s", path, w.Code, w.Body)
			}
		}
	})
}
