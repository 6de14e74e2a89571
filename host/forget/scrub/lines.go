package scrub

import (
	"encoding/json"
	"unicode/utf8"

	"github.com/companiond/companiond/host/entry"
)

// Lines are the lines of a room that lose their texts: what else was written of one, its pieces as they came, what
// was heard of it, the wish that it was, loses them, too, though a piece alone tells nothing. All entries are
// to be read before the first is asked for.
type Lines struct {
	w    *Words
	tail map[string]string // what the last pieces of a line end with
	gone map[string]bool   // tokens of grants, and the seqs of wishes
}

// Lines makes an empty one.
func (w *Words) Lines() *Lines {
	return &Lines{w: w, tail: map[string]string{}, gone: map[string]bool{}}
}

// Read reads an entry.
func (l *Lines) Read(e entry.Entry) {
	if e.Kind != entry.KindSaid && e.Kind != entry.KindSegment {
		return
	}
	body := object(e.Body)
	text, has := body["text"].(string)
	keys := keysOf(e, body)
	if !has || len(keys) == 0 {
		return
	}
	_, erased := body[entry.ErasedKey]
	_, less := l.w.left(e)
	lost := erased && text == "" || less || l.w.owns(e.Kind, body)
	if e.Kind == entry.KindSegment {
		text = l.tail[keys[0]] + text
		l.tail[keys[0]] = last(text, 60)
	} else {
		delete(l.tail, keys[0])
	}
	c := l.w.careOf(e.Kind, body)
	if lost || c == none && l.w.hits(text, c) || c != none && l.w.silences(text, c) {
		for _, k := range keys {
			l.gone[k] = true
		}
	}
}

// Entry is [Words.Entry] for an entry of the room that was read.
func (l *Lines) Entry(e entry.Entry) (left json.RawMessage, lost bool) {
	switch e.Kind {
	case entry.KindSegment, entry.KindHeard, entry.KindSound, entry.KindRefused, entry.KindWish:
		body := object(e.Body)
		for _, k := range keysOf(e, body) {
			if l.gone[k] {
				return l.w.entry(e, body, true)
			}
		}
	}
	return l.w.Entry(e)
}

// keysOf gives what an entry has in common with the others of its line.
func keysOf(e entry.Entry, body map[string]any) (keys []string) {
	for _, field := range []string{"grant", "line"} {
		if token, _ := body[field].(string); token != "" {
			keys = append(keys, token)
		}
	}
	if seq, ok := body["wish"].(json.Number); ok && seq != "0" {
		keys = append(keys, "wish/"+seq.String())
	}
	if e.Kind == entry.KindWish {
		seq, _ := json.Marshal(e.Seq)
		keys = append(keys, "wish/"+string(seq))
	}
	return keys
}

// last gives the last letters of a text.
func last(s string, letters int) string {
	at := len(s)
	for ; letters > 0 && at > 0; letters-- {
		_, size := utf8.DecodeLastRuneInString(s[:at])
		at -= size
	}
	return s[at:]
}
