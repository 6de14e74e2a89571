package avatar_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/plugins/vts/studiotest"
)

// The mouth follows the sound thirty times a second, shuts, and is VTube Studio's own again.
func TestTheMouthMoves(t *testing.T) {
	within(t, `{}`, func(t *testing.T, x *bubble) {
		x.run()
		x.connected()
		x.show(piece("l1", 1, "", "ai"), x.sound("l1", 1, abi.Viseme{MS: 1000, Open: 0.8, Shape: "a"}, abi.Viseme{MS: 2000, Open: 0.4, Shape: "i"}))
		sleep(5 * time.Second)
		if n := len(x.injected()); n != 0 {
			t.Fatalf("%d values before it is said", n)
		}
		begun := time.Now()
		x.show(starts("l1", 1))
		sleep(500 * time.Millisecond)
		if v := x.studio.Value("MouthOpen"); v != 0.8 {
			t.Errorf("half a second in it is %v", v)
		}
		sleep(2 * time.Second)
		if v := x.studio.Value("MouthOpen"); v != 0.4 {
			t.Errorf("two seconds on it is %v", v)
		}
		sleep(time.Hour)
		all := x.injected()
		if n := len(all); n < 90 || n > 92 {
			t.Errorf("%d values in three seconds", n)
		}
		for i, v := range all[1:] {
			if d := v.At.Sub(all[i].At); d > time.Second/30+time.Microsecond {
				t.Errorf("value %d came %v after the one before", i+1, d)
			}
		}
		last := all[len(all)-1]
		if late := last.At.Sub(begun) - 3*time.Second; last.Value != 0 || last.ID != "MouthOpen" || late < 0 || late > time.Second/30 {
			t.Errorf("the last is %+v", last)
		}
	})
}

// VTube Studio forgets a value that is not sent again within a second: a mouth that stays open is sent all the same.
func TestAMouthThatStaysOpen(t *testing.T) {
	within(t, `{}`, func(t *testing.T, x *bubble) {
		x.run()
		x.connected()
		x.show(x.sound("l1", 1, abi.Viseme{MS: 20_000, Open: 0.5}), starts("l1", 1))
		for range 19 {
			sleep(time.Second)
			if v := x.studio.Value("MouthOpen"); v != 0.5 {
				t.Fatalf("it is %v", v)
			}
		}
		sleep(10 * time.Second)
		if v := x.studio.Value("MouthOpen"); v != 0 {
			t.Errorf("it is %v at last", v)
		}
	})
}

func TestTheMouthShutsAtOnce(t *testing.T) {
	for _, last := range []abi.Shown{end("l1"), {Kind: abi.ShowStop}} {
		within(t, `{}`, func(t *testing.T, x *bubble) {
			x.run()
			x.connected()
			x.show(x.sound("l1", 1, abi.Viseme{MS: 20_000, Open: 0.5}), starts("l1", 1))
			sleep(time.Second + 5*time.Millisecond)
			x.show(last)
			all := x.injected()
			if v := all[len(all)-1]; v.Value != 0 || time.Since(v.At) != 0 {
				t.Errorf("%s: %+v", last.Kind, v)
			}
			sleep(time.Minute)
			if n := len(x.injected()); n != len(all) {
				t.Errorf("%s: %d more values", last.Kind, n-len(all))
			}
		})
	}
}

func TestGuess(t *testing.T) {
	for settings, moves := range map[string]bool{`{}`: false, `{"guess":true}`: true} {
		within(t, settings, func(t *testing.T, x *bubble) {
			x.run()
			x.connected()
			x.show(piece("l1", 1, "", "こんにちは"), starts("l1", 1))
			sleep(time.Minute)
			if n := len(x.injected()); n > 0 != moves {
				t.Errorf("%s: %d values", settings, n)
			}
		})
	}
}

// A line that is said while the connection is lost goes on where it is when the connection is there again.
func TestTheMouthAfterAReconnect(t *testing.T) {
	within(t, `{}`, func(t *testing.T, x *bubble) {
		x.run()
		x.connected()
		x.show(x.sound("l1", 1, abi.Viseme{MS: 2000, Open: 0.5}, abi.Viseme{MS: 8000, Open: 0.7}), starts("l1", 1))
		sleep(time.Second)
		x.studio.Drop()
		sleep(3 * time.Second)
		x.connected()
		if v := x.studio.Value("MouthOpen"); v != 0.7 {
			t.Errorf("it is %v", v)
		}
	})
}

