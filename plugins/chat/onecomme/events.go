package onecomme

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/companiond/companiond/plugins/chat/line"
)

// place is where all of OneComme's lines are, for it names deleted ones by the id alone.
const place = "onecomme"

// message is what OneComme sends.
type message struct {
	Type string          `json:"type"`
	Data json.RawMessage `json:"data"`
}

// gathered are comments, all that there are or new ones.
type gathered struct {
	Comments []json.RawMessage `json:"comments"`
	Options  struct {
		Init bool `json:"init"` // they were there before
	} `json:"options"`
}

// comment is one of them, as far as it is of use here.
type comment struct {
	Service word `json:"service"`
	Data    struct {
		ID      word `json:"id"`
		User    word `json:"userId"`
		Name    word `json:"name"`
		Display word `json:"displayName"`
		Nick    word `json:"nickname"` // as the streamer calls them
		Screen  word `json:"screenName"`
		Comment word `json:"comment"`
		At      word `json:"timestamp"`
		Owner   flag `json:"isOwner"`
		Mod     flag `json:"isModerator"`
		Member  flag `json:"isMember"`
		Sub     flag `json:"subscriber"` // Twitch's
		HasGift flag `json:"hasGift"`
		Price   word `json:"price"`
		Unit    word `json:"unit"`
		Paid    word `json:"paidText"`
		Bits    word `json:"bits"`
	} `json:"data"`
}

// flag is true, 1 or "1"; whatever else is there is not.
type flag bool

// UnmarshalJSON reads it.
func (f *flag) UnmarshalJSON(b []byte) error {
	s := strings.Trim(string(b), `"`)
	*f = s == "true" || s == "1"
	return nil
}

// word is a text or a number; whatever else is there is "".
type word string

// UnmarshalJSON reads it.
func (w *word) UnmarshalJSON(b []byte) error {
	var s string
	switch {
	case json.Unmarshal(b, &s) == nil:
		*w = word(s)
	case len(b) > 0 && (b[0] == '-' || '0' <= b[0] && b[0] <= '9'):
		*w = word(b)
	}
	return nil
}

// number gives what a word counts, 0 where it counts nothing.
func (w word) number() float64 {
	n, err := strconv.ParseFloat(strings.ReplaceAll(string(w), ",", ""), 64)
	if err != nil || math.IsNaN(n) || math.IsInf(n, 0) || n < 0 {
		return 0
	}
	return n
}

// Events gives what a message of OneComme's says: comments, gifts, and that some are gone. A message of no use here says nothing, and
// neither does one that is not as OneComme writes them.
func Events(raw []byte) (all []line.Event) {
	var m message
	if json.Unmarshal(raw, &m) != nil {
		return nil
	}
	switch m.Type {
	case "connected", "comments":
		var g gathered
		if json.Unmarshal(m.Data, &g) != nil {
			_ = json.Unmarshal(m.Data, &g.Comments) // some versions send the list alone
		}
		for _, raw := range g.Comments {
			if l, ok := said(raw); ok {
				l.Past = m.Type == "connected" || g.Options.Init
				all = append(all, line.Event{Line: &l})
			}
		}
	case "deleted":
		var gone []json.RawMessage
		_ = json.Unmarshal(m.Data, &gone) // else there are none
		for _, raw := range gone {
			var one struct {
				ID word `json:"id"`
			}
			if json.Unmarshal(raw, &one) == nil && one.ID != "" {
				all = append(all, line.Event{Gone: &line.Gone{Place: place, ID: string(one.ID)}})
			}
		}
	case "clear":
		return []line.Event{{Gone: &line.Gone{Place: place}}}
	}
	return all
}

func said(raw json.RawMessage) (l line.Line, ok bool) {
	var c comment
	if json.Unmarshal(raw, &c) != nil || c.Service == "system" { // its own words
		return l, false
	}
	d := c.Data
	l = line.Line{
		Platform: line.Name(string(c.Service)), Place: place, ID: string(d.ID), Viewer: string(d.User), Handle: strings.ToLower(string(d.Screen)),
		Text: line.Unmarked(string(d.Comment)), Member: bool(d.Member || d.Sub), Mod: bool(d.Mod || d.Owner),
	}
	if l.Platform == "" {
		l.Platform = place
	}
	for _, name := range []word{d.Nick, d.Display, d.Name} {
		if l.Name = line.Unmarked(string(name)); line.Name(l.Name) != "" {
			break
		}
	}
	l.At, _ = time.Parse(time.RFC3339, string(d.At)) // zero where there is none
	l.Gift = gift(c)
	l = l.Ready()
	return l, l.Says()
}

func gift(c comment) *line.Gift {
	d := c.Data
	price, bits := d.Price.number(), d.Bits.number()
	switch {
	case bits > 0:
		return &line.Gift{Kind: "bits", Amount: bits, Display: shown(bits) + " bits"}
	case !bool(d.HasGift):
		return nil
	}
	g := &line.Gift{Kind: "gift", Amount: price, Display: line.Unmarked(string(d.Paid))}
	if g.Display == "" && price > 0 {
		g.Display = strings.TrimSpace(shown(price) + " " + string(d.Unit))
	}
	if g.Display == "" {
		g.Display = "a gift"
	}
	return g
}

func shown(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }
