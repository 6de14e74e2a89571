package module_test

import (
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/companiond/companiond/host/logtest"
	"github.com/companiond/companiond/host/module"
	"github.com/companiond/companiond/host/module/moduletest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// begin makes a companion that begins with m.
func begin(m module.Module, l module.Limits, log *logtest.Log) *module.Companion {
	return module.NewCompanion("aya", module.NewGeneration(1, "fake", m), l, log.Logger())
}

// swap publishes m as generation number; retire waits for the old one's end. It is
// nil when the companion has ended.
func swap(c *module.Companion, number uint64, m module.Module) (retire func(grace time.Duration) (drained bool, err error)) {
	old, ok := c.Swap(module.NewGeneration(number, "fake", m))
	if !ok {
		return nil
	}
	return old.Retire
}

func mustVote(t *testing.T, c *module.Companion, want string) {
	t.Helper()
	if got, err := moduletest.Vote(c); err != nil || got != want {
		t.Errorf("vote gives %q, %v; want %q", got, err, want)
	}
}