func TestWhichParameterTheMouthIs(t *testing.T) {
	for name, c := range map[string]struct {
		settings string
		forget   []string
		want     string
		logs     string
	}{
		"the usual one":       {`{}`, nil, "MouthOpen", "the mouth is MouthOpen"},
		"the next usual one":  {`{}`, []string{"MouthOpen"}, "VoiceVolumePlusMouthOpen", ""},
		"one that is made":    {`{}`, []string{"MouthOpen", "VoiceVolumePlusMouthOpen", "VoiceVolume"}, "CompanionMouth", "the mouth is CompanionMouth"},
		"one that is wanted":  {`{"mouth":"MouthSmile"}`, nil, "MouthSmile", ""},
		"made, as it is told": {`{"mouth":"CompanionMouth"}`, nil, "CompanionMouth", ""},
		"one that is missing": {`{"mouth":"MouthOpne"}`, nil, "", `VTube Studio has no parameter "MouthOpne", and the mouth does not move; it has ["FaceAngleX" "MouthOpen"`},
	} {
		t.Run(name, func(t *testing.T) {
			within(t, c.settings, func(t *testing.T, x *bubble) {
				for _, id := range c.forget {
					x.studio.Forget(id)
				}
				x.run()
				x.connected()
				x.show(x.sound("l1", 1, abi.Viseme{MS: 1000, Open: 1}), starts("l1", 1))
				sleep(500 * time.Millisecond)
				all := x.injected()
				if c.want == "" {
					if len(all) > 0 {
						t.Errorf("%+v", all)
					}
				} else if x.studio.Value(c.want) != 1 || all[0].ID != c.want {
					t.Errorf("%s is %v, %+v", c.want, x.studio.Value(c.want), all)
				}
				if x.logged(c.logs) == 0 {
					t.Errorf("%q", x.logs())
				}
			})
		})
	}
}

// A parameter that a person deletes while it is used is refused, and another is taken.
func TestTheParameterIsDeleted(t *testing.T) {
	within(t, `{}`, func(t *testing.T, x *bubble) {
		x.run()
		x.connected()
		x.show(x.sound("l1", 1, abi.Viseme{MS: 20_000, Open: 0.5}), starts("l1", 1))
		sleep(time.Second)
		for _, id := range []string{"MouthOpen", "VoiceVolumePlusMouthOpen", "VoiceVolume", "CompanionMouth"} {
			x.studio.Forget(id)
			sleep(2 * time.Second)
		}
		if v := x.studio.Value("CompanionMouth"); v != 0.5 {
			t.Errorf("it is %v: %q", v, x.logs())
		}
		refused, lists := 0, 0
		x.studio.Look(func(s *studiotest.State) {
			lists = s.Count("InputParameterListRequest")
			for _, a := range s.Asked {
				if a.Err == 453 {
					refused++
				}
			}
		})
		if refused == 0 || lists < 4 || lists > 8 {
			t.Errorf("%d refused, %d lists", refused, lists)
		}
	})
}

// A mouth that another plugin moves is told of once.
func TestAnotherPluginHasTheMouth(t *testing.T) {
	within(t, `{}`, func(t *testing.T, x *bubble) {
		other := &bubble{t: t, studio: x.studio, local: x.local, settings: json.RawMessage(`{"guess":false}`)}
		x.run()
		x.connected()
		x.show(x.sound("l1", 1, abi.Viseme{MS: 9_000, Open: 0.5}), starts("l1", 1))
		other.run()
		sleep(time.Second)
		other.show(x.sound("l2", 1, abi.Viseme{MS: 3_000, Open: 1}), starts("l2", 1))
		sleep(time.Second)
		if v := x.studio.Value("MouthOpen"); v != 0.5 {
			t.Errorf("it is %v", v)
		}
		sleep(20 * time.Second)
		if n := x.logged("the mouth cannot be moved by MouthOpen: VTube Studio says: another plugin controls MouthOpen (454)"); n != 1 {
			t.Errorf("told %d times: %q", n, x.logs())
		}
		if err := other.stop(); err != nil {
			t.Error(err)
		}
	})
}

// Nothing moves by what another companion's room shows, or is shown to another handler.
func TestShownToAnother(t *testing.T) {
	within(t, `{}`, func(t *testing.T, x *bubble) {
		x.run()
		x.connected()
		said := x.sound("l1", 1, abi.Viseme{MS: 1000, Open: 1})
		for _, s := range []abi.Showing{
			{Companion: "kyoko", Settings: x.settings, Shown: []abi.Shown{said, starts("l1", 1)}},
			{Companion: "aya", Settings: json.RawMessage(`{"guess":true}`), Shown: []abi.Shown{said, starts("l1", 1)}},
		} {
			if err := x.local.Show(s); err != nil {
				t.Fatal(err)
			}
		}
		sleep(time.Minute)
		if n := len(x.injected()); n > 0 {
			t.Errorf("%d values", n)
		}
	})
}

