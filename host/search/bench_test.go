package search_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/journal/sqlite"
	"github.com/companiond/companiond/host/search"
)

// talker makes talk in Japanese that nobody said: words of kanji, katakana and hiragana in the shares and with the
// frequencies of chat (Zipf), particles between them. The same seed gives the same talk.
type talker struct {
	r                *rand.Rand
	words, particles []string
	word, particle   *rand.Zipf
}

func newTalker(seed uint64) *talker {
	t := &talker{r: rand.New(rand.NewPCG(seed, 1))}
	kanji := rand.NewZipf(t.r, 1.1, 20, 2100)
	kana := rand.NewZipf(t.r, 1.2, 8, 79)
	seen := map[string]bool{}
	for len(t.words) < 12000 {
		var w []rune
		switch n := t.r.IntN(10); {
		case n < 5: // 天気, 予報, 北海道
			for range 1 + t.r.IntN(3) {
				w = append(w, rune(0x4e00+(kanji.Uint64()*37)%5000))
			}
		case n < 7: // コーヒー
			for range 2 + t.r.IntN(4) {
				w = append(w, rune(0x30a1+kana.Uint64()))
			}
		case n < 9: // 食べた, ねむい
			if t.r.IntN(2) == 0 {
				w = append(w, rune(0x4e00+(kanji.Uint64()*37)%5000))
			}
			for range 1 + t.r.IntN(3) {
				w = append(w, rune(0x3041+kana.Uint64()))
			}
		default:
			for range 2 + t.r.IntN(6) {
				w = append(w, rune('a'+t.r.IntN(26)))
			}
		}
		if !seen[string(w)] {
			seen[string(w)] = true
			t.words = append(t.words, string(w))
		}
	}
	t.particles = []string{"の", "は", "が", "を", "に", "で", "と", "も", "です。", "ます。", "だよね", "から", "って", "した", "、", "ね!", "けど", "ですか?", "まで", "より"}
	t.word, t.particle = rand.NewZipf(t.r, 1.05, 12, uint64(len(t.words)-1)), rand.NewZipf(t.r, 1.1, 3, uint64(len(t.particles)-1))
	return t
}

func (t *talker) line() string {
	var b []byte
	for range 2 + t.r.IntN(10) {
		b = append(b, t.words[t.word.Uint64()]...)
		b = append(b, t.particles[t.particle.Uint64()]...)
	}
	return string(b)
}

// asked gives a word of so many letters that stands in some message.
func (t *talker) asked(n int) string {
	for {
		line := []rune(t.line())
		if len(line) > n+2 {
			at := t.r.IntN(len(line) - n)
			return string(line[at : at+n])
		}
	}
}

const benchRooms = 100

// talked fills a journal with messages in 100 rooms.
func talked(tb testing.TB, dir string, messages int) *sqlite.Journal {
	j, err := sqlite.Open(sqlite.Config{Path: filepath.Join(dir, "companiond.db"), Reserve: 4096})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = j.Close() })
	var all sync.WaitGroup
	for n := range benchRooms {
		all.Go(func() {
			t, room, ctx := newTalker(uint64(n)), fmt.Sprintf("room%02d", n), context.Background()
			t.words = newTalker(0).words // one language for all
			h, err := j.Acquire(ctx, room, "bench", day)
			for i := 0; i < messages/benchRooms && err == nil; {
				var news []journal.New
				for ; len(news) < 250 && i < messages/benchRooms; i++ {
					body, _ := json.Marshal(entry.Said{From: fmt.Sprint("who", i%5), By: abi.KindHuman, Text: t.line(), Kind: abi.KindTurn})
					news = append(news, journal.New{ID: fmt.Sprint(i), Kind: entry.KindSaid, At: day.Add(time.Duration(i)*time.Minute + time.Duration(n)*time.Second), Body: body})
				}
				h, err = j.Append(ctx, room, h, news...)
			}
			if err != nil {
				tb.Error(err)
			}
		})
	}
	all.Wait()
	return j
}

// BenchmarkSearch makes the index of so many messages as COMPANIOND_SEARCH_MESSAGES says (20,000; the figures of
// the README are for 1,000,000), and looks for words of one to six letters, in all rooms and in one of a hundred.
func BenchmarkSearch(b *testing.B) {
	messages := 20000
	if n, err := strconv.Atoi(os.Getenv("COMPANIOND_SEARCH_MESSAGES")); err == nil {
		messages = min(n, 2000000)
	}
	dir := b.TempDir()
	j := talked(b, dir, messages)
	k := search.New(search.Config{Journal: j, Path: filepath.Join(dir, search.File)})
	defer k.Close()
	began := time.Now()
	for behind := true; behind; {
		out, err := k.Search(b.Context(), search.Ask{Query: "天気"})
		if err != nil {
			b.Fatal(err)
		}
		behind = out.Behind
	}
	rate := float64(messages) / time.Since(began).Seconds()
	info, err := os.Stat(filepath.Join(dir, search.File))
	if err != nil {
		b.Fatal(err)
	}
	b.Logf("%d messages indexed at %.0f/s, %.0f MB", messages, rate, float64(info.Size())/1e6)
	for _, n := range []int{1, 2, 4, 6} {
		for _, room := range []string{"", "room07"} {
			name := fmt.Sprintf("letters=%d/rooms=%s", n, map[bool]string{true: "all", false: "one"}[room == ""])
			b.Run(name, func(b *testing.B) {
				t, took, found := newTalker(77), []time.Duration{}, 0
				t.words = newTalker(0).words
				for b.Loop() {
					q := search.Ask{Query: `"` + t.asked(n) + `"`, Room: room}
					began := time.Now()
					out, err := k.Search(b.Context(), q)
					if err != nil && abi.CodeOf(err) != abi.CodeInvalid { // a space alone
						b.Fatal(q.Query, err)
					}
					took = append(took, time.Since(began))
					found += len(out.Hits)
				}
				slices.Sort(took)
				b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
				b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
				b.ReportMetric(float64(found)/float64(len(took)), "hits/op")
			})
		}
	}
	for _, q := range []string{"がはをに", "です。ですか", "ますだよねから", "the cat sat", "のはが のをに"} { // pairs that are common, and words that are not
		b.Run("rare="+q, func(b *testing.B) {
			var out search.Answer
			for b.Loop() {
				if out, err = k.Search(b.Context(), search.Ask{Query: q}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(len(out.Hits)), "hits/op")
		})
	}
	began = time.Now()
	if err := j.Blank(b.Context(), "room07", 0, map[uint64][]byte{5: nil}); err != nil {
		b.Fatal(err)
	}
	if err := k.Forget(b.Context(), map[string][]uint64{"room07": {5}}); err != nil {
		b.Fatal(err)
	}
	b.Logf("a message is out of the file after %.1f s", time.Since(began).Seconds())
}
