// Package told shows what a language model was told about something that happened in a room:
// it puts the requests together again from the journal, and says whether that is what was sent,
// letter by letter.
//
// It asks no model, and writes nothing.
package told

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/context/kept"
	"github.com/companiond/companiond/host/context/layout"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/history"
	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/model"
	"github.com/companiond/companiond/host/room/reader"
)

// span is how many entries behind what it is about a request is looked for.
const span = 2000

// erased is why a request that lost words is not what was sent.
const erased = "some of it was erased"

// Part is a piece of a request: the system prompt; the tools, one JSON a line, as the card has them, which each API
// writes in its own way; the history, each message behind its role as in "user: "; and the tail, with which the last
// message of the user ends. Neighbours of one role are one message, a line each.
type Part struct {
	Name   string `json:"name"` // system, tools, history, tail, actions
	Text   string `json:"text"`
	Tokens int    `json:"tokens"` // as they were guessed
}

// Prompt is one request to a model.
type Prompt struct {
	Seq   uint64      `json:"seq"` // of the entry that says what it used
	At    time.Time   `json:"at"`
	Usage entry.Usage `json:"usage"` // without Told
	// Budget is how many tokens it might come to, and Guess what it was guessed to come to.
	Budget   int      `json:"budget"`
	Guess    int      `json:"guess"`
	Parts    []Part   `json:"parts"`
	Memories []string `json:"memories,omitempty"` // ids of what was recalled
	Left     []string `json:"left,omitempty"`     // what was left out, and why
	Exact    bool     `json:"exact"`              // Parts are what was sent, letter by letter, but for how an API writes it
	Why      string   `json:"why,omitempty"`      // why they are not
}

// Shelf is where to look.
type Shelf struct {
	Journal journal.Journal
	Words   *kept.Store
	Zone    *time.Location // in which characters are told the time
}

// About gives the requests that were made about an entry of a room: about a message those that
// judged and answered it, about a companion's line the votes before it, too.
//
// # Errors
//
// CodeNotFound where there is no such entry.
func (s Shelf) About(ctx context.Context, room string, seq uint64) ([]Prompt, error) {
	about, grant := seq, ""
	if w, err := reader.New(s.Journal, room).Why(ctx, seq); err == nil {
		if w.About != nil {
			about = w.About.Seq
		}
		if w.Message != nil && w.Decision.Grant != nil {
			grant = w.Decision.Grant.Token
		}
	} else if !s.has(ctx, room, seq) {
		return nil, err
	}
	prompts := []Prompt{}
	var book *history.Book // of the room, read where a prompt is there
	n := 0
	for e, err := range journal.AllEntries(ctx, s.Journal, room, min(about, seq)-1) {
		if err != nil {
			return nil, journal.Coded(err)
		}
		if n++; n > span {
			break
		}
		if e.Kind != entry.KindUsage || e.Blank && entry.ErasedBy(e) == "" {
			continue
		}
		u, err := entry.Decode[entry.Usage](e)
		if err != nil || e.Seq != seq && (u.About != about || grant != "" && u.Grant != "" && u.Grant != grant) {
			continue
		}
		if book == nil {
			st, _, err := reader.Fold(ctx, s.Journal, room)
			if err != nil {
				return nil, journal.Coded(err)
			}
			book = &st.History
		}
		p, err := s.again(ctx, room, *book, e, u)
		if err != nil {
			return nil, err
		}
		if e.Blank {
			p.Exact, p.Why = false, erased
		}
		prompts = append(prompts, p)
	}
	return prompts, nil
}

func (s Shelf) has(ctx context.Context, room string, seq uint64) bool {
	if seq == 0 {
		return false
	}
	got, err := s.Journal.Read(ctx, room, seq-1, 1)
	return err == nil && len(got) == 1 && got[0].Seq == seq
}

