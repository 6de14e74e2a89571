package web_test

import (
	"context"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/door/doortest"
	"github.com/companiond/companiond/host/door/guard"
	"github.com/companiond/companiond/host/door/web"
	"github.com/companiond/companiond/host/identity"
	"github.com/companiond/companiond/host/search"
)

type searched struct {
	Hits []struct {
		Room    string
		Message abi.Message
		Turn    uint64
	}
	Next   uint64
	Behind bool
}

// asks answers searches, and notes the newest.
type asks struct {
	ask search.Ask
	out search.Answer
	err error
}

func (a *asks) Search(_ context.Context, ask search.Ask) (search.Answer, error) {
	a.ask = ask
	return a.out, a.err
}

func searchDoor(t *testing.T, s web.Searcher) fixture {
	t.Helper()
	house := doortest.NewHouse(t, "main", "side")
	mux := http.NewServeMux()
	if err := web.Register(mux, web.Config{Rooms: house, Companions: func() []web.Companion { return nil }, Usual: func() string { return "" }, Search: s}); err != nil {
		t.Fatal(err)
	}
	return fixture{house, guard.Mux(mux)}
}

func TestSearchDoor(t *testing.T) {
	s := &asks{out: search.Answer{Hits: []search.Hit{{Room: "side", Message: abi.Message{Seq: 7, From: "mika", Text: "天気", To: []string{}}, Turn: 3}}, Next: 7, Behind: true}}
	f := searchDoor(t, s)
	w := f.ask("GET", "/v1/rooms/main/search?q="+url.QueryEscape("天気 猫")+"&from=mika&limit=3&before=9&after=2", "")
	got := decode[searched](t, w, 200)
	if len(got.Hits) != 1 || got.Hits[0].Room != "side" || got.Hits[0].Turn != 3 || got.Hits[0].Message.Text != "天気" || got.Next != 7 || !got.Behind {
		t.Errorf("%s", w.Body)
	}
	if s.ask.May = nil; s.ask.Query != "天気 猫" || s.ask.Room != "main" || s.ask.From != "mika" || s.ask.Limit != 3 || s.ask.Before != 9 || s.ask.After != 2 {
		t.Errorf("%+v", s.ask)
	}
	decode[searched](t, f.ask("GET", "/v1/search?q=a", ""), 200)
	if s.ask.Room != "" || s.ask.May == nil || !s.ask.May("side") || s.ask.May("nowhere") || s.ask.Limit != 20 {
		t.Errorf("%+v", s.ask)
	}
	s.out = search.Answer{}
	if w := f.ask("GET", "/v1/search?q=a", ""); strings.TrimSpace(w.Body.String()) != `{"hits":[]}` {
		t.Errorf("%s", w.Body)
	}
	isRefused(t, f.ask("GET", "/v1/search", ""), 400, abi.CodeInvalid, "query.q", "")
	isRefused(t, f.ask("GET", "/v1/search?q=a&limit=101", ""), 400, abi.CodeInvalid, "query.limit", "")
	isRefused(t, f.ask("GET", "/v1/search?q=a&after=1", ""), 400, abi.CodeInvalid, "query.after", "")
	isRefused(t, f.ask("GET", "/v1/rooms/nowhere/search?q=a", ""), 404, abi.CodeNotFound, "", "nowhere")
	isRefused(t, f.as(holder("x", abi.KindHuman, identity.Talk), "GET", "/v1/search?q=a", ""), 403, abi.CodeDenied, "", "read")
	s.err = abi.Errorf(abi.CodeUnavailable, "the disk is full")
	isRefused(t, f.ask("GET", "/v1/search?q=a", ""), 503, abi.CodeUnavailable, "", "disk is full")
}

// A door before a real index: what is wrong with the words is told at q.
func TestSearchWithAnIndex(t *testing.T) {
	j := doorJournal{}
	k := search.New(search.Config{Journal: j, Path: filepath.Join(t.TempDir(), search.File)})
	t.Cleanup(func() { _ = k.Close() })
	f := searchDoor(t, k)
	isRefused(t, f.ask("GET", "/v1/search?q=+", ""), 400, abi.CodeInvalid, "query.q", "no words")
	isRefused(t, f.ask("GET", "/v1/search?q="+"a+b+c+d+e+f+g+h+i+j+k+l+m+n+o+p+q", ""), 413, abi.CodeTooLarge, "query.q", "16")
}

// doorJournal is never asked.
type doorJournal struct{ search.Journal }
