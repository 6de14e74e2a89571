package forget_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/forget"
	"github.com/companiond/companiond/host/journal"
)

// BenchmarkForget has one of ten forgotten who talk in a room of 100,000 entries, while somebody else
// talks there and in another one without a pause, and tells how long those lines took. The numbers in them are none that the one who is
// forgotten ever named: else there would always be one more repetition to be looked for, until the order waits no longer.
func BenchmarkForget(b *testing.B) {
	for range b.N {
		b.StopTimer()
		w := newWorld(b)
		w.wait = 10 * time.Minute // it goes through the big room six times, and leaves most of the time to others
		w.prepare()
		h, err := w.j.Acquire(b.Context(), "big", "test", time.Now())
		if err != nil {
			b.Fatal(err)
		}
		for n := 0; n < 100_000; n += 1000 {
			var news []journal.New
			for i := range 1000 {
				who := fmt.Sprint("user", (n+i)%10)
				text := fmt.Sprintf("%d番の話をしよう、今日の天気は%d度だって", n+i, i%40)
				if (n+i)%10 == 3 {
					text = fmt.Sprintf("ポチ%dとタマの話", n+i)
				}
				raw, _ := json.Marshal(entry.Said{From: who, By: abi.KindHuman, Text: text, Kind: abi.KindTurn})
				news = append(news, journal.New{ID: fmt.Sprint(n + i), Kind: entry.KindSaid, V: 2, At: time.Now(), Body: raw})
			}
			if h, err = w.j.Append(b.Context(), "big", h, news...); err != nil {
				b.Fatal(err)
			}
		}
		w.run("big", "small")
		w.say("big", "user1", "はじめよう")
		ctx, stop := context.WithCancel(b.Context())
		took := map[string][]time.Duration{}
		done := make(chan struct{})
		go func() {
			defer close(done)
			for i := 0; ctx.Err() == nil; i++ {
				for _, room := range []string{"big", "small"} {
					begun := time.Now()
					w.say(room, "user1", fmt.Sprint("まだ話す ", 10*i+5))
					took[room] = append(took[room], time.Since(begun))
				}
				time.Sleep(5 * time.Millisecond)
			}
		}()
		b.StartTimer()
		r := w.forget(forget.Order{Who: "user3"})
		b.StopTimer()
		stop()
		<-done
		for room, all := range took {
			slices.Sort(all)
			b.ReportMetric(float64(all[len(all)-1].Milliseconds()), room+"-max-ms")
			b.ReportMetric(float64(all[len(all)*99/100].Milliseconds()), room+"-p99-ms")
		}
		b.ReportMetric(float64(r.Entries), "erased")
		w.end()
	}
}
