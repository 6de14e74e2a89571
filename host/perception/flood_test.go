package perception_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/card"
)

// A thousand perceptions a second and a judge that takes a second each: frames
// give way, texts are taken as long as there is room and refused then, the
// words of people are said, and memory does not grow with the number that comes.
func TestFlood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, 64)
		h.takes = time.Second
		defer h.run()()
		const seconds, perSecond = 5, 1000
		offered, refused, said := 0, 0, 0
		var floor uint64
		for i := range seconds * perSecond {
			var p card.Percept
			switch i % 4 {
			case 0, 1:
				p = object("vision", fmt.Sprintf(`{"n":%d,"pad":%q}`, i, strings.Repeat("x", 2<<10)))
			case 2:
				p = object("touch", fmt.Sprintf(`{"n":%d}`, i))
			case 3:
				p = text("news", fmt.Sprintf("%d %s", i, strings.Repeat("x", 2<<10)))
			}
			offered++
			if _, err := h.Offer(context.Background(), "nikoni", p, "cam"); err != nil {
				if abi.CodeOf(err) != abi.CodeExhausted || p.Format != "text" {
					t.Fatalf("%s: %v", p.Title, err)
				}
				refused++
			}
			if i%100 == 0 {
				said++
				if _, err := h.Offer(context.Background(), "nikoni", text("input", fmt.Sprint(i)), "mika"); err != nil {
					t.Fatalf("input: %v", err)
				}
			}
			if i == 2*perSecond {
				floor = heap()
			}
			time.Sleep(time.Millisecond)
		}
		n := h.Counts("nikoni")
		if n["waiting"] > 64+1 || n["taken"]+n["refused"] != offered || n["refused"] != refused || n["said"] != said || len(h.said) != said {
			t.Errorf("%v of %d offered, %d said", n, offered, said)
		}
		if n["judged"] < seconds-1 || n["judged"] > seconds+1 {
			t.Errorf("%d judged in %d s", n["judged"], seconds)
		}
		if n["replaced"] < offered/2 || refused < offered/5 {
			t.Errorf("%v: the flood was no flood", n)
		}
		// Three more seconds of it left nothing behind.
		if grown := int64(heap()) - int64(floor); grown > 1<<20 {
			t.Errorf("%d KiB more on the heap", grown>>10)
		}
		// Everything that was taken is accounted for, once it is judged.
		time.Sleep(5 * time.Minute)
		if n := h.Counts("nikoni"); n["waiting"] != 0 || n["taken"] != n["judged"]+n["replaced"] {
			t.Errorf("%v", n)
		}
	})
}

func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// Large images wait in at most 32 MiB a companion, however many there may be by
// number.
func TestFloodOfImages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, 1000)
		h.takes = time.Hour
		h.judge = func(ctx context.Context, _ abi.Percept) (abi.Judged, error) {
			<-ctx.Done()
			return abi.Judged{}, ctx.Err()
		}
		defer h.run()()
		photo := append([]byte("\x89PNG\r\n\x1a\n"), bytes.Repeat([]byte{7}, 7<<20)...)
		body := []byte(`"` + base64.StdEncoding.EncodeToString(photo) + `"`)
		for range 4 { // one is judged, one waits
			h.must(t, card.Percept{Title: "vision", Format: "image", Body: body})
			synctest.Wait()
		}
		h.expect(t, map[string]int{"taken": 4, "replaced": 2, "waiting": 2, "cooled": 3})
		taken := 0
		long := strings.Repeat("x", 60<<10)
		for range 400 {
			if _, err := h.Offer(nobody, "nikoni", text("news", long), "cam"); err == nil {
				taken++
			} else if abi.CodeOf(err) != abi.CodeExhausted || !strings.Contains(err.Error(), "32 MiB") {
				t.Fatal(err)
			}
		}
		if left := (32<<20 - 2*len(photo)) / (60 << 10); taken < left-6 || taken > left {
			t.Errorf("%d texts of 60 KiB in what is left, want about %d", taken, left)
		}
	})
}
