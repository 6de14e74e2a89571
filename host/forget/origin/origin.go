// Package origin knows which messages the things rest on that companions remember, and what of such a message has to go when
// somebody has one of these things erased: the sentences that its quotation stands in, for the rest says something else.
//
// It is pure: it never reads or writes anything, and finds no repetition in other messages.
package origin

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/memory/wording"
	"github.com/companiond/companiond/host/speech"
)

// Gap stands in a message where something was taken out of its middle.
const Gap = "…"

// Book has what is remembered, as far as it says where that is from. All of it is to be put in before the first message is read, and
// all messages are to be read before anything is asked. Make one with [New].
type Book struct {
	order     string
	companion string
	ids       []string
	first     map[owned]entry.Remembered // as it was remembered, before anybody edited it
	named     map[string]*fact
	wanted    map[place][]*fact
	messages  map[message]*source
	at        map[place]*source
}

// owned is what a companion remembers, by its id.
type owned struct{ companion, id string }

// place is where something stands, and message what stands there: a fork has the message of the room that it is of.
type (
	place struct {
		room string
		turn uint64
	}
	message struct {
		id string
		at int64
	}
)

// fact is one of those that are to go.
type fact struct {
	abi.Memory
	value  string
	places []place
	door   bool // somebody wrote it at a door: it rests on no message
	found  bool
}

// source is a message that one of them rests on.
type source struct {
	text  string
	parts [][2]int // bytes of text that go
	gone  bool     // this order, or another one, has taken them out
}

// New makes a book for an order by which a companion's facts with these ids go.
func New(order, companion string, ids []string) *Book {
	return &Book{order: order, companion: companion, ids: ids, first: map[owned]entry.Remembered{}, named: map[string]*fact{}, wanted: map[place][]*fact{}, messages: map[message]*source{}, at: map[place]*source{}}
}

// Wants says whether any facts are to go.
func (b *Book) Wants() bool { return len(b.ids) > 0 }

// Written takes in an entry of a companion's stream.
func (b *Book) Written(companion string, e entry.Entry) {
	if !b.Wants() || e.Blank && e.Kind == entry.KindRemembered {
		return
	}
	switch e.Kind {
	case entry.KindRemembered:
		if r, err := entry.Decode[entry.Remembered](e); err == nil {
			b.first[owned{companion, r.ID}] = r
			b.want(companion, r.Memory, r.Room, r.Turns)
		}
	case entry.KindRevised:
		if r, err := entry.Decode[entry.Revised](e); err == nil && r.Again != nil {
			b.want(companion, abi.Memory{ID: r.Of}, r.Again.Room, []uint64{r.Again.Turn})
		}
	}
}

// Remembered takes in what a companion remembers now, and gives it as it was remembered, where somebody wrote another text since.
func (b *Book) Remembered(companion string, m abi.Memory) (now abi.Memory, was entry.Remembered) {
	b.want(companion, m, m.Room, m.Turns)
	was = b.first[owned{companion, m.ID}]
	m.Quote = cmp.Or(m.Quote, was.Quote)
	if f := b.named[m.ID]; f != nil && companion == b.companion {
		f.Memory, f.value, f.door = m, was.Value, was.How == entry.HowDoor
	}
	return m, was
}

// want notes the messages that one of the facts rests on.
func (b *Book) want(companion string, m abi.Memory, room string, turns []uint64) {
	if companion != b.companion || !slices.Contains(b.ids, m.ID) || m.Kind == abi.MemoryEpisode || b.first[owned{companion, m.ID}].Kind == abi.MemoryEpisode {
		return // what a talk was about says no sentence of it
	}
	f := b.named[m.ID]
	if f == nil {
		f = &fact{Memory: m}
		b.named[m.ID] = f
	}
	for _, turn := range turns {
		if p := (place{room, turn}); room != "" && !slices.Contains(f.places, p) {
			f.places = append(f.places, p)
			b.wanted[p] = append(b.wanted[p], f)
		}
	}
}

// Read reads an entry of a room.
func (b *Book) Read(room string, e entry.Entry) {
	p := place{room, e.Seq}
	facts := b.wanted[p]
	if len(facts) == 0 || e.Kind != entry.KindSaid {
		return
	}
	s, err := entry.Decode[entry.Said](e)
	if err != nil {
		return
	}
	m := message{e.ID, e.At.UnixMilli()}
	src := b.messages[m]
	if src == nil {
		src = &source{text: s.Text, gone: entry.ErasedBy(e) == b.order || s.Text == ""}
		b.messages[m] = src
	}
	b.at[p] = src
	for _, f := range facts {
		parts := f.of(src.text, s.From)
		f.found = f.found || src.gone || len(parts) > 0
		if !src.gone {
			src.parts = append(src.parts, parts...)
		}
	}
}

