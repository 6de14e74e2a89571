package paint

import (
	"fmt"

	"github.com/companiond/companiond/abi"
)

// Found writes a message that was found, with its day, its turn's number unless that is 0, and its room unless that is "".
func (p Painter) Found(room string, turn uint64, m abi.Message) error {
	at := fmt.Sprintf("%s #%-4d", m.At.Local().Format("2006-01-02 15:04"), m.Seq)
	if turn > 0 {
		at += fmt.Sprintf(" turn %-4d", turn)
	}
	if room != "" {
		at = plain(room, 0) + " " + at
	}
	_, err := fmt.Fprintf(p.Out, "%s %s: %s\n", p.dim(at), p.name(plain(m.From, 0)), plain(m.Text, 4))
	return err
}
