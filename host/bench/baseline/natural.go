package baseline

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/bench/world"
)

// natural is SillyTavern's reply order "natural" (docs.sillytavern.app, Group Chats):
// whoever is mentioned by a whole word, then everybody by its talkativeness, and where
// that is nobody one at random; never the one who spoke. Those who were activated speak
// one after another. With auto-mode, every five seconds that nothing is generated the
// last message activates anew. Voices wait for each other.
//
// Left open, and taken so: talkativeness is how often the member wishes to speak; what
// a person says while lines are made waits for them, for the box to type in is closed
// then; STOP is its stop button.
type natural struct {
	w       *world.World
	queue   []string // activated, next first
	running int      // number of the batch of lines that is made, 0 for none
	batches int
	k       int // activations
	waits   bool
	quiet   bool          // nobody spoke yet, or a STOP
	voice   time.Duration // when the last voice ends
}

const (
	autoMode        = 5 * time.Second
	naturalPatience = 10 * time.Second // then the request is given up
)

func (n *natural) Start(w *world.World) {
	n.w, n.quiet = w, true
	n.tick()
}

func (n *natural) Begins(string) {}

func (n *natural) Said(*world.Turn) {
	n.quiet = false
	if n.running != 0 {
		n.waits = true
		return
	}
	n.activate()
}

func (n *natural) Stopped(*world.Turn) {
	n.queue, n.running, n.waits, n.quiet = nil, 0, false, true
	n.w.End()
}

// tick is the timer of auto-mode.
func (n *natural) tick() {
	n.w.After(autoMode, func() {
		if n.running == 0 && !n.quiet {
			n.activate()
		}
		n.tick()
	})
}

// activate chooses who answers the last message.
func (n *natural) activate() {
	n.k++
	last := n.w.Turn(n.w.Newest())
	key := strconv.Itoa(n.k)
	words := strings.FieldsFunc(last.Text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	var chosen []string
	for _, m := range n.w.Members() {
		if m.ID != last.From && slices.Contains(words, m.Name) {
			chosen = append(chosen, m.ID)
		}
	}
	shuffled := slices.Clone(n.w.Members())
	slices.SortFunc(shuffled, func(a, b world.Member) int {
		return cmp.Compare(n.w.Draw("shuffle", key, a.ID), n.w.Draw("shuffle", key, b.ID))
	})
	for _, m := range shuffled {
		if m.ID != last.From && !slices.Contains(chosen, m.ID) && n.w.Draw("talkativeness", key, m.ID) < m.Talk {
			chosen = append(chosen, m.ID)
		}
	}
	if others := ids(n.w, last.From); len(chosen) == 0 && len(others) > 0 {
		chosen = []string{others[int(n.w.Draw("random", key)*float64(len(others)))]}
	}
	n.queue = chosen
	n.batches++
	n.running = n.batches
	n.generate(n.running)
}

// generate makes the next line of a batch.
func (n *natural) generate(batch int) {
	if n.running != batch {
		return
	}
	if len(n.queue) == 0 {
		n.running = 0
		if n.waits {
			n.waits = false
			n.activate()
		}
		return
	}
	who := n.queue[0]
	n.queue = n.queue[1:]
	over := false
	goOn := func() {
		if !over {
			over = true
			n.generate(batch)
		}
	}
	n.w.After(naturalPatience, goOn)
	n.w.Line(who, lastTurn(n.w), 0, func(world.Line) {}, func(l world.Line) {
		if n.running == batch && !over && !l.Pass {
			t := n.w.Say(l, world.Saying{Kind: abi.KindTurn, Wait: max(0, n.voice-n.w.Now())})
			n.voice = t.Ended
		}
		goOn()
	})
}
