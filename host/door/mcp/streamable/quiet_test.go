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

// A subscriber that has gone away does not fill the log.
func TestGoneSubscriberIsQuiet(t *testing.T) {
	var b bytes.Buffer
	log := quietInto(&b, slog.LevelInfo)
	server := sdk.NewServer(&sdk.Implementation{Name: "quiet", Version: "1"}, &sdk.ServerOptions{
		Logger:             log,
		SubscribeHandler:   func(context.Context, *sdk.SubscribeRequest) error { return nil },
		UnsubscribeHandler: func(context.Context, *sdk.UnsubscribeRequest) error { return nil },
	})
	server.AddResource(&sdk.Resource{Name: "thing", URI: "test://thing"}, nil)
	tr := New(server, Config{})
	_, url := serveOn(t, tr)
	id := initialize(t, http.DefaultClient, url)
	body := rpc(sessionEra, "resources/subscribe", map[string]any{"uri": "test://thing"})
	if resp, said := whole(t, http.DefaultClient, request(t, "POST", url, body, in(id, "", "")...)); resp.StatusCode != 200 || strings.Contains(said, "error") {
		t.Fatal(resp.StatusCode, said)
	}
	for range 200 {
		_ = server.ResourceUpdated(t.Context(), &sdk.ResourceUpdatedNotificationParams{URI: "test://thing"})
	}
	if got := strings.Count(b.String(), "\n"); got == 0 || got > 2*quietLines {
		t.Errorf("%d lines:\n%.2000s", got, b.String())
	}
	shut(t, tr)
}
