package sessions

import (
	"fmt"
	"maps"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

// model is what sessions ought to do, in a few words.
type model struct {
	now      time.Duration
	sessions []*modelled
	assumed  map[string]time.Duration
	here     map[string]bool
	gone     map[string]int
}

type modelled struct {
	agent   string
	token   string
	expires time.Duration
	holds   int
	over    bool
}

// pass lets time go by, up to a moment, and everything expire in its order.
func (m *model) pass(until time.Duration) {
	for {
		next := until
		for _, x := range m.sessions {
			if !x.over && x.holds == 0 {
				next = min(next, x.expires)
			}
		}
		for _, at := range m.assumed {
			next = min(next, at)
		}
		m.now = next
		for _, x := range m.sessions {
			x.over = x.over || x.holds == 0 && x.expires <= m.now
		}
		maps.DeleteFunc(m.assumed, func(_ string, at time.Duration) bool { return at <= m.now })
		m.settle()
		if m.now == until {
			return
		}
	}
}

// settle counts those who were here and are not any more.
func (m *model) settle() {
	now := map[string]bool{}
	for _, x := range m.sessions {
		if !x.over {
			now[x.agent] = true
		}
	}
	for a := range m.assumed {
		now[a] = true
	}
	for a := range m.here {
		if !now[a] {
			m.gone[a]++
		}
	}
	m.here = now
}

// step is one thing that is done.
type step struct {
	what  string
	agent string
	which int
	d     time.Duration
}

// TestGoneOnce: whatever is opened, used, held, closed and assumed, an agent is told to be gone
// once each time that its last session ends, and it is here until then and not after.
func TestGoneOnce(t *testing.T) {
	agents := []string{"a", "b"}
	rapid.Check(t, func(rt *rapid.T) {
		steps := rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) step {
			return step{
				rapid.SampledFrom([]string{"open", "open", "use", "hold", "release", "close", "close", "assume", "sleep", "sleep"}).Draw(rt, "what"),
				rapid.SampledFrom(agents).Draw(rt, "agent"),
				rapid.IntRange(0, 7).Draw(rt, "which"),
				rapid.SampledFrom([]time.Duration{time.Millisecond, expiry / 3, expiry - time.Millisecond, expiry, 2 * expiry}).Draw(rt, "for"),
			}
		}), 1, 40).Draw(rt, "steps")
		wrong := ""
		play(t, nil, func(s *stage) { wrong = s.compare(steps, agents) })
		if wrong != "" {
			rt.Fatal(wrong)
		}
	})
}

// compare takes sessions and the model through the same steps, and gives the first difference.
func (s *stage) compare(steps []step, agents []string) string {
	m := &model{assumed: map[string]time.Duration{}, here: map[string]bool{}, gone: map[string]int{}}
	releases := map[*modelled][]func(){}
	for n, st := range steps {
		if !s.do(st, m, releases) {
			return fmt.Sprintf("step %d, %+v: taken where it should be refused, or not", n, st)
		}
		synctest.Wait()
		got := map[string]int{}
		s.mu.Lock()
		for _, a := range s.gone {
			got[strings.TrimPrefix(a, "p/")]++
		}
		s.mu.Unlock()
		if !maps.Equal(got, m.gone) {
			return fmt.Sprintf("step %d, %+v: gone are %v, want %v", n, st, got, m.gone)
		}
		for _, a := range agents {
			if s.Here("p", a) != m.here[a] {
				return fmt.Sprintf("step %d, %+v: %s is here: %v", n, st, a, !m.here[a])
			}
		}
	}
	return ""
}

// do does a step to both, and says whether both took it in the same way.
func (s *stage) do(st step, m *model, releases map[*modelled][]func()) bool {
	var x *modelled
	if len(m.sessions) > 0 {
		x = m.sessions[st.which%len(m.sessions)]
	}
	switch st.what {
	case "open":
		delete(m.assumed, st.agent)
		m.sessions = append(m.sessions, &modelled{agent: st.agent, token: s.login(st.agent), expires: m.now + expiry})
	case "assume":
		s.Assume("p", st.agent)
		if !m.here[st.agent] {
			m.assumed[st.agent] = m.now + expiry
		}
	case "sleep":
		time.Sleep(st.d)
		m.pass(m.now + st.d)
	}
	if x == nil {
		m.settle()
		return true
	}
	same := true
	switch st.what {
	case "use":
		_, err := s.Use(x.token)
		same = (err != nil) == x.over
		x.expires = m.now + expiry
	case "hold":
		_, release, err := s.Hold(x.token)
		if same = (err != nil) == x.over; err == nil {
			x.holds++
			releases[x] = append(releases[x], release)
		}
	case "release":
		if held := releases[x]; len(held) > 0 {
			held[0]()
			releases[x] = held[1:]
			x.holds--
			x.expires = m.now + expiry
		}
	case "close":
		same = (s.Close(x.token) != nil) == x.over
		x.over = true
	}
	m.settle()
	return same
}
