package layout

import (
	"cmp"
	"slices"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/context/quote"
	"github.com/companiond/companiond/host/context/window"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/model"
	"github.com/companiond/companiond/host/model/tokens"
)

// pausedFor is how long nobody spoke before a message is told with its time.
const pausedFor = time.Hour

// stamp is how a character is told a time.
const stamp = "2006-01-02 15:04"

// line is a message of somebody else.
type line struct {
	From string   `json:"from"`
	To   []string `json:"to,omitempty"`
	At   string   `json:"at,omitempty"`
	Text string   `json:"text"`
	Cut  string   `json:"cut,omitempty"`
	seq  uint64   // where it matters
}

// compressed is what some turns are told as.
type compressed struct {
	Text  string     `json:"compressed_history"`
	Turns *[2]uint64 `json:"original_turns_range,omitempty"`
}

// cutOff follows what the character itself said, where people did not hear all of it.
type cutOff struct {
	From string `json:"from"`
	Cut  string `json:"cut"`
}

// linesOf writes messages in the roles of a talk with a model, one group for each: what the
// character itself said is the assistant's, plain, and all else is data of the user. No template finds its marks in either.
func linesOf(self string, zone *time.Location, all []abi.Message, names map[string]string) [][]model.Message {
	name := func(id string) string { return cmp.Or(names[id], id) }
	var before *time.Time
	out := make([][]model.Message, 0, len(all))
	for _, msg := range all {
		if msg.Kind == abi.KindCompressed {
			out = append(out, []model.Message{{Role: model.RoleUser, Text: quote.JSON(compressed{msg.Text, msg.Turns})}})
			continue
		}
		if msg.From == self {
			own := []model.Message{{Role: model.RoleAssistant, Text: quote.Plain(msg.Text)}}
			if msg.Cut != "" {
				own = append(own, model.Message{Role: model.RoleUser, Text: quote.JSON(cutOff{name(self), msg.Cut})})
			}
			out, before = append(out, own), &msg.At
			continue
		}
		l := line{From: name(msg.From), Text: msg.Text, Cut: msg.Cut}
		for _, id := range msg.To {
			l.To = append(l.To, name(id))
		}
		if before == nil || msg.At.Sub(*before) >= pausedFor {
			l.At = msg.At.In(zone).Format(stamp)
		}
		before = &msg.At
		out = append(out, []model.Message{{Role: model.RoleUser, Text: quote.JSON(l)}})
	}
	return out
}

// Line gives what measures a message of the history as it is told.
func (m *Mind) Line(names map[string]string) func(msg abi.Message, before *abi.Message) tokens.Size {
	return func(msg abi.Message, before *abi.Message) tokens.Size {
		all := []abi.Message{msg}
		if before != nil {
			all = []abi.Message{{From: m.ID, At: before.At}, msg}
		}
		told := linesOf(m.ID, m.Zone, all, names)
		return sizeOfMessages(told[len(told)-1])
	}
}

// namesOf gives the names of those who speak in messages, where they are not their ids.
func namesOf(all []abi.Message, names map[string]string) map[string]string {
	var told map[string]string
	note := func(id string) {
		if name := names[id]; name != "" && name != id {
			if told == nil {
				told = map[string]string{}
			}
			told[id] = name
		}
	}
	for _, msg := range all {
		note(msg.From)
		for _, id := range msg.To {
			note(id)
		}
	}
	return told
}

// Again puts a prompt together once more, of what was noted about it, the system prompt that
// was kept, and the messages from Told.From to Told.Upto as they were heard up to Told.Head.
// exact says that it is what was told, letter by letter; pictures are not kept.
func Again(self string, zone *time.Location, t entry.Told, system string, said []abi.Message) (p Prompt, exact bool) {
	all := make([]abi.Message, 0, len(said))
	for _, msg := range said {
		if left, short := t.Shortened[msg.Seq]; short && left[0]+left[1] <= len(msg.Text) {
			msg.Text = window.Shortened(msg.Text, left)
		}
		all = append(all, msg)
	}
	p = Prompt{System: system, Messages: with(slices.Concat(linesOf(self, zone, all, t.Names)...), t.Tail, nil), Told: &t}
	return p, Hash(Write(system, p.Messages)) == t.SHA256
}