func TestEmotions(t *testing.T) {
	const settings = `{"rest":2,"emotions":{"happy":"Grin","sad":"sad.exp3.json","surprised":"wave","angry":"Fly"}}`
	within(t, settings, func(t *testing.T, x *bubble) {
		x.run()
		x.connected()
		is := func(when string, grin, sad bool, waves int) {
			t.Helper()
			got := 0
			x.studio.Look(func(s *studiotest.State) { got = len(s.Triggered) })
			if x.active("grin.exp3.json") != grin || x.active("sad.exp3.json") != sad || got != waves {
				t.Errorf("%s: grin %v, sad %v, %d waves", when, x.active("grin.exp3.json"), x.active("sad.exp3.json"), got)
			}
		}
		is("at first", false, false, 0)
		x.show(piece("l1", 1, "happy", "a"), piece("l1", 2, "happy", "b"), piece("l1", 3, "sad", "c"))
		is("with the first words", true, false, 0)
		x.show(starts("l1", 1))
		sleep(time.Second)
		x.show(starts("l1", 2))
		sleep(time.Second)
		is("a hotkey that switches is not pressed twice", true, false, 0)
		x.show(starts("l1", 3))
		is("the third part", false, true, 0)
		x.show(end("l1"), piece("l2", 1, "surprised", "oh"))
		is("a gesture", false, false, 1)
		x.show(end("l2"), piece("l3", 1, "surprised", "oh"))
		sleep(time.Second)
		is("and again with the next line", false, false, 2)
		x.show(end("l3"), piece("l4", 1, "happy", "a"), end("l4"))
		sleep(1900 * time.Millisecond)
		is("it stays for a while", true, false, 2)
		sleep(200 * time.Millisecond)
		is("and rests", false, false, 2)
		x.show(piece("l5", 1, "angry", "a"), end("l5"), piece("l6", 1, "angry", "a"))
		is("what there is not", false, false, 2)
		if n := x.logged(`settings.emotions.angry: the model "Akari" has no hotkey or expression "Fly"; it has ["Wave" "Grin" "sad.exp3.json" "grin.exp3.json"]`); n != 1 {
			t.Errorf("said %d times: %q", n, x.logs())
		}
	})
}

// Another model has other hotkeys, and one that is changed has more.
func TestTheModelChanges(t *testing.T) {
	within(t, `{"emotions":{"happy":"Grin"}}`, func(t *testing.T, x *bubble) {
		x.run()
		x.connected()
		x.show(piece("l1", 1, "happy", "a"))
		if !x.active("grin.exp3.json") {
			t.Fatal("it does not grin")
		}
		x.studio.Load(&studiotest.Model{ID: "m2", Name: "Hiyori", Expressions: []string{"Grin.exp3.json"}})
		sleep(time.Second)
		if !x.active("Grin.exp3.json") {
			t.Error("the model that came does not grin")
		}
		if got := x.act("vts.hotkey", `{"name":"Wave"}`); got != `not_found: name: the model "Hiyori" has no hotkey "Wave"; it has none` {
			t.Error(got)
		}
		x.studio.Change(func(m *studiotest.Model) {
			m.Hotkeys = append(m.Hotkeys, studiotest.Hotkey{ID: "h9", Name: "Wave", Type: "TriggerAnimation"})
		})
		sleep(2 * time.Second)
		if got := x.act("vts.hotkey", `{"name":"Wave"}`); got != "the hotkey Wave was triggered" {
			t.Error(got)
		}
		// The expression of the model before is not taken off the one that never had it.
		x.show(piece("l2", 1, "sad", "a"))
		x.studio.Look(func(s *studiotest.State) {
			on, off := 0, 0
			for _, a := range s.Asked {
				if a.Kind == "ExpressionActivationRequest" {
					on += strings.Count(string(a.Data), `"active":true`)
					off += strings.Count(string(a.Data), `"active":false`)
				}
			}
			if on != 2 || off != 1 {
				t.Errorf("%d on, %d off", on, off)
			}
		})
		x.studio.Load(nil)
		sleep(2 * time.Second)
		if got := x.act("vts.expression", `{"file":"grin"}`); !strings.Contains(got, "no model is loaded") {
			t.Error(got)
		}
	})
}

// Events that come in bursts have the model read now and then.
func TestTheModelChangesAllTheTime(t *testing.T) {
	within(t, `{}`, func(t *testing.T, x *bubble) {
		x.run()
		x.connected()
		for range 50 {
			x.studio.Change(func(m *studiotest.Model) { m.Name += "!" })
			sleep(100 * time.Millisecond)
		}
		sleep(time.Minute)
		x.studio.Look(func(s *studiotest.State) {
			if n := s.Count("HotkeysInCurrentModelRequest"); n < 5 || n > 7 {
				t.Errorf("read %d times in five seconds", n)
			}
		})
		if got := x.act("vts.hotkey", `{"name":"Fly"}`); !strings.Contains(got, strings.Repeat("!", 50)) {
			t.Error(got)
		}
	})
}

