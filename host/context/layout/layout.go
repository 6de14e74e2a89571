// Package layout puts together what a language model is told, in the order that keeps most of
// it the same from one request to the next: the house's rules and the character's card, what
// was said, what it remembers, how things stand, and last what it is asked for. It fits into a
// budget of tokens.
//
// The system prompt is made of the card and the house's rules alone. Words of others, their
// names and reasons, and what modules answer, are JSON in messages of the user, one value each:
// they can pretend to be anything, and are data all the same. Nothing here asks a model, and
// no right hangs on what it is told.
package layout

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/card"
	"github.com/companiond/companiond/host/context/quote"
	"github.com/companiond/companiond/host/context/window"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/model"
	"github.com/companiond/companiond/host/model/tokens"
)

// The shares of a budget: the most that the tail and the memory may have. What they do not need, and all
// that is left, is the history's.
const (
	tailShare   = .15
	memoryShare = .10
	leastShare  = .10 // of the history, whatever else there is
)

// What is kept for the tail and the memory grows by steps with the longest that there were, so that the history's
// place seldom changes.
const (
	firstTail   = 192 // tokens
	firstMemory = 96
	needStep    = 64
)

// overhead is what a message of the history takes besides its text.
const overhead = 24

// Mind is a character that a model lives.
type Mind struct {
	ID   string
	Card *card.Card
	Zone *time.Location // in which it is told the time

	words words
	panel []*Mind      // see [Panel]
	all   []model.Tool // that its model may ever be offered
	whole tokens.Size  // of them

	mu     sync.Mutex
	chosen choice // how the card is told
	needs  needs
}

// needs are the most tokens that the tail and the memory came to, in whole steps.
type needs struct{ tail, memory int }

// New makes a mind of a card. A zone of nil is UTC.
func New(id string, c *card.Card, zone *time.Location) *Mind {
	if zone == nil {
		zone = time.UTC
	}
	all := toolsOf(c)
	return &Mind{ID: id, Card: c, Zone: zone, words: wordsOf(c), all: all, whole: sizeOf(all)}
}

// Budget is what a model's context leaves for a prompt, and how it is shared.
type Budget struct {
	Context int // tokens that a prompt may come to
	Meter   *tokens.Meter
}

func (b Budget) usable() int { return int(float64(b.Context) * (1 - b.Meter.Reserve())) }

// History is how many tokens of what was said are told: the same for all that a character is
// asked, so that each request begins as the one before.
func (m *Mind) History(b Budget) int {
	all := b.usable()
	system, _ := m.System(b)
	m.mu.Lock()
	n := m.needs
	m.mu.Unlock()
	rest := all - b.Meter.Tokens(tokens.Of(system).Plus(sizeOf(m.Offer(b, m.all)))) -
		min(max(n.tail, firstTail), int(float64(all)*tailShare)) - min(max(n.memory, firstMemory), int(float64(all)*memoryShare))
	return max(rest, int(float64(all)*leastShare))
}

// need notes what the tail and the memory came to.
func (m *Mind) need(tail, memory int) {
	up := func(n int) int { return (n + needStep - 1) / needStep * needStep }
	m.mu.Lock()
	defer m.mu.Unlock()
	m.needs.tail, m.needs.memory = max(m.needs.tail, up(tail)), max(m.needs.memory, up(memory))
}

// Parts are what a prompt is made of.
type Parts struct {
	Budget
	Tools    []model.Tool
	Told     window.Told
	History  int // tokens that Told was made for, see [Mind.History]
	Human    func(id string) bool
	Names    map[string]string // of speakers, by id
	Memories []abi.Memory      // best first
	Tail     Tail
}

// Prompt is what a model is told.
type Prompt struct {
	System   string
	Messages []model.Message
	Tools    []model.Tool
	Told     *entry.Told
}

// Build puts a prompt together. Where it would be longer than its budget, memories that matter
// least go first, then the oldest of what was said.
func (m *Mind) Build(p Parts) Prompt {
	short := p
	var seqs []uint64
	short.Tail, seqs = p.Tail.beside(p.Told)
	prompt := m.build(short)
	for _, seq := range seqs {
		t := prompt.Told
		if _, cut := t.Shortened[seq]; cut || seq != t.Pinned && (seq < t.From || seq > t.Upto) {
			return m.build(p) // it does not stand there after all
		}
	}
	return prompt
}

