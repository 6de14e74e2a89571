package room

import (
	"slices"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/playback"
	"github.com/companiond/companiond/host/room/offer"
	"github.com/companiond/companiond/host/room/rules"
	"github.com/companiond/companiond/host/speech"
)

// sayLine records a line, or that it was refused. offered is what is paid for it, nil for
// the price.
func (r *Room) sayLine(said entry.Said, offered *float64) {
	l := rules.Line{ID: r.cfg.NewID(), Said: said, Offer: offered}
	r.describe(&l)
	made, _ := r.loop.Line(l)
	if made.Kind == entry.KindRefused {
		r.board.Count("line refused: " + string(abi.CodeOf(offer.Of(made).Refused)))
	}
}

// describe finds out what the journal is to say of a line, which is asked once.
func (r *Room) describe(l *rules.Line) {
	l.Addressed, l.How = r.addressed(l.Said)
	if l.By == abi.KindHuman || l.Kind == abi.KindBackchannel {
		return
	}
	if l.Like = r.lately.Like(l.Text, r.spokenNames()); l.Segments == 0 {
		l.Voice = speech.Beats(l.Text)
	}
	if p := r.state().Playing; l.Segments > 0 { // a body that came behind its last piece says nothing of it
		l.Played = p != nil && p.ID == l.Grant && !p.Silent
		return
	}
	l.Played = slices.ContainsFunc(r.state().Bodies, func(b playback.Body) bool { return b.Who == l.From && !b.Mute })
}
