package streamable

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// reply is the answer to one request as the SDK writes it, with two changes.
//
// An event stream whose first and only event is the response goes out as plain
// JSON, which costs both sides less. The SDK can do that by itself, but only for
// all calls of a session, and then what a tool sends before its response is lost
// to clients that hold no stream.
//
// A real stream is written by a goroutine of its own, from a queue. The SDK
// writes events to one client after the other and gives all of them 10 s
// together: without the queue, one client that does not read would keep the
// events from all the others. A client that does not take a write in time, or
// has too much waiting, loses its stream.
type reply struct {
	w      http.ResponseWriter
	rc     *http.ResponseController
	give   time.Duration
	cancel context.CancelFunc // ends the request
	before func(http.Header)  // called once before the headers go out
	// mend gives an answer that is complete as it goes out, and may set its headers.
	mend func(status int, h http.Header, body []byte) (int, []byte)

	mu     sync.Mutex
	status int
	kept   []byte // the body so far, or the one event; nil: nothing yet
	stream bool
	queue  []byte
	writer chan struct{} // closed when the goroutine that writes is done; nil: there is none
	err    error         // why the stream is broken
}

// maxQueue is how many bytes may wait before the next event finds the client
// too slow.
const maxQueue = 256 << 10

var errBehind = errors.New("the client does not read its events")

func newReply(w http.ResponseWriter, give time.Duration, cancel context.CancelFunc) *reply {
	return &reply{w: w, rc: http.NewResponseController(w), give: give, cancel: cancel, before: func(http.Header) {},
		mend: func(status int, _ http.Header, body []byte) (int, []byte) { return status, body }}
}

// Header gives the headers.
func (r *reply) Header() http.Header { return r.w.Header() }

// WriteHeader sets the status.
func (r *reply) WriteHeader(status int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.status == 0 {
		r.status = status
	}
}

// Write takes a piece of the body. Of event streams the SDK writes one event at
// a time.
func (r *reply) Write(b []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err != nil {
		return 0, r.err
	}
	events := isEvents(r.Header())
	switch {
	case r.stream:
		return r.send(b)
	case !events:
		r.kept = append(r.kept, b...)
		return len(b), nil
	case r.kept == nil && answerIn(b) != nil:
		r.kept = slices.Clone(b)
		return len(b), nil
	}
	// There is more to come than a response.
	r.start()
	if r.kept != nil {
		if _, err := r.send(r.kept); err != nil {
			return 0, err
		}
	}
	return r.send(b)
}

// FlushError does nothing: what is kept waits for more, a stream is flushed
// after each write.
func (r *reply) FlushError() error { return nil }

// start turns the answer into a stream.
func (r *reply) start() {
	r.stream = true
	r.before(r.Header())
	r.w.WriteHeader(cmp.Or(r.status, http.StatusOK))
}

// taken gives the status of the answer, and 500 for one that broke off.
func (r *reply) taken() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err != nil {
		return http.StatusInternalServerError
	}
	return cmp.Or(r.status, http.StatusOK)
}

func (r *reply) send(b []byte) (int, error) {
	if len(r.queue) > maxQueue {
		r.fail(errBehind)
		return 0, r.err
	}
	r.queue = append(r.queue, b...)
	if r.writer == nil {
		r.writer = make(chan struct{})
		go r.drain(r.writer)
	}
	return len(b), nil
}

func (r *reply) fail(err error) {
	if r.err == nil {
		r.err = err
	}
	r.queue = nil
	r.cancel()
}

// drain writes until the queue is empty.
func (r *reply) drain(done chan struct{}) {
	defer close(done)
	for {
		r.mu.Lock()
		if len(r.queue) == 0 {
			r.writer = nil
			r.mu.Unlock()
			return
		}
		batch := r.queue
		r.queue = nil
		r.hurry(r.give)
		r.mu.Unlock()
		_, err := r.w.Write(batch)
		if err == nil {
			err = r.rc.Flush()
		}
		if err != nil {
			r.mu.Lock()
			r.fail(err)
			r.mu.Unlock()
		}
	}
}

// hurry gives the connection so much time from now to take what is written;
// net/http lifts that after each answer. A writer without deadlines is a test's
// recorder, which cannot be slow.
func (r *reply) hurry(give time.Duration) { _ = r.rc.SetWriteDeadline(time.Now().Add(give)) }

// finish sends what is kept, or waits until the stream is written. When the
// door is ending, a client gets a moment only.
func (r *reply) finish(ending bool) {
	r.mu.Lock()
	if ending {
		r.give = min(r.give, goodbye)
	}
	if !r.stream {
		defer r.mu.Unlock()
		r.stream = true // there is nothing left for abort
		r.whole()
		return
	}
	r.hurry(r.give)
	writer := r.writer
	r.mu.Unlock()
	if writer != nil {
		<-writer
	}
	r.hurry(r.give) // for the end that net/http writes
}

// whole sends an answer that is complete.
func (r *reply) whole() {
	h, body := r.Header(), r.kept
	r.before(h)
	if isEvents(h) && body != nil {
		body = answerIn(body)
		h.Set("Content-Type", "application/json")
		h.Del("Connection")
	}
	status, body := r.mend(cmp.Or(r.status, http.StatusOK), h, body)
	if status != http.StatusNoContent {
		h.Set("Content-Length", strconv.Itoa(len(body)))
	}
	r.hurry(r.give)
	r.w.WriteHeader(status)
	if _, err := r.w.Write(body); err == nil {
		_ = r.rc.Flush() // the client is gone: nothing to do
	}
}

// abort waits for the goroutine that writes, if any, without sending more.
func (r *reply) abort() {
	r.mu.Lock()
	r.queue = nil
	writer := r.writer
	r.mu.Unlock()
	if writer != nil {
		<-writer
	}
}

func isEvents(h http.Header) bool { return h.Get("Content-Type") == "text/event-stream" }

// The SDK's way of writing an event with a JSON-RPC response.
const (
	eventHead = "event: message\ndata: "
	eventTail = "\n\n"
	answerTop = `{"jsonrpc":"2.0","id":`
)

// answerIn gives the JSON-RPC response that is the whole of an event, nil when
// the event is something else or is written in a way that is not known here.
func answerIn(event []byte) []byte {
	data, ok := bytes.CutPrefix(event, []byte(eventHead))
	if !ok {
		return nil
	}
	if data, ok = bytes.CutSuffix(data, []byte(eventTail)); !ok || bytes.IndexByte(data, '\n') >= 0 {
		return nil
	}
	rest, ok := strings.CutPrefix(string(data[:min(len(data), 512)]), answerTop)
	if !ok {
		return nil
	}
	rest = afterID(rest)
	if strings.HasPrefix(rest, `,"result":`) || strings.HasPrefix(rest, `,"error":`) {
		return data
	}
	return nil
}

// afterID skips a JSON-RPC id: a string or a number.
func afterID(s string) string {
	if !strings.HasPrefix(s, `"`) {
		return strings.TrimLeft(s, "-+.0123456789eE")
	}
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			return s[i+1:]
		}
	}
	return ""
}
