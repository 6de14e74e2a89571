package past_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/compress"
	"github.com/companiond/companiond/host/door/doortest"
	"github.com/companiond/companiond/host/door/guard"
	"github.com/companiond/companiond/host/door/web"
	"github.com/companiond/companiond/host/door/web/past"
	"github.com/companiond/companiond/host/history"
	"github.com/companiond/companiond/host/identity"
	"github.com/companiond/companiond/host/rooms"
	"github.com/companiond/companiond/host/waittest"
)

// tokens are of people and agents with these scopes.
const tokens = "mika human read,talk sha256:%s\nlooker human read sha256:%s\nbot agent read,talk,act,admin sha256:%s\nreader agent read sha256:%s\n" +
	"talker human talk sha256:%s\nmouth agent talk sha256:%s\n"

// stage is the door before a house with the rooms main and side, in which taro has said so many turns.
type stage struct {
	t    *testing.T
	door http.Handler
	talk rooms.Room
	made *compress.Service // which does nothing before verified tells it of it
}

func newStage(t *testing.T, turns int) *stage {
	t.Helper()
	house := doortest.NewHouse(t, "main", "side")
	s := &stage{t: t, talk: house.Get("main")}
	for i := range turns {
		if _, err := s.talk.Say(t.Context(), rooms.Utterance{From: "taro", Text: fmt.Sprint("turn ", i+1)}); err != nil {
			t.Fatal(err)
		}
	}
	var hashes []any
	for _, name := range []string{"mika", "looker", "bot", "reader", "talker", "mouth"} {
		hashes = append(hashes, identity.Hash(name+"'s"))
	}
	register, err := identity.Parse("tokens", fmt.Appendf(nil, tokens, hashes...))
	if err != nil {
		t.Fatal(err)
	}
	g, err := guard.New(guard.Config{Tokens: register, Rate: -1}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	var ids atomic.Int64
	s.made = compress.New(compress.Config{
		Rooms: house, NewID: func() string { return fmt.Sprint("p", ids.Add(1)) }, Log: slog.New(slog.DiscardHandler),
		Mind: func(id string) (compress.Mind, error) {
			return nil, abi.Errorf(abi.CodeNotFound, "there is no companion %q", id)
		},
		Usual: func(string) (string, string) { return compress.Extract, compress.Extract },
	})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.made.Run(ctx) }()
	t.Cleanup(func() {
		if cancel(); <-ended != nil {
			t.Error("the service failed")
		}
	})
	mux := http.NewServeMux()
	if err := web.Register(mux, web.Config{
		Rooms: house, Companions: func() []web.Companion { return nil }, Usual: func() string { return "" },
		Compressing: s.made,
	}); err != nil {
		t.Fatal(err)
	}
	s.door = g.Handler(guard.Mux(mux))
	return s
}

// verified tells the service of what there is to do, as the host does, and waits until so many drafts of a proposal were verified.
func (s *stage) verified(id string, drafts int) {
	s.t.Helper()
	waittest.Until(s.t, "the draft is verified", func() bool {
		book, err := s.talk.Book(s.t.Context())
		if err != nil {
			s.t.Error(err)
			return true
		}
		s.made.Told("main", book)
		return len(book.Get(id).Drafts) == drafts
	})
}

// offer has a proposal of turns be as far as a state.
func (s *stage) offer(id string, from, to uint64, state history.State) {
	s.t.Helper()
	way := []history.Input{{Kind: history.Propose, Ask: &history.Ask{Turns: history.Range{From: from, To: to}, Policy: "Keep all.", Length: history.Length{N: 100, Unit: history.Characters}, Compresser: compress.Extract, Verifier: compress.Extract}}}
	yes := history.Input{Kind: history.Drafted, Draft: &history.Draft{N: 1, Text: "short", By: "extract", VerifiedBy: "extract", Verdict: history.Yes}}
	no := history.Input{Kind: history.Drafted, Draft: &history.Draft{N: 1, Text: "bad", Verdict: history.No, Feedback: "M1 is missing"}}
	switch state {
	case history.Offered:
		way = append(way, yes)
	case history.Refused:
		way = append(way, no, no, no)
	case history.Approved:
		way = append(way, yes, history.Input{Kind: history.Approve})
	case history.Denied:
		way = append(way, history.Input{Kind: history.Deny})
	case history.Failed:
		way = append(way, history.Input{Kind: history.Fail})
	case history.Reverted:
		way = append(way, yes, history.Input{Kind: history.Approve}, history.Input{Kind: history.Revert})
	}
	for _, in := range way {
		in.Proposal, in.By = id, "taro"
		if _, err := s.talk.Happens(s.t.Context(), in); err != nil {
			s.t.Fatalf("%s of %s: %v", in.Kind, id, err)
		}
	}
}

// answer is what a request got.
type answer struct {
	status int
	text   string
	past.Compression
	Compressions []past.Compression
	AllTurns     []abi.PastTurn
	Of           any // how many turns
	Branches     []rooms.Branch
	Fork         rooms.Branch
	Code         abi.Code
	Detail       string
	Errors       []guard.Field
}

// ask makes a request as whoever: "here" or "elsewhere" without a token, else the holder of one.
func (s *stage) ask(whoever, method, path, body string) (a answer) {
	s.t.Helper()
	var in io.Reader
	if body != "" {
		in = strings.NewReader(body)
	}
	r := httptest.NewRequestWithContext(context.WithoutCancel(s.t.Context()), method, path, in)
	r.Host, r.RemoteAddr = "localhost", "127.0.0.1:4000"
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	switch whoever {
	case "here":
	case "elsewhere":
		r.RemoteAddr = "192.0.2.7:4000"
	default:
		r.Header.Set("Authorization", "Bearer "+whoever+"'s")
	}
	w := httptest.NewRecorder()
	s.door.ServeHTTP(w, r)
	a = answer{status: w.Code, text: w.Body.String()}
	var into any = &a
	switch {
	case a.status < 300 && strings.HasSuffix(path, "/forks"):
		into = &a.Fork
	case a.status < 300 && strings.Contains(path, "/turns"):
		into = &struct {
			Turns *[]abi.PastTurn
			Of    *any
		}{&a.AllTurns, &a.Of}
	}
	if err := json.Unmarshal(w.Body.Bytes(), into); err != nil {
		s.t.Errorf("%s %s: %v: %s", method, path, err, a.text)
	}
	return a
}
