package streamable

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

func quietInto(b *bytes.Buffer, level slog.Level) *slog.Logger {
	return Quiet(slog.New(slog.NewTextHandler(b, &slog.HandlerOptions{Level: level})))
}

func TestQuiet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b bytes.Buffer
		log := quietInto(&b, slog.LevelInfo)
		for n := range 1000 {
			log.Warn(fmt.Sprintf("calling notifications/x: to client %d", n))
		}
		for _, kind := range []string{"tools/list_changed", "resources/list_changed", "resources/updated"} {
			log.Warn("calling notifications/" + kind + ": rejected by transport: undelivered message: stream not connected or already closed")
			log.Warn("calling notifications/" + kind + ": rejected by transport: write to closed stream")
		}
		log.With("a", 1).WithGroup("g").Warn("calling notifications/x: once more")
		log.Warn("something else")
		log.Info("server connecting")
		if got := strings.Count(b.String(), "\n"); got != quietLines+1 || strings.Contains(b.String(), "connecting") {
			t.Errorf("%d lines:\n%s", got, b.String())
		}
		b.Reset()
		time.Sleep(quietSpan)
		log.Error("calling notifications/x: late")
		log.Warn("something else")
		if got := b.String(); strings.Count(got, "\n") != 2 || !strings.Contains(got, "held_back=998") || strings.Count(got, "held_back") != 1 {
			t.Errorf("%s", got)
		}
	})
}

func TestQuietKeepsNoMoreKindsThanItMay(t *testing.T) {
	var b bytes.Buffer
	log := quietInto(&b, slog.LevelInfo)
	for n := range 10 * quietKinds {
		log.Warn(fmt.Sprintf("kind %d", n))
	}
	if got := strings.Count(b.String(), "\n"); got != quietKinds+quietLines {
		t.Errorf("%d lines", got)
	}
}

func TestQuietAtDebug(t *testing.T) {
	var b bytes.Buffer
	log := quietInto(&b, slog.LevelDebug)
	for range 10 {
		log.Info("server connecting")
	}
	if got := strings.Count(b.String(), "level=DEBUG"); got != 10 {
		t.Errorf("%s", b.String())
	}
	if quietInto(&b, slog.LevelInfo).Enabled(context.Background(), slog.LevelInfo) {
		t.Error("the SDK formats lines for every request that nobody sees")
	}
}

// Whoever listens to nothing is not told of what comes: that is nobody's to mend, so it is
// for who debugs. Two subscribe and do not open a stream.
func TestUndeliveredNoticesAreQuiet(t *testing.T) {
	for _, level := range []slog.Level{slog.LevelInfo, slog.LevelDebug} {
		var b bytes.Buffer
		server := sdk.NewServer(&sdk.Implementation{Name: "quiet", Version: "1"}, &sdk.ServerOptions{
			Logger:             quietInto(&b, level),
			SubscribeHandler:   func(context.Context, *sdk.SubscribeRequest) error { return nil },
			UnsubscribeHandler: func(context.Context, *sdk.UnsubscribeRequest) error { return nil },
		})
		server.AddResource(&sdk.Resource{Name: "thing", URI: "test://thing"}, nil)
		tr := New(server, Config{})
		_, url := serveOn(t, tr)
		for range 2 {
			id := initialize(t, http.DefaultClient, url)
			body := message(sessionEra, "resources/subscribe", map[string]any{"uri": "test://thing"})
			if resp, said := whole(t, http.DefaultClient, request(t, "POST", url, body, in(id, "", "")...)); resp.StatusCode != 200 || strings.Contains(said, "error") {
				t.Fatal(resp.StatusCode, said)
			}
		}
		b.Reset()
		for range 200 {
			_ = server.ResourceUpdated(t.Context(), &sdk.ResourceUpdatedNotificationParams{URI: "test://thing"})
		}
		got := b.String()
		if want := level == slog.LevelDebug; want != strings.Contains(got, "level=DEBUG msg=\"calling notifications/resources/updated: ") || strings.Contains(got, "level=WARN") || !want && got != "" {
			t.Errorf("at %v: %.2000s", level, got)
		}
		shut(t, tr)
	}
}
