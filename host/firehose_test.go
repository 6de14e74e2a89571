package host_test

import (
	"fmt"
	"net"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/companiond/companiond/host/waittest"
)

// openHose starts a daemon with aya, whose Firehose has an address of its own.
func openHose(t *testing.T) (url string) {
	t.Helper()
	h := newHome(t)
	h.drop("../characters/aya.talk.txt", "aya.talk.txt")
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String() // which is free by now
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	h.open(fmt.Sprintf("firehose = %q\n", address))
	return "ws://" + address
}

// TestFirehoseAddress: aikyo's clients find the Firehose at its own address, on any path.
func TestFirehoseAddress(t *testing.T) {
	url := openHose(t)
	for _, path := range []string{"", "/", "/anything?room=main&playback=1"} {
		c, _, err := websocket.DefaultDialer.Dial(url+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if err := c.WriteMessage(websocket.TextMessage, []byte(`{}`)); err != nil {
			t.Fatal(err)
		}
		_ = c.SetReadDeadline(time.Now().Add(time.Minute))
		if _, raw, err := c.ReadMessage(); err != nil || !strings.Contains(string(raw), "ZodError") {
			t.Errorf("%s: %s %v", path, raw, err)
		}
	}
	if _, r, err := websocket.DefaultDialer.Dial(url+"/?room=nowhere", nil); err == nil || r == nil || r.StatusCode != 404 {
		t.Errorf("a room that is not there: %v", err)
	}
}

// TestFirehoseOfAikyo compares the frames of the Firehose of the checkout that COMPANIOND_AIKYO names with
// ours.
func TestFirehoseOfAikyo(t *testing.T) {
	waittest.WithoutRaces(t)
	url := openHose(t)
	run := func(where string) map[string]any {
		events := checkout(t, "COMPANIOND_AIKYO", "node", "--import", os.Getenv("COMPANIOND_AIKYO")+"/packages/firehose/node_modules/tsx/dist/loader.mjs", "testdata/stage/firehose.mjs", os.Getenv("COMPANIOND_AIKYO"), where)
		if len(events) == 0 {
			t.Fatal("nothing was reported")
		}
		return events[len(events)-1]
	}
	if ours, theirs := run(url), run("real"); !reflect.DeepEqual(ours, theirs) {
		t.Errorf("aikyo's\n%v\nours\n%v", theirs, ours)
	}
}
