package forget_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/forget"
	"github.com/companiond/companiond/host/forget/forgettest"
)

// TestNamesStay: whatever companions are called, an order to forget somebody who called one so leaves them their names, and what they
// say of themselves, and ends after a few rounds.
func TestNamesStay(t *testing.T) {
	for _, name := range []string{"ニコニ立体ちゃん", "Zorbaland Express Number One", "mikaの友達のニコニちゃん", "タマ", "東京特許許可局", "\"銀の匙\"さん"} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.called = name
			w.start("main")
			w.say("main", "mika", name+"、こんにちは！ "+name+" is 「"+name+"」, うちの犬はビスコッティ")
			w.settle("main")
			w.say("main", "taro", name+"です、といって")
			w.settle("main")
			r := w.forget(forget.Order{Who: "mika"})
			es, err := w.j.Read(t.Context(), "main", 0, 1000)
			if err != nil {
				t.Fatal(err)
			}
			var told, casts int
			var own string
			for _, e := range es {
				switch e.Kind {
				case entry.KindForgotten:
					told++
				case entry.KindCast:
					c, _ := entry.Decode[entry.Cast](e)
					for _, j := range c.Joined {
						if j.Name != name || e.Blank {
							t.Errorf("#%d: the companion is called %q", e.Seq, j.Name)
						}
					}
					casts++
				case entry.KindSaid:
					if s, _ := entry.Decode[entry.Said](e); s.By == abi.KindCompanion {
						own = s.Text
					}
				}
			}
			if told < 1 || told > 2 || casts > 2 || len(es) > 60 || r.Entries > 30 {
				t.Errorf("the room was told %d times, who is here %d times, in %d entries: %+v", told, casts, len(es), r)
			}
			if !strings.Contains(own, name+"です") {
				t.Errorf("of what the companion says of itself there is left %q", own)
			}
			if found := forgettest.Left(t, w.dir, "ビスコッティ"); len(found) > 0 {
				t.Error(strings.Join(found, "\n"))
			}
			w.sound()
		})
	}
}

// TestPlanHasTheNames: a plan says all ways in which the name is written that goes, and an order none.
func TestPlanHasTheNames(t *testing.T) {
	w := newWorld(t)
	w.prepare()
	defer w.close(t)
	if _, err := w.j.Acquire(t.Context(), "main", "test", time.Now()); err != nil {
		t.Fatal(err)
	}
	for _, who := range []string{"ゆき", "ユキ", "ゆきこ"} {
		w.said("main", who, "やあ")
	}
	plan := w.planned(t, forget.Order{By: admin, Who: "ユキ"})
	if r := w.service.Receipts()[0]; !slices.Equal(plan.Called, []string{"ゆき", "ユキ"}) || r.Called != nil || r.Entries != 2 {
		t.Errorf("planned %+v, done %+v", plan, r)
	}
}
