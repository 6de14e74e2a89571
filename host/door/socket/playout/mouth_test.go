package playout

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// log is a stage that writes down what a mouth does, one word each, and waits for nobody.
type log struct {
	did []string
	run int // of what sounds, is silent or waits; 0: nothing does
	now string
}

func (l *log) do(format string, args ...any) { l.did = append(l.did, fmt.Sprintf(format, args...)) }

func (l *log) load(line string, n int, url string) { l.do("load %s %d", line, n) }
func (l *log) play(run int, wav []byte)            { l.run, l.now = run, "play"; l.do("play %s", wav) }
func (l *log) rest(run int, text string)           { l.run, l.now = run, "rest"; l.do("rest %s", text) }
func (l *log) wait(run int, d time.Duration)       { l.run, l.now = run, "wait"; l.do("wait %v", d) }
func (l *log) hush()                               { l.run = 0; l.do("hush") }
func (l *log) wrong(_, why string)                 { l.do("wrong %s", why) }
func (l *log) tell(w word) {
	if w.Played > 0 {
		l.do("played %s %d", w.Line, w.Played)
	} else {
		l.do("begins %s %d", w.Line, w.Part)
	}
}

func said(line string, n int) frame {
	f := frame{Kind: "speech", Line: line, Part: n, Companion: "aya"}
	f.Parameters.Message = fmt.Sprintf("%s%d", line, n)
	return f
}

func sound(line string, n int, failed string) frame {
	return frame{Kind: "sound", Line: line, Part: n, URL: "/", Seconds: 1, Failed: failed}
}

func TestMouth(t *testing.T) {
	for name, c := range map[string]struct {
		does func(m *mouth, l *log)
		want []string
	}{
		"a part after the other": {func(m *mouth, l *log) {
			m.take(said("g", 1))
			m.take(sound("g", 1, ""))
			m.has("g", 1, []byte("one"), "")
			m.take(said("g", 2))
			m.take(sound("g", 2, ""))
			m.has("g", 2, []byte("two"), "")
			m.over(l.run)
			m.over(l.run)
			m.take(frame{Line: "g", End: "said"})
		}, []string{"wait 6s", "load g 1", "hush", "begins g 1", "play one", "load g 2", "played g 1", "begins g 2", "play two", "played g 2", "hush"}},
		"one whose sound comes first waits for the one before": {func(m *mouth, l *log) {
			m.take(said("g", 1))
			m.take(said("g", 2))
			m.take(sound("g", 2, ""))
			m.has("g", 2, []byte("two"), "")
			m.take(sound("g", 1, ""))
			m.has("g", 1, []byte("one"), "")
			m.over(l.run)
		}, []string{"wait 6s", "load g 2", "load g 1", "hush", "begins g 1", "play one", "played g 1", "begins g 2", "play two"}},
		"silent where a sound failed, or cannot be played": {func(m *mouth, l *log) {
			m.take(said("g", 1))
			m.take(sound("g", 1, "no voice"))
			m.over(l.run)
			m.take(said("g", 2))
			m.take(sound("g", 2, ""))
			m.has("g", 2, []byte("two"), "")
			m.failed(l.run, "no device")
			m.over(l.run)
		}, []string{"wait 6s", "wrong no voice", "hush", "rest g1", "played g 1", "wait 6s", "load g 2", "hush", "begins g 2", "play two", "wrong no device", "rest g2", "played g 2"}},
		"where none comes it is waited for once, and a late one is not played": {func(m *mouth, l *log) {
			m.take(said("g", 1))
			m.late(l.run)
			m.take(sound("g", 1, ""))
			m.take(said("g", 2))
			m.over(l.run)
			m.late(l.run)
			m.has("g", 1, []byte("one"), "")
		}, []string{"wait 6s", "wrong no sound came", "rest g1", "played g 1", "wait 1s", "wrong no sound came", "rest g2"}},
		"another line, and an end, are silence": {func(m *mouth, l *log) {
			m.take(said("g", 1))
			m.take(sound("g", 1, ""))
			m.has("g", 1, []byte("one"), "")
			old := l.run
			m.take(said("h", 1))
			m.take(sound("g", 2, ""))
			m.over(old)
			m.has("g", 1, []byte("one"), "")
			m.take(frame{Line: "g", End: "cut"})
			m.take(frame{Line: "h", End: "stopped"})
			m.late(l.run)
		}, []string{"wait 6s", "load g 1", "hush", "begins g 1", "play one", "hush", "wait 6s", "hush"}},
		"what came again is not said again": {func(m *mouth, l *log) {
			m.take(said("g", 3))
			m.take(sound("g", 3, ""))
			m.has("g", 3, []byte("three"), "")
			m.over(l.run)
			m.again()
			m.take(said("g", 3))
			m.take(sound("g", 3, ""))
		}, []string{"wait 6s", "load g 3", "hush", "begins g 3", "play three", "played g 3", "played g 3"}},
	} {
		l := &log{}
		m := &mouth{on: l}
		if c.does(m, l); !slices.Equal(l.did, c.want) {
			t.Errorf("%s:\n%q, want\n%q", name, l.did, c.want)
		}
	}
}

