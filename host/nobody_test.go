package host_test

import (
	"io"
	"strings"
	"testing"

	"github.com/gorilla/websocket"
)

// Nobody but a companion of the house has a face or plays a game: an address with a slip of the
// pen, or with a display name, is refused at once. One whose file is there is let in, loaded or not.
func TestNobodyOfThatNameAtTheStage(t *testing.T) {
	h := newHome(t)
	h.drop(parrot(t, "Polly"), "aya.wasm")
	h.save("broken.wasm", []byte("no module"))
	h.open("")
	for path, status := range map[string]int{
		"/aituberkit/nope/ws": 404, "/aituberkit/Aya/ws": 404, "/aituberkit/nope/ws?room=main": 404, "/neuro/nope": 404, "/neuro/Aya?room=main": 404,
		"/aituberkit/aya/ws": 101, "/neuro/aya": 101, "/aituberkit/broken/ws": 101, "/neuro/broken": 101,
	} {
		conn, res, err := websocket.DefaultDialer.Dial("ws"+strings.TrimPrefix(h.url, "http")+path, nil)
		if res == nil || res.StatusCode != status {
			t.Errorf("%s: %v %v", path, res, err)
			continue
		}
		if conn != nil {
			_ = conn.Close()
		} else if b, _ := io.ReadAll(res.Body); !strings.Contains(string(b), "GET /v1/companions lists who is") && !strings.Contains(string(b), "is not in room main") {
			t.Errorf("%s: %s", path, b)
		}
	}
}
