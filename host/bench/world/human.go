package world

import (
	"strconv"
	"time"

	"github.com/companiond/companiond/abi"
)

// human has a person speak for the k-th time, after a while.
func (w *World) human(i, k int, wait time.Duration) {
	h := w.cfg.Cast.Humans[i]
	w.After(wait, func() {
		if w.now >= w.cfg.Cast.Length {
			return
		}
		if until, ok := w.audible(); ok && !h.Interrupts && !h.Types {
			w.human(i, k, until-w.now+polite)
			return
		}
		w.utter(i, k)
	})
}

// polite is what a person leaves after somebody else's words.
const polite = 300 * time.Millisecond

// utter is a person's k-th turn.
func (w *World) utter(i, k int) {
	h, key := w.cfg.Cast.Humans[i], strconv.Itoa(k)
	t := Turn{From: h.Name, By: abi.KindHuman, Kind: abi.KindTurn, Typed: h.Types, Begun: w.now, Basis: w.Newest()}
	if ms := w.cfg.Cast.Members; w.draw(h.Name, "address", key) < h.Address {
		t.To = []string{ms[int(w.draw(h.Name, "whom", key)*float64(len(ms)))].ID}
	}
	size := h.Short + int(w.draw(h.Name, "length", key)*float64(h.Long-h.Short+1))
	t.Text, _ = w.text(w.name(t.To), size, h.Name, key)
	if len(h.Lines) > 0 {
		t.Text = h.Lines[int(w.draw(h.Name, "line", key)*float64(len(h.Lines)))]
		if len(t.To) > 0 {
			t.Text = w.name(t.To) + "、" + t.Text
		}
	}
	if w.draw(h.Name, "stop", key) < h.Stops {
		t.Stop, t.To, t.Text = true, nil, "STOP"
	}
	var takes time.Duration
	if !h.Types {
		takes = w.cfg.Speech(t.Text)
		w.rule.Begins(h.Name)
	}
	w.After(takes, func() {
		t.Ended = w.now
		said := w.publish(t)
		if t.Stop {
			w.rule.Stopped(said)
		} else {
			w.rule.Said(said)
		}
		w.human(i, k+1, w.span(h.Every, h.Name, "every", key))
	})
}