func (m *Mind) build(p Parts) Prompt {
	all := p.usable()
	system, dropped := m.System(p.Budget)
	notes := slices.Clone(dropped)
	tools := m.Offer(p.Budget, p.Tools)
	count := func(text string) int { return p.Meter.Tokens(tokens.Of(text)) }
	parts := map[string]int{"system": count(system), "tools": p.Meter.Tokens(sizeOf(tools))}
	rest := all - parts["system"] - parts["tools"]
	least := int(float64(all) * leastShare)
	place := min(int(float64(all)*tailShare), rest-least)
	if len(p.Tail.percepts) > 0 {
		place = min(rest/2, rest-least)
	}
	facts, images, shortened := p.Tail.fit(place, p.Meter)
	notes = append(notes, shortened...)
	end := strings.Join(append(facts, p.Tail.task...), "\n")
	parts["tail"] = count(end) + model.ImageTokens*len(images)
	memory, ids := m.memory(p.Memories, min(int(float64(all)*memoryShare), rest-parts["tail"]-least), p.Meter)
	if len(ids) < len(p.Memories) {
		notes = append(notes, fmt.Sprintf("%d of %d memories that were found: memory has a tenth of the model's context", len(p.Memories)-len(ids), len(p.Memories)))
	}
	if len(memory) > 0 {
		remembered := strings.Join(memory, "\n")
		parts["memory"] = count(remembered)
		end = remembered + "\n" + end
	}
	m.need(parts["tail"], parts["memory"])
	told, lines, cut := m.room(p, rest-parts["memory"]-parts["tail"])
	if cut > 0 {
		notes = append(notes, fmt.Sprintf("%d older messages, for this request alone: what it is about is long", cut))
	}
	parts["history"] = p.Meter.Tokens(sizeOfMessages(lines))
	t := &entry.Told{
		Head: told.Head, Left: told.Left || cut > 0, Tail: end, Images: len(images), Memories: ids, Budget: p.Context, Parts: parts, Notes: notes,
		Names: namesOf(told.Messages, p.Names), Pinned: told.Pinned,
	}
	for seq, left := range told.Shortened {
		if t.Shortened == nil {
			t.Shortened = map[uint64][2]int{}
		}
		t.Shortened[seq] = left
	}
	if run := told.Messages; len(run) > 0 {
		if told.Pinned != 0 {
			run = run[1:]
		}
		if len(run) > 0 {
			t.From, t.Upto = run[0].Seq, run[len(run)-1].Seq
		}
	}
	if cut == 0 {
		t.History = p.History
	}
	prompt := Prompt{System: system, Messages: with(lines, end, images), Tools: tools, Told: t}
	t.System, t.SHA256 = Hash(system), Hash(Write(system, prompt.Messages))
	if len(tools) > 0 {
		t.Tools = Hash(WriteTools(tools))
	}
	return prompt
}

// room writes what was said. Where there is no place for all of it, the newest is shortened, down to half of the place,
// and then the oldest are left out. The newest stays, and so does the newest turn of a person.
func (m *Mind) room(p Parts, most int) (told window.Told, lines []model.Message, cut int) {
	told = p.Told
	write := func() (over int) {
		lines = slices.Concat(linesOf(m.ID, m.Zone, told.Messages, p.Names)...)
		return p.Meter.Tokens(sizeOfMessages(lines)) - most
	}
	over := write()
	if over <= 0 || len(told.Messages) == 0 {
		return told, lines, 0
	}
	told.Messages, told.Shortened = slices.Clone(told.Messages), maps.Clone(told.Shortened)
	newest := len(told.Messages) - 1
	if p.shorten(&told, newest, over, most/2); write() > 0 {
		cut = m.leaveOut(p, &told, most)
	}
	for i := range told.Messages { // a person's turn, and the newest, which may be both
		if over := write(); over > 0 {
			p.shorten(&told, i, over, 0)
		}
	}
	write()
	return told, lines, cut
}

// leaveOut leaves out the oldest messages and gives how many. What stays may still be too long.
func (m *Mind) leaveOut(p Parts, told *window.Told, most int) (cut int) {
	all := told.Messages
	human := -1
	for i, msg := range all {
		if p.Human(msg.From) && msg.Kind != abi.KindBackchannel {
			human = i
		}
	}
	groups := linesOf(m.ID, m.Zone, all, p.Names)
	count := func(lines []model.Message) int { return p.Meter.Tokens(sizeOfMessages(lines)) }
	total := count(slices.Concat(groups...)) + p.Meter.Tokens(tokens.Of(stamp)) // the first is told with its time
	first := 0
	for ; first < len(all)-1 && total > most; first++ {
		if first != human { // that one stays
			total -= count(groups[first])
		}
	}
	if first == 0 {
		return 0
	}
	told.Pinned, told.Messages = 0, all[first:]
	if human < 0 || human >= first {
		return first
	}
	told.Pinned, told.Messages = all[human].Seq, append([]abi.Message{all[human]}, all[first:]...)
	return first - 1
}

// leastText is how many tokens of a message that cannot be left out stay.
const leastText = 24

// markOf is what the mark comes to at most that says what was left out.
const markOf = 24

// shorten shortens a message by so many tokens, but to no less than least, and so that some of it stays.
func (p Parts) shorten(told *window.Told, i, over, least int) {
	msg := &told.Messages[i]
	have := p.Meter.Tokens(tokens.Of(quote.JSON(msg.Text))) // escapes take more than letters
	goal := max(have-over-markOf, least-overhead, leastText)
	if have <= goal+markOf {
		return
	}
	whole := cmp.Or(p.Told.Whole[msg.Seq], msg.Text)
	if told.Shortened == nil {
		told.Shortened = map[uint64]window.Ends{}
	}
	left, most := goal*p.Meter.Tokens(tokens.Of(msg.Text))/have, max(have-over, goal)
	for { // how many of its letters are escaped in what stays is not known before
		msg.Text, told.Shortened[msg.Seq] = window.Shorten(whole, left, p.Meter)
		now := p.Meter.Tokens(tokens.Of(quote.JSON(msg.Text)))
		if now <= most || left <= leastText {
			return
		}
		left = max(min(left-1, left*most/now), leastText)
	}
}

// with puts what stands behind the history there. Requests to come are the same up to the end
// of the history.
func with(lines []model.Message, end string, images []model.Image) []model.Message {
	all := append([]model.Message(nil), lines...)
	if n := len(all); n > 0 {
		all[n-1].Mark = true
	}
	return append(all, model.Message{Role: model.RoleUser, Text: end, Images: images})
}

// Hash names a text.
func Hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// Write writes a prompt out, so that two can be compared.
func Write(system string, messages []model.Message) string {
	var b strings.Builder
	b.WriteString(system)
	for _, msg := range messages {
		fmt.Fprintf(&b, "\n\n%s:\n%s", msg.Role, msg.Text)
	}
	return b.String()
}

func sizeOfMessages(all []model.Message) tokens.Size { return model.Request{Messages: all}.Size() }
