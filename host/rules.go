package host

import (
	"github.com/companiond/companiond/host/config"
	"github.com/companiond/companiond/host/entry"
)

// Rules gives what a room of the configuration goes by.
func Rules(r config.Room) entry.Rules { return roomSettings([]config.Room{r})[0].Rules }
