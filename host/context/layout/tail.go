package layout

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/card"
	"github.com/companiond/companiond/host/context/quote"
	"github.com/companiond/companiond/host/context/window"
	"github.com/companiond/companiond/host/model"
	"github.com/companiond/companiond/host/model/tokens"
)

// Tail is what stands behind the history: how things are at this moment, as JSON, one value a
// line, and what is asked for, in the house's words.
type Tail struct {
	now      now
	percepts []percept
	task     []string
	images   []model.Image
}

// now is how things stand.
type now struct {
	Time         string    `json:"time"`
	Here         []member  `json:"here"`
	More         int       `json:"more,omitempty"` // who are here besides
	Turns        int       `json:"turns_since_a_human_spoke,omitempty"`
	MaxTurns     int       `json:"of_at_most,omitempty"`
	Stage        string    `json:"stage,omitempty"`
	Waits        string    `json:"waits_for_an_answer,omitempty"`
	Too          []line    `json:"wait_for_your_answer,omitempty"` // one line answers all
	Conversation *talk     `json:"conversation,omitempty"`
	Results      []outcome `json:"what_became_of_your_actions,omitempty"`
	Games        []word    `json:"games_told,omitempty"` // and what answered its queries, oldest first
}

type member struct {
	Name string              `json:"name"`
	ID   string              `json:"id,omitempty"` // where it is another
	Kind abi.ParticipantKind `json:"kind"`
}

type talk struct {
	From     string `json:"from"`
	Purpose  string `json:"purpose,omitempty"`
	Turns    int    `json:"turns"`
	MaxTurns int    `json:"of_at_most,omitempty"`
}

type outcome struct {
	Action string `json:"action"`
	OK     bool   `json:"ok"`
	Reason string `json:"reason,omitempty"`
}

type percept struct {
	N         int             `json:"perception"`
	Title     string          `json:"title"`
	Format    string          `json:"format"`
	From      string          `json:"from,omitempty"`
	At        string          `json:"at,omitempty"`
	Body      json.RawMessage `json:"body,omitempty"`
	Text      string          `json:"text,omitempty"` // instead of a body that is too long
	MediaType string          `json:"image,omitempty"`
	Game      string          `json:"game,omitempty"`
	Answers   bool            `json:"answers_your_query,omitempty"`
	Choose    []string        `json:"choose_one_of,omitempty"`
	Failed    string          `json:"failed,omitempty"`
	image     int             // which one, from 1
}

// Asked is what a character is asked for a moment of a talk.
type Asked struct {
	Scene   abi.Scene
	Now     time.Time
	Results []abi.Result // of its actions, the newest last
	Acted   []string     // played for the line that it is asked for once more
	// OnlyVote asks for a vote alone, and WithLine for a vote and a line in one.
	OnlyVote, WithLine bool
}

// ForScene is the tail of a request for a vote or a line.
func (m *Mind) ForScene(a Asked) Tail {
	s := a.Scene
	n := m.now(a.Now, s.Members, s.Turns, s.MaxTurns, s.Closing, a.Results)
	n.Games = m.toldBefore(s.Told)
	if c := s.Conversation; c != nil {
		n.Turns, n.MaxTurns, n.Stage = 0, 0, "" // they mean nothing there
		n.Conversation = &talk{From: nameOf(s.Members, c.From), Purpose: c.Purpose, Turns: c.Turns, MaxTurns: c.MaxTurns}
	}
	if s.Message.Seq > 0 && slices.ContainsFunc(s.Members, func(x abi.Member) bool { return x.ID == s.Message.From && x.Kind == abi.KindHuman }) {
		n.Waits = nameOf(s.Members, s.Message.From)
	}
	waiting := s.Waiting
	if !slices.ContainsFunc(s.Recent, func(r abi.Message) bool { return r.Seq == s.Message.Seq }) && len(s.Recent) > 0 && n.Waits != "" {
		waiting = append(slices.Clone(waiting), s.Message) // so many spoke since that the history may begin later
	}
	for _, w := range waiting {
		n.Too = append(n.Too, line{From: nameOf(s.Members, w.From), Text: w.Text, seq: w.Seq})
	}
	t := Tail{now: n, task: m.words.way(m.ID, s)}
	if a.OnlyVote {
		t.task = append(t.task, m.words.vote(m.name()))
		return t
	}
	if s.Retry {
		t.task = append(t.task, m.words.again(a.Acted)...)
	}
	if s.Budget != nil && s.Budget.Chars >= 0 {
		t.task = append(t.task, m.words.chars(s.Budget.Chars))
	}
	if a.WithLine {
		t.task = append(t.task, m.words.voteAndLine())
	} else {
		t.task = append(t.task, m.words.line())
	}
	return t
}

