package studio

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"image"
	_ "image/jpeg" // of screenshots
	_ "image/png"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/waittest"
	"github.com/companiond/companiond/plugins/obs/client"
	"github.com/companiond/companiond/plugins/obs/realobs"
)

// picture, in the environment, may name a file for a screenshot of the subtitle.
const picture = "COMPANIOND_OBS_PICTURE"

// theOBS is the real one, at a screen of its own.
type theOBS struct {
	*realobs.Studio
	t    *testing.T
	conn *client.Conn // of the test
}

// newOBS starts a screen and OBS, and makes what the test needs in it.
func newOBS(t *testing.T) *theOBS {
	o := &theOBS{Studio: realobs.New(t), t: t}
	o.start()
	return o
}

// start starts OBS, waits until it lets the test in, and makes sources and scenes where they are not there any more.
func (o *theOBS) start() {
	o.t.Helper()
	began := time.Now()
	var err error
	o.Start()
	waittest.Until(o.t, "OBS lets the test in", func() bool {
		o.conn, err = client.Dial(o.t.Context(), realobs.Address, realobs.Password)
		return err == nil
	})
	o.t.Cleanup(o.conn.Close)
	o.t.Logf("OBS with obs-websocket %s is there after %v", o.conn.Version(), time.Since(began).Round(time.Millisecond))
	for _, scene := range []string{"待機", "本番"} {
		o.make("CreateScene", map[string]any{"sceneName": scene})
	}
	o.make("CreateInput", map[string]any{"sceneName": "本番", "inputName": "背景", "inputKind": "color_source_v3", "inputSettings": map[string]any{"color": 0xff402010, "width": 640, "height": 360}})
	o.make("CreateInput", map[string]any{"sceneName": "本番", "inputName": "字幕", "inputKind": "text_ft2_source_v2", "inputSettings": map[string]any{"text": "of the last time", "font": map[string]any{"face": "Noto Sans CJK JP", "size": 48}}})
	o.must("SetCurrentProgramScene", map[string]any{"sceneName": "本番"}, nil)
}

// make makes what may be there already. OBS says for a while after its start that it is not ready.
func (o *theOBS) make(kind string, data any) {
	o.t.Helper()
	const exists = 601
	waittest.Until(o.t, kind+" is done", func() bool {
		err := o.conn.Request(o.t.Context(), kind, data, nil)
		if err != nil && client.CodeOf(err) != exists && client.CodeOf(err) != client.CodeNotReady {
			o.t.Fatal(err)
		}
		return client.CodeOf(err) != client.CodeNotReady
	})
}

func (o *theOBS) must(kind string, data, into any) {
	o.t.Helper()
	if err := o.conn.Request(o.t.Context(), kind, data, into); err != nil {
		o.t.Fatal(err)
	}
}

// text waits until the text source has a text.
func (o *theOBS) text(want string) {
	o.t.Helper()
	var last any
	waittest.Until(o.t, fmt.Sprintf("the subtitle is %q", want), func() bool {
		var got struct{ InputSettings map[string]any }
		o.must("GetInputSettings", map[string]any{"inputName": "字幕"}, &got)
		last = got.InputSettings["text"]
		if font, ok := got.InputSettings["font"].(map[string]any); !ok || font["size"] != 48.0 {
			o.t.Fatalf("more than the text was touched: %v", got.InputSettings)
		}
		return last == want
	})
}

// bright counts the pixels on the air that are bright, as letters are. The picture is kept in a file where one is named.
func (o *theOBS) bright(file string) (n int) {
	o.t.Helper()
	var shot struct{ ImageData string }
	o.must("GetSourceScreenshot", map[string]any{"sourceName": "本番", "imageFormat": "png"}, &shot)
	png, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(shot.ImageData, "data:image/png;base64,"))
	if err != nil {
		o.t.Fatal(err)
	}
	if file != "" {
		if err := os.WriteFile(file, png, 0o600); err != nil {
			o.t.Fatal(err)
		}
	}
	i, _, err := image.Decode(bytes.NewReader(png))
	if err != nil {
		o.t.Fatal(err)
	}
	for y := i.Bounds().Min.Y; y < i.Bounds().Max.Y; y++ {
		for x := i.Bounds().Min.X; x < i.Bounds().Max.X; x++ {
			if r, g, b, _ := i.At(x, y).RGBA(); min(r, g, b) > 0xc000 {
				n++
			}
		}
	}
	return n
}

