package mcp

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/compress"
	"github.com/companiond/companiond/host/history"
	"github.com/companiond/companiond/host/identity"
	"github.com/companiond/companiond/host/journal/memory"
	"github.com/companiond/companiond/host/room"
	"github.com/companiond/companiond/host/room/reader"
	"github.com/companiond/companiond/host/room/registry"
	"github.com/companiond/companiond/host/rooms"
)

// archive is a door before rooms whose past is compressed as the test says: verdicts of drafts come from it,
// and all else is the house's own.
type archive struct {
	*compress.Service // decides and reverts
	t                 *testing.T
	journal           *memory.Journal
	rooms             *registry.Registry
	door              *Door
	url               string
	stops             context.CancelFunc

	mu       sync.Mutex
	caller   identity.Caller
	ids      int
	asked    []compress.Request
	service  *compress.Service // that has all of it done; nil: as this says
	verdicts []history.Verdict // of the drafts to come; Yes when there are no more
	later    bool              // they come after the answer
}

// person is the holder of a human's token.
func person(name string) identity.Caller {
	return identity.Caller{Name: name, Kind: abi.KindHuman, Scopes: []identity.Scope{identity.Read, identity.Talk}, Sharer: name}
}

// bot is the holder of an agent's.
func bot(name string) identity.Caller {
	return identity.Caller{Name: name, Kind: abi.KindAgent, Scopes: []identity.Scope{identity.Read, identity.Talk}, Sharer: name}
}

// openArchive opens one in whose usual room so many turns were said.
func openArchive(t *testing.T, turns int) *archive {
	t.Helper()
	a := &archive{t: t, journal: memory.New(), caller: bot("mika")}
	a.rooms = newRooms(t, a.journal, &cast{}, room.Settings{Name: usualRoom, Companions: []string{"*"}, Rules: rulesOf("vote", abi.Pool{})})
	a.Service = compress.New(compress.Config{Rooms: a.rooms})
	var stopping context.Context
	stopping, a.stops = context.WithCancel(context.Background())
	t.Cleanup(a.stops)
	a.door = New(Config{Rooms: a.rooms, Version: "test", Cards: noCards, Compressing: a, Stopping: stopping})
	mux := http.NewServeMux()
	a.door.Register(mux)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a.mu.Lock()
		c := a.caller
		a.mu.Unlock()
		r.Header.Set("Authorization", "Bearer checked") // as the guard leaves it
		mux.ServeHTTP(w, r.WithContext(identity.With(r.Context(), c)))
	}))
	a.url = server.URL + "/mcp"
	run(t, a.rooms.Run, a.door.Run)
	t.Cleanup(func() { _ = a.door.Close(context.Background()); server.Close() })
	a.rooms.SetCast(t.Context(), nil)
	for i := range turns {
		if _, err := a.talk().Say(t.Context(), rooms.Utterance{From: "taro", Text: fmt.Sprintf("%d番目の話", i+1)}); err != nil {
			t.Fatal(err)
		}
	}
	return a
}

func (a *archive) talk() rooms.Room {
	a.t.Helper()
	talk, err := a.rooms.Room(a.t.Context(), usualRoom)
	if err != nil {
		a.t.Fatal(err)
	}
	return talk
}

// from lets everybody be one caller from now on.
func (a *archive) from(c identity.Caller) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.caller = c
}

// says makes the verdicts of the drafts to come.
func (a *archive) says(all ...history.Verdict) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.verdicts = all
}

func (a *archive) verdict() history.Verdict {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.verdicts) == 0 {
		return history.Yes
	}
	v := a.verdicts[0]
	a.verdicts = a.verdicts[1:]
	return v
}

// through has all of it done by a service from now on.
func (a *archive) through(s *compress.Service) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.service = s
}

// tells a service what became of the room's history, as the host does.
func (a *archive) tells(s *compress.Service) {
	book, err := a.talk().Book(context.Background())
	if err != nil {
		a.t.Error(err)
	}
	s.Told(usualRoom, book)
}

func (a *archive) house() *compress.Service {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.service
}

// Propose implements past.Compressing: nothing is drafted before draft does.
func (a *archive) Propose(ctx context.Context, q compress.Request) (history.Proposal, error) {
	if s := a.house(); s != nil {
		p, err := s.Propose(ctx, q)
		a.tells(s)
		return p, err
	}
	a.mu.Lock()
	a.ids++
	id := fmt.Sprintf("p%d", a.ids)
	a.asked = append(a.asked, q)
	a.mu.Unlock()
	ask := history.Ask{Turns: q.Turns, Policy: q.Policy, Length: q.Length, Compresser: "model", Verifier: "model"}
	if q.Length.N == 0 {
		ask.Length = history.Length{N: 200, Unit: history.Characters}
	}
	in := history.Input{Kind: history.Propose, Proposal: id, By: q.By, Ask: &ask}
	if q.Text != "" {
		ask.Compresser = ""
		if a.late() {
			return a.verifies(ctx, in, q.Text)
		}
	}
	p, err := a.talk().Happens(ctx, in)
	if err != nil || q.Text == "" {
		return p, err
	}
	return a.drafted(ctx, p.ID, q.Text)
}

