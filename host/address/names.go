// Package address finds out whom a message is meant for: the members of a room
// that it calls or asks by name, as people do in Japanese and English chat, with
// honorifics, particles and kana in any width, or the one that spoke just before. And it says what may be a name, and
// which names are one to people.
//
// It is pure and reads the text alone: it never guesses what is meant, and asks no
// model.
package address

import (
	"slices"
	"strings"
	"sync"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/companiond/companiond/abi"
)

// Member is a member of a room and what people call it.
type Member struct {
	ID    string
	Names []string // display name and aliases; the id is a name by itself
}

// Meant gives the ids of those a message is meant for, sorted, never the speaker,
// and how that was found. before is the companion or agent that spoke just before and
// that the speaker may be answering, "" for none. A voter that could claim to be meant
// would claim it, and a model invents ids that nobody answers to, so it is derived from
// the message and the room's members alone. The first of these that names somebody
// decides:
//
//  1. Message.To, by id or name; one that is no member's is ignored. "everyone" and
//     its like there mean nobody in particular.
//  2. @names in the text. @everyone means nobody in particular.
//  3. A call. Names at the start or end of a sentence set off by punctuation ("Aya,
//     ...", 「…、あや？」), after an interjection ("hey Aya", ねえなつみ), with an
//     honorific and 、 , ! or ? after it; and without a mark where the words beside them
//     show it (あや元気？, すごいねあや, "are you okay Aya?"). To call to everyone
//     ("みんな、") is to call to nobody in particular.
//  4. The topic of a question or request: あやはどう思う？, あやも歌って, あやに質問,
//     "does Aya sing?", "ask Aya". A topic with は, も, って comes before one with に, が, の.
//  5. A bare question or follow-up ("why?", もっと教えて) is meant for before, unless it
//     asks everyone or anyone.
//
// A name that is only mentioned, as object, owner or in a quotation (アキさんの動画),
// means nobody. Names joined by "and", と, ・ are meant together.
//
// Letters are compared without regard to case, width, and hiragana or katakana
// (あや = アヤ = ｱﾔ). A longer name hides a shorter one inside it, also when the
// longer is the speaker's own.
//
// A name stands alone: a Latin name must not touch Latin letters or
// digits ("Ayaさん" is a name, "ayaka" and "aya.wasm" are not). A name in kana
// or kanji must begin at a boundary (start, punctuation, space, another script,
// a particle, an interjection such as ねえ, a greeting) and must be followed by
// an honorific, punctuation, space, end, Latin, a particle that reads as one
// from what follows it, or a word that begins a question or a greeting, so that
// あやしい, あやとり, なつみかん and 京子園 name nobody.
//
// Known limits, all for want of a dictionary. Names that are words are found
// where the word is meant: "will you" for Will; so is a name
// that is a member's plus か, ね or よ (「はるか、」 for はる). An adjective run together
// with a name is missed (「すごいあや」). A title before
// a name is taken for part of it in kanji (「監督京子」). Names of one Latin letter
// count only in To, after @ and with an honorific. Whether は asks somebody or
// asks about somebody (「あやはどこ？」) is not told apart: both mean あや.
func Meant(m abi.Message, members []Member, before string) (who []string, how How) {
	names := newNames(m.From, members)
	if got, ok := names.explicit(m.To); ok {
		return found(got, To)
	}
	s := newScan(m.Text)
	s.find(names)
	if got, ok := s.atNames(names); ok {
		return found(got, At)
	}
	s.sentences = s.split()
	if got, ok := s.called(names); ok {
		return found(got, Call)
	}
	if got := names.pick(s.topics()); len(got) > 0 {
		return got, Topic
	}
	if before != "" && before != m.From && slices.Contains(names.ids, before) && s.bare() {
		return []string{before}, Reply
	}
	return nil, ""
}

// How says how it was found whom a message is meant for; "" is for nobody in particular.
type How string

// The ways, in the order in which they count.
const (
	To    How = "to"    // by Message.To
	At    How = "at"    // an @name in the text
	Call  How = "call"  // called by name
	Topic How = "topic" // what a question or request is about
	Reply How = "reply" // a bare question, to whoever spoke just before

	Unknown How = "unknown" // nobody is meant who is known, but a name is called, see [Stranger]
)

func found(who []string, how How) ([]string, How) {
	if len(who) == 0 {
		return nil, ""
	}
	return who, how
}

// everyone are the words that address nobody in particular, folded.
var everyone = []string{
	"みんな", "みなさん", "みなさま", "みな", "皆", "皆さん", "皆様", "全員", "二人とも", "ふたりとも", "三人とも", "一同",
	"everyone", "everybody", "all", "you all", "y'all", "all of you", "both of you", "guys", "you guys", "folks", "here",
}

// everyoneFolded are these words as they are looked for.
var everyoneFolded = sync.OnceValue(func() (words [][]rune) {
	for _, s := range everyone {
		words = append(words, fold(s).folded)
	}
	return words
})

// nobody is the place of the everyone words among the members.
const nobody = -1

// name is one way to call a member.
type name struct {
	folded []rune
	who    int // index of the member, or nobody
}

// names is all that can be called in a room.
type names struct {
	ids     []string
	speaker []bool
	first   map[rune][]name // by first letter, longest first
}

func newNames(from string, members []Member) *names {
	n := &names{first: map[rune][]name{}}
	add := func(s string, who int) {
		if f := fold(s).folded; len(f) > 0 {
			n.first[f[0]] = append(n.first[f[0]], name{f, who})
		}
	}
	for i, m := range members {
		n.ids = append(n.ids, m.ID)
		n.speaker = append(n.speaker, m.ID == from)
		add(m.ID, i)
		for _, s := range m.Names {
			add(s, i)
		}
	}
	for _, f := range everyoneFolded() {
		n.first[f[0]] = append(n.first[f[0]], name{f, nobody})
	}
	for _, l := range n.first {
		slices.SortStableFunc(l, func(a, b name) int { return len(b.folded) - len(a.folded) })
	}
	return n
}