func TestActions(t *testing.T) {
	within(t, `{}`, func(t *testing.T, x *bubble) {
		x.run()
		x.connected()
		for _, c := range [][3]string{
			{"vts.hotkey", `{"name":"WAVE"}`, "the hotkey Wave was triggered"},
			{"vts.hotkey", `{"name":"Wave"}`, "the hotkey Wave was triggered"}, // the cooldown is waited for
			{"vts.hotkey", `{"name":"Fly"}`, `not_found: name: the model "Akari" has no hotkey "Fly"; it has ["Wave" "Grin"]`},
			{"vts.expression", `{"file":"sad.exp3.json","fade":1.5}`, "the expression sad is on"},
			{"vts.expression", `{"file":"SAD","active":false}`, "the expression sad is off"},
			{"vts.expression", `{"file":"mad"}`, `not_found: file: the model "Akari" has no expression "mad"; it has ["sad.exp3.json" "grin.exp3.json"]`},
			{"vts.move", `{"x":0.5,"rotation":-10,"seconds":1,"relative":true}`, "the avatar moves"},
			{"vts.move", `{"y":0}`, "the avatar moves"},
			{"vts.move", `{"seconds":1}`, "invalid: parameters: one of x, y, rotation and size has to be there"},
			{"vts.move", `{"x":2000}`, "unavailable: VTube Studio says: values are out of range (302)"},
			{"vts.move", `{"x":"far"}`, "invalid: parameters: "},
			{"vts.dance", ``, `not_found: there is no action "vts.dance"`},
		} {
			if got := x.act(c[0], c[1]); got != c[2] && (!strings.HasSuffix(c[2], ": ") || !strings.HasPrefix(got, c[2])) {
				t.Errorf("%s %s: %s, want %s", c[0], c[1], got, c[2])
			}
		}
		x.studio.Look(func(s *studiotest.State) {
			want := `{"timeInSeconds":1,"valuesAreRelativeToModel":true,"positionX":0.5,"rotation":-10} {"timeInSeconds":0.5,"valuesAreRelativeToModel":false,"positionY":0}`
			var got []string
			for _, m := range s.Moves {
				got = append(got, string(m))
			}
			if strings.Join(got, " ") != want {
				t.Errorf("%s", got)
			}
		})
	})
}

// A person who clicks the model is noticed, and one who clicks all the time now and then.
func TestTouch(t *testing.T) {
	within(t, `{"touch":"poked"}`, func(t *testing.T, x *bubble) {
		x.run()
		x.connected()
		emitted := func() (all []string) {
			x.local.Look(func() {
				for _, e := range x.local.Handled.Emitted {
					all = append(all, e.Companion+" "+e.Title+" "+string(e.Body))
				}
			})
			return all
		}
		x.studio.Click(0) // beside it
		x.studio.Click(1, "hair_right6", "face_skin")
		sleep(0)
		for range 50 {
			x.studio.Click(0, "face_skin")
			sleep(100 * time.Millisecond)
		}
		sleep(time.Minute)
		x.studio.Click(0, "hand")
		sleep(0)
		want := []string{
			`aya poked {"button":"right","clicks":1,"part":"hair_right6"}`,
			`aya poked {"button":"left","clicks":20,"part":"face_skin"}`,
			`aya poked {"button":"left","clicks":20,"part":"face_skin"}`,
			`aya poked {"button":"left","clicks":10,"part":"face_skin"}`,
			`aya poked {"button":"left","clicks":1,"part":"hand"}`,
		}
		if got := emitted(); strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("%s", strings.Join(got, "\n"))
		}
	})
}

func TestTouchIsOff(t *testing.T) {
	within(t, `{}`, func(t *testing.T, x *bubble) {
		x.run()
		x.connected()
		x.studio.Click(0, "face_skin")
		sleep(time.Minute)
		x.local.Look(func() {
			if n := len(x.local.Handled.Emitted); n > 0 {
				t.Errorf("%d perceptions", n)
			}
		})
	})
}

// A timeline that cannot be read is told of, and the rest is shown.
func TestATimelineThatIsGone(t *testing.T) {
	within(t, `{"guess":true}`, func(t *testing.T, x *bubble) {
		x.run()
		x.connected()
		gone := x.sound("l1", 1, abi.Viseme{MS: 1000, Open: 1})
		gone.Sound.Mouth.Hash = "gone"
		x.show(piece("l1", 1, "", "あ"), gone, starts("l1", 1))
		sleep(500 * time.Millisecond)
		if v := x.studio.Value("MouthOpen"); v == 0 {
			t.Error("the mouth does not guess")
		}
		if x.logged("the mouth of line l1 part 1: ") != 1 {
			t.Errorf("%q", x.logs())
		}
	})
}
