package host

import (
	"context"

	"github.com/companiond/companiond/host/check"
	"github.com/companiond/companiond/host/config"
)

// CheckFolder compares a configuration with its folders of characters and of handlers, as they are
// on the disk now, and gives what is worth a warning.
func CheckFolder(c config.Config) []config.Problem { return check.Folders(c, closedEngines()) }

// CheckFiles looks at the files that a configuration names, for the doors and of programs, and gives what is
// wrong with them.
func CheckFiles(c config.Config) []config.Problem { return check.Files(c) }

// CheckCards looks through the cards in the folder of characters. mistakes are
// those for which a card would be refused, a line each with its file and place;
// waits says which companions would have no language model, and which models no companion would have.
func CheckCards(ctx context.Context, c config.Config) (mistakes, waits []string) {
	return check.Cards(ctx, c, closedEngines())
}
