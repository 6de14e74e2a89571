// Package cards says what the companions' cards (the AI Companion Protocol) offer to agents over
// MCP: under which URI each is read, what the arguments of action-play look like,
// and what has changed since somebody looked last.
//
// The package never reads a file, checks parameters or plays an action, and does
// not know the MCP SDK.
package cards

import (
	"bytes"
	"cmp"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
)

// Card is the card of a companion.
type Card struct {
	ID      string          // of the companion
	Name    string          // on the card
	Source  json.RawMessage // its file, to the byte; nobody changes it any more
	Actions []Action        // as in the file
	Usual   bool            // of the companion that is meant by whoever names none
}

// Action is something that a companion's body can do.
type Action struct {
	Name        string
	Description string
	Schema      json.RawMessage // JSON Schema of its parameters, an object's
}

// Main is the URI of the usual companion's card, as the AI Companion Protocol's prompts have it.
// A companion that is called so and is not the usual one has no URI.
const Main = scheme + "main"

const scheme = "spec://"

// URI is where the card of a companion is read.
func URI(companion string) string { return scheme + url.PathEscape(companion) }

// IsURI says whether a URI is meant for a card, there or not.
func IsURI(uri string) bool { return strings.HasPrefix(uri, scheme) }

// Set is the cards there are at a moment. The zero value has none.
type Set struct {
	cards []Card // by id, each once
}

// Of makes a set. Of two cards with one id the first counts.
func Of(all []Card) Set {
	s := slices.Clone(all)
	slices.SortStableFunc(s, func(a, b Card) int { return cmp.Compare(a.ID, b.ID) })
	return Set{slices.CompactFunc(s, func(a, b Card) bool { return a.ID == b.ID })}
}

// IDs lists the companions that have a card, by id.
func (s Set) IDs() []string {
	ids := make([]string, 0, len(s.cards))
	for _, c := range s.cards {
		ids = append(ids, c.ID)
	}
	return ids
}

// For gives the set as whoever means a companion sees it, also without naming it.
func (s Set) For(companion string) Set {
	if companion == "" {
		return s
	}
	own := slices.Clone(s.cards)
	for i := range own {
		own[i].Usual = own[i].ID == companion
	}
	return Set{own}
}

// Find gives the card of a companion. An empty id means the usual one.
func (s Set) Find(companion string) (Card, bool) {
	if companion == "" {
		i := slices.IndexFunc(s.cards, func(c Card) bool { return c.Usual })
		if i < 0 {
			return Card{}, false
		}
		return s.cards[i], true
	}
	i, ok := slices.BinarySearchFunc(s.cards, companion, func(c Card, id string) int { return cmp.Compare(c.ID, id) })
	if !ok {
		return Card{}, false
	}
	return s.cards[i], true
}

// At gives the card that a URI names.
func (s Set) At(uri string) (Card, bool) {
	if uri == Main {
		return s.Find("")
	}
	escaped, ok := strings.CutPrefix(uri, scheme)
	id, err := url.PathUnescape(escaped)
	if !ok || err != nil || id == "" {
		return Card{}, false
	}
	return s.Find(id)
}

// Listed is a card in the list of resources.
type Listed struct {
	URI, Name, Title string
}

// list gives a row for each card and one for Main.
func (s Set) list() []Listed {
	var rows []Listed
	if c, ok := s.Find(""); ok {
		rows = append(rows, Listed{Main, "main", c.Name})
	}
	for _, c := range s.cards {
		if uri := URI(c.ID); uri != Main {
			rows = append(rows, Listed{uri, c.ID, c.Name})
		}
	}
	return rows
}

// Change is what those who look on are to be told.
type Change struct {
	Listed  []Listed // to be listed, or listed anew
	Gone    []string // URIs to be listed no more
	Updated []string // URIs under which something else is read, or nothing any more
	Play    bool     // what action-play takes, or whether it is there
}

// Since says what has changed since an older set.
func (s Set) Since(old Set) Change {
	var c Change
	before, now := old.list(), s.list()
	for _, row := range now {
		if !slices.Contains(before, row) {
			c.Listed = append(c.Listed, row)
		}
		was, had := old.At(row.URI)
		is, _ := s.At(row.URI)
		// Who subscribed to a card that went away is told when it is back.
		if !had || !bytes.Equal(was.Source, is.Source) {
			c.Updated = append(c.Updated, row.URI)
		}
	}
	for _, row := range before {
		if _, there := s.At(row.URI); !there {
			c.Gone, c.Updated = append(c.Gone, row.URI), append(c.Updated, row.URI)
		}
	}
	c.Play = !bytes.Equal(old.Play(), s.Play())
	return c
}
