package host_test

import (
	"bytes"
	"context"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	"github.com/companiond/companiond/host"
	"github.com/companiond/companiond/host/config"
	"github.com/companiond/companiond/host/door/web"
	"github.com/companiond/companiond/host/identity"
)

// A token whose name reads like a companion's is told of at the start: the rooms
// keep a resident's name from everybody else, so that one could never speak.
func TestTokensOfResidents(t *testing.T) {
	h := newHome(t)
	h.drop(parrot(t, "one"), "aya.wasm")
	tokens, err := identity.Parse("tokens", []byte(
		"ＡＹＡ agent talk sha256:"+identity.Hash("t")+"\nmika human talk sha256:"+identity.Hash("u")))
	if err != nil {
		t.Fatal(err)
	}
	cfg, problems := config.Parse("test.toml", []byte("[door]\nlisten = \"127.0.0.1:0\"\n[journal]\nballast = \"0\"\n"), nil)
	if config.Failed(problems) {
		t.Fatal(problems)
	}
	cfg.Journal.Path = filepath.Join(h.dir, "state", "companiond.db")
	cfg.Modules.Characters = filepath.Join(h.dir, "characters")
	cfg.Modules.Cache = filepath.Join(guests, "cache")
	var log bytes.Buffer // read when the daemon is gone
	d := host.New(host.Options{Config: cfg, Log: slog.New(slog.NewTextHandler(&log, nil)), Version: web.Version{}, Tokens: tokens})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- d.Run(ctx) }()
	select {
	case <-d.Ready():
	case err := <-done:
		t.Fatal(err)
	}
	cancel()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	var told []string
	for l := range strings.SplitSeq(log.String(), "\n") {
		if strings.Contains(l, "level=WARN") {
			told = append(told, l)
		}
	}
	if len(told) != 1 || !strings.Contains(told[0], "holder=ＡＹＡ companion=aya") {
		t.Errorf("warned of %q", told)
	}
}
