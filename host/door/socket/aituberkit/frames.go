package aituberkit

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/emotion"
)

// The types of the frames of version 2, both ways. A client sends others besides, which are of
// no use here.
const (
	sessionReady = "session.ready"
	sessionHello = "session.hello"
	chatMessage  = "chat.message"
	chatStart    = "chat.start"
	chatDelta    = "chat.delta"
	chatDone     = "chat.done"
	chatError    = "chat.error"
	cancel       = "control.cancel"
	ack          = "ack"
	ping         = "ping"
	pong         = "pong"
	speechStart  = "character.speech.start"
	speechDone   = "character.speech.done"
	speechError  = "character.speech.error"
	responseDone = "character.response.done"
)

// envelope is a frame of version 2 that is sent.
type envelope struct {
	Version   string  `json:"version"`
	ID        string  `json:"id"`
	Type      string  `json:"type"`
	SessionID string  `json:"sessionId"`
	Timestamp string  `json:"timestamp"`
	RequestID string  `json:"requestId,omitempty"`
	Payload   payload `json:"payload"`
}

// payload is what all that are sent have of it.
type payload struct {
	Protocol     string       `json:"protocolVersion,omitempty"`
	Capabilities []string     `json:"capabilities,omitempty"`
	RequestID    string       `json:"requestId,omitempty"`
	Type         string       `json:"type,omitempty"`
	Status       string       `json:"status,omitempty"`
	Text         string       `json:"text,omitempty"`
	Role         string       `json:"role,omitempty"`
	Emotion      emotion.Word `json:"emotion,omitempty"`
	Message      string       `json:"message,omitempty"`
	Code         abi.Code     `json:"code,omitempty"`
	Field        string       `json:"field,omitempty"`
	Cancelled    *bool        `json:"cancelled,omitempty"`
	Reason       string       `json:"reason,omitempty"`
}

// plain is a frame as it was before version 2.
type plain struct {
	Text    string       `json:"text"`
	Role    string       `json:"role"`
	Emotion emotion.Word `json:"emotion"`
	Type    string       `json:"type"` // start, end, or empty for a sentence
}

// The roles. What the console says is shown as code, and is not spoken.
const (
	assistant = "assistant"
	console   = "console"
)

// stamp is how times are written.
const stamp = "2006-01-02T15:04:05.000Z"

// frame makes a frame of version 2.
func (f *Front) frame(kind, request string, p payload, now time.Time) []byte {
	f.frames++
	return encode(envelope{
		Version: "2", ID: fmt.Sprintf("srv_%d", f.frames), Type: kind, SessionID: f.room, Timestamp: now.UTC().Format(stamp),
		RequestID: request, Payload: p,
	})
}

// begin, delta and done are the frames of a line.
func (f *Front) begin(l *line, now time.Time) []byte {
	if l.plain {
		return encode(plain{Role: assistant, Emotion: emotion.Neutral, Type: "start"})
	}
	return f.frame(chatStart, l.request, payload{Role: assistant}, now)
}

func (f *Front) delta(l *line, s sentence, now time.Time) []byte {
	if l.plain {
		return encode(plain{Text: s.text, Role: assistant, Emotion: l.emotion})
	}
	return f.frame(chatDelta, l.request, payload{Text: s.text, Role: assistant, Emotion: l.emotion}, now)
}

func (f *Front) done(plainly bool, request string, p payload, now time.Time) []byte {
	if plainly {
		return encode(plain{Role: assistant, Emotion: emotion.Neutral, Type: "end"})
	}
	return f.frame(chatDone, request, p, now)
}

// refusal is the frame for words that came to nothing.
func (f *Front) refusal(plainly bool, request string, err *abi.Error, now time.Time) []byte {
	if plainly {
		return encode(plain{Text: err.Message, Role: console, Emotion: emotion.Neutral, Type: "end"})
	}
	return f.frame(chatError, request, payload{RequestID: request, Message: err.Message, Role: console, Code: err.Code, Field: err.Field}, now)
}

// encode writes what can always be written.
func encode(v any) []byte {
	frame, _ := json.Marshal(v)
	return frame
}