// ForPerceptions is the tail of a request to judge what was perceived. titles are those
// that events of the card are about.
func (m *Mind) ForPerceptions(p abi.Perceiving, at time.Time, titles []string, results []abi.Result) Tail {
	n := m.now(at, p.Members, p.Turns, p.MaxTurns, p.Closing, results)
	n.Games = m.toldBefore(p.Told)
	t := Tail{now: n}
	all := append(slices.Clone(p.More), p.Perception)
	game, answer := false, false
	for i, x := range all {
		game, answer = game || x.Game != "", answer || x.Answers != ""
		one := percept{N: i + 1, Title: x.Title, Format: x.Format, Body: x.Body, Game: x.Game, Answers: x.Answers != ""}
		if f := x.Force; f != nil {
			one.Choose, one.Failed = f.Actions, f.Failed
		}
		if x.From != "" {
			one.From = nameOf(p.Members, x.From)
		}
		if !x.At.IsZero() {
			one.At = x.At.In(m.Zone).Format(stamp)
		}
		if len(x.Image) > 0 {
			t.images = append(t.images, model.Image{MediaType: x.MediaType, Data: x.Image})
			one.Body, one.MediaType, one.image = nil, x.MediaType, len(t.images)
		}
		t.percepts = append(t.percepts, one)
	}
	if p.Closing.Stage() > abi.ClosingNone.Stage() {
		t.task = m.words.way(m.ID, abi.Scene{Closing: p.Closing})
	}
	if f := p.Perception.Force; f != nil {
		t.task = append(t.task, m.words.force(f.Failed != ""))
		return t
	}
	if game {
		t.task = append(t.task, m.words.game())
	}
	if answer {
		t.task = append(t.task, m.words.answer())
	}
	if len(titles) > 0 || !game && !answer {
		t.task = append(t.task, m.words.judge(len(all), titles))
	}
	return t
}

func (m *Mind) now(at time.Time, members []abi.Member, turns, most int, closing abi.Closing, results []abi.Result) now {
	local := at.In(m.Zone)
	n := now{Time: local.Format(stamp) + " " + m.words.weekday(int(local.Weekday())), Turns: turns, MaxTurns: most, Stage: string(stage(closing))}
	n.Here, n.More = m.here(members)
	for _, r := range results {
		n.Results = append(n.Results, outcome{r.Action, r.OK, r.Reason})
	}
	return n
}

// mostHere is how many of those who are in the room are told by name.
const mostHere = 24

// here tells who is there, those who live in the house first.
func (m *Mind) here(members []abi.Member) (here []member, more int) {
	order := slices.Clone(members)
	slices.SortStableFunc(order, func(a, b abi.Member) int { return rank(a.Kind) - rank(b.Kind) })
	for _, x := range order[:min(len(order), mostHere)] {
		one := member{Name: x.Name, ID: x.ID, Kind: x.Kind}
		if x.Name == "" || x.Name == x.ID {
			one.Name, one.ID = x.ID, ""
		}
		here = append(here, one)
	}
	return here, max(0, len(members)-mostHere)
}

func rank(k abi.ParticipantKind) int {
	return slices.Index([]abi.ParticipantKind{abi.KindCompanion, abi.KindHuman, abi.KindAgent}, k)
}

// leastPercept is how many tokens a perception has at least. Where there is no place for that,
// the oldest are left out.
const leastPercept = 60