// again puts one request together.
func (s Shelf) again(ctx context.Context, room string, book history.Book, e entry.Entry, u entry.Usage) (Prompt, error) {
	p := Prompt{Seq: e.Seq, At: e.At, Usage: u, Parts: []Part{}}
	t := u.Told
	if p.Usage.Told = nil; t == nil {
		p.Why = "what was told is not known: a module asked, or an older version of companiond"
		return p, nil
	}
	p.Budget, p.Memories, p.Left = t.Budget, t.Memories, slices.Clone(t.Notes)
	for _, n := range t.Parts {
		p.Guess += n
	}
	if t.Left {
		p.Left = append(p.Left, fmt.Sprintf("all that was said before #%d: where the history is full, its oldest two fifths go at once, so that the rest stays as a model has read it; and a part of the budget is left alone, for tokens are guessed", t.From))
	}
	system, ok, err := s.Words.Get(ctx, t.System)
	if err != nil {
		return p, err
	}
	if !ok {
		p.Why = "the system prompt was not kept"
	}
	tools, _, err := s.Words.Get(ctx, t.Tools)
	if err != nil {
		return p, err
	}
	said, err := s.said(ctx, room, book, t)
	if err != nil {
		return p, err
	}
	self := u.Who
	if len(u.With) > 0 { // it was none of them
		self = ""
	}
	again, exact := layout.Again(self, s.Zone, *t, system, said)
	p.Exact = exact
	if !exact && p.Why == "" {
		if p.Why, err = s.changed(ctx, room, t); err != nil {
			return p, err
		}
	}
	p.Left = append(p.Left, shortened(t, said)...)
	p.Parts = append(p.Parts, Part{"system", system, t.Parts["system"]})
	if tools != "" {
		p.Parts = append(p.Parts, Part{"tools", tools, t.Parts["tools"]})
	}
	p.Parts = append(p.Parts, Part{"history", sent(again.Messages, t.Tail), t.Parts["history"]}, Part{"tail", t.Tail, t.Parts["memory"] + t.Parts["tail"]})
	if t.More != "" {
		p.Parts = append(p.Parts, Part{Name: "actions", Text: t.More})
	}
	if u.Calls > 1 {
		p.Left = append(p.Left, fmt.Sprintf("%d requests were sent in all: it was sent again, or its answer had to be mended; what that was told besides is not kept", u.Calls))
	}
	if t.Images > 0 {
		p.Left = append(p.Left, fmt.Sprintf("%d pictures were sent too; they are not kept", t.Images))
	}
	return p, nil
}

// sent writes the messages before the tail as they are sent, each with its role before it. The tail goes on where
// the last of them is a user's.
func sent(messages []model.Message, tail string) string {
	var lines []string
	for _, m := range model.Joined(messages) {
		lines = append(lines, string(m.Role)+": "+m.Text)
	}
	text := strings.TrimSuffix(strings.Join(lines, "\n"), tail)
	return strings.TrimSuffix(strings.TrimSuffix(text, string(model.RoleUser)+": "), "\n")
}

// shortened says of which messages the middle was left out.
func shortened(t *entry.Told, said []abi.Message) (left []string) {
	for _, m := range said {
		if ends, ok := t.Shortened[m.Seq]; ok && ends[0]+ends[1] < len(m.Text) {
			missing := utf8.RuneCountInString(m.Text[ends[0] : len(m.Text)-ends[1]])
			left = append(left, fmt.Sprintf("the middle of #%d, %d of %d letters: it is longer than the place there was for it", m.Seq, missing, utf8.RuneCountInString(m.Text)))
		}
	}
	return left
}

// changed says why a request that is put together again is not the one that was sent.
func (s Shelf) changed(ctx context.Context, room string, t *entry.Told) (string, error) {
	for _, run := range [][2]uint64{{t.Pinned, t.Pinned}, {t.From, t.Upto}} {
		if run[0] == 0 {
			continue
		}
		for e, err := range journal.AllEntries(ctx, s.Journal, room, run[0]-1) {
			if err != nil {
				return "", journal.Coded(err)
			}
			if e.Seq > run[1] {
				break
			}
			if e.Blank {
				return "some of what was said then has changed since: it was erased", nil
			}
		}
	}
	return "another version of companiond put it together, or what it was made of has changed since", nil
}

// said gives the messages that were told, each as it had been heard by then.
func (s Shelf) said(ctx context.Context, room string, book history.Book, t *entry.Told) (all []abi.Message, err error) {
	laid, err := reader.LaidOver(ctx, s.Journal, room, book, t.Head)
	if err != nil {
		return nil, journal.Coded(err)
	}
	for _, run := range [][2]uint64{{t.Pinned, t.Pinned}, {t.From, t.Upto}} {
		for after := run[0]; run[0] > 0; {
			page, err := reader.ToldBy(ctx, s.Journal, room, journal.Span{After: after - 1, Before: run[1] + 1, Limit: abi.MaxHistory}, t.Head, laid)
			if err != nil {
				return nil, journal.Coded(err)
			}
			all = append(all, page.Messages...)
			if page.Next == 0 {
				break
			}
			after = page.Next
		}
	}
	return all, nil
}