// called gives the members whose whole name f is; all, when f is one of the
// everyone words.
func (n *names) called(f []rune) (who []int, all bool) {
	if len(f) == 0 {
		return nil, false
	}
	for _, c := range n.first[f[0]] {
		switch {
		case !slices.Equal(c.folded, f):
		case c.who == nobody:
			all = true
		default:
			who = append(who, c.who)
		}
	}
	return who, all
}

// pick gives the sorted ids of some members without the speaker.
func (n *names) pick(who []int) []string {
	var ids []string
	for _, w := range who {
		if w != nobody && !n.speaker[w] && n.ids[w] != "" {
			ids = append(ids, n.ids[w])
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// explicit reads Message.To; ok is false when it names nobody here.
func (n *names) explicit(to []string) (ids []string, ok bool) {
	var who []int
	everybody := false
	for _, t := range to {
		if i := slices.Index(n.ids, t); i >= 0 {
			who = append(who, i)
			continue
		}
		f := fold(strings.TrimLeft(strings.TrimSpace(t), "@＠"))
		got, all := n.called(f.folded)
		if len(got) == 0 && !all {
			got, all = n.called(f.plain())
		}
		who, everybody = append(who, got...), everybody || all
	}
	ids = n.pick(who)
	return ids, len(ids) > 0 || everybody
}

// plain gives the folded text without an honorific at its end.
func (s *scan) plain() []rune {
	for i := 1; i < len(s.folded); i++ {
		j := i
		if s.folded[j] == ' ' || s.folded[j] == '-' {
			j++
		}
		if e := s.honorific(j); e == len(s.folded) && e > j {
			return s.folded[:i]
		}
	}
	return nil
}

// atNames gives who is named with @; ok is false when nobody is.
func (s *scan) atNames(n *names) (ids []string, ok bool) {
	var who []int
	all := false
	for _, m := range s.found {
		if m.at == 0 || s.folded[m.at-1] != '@' {
			continue
		}
		if m.at >= 2 && (s.class(m.at-2) == alpha || s.class(m.at-2) == digit) {
			continue // an address: foo@aya
		}
		who, all = append(who, m.who), all || m.who == nobody
	}
	ids = n.pick(who)
	return ids, len(ids) > 0 || all
}

// called gives who is called by name; ok is false when nobody is.
func (s *scan) called(n *names) (ids []string, ok bool) {
	s.weigh()
	var who []int
	for _, m := range s.found {
		if m.vocative && (m.who == nobody || !n.speaker[m.who]) {
			who = append(who, m.who)
		}
	}
	return n.pick(who), len(who) > 0
}

// find notes every name that stands alone in the text, longest names first
// where one holds another, in the order of the text.
func (s *scan) find(n *names) {
	type span struct {
		at, end int
		who     int
	}
	var raw []span
	for i := range s.folded {
		for _, c := range n.first[s.folded[i]] {
			if hasPrefix(s.folded[i:], c.folded) {
				raw = append(raw, span{i, i + len(c.folded), c.who})
				if c.who != nobody {
					s.starts[i], s.ends[i+len(c.folded)] = true, true
				}
			}
		}
	}
	for _, r := range raw {
		m := mention{at: r.at, end: r.end, stop: r.end, who: r.who}
		if s.stands(&m) {
			s.found = append(s.found, m)
		}
	}
	// Longer names hide shorter ones. reach is how far names found so far go;
	// found is sorted by place, then longest first.
	reach, kept := 0, s.found[:0]
	var last mention
	for _, m := range s.found {
		if m.end <= reach && !(m.at == last.at && m.end == last.end) {
			continue
		}
		reach, last = max(reach, m.end), m
		kept = append(kept, m)
	}
	s.found = kept
}

// fold makes letters comparable: NFKC for width, lower case, katakana as
// hiragana.
func fold(text string) *scan {
	s := &scan{text: []rune(norm.NFKC.String(strings.TrimSpace(text)))}
	s.folded, s.classes = make([]rune, len(s.text)), make([]class, len(s.text))
	s.starts, s.ends = make([]bool, len(s.text)+1), make([]bool, len(s.text)+1)
	before := gap
	for i, r := range s.text {
		before = classOf(r, before)
		s.classes[i] = before
		switch {
		case r >= 'ァ' && r <= 'ヶ':
			r -= 'ァ' - 'ぁ'
		default:
			r = unicode.ToLower(r)
		}
		s.folded[i] = r
	}
	return s
}

// newScan folds a message's text and blanks the addresses of web pages in it.
func newScan(text string) *scan {
	s := fold(text)
	for i := 0; i+2 < len(s.folded); i++ {
		if s.folded[i] != ':' || s.folded[i+1] != '/' || s.folded[i+2] != '/' {
			continue
		}
		from, to := i, i
		for from > 0 && s.folded[from-1] < 0x80 && unicode.IsLetter(s.folded[from-1]) {
			from--
		}
		for to < len(s.folded) && s.folded[to] > ' ' && s.folded[to] < 0x7f {
			to++
		}
		for j := from; j < to; j++ {
			s.text[j], s.folded[j], s.classes[j] = ' ', ' ', gap
		}
	}
	s.quoted = s.quotations()
	return s
}

func hasPrefix(s, prefix []rune) bool {
	return len(s) >= len(prefix) && slices.Equal(s[:len(prefix)], prefix)
}
