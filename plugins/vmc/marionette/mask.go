package marionette

import (
	"slices"
	"time"

	"github.com/companiond/companiond/plugins/face"
	"github.com/companiond/companiond/plugins/vmc/osc"
)

// mask is what an avatar is told to look like: the weight of each expression.
type mask struct {
	fade     time.Duration
	emotions []emotion
	shapes   map[string]string // the expression, by the shape of the mouth
	mouths   []string          // their expressions, in order
	open     map[string]float64
	at       time.Time // of the last pose
}

// emotion is an expression that shows emotions, and how much.
type emotion struct {
	expression string
	of         []string
	weight     float64
}

func newMask(s settings) *mask {
	emotions, shapes := s.names()
	m := &mask{fade: seconds(s.Fade, 0.25), shapes: shapes, open: map[string]float64{}}
	for _, e := range []string{"neutral", "happy", "angry", "sad", "relaxed", "surprised"} {
		name := emotions[e]
		if name == "" {
			continue
		}
		if i := slices.IndexFunc(m.emotions, func(o emotion) bool { return o.expression == name }); i >= 0 {
			m.emotions[i].of = append(m.emotions[i].of, e)
			continue
		}
		m.emotions = append(m.emotions, emotion{expression: name, of: []string{e}})
	}
	for _, shape := range []string{"a", "i", "u", "e", "o"} {
		if name := shapes[shape]; name != "" {
			m.mouths = append(m.mouths, name)
		}
	}
	return m
}

// wear takes a pose. An emotion comes and goes over a while, and moves says that it does; the mouth follows at once.
func (m *mask) wear(at time.Time, p face.Pose) (moves bool) {
	step := 1.0
	if m.fade > 0 && !m.at.IsZero() {
		// Poses of a face that rests are a second apart: what comes next begins where it stands.
		step = float64(min(at.Sub(m.at), 2*time.Second/face.Frames)) / float64(m.fade)
	}
	for i, e := range m.emotions {
		want := 0.0
		if slices.Contains(e.of, p.Emotion) {
			want = 1
		}
		w := min(max(want, e.weight-step), e.weight+step)
		m.emotions[i].weight = w
		moves = moves || w != want
	}
	m.at = at
	m.mouth(p)
	return moves
}

// mouth takes the mouth of a pose. A shape that nobody knows, or that is not sent, opens it as an A does.
func (m *mask) mouth(p face.Pose) {
	clear(m.open)
	if p.Shape == "n" {
		return
	}
	name, ok := m.shapes[p.Shape]
	if !ok {
		name = m.shapes["a"]
	}
	m.open[name] = p.Open
}

// bundle writes all weights, and that they count from now on.
func (m *mask) bundle() ([]byte, error) {
	var all []osc.Message
	value := func(name string, weight float64) {
		all = append(all, osc.Message{Address: "/VMC/Ext/Blend/Val", Args: []any{name, float32(weight)}})
	}
	for _, e := range m.emotions {
		value(e.expression, e.weight)
	}
	for _, name := range m.mouths {
		value(name, m.open[name])
	}
	return osc.Bundle(append(all, osc.Message{Address: "/VMC/Ext/Blend/Apply"})...)
}
