package prompt

import (
	"github.com/companiond/companiond/abi"
)

// played is what a model is told of an action that went out.
func (m *Module) played(a abi.ActionPlayed) string {
	text := m.mind.Pick("行いました", "done")
	if a.Delivered == 0 {
		text = m.mind.Pick("記録しました。体はいまつながっていません", "noted, but no body is connected now")
	}
	if a.Warning != "" {
		text += " (" + a.Warning + ")"
	}
	return text
}
