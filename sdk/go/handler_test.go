package companion_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/companiond/companiond/abi"
	companion "github.com/companiond/companiond/sdk/go"
)

// TestHandler: a handler says what it can do, carries it out, and its errors are told in its own words if it chose
// them, and kept to the log else.
func TestHandler(t *testing.T) {
	l := companion.NewLocalHandler(companion.Handler{
		Name: "Lamp", Actions: []companion.Offer{{Name: "lamp.set"}}, Settings: `{"type":"object"}`, Needs: []string{"http.fetch"},
		Act: func(h *companion.Host, a companion.Acting) (string, error) {
			switch string(a.Parameters) {
			case "1":
				return "", abi.Errorf(abi.CodeUnavailable, "it is broken")
			case "2":
				return "", errors.New("secret path")
			case "3":
				if err := h.TellResult(abi.ResultAsk{ID: "6", Companion: a.Companion, OK: true, Message: "drawn"}); err != nil {
					return "", err
				}
				if _, err := h.ActFor(a.Companion, "speak", map[string]string{"message": "soon"}); err != nil {
					return "", err
				}
				return "", fmt.Errorf("%w: a picture", companion.ErrLater)
			}
			return a.Companion + " set it", h.Set("last", a.ID)
		},
	})
	d, err := l.Describe()
	if err != nil || d.Kind != abi.ActionHandler || !slices.Equal(d.Ops, []string{"describe", "act"}) || len(d.Actions) != 1 || string(d.Settings) != `{"type":"object"}` || !slices.Equal(d.Needs, []string{"http.fetch"}) {
		t.Errorf("%+v, %v", d, err)
	}
	if did, err := l.Act(companion.Acting{ID: "7", Companion: "aya", Action: "lamp.set"}); err != nil || did.Message != "aya set it" || l.KV["last"] != "7" {
		t.Errorf("%+v, %v, %v", did, err, l.KV)
	}
	if _, err := l.Act(companion.Acting{Parameters: json.RawMessage("1")}); abi.CodeOf(err) != abi.CodeUnavailable || !strings.Contains(err.Error(), "it is broken") {
		t.Error(err)
	}
	if _, err := l.Act(companion.Acting{Parameters: json.RawMessage("2")}); abi.CodeOf(err) != abi.CodeInternal || strings.Contains(err.Error(), "secret") || !strings.Contains(strings.Join(l.Logs, "\n"), "secret path") {
		t.Errorf("%v, %q", err, l.Logs)
	}
	if did, err := l.Act(companion.Acting{Companion: "aya", Parameters: json.RawMessage("3")}); err != nil || did != (abi.Acted{Later: true}) || len(l.Handled.Results) != 1 || l.Handled.Results[0].Message != "drawn" || len(l.Played) != 1 || l.Played[0].Companion != "aya" || string(l.Played[0].Parameters) != `{"message":"soon"}` {
		t.Errorf("%+v, %v, %+v", did, err, l.Handled)
	}
	if _, err := l.Vote(companion.Scene{}); abi.CodeOf(err) != abi.CodeUnknownOp {
		t.Errorf("it votes: %v", err)
	}
	if _, err := companion.NewLocalHandler(companion.Handler{Name: "Idle"}).Act(companion.Acting{}); abi.CodeOf(err) != abi.CodeUnknownOp {
		t.Errorf("%v", err)
	}
}

// TestWeb: Fetch asks what a test answers for the web.
func TestWeb(t *testing.T) {
	l := companion.NewLocal(companion.Character{Name: "A", Speak: func(h *companion.Host, s companion.Scene) companion.Line {
		got, err := h.Fetch(abi.FetchAsk{URL: s.Message.Text})
		if err != nil {
			h.Fail(err)
		}
		return companion.Say(got.Text)
	}})
	speak := func(url string) (string, error) {
		line, err := l.Speak(companion.Scene{Message: companion.Message{Text: url}})
		return line.Text, err
	}
	if _, err := speak("https://a.example"); abi.CodeOf(err) != abi.CodeUnavailable {
		t.Error(err)
	}
	l.Web = func(a abi.FetchAsk) (abi.Fetched, error) { return abi.Fetched{Status: 200, Text: "of " + a.URL}, nil }
	if text, err := speak("https://a.example"); err != nil || text != "of https://a.example" {
		t.Errorf("%s, %v", text, err)
	}
	if _, err := speak("ftp://a.example"); abi.CodeOf(err) != abi.CodeInvalid {
		t.Error(err)
	}
}

// TestHandlerOfAllOps: each op reaches its function, also beside one that runs.
func TestHandlerOfAllOps(t *testing.T) {
	running := make(chan struct{})
	l := companion.NewLocalHandler(companion.Handler{
		Name: "All",
		Show: func(h *companion.Host, s abi.Showing) {
			ref, err := h.PutBlob(abi.Blob{Type: "audio/wav", Bytes: []byte(s.Shown[0].Text)})
			if err != nil {
				h.Fail(err)
			}
			if err := h.Sound(abi.Sound{Line: s.Shown[0].Line, Blob: ref}); err != nil {
				h.Fail(err)
			}
		},
		Sense: func(_ *companion.Host, s abi.Sensing) (abi.Sensed, error) {
			return abi.Sensed{Refuse: s.Perception.Title}, nil
		},
		Line: func(_ *companion.Host, l abi.Lining) (abi.Lined, error) { return abi.Lined{Text: l.Text + "!"}, nil },
		Timer: func(h *companion.Host, x abi.Timer) {
			if err := h.SetTimer(abi.TimerAsk{Name: x.Name, After: abi.MinTimer}); err != nil {
				h.Fail(err)
			}
		},
		Run: func(h *companion.Host, r abi.Running) error {
			if _, err := h.Emit(abi.PerceptionAsk{Companion: r.Companions[0], Title: "chat"}); err != nil {
				return err
			}
			close(running)
			<-h.Context().Done()
			_, err := h.Retract(abi.RetractAsk{Companion: r.Companions[0], Key: "7"})
			return err
		},
	})
	if d, err := l.Describe(); err != nil || d.Kind != abi.Handler || !slices.Equal(d.Ops, []string{"describe", "line", "run", "sense", "show", "timer"}) {
		t.Errorf("%+v, %v", d, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ran := make(chan error, 1)
	go func() { ran <- l.Run(ctx, abi.Running{Companions: []string{"aya"}}) }()
	<-running
	if err := l.Show(abi.Showing{Shown: []abi.Shown{{Line: "g-1", Text: "wave"}}}); err != nil {
		t.Error(err)
	}
	if a, err := l.Sense(abi.Sensing{Perception: abi.Percept{Title: "chat"}}); err != nil || a.Refuse != "chat" {
		t.Error(a, err)
	}
	if a, err := l.Line(abi.Lining{Text: "hi"}); err != nil || a.Text != "hi!" {
		t.Error(a, err)
	}
	if err := l.Timer(abi.Timer{Name: "tick"}); err != nil {
		t.Error(err)
	}
	cancel()
	if err := <-ran; err != nil {
		t.Error(err)
	}
	l.Look(func() {
		h := l.Handled
		if len(h.Emitted) != 1 || len(h.Retracted) != 1 || len(h.Timers) != 1 || len(h.Sounds) != 1 || string(h.Blobs[h.Sounds[0].Blob.Hash].Bytes) != "wave" {
			t.Errorf("%+v", h)
		}
	})
}
