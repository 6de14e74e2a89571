package ollmv

import (
	"encoding/base64"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/companiond/companiond/host/door/socket/session"
	"github.com/companiond/companiond/host/emotion"
)

// frame is most of what is sent; which fields a type has is the front-end's to say.
type frame struct {
	Type    string `json:"type"`
	Text    string `json:"text,omitempty"`
	Message string `json:"message,omitempty"`
	History string `json:"history_uid,omitempty"`
	Success *bool  `json:"success,omitempty"`
}

// fullText is the type of a subtitle.
const fullText = "full-text"

// The words of the type control.
const (
	chainStart = "conversation-chain-start"
	chainEnd   = "conversation-chain-end"
)

func control(word string) frame { return frame{Type: "control", Text: word} }

func problem(message string) []byte { return encode(frame{Type: "error", Message: message}) }

// audioFrame is a sentence. Without a sound the front-end shows it, and goes on.
type audioFrame struct {
	Type        string    `json:"type"`
	Audio       *string   `json:"audio"`
	Volumes     []float64 `json:"volumes"`
	SliceLength int       `json:"slice_length"`
	Display     display   `json:"display_text"`
	Actions     *faces    `json:"actions"`
	Forwarded   bool      `json:"forwarded"`
}

type display struct {
	Text   string `json:"text"`
	Name   string `json:"name"`
	Avatar string `json:"avatar"`
}

type faces struct {
	Expressions []string `json:"expressions"`
}

func (f *Front) spoken(s sentence) audioFrame {
	a := audioFrame{Type: "audio", Volumes: []float64{}, SliceLength: sliceMS, Display: display{Text: s.text, Name: f.name(f.Companion)}}
	if s.sound.length > 0 {
		audio := base64.StdEncoding.EncodeToString(s.sound.wav)
		a.Audio, a.Volumes = &audio, volumes(s.sound.wav)
	}
	if s.emotion != "" && s.emotion != emotion.Neutral {
		a.Actions = &faces{[]string{string(s.emotion)}}
	}
	return a
}

// modelFrame says whose the page is, and how that looks.
type modelFrame struct {
	Type   string `json:"type"`
	Model  *model `json:"model_info,omitempty"`
	Name   string `json:"conf_name"`
	ID     string `json:"conf_uid"`
	Client string `json:"client_uid"`
}

type model struct {
	Name     string            `json:"name"`
	URL      string            `json:"url"`
	Scale    float64           `json:"kScale"`
	X        int               `json:"initialXshift"`
	Y        int               `json:"initialYshift"`
	Idle     string            `json:"idleMotionGroupName"`
	Emotions map[string]string `json:"emotionMap"`
	Taps     struct{}          `json:"tapMotions"`
}

func (f *Front) setModel() modelFrame {
	m := modelFrame{Type: "set-model-and-conf", Name: f.name(f.Companion), ID: f.Companion, Client: f.Room + "/" + f.Speaker}
	if f.Model != "" {
		m.Model = &model{Name: f.Companion, URL: f.Model, Scale: .5, Idle: "Idle", Emotions: map[string]string{}}
		for _, w := range emotion.Words() {
			m.Model.Emotions[string(w)] = string(w)
		}
	}
	return m
}

type configsFrame struct {
	Type    string   `json:"type"`
	Configs []config `json:"configs"`
}

type config struct {
	File string `json:"filename"`
	Name string `json:"name"`
}

func (f *Front) configs() configsFrame {
	c := configsFrame{Type: "config-files", Configs: []config{}}
	for _, x := range f.Choices() {
		c.Configs = append(c.Configs, config{x.ID, f.name(x.ID)})
	}
	return c
}

// message is one of a history.
type message struct {
	ID      string `json:"id,omitempty"`
	Role    string `json:"role"`
	At      string `json:"timestamp"`
	Content string `json:"content"`
	Name    string `json:"name,omitempty"`
}

type historiesFrame struct {
	Type      string    `json:"type"`
	Histories []history `json:"histories"`
}

type history struct {
	ID     string   `json:"uid"`
	Latest *message `json:"latest_message"`
	At     string   `json:"timestamp"`
}

type historyFrame struct {
	Type     string    `json:"type"`
	Messages []message `json:"messages"`
}

func (f *Front) message(m session.PastMessage) message {
	s := message{ID: m.ID, Role: "ai", At: m.At.UTC().Format(time.RFC3339Nano), Content: m.Text, Name: f.name(m.From)}
	if m.Human {
		s.Role = "human"
	}
	return s
}

// The histories of a page: the whole talk of its room, and the part behind an entry of it, which is
// a new history. To begin one is no more than to look at it: the talk is the room's.
const (
	listed  = "list"
	created = "create"
)

// historyID names the part behind an entry; 0 for all.
func (f *Front) historyID(since uint64) string {
	if since == 0 {
		return f.Room
	}
	return f.Room + "@" + strconv.FormatUint(since, 10)
}

// since gives the entry behind which a history begins.
func (f *Front) since(id string) (seq uint64, ok bool) {
	room, at, some := strings.Cut(id, "@")
	if room != f.Room {
		return 0, false
	}
	if !some {
		return 0, true
	}
	seq, err := strconv.ParseUint(at, 10, 64)
	return seq, err == nil
}

// past is the frame for what was said.
func (f *Front) past(in session.Past) []byte {
	switch in.ID {
	case created:
		return encode(frame{Type: "new-history-created", History: f.historyID(in.Head)})
	case listed:
		list := historiesFrame{Type: "history-list", Histories: []history{}}
		if n := len(in.Messages); n > 0 {
			latest := f.message(in.Messages[n-1])
			list.Histories = append(list.Histories, history{f.historyID(0), &latest, latest.At})
		}
		return encode(list)
	}
	data := historyFrame{Type: "history-data", Messages: []message{}}
	for _, m := range in.Messages {
		data.Messages = append(data.Messages, f.message(m))
	}
	return encode(data)
}

// encode writes what can always be written: texts and numbers.
func encode(v any) []byte {
	raw, _ := json.Marshal(v)
	return raw
}
