package room

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
)

// TestMute: whoever is muted loses the floor to the next, is asked for nothing, also behind a restart and where it is called by name,
// and takes part again when it may; what it says late is not heard.
func TestMute(t *testing.T) {
	aya, kyoko := wants_("aya", 9), wants_("kyoko", 5)
	first := true
	aya.line = func(ctx context.Context, _ abi.Request) (abi.Line, error) {
		if first {
			first = false
			<-ctx.Done() // a mind that does not heed it
			time.Sleep(time.Second)
		}
		return abi.Line{Text: "at last"}, nil
	}
	rules := testRules
	rules.MaxTurns = 1
	play(t, rules, []*actor{aya, kyoko}, func(s *stage) {
		mute := func(who string, on bool) {
			t.Helper()
			if err := s.room.Mute(s.t.Context(), "taro", who, on); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		s.say("taro", "hello")
		time.Sleep(time.Second)
		if f := s.room.Info().Floor; f != "aya" {
			t.Fatalf("%q has the floor", f)
		}
		mute("aya", true)
		mute("aya", true) // says nothing new
		time.Sleep(5 * time.Second)
		want := []string{"taro: hello", "kyoko: kyoko line 1"}
		if got := s.texts(); !slices.Equal(got, want) || s.count(entry.KindMuted) != 1 {
			t.Fatalf("%q, %d entries", got, s.count(entry.KindMuted))
		}
		if d := s.decisions(); !strings.Contains(d[len(d)-1].Reason+d[1].Reason, "aya: was muted; kyoko is next") {
			t.Errorf("%+v", d)
		}
		s.end()
		s.start()
		s.say("taro", "aya, are you there?")
		time.Sleep(5 * time.Second)
		if got := s.texts(); got[len(got)-1] != "kyoko: kyoko line 2" {
			t.Errorf("%q", got)
		}
		if got := s.electorates(); !slices.Equal(got[len(got)-1], []string{"kyoko"}) || !slices.Equal(s.room.Info().Muted, []string{"aya"}) {
			t.Errorf("asked %q, muted %q", got, s.room.Info().Muted)
		}
		mute("kyoko", true)
		s.say("taro", "anybody?")
		time.Sleep(5 * time.Second)
		if i := s.room.Info(); i.Waiting != "nobody is here who could answer; muted: aya, kyoko" {
			t.Errorf("%+v", i)
		}
		mute("aya", false)
		time.Sleep(5 * time.Second)
		if got := s.texts(); got[len(got)-1] != "aya: at last" || got[len(got)-2] != "taro: anybody?" {
			t.Errorf("%q", got)
		}
		for who, want := range map[string]string{"taro": "there are: aya, kyoko", "bob": `no companion "bob" here`} {
			if err := s.room.Mute(s.t.Context(), "taro", who, true); abi.CodeOf(err) != abi.CodeNotFound || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v", who, err)
			}
		}
	})
}

// TestMuteTakesWhatWaits: a line about something perceived, that waits for its turn, is not said by whoever is muted meanwhile.
func TestMuteTakesWhatWaits(t *testing.T) {
	occupied(t, 60_000, sees("nikoni", "a cat"), func(s *stage) {
		s.perceive("nikoni", frame("vision"))
		if err := s.room.Mute(s.t.Context(), "bad\nname", "nikoni", true); err != nil {
			t.Fatal(err)
		}
		s.perceive("nikoni", frame("vision"))
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if got := s.texts(); slices.ContainsFunc(got, func(line string) bool { return strings.HasPrefix(line, "nikoni") }) {
			t.Errorf("%q", got)
		}
		if b := bodies[entry.Muted](t, s.entries(), entry.KindMuted); len(b) != 1 || b[0].By != somebody {
			t.Errorf("%+v", b)
		}
	})
}
