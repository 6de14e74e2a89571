package conversations

import (
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/companiond/companiond/host/door/guard"
)

func writer(out huma.Context) http.ResponseWriter {
	_, w := humago.Unwrap(out)
	return w
}

// writeJSON answers with one value: of texts, numbers, bools and times.
func writeJSON(w http.ResponseWriter, status int, contentType string, v any) {
	raw, err := json.Marshal(v)
	if err != nil { // cannot be
		http.Error(w, http.StatusText(http.StatusInternalServerError), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", contentType)
	w.WriteHeader(status)
	_, _ = w.Write(append(raw, '\n')) // the client is gone: nothing to do
}

// stream writes server-sent events.
type stream struct {
	w       http.ResponseWriter
	control *http.ResponseController
	gone    bool // the client is
}

func begin(out huma.Context) *stream {
	w := writer(out)
	h := w.Header()
	h.Set("Content-Type", "text/event-stream; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no") // of nginx, which would keep the words back
	return &stream{w: w, control: http.NewResponseController(w)}
}

// event sends one; its id is the seq of a message, 0 for what has none.
func (s *stream) event(name string, id uint64, v any) error {
	raw, err := json.Marshal(v)
	if err != nil {
		return err
	}
	text := "event: " + name + "\n"
	if id > 0 {
		text += "id: " + strconv.FormatUint(id, 10) + "\n"
	}
	return s.write(text + "data: " + string(raw) + "\n\n")
}

// quiet shows that the stream is still there.
func (s *stream) quiet() error { return s.write(": still here\n\n") }

// fail tells what went wrong after the stream began.
func (s *stream) fail(err error) {
	guard.Note(s.w, err)
	_ = s.event("error", 0, details(err)) // the client is gone: nothing to do
}

// write sends what a client must read within a while.
func (s *stream) write(text string) error {
	_ = s.control.SetWriteDeadline(time.Now().Add(slowest)) // a test's recorder has none, and cannot be slow
	_, err := s.w.Write([]byte(text))
	if err == nil {
		err = s.control.Flush()
	}
	if err != nil {
		s.gone = true
	}
	return err
}

func (s *stream) end() { _ = s.control.SetWriteDeadline(time.Time{}) }