// of gives the sentences of a message that a fact stands in: where its quotation does, or what it comes to, or else all of it,
// where whoever told the fact said it.
func (f *fact) of(text, from string) (parts [][2]int) {
	all := sentences(text)
	for _, words := range []string{f.Quote, f.value} {
		for _, span := range spans(words, text) {
			for _, s := range all {
				if overlap(s, span) {
					parts = append(parts, s)
				}
			}
		}
		if parts != nil {
			return parts
		}
	}
	if from != f.SaidBy {
		return nil
	}
	return all
}

// Left gives what is left of the text of an entry that one of the facts rests on; ok: that is less than it was.
func (b *Book) Left(e entry.Entry) (left string, ok bool) {
	src := b.messages[message{e.ID, e.At.UnixMilli()}]
	if e.Kind != entry.KindSaid || src == nil || src.gone {
		return "", false
	}
	if s, err := entry.Decode[entry.Said](e); err != nil || s.Text != src.text {
		return "", false
	}
	return src.left(), len(src.parts) > 0
}

func (s *source) left() string {
	return Without(s.text, func(at [2]int) bool { return slices.Contains(s.parts, at) })
}

// Goes says whether something that a companion remembers rests on what goes: it is one of the facts, or the same, or its quotation
// stands in one of their sentences; a talk of which it is goes where it was about a word of these.
func (b *Book) Goes(companion string, m abi.Memory) bool {
	if !b.Wants() {
		return false
	}
	was := b.first[owned{companion, m.ID}]
	for _, f := range b.named {
		if companion == b.companion && f.ID == m.ID || m.SaidBy != "" && m.SaidBy == f.SaidBy && f.Text != "" && wording.Letters(m.Text) == wording.Letters(f.Text) {
			return true
		}
	}
	for _, at := range []struct {
		room  string
		turns []uint64
	}{{m.Room, m.Turns}, {was.Room, was.Turns}} {
		for _, turn := range at.turns {
			if src := b.at[place{at.room, turn}]; src != nil && src.carries(m, cmp.Or(m.Quote, was.Quote)) {
				return true
			}
		}
	}
	return false
}

// carries says whether something rests on what goes of a message, as far as one can know.
func (s *source) carries(m abi.Memory, quote string) bool {
	at := spans(quote, s.text)
	switch {
	case m.Kind == abi.MemoryEpisode:
		var gone strings.Builder
		for _, p := range s.parts {
			gone.WriteString(wording.Fold(s.text[p[0]:p[1]]) + "\n")
		}
		return s.gone || len(m.Keys) == 0 || slices.ContainsFunc(m.Keys, func(k string) bool { return strings.Contains(gone.String(), wording.Fold(k)) })
	case quote == "":
		return true
	case s.gone:
		return len(at) == 0
	}
	return slices.ContainsFunc(at, func(span [2]int) bool {
		return slices.ContainsFunc(s.parts, func(p [2]int) bool { return overlap(p, span) })
	})
}

// Unfound gives how many of the facts rest on a message that is not there, or does not say which it is.
func (b *Book) Unfound() (n int) {
	for _, f := range b.named {
		if !f.found && !f.door {
			n++
		}
	}
	return n
}

// Without gives a text without some of its sentences, of which goes is asked by the bytes that they are; "" where nothing that
// says anything is left.
func Without(text string, goes func(at [2]int) bool) string {
	var b strings.Builder
	from, says := 0, false
	for _, s := range sentences(text) {
		between := text[from:s[0]]
		if from = s[1]; goes(s) {
			if strings.HasSuffix(strings.TrimSpace(b.String()), Gap) {
				between = strings.TrimSpace(between)
			}
			if b.WriteString(between); !strings.HasSuffix(strings.TrimSpace(b.String()), Gap) {
				b.WriteString(Gap)
			}
			continue
		}
		b.WriteString(between + text[s[0]:s[1]])
		says = says || strings.ContainsFunc(text[s[0]:s[1]], func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) })
	}
	if !says {
		return ""
	}
	return b.String()
}

// sentences gives where the sentences of a text are, without the space around them.
func sentences(text string) (all [][2]int) {
	from := 0
	for _, end := range speech.Sentences(text) {
		lo := end - len(strings.TrimLeftFunc(text[from:end], unicode.IsSpace))
		hi := lo + len(strings.TrimRightFunc(text[lo:end], unicode.IsSpace))
		if from = end; lo < hi {
			all = append(all, [2]int{lo, hi})
		}
	}
	return all
}

// spans gives where a quotation stands in a text.
func spans(quote, text string) (all [][2]int) {
	span, ok := wording.Quoted(quote, text)
	if !ok {
		return nil
	}
	for from := 0; ; {
		i := strings.Index(text[from:], span)
		if i < 0 {
			return all
		}
		from += i + len(span)
		all = append(all, [2]int{from - len(span), from})
	}
}

func overlap(a, b [2]int) bool { return a[0] < b[1] && b[0] < a[1] }
