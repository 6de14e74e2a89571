package abi

import "unicode/utf8"

// KnowledgeAsk asks for a document of the companion's folder, or without a Name for the list of them.
type KnowledgeAsk struct {
	Name  string `json:"name,omitempty"`
	From  int    `json:"from,omitempty"`  // the byte where to begin
	Limit int    `json:"limit,omitempty"` // bytes; 0 means MaxKnowledge, at most that
}

// Knowledge answers HostKnowledgeGet.
type Knowledge struct {
	Documents []Document `json:"documents,omitempty"` // by name
	Text      string     `json:"text,omitempty"`      // in whole letters
	Next      int        `json:"next,omitempty"`      // the byte where it goes on; 0: that is all
}

// Document is one of a companion's.
type Document struct {
	Name string `json:"name"`
	Size int64  `json:"size"` // bytes
}

// Part gives the part of a document, a text in UTF-8, that is asked for: in whole letters, one at least where
// there is any.
//
// # Errors
//
// CodeInvalid with the field from or limit.
func (a KnowledgeAsk) Part(text string) (k Knowledge, err error) {
	limit, err := Limit(a.Limit, MaxKnowledge, MaxKnowledge)
	switch {
	case err != nil:
		return k, err
	case a.From < 0 || a.From > len(text):
		return k, Field("from", CodeInvalid, "%d is outside 0..%d, the bytes of the document", a.From, len(text))
	}
	from, to := letter(text, a.From), letter(text, min(len(text), a.From+limit))
	if to == from && to < len(text) { // a letter that is longer than the limit
		_, n := utf8.DecodeRuneInString(text[from:])
		to += n
	}
	if k.Text = text[from:to]; to < len(text) {
		k.Next = to
	}
	return k, nil
}

// letter gives the beginning of the letter at a place.
func letter(text string, at int) int {
	for at > 0 && at < len(text) && !utf8.RuneStart(text[at]) {
		at--
	}
	return at
}
