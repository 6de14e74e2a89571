package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/door/socket"
	"github.com/companiond/companiond/host/door/web"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/journal/memory"
	"github.com/companiond/companiond/host/room"
	"github.com/companiond/companiond/host/room/registry"
)

// greeter answers everybody.
type greeter struct{}

func (greeter) Describe() abi.Description {
	return abi.Description{Ops: []string{abi.OpVote, abi.OpSpeak}}
}
func (greeter) Permit(abi.ActionAsk) (string, error) { return "", nil }
func (greeter) Call(_ context.Context, req abi.Request) (json.RawMessage, error) {
	if req.Op == abi.OpVote {
		return json.Marshal(abi.Vote{State: abi.Speak, Importance: 5})
	}
	return json.Marshal(abi.Line{Text: "good morning"})
}

// notice is where a verb tells of itself; told is closed at its first word.
type notice struct {
	bytes.Buffer
	told chan struct{}
}

func (n *notice) Write(p []byte) (int, error) {
	if n.Len() == 0 {
		defer close(n.told)
	}
	return n.Buffer.Write(p)
}

// TestSayWhileTheCharactersLoad says something in the first moment of a daemon: it is
// taken, and the answer is shown when the characters are there, or that none is.
func TestSayWhileTheCharactersLoad(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, c := range map[string]struct {
		cast []entry.Joined
		want string
	}{
		"one comes":    {[]entry.Joined{{ID: "aya", Kind: abi.KindCompanion}}, "aya: good morning"},
		"nobody comes": {nil, "no character is in the room to answer"},
	} {
		t.Run(name, func(t *testing.T) {
			rooms, err := registry.New(registry.Config{
				Room: room.Config{
					Journal: memory.New(), NewID: rand.Text, Log: slog.New(slog.DiscardHandler),
					Find: func(string) (room.Companion, bool) { return greeter{}, true },
				},
				Rooms: []room.Settings{{Name: "main", Companions: []string{"*"}, Rules: entry.Rules{
					Policy: "vote", Seed: "main", Patience: 10_000, Floor: 10_000, MaxTurns: 1, Stale: entry.StaleReask,
				}}}, Usual: "main",
			})
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan error)
			go func() { ended <- rooms.Run(ctx) }()
			defer func() {
				cancel()
				<-ended
			}()
			mux := http.NewServeMux()
			if err := web.Register(mux, web.Config{Rooms: rooms}); err != nil {
				t.Fatal(err)
			}
			feed := socket.New(socket.Config{Rooms: rooms, Log: slog.New(slog.DiscardHandler), MaxClients: 10})
			feed.Register(mux)
			server := httptest.NewServer(mux)
			defer server.Close()

			errs, out, code := &notice{told: make(chan struct{})}, bytes.Buffer{}, make(chan int)
			go func() {
				code <- (&term{out: &out, err: errs}).do(t.Context(), []string{"say", "-url", server.URL, "-from", "taro", "-f", "hello"})
			}()
			<-errs.told
			rooms.SetCast(t.Context(), c.cast)
			if got := <-code; got != exitOK || !strings.Contains(errs.String(), "are being loaded") || !strings.Contains(out.String()+errs.String(), c.want) {
				t.Errorf("ended with %d: %s\n%s", got, errs, &out)
			}
		})
	}
}
