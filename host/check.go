package host

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/card"
	"github.com/companiond/companiond/host/config"
	"github.com/companiond/companiond/host/context/layout"
	"github.com/companiond/companiond/host/door/overlay"
	"github.com/companiond/companiond/host/model/tokens"
	"github.com/companiond/companiond/host/models"
	"github.com/companiond/companiond/host/module"
	"github.com/companiond/companiond/host/module/folder"
	"github.com/companiond/companiond/host/module/process"
	"github.com/companiond/companiond/host/module/prompt"
)

// CheckFolder compares a configuration with its folder of characters, as it is
// on the disk now, and gives what is worth a warning.
func CheckFolder(c config.Config) []config.Problem {
	ids, err := folder.IDs(c.Modules.Characters, closedEngines()...)
	var p *fs.PathError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return c.CheckFolder(nil, "is not there")
	case errors.As(err, &p):
		return c.CheckFolder(nil, "cannot be read: "+p.Err.Error())
	case err != nil:
		return c.CheckFolder(nil, "cannot be read: "+err.Error())
	}
	for _, m := range c.Module { // which may be a companion as well
		if m.Program != "" {
			ids = append(ids, m.Name)
		}
	}
	for _, one := range c.Handlers {
		ids = append(ids, one.Module)
	}
	return c.CheckFolder(ids, "")
}

// CheckFiles looks at the files that a configuration names, for the doors and of programs, and gives what is
// wrong with them.
func CheckFiles(c config.Config) (problems []config.Problem) {
	if _, err := overlay.ReadSheet(c.Door.OverlayCSS); err != nil {
		problems = c.CheckSheet(err.Error())
	}
	for _, m := range c.Module {
		if why := process.Check(filepath.Join(c.Modules.Plugins, m.Program)); m.Program != "" && why != "" {
			problems = append(problems, c.CheckProgram(m.Name, why)...)
		}
	}
	return problems
}

// CheckCards looks through the cards in the folder of characters. mistakes are
// those for which a card would be refused, a line each with its file and place;
// waits says which companions would have no language model, and which models no companion would have.
func CheckCards(ctx context.Context, c config.Config) (mistakes, waits []string) {
	clients := models.New(models.Config{Settings: c.Models, Log: slog.New(slog.DiscardHandler)})
	wanted := map[string]bool{}
	err := folder.Try(ctx, c.Modules.Characters, c.Wasm.MaxFile, prompt.New(prompt.Config{Models: clients}), func(file string, m module.Module, err error) {
		if err != nil {
			why := module.Reason(err)
			if !strings.HasPrefix(why, file+":") {
				why = file + ": " + why
			}
			mistakes = append(mistakes, why)
			return
		}
		def, err := card.Parse(file, m.Describe().Card)
		if err == nil {
			wanted[def.Model] = true
		}
		if err != nil {
			mistakes = append(mistakes, err.Error())
		} else if why := clients.Waits("", def.Model); why != "" {
			waits = append(waits, file+": "+why)
		} else if why := untold(clients, def); why != "" {
			waits = append(waits, "warning: "+file+": "+why)
		}
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // CheckFolder tells that it is not there
		mistakes = append(mistakes, err.Error())
	}
	return mistakes, append(waits, unused(c, wanted)...)
}

// untold says why who a character is cannot be told its model whole; empty: it is.
func untold(clients *models.Models, def *card.Card) string {
	context, _ := clients.Window(def.Model)
	name, _ := clients.VotesTogether(def.Model)
	why := layout.New("", def, nil).Shortened(layout.Budget{Context: context, Meter: new(tokens.Meter)})
	if why == "" {
		return ""
	}
	return fmt.Sprintf("its model is not told %s; a larger [model.%s] context has room for more", why, name)
}

// unused says which models no companion has, when these are wanted by cards. Which model a module of code asks
// is not known before it runs: where one may ask any, nothing is said.
func unused(c config.Config, wanted map[string]bool) (lines []string) {
	all, err := folder.IDs(c.Modules.Characters, closedEngines()...)
	if err != nil || len(c.Models) < 2 {
		return nil
	}
	cards, _ := folder.IDs(c.Modules.Characters, prompt.New(prompt.Config{}))
	for _, id := range all {
		asks := c.Memory.By == config.MemoryModel || slices.Contains(c.GrantOf(id), abi.HostModelGenerate)
		if asks && !slices.Contains(cards, id) {
			return nil
		}
	}
	for _, m := range c.Models {
		if m.Name != config.DefaultName && !wanted[m.Name] {
			lines = append(lines, fmt.Sprintf("warning: model.%s: no card in %q names it, and those that name none have %q", m.Name, c.Modules.Characters, config.DefaultName))
		}
	}
	return lines
}
