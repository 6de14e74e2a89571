package studio

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/waittest"
	"github.com/companiond/companiond/plugins/obs/client"
	"github.com/companiond/companiond/plugins/obs/obstest"
	companion "github.com/companiond/companiond/sdk/go"
)

// desk is the handler beside a server.
type desk struct {
	t        *testing.T
	l        *companion.Local
	settings json.RawMessage
	stop     func() error // ends the run
}

// newDesk has a handler run for aya and kyoko.
func newDesk(t *testing.T, h companion.Handler, settings map[string]any) *desk {
	t.Helper()
	text, err := json.Marshal(settings)
	if err != nil {
		t.Fatal(err)
	}
	d := &desk{t: t, l: companion.NewLocalHandler(h), settings: text}
	ctx, cancel := context.WithCancel(t.Context())
	ran := make(chan error, 1)
	go func() { ran <- d.l.Run(ctx, abi.Running{Companions: []string{"aya", "kyoko"}, Settings: text}) }()
	stopped := false
	d.stop = func() error {
		stopped = true
		cancel()
		return <-ran
	}
	t.Cleanup(func() {
		if !stopped {
			if err := d.stop(); err != nil {
				t.Error(err)
			}
		}
	})
	return d
}

// beside is the settings of a handler beside a server, with others.
func beside(o *obstest.OBS, others ...any) map[string]any {
	s := map[string]any{"address": o.Address, "password": obstest.Password}
	for i := 0; i < len(others); i += 2 {
		s[others[i].(string)] = others[i+1]
	}
	return s
}

func (d *desk) shows(companion string, x ...abi.Shown) {
	d.t.Helper()
	if err := d.l.Show(abi.Showing{Companion: companion, Name: "Aya", Shown: x, Settings: d.settings}); err != nil {
		d.t.Error(err)
	}
}

func (d *desk) act(action, parameters string) (string, error) {
	did, err := d.l.Act(companion.Acting{ID: "1", Companion: "aya", Action: action, Parameters: json.RawMessage(parameters), Settings: d.settings})
	return did.Message, err
}

// logged gives the lines of the log with a word in them.
func (d *desk) logged(word string) (lines []string) {
	d.l.Look(func() {
		for _, line := range d.l.Logs {
			if strings.Contains(line, word) {
				lines = append(lines, line)
			}
		}
	})
	return lines
}

// written holds that the next request, actions left out, writes a text into the text source, and nothing else of it.
func written(t *testing.T, o *obstest.OBS, text string) {
	t.Helper()
	want, _ := json.Marshal(map[string]any{"inputName": "字幕", "inputSettings": map[string]string{"text": text}, "overlay": true})
	r := o.Next()
	for r.Type == "SetCurrentProgramScene" { // of an action beside it
		r = o.Next()
	}
	if r.Type != "SetInputSettings" || string(r.Data) != string(want) {
		t.Fatalf("%s %s, want %s", r.Type, r.Data, want)
	}
}

// TestDescribe: what the daemon is told, which has to be schemas of an object each.
func TestDescribe(t *testing.T) {
	d, err := companion.NewLocalHandler(Handler()).Describe()
	if err != nil || d.Kind != abi.Handler || !slices.Equal(d.Ops, []string{"describe", "act", "run", "show"}) || len(d.Needs) > 0 {
		t.Errorf("%+v, %v", d, err)
	}
	var settings struct {
		Properties map[string]struct{ Type, Description string }
	}
	if err := json.Unmarshal(d.Settings, &settings); err != nil {
		t.Fatal(err)
	}
	var known map[string]any
	text, _ := json.Marshal(settingsOf(t, `{}`))
	if err := json.Unmarshal(text, &known); err != nil || len(known) != len(settings.Properties) {
		t.Errorf("%d settings, %d in the schema; %v", len(known), len(settings.Properties), err)
	}
	for name, p := range settings.Properties {
		if _, ok := known[name]; !ok || p.Description == "" || p.Type == "" {
			t.Errorf("%s: %+v", name, p)
		}
	}
	for _, a := range d.Actions {
		var s struct{ Type string }
		if err := json.Unmarshal(a.Schema, &s); err != nil || s.Type != "object" || a.Description == "" {
			t.Errorf("%s: %v", a.Name, err)
		}
	}
}

