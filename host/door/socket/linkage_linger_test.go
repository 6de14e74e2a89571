package socket_test

import (
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/rooms"
)

// TestASentenceThatNothingSilences: whatever ends a line, a sentence that AITuberKit has goes on to
// its end, however long its voice takes to be made, and nobody else begins before.
func TestASentenceThatNothingSilences(t *testing.T) {
	says := func(s *bodies, text string) {
		if _, err := s.room.Say(s.Context(), rooms.Utterance{From: "taro", By: abi.KindHuman, To: []string{"nikoni"}, Text: text}); err != nil {
			s.Fatal(err)
		}
	}
	for name, ends := range map[string]func(s *bodies){
		"a person speaks over it": func(s *bodies) { says(s, "Nikoni, and you?") },
		"a STOP": func(s *bodies) {
			if _, err := s.room.Stop(s.Context(), "taro"); err != nil {
				s.Fatal(err)
			}
			says(s, "Nikoni, and you?")
		},
	} {
		for _, how := range []entry.Interrupt{entry.InterruptSentence, entry.InterruptNow} {
			t.Run(name+", "+string(how), func(t *testing.T) {
				onLinkageThat(t, how, nil, func(s *bodies) {
					aya, nikoni := s.play("aya", "", ""), s.play("nikoni", "", "")
					aya.slow, nikoni.slow = 6*time.Second, 2*time.Second
					aya.send("chat.message", "msg_1", `"text":"Hello, aya!"`)
					time.Sleep(2 * time.Second) // its first sentence is there, and makes no sound yet
					ends(s)
					time.Sleep(time.Minute)
					all := apart(t, aya, nikoni)
					if len(all) < 2 || all[0].who != "aya" || all[1].who != "nikoni" {
						t.Fatalf("%+v", all)
					}
					if gap := all[1].from.Sub(all[0].to) - nikoni.slow; gap > time.Second {
						t.Errorf("she waits %v after the voice before her", gap)
					}
				})
			})
		}
	}
}

// TestACutLineOfASilentFront: where the last sentence was spoken, or the page says nothing any more,
// nobody waits for long.
func TestACutLineOfASilentFront(t *testing.T) {
	onLinkage(t, nil, func(s *bodies) {
		aya, nikoni := s.play("aya", "", ""), s.play("nikoni", "", "")
		aya.slow = time.Hour
		aya.send("chat.message", "msg_1", `"text":"Hello, aya!"`)
		time.Sleep(time.Second)
		if _, err := s.room.Stop(s.Context(), "taro"); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		if _, err := s.room.Say(s.Context(), rooms.Utterance{From: "taro", By: abi.KindHuman, To: []string{"nikoni"}, Text: "Nikoni, and you?"}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		nikoni.mu.Lock()
		defer nikoni.mu.Unlock()
		if len(nikoni.sounds) == 0 {
			t.Fatal("she says nothing")
		}
		if waited := nikoni.sounds[0].from.Sub(began); waited < 9*time.Second || waited > 11*time.Second {
			t.Errorf("she begins after %v", waited)
		}
	})
}
