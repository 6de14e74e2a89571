package prompt

import (
	"github.com/companiond/companiond/abi"
)

// played is what a model is told of an action that went out.
func (m *Module) played(a abi.ActionPlayed) string {
	text := m.mind.Pick("行いました", "done")
	if !a.Due.IsZero() {
		return m.mind.Pick("たずねました。答えは後で perception として届きます。いまの発言では、答えを知っているふりをしません", "asked; the answer is perceived later. Do not act as if it were known now")
	}
	if a.Delivered == 0 {
		text = m.mind.Pick("記録しました。体はいまつながっていません", "noted, but no body is connected now")
	}
	if a.Warning != "" {
		text += " (" + a.Warning + ")"
	}
	return text
}

// asks describes a query.
func (m *Module) asks() string {
	return m.mind.Pick("つながっているプログラムにたずねます。答えは後で perception として届きます。", "Asks a program that is connected. The answer is perceived later.")
}

// how describes the tool that is a line, to a character with the floor.
func (m *Module) how() string {
	return m.mind.Pick(
		"あなたの発言そのものです。どのように話すかを添えるときに使います。message は発言の全文で、使うときは同じ発言を文章では書きません。使わずに発言を文章で書くだけでもかまいません。",
		"This is your line itself, for when you want to tell how it is said. message is the whole line; when you use this, do not write the line\n"+
			"as text as well. You may also just write your line as text.")
}
