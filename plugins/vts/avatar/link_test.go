package avatar_test

import (
	"encoding/json"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/waittest"
	"github.com/companiond/companiond/plugins/vts/avatar"
	"github.com/companiond/companiond/plugins/vts/studiotest"
	companion "github.com/companiond/companiond/sdk/go"
)

// A person is asked once, and the token serves every session after.
func TestTheTokenIsAskedForOnce(t *testing.T) {
	within(t, `{}`, func(t *testing.T, x *bubble) {
		for range 3 {
			x.run()
			x.connected()
			if err := x.stop(); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		x.run()
		x.connected()
		x.studio.Look(func(s *studiotest.State) {
			if s.Popups != 1 || s.Count("AuthenticationRequest") != 4 {
				t.Errorf("%d popups, %d sessions", s.Popups, s.Count("AuthenticationRequest"))
			}
		})
		x.local.Look(func() {
			if x.local.KV[token] != "studio-token-1" {
				t.Errorf("the store has %v", x.local.KV)
			}
		})
	})
}

func TestSomebodySaysNo(t *testing.T) {
	within(t, `{}`, func(t *testing.T, x *bubble) {
		x.studio.Answer(studiotest.Deny)
		x.run()
		sleep(4 * time.Minute)
		if got := x.act("vts.hotkey", `{"name":"Wave"}`); !strings.HasPrefix(got, "unavailable: ") || !strings.Contains(got, "somebody said no to companiond") {
			t.Error(got)
		}
		popups := func(want int) {
			t.Helper()
			x.studio.Look(func(s *studiotest.State) {
				if s.Popups != want {
					t.Errorf("asked %d times, want %d", s.Popups, want)
				}
			})
		}
		popups(1)
		sleep(2 * time.Minute)
		popups(2)
		x.studio.Answer(studiotest.Allow)
		sleep(5 * time.Minute)
		x.connected()
		popups(3)
		if got := x.act("vts.hotkey", `{"name":"wave"}`); got != "the hotkey Wave was triggered" {
			t.Error(got)
		}
	})
}

// While a person is asked, an action says what to press.
func TestAPersonTakesTheirTime(t *testing.T) {
	within(t, `{}`, func(t *testing.T, x *bubble) {
		x.studio.Answer(studiotest.Later)
		x.run()
		sleep(3 * time.Minute)
		if got := x.act("vts.move", `{"x":1}`); !strings.Contains(got, "press Allow") {
			t.Error(got)
		}
		x.studio.Decide(true)
		x.connected()
		if got := x.act("vts.move", `{"x":1}`); got != "the avatar moves" {
			t.Error(got)
		}
	})
}

// A plug-in that is asked about already is not asked about again and again.
func TestAnotherIsAskedAlready(t *testing.T) {
	within(t, `{}`, func(t *testing.T, x *bubble) {
		x.studio.Answer(studiotest.Later)
		other := companion.NewLocalHandler(avatar.New(x.studio.Dial))
		done := make(chan error, 1)
		ctx, cancel := contextOf(t)
		go func() { done <- other.Run(ctx, abi.Running{Companions: []string{"kyoko"}}) }()
		synctest.Wait()
		x.run()
		sleep(5 * time.Minute)
		if n := x.logged("press Allow"); n != 1 {
			t.Errorf("said %d times: %q", n, x.logs())
		}
		x.studio.Decide(true)
		x.studio.Answer(studiotest.Allow)
		x.studio.Until(t, "both are in", func(s *studiotest.State) bool { return s.Sessions == 2 })
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// A token that is taken back in VTube Studio is given up, and another is asked for.
func TestThePermissionIsTakenBack(t *testing.T) {
	within(t, `{}`, func(t *testing.T, x *bubble) {
		x.run()
		x.connected()
		x.studio.Revoke()
		if got := x.act("vts.hotkey", `{"name":"Wave"}`); !strings.HasPrefix(got, "unavailable: ") {
			t.Error(got)
		}
		x.connected()
		x.studio.Look(func(s *studiotest.State) {
			if s.Popups != 2 {
				t.Errorf("%d popups", s.Popups)
			}
		})
		x.local.Look(func() {
			if x.local.KV[token] != "studio-token-2" {
				t.Errorf("the store has %v", x.local.KV)
			}
		})
		if got := x.act("vts.hotkey", `{"name":"Wave"}`); got != "the hotkey Wave was triggered" {
			t.Error(got)
		}
		if x.logged("taken back") != 1 {
			t.Errorf("%q", x.logs())
		}
	})
}

// VTube Studio is started late, and closed, and comes back.
func TestItComesAndGoes(t *testing.T) {
	within(t, `{}`, func(t *testing.T, x *bubble) {
		x.studio.Gone(true)
		x.run()
		if got := x.act("vts.move", `{"x":1}`); !strings.Contains(got, "VTube Studio is not there at 127.0.0.1:8001: start it") {
			t.Error(got)
		}
		sleep(time.Hour)
		if n := x.logged("not there"); n != 1 {
			t.Errorf("said %d times in an hour", n)
		}
		x.studio.Gone(false)
		sleep(30 * time.Second) // the longest that it waits
		x.connected()

		x.studio.Gone(true)
		x.studio.Drop()
		sleep(time.Hour)
		if n, m := x.logged("is lost"), x.logged("not there"); n != 1 || m != 1 {
			t.Errorf("lost %d, not there %d: %q", n, m, x.logs())
		}
		x.studio.Gone(false)
		sleep(30 * time.Second)
		x.connected()

		x.studio.Drop()
		sleep(501 * time.Millisecond) // the shortest
		x.connected()
		if n := x.logged("connected to VTube Studio"); n != 3 {
			t.Errorf("connected %d times", n)
		}
	})
}

// Tries come later and later, up to half a minute.
func TestBackOff(t *testing.T) {
	within(t, `{}`, func(t *testing.T, x *bubble) {
		x.studio.Gone(true)
		x.run()
		tries := func(d time.Duration) int {
			before := x.studio.Dials()
			sleep(d)
			return x.studio.Dials() - before
		}
		if n := tries(16 * time.Second); n != 5 { // 0.5, 1.5, 3.5, 7.5, 15.5
			t.Errorf("%d tries in the first 16 s", n)
		}
		tries(time.Minute)
		if n := tries(5 * time.Minute); n != 10 {
			t.Errorf("%d tries in five minutes", n)
		}
	})
}

// One that takes the connection and says nothing does not keep the handler for ever.
func TestItHangs(t *testing.T) {
	within(t, `{}`, func(t *testing.T, x *bubble) {
		x.run()
		x.connected()
		x.studio.Mute(true)
		if got := x.act("vts.move", `{"x":1}`); !strings.Contains(got, "did not answer") {
			t.Error(got)
		}
		x.show(x.sound("l1", 1, abi.Viseme{MS: 60_000, Open: 1}), starts("l1", 1))
		sleep(time.Minute)
		if x.logged("VTube Studio hangs") != 1 {
			t.Errorf("%q", x.logs())
		}
		x.studio.Mute(false)
		sleep(time.Minute)
		x.connected()
	})
}

func TestSettingsThatAreWrong(t *testing.T) {
	for settings, want := range map[string]string{
		`{"address":"localhost"}`: `settings.address: "localhost" is no HOST:PORT`,
		`{"mouth":"my mouth"}`:    `settings.mouth: "my mouth" is no name`,
		`{"emotions":["happy"]}`:  "settings: ",
	} {
		x := companion.NewLocalHandler(avatar.New(nil))
		err := x.Run(t.Context(), abi.Running{Companions: []string{"aya"}, Settings: json.RawMessage(settings)})
		if abi.CodeOf(err) != abi.CodeInvalid || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", settings, err)
		}
	}
}

func TestDescription(t *testing.T) {
	d, err := companion.NewLocalHandler(avatar.New(nil)).Describe()
	if err != nil {
		t.Fatal(err)
	}
	if d.Kind != abi.Handler || strings.Join(d.Ops, " ") != "describe act run show" || !json.Valid(d.Settings) {
		t.Errorf("%+v", d)
	}
	for _, a := range d.Actions {
		if err := abi.CheckName("action", a.Name); err != nil || !json.Valid(a.Schema) || a.Description == "" {
			t.Errorf("%s: %v", a.Name, err)
		}
	}
}

// TestOverTheNetwork: what the other tests do in fake time works over a socket as well.
func TestOverTheNetwork(t *testing.T) {
	s := studiotest.New(t)
	s.Load(akari())
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	t.Cleanup(s.Drop)
	settings, _ := json.Marshal(map[string]any{"address": server.Listener.Addr().String(), "emotions": map[string]string{"happy": "Grin"}})
	local := companion.NewLocalHandler(avatar.New(nil))
	mouth, _ := json.Marshal([]abi.Viseme{{MS: 200, Open: 0.5, Shape: "a"}})
	local.Handled.Blobs = map[string]abi.Blob{"m": {Bytes: mouth}}
	ctx, cancel := contextOf(t)
	done := make(chan error, 1)
	go func() { done <- local.Run(ctx, abi.Running{Companions: []string{"aya"}, Settings: settings}) }()
	s.Until(t, "it is let in, and knows the model", func(s *studiotest.State) bool { return s.Sessions == 1 && s.Count("InputParameterListRequest") == 1 })
	waittest.Until(t, "an action is carried out", func() bool {
		did, err := local.Act(companion.Acting{Companion: "aya", Action: "vts.move", Parameters: json.RawMessage(`{"x":1}`), Settings: settings})
		return err == nil && did.Message == "the avatar moves"
	})
	shown := []abi.Shown{piece("l1", 1, "happy", "a"), {Kind: abi.ShowSound, Line: "l1", Part: 1, Sound: &abi.Sound{Mouth: abi.BlobRef{Hash: "m"}}}, starts("l1", 1)}
	if err := local.Show(abi.Showing{Companion: "aya", Settings: settings, Shown: shown}); err != nil {
		t.Fatal(err)
	}
	s.Until(t, "it grins, and the mouth opens and shuts", func(s *studiotest.State) bool {
		open := slices.ContainsFunc(s.Injected, func(v studiotest.Injected) bool { return v.Value == 0.5 })
		return s.Active["grin.exp3.json"] && open && s.Injected[len(s.Injected)-1].Value == 0
	})
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}
