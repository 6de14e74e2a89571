package host

import (
	"context"
	"slices"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/config"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/memory"
	"github.com/companiond/companiond/host/memory/meaning"
	"github.com/companiond/companiond/host/model"
	"github.com/companiond/companiond/host/model/tokens"
	"github.com/companiond/companiond/host/module"
	"github.com/companiond/companiond/host/module/prompt"
)

// buildMemory makes what keeps what companions remember; nothing is read yet.
func (h *Host) buildMemory() {
	c := memory.Config{
		Journal: h.journal, Owner: "companiond/" + newID(), NewID: newID, Location: time.Local, Log: h.log,
		Settings: h.remembers, Names: h.names,
		Model: func(ctx context.Context, c module.Caller, ask model.Request) (model.Answer, error) {
			return h.models.Generate(ctx, c, h.modelOf(c.Companion), prompt.Ask{Request: ask}, nil)
		},
		Window: func(companion string) (int, *tokens.Meter) { return h.models.Window(h.modelOf(companion)) },
		Meaning: meaning.New(meaning.Config{Model: h.embeds, Embed: func(ctx context.Context, c module.Caller, texts []string) ([][]float32, error) {
			return h.models.Embed(ctx, c, h.modelOf(c.Companion), texts)
		}}),
	}
	h.memory = memory.New(c)
}

// remembers says how a companion remembers: by a model only where it has one.
func (h *Host) remembers(companion string) memory.Settings {
	c := h.cfg.MemoryOf(companion)
	if c.Scope == config.MemoryOff {
		return memory.Settings{Off: true}
	}
	s := memory.Settings{Visibility: abi.Visibility(c.Scope)}
	if c.By != config.MemoryRules {
		s.Model = (c.By == config.MemoryModel || h.thinks(companion)) && h.models.Waits(companion, h.modelOf(companion)) == ""
		s.Mind, _ = h.models.VotesWithLine(h.modelOf(companion))
	}
	return s
}

// embeds names the model that makes vectors of what a companion remembers: of one whose words its
// model is told anyway.
func (h *Host) embeds(companion string) string {
	if h.cfg.MemoryOf(companion).By != config.MemoryModel && !h.thinks(companion) {
		return ""
	}
	return h.models.Embeds(h.modelOf(companion))
}

// thinks says whether a companion asks a language model by itself.
func (h *Host) thinks(companion string) bool {
	c, ok := h.folder.Companion(companion)
	return ok && (c.Engine() == (*prompt.Engine)(nil).Name() || slices.Contains(h.grantOf(companion), abi.HostModelGenerate))
}

// names gives what those in a room are called.
func (h *Host) names(ctx context.Context, room string) map[string]string {
	names := map[string]string{}
	for _, c := range h.folder.Companions() {
		names[c.ID()] = c.Describe().Name
	}
	return names
}

// used writes down what a language model was asked for: in the room, which for what it remembers of a talk
// nobody wakes again.
func (h *Host) used(ctx context.Context, room string, u entry.Usage) {
	switch {
	case u.Op == memory.Op || u.Op == meaning.OpIndex:
		h.memory.Used(ctx, u)
	case room != "":
		h.rooms.Used(ctx, room, u)
		h.compress.Used(room, u)
	}
}
