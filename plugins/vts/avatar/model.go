package avatar

import (
	"fmt"
	"slices"
	"strings"

	"github.com/companiond/companiond/plugins/vts/studio"
)

// suffix is what files of expressions end in.
const suffix = ".exp3.json"

// usual are the names of parameters that open a mouth, the first that is there counts.
var usual = []string{"MouthOpen", "VoiceVolumePlusMouthOpen", "VoiceVolume"}

// ownMouth is the parameter that is made where none of the usual ones is there.
const ownMouth = "CompanionMouth"

// model is what the model that is loaded can do.
type model struct {
	loaded      bool
	name        string
	hotkeys     []studio.Hotkey
	expressions []studio.Expression
	mouth       studio.Parameter // its Name is empty where there is none
}

// hotkey finds one by its name, in either case, or its id.
func (m model) hotkey(name string) (studio.Hotkey, bool) {
	i := slices.IndexFunc(m.hotkeys, func(h studio.Hotkey) bool {
		return h.ID == name || h.Name != "" && strings.EqualFold(h.Name, name)
	})
	if i < 0 {
		return studio.Hotkey{}, false
	}
	return m.hotkeys[i], true
}

// expression finds the file of one, also without what it ends in.
func (m model) expression(name string) (file string, ok bool) {
	for _, e := range m.expressions {
		if strings.EqualFold(e.File, name) || strings.EqualFold(e.File, name+suffix) {
			return e.File, true
		}
	}
	return "", false
}

// shows is how a model shows an emotion: by an expression or a hotkey, by neither where both are empty.
type shows struct{ file, hotkey string }

// means finds what the settings mean by the name of a hotkey or an expression. A hotkey that switches an expression
// stands for the expression: pressed twice it would take it off.
func (m model) means(name string) (s shows, ok bool) {
	if name == "" {
		return s, true
	}
	if h, ok := m.hotkey(name); ok {
		if h.Type == studio.ToggleExpression && h.File != "" {
			return shows{file: h.File}, true
		}
		return shows{hotkey: h.ID}, true
	}
	s.file, ok = m.expression(name)
	return s, ok
}

// lacks says that a model has not what is asked of it, and has others.
func (m model) lacks(kind, name string) string {
	if !m.loaded {
		return fmt.Sprintf("there is no %s %.64q: no model is loaded in VTube Studio", kind, name)
	}
	var has []string
	if strings.Contains(kind, "hotkey") {
		for _, h := range m.hotkeys {
			if h.Name != "" {
				has = append(has, h.Name)
			}
		}
	}
	if strings.Contains(kind, "expression") {
		for _, e := range m.expressions {
			has = append(has, e.File)
		}
	}
	return fmt.Sprintf("the model %.64q has no %s %.64q; it has %s", m.name, kind, name, list(has))
}

// list gives names in words, not all where they are many.
func list(names []string) string {
	const most = 20
	more := ""
	if len(names) > most {
		more = fmt.Sprintf(" and %d more", len(names)-most)
		names = names[:most]
	}
	if len(names) == 0 {
		return "none"
	}
	return fmt.Sprintf("%.64q", names) + more
}

// words say what there is.
func (m model) words() string {
	mouth := m.mouth.Name
	if mouth == "" {
		mouth = "none"
	}
	if !m.loaded {
		return "no model is loaded; the mouth is " + mouth
	}
	return fmt.Sprintf("the model %.64q has %d hotkeys and %d expressions; the mouth is %s", m.name, len(m.hotkeys), len(m.expressions), mouth)
}

// mouthOf picks the parameter that opens the mouth: the one that is wanted, else a usual one. Make says that it has to
// be made, missing that the one that is wanted is not there.
func mouthOf(all studio.Parameters, wanted string) (p studio.Parameter, made, missing bool) {
	names := usual
	if wanted != "" {
		names = []string{wanted}
	}
	there := slices.Concat(all.Default, all.Custom)
	for _, name := range names {
		if i := slices.IndexFunc(there, func(p studio.Parameter) bool { return p.Name == name }); i >= 0 {
			return there[i], false, false
		}
	}
	if wanted != "" && wanted != ownMouth {
		return studio.Parameter{}, false, true
	}
	return studio.Parameter{Name: ownMouth, Max: 1}, true, false
}