func (a *archive) late() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.later
}

// verifies takes a draft, and has the next verdict about it come later, as in a house with a model.
func (a *archive) verifies(ctx context.Context, in history.Input, text string) (history.Proposal, error) {
	in.Draft = &history.Draft{N: 1, Text: text, By: in.By}
	p, err := a.talk().Happens(ctx, in)
	if err == nil {
		go func() {
			if _, err := a.drafted(context.WithoutCancel(ctx), p.ID, text); err != nil {
				a.t.Error(err)
			}
		}()
	}
	return p, err
}

// Redraft implements past.Compressing.
func (a *archive) Redraft(ctx context.Context, room, id, text, by string) (history.Proposal, error) {
	if s := a.house(); s != nil {
		p, err := s.Redraft(ctx, room, id, text, by)
		a.tells(s)
		return p, err
	}
	if a.late() {
		return a.verifies(ctx, history.Input{Kind: history.Hand, Proposal: id, By: by}, text)
	}
	return a.drafted(ctx, id, text)
}

// drafted has a draft of a proposal, with the next verdict.
func (a *archive) drafted(ctx context.Context, id, text string) (history.Proposal, error) {
	d := &history.Draft{N: 1, Text: text, By: "mika", VerifiedBy: "model", Verdict: a.verdict(), Lost: []history.Loss{{Kind: "number", Item: "42", Turn: 3}},
		Findings: []history.Finding{{ID: "M1", Item: "SQLite", Turn: 2, Status: history.Kept, Quote: "SQLite", Policy: true}}}
	if d.Verdict == history.No {
		d.Findings[0].Status, d.Findings[0].Quote, d.Feedback = history.Missing, "", "M1 is missing"
	}
	return a.talk().Happens(ctx, history.Input{Kind: history.Drafted, Proposal: id, Draft: d})
}

// offered has a proposal that waits for a person.
func (a *archive) offered(turns history.Range, text string) (id string) {
	a.t.Helper()
	p, err := a.Propose(a.t.Context(), compress.Request{Room: usualRoom, By: "mika", Turns: turns, Text: text})
	if err != nil || p.State != history.Offered {
		a.t.Fatalf("%+v, %v", p, err)
	}
	return p.ID
}

// state gives how a proposal is.
func (a *archive) state(id string) history.State {
	a.t.Helper()
	book, err := a.talk().Book(a.t.Context())
	if err != nil || book.Get(id) == nil {
		a.t.Fatalf("%s of %+v, %v", id, book, err)
	}
	return book.Get(id).State
}

// erase takes the words of a turn out of the journal.
func (a *archive) erase(turn uint64) {
	a.t.Helper()
	seqs, err := reader.Turns(a.t.Context(), a.journal, usualRoom, history.Range{From: turn, To: turn})
	if err == nil {
		body := fmt.Sprintf(`{"from":"somebody","by":"human","text":"","kind":"turn","turn":%d,"erased":"o1"}`, turn)
		err = a.journal.Blank(a.t.Context(), usualRoom, seqs[0], map[uint64][]byte{seqs[0]: []byte(body)})
	}
	if err != nil {
		a.t.Fatal(err)
	}
}

// connect opens a client of an era, which has the person at it answer forms so; nil: it cannot.
func (a *archive) connect(era string, answer func(*sdk.ElicitParams) (*sdk.ElicitResult, error)) *agent {
	a.t.Helper()
	o := &sdk.ClientOptions{}
	if answer != nil {
		o.ElicitationHandler = func(_ context.Context, r *sdk.ElicitRequest) (*sdk.ElicitResult, error) { return answer(r.Params) }
	}
	return a.connectAs(era, o)
}

func (a *archive) connectAs(era string, o *sdk.ClientOptions) *agent {
	a.t.Helper()
	c := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, o)
	s, err := c.Connect(a.t.Context(), &sdk.StreamableClientTransport{Endpoint: a.url}, &sdk.ClientSessionOptions{ProtocolVersion: era})
	if err != nil {
		a.t.Fatal(err)
	}
	a.t.Cleanup(func() { _ = s.Close() })
	return &agent{a.t, s}
}
