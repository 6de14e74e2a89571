// Package opening gives what rooms are opened with: the settings that a table [room.NAME] of the configuration stands for, or that
// somebody at a door asked for.
//
// It opens no room and decides nothing.
package opening

import (
	"encoding/json"

	"github.com/companiond/companiond/host/check"
	"github.com/companiond/companiond/host/config"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/history"
	"github.com/companiond/companiond/host/room"
)

// Read reads the settings that a room was opened with at a door.
//
// # Errors
//
// Those of [check.Opening].
func Read(name string, settings []byte) (room.Settings, error) {
	r, err := check.Opening(name, settings)
	if err != nil {
		return room.Settings{}, err
	}
	return Of(r), nil
}

// All is Of for several.
func All(rooms []config.Room) []room.Settings {
	settings := make([]room.Settings, 0, len(rooms))
	for _, r := range rooms {
		settings = append(settings, Of(r))
	}
	return settings
}

// Of gives the settings of a room of the configuration.
func Of(r config.Room) room.Settings {
	return room.Settings{Name: r.Name, Companions: r.Companions, Rules: Rules(r), Standing: Standing(r)}
}

// Rules gives what a room of the configuration goes by.
func Rules(r config.Room) entry.Rules {
	pause, auto := r.Pause()
	rules := entry.Rules{
		Policy: r.Policy, Seed: r.Seed, Patience: r.Patience.Milliseconds(), Floor: r.Floor.Milliseconds(),
		Silence: r.Silence.Milliseconds(), Pace: pause.Milliseconds(), Auto: auto, MaxTurns: r.MaxTurns, Stale: r.Stale,
		Interrupters: r.Interrupters, Ahead: r.Ahead, Perceived: r.Perceived,
	}
	if r.Interrupt != "never" {
		rules.Interrupt = entry.Interrupt(r.Interrupt)
	}
	if r.HasPool() {
		rules.PolicyRaw, _ = json.Marshal(r.PoolSettings()) // numbers and texts always encode
	}
	return rules
}

// Standing gives what a room of the configuration says of compressing what was said.
func Standing(r config.Room) history.Standing {
	return history.Standing{Mode: r.Compress, At: r.CompressAt, Policy: r.CompressPolicy, Compresser: r.CompressBy, Verifier: r.CompressVerify}
}
