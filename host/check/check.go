// Package check compares a configuration with what lies on the disk: the folders of characters and of handlers, the files
// that it names, and the cards.
//
// It opens files, runs modules that handlers name to hear what they say of themselves, and no other, and what it finds keeps
// no daemon from starting.
package check

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
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
	"github.com/companiond/companiond/host/module/prompt"
	"github.com/companiond/companiond/host/module/script"
)

// Folders compares a configuration with its folder of characters and that of handlers, as they are on the disk now, and gives
// what is worth a warning. The engines are those that take files there.
func Folders(c config.Config, engines []module.Engine) []config.Problem {
	ids, err := folder.IDs(c.Modules.Characters, engines...)
	var p *fs.PathError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return append(c.CheckFolder(nil, "is not there"), handlers(c, nil, engines)...)
	case errors.As(err, &p):
		return append(c.CheckFolder(nil, "cannot be read: "+p.Err.Error()), handlers(c, nil, engines)...)
	case err != nil:
		return append(c.CheckFolder(nil, "cannot be read: "+err.Error()), handlers(c, nil, engines)...)
	}
	return append(c.CheckFolder(residents(c, engines), ""), handlers(c, ids, engines)...)
}

// residents gives the ids of companions that there are files for, or programs, none where the folder cannot be read.
func residents(c config.Config, engines []module.Engine) []string {
	ids, err := folder.IDs(c.Modules.Characters, engines...)
	if err != nil {
		return nil
	}
	for _, m := range c.Module { // which may be a companion as well
		if m.Program != "" && !handles(c, m.Name) {
			ids = append(ids, m.Name)
		}
	}
	return ids
}

// Files looks at the files that a configuration names, for the doors and of programs, and gives what is
// wrong with them.
func Files(c config.Config) (problems []config.Problem) {
	if _, err := overlay.ReadSheet(c.Door.OverlayCSS); err != nil {
		problems = append(problems, c.ProblemAt(config.Error, err.Error(), "write the path of a CSS file, or take the key out", []string{"door", "overlay_css"}))
	}
	return append(problems, programs(c)...)
}

// Cards looks through the cards and the scripts in the folder of characters. mistakes are
// those for which one would be refused, a line each with its file and place, and files that are for one character;
// waits says which companions would have no language model, and which models no companion would have.
func Cards(ctx context.Context, c config.Config, engines []module.Engine) (mistakes, waits []string) {
	clients := models.New(models.Config{Settings: c.Models, Log: slog.New(slog.DiscardHandler)})
	wanted, titles := map[string]bool{}, map[string][]string{}
	mistakes = folder.Twins(c.Modules.Characters, engines...)
	err := folder.Try(ctx, c.Modules.Characters, c.Wasm.MaxFile, nil, []module.Engine{prompt.New(prompt.Config{Models: clients}), &script.Engine{}}, func(id, file string, m module.Module, err error) {
		if err != nil {
			why := module.Reason(err)
			if !strings.HasPrefix(why, file+":") {
				why = file + ": " + why
			}
			mistakes = append(mistakes, why)
			return
		}
		if m.Describe().Card == nil {
			return
		}
		def, err := card.Parse(file, m.Describe().Card)
		if err == nil {
			wanted[def.Model], titles[id] = true, []string{}
			for _, p := range def.Perceptions {
				titles[id] = append(titles[id], p.Title)
			}
		}
		if err != nil {
			mistakes = append(mistakes, err.Error())
		} else if why := clients.Waits("", def.Model); why != "" {
			waits = append(waits, file+": "+why)
		} else if why := untold(clients, def); why != "" {
			waits = append(waits, "warning: "+file+": "+why)
		}
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // Folders tells that it is not there
		mistakes = append(mistakes, err.Error())
	}
	waits = append(waits, unused(c, wanted, engines)...)
	return mistakes, append(waits, unheard(c, residents(c, engines), titles)...)
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
func unused(c config.Config, wanted map[string]bool, engines []module.Engine) (lines []string) {
	all, err := folder.IDs(c.Modules.Characters, engines...)
	if err != nil || len(c.Models) < 2 {
		return nil
	}
	cards, _ := folder.IDs(c.Modules.Characters, prompt.New(prompt.Config{}), &script.Engine{}) // whose model is known, or none
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
