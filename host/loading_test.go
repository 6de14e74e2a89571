package host

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/config"
	"github.com/companiond/companiond/host/journal/memory"
)

// TestACompanionThatLoadsIsThere: from the first moment a file's companion is in
// the house. A perception for it is to come again, and no stranger gets its name.
func TestACompanionThatLoadsIsThere(t *testing.T) {
	dir := t.TempDir()
	c, problems := config.Parse("", nil, nil)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	c.Modules.Characters, c.Modules.Cache = filepath.Join(dir, "characters"), filepath.Join(dir, "cache")
	if err := os.MkdirAll(c.Modules.Characters, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(c.Modules.Characters, "nikoni.json"), []byte("{}"), 0o644); err != nil {
		t.Fatal(err)
	}
	h := New(Options{Config: c, Log: slog.New(slog.DiscardHandler)})
	db := memory.New()
	h.journal, h.stores = db, db
	if err := h.buildRooms(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.closeEngines() }) // nothing was loaded
	for id, want := range map[string]abi.Code{"nikoni": abi.CodeUnavailable, "momo": abi.CodeNotFound} {
		if _, err := h.card(id); abi.CodeOf(err) != want {
			t.Errorf("%s: %v", id, err)
		}
	}
	if who, lives := h.livesHere("N1koni"); who != "nikoni" || !lives { // whose words nobody has erased
		t.Errorf("%q %v lives here", who, lives)
	}
	if who, lives := h.livesHere("mika"); lives {
		t.Errorf("%q lives here", who)
	}
	if id, taken := h.house.Resident("Nikoni"); id != "nikoni" || !taken {
		t.Errorf("%q %v", id, taken)
	}
	if talk, err := h.rooms.Home(t.Context(), "nikoni"); err != nil || talk.Name() != "main" {
		t.Errorf("home: %v", err)
	}
}
