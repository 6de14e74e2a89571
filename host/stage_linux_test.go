package host_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/plugins/chat/ircdtest"
	"github.com/companiond/companiond/plugins/obs/client"
	"github.com/companiond/companiond/plugins/obs/realobs"

	"github.com/companiond/companiond/host/waittest"
)

// A whole stage, of programs that are not ours where there are some: a line of an IRC chat is perceived by one companion, which says
// what it thinks of it, and another goes on; espeak-ng says their lines, the overlay's page in Chromium plays and reports them, OBS has the
// subtitles. Nobody speaks before the other was heard.

const stageConfig = handlerRoom + `[modules]
grant = ["say"]
[module.chat]
program = "chat"
grant = ["perception.emit", "perception.retract"]
[handler.chat]
companions = ["aya"]
settings = { twitch = ["stage"], twitch_address = "%s", twitch_tls = false, every = 0.5 }
[module.voice]
program = "voice"
grant = ["blob.put", "sound.emit"]
[handler.voice]
settings = { engine = "espeak-ng", language = "ja" }
[module.obs]
program = "obs"
[handler.obs]
secrets = { password = "%s" }
settings = { address = "%s", subtitle = "字幕", linger = 0 }
`

// TestStage: see above.
func TestStage(t *testing.T) {
	waittest.WithoutRaces(t)
	if _, err := exec.LookPath("espeak-ng"); err != nil {
		t.Skip("no espeak-ng: apt-get install espeak-ng")
	}
	chromium, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("no chromium: apt-get install chromium")
	}
	if !realobs.Isolate(t) {
		return
	}
	chat := ircdtest.Start(t)
	studio := realobs.New(t)
	studio.Start()
	h := newHome(t)
	h.environ = os.Environ()
	for _, id := range []string{"aya", "kyoko"} {
		h.drop(build(t, "./testdata/star", "star", ""), id+".wasm")
	}
	for _, name := range []string{"chat", "voice", "obs"} {
		out := filepath.Join(t.TempDir(), name)
		if b, err := exec.Command("go", "build", "-ldflags=-s -w", "-o", out, "../plugins/"+name).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, b)
		}
		install(t, out, filepath.Join(h.dir, "plugins"), name)
	}
	password := filepath.Join(h.dir, "obs-password")
	if err := os.WriteFile(password, []byte(realobs.Password), 0o600); err != nil {
		t.Fatal(err)
	}
	subtitles := watchOBS(t, h)
	h.open(fmt.Sprintf(stageConfig, chat.Address, password, realobs.Address))
	h.until("the companions are there", func() bool { return len(h.named("aya", "kyoko")) == 2 })
	plays(t, chromium, h.url+"/overlay/main?sound")
	h.say("main", "taro", "はじめます。") // a room that sleeps knows no bodies
	h.until("the page is the mouth of both", func() bool { return h.bodies() == 2 })
	viewer := chat.Viewer("ann", "stage")
	h.until("the second has been heard", func() bool {
		if len(h.kinds(entry.KindPerceived)) == 0 { // the chat may not be read yet
			viewer.Send("PRIVMSG #stage :ねこがすき")
			time.Sleep(200 * time.Millisecond)
		}
		return len(h.kinds(entry.KindHeard)) >= 2
	})
	h.checkStage(subtitles())
}

// plays opens a page in Chromium, without a sound that anybody hears.
func plays(t *testing.T, chromium, url string) {
	args := []string{"--headless", "--disable-gpu", "--mute-audio", "--autoplay-policy=no-user-gesture-required", "--remote-debugging-port=0", "--user-data-dir=" + filepath.Join(t.TempDir(), "chromium"), url}
	if os.Getuid() == 0 {
		args = append([]string{"--no-sandbox"}, args...)
	}
	ctx, cancel := context.WithCancel(context.Background())
	page := exec.CommandContext(ctx, chromium, args...)
	page.WaitDelay = time.Minute
	if err := page.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		_ = page.Wait()
	})
}

// subtitle is what OBS showed from a moment on.
type subtitle struct {
	at   time.Time
	text string
}

// watchOBS makes a source for subtitles, and gives what they were when it is asked.
func watchOBS(t *testing.T, h *home) func() []subtitle {
	var conn *client.Conn
	h.until("OBS lets the test in", func() (ok bool) {
		var err error
		conn, err = client.Dial(t.Context(), realobs.Address, realobs.Password)
		return err == nil
	})
	t.Cleanup(conn.Close)
	for _, step := range []struct {
		kind string
		data map[string]any
	}{
		{"CreateScene", map[string]any{"sceneName": "本番"}},
		{"CreateInput", map[string]any{"sceneName": "本番", "inputName": "字幕", "inputKind": "text_ft2_source_v2", "inputSettings": map[string]any{"text": ""}}},
	} {
		h.until(step.kind, func() bool {
			err := conn.Request(t.Context(), step.kind, step.data, nil)
			if err != nil && client.CodeOf(err) != client.CodeNotReady {
				t.Fatal(err)
			}
			return err == nil
		})
	}
	var mu sync.Mutex
	var all []subtitle
	ctx, stop := context.WithCancel(t.Context())
	var watching sync.WaitGroup
	watching.Go(func() {
		for ctx.Err() == nil {
			var got struct {
				InputSettings struct{ Text string }
			}
			if conn.Request(ctx, "GetInputSettings", map[string]any{"inputName": "字幕"}, &got) != nil {
				return
			}
			mu.Lock()
			if text := got.InputSettings.Text; len(all) == 0 && text != "" || len(all) > 0 && all[len(all)-1].text != text {
				all = append(all, subtitle{time.Now(), text})
			}
			mu.Unlock()
			time.Sleep(20 * time.Millisecond)
		}
	})
	return func() []subtitle {
		stop()
		watching.Wait()
		return all
	}
}