// enabled says whether an item of a scene is shown.
func (o *theOBS) enabled(scene, item string) bool {
	o.t.Helper()
	var found struct{ SceneItemID int }
	o.must("GetSceneItemId", map[string]any{"sceneName": scene, "sourceName": item}, &found)
	var is struct{ SceneItemEnabled bool }
	o.must("GetSceneItemEnabled", map[string]any{"sceneName": scene, "sceneItemId": found.SceneItemID}, &is)
	return is.SceneItemEnabled
}

// hotkey gives one of OBS that hides an item.
func (o *theOBS) hotkey() string {
	o.t.Helper()
	var all struct{ Hotkeys []string }
	o.must("GetHotkeyList", nil, &all)
	for _, name := range all.Hotkeys {
		if strings.HasPrefix(name, "libobs.hide_scene_item.") && strings.HasSuffix(name, "背景") {
			return name
		}
	}
	o.t.Fatalf("no hotkey hides an item: %q", all.Hotkeys)
	return ""
}

// TestOBS has the handler work with the OBS of Debian.
func TestOBS(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes a while to start OBS")
	}
	if !realobs.Isolate(t) {
		return
	}
	o := newOBS(t)
	hotkey := o.hotkey()
	set := map[string]any{
		"address": realobs.Address, "password": realobs.Password, "subtitle": "字幕", "linger": 0, "vision": "vision",
		"scenes": []string{"待機", "本番"}, "items": []string{"背景"}, "hotkeys": []string{hotkey},
	}
	t.Run("a wrong password", func(t *testing.T) {
		d := newDesk(t, Handler(), map[string]any{"address": realobs.Address, "password": "wrong", "scenes": []string{"待機"}})
		waittest.Until(t, "the log says so", func() bool { return len(d.logged("refuses the password")) == 1 })
		if _, err := d.act("obs.scene", `{"scene":"待機"}`); abi.CodeOf(err) != abi.CodeUnavailable || !strings.Contains(err.Error(), "Show Connect Info") {
			t.Error(err)
		}
		if _, err := client.Dial(t.Context(), realobs.Address, ""); !errors.Is(err, client.ErrNoPassword) {
			t.Error(err)
		}
	})
	d := newDesk(t, Handler(), set)
	o.text("") // what was there of the last time
	d.followed(o)
	d.switched(o, hotkey)
	d.looked()
	d.killed(o)
}

// followed has the subtitle follow a line.
func (d *desk) followed(o *theOBS) {
	d.t.Helper()
	d.shows("aya", abi.Shown{Kind: abi.ShowPiece, Line: "g1", Part: 1, Text: "こんにちは、世界。", Seconds: 60}, abi.Shown{Kind: abi.ShowStarts, Line: "g1", Part: 1})
	o.text("こんにちは、世界。")
	waittest.Until(d.t, "its letters are on the air", func() bool { return o.bright("") > 1000 })
	d.t.Logf("%d bright pixels", o.bright(os.Getenv(picture)))
	d.shows("aya", abi.Shown{Kind: abi.ShowEnd, Line: "g1", End: "said"})
	o.text("")
	waittest.Until(d.t, "its letters are gone", func() bool { return o.bright("") == 0 })
}