// TestMouthSaysEachPartOnce: whatever comes in whatever order, one thing sounds at a time, each part of a line at most once,
// in order, and nothing of a line sounds when it has ended.
func TestMouthSaysEachPartOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := &log{}
		m := &mouth{on: l}
		ended := map[string]bool{}
		id, n := rapid.SampledFrom([]string{"g", "h", "i"}), rapid.IntRange(1, 4)
		runs := rapid.IntRange(0, 12)
		t.Repeat(map[string]func(*rapid.T){
			"piece": func(t *rapid.T) {
				if line := id.Draw(t, "line"); !ended[line] {
					if m.line != nil && m.line.id != line {
						ended[m.line.id] = true
					}
					m.take(said(line, n.Draw(t, "part")))
				}
			},
			"sound": func(t *rapid.T) {
				m.take(sound(id.Draw(t, "line"), n.Draw(t, "part"), rapid.SampledFrom([]string{"", "no"}).Draw(t, "failed")))
			},
			"has": func(t *rapid.T) { m.has(id.Draw(t, "line"), n.Draw(t, "part"), []byte("wav"), "") },
			"end": func(t *rapid.T) {
				line := id.Draw(t, "line")
				ended[line] = true
				m.take(frame{Line: line, End: "said"})
			},
			"over":   func(t *rapid.T) { m.over(l.ends("play rest", runs.Draw(t, "run"))) },
			"failed": func(t *rapid.T) { m.failed(l.ends("play", runs.Draw(t, "run")), "no") },
			"late":   func(t *rapid.T) { m.late(l.ends("wait", runs.Draw(t, "run"))) },
			"again":  func(t *rapid.T) { m.again() },
			"": func(t *rapid.T) {
				if m.line != nil && ended[m.line.id] {
					t.Fatalf("%s has ended and is said", m.line.id)
				}
				if (m.line != nil && (m.line.saying || m.line.waits)) != (l.run != 0) {
					t.Fatalf("%+v, and %d sounds", m.line, l.run)
				}
			},
		})
		last := map[string]int{}
		for _, did := range l.did {
			var line string
			var part int
			if k, _ := fmt.Sscanf(did, "begins %s %d", &line, &part); k == 2 {
				if part <= last[line] {
					t.Fatalf("%s begins again: %q", did, l.did)
				}
				last[line] = part
			}
		}
	})
}

// ends ends a run, the one of now for 0 where it is one of those.
func (l *log) ends(those string, run int) int {
	if run == 0 || run == l.run {
		if !strings.Contains(those, l.now) {
			return 0 // it does not end like that
		}
		run, l.run = l.run, 0
	}
	return run
}