// named gives those of some companions that are loaded.
func (h *home) named(ids ...string) (found []string) {
	var list []struct{ ID, State string }
	h.get("/v1/companions", &list)
	for _, c := range list {
		if slices.Contains(ids, c.ID) && c.State == "ready" {
			found = append(found, c.ID)
		}
	}
	return found
}

// bodies counts those that play.
func (h *home) bodies() (n int) {
	for _, e := range h.kinds(entry.KindBody) {
		if b, err := entry.Decode[entry.Bodies](e); err == nil {
			for _, x := range b.Joined {
				if x.Plays {
					n++
				}
			}
			for _, x := range b.Left {
				if x.Plays {
					n--
				}
			}
		}
	}
	return n
}

// spoken is a line as it was on the stage.
type spoken struct {
	who             string
	parts           []string
	sounds          int
	starts          []time.Time // of its parts
	shown, over     time.Time
	end             entry.End
	played, seconds int
}

// checkStage holds what stands in the journal, and what OBS showed, to what a stage is.
func (h *home) checkStage(subtitles []subtitle) {
	h.t.Helper()
	lines := map[string]*spoken{}
	var order []string
	of := func(id, who string) *spoken {
		if lines[id] == nil {
			lines[id] = &spoken{who: who}
			order = append(order, id)
		}
		return lines[id]
	}
	var began time.Time
	var timeline []subtitle
	tell := func(at time.Time, format string, args ...any) {
		timeline = append(timeline, subtitle{at, fmt.Sprintf(format, args...)})
	}
	for _, e := range h.entries("main") {
		switch e.Kind {
		case entry.KindPerceived:
			b, _ := entry.Decode[entry.Perceived](e)
			began = e.At
			tell(e.At, "%s perceives a line of %s in the chat: %s", b.Who, b.From, b.Body)
			var body struct{ Name, Text, Platform string }
			if err := json.Unmarshal(b.Body, &body); err != nil || b.Who != "aya" || b.From != "ann" || body.Text != "ねこがすき" {
				h.t.Errorf("perceived: %+v, %v", b, err)
			}
		case entry.KindSegment:
			b, _ := entry.Decode[entry.Segment](e)
			l := of(b.Grant, b.Who)
			if len(l.parts) == 0 {
				l.shown = e.At
			}
			l.parts = append(l.parts, b.Text)
			tell(e.At, "%s says part %d: %s", b.Who, b.N, b.Text)
		case entry.KindSound:
			b, _ := entry.Decode[entry.Sound](e)
			tell(e.At, "part %d of %s has a sound of %.2f s by %s %s", b.Part, b.Who, b.Seconds, b.By, b.Failed)
			if l := of(b.Line, b.Who); b.Failed == "" && b.Seconds > 0 && b.Mouth != "" {
				l.sounds++
			}
		case entry.KindPlayed:
			b, _ := entry.Decode[entry.Played](e)
			l := of(b.Line, b.Who)
			switch {
			case b.Failed != "":
				h.t.Errorf("%+v", b)
			case b.Seconds > 0:
				tell(e.At, "the page begins part %d of %s, which takes %.2f s", b.Part, b.Who, b.Seconds)
				l.starts = append(l.starts, e.At)
				l.seconds++
			default:
				tell(e.At, "the page has played %d parts of %s", b.Part, b.Who)
				l.played++
			}
		case entry.KindHeard:
			b, _ := entry.Decode[entry.Heard](e)
			tell(e.At, "the line of %s is over: %s", b.Who, b.End)
			l := of(b.Line, b.Who)
			l.over, l.end = e.At, b.End
		}
	}
	var texts, wanted []string
	for _, s := range subtitles {
		tell(s.at, "OBS shows %q", s.text)
		if s.text != "" {
			texts = append(texts, s.text)
		}
	}
	slices.SortStableFunc(timeline, func(a, b subtitle) int { return a.at.Compare(b.at) })
	for _, x := range timeline {
		h.t.Logf("%7.3f s  %s", x.at.Sub(began).Seconds(), x.text)
	}
	overlaps := 0
	for i, id := range order {
		l := lines[id]
		wanted = append(wanted, l.parts...)
		if len(l.parts) != 2 || l.sounds != 2 || l.seconds != 2 || l.played < 2 || l.end != entry.EndSaid {
			h.t.Errorf("the line of %s: %+v", l.who, l)
		}
		if i > 0 && len(l.starts) > 0 && l.starts[0].Before(lines[order[i-1]].over) {
			overlaps++
		}
	}
	h.t.Logf("%d lines, %d overlaps", len(order), overlaps)
	if len(order) != 2 || lines[order[0]].who != "aya" || lines[order[1]].who != "kyoko" || overlaps > 0 {
		h.t.Errorf("%d lines of %q, %d overlaps", len(order), order, overlaps)
	}
	if !slices.Equal(texts, wanted) {
		h.t.Errorf("OBS showed %s, want %s", strings.Join(texts, " / "), strings.Join(wanted, " / "))
	}
}