func settingsOf(t *testing.T, text string) settings {
	t.Helper()
	s, err := read(json.RawMessage(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestSettings: what is usual is filled in, and what cannot be read is not said again.
func TestSettings(t *testing.T) {
	if s := settingsOf(t, ``); s.Address != "ws://127.0.0.1:4455" || s.linger() != 2*time.Second {
		t.Errorf("%+v, %v", s, s.linger())
	}
	if s := settingsOf(t, `{"address":"ws://192.0.2.7:1","linger":0}`); s.Address != "ws://192.0.2.7:1" || s.linger() != 0 {
		t.Errorf("%+v, %v", s, s.linger())
	}
	if settingsOf(t, `{"name":"x","every":5}`).same() != settingsOf(t, ` {"every":5.0, "name":"x"}`).same() {
		t.Error("the same settings differ")
	}
	for text, why := range map[string]string{`{"password":["hunter2"]}`: "password is a array", `hunter2`: "no object"} {
		if _, err := read(json.RawMessage(text)); abi.CodeOf(err) != abi.CodeInvalid || !strings.Contains(err.Error(), why) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", text, err)
		}
	}
	d := &desk{t: t, l: companion.NewLocalHandler(Handler()), settings: json.RawMessage(`7`)}
	if err := d.l.Run(t.Context(), abi.Running{Settings: d.settings}); abi.CodeOf(err) != abi.CodeInvalid {
		t.Error(err)
	}
	if err := d.l.Show(abi.Showing{Settings: d.settings}); abi.CodeOf(err) != abi.CodeInvalid {
		t.Error(err)
	}
	if _, err := d.act("obs.scene", `{"scene":"x"}`); abi.CodeOf(err) != abi.CodeInvalid {
		t.Error(err)
	}
}

// TestSubtitle: what a body says is written when it begins it, and cleared after its end; others than the handler's
// companions say nothing here. When the handler ends nothing is left behind.
func TestSubtitle(t *testing.T) {
	o := obstest.New(t)
	d := newDesk(t, Handler(), beside(o, "subtitle", "字幕", "linger", 0, "name", "{name}: "))
	written(t, o, "") // of the last time
	d.shows("stranger", abi.Shown{Kind: abi.ShowPiece, Line: "s1", Part: 1, Text: "none of ours"}, abi.Shown{Kind: abi.ShowStarts, Line: "s1", Part: 1})
	d.shows("aya", abi.Shown{Kind: abi.ShowPiece, Line: "g1", Part: 1, Text: "こんにちは、", Seconds: 1}, abi.Shown{Kind: abi.ShowStarts, Line: "g1", Part: 1})
	written(t, o, "Aya: こんにちは、")
	d.shows("aya", abi.Shown{Kind: abi.ShowPiece, Line: "g1", Part: 2, Text: "世界。", Seconds: 1}, abi.Shown{Kind: abi.ShowStarts, Line: "g1", Part: 2})
	written(t, o, "Aya: 世界。")
	d.shows("aya", abi.Shown{Kind: abi.ShowEnd, Line: "g1", End: "said"})
	written(t, o, "")
	d.shows("kyoko", abi.Shown{Kind: abi.ShowPiece, Line: "k1", Part: 1, Text: "また。", Seconds: 60}, abi.Shown{Kind: abi.ShowStarts, Line: "k1", Part: 1})
	written(t, o, "Aya: また。")
	if err := d.stop(); err != nil {
		t.Error(err)
	}
	written(t, o, "")
}

// TestNoSubtitle: without a source of that name the log says once what to do, and it is written when there is one; an OBS that
// is not ready is asked again.
func TestNoSubtitle(t *testing.T) {
	o := obstest.New(t)
	codes := []int{207, 600, 600, 0, 500, 0}
	o.Answer = func(obstest.Request) obstest.Answer {
		a := obstest.Answer{Code: codes[0], Comment: "of OBS"}
		codes = codes[1:]
		return a
	}
	d := newDesk(t, Handler(), beside(o, "subtitle", "字幕"))
	says := func(line, text string) {
		d.shows("aya", abi.Shown{Kind: abi.ShowPiece, Line: line, Part: 1, Text: text, Seconds: 60}, abi.Shown{Kind: abi.ShowStarts, Line: line, Part: 1})
	}
	written(t, o, "")
	written(t, o, "") // again, as it was not ready
	says("g1", "one")
	written(t, o, "one")
	says("g2", "two")
	written(t, o, "two")
	says("g3", "three")
	written(t, o, "three")
	waittest.Until(t, "the log says what came of the last", func() bool { return len(d.logged("code 500")) > 0 })
	if err := d.stop(); err != nil {
		t.Error(err)
	}
	if got := d.logged("settings.subtitle"); len(got) != 1 || !strings.HasPrefix(got[0], "WARN") || !strings.Contains(got[0], `no source "字幕"`) {
		t.Errorf("%q", got)
	}
	if got := d.logged("cannot be written"); len(got) != 1 || !strings.Contains(got[0], "code 500: of OBS") {
		t.Errorf("%q", got)
	}
}

// TestReconnects: the loss of OBS is logged once; when it is there again so is the subtitle.
func TestReconnects(t *testing.T) {
	o := obstest.New(t)
	d := newDesk(t, Handler(), beside(o, "subtitle", "字幕", "scenes", []string{"a"}))
	written(t, o, "")
	d.shows("aya", abi.Shown{Kind: abi.ShowPiece, Line: "g1", Part: 1, Text: "still", Seconds: 600}, abi.Shown{Kind: abi.ShowStarts, Line: "g1", Part: 1})
	written(t, o, "still")
	o.Drop()
	written(t, o, "still")
	o.Drop()
	if message, err := d.act("obs.scene", `{"scene":"a"}`); err != nil || message != "OBS shows the scene a" {
		// it waits for the connection, and may have had the one that has just gone
		if abi.CodeOf(err) != abi.CodeUnavailable {
			t.Error(message, err)
		}
	}
	written(t, o, "still")
	o.Close()
	waittest.Until(t, "the log says that OBS is gone", func() bool { return len(d.logged("is lost")) == 3 })
	for range 3 { // each has it tried once more
		if _, err := d.act("obs.scene", `{"scene":"a"}`); abi.CodeOf(err) != abi.CodeUnavailable {
			t.Error(err)
		}
	}
	if err := d.stop(); err != nil {
		t.Error(err)
	}
	if lost, back, absent := d.logged("is lost"), d.logged("connected to OBS"), d.logged("cannot be reached"); len(lost) != 3 || len(back) != 3 || len(absent) > 0 {
		t.Errorf("%q, %q, %q", lost, back, absent)
	}
}

// TestActions: what is requested of OBS for each action, and what the companion is told.
func TestActions(t *testing.T) {
	o := obstest.New(t)
	o.Answer = func(r obstest.Request) obstest.Answer {
		switch {
		case r.Type == "GetCurrentProgramScene":
			return obstest.Answer{Data: map[string]any{"currentProgramSceneName": "本番"}}
		case r.Type == "GetSceneItemId" && strings.Contains(string(r.Data), "gone"):
			return obstest.Answer{Code: 600, Comment: "No scene items were found."}
		case r.Type == "GetSceneItemId":
			return obstest.Answer{Data: map[string]any{"sceneItemId": 7}}
		case r.Type == "TriggerHotkeyByName":
			return obstest.Answer{Code: 402, Comment: "no"}
		}
		return obstest.Answer{}
	}
	d := newDesk(t, Handler(), beside(o, "scenes", []string{"待機", "本番"}, "items", []string{"猫", "gone"}, "hotkeys", []string{"OBSBasic.StartRecording"}))
	for _, x := range []struct{ action, parameters, message, requests string }{
		{"obs.scene", `{"scene":"待機"}`, "OBS shows the scene 待機", `SetCurrentProgramScene {"sceneName":"待機"}`},
		{"obs.show", `{"item":"猫","on":false}`, "猫 is hidden in the scene 本番", `GetCurrentProgramScene  GetSceneItemId {"sceneName":"本番","sourceName":"猫"} SetSceneItemEnabled {"sceneItemEnabled":false,"sceneItemId":7,"sceneName":"本番"}`},
		{"obs.show", `{"item":"猫","on":true,"scene":"待機"}`, "猫 is shown in the scene 待機", `GetSceneItemId {"sceneName":"待機","sourceName":"猫"} SetSceneItemEnabled {"sceneItemEnabled":true,"sceneItemId":7,"sceneName":"待機"}`},
		{"obs.show", `{"item":"gone","on":true,"scene":"待機"}`, "not_found: OBS refuses GetSceneItemId with code 600: No scene items were found.", `GetSceneItemId {"sceneName":"待機","sourceName":"gone"}`},
		{"obs.hotkey", `{"name":"OBSBasic.StartRecording"}`, "invalid: OBS refuses TriggerHotkeyByName with code 402: no", `TriggerHotkeyByName {"hotkeyName":"OBSBasic.StartRecording"}`},
		{"obs.scene", `{"scene":"秘密"}`, `denied: parameters.scene: "秘密" is not among those that are allowed: 待機, 本番`, ""},
		{"obs.show", `{"item":"犬","on":true}`, `denied: parameters.item: "犬" is not among those that are allowed: 猫, gone`, ""},
		{"obs.hotkey", `{"name":""}`, `denied: parameters.name: "" is not among those that are allowed: OBSBasic.StartRecording`, ""},
		{"obs.screenshot", `{}`, `denied: nothing says which perception a screenshot becomes: write the title of one of the card's, such as vision = "vision", into the settings of the handler`, ""},
		{"obs.dance", ``, `invalid: action: there is no "obs.dance" here`, ""},
		{"obs.scene", `7`, `invalid: parameters: json: cannot unmarshal number into Go value of type struct { Scene string; Item string; Name string; On bool }`, ""},
	} {
		before := len(o.Requests())
		message, err := d.act(x.action, x.parameters)
		if err != nil {
			message = err.Error()
		}
		var asked []string
		for _, r := range o.Requests()[before:] {
			asked = append(asked, r.Type+" "+string(r.Data))
		}
		if got := strings.Join(asked, " "); message != x.message && x.parameters != "7" || got != x.requests {
			t.Errorf("%s %s: %s, %s", x.action, x.parameters, message, got)
		}
	}
}

// TestNothingIsAllowed: without lists nothing is, OBS is not asked, and it is said which setting would.
func TestNothingIsAllowed(t *testing.T) {
	d := &desk{t: t, l: companion.NewLocalHandler(Handler()), settings: json.RawMessage(`{}`)}
	for action, why := range map[string]string{"obs.scene": `scenes = ["..."]`, "obs.show": `items = ["..."]`, "obs.hotkey": `hotkeys = ["..."]`, "obs.screenshot": `vision = "vision"`} {
		if _, err := d.act(action, `{}`); abi.CodeOf(err) != abi.CodeDenied || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v", action, err)
		}
	}
}

// TestScreenshots: a picture is perceived by who looked, or from time to time by all; a newer one takes the place of
// one that was not looked at. A picture that is none is an error.
func TestScreenshots(t *testing.T) {
	o := obstest.New(t)
	picture := "data:image/jpg;base64," + base64.StdEncoding.EncodeToString([]byte("JPEG"))
	o.Answer = func(r obstest.Request) obstest.Answer {
		return obstest.Answer{Data: map[string]any{"currentProgramSceneName": "本番", "imageData": picture}}
	}
	d := newDesk(t, Handler(), beside(o, "vision", "vision"))
	if message, err := d.act("obs.screenshot", `{}`); err != nil || message != "a picture of it is perceived as vision" {
		t.Error(message, err)
	}
	if _, err := d.l.Act(companion.Acting{ID: "2", By: "mika", Action: "obs.screenshot", Settings: d.settings}); abi.CodeOf(err) != abi.CodeDenied {
		t.Errorf("for a person, who perceives nothing: %v", err)
	}
	if o.Next(); string(o.Next().Data) != `{"imageFormat":"jpg","imageWidth":1024,"sourceName":"本番"}` {
		t.Errorf("%+v", o.Requests())
	}
	want := abi.PerceptionAsk{Companion: "aya", Title: "vision", Image: []byte("JPEG"), MediaType: "image/jpeg", Key: key}
	d.l.Look(func() {
		h := d.l.Handled
		if len(h.Emitted) != 1 || string(h.Emitted[0].Image) != "JPEG" || h.Emitted[0].Companion != "aya" || h.Emitted[0].Title != want.Title || h.Emitted[0].MediaType != want.MediaType || h.Emitted[0].Key != h.Retracted[0].Key {
			t.Errorf("%+v", h)
		}
	})
	for bad, code := range map[string]abi.Code{
		"": abi.CodeUnavailable, "data:image/jpg;base64,": abi.CodeUnavailable, "data:image/jpg;base64,***": abi.CodeUnavailable,
		"data:image/jpg;base64," + base64.StdEncoding.EncodeToString(make([]byte, abi.MaxBlob+1)): abi.CodeTooLarge,
	} {
		picture = bad
		if _, err := d.act("obs.screenshot", `{}`); abi.CodeOf(err) != code {
			t.Errorf("%.40q: %v", bad, err)
		}
	}
}

// TestPatience: an OBS that is not there is tried later and later, and the log says so once, but an action has it tried
// at once; a wrong password is said once, too, and not tried often.
func TestPatience(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex // of what follows
		var tries []time.Duration
		began, why := time.Now(), error(&net.OpError{Op: "dial", Err: errors.New("refused")})
		s := &studio{dial: func(ctx context.Context, address, password string) (*client.Conn, error) {
			if address != usualAddress || password != "hunter2" {
				t.Errorf("%q, %q", address, password)
			}
			mu.Lock()
			defer mu.Unlock()
			tries = append(tries, time.Since(began))
			return nil, why
		}}
		d := newDesk(t, s.handler(), map[string]any{"password": "hunter2", "scenes": []string{"a"}})
		tried := func() []time.Duration {
			mu.Lock()
			defer mu.Unlock()
			return slices.Clone(tries)
		}
		time.Sleep(70 * time.Second)
		want := []time.Duration{0, 500 * time.Millisecond, 1500 * time.Millisecond, 3500 * time.Millisecond, 7500 * time.Millisecond, 15500 * time.Millisecond, 31500 * time.Millisecond, 61500 * time.Millisecond}
		if got := tried(); !slices.Equal(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
		if _, err := d.act("obs.scene", `{"scene":"a"}`); abi.CodeOf(err) != abi.CodeUnavailable || !strings.Contains(err.Error(), "start it") {
			t.Error(err)
		}
		if last := tried()[len(want)]; last != 70*time.Second {
			t.Errorf("tried %v after the beginning", last)
		}
		if got := d.logged("cannot be reached at " + usualAddress); len(got) != 1 {
			t.Errorf("%q", got)
		}
		mu.Lock()
		why = client.ErrPassword
		mu.Unlock()
		if _, err := d.act("obs.scene", `{"scene":"a"}`); abi.CodeOf(err) != abi.CodeUnavailable || !strings.Contains(err.Error(), "Show Connect Info") {
			t.Error(err)
		}
		before := len(tried())
		time.Sleep(10*time.Minute + time.Second)
		if n := len(tried()) - before; n != 20 {
			t.Errorf("%d tries with a wrong password in ten minutes", n)
		}
		if err := d.stop(); err != nil {
			t.Error(err)
		}
		if all := d.logged(""); len(all) != 2 || len(d.logged("refuses the password")) != 1 || len(d.logged("hunter2")) > 0 {
			t.Errorf("%q", all)
		}
	})
	synctest.Test(t, func(t *testing.T) { // before the first try, or where nothing runs, an action waits for a moment
		d := &desk{t: t, l: companion.NewLocalHandler((&studio{}).handler()), settings: json.RawMessage(`{"scenes":["a"]}`)}
		began := time.Now()
		if _, err := d.act("obs.scene", `{"scene":"a"}`); abi.CodeOf(err) != abi.CodeUnavailable || time.Since(began) != soon {
			t.Error(time.Since(began), err)
		}
	})
}

// TestWhy: why OBS is not to be had, in words that say what to do.
func TestWhy(t *testing.T) {
	st := &station{settings: settings{Address: "ws://me:hunter2@h"}}
	_, bad := client.Dial(t.Context(), st.Address, "")
	if got := st.absent(bad); !strings.HasPrefix(got.Error(), "settings.address: ") || strings.Contains(got.Error(), "hunter2") {
		t.Error(got)
	}
	st.Address = "ws://h:1"
	for err, why := range map[error]string{
		&net.OpError{Op: "dial"}: "start it", context.DeadlineExceeded: "start it", errors.New("odd"): "cannot be used: odd", client.ErrNoPassword: "secrets",
	} {
		if got := st.absent(err); !strings.Contains(got.Error(), why) {
			t.Errorf("%v: %v", err, got)
		}
	}
}
