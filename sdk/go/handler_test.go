package companion_test

import (
	"encoding/json"
	"errors"
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