// switched has a companion switch scenes, items and hotkeys.
func (d *desk) switched(o *theOBS, hotkey string) {
	d.t.Helper()
	must := func(action, parameters string) {
		d.t.Helper()
		message, err := d.act(action, parameters)
		if err != nil {
			d.t.Fatal(err)
		}
		d.t.Log(message)
	}
	on := func(want string) {
		d.t.Helper()
		scene, err := onAir(d.t.Context(), o.conn)
		if err != nil || scene != want {
			d.t.Errorf("on the air: %s, %v; want %s", scene, err, want)
		}
	}
	must("obs.scene", `{"scene":"待機"}`)
	on("待機")
	must("obs.show", `{"item":"背景","on":false,"scene":"本番"}`)
	if o.enabled("本番", "背景") {
		d.t.Error("it is not hidden")
	}
	if _, err := d.act("obs.show", `{"item":"背景","on":false}`); abi.CodeOf(err) != abi.CodeNotFound { // not in this scene
		d.t.Error(err)
	}
	must("obs.scene", `{"scene":"本番"}`)
	on("本番")
	must("obs.show", `{"item":"背景","on":true}`)
	if !o.enabled("本番", "背景") {
		d.t.Error("it is not shown")
	}
	must("obs.hotkey", fmt.Sprintf(`{"name":%q}`, hotkey))
	waittest.Until(d.t, "the hotkey hides it", func() bool { return !o.enabled("本番", "背景") })
	must("obs.show", `{"item":"背景","on":true}`)
	if _, err := d.act("obs.scene", `{"scene":"Scene"}`); abi.CodeOf(err) != abi.CodeDenied {
		d.t.Error(err)
	}
	on("本番")
}

// looked has a companion look at what is on the air.
func (d *desk) looked() {
	d.t.Helper()
	if _, err := d.act("obs.screenshot", `{}`); err != nil {
		d.t.Fatal(err)
	}
	d.l.Look(func() {
		if len(d.l.Handled.Emitted) != 1 {
			d.t.Fatalf("%d perceptions", len(d.l.Handled.Emitted))
		}
		p := d.l.Handled.Emitted[0]
		i, kind, err := image.Decode(bytes.NewReader(p.Image))
		if err != nil || kind != "jpeg" || p.MediaType != "image/jpeg" || i.Bounds().Dx() != pictureWidth || p.Title != "vision" || p.Companion != "aya" {
			d.t.Fatalf("%s, %v, %+.100v", kind, err, p)
		}
		if r, g, b, _ := i.At(pictureWidth/2, i.Bounds().Dy()-2).RGBA(); r>>8 < 0x08 || r>>8 > 0x18 || g>>8 < 0x18 || g>>8 > 0x28 || b>>8 < 0x38 || b>>8 > 0x48 {
			d.t.Errorf("the background is %x %x %x", r>>8, g>>8, b>>8)
		}
	})
}

// killed has OBS killed and started again.
func (d *desk) killed(o *theOBS) {
	d.t.Helper()
	if err := o.Cmd.Process.Kill(); err != nil {
		d.t.Fatal(err)
	}
	_ = o.Cmd.Wait()
	waittest.Until(d.t, "the log says that OBS is gone", func() bool { return len(d.logged("is lost")) == 1 })
	if _, err := d.act("obs.scene", `{"scene":"本番"}`); abi.CodeOf(err) != abi.CodeUnavailable || !strings.Contains(err.Error(), "start it") {
		d.t.Error(err)
	}
	d.shows("aya", abi.Shown{Kind: abi.ShowPiece, Line: "g2", Part: 1, Text: "ただいま。", Seconds: 600}, abi.Shown{Kind: abi.ShowStarts, Line: "g2", Part: 1})
	o.start()
	if message, err := d.act("obs.scene", `{"scene":"本番"}`); err != nil { // also where its next try is seconds away
		d.t.Error(message, err)
	}
	d.shows("aya", abi.Shown{Kind: abi.ShowPiece, Line: "g2", Part: 2, Text: "戻りました。", Seconds: 600}, abi.Shown{Kind: abi.ShowStarts, Line: "g2", Part: 2})
	o.text("戻りました。")
	if err := d.stop(); err != nil {
		d.t.Error(err)
	}
	o.text("")
	if got := d.logged("connected to OBS"); len(got) != 2 {
		d.t.Errorf("%q", got)
	}
	if got := d.logged("cannot be reached"); len(got) > 0 {
		d.t.Errorf("its loss was said before: %q", got)
	}
}
