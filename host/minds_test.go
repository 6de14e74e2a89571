package host_test

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host"
	"github.com/companiond/companiond/host/bench"
	"github.com/companiond/companiond/host/bench/world"
	"github.com/companiond/companiond/host/config"
)

func mindsOf(t *testing.T, files map[string]string) (*host.Minds, error) {
	t.Helper()
	dir := t.TempDir()
	for name, from := range files {
		data, err := os.ReadFile(from)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), data, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	cfg, problems := config.Parse("test", []byte("[modules]\ncharacters = \""+dir+"\"\ncache = \""+filepath.Join(guests, "cache")+"\"\n"), nil)
	if config.Failed(problems) {
		t.Fatal(problems)
	}
	return host.OpenMinds(t.Context(), host.Options{Config: cfg, Log: slog.New(slog.DiscardHandler)})
}

// The characters of a folder are measured as they are, with the time they really take.
func TestCharactersOnTheBench(t *testing.T) {
	m, err := mindsOf(t, map[string]string{"hana.wasm": parrot(t, "one"), "mio.wasm": parrot(t, "one")})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	}()
	if ms := m.Members(); len(ms) != 2 || ms[0].ID != "hana" || ms[1].ID != "mio" {
		t.Fatalf("%+v", ms)
	}
	scene := abi.Scene{Message: abi.Message{Seq: 1, From: "Taro", To: []string{}, Text: "hello", Kind: abi.KindTurn}}
	if v, took, err := m.Vote("hana", scene); err != nil || v.Check() != nil || took < 0 {
		t.Errorf("%+v after %v, %v", v, took, err)
	}
	if l, _, err := m.Line("mio", scene); err != nil || !strings.Contains(l.Text, "one") {
		t.Errorf("%+v, %v", l, err)
	}
	if _, _, err := m.Vote("nobody", scene); err == nil {
		t.Error("nobody votes")
	}
	talks := 0
	res, err := bench.Run(t.Context(), bench.Options{
		Seed: "x", Talks: 1, Policies: []string{"vote", "round-robin"}, Rules: bench.Rules(), Speech: bench.Speech,
		Yours: bench.Yours(m.Members()),
		Minds: func() (world.Minds, func() error, error) { return m, func() error { talks++; return nil }, nil },
	})
	if err != nil || len(res.Casts) != 1 || res.Casts[0].Name != "yours" {
		t.Fatalf("%+v, %v", res, err)
	}
	if talks != 2 {
		t.Errorf("%d talks were ended", talks)
	}
	for _, row := range res.Casts[0].Rows {
		if row.Metrics.Turns == 0 || row.Metrics.Calls == 0 {
			t.Errorf("%s: %+v", row.Policy, row.Metrics)
		}
	}
}

func TestNoCharactersOnTheBench(t *testing.T) {
	if _, err := mindsOf(t, nil); err == nil || !strings.Contains(err.Error(), "no character of ") {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	cfg, _ := config.Parse("test", []byte("[modules]\ncharacters = \""+t.TempDir()+"\"\ncache = \""+t.TempDir()+"\"\n"), nil)
	if m, err := host.OpenMinds(ctx, host.Options{Config: cfg, Log: slog.New(slog.DiscardHandler)}); err == nil {
		t.Error("opened although nobody waits for it", m.Close())
	}
}
