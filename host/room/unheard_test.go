package room

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
)

// A page speaks its sentence to the end, whatever becomes of the daemon: one that is started in the
// middle of it begins nobody's line before, and waits for nothing that is over.
func TestAPageSpeaksOnBehindARestart(t *testing.T) {
	for name, c := range map[string]struct {
		stops bool          // by itself; else it is killed
		away  time.Duration // until it is started again
		tells time.Duration // when the page, which is back, says that it is over; 0: it does not come back
	}{
		"killed":                      {false, 0, 0},
		"killed, and away for long":   {false, time.Minute, 0},
		"stopped":                     {true, 100 * time.Millisecond, 0},
		"stopped, and away for long":  {true, time.Minute, 0},
		"stopped, and a second later": {true, time.Second, 0},
		"killed, a slow voice":        {false, 100 * time.Millisecond, 9 * time.Second},
		"killed, a quick voice":       {false, 100 * time.Millisecond, 4 * time.Second},
		"stopped, a slow voice":       {true, 100 * time.Millisecond, 9 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			aya := talker("aya", 9)
			aya.speak = func(context.Context, abi.Scene) (abi.Line, error) {
				return abi.Line{Text: "昨日の夜はずっと窓の外の星を眺めながら、海のことを思い出していました。楽しかったな。"}, nil
			}
			play(t, voiceRules, []*actor{aya, talker("kyoko", 5)}, func(s *stage) {
				page := entry.Body{Who: "aya", Plays: true, Finishes: true, Sentences: true}
				_, leave := s.room.cfg.Bodies.Embody("main", page)
				s.room.Stir()
				s.say("taro", "元気？")
				for len(s.said()) < 2 {
					time.Sleep(100 * time.Millisecond)
				}
				line := s.said()[1]
				if line.From != "aya" || len(line.Voice) < 2 {
					t.Fatalf("%+v", line)
				}
				first := time.Duration(line.Voice[0].MS) * time.Millisecond
				began := s.entries()[s.newest(entry.KindSaid)-1].At
				if time.Sleep(time.Until(began.Add(first / 2))); c.stops {
					s.drain()
					leave()
					s.room.Stir()
					synctest.Wait()
				}
				s.end()
				time.Sleep(c.away)
				started := time.Now()
				s.start()
				over := began.Add(first)
				latest := over.Add(first / 3)
				if c.tells > 0 {
					id, _ := s.room.cfg.Bodies.Embody("main", page)
					s.room.Stir()
					over = began.Add(c.tells)
					latest = over
					time.Sleep(time.Until(over))
					if err := s.room.Played(s.t.Context(), entry.Played{Who: "aya", Body: id, Done: true}); err != nil {
						t.Error(err)
					}
				}
				time.Sleep(30 * time.Second)
				synctest.Wait()
				if n := len(s.said()); n < 3 || s.said()[2].From == "taro" {
					t.Fatalf("%d messages", n)
				}
				var next time.Time
				for _, e := range s.entries() {
					if e.Kind == entry.KindSaid && next.IsZero() && decode[entry.Said](e).Grant != line.Grant && decode[entry.Said](e).From != "taro" {
						next = e.At
					}
				}
				if next.Before(over) {
					t.Errorf("the next line began %v before the sentence of %v was over", over.Sub(next), first)
				}
				if latest := later(latest, started).Add(4 * time.Second); next.After(latest) {
					t.Errorf("the next line began %v later than it could", next.Sub(latest))
				}
			})
		})
	}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
