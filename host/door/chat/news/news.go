// Package news finds out what is new in the list of messages that a chat client sends.
// Such a client sends its whole list each time, while the history is the room's.
//
// It is pure: it knows no room, and does not say whether somebody said a thing already.
// It never takes a client's word for what others said.
package news

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"strings"
)

// Message is one of a client's list.
type Message struct {
	Role string // "user" and "assistant" talk; all others are instructions, and are passed over
	Text string
	Odd  string // what else than text is in it, such as "image_url"; empty for nothing
}

// The roles that talk.
const (
	User      = "user"
	Assistant = "assistant"
)

// MaxNew is how many messages at the end of a list may be new.
const MaxNew = 8

// Line is a message that may be new.
type Line struct {
	Text string // may be empty where something odd is in it
	Odd  string // of the message
	At   int    // index in the list
	// Key stands for the list up to this message: for what people and characters said in
	// it, and not for the instructions, which change with the time of day.
	Key string
}

// News is what a list tells.
type News struct {
	// Lines are the user's messages behind the last one of the assistant, oldest first and
	// at most MaxNew. None are new in a list that ends with the assistant, or has nothing
	// of the user's.
	Lines []Line
	// Errand is the text that a front end itself wants an answer to, a title or tags for
	// the user's list; empty for what the user says. There are no Lines then.
	Errand string
}

// Of reads a list.
func Of(list []Message) (n News) {
	key := sha256.New()
	for i, m := range list {
		text := strings.TrimSpace(m.Text)
		switch {
		case m.Role != User && m.Role != Assistant:
			continue
		case text == "" && (m.Role == Assistant || m.Odd == ""): // a picture alone is no silence
			continue
		}
		if m.Role == User {
			text = asked(m.Text)
		}
		_ = binary.Write(key, binary.BigEndian, uint64(len(text))) // a hash takes everything
		key.Write([]byte(m.Role + text))
		if m.Role == Assistant {
			n = News{}
			continue
		}
		if n.Errand = ""; errand(text) {
			n.Errand = text
			continue
		}
		n.Lines = append(n.Lines, Line{Text: text, Odd: m.Odd, At: i, Key: hex.EncodeToString(key.Sum(nil)[:12])})
	}
	if n.Errand != "" {
		n.Lines = nil
	}
	n.Lines = n.Lines[max(0, len(n.Lines)-MaxNew):]
	return n
}

// The marks of what front ends ask for themselves. Open WebUI begins its errands with
// task, and shows the talk in history; where it has looked something up for the user it begins
// so, too, with the user's words in query.
const (
	task    = "### Task:"
	history = "chat_history"
	query   = "user_query"
)

// errand says whether a text is a front end's own request.
func errand(text string) bool {
	_, shows := between(text, history)
	return shows || strings.HasPrefix(text, task)
}

// asked gives what the user said of a message in which a front end has put it.
func asked(text string) string {
	if strings.HasPrefix(strings.TrimSpace(text), task) {
		if words, ok := between(text, query); ok && words != "" {
			return words
		}
	}
	return text
}

// between gives what the last element of a name holds, without the space around it.
func between(text, name string) (inner string, ok bool) {
	at := strings.LastIndex(text, "<"+name+">")
	if at < 0 {
		return "", false
	}
	inner, _, ok = strings.Cut(text[at+len(name)+2:], "</"+name+">")
	return strings.TrimSpace(inner), ok
}

// maxTitle is how many letters of the user's first words make a title.
const maxTitle = 40

// Run answers an errand. It is JSON with all that front ends ask for: a title, which is
// the user's first words or else otherwise, and none of what would need a model.
func Run(text, otherwise string) string {
	title := otherwise
	if talk, ok := between(text, history); ok {
		for line := range strings.Lines(talk) {
			if said, ok := cutRole(line); ok && strings.TrimSpace(said) != "" {
				title = strings.TrimSpace(said)
				break
			}
		}
	}
	if letters := []rune(title); len(letters) > maxTitle {
		title = string(letters[:maxTitle-1]) + "…"
	}
	out, _ := json.Marshal(struct { // of strings: it cannot fail
		Title     string   `json:"title"`
		Tags      []string `json:"tags"`
		FollowUps []string `json:"follow_ups"`
		Queries   []string `json:"queries"`
		Text      string   `json:"text"`
	}{title, []string{}, []string{}, []string{}, ""})
	return string(out)
}

// cutRole gives what the user says in a line of a history.
func cutRole(line string) (string, bool) {
	role, said, ok := strings.Cut(line, ":")
	return said, ok && strings.EqualFold(strings.TrimSpace(role), User)
}
