// Package line is what all chats have in common: a line that a viewer wrote, a gift, and the word that a line is gone.
// It makes plain text of what viewers write, whatever signs, markup or invisible letters they wrote it with.
//
// It knows no platform, asks nobody, keeps nothing and reads no clock.
package line

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/abi/plain"
)

// Bounds of what is kept of a line.
const (
	MaxText  = 500 // letters of a text, counted as code points
	MaxName  = 40  // letters of a name, which has at most [abi.MaxName] bytes besides
	maxMarks = 3   // signs on top of one letter; more of them grow over the lines above
)

// Line is one comment of a stream's chat, or a gift with or without words.
type Line struct {
	Platform string // twitch or youtube, or as OneComme calls it
	Place    string // the channel, video or frame that it was written in
	ID       string // of the platform; empty where that gives none
	Viewer   string // the viewer's id, or what is closest to one; empty where nobody is named
	Handle   string // what else the viewer is called, such as a login
	Name     string // as people see it
	Text     string // plain, at most MaxText letters
	Gift     *Gift
	Member   bool // pays for the channel
	Mod      bool // looks after the chat, or is its owner
	At       time.Time
	// Past says that it was written before anybody listened: it is known, and not answered.
	Past bool
}

// Gift is what a viewer gave.
type Gift struct {
	Kind    string  `json:"kind"`    // bits, superchat, sticker, member, gifts, sub, raid or gift
	Amount  float64 `json:"amount"`  // in the gift's own unit, such as bits, yen or viewers; 0 where nobody says
	Display string  `json:"display"` // as the platform shows it, such as ¥1,000
}

// Gone says what of a place is not there any more: the line with an ID, all of a viewer's, or all there are.
type Gone struct {
	Platform string // empty: of any
	Place    string // empty: wherever it was
	ID       string
	Viewer   string // an id, or a Handle
}

// Event is one thing that a source tells: a line, or that some are gone.
type Event struct {
	Line *Line
	Gone *Gone
}

// Has says whether l is among what is gone.
func (g Gone) Has(l Line) bool {
	switch {
	case g.Platform != "" && g.Platform != l.Platform || g.Place != "" && g.Place != l.Place:
		return false
	case g.ID != "":
		return g.ID == l.ID
	case g.Viewer != "":
		return g.Viewer == l.Viewer || g.Viewer == l.Handle
	}
	return true
}

// Key names a line as the daemon takes it, at most [abi.MaxName] bytes: the platform's id, or a hash of one that is long or odd. It is
// empty where the platform gives no id.
func Key(id string) string {
	if len(id) <= abi.MaxName && utf8.ValidString(id) && !strings.ContainsFunc(id, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:20])
}

// Author names the viewer of a line, the same in all of that viewer's lines: by id, and by name where there is none.
func (l Line) Author() string {
	if l.Viewer != "" {
		return l.Platform + " " + l.Viewer
	}
	return l.Platform + " " + Fold(l.Name)
}

// Called says whether people may mean the viewer of l by a name: it is the id, the handle or the name, in whatever case, with
// an @ or without. The name that is asked about is folded already.
func (l Line) Called(folded string) bool {
	return folded != "" && (folded == Fold(l.Viewer) || folded == Fold(l.Handle) || folded == Fold(l.Name))
}

// Fold makes one of the ways in which people write a viewer's name.
func Fold(name string) string {
	return strings.ToLower(strings.TrimPrefix(strings.TrimSpace(name), "@"))
}

// Asks says whether a text has a question mark, of any script's.
func Asks(text string) bool { return strings.ContainsAny(text, "?？؟⁇⁈⁉❓❔﹖") }

// Ready makes of a line as its platform tells it one that has plain words within their bounds, and a name.
func (l Line) Ready() Line {
	l.Text, l.Name = Plain(l.Text), Name(l.Name)
	if l.Name == "" {
		l.Name = Name(l.Handle)
	}
	if l.Name == "" {
		l.Name = "somebody"
	}
	if l.Gift != nil {
		g := *l.Gift
		g.Display = cut(oneLine(g.Display), MaxName)
		l.Gift = &g
	}
	return l
}

// Says reports whether anything of a line is worth perceiving.
func (l Line) Says() bool { return l.Text != "" || l.Gift != nil }

// Plain makes one line of plain text: without control characters, signs that turn text around or that nobody sees, and
// at most MaxText letters, of which the last is an ellipsis where there were more.
func Plain(s string) string { return cut(oneLine(s), MaxText) }

// Name makes a name of plain text.
func Name(s string) string {
	s = cut(oneLine(s), MaxName)
	for len(s) > abi.MaxName {
		_, last := utf8.DecodeLastRuneInString(s)
		s = s[:len(s)-last]
	}
	return seen(s)
}

func oneLine(s string) string {
	marks := 0
	s = strings.Map(func(r rune) rune {
		if marks++; !unicode.IsMark(r) {
			marks = 0
		}
		if marks > maxMarks || unicode.Is(unicode.Co, r) { // a private sign is a picture somewhere else
			return -1
		}
		return r
	}, plain.Text(strings.ToValidUTF8(s, "")))
	return seen(strings.Join(strings.Fields(s), " "))
}

// seen takes from a text what nobody sees, now that others are gone.
func seen(s string) string { return strings.TrimRightFunc(plain.Text(s), loose) }

// cut keeps a text to so many letters.
func cut(s string, most int) string {
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	n := 0
	for i := range s {
		if n++; n == most {
			s = s[:i]
			break
		}
	}
	return seen(s) + "…"
}

// loose says of a sign that it is nothing at the end of a text that was cut: a joiner without what it joined.
func loose(r rune) bool { return unicode.IsSpace(r) || r == '\u200d' || r == '\u200c' }
