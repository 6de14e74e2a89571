package host_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/journal/sqlite"
)

// frames is how many perceptions the camera's room has: a frame each ten seconds
// makes so many in two months.
const frames = 500_000

// BenchmarkPerceptions measures a room in which a camera has filled the journal:
// how long the daemon takes to start, and how long it takes to read what was said
// there, most of it before the camera came.
func BenchmarkPerceptions(b *testing.B) {
	const both, alone = "[room.main]\n[room.camera]\n", "[room.camera]\n"
	d := newDaemon(b, both)
	d.start("camera")
	d.stop()
	old, head := d.film("camera")
	for b.Loop() {
		d.configure(both)
		b.ReportMetric(ms(d.start("main")), "ms/start-unread") // beside it the room is read for the first time
		d.must(d.say("camera", "何か見えた?"))
		d.stop()
		quantiles(b, d.starts("main", 7), "ms/start")
		d.configure(alone) // now it is the usual room
		quantiles(b, d.starts("camera", 7), "ms/start-itself")
		d.start("camera")
		quantiles(b, d.reads("camera", 300, old, head), "ms/read")
		b.ReportMetric(float64(d.weigh().Resident)/1024, "MiB")
		d.stop()
	}
	b.ReportMetric(0, "ns/op")
}

// film writes what people said, then what a camera and its companion left, and what
// people said again into a room's journal. It gives the last seq of the old messages
// and of all.
func (d *daemon) film(room string) (old, head uint64) {
	d.b.Helper()
	j, err := sqlite.Open(sqlite.Config{Path: filepath.Join(d.dir, "state", "companiond.db")})
	d.must(err)
	defer func() { d.must(j.Close()) }()
	row, _, err := j.Room(d.b.Context(), room)
	d.must(err)
	at := time.Now().Add(-60 * 24 * time.Hour)
	var batch []journal.New
	add := func(kind entry.Kind, body any) {
		raw, err := json.Marshal(body)
		d.must(err)
		at = at.Add(10 * time.Second)
		id := fmt.Sprintf("%s/%d", kind, row.Head.Seq+uint64(len(batch))+1)
		batch = append(batch, journal.New{ID: id, Kind: kind, At: at, Body: raw})
	}
	flush := func() {
		row.Head, err = j.Append(d.b.Context(), room, row.Head, batch...)
		d.must(err)
		batch = batch[:0]
	}
	talk := func() {
		for n := range 300 {
			add(entry.KindSaid, entry.Said{From: "taro", By: abi.KindHuman, Text: fmt.Sprintf("%d 枚目の写真を見ましたか? とてもきれいでした。", n), Kind: abi.KindTurn})
		}
		flush()
	}
	talk()
	old = row.Head.Seq
	for n := range frames {
		seq := row.Head.Seq + uint64(len(batch)) + 1
		add(entry.KindPerceived, entry.Perceived{
			Who: "aya", Title: "camera", Format: "image", From: "taro", MediaType: "image/jpeg",
			Size: 40_000 + n%9_000, SHA256: fmt.Sprintf("%064x", seq*0x9e3779b97f4a7c15),
		})
		if n%50 == 0 { // the others led to nothing, which is not written down
			add(entry.KindFailed, entry.Failed{Perception: seq, Who: "aya", Code: abi.CodeTimeout, Error: "did not answer in time"})
		}
		if len(batch) >= 10_000 {
			flush()
		}
	}
	talk()
	return old, row.Head.Seq
}

// reads gives how long it took to read messages: the oldest, those on both sides of
// what the camera saw, those behind it, all, and none.
func (d *daemon) reads(room string, n int, old, head uint64) (took []time.Duration) {
	d.b.Helper()
	asks := []struct {
		since        uint64
		limit, least int
	}{{0, 100, 100}, {old - 50, 100, 100}, {old + frames/2, 100, 100}, {head - 20, 20, 20}, {0, 1000, 600}, {head + 1000, 100, 0}}
	for i := range n {
		ask := asks[i%len(asks)]
		path := fmt.Sprintf("/v1/rooms/%s/messages?since=%d&limit=%d", room, ask.since, ask.limit)
		asked := time.Now()
		answer, _, err := d.answer(http.MethodGet, path, nil)
		took = append(took, time.Since(asked))
		var page struct{ Messages []abi.Message }
		d.must(err)
		d.must(json.Unmarshal(answer, &page))
		if got := len(page.Messages); got < ask.least || got > ask.limit {
			d.b.Fatalf("%s gave %d messages: %.200s", path, got, answer)
		}
	}
	return took
}
