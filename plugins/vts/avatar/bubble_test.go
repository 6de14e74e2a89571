package avatar_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/plugins/vts/avatar"
	"github.com/companiond/companiond/plugins/vts/studiotest"
	companion "github.com/companiond/companiond/sdk/go"
)

// bubble is the handler beside what stands in for VTube Studio, in fake time.
type bubble struct {
	t        *testing.T
	studio   *studiotest.Studio
	local    *companion.Local
	settings json.RawMessage
	stop     func() error // the Run
}

const token = "token 127.0.0.1:8001"

// akari is a model with a bit of everything.
func akari() *studiotest.Model {
	return &studiotest.Model{
		ID: "m1", Name: "Akari",
		Hotkeys: []studiotest.Hotkey{
			{ID: "h1", Name: "Wave", Type: "TriggerAnimation", File: "wave.motion3.json"},
			{ID: "h2", Name: "Grin", Type: "ToggleExpression", File: "grin.exp3.json"},
			{ID: "h3", Name: "", Type: "Unset"},
		},
		Expressions: []string{"sad.exp3.json", "grin.exp3.json"},
	}
}

// within runs do in a bubble of fake time, with a model loaded. The handler runs once do has said x.run.
func within(t *testing.T, settings string, do func(t *testing.T, x *bubble)) {
	synctest.Test(t, func(t *testing.T) {
		x := &bubble{t: t, studio: studiotest.New(t), settings: json.RawMessage(settings)}
		x.local = companion.NewLocalHandler(avatar.New(x.studio.Dial))
		x.studio.Load(akari())
		do(t, x)
		if x.stop != nil {
			if err := x.stop(); err != nil {
				t.Error(err)
			}
		}
		for _, line := range x.logs() {
			if strings.Contains(line, "studio-token") {
				t.Errorf("the log has the token: %s", line)
			}
		}
	})
}

// run starts the handler's Run.
func (x *bubble) run() {
	ctx, cancel := context.WithCancel(x.t.Context())
	done := make(chan error, 1)
	go func() { done <- x.local.Run(ctx, abi.Running{Companions: []string{"aya"}, Settings: x.settings}) }()
	x.stop = func() error {
		cancel()
		x.stop = nil
		return <-done
	}
	synctest.Wait()
}

// connected waits until VTube Studio has let the handler in, and it knows the model.
func (x *bubble) connected() {
	x.t.Helper()
	x.studio.Until(x.t, "it is let in", func(s *studiotest.State) bool { return s.Sessions == 1 })
	synctest.Wait()
}

func (x *bubble) logs() (logs []string) {
	x.local.Look(func() { logs = append(logs, x.local.Logs...) })
	return logs
}

// logged counts the lines of the log that have a text.
func (x *bubble) logged(text string) (n int) {
	for _, line := range x.logs() {
		if strings.Contains(line, text) {
			n++
		}
	}
	return n
}

func (x *bubble) show(all ...abi.Shown) {
	x.t.Helper()
	if err := x.local.Show(abi.Showing{Companion: "aya", Name: "Aya", Shown: all, Settings: x.settings}); err != nil {
		x.t.Fatal(err)
	}
	synctest.Wait()
}

// act plays an action, and gives its message or error.
func (x *bubble) act(action, parameters string) string {
	did, err := x.local.Act(companion.Acting{ID: "act", Companion: "aya", Action: action, Parameters: json.RawMessage(parameters), Settings: x.settings})
	synctest.Wait()
	if err != nil {
		return err.Error()
	}
	return did.Message
}

// sound puts a timeline and gives its sound.
func (x *bubble) sound(line string, part int, mouth ...abi.Viseme) abi.Shown {
	b, err := json.Marshal(mouth)
	if err != nil {
		x.t.Fatal(err)
	}
	ms, hash := 0, line+string(rune('0'+part))
	for _, v := range mouth {
		ms += v.MS
	}
	x.local.Look(func() {
		if x.local.Handled.Blobs == nil {
			x.local.Handled.Blobs = map[string]abi.Blob{}
		}
		x.local.Handled.Blobs[hash] = abi.Blob{Type: "application/json", Bytes: b}
	})
	return abi.Shown{Kind: abi.ShowSound, Line: line, Part: part, Sound: &abi.Sound{
		Companion: "aya", Line: line, Part: part, Mouth: abi.BlobRef{Hash: hash, Type: "application/json"}, Seconds: float64(ms) / 1000,
	}}
}

func piece(line string, part int, emotion, text string) abi.Shown {
	return abi.Shown{Kind: abi.ShowPiece, Line: line, Part: part, Emotion: emotion, Text: text, Seconds: 1}
}

func starts(line string, part int) abi.Shown {
	return abi.Shown{Kind: abi.ShowStarts, Line: line, Part: part}
}

func end(line string) abi.Shown { return abi.Shown{Kind: abi.ShowEnd, Line: line, End: "said"} }

// injected gives what parameters were given.
func (x *bubble) injected() (all []studiotest.Injected) {
	x.studio.Look(func(s *studiotest.State) { all = append(all, s.Injected...) })
	return all
}

func (x *bubble) active(file string) (on bool) {
	x.studio.Look(func(s *studiotest.State) { on = s.Active[file] })
	return on
}

// contextOf gives one that ends with the test, or before.
func contextOf(t *testing.T) (context.Context, context.CancelFunc) {
	return context.WithCancel(t.Context())
}

// sleep lets time pass.
func sleep(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}
