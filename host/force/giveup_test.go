package force_test

import (
	"strings"
	"testing"
	"time"

	"github.com/companiond/companiond/host/force"
)

// TestGiveUp: after a STOP nobody is asked, whether the companion is being asked, is to be asked
// again, has an action out, or the force waits behind one. What is told is told all the same.
func TestGiveUp(t *testing.T) {
	for name, c := range map[string]struct {
		before func(m *table)
		want   string
	}{
		"none":        {func(m *table) {}, ""},
		"another's":   {func(m *table) { m.Register("b", "go"); m.Force(wanted("b", "", "go"), m.at) }, ""},
		"asked":       {func(m *table) { m.Force(wanted("a", "", "play"), m.at) }, "force/given-up"},
		"to be asked": {func(m *table) { m.Force(wanted("a", "", "play"), m.at); m.Asked(1, "", m.at) }, "force/given-up"},
		"played":      {func(m *table) { m.Force(wanted("a", "", "play"), m.at); m.Called("a", "1", "play", m.at) }, "force/given-up"},
		"held": {func(m *table) {
			m.Called("a", "1", "play", m.at)
			m.Force(wanted("a", "", "play"), m.at)
			m.Context("a", force.Context{Text: "rain"})
		}, "force/given-up"},
	} {
		m := newTable()
		m.Register("a", "play")
		c.before(m)
		steps := m.GiveUp("a", "taro said STOP")
		if got := words(steps); got != c.want || len(steps) == 1 && !strings.HasSuffix(steps[0].(force.Fault).Text, "taro said STOP") {
			t.Errorf("%s: %v", name, steps)
		}
		if name == "another's" {
			continue
		}
		after := words(append(m.Result("a", "1", false, "no", m.at), m.Tick(m.after(time.Minute))...))
		if strings.Contains(after, "ask(") || strings.Contains(after, "hear(rain)") != (name == "held") {
			t.Errorf("%s: then %s", name, after)
		}
	}
}

// TestWhyNobodyPlayed: what kept the companion from it is told.
func TestWhyNobodyPlayed(t *testing.T) {
	m := newTable()
	m.Register("a", "play")
	m.Force(wanted("a", "", "play"), m.at)
	if steps := m.Asked(1, "the day's budget is spent", m.at); !strings.Contains(steps[0].(force.Fault).Text, "the day's budget is spent") {
		t.Errorf("%v", steps)
	}
}
