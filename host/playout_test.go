package host_test

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/door/socket/playout"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/waittest"
)

// TestPlayedHere: a client that plays sounds is the one voice of a companion: its lines are over when it has played them, a STOP
// silences it at once, it finds a daemon that was started anew, and it is silent when it is to end.
func TestPlayedHere(t *testing.T) {
	waittest.WithoutRaces(t)
	if _, err := exec.LookPath("espeak-ng"); err != nil {
		t.Skip("no espeak-ng: apt-get install espeak-ng")
	}
	h := newHome(t)
	h.environ = os.Environ()
	h.drop("../characters/aya.talk.txt", "aya.talk.txt")
	voice := filepath.Join(t.TempDir(), "voice")
	if b, err := exec.Command("go", "build", "-o", voice, "../plugins/voice").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, b)
	}
	install(t, voice, filepath.Join(h.dir, "plugins"), "voice")
	const settings = handlerRoom + "[module.voice]\nprogram = \"voice\"\ngrant = [\"blob.put\", \"sound.emit\"]\n[handler.voice]\nsettings = { engine = \"espeak-ng\" }\n"
	h.open(settings)

	begun, let, hushed := make(chan []byte), make(chan error), make(chan bool, 1)
	connected := make(chan bool, 8)
	client := playout.Client{
		URL: h.url, Room: "main", Connected: func() { connected <- true },
		Play: func(ctx context.Context, wav []byte) error {
			begun <- wav
			select {
			case err := <-let:
				return err
			case <-ctx.Done():
				hushed <- true
				return ctx.Err()
			}
		},
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- client.Run(ctx) }()
	<-connected
	if err := client.Run(t.Context()); abi.CodeOf(err) != abi.CodeConflict {
		t.Errorf("a second voice: %v", err)
	}

	heard := func() (all []entry.Heard) {
		for _, e := range h.kinds(entry.KindHeard) {
			b, err := entry.Decode[entry.Heard](e)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, b)
		}
		return all
	}
	// line says something to Aya, and has what she answers played, but for its last part with whole false.
	line := func(whole bool) {
		t.Helper()
		before := len(heard())
		h.say("main", "taro", "Hello Aya, how are you?")
		for {
			select {
			case wav := <-begun:
				if !bytes.HasPrefix(wav, []byte("RIFF")) {
					t.Fatalf("a sound of %d bytes is no WAV", len(wav))
				}
				if !whole {
					return
				}
				let <- nil
			case err := <-done:
				t.Fatalf("the client ended: %v", err)
			default:
				if len(heard()) > before {
					return
				}
			}
		}
	}
	line(true)
	if last := heard()[0]; last.End != entry.EndSaid || last.Why != "played" {
		t.Errorf("the line ended like this: %+v", last)
	}
	line(false)
	if status, answer := h.ask("POST", "/v1/rooms/main/stop", `{"from":"taro"}`); status != http.StatusOK {
		t.Fatal(answer)
	}
	<-hushed
	h.until("the line has ended", func() bool { return len(heard()) == 2 })
	if last := heard()[1]; last.End != entry.EndStopped {
		t.Errorf("the line ended like this: %+v", last)
	}
	h.stop()
	h.openAt(strings.TrimPrefix(h.url, "http://"), settings)
	<-connected
	line(true)
	line(false)
	cancel()
	<-hushed
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("the client ended: %v", err)
	}
}
