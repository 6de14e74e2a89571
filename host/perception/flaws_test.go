package perception_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/card"
)

// The flaws of the AI Companion Protocol's reference server that are the senses' to mend, each with
// the proof that it is gone.

// TestUnknownTitle: any title passed, and none reached the model. One that the
// card does not know is refused with its field, and the title goes with the rest.
func TestUnknownTitle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, 0)
		defer h.run()()
		for _, c := range []struct {
			companion string
			p         card.Percept
			code      abi.Code
			want      string
		}{
			{"nikoni", text("smell", "roses"), abi.CodeNotFound, "title: "},
			{"nikoni", text("", "roses"), abi.CodeNotFound, "title: "},
			{"nikoni", text("vision", "roses"), abi.CodeInvalid, "format: "},
			{"nikoni", object("news", "1"), abi.CodeInvalid, "format: "},
			{"nikoni", card.Percept{Title: "news", Format: "text", Body: []byte("5")}, abi.CodeInvalid, "body"},
			{"aya", text("news", "x"), abi.CodeNotFound, "title: aya has no card"},
			{"nobody", text("news", "x"), abi.CodeNotFound, `companion: there is no "nobody"`},
		} {
			_, err := h.Offer(nobody, c.companion, c.p, "cam")
			if abi.CodeOf(err) != c.code || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s %s: %v", c.companion, c.p.Title, err)
			}
		}
		<-h.must(t, text("news", "x")).Outcome
		if got := h.perceived(); len(got) != 1 || got[0].Title != "news" {
			t.Errorf("%+v", got)
		}
		h.expect(t, map[string]int{"refused": 5, "taken": 1, "judged": 1})
		if n := h.Counts("aya")["refused"]; n != 1 {
			t.Errorf("aya refused %d", n)
		}
	})
}

// TestSessionIsBound: everybody who knew the id could do everything with it. It is
// of no use to anybody but the caller that opened it.
func TestSessionIsBound(t *testing.T) {
	h := newHouse(t, 0)
	guests, err := h.Open("nikoni", "", "")
	if err != nil {
		t.Fatal(err)
	}
	mikas, err := h.Open("momo", "mika", "")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		id, caller, companion string
		code                  abi.Code
	}{
		{guests, "", "nikoni", ""}, {mikas, "mika", "momo", ""},
		{guests, "mika", "", abi.CodeDenied}, {mikas, "", "", abi.CodeDenied}, {mikas, "taro", "", abi.CodeDenied},
	} {
		companion, err := h.Session(c.id, c.caller)
		if companion != c.companion || abi.CodeOf(err) != c.code {
			t.Errorf("%s by %q: %q %v", c.id, c.caller, companion, err)
		}
	}
}

// TestSessionsAreBounded: every POST /init kept an agent for ever.
func TestSessionsAreBounded(t *testing.T) {
	h := newHouse(t, 0)
	var ids []string
	for range 1200 {
		id, err := h.Open("nikoni", "", "")
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	if n := len(ids) - len(h.gone(ids...)); n != 1024 {
		t.Errorf("%d sessions", n)
	}
}

// TestOrderIsKept: perceptions ran in parallel on one memory. They are judged
// one at a time, each title in the order in which it came, from whatever sender.
func TestOrderIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, 0)
		h.takes = 10 * time.Millisecond
		defer h.run()()
		var want []string
		for i := range 60 {
			if _, err := h.Offer(nobody, "nikoni", text("news", fmt.Sprint(i)), fmt.Sprintf("sender%d", i%5)); err != nil {
				t.Fatal(err)
			}
			want = append(want, fmt.Sprintf("%q", fmt.Sprint(i)))
		}
		time.Sleep(time.Minute)
		if got := h.bodies(); !slices.Equal(got, want) || h.twice {
			t.Errorf("%v, at once %v", got, h.twice)
		}
	})
}

// TestEveryFrameWasACall: a camera of 30 frames a second cost 30 calls of a
// language model a second. It costs one in a cool-down.
func TestEveryFrameWasACall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, 0)
		defer h.run()()
		for i := range 30 * 60 {
			h.must(t, object("vision", fmt.Sprint(i)))
			time.Sleep(time.Second / 30)
		}
		time.Sleep(time.Minute)
		got := h.bodies()
		if len(got) > 31 || got[len(got)-1] != fmt.Sprint(30*60-1) {
			t.Errorf("%d judgements in a minute, the last of %s", len(got), got[len(got)-1])
		}
	})
}

// TestBodiesHaveATypeAndABound: a body was a string whatever the format said,
// and of any size. An object is one, an image is bytes of a known kind, and what
// waits is bounded in bytes.
func TestBodiesHaveATypeAndABound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, 0)
		h.takes = time.Hour
		defer h.run()()
		h.must(t, object("touch", `{"at":[1,2]}`))
		synctest.Wait()
		h.must(t, card.Percept{Title: "vision", Format: "image", Body: []byte(`"data:image/png;base64,` + pixel + `"`)})
		time.Sleep(2 * time.Hour)
		if p := h.perceived()[0]; string(p.Body) != `{"at":[1,2]}` || p.Image != nil {
			t.Errorf("%+v", p)
		}
		if p := h.perceived()[1]; p.MediaType != "image/png" || !bytes.HasPrefix(p.Image, []byte("\x89PNG")) || len(p.Body) != 0 {
			t.Errorf("%+v", p)
		}
		for _, body := range []string{`"https://example.com/cat.png"`, `"???"`, `5`, `"` + base64.StdEncoding.EncodeToString([]byte("GIF, no")) + `"`} {
			if _, err := h.Offer(nobody, "nikoni", card.Percept{Title: "vision", Format: "image", Body: []byte(body)}, "cam"); abi.CodeOf(err) != abi.CodeInvalid {
				t.Errorf("%s: %v", body, err)
			}
		}
		big := append([]byte("\x89PNG\r\n\x1a\n"), make([]byte, 9<<20)...)
		_, err := h.Offer(nobody, "nikoni", card.Percept{Title: "vision", Format: "image", Body: []byte(`"` + base64.StdEncoding.EncodeToString(big) + `"`)}, "cam")
		if abi.CodeOf(err) != abi.CodeTooLarge {
			t.Errorf("9 MiB: %v", err)
		}
	})
}
