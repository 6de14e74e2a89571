package socket_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/rooms"
)

// heardOf gives how somebody's lines ended.
func (s *bodies) heardOf(who string) (all []entry.Heard) {
	for _, e := range s.room.Journal() {
		if h, err := entry.Decode[entry.Heard](e); e.Kind == entry.KindHeard && h.Who == who {
			if err != nil {
				s.Error(err)
			}
			all = append(all, h)
		}
	}
	return all
}

func (s *bodies) taro(to, text string) {
	if _, err := s.room.Say(s.Context(), rooms.Utterance{From: "taro", By: abi.KindHuman, To: []string{to}, Text: text}); err != nil {
		s.Fatal(err)
	}
}

// spoken gives what a player has spoken to its end, of its first line.
func (p *player) spoken() (all string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, x := range p.sounds {
		if all != "" && strings.HasPrefix(x.text, "I am") {
			break
		}
		all += x.text
	}
	return all
}

// TestAPageIsSilencedByHand: AITuberKit's stop button, of which it tells nothing. What it did not get is not
// spoken over the next one nor taken for heard, whether a person speaks meanwhile or not; and a page that
// tells of its sentences is waited for however often that happened.
func TestAPageIsSilencedByHand(t *testing.T) {
	for _, speaks := range []time.Duration{0, 4 * time.Second, 11 * time.Second} {
		t.Run(fmt.Sprint("a person speaks after ", speaks), func(t *testing.T) {
			onLinkage(t, nil, func(s *bodies) {
				aya, nikoni := s.play("aya", "?from=taro", ""), s.play("nikoni", "", "")
				for n := range 3 {
					before := len(s.heardOf("aya"))
					aya.quiet = 1
					aya.send("chat.message", fmt.Sprint("msg_", n), `"text":"Hello, aya!"`)
					if time.Sleep(speaks); speaks > 0 {
						s.taro("nikoni", "Nikoni, and you?")
					}
					time.Sleep(2 * time.Minute)
					if h := s.heardOf("aya")[before]; h.End == entry.EndSaid || h.Text != "" {
						t.Errorf("line %d: %+v", n, h)
					}
					if f := aya.came(); strings.Count(strings.Split(f, "chat.done")[0], "chat.delta") != 1 {
						t.Errorf("line %d: %s", n, f)
					}
					if all := apart(t, aya, nikoni); len(all) < 3*(n+1) || all[0].who != "nikoni" {
						t.Errorf("after line %d: %+v", n, all)
					}
				}
				aya.slow = 7 * time.Second
				aya.send("chat.message", "msg_9", `"text":"Hush, aya!"`)
				time.Sleep(2 * time.Minute)
				heard := s.heardOf("aya")
				if h := heard[len(heard)-1]; h.End != entry.EndSaid || h.Why != "played" {
					t.Errorf("it is not waited for: %+v", h)
				}
				apart(t, aya, nikoni)
			})
		})
	}
}

// TestWhatWasHeardIsWhatWasTold: of a line in one piece that somebody speaks over at any time, with a voice
// that is quick or slow, what was heard are the sentences that were spoken.
func TestWhatWasHeardIsWhatWasTold(t *testing.T) {
	for _, how := range []entry.Interrupt{entry.InterruptSentence, entry.InterruptNow} {
		for _, slow := range []time.Duration{0, 300 * time.Millisecond, 3 * time.Second, 6 * time.Second} {
			for _, quick := range []bool{false, true} {
				for at := 200 * time.Millisecond; at < 5*time.Second; at += 1100 * time.Millisecond {
					t.Run(fmt.Sprintf("%s, a voice is made in %v, quick %v, after %v", how, slow, quick, at), func(t *testing.T) {
						onLinkageThat(t, how, nil, func(s *bodies) {
							aya, nikoni := s.play("aya", "", ""), s.play("nikoni", "", "")
							aya.slow, aya.quick = slow, quick
							aya.send("chat.message", "msg_1", `"text":"Hello, aya!"`)
							time.Sleep(at)
							s.taro("nikoni", "Nikoni, and you?")
							time.Sleep(time.Minute)
							h := s.heardOf("aya")[0]
							if spoken := aya.spoken(); h.Text != spoken && (h.End != entry.EndSaid || strings.Count(spoken, ".") != 3) {
								t.Errorf("%+v, and it had spoken %q", h, spoken)
							}
							all := apart(t, aya, nikoni)
							first := slices.IndexFunc(all, func(x sound) bool { return x.who == "nikoni" })
							if first < 1 {
								t.Fatalf("nikoni says nothing: %+v", all)
							}
							if gap := all[first].from.Sub(all[first-1].to); gap > time.Second {
								t.Errorf("she waits %v", gap)
							}
						})
					})
				}
			}
		}
	}
}

// TestAPageIsLoadedAgain in the middle of a line: what it had not told of was not heard.
func TestAPageIsLoadedAgain(t *testing.T) {
	onLinkage(t, nil, func(s *bodies) {
		aya, nikoni := s.play("aya", "", ""), s.play("nikoni", "", "")
		aya.send("chat.message", "msg_1", `"text":"Hello, aya!"`)
		time.Sleep(4 * time.Second) // in the second sentence
		_ = aya.conn.Close()
		again := s.play("aya", "", "")
		time.Sleep(time.Minute)
		if h := s.heardOf("aya")[0]; h.End != entry.EndFailed || h.Text != "I am aya, and I have a lot to say today." || h.Text != aya.spoken() {
			t.Errorf("%+v", h)
		}
		apart(t, aya, again, nikoni)
	})
}