// fit writes the tail so that it comes to about so many tokens: of those who are here the last
// are not named, and perceptions are shortened. images are those that are left.
func (t Tail) fit(most int, meter *tokens.Meter) (facts []string, images []model.Image, notes []string) {
	count := func(text string) int { return meter.Tokens(tokens.Of(text)) }
	task := count(strings.Join(t.task, "\n"))
	n := t.now
	if len(t.percepts) > 0 { // they need the place more
		most = max(most, task+leastPercept)
	}
	var left int
	if n.Too, left = n.waiting((most-task)/2, meter); left > 0 {
		notes = append(notes, fmt.Sprintf("the oldest %d who wait for an answer too", left))
	}
	if n.Games, left = n.games((most-task)/2, meter); left > 0 {
		notes = append(notes, fmt.Sprintf("the oldest %d words of games", left))
	}
	written := quote.JSON(map[string]now{"now": n})
	for len(n.Here) > 1 && count(written)+task > most {
		n.More += len(n.Here) - len(n.Here)/2
		n.Here = n.Here[:len(n.Here)/2]
		written = quote.JSON(map[string]now{"now": n})
	}
	if n.More > t.now.More {
		notes = append(notes, fmt.Sprintf("the names of %d who are here", n.More-t.now.More))
	}
	facts = []string{written}
	if len(t.percepts) == 0 {
		return facts, nil, notes
	}
	rest := most - task - count(written)
	told := t.percepts[len(t.percepts)-min(len(t.percepts), max(1, rest/leastPercept)):]
	if left := len(t.percepts) - len(told); left > 0 {
		notes = append(notes, fmt.Sprintf("the oldest %d perceptions", left))
	}
	each := max(rest/len(told)-overPercept, leastPercept-overPercept)
	for _, p := range told {
		if text := bodyOf(p); count(text) > each {
			short, left := window.Shorten(text, each-overPercept/2, meter)
			notes = append(notes, fmt.Sprintf("the middle of perception %d: %d of %d bytes", p.N, len(text)-left[0]-left[1], len(text)))
			p.Body, p.Text = nil, short
		}
		if p.image > 0 {
			images = append(images, t.images[p.image-1])
		}
		facts = append(facts, quote.JSON(p))
	}
	return facts, images, notes
}

// beginning is how many letters tell which message is meant that stands in the history.
const beginning = 40

// beside gives the tail for a history in which some of those who wait for an answer stand already, whole: of
// what they said only the beginning is told again. seqs are theirs.
func (t Tail) beside(told window.Told) (_ Tail, seqs []uint64) {
	t.now.Too = slices.Clone(t.now.Too)
	for i, l := range t.now.Too {
		letters := []rune(l.Text)
		_, short := told.Shortened[l.seq]
		stands := slices.ContainsFunc(told.Messages, func(m abi.Message) bool { return m.Seq == l.seq })
		if l.seq == 0 || short || !stands || len(letters) <= beginning+beginning/2 {
			continue
		}
		t.now.Too[i].Text, seqs = string(letters[:beginning])+" …", append(seqs, l.seq)
	}
	return t, seqs
}

// overLine is what a line of somebody who waits takes besides its text.
const overLine = 16

// waiting gives what waits for an answer too, shortened so that it comes to about so many tokens;
// left is how many there is no place for.
func (n now) waiting(most int, meter *tokens.Meter) (told []line, left int) {
	if len(n.Too) == 0 {
		return nil, 0
	}
	left = max(0, len(n.Too)-max(1, most/(2*overLine)))
	told = slices.Clone(n.Too[left:])
	each := max(most/len(told)-overLine, overLine)
	for i, l := range told {
		if meter.Tokens(tokens.Of(l.Text)) > each {
			told[i].Text, _ = window.Shorten(l.Text, each, meter)
		}
	}
	return told, left
}

// overPercept is what a perception takes besides its body.
const overPercept = 40

// bodyOf is what a perception says: of a text that text.
func bodyOf(p percept) string {
	var text string
	if p.Format == card.FormatText && json.Unmarshal(p.Body, &text) == nil {
		return text
	}
	return string(p.Body)
}

// memory tells what the character remembers, as much of it as there is place for.
func (m *Mind) memory(all []abi.Memory, most int, meter *tokens.Meter) (lines, ids []string) {
	type remembered struct {
		Text string `json:"memory"`
		By   string `json:"said_by,omitempty"`
		Who  string `json:"written_by,omitempty"` // and nobody said it
		On   string `json:"on,omitempty"`
		Till string `json:"until,omitempty"`
	}
	for _, x := range all {
		r := remembered{Text: x.Text, By: x.SaidBy}
		if x.EditedBy != "" {
			r.By, r.Who = "", x.EditedBy // when it was edited is not kept with it
		} else if !x.SaidAt.IsZero() {
			r.On = x.SaidAt.In(m.Zone).Format("2006-01-02")
		}
		if !x.ValidTo.IsZero() {
			r.Till = x.ValidTo.In(m.Zone).Format("2006-01-02")
		}
		text := quote.JSON(r)
		if most -= meter.Tokens(tokens.Of(text)); most < 0 {
			break
		}
		lines, ids = append(lines, text), append(ids, x.ID)
	}
	return lines, ids
}

// nameOf is what somebody is called.
func nameOf(members []abi.Member, id string) string {
	for _, m := range members {
		if m.ID == id && m.Name != "" {
			return m.Name
		}
	}
	return id
}
