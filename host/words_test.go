package host_test

import (
	"log/slog"
	"net"
	"path/filepath"
	"strings"
	"testing"

	"github.com/companiond/companiond/host"
	"github.com/companiond/companiond/host/config"
	"github.com/companiond/companiond/host/logtest"
)

// Whoever waits for a companion that nobody made learns it from the log, also
// what it may be called instead; a file that cannot be loaded is there.
func TestStartNamesCompanionsThatAreNotThere(t *testing.T) {
	h, book := newHome(t), &logtest.Log{}
	h.log = book.Logger()
	h.save("aya.wasm", []byte("no module"))
	h.open("[room.main]\ncompanions = [\"aya\", \"aja\"]\n[room.den]\ncompanions = [\"*\"]\n")
	got := book.Warnings("has no file in")
	if len(got) != 1 || !strings.Contains(got[0], "room.main.companions") || !strings.Contains(got[0], `did you mean \"aya\"?`) {
		t.Errorf("the log says %q", got)
	}
	h.stop()
}

// A port that is in use is named with the setting that says so.
func TestAPortInUse(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	dir, at := t.TempDir(), taken.Addr().String()
	cfg, _ := config.Parse("x", []byte("[door]\nlisten = \""+at+"\""), nil)
	cfg.Journal.Path, cfg.Modules.Characters, cfg.Modules.Cache = filepath.Join(dir, "state", "x.db"), filepath.Join(dir, "characters"), filepath.Join(dir, "cache")
	err = host.New(host.Options{Config: cfg, Log: slog.New(slog.DiscardHandler)}).Run(t.Context())
	if err == nil || !strings.HasPrefix(err.Error(), "door.listen: another program listens at "+at+" already; stop it") || !strings.Contains(err.Error(), "another port") {
		t.Errorf("err = %v", err)
	}
}

// A vote that is none reaches the log and the companion's status.
func TestABadVoteIsSaid(t *testing.T) {
	h, book := newHome(t), &logtest.Log{}
	h.log = book.Logger()
	h.drop(parrot(t, "one"), "bad.wasm")
	h.open("[room.main]\npace = \"0s\"\npatience = \"1m\"\n")
	for range 3 {
		h.say("main", "taro", "hello")
	}
	h.until("a word about the vote", func() bool { return strings.Contains(h.companion("bad").Error, `"dance" is neither`) })
	h.until("all of them", func() bool { return strings.Contains(h.companion("bad").Error, "answers were of no use") })
	if got := book.Warnings("companion=bad"); len(got) != 1 || !strings.Contains(got[0], "dance") {
		t.Errorf("the log says %q", got)
	}
	if c := h.companion("bad"); c.State != "ready" {
		t.Errorf("state %s", c.State)
	}
}
