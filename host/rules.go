package host

import (
	"encoding/json"

	"github.com/companiond/companiond/host/config"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/history"
)

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
