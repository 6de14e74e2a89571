package forget_test

import (
	"context"
	"strings"
	"testing"

	"github.com/companiond/companiond/host/forget"
)

// TestForget talks, and has one who talked forgotten.
func TestForget(t *testing.T) {
	w := newWorld(t)
	w.start("main", "other")
	w.say("main", "taro", "今日は寒いね")
	w.settle("main")
	m := w.say("main", "mika", "うちの猫はタマっていうの")
	w.settle("main")
	w.say("other", "taro", "タマに会いたい")
	w.settle("other")
	if found := left(t, w.dir, "mika"); len(found) == 0 {
		t.Fatal("the search finds nothing of what is there")
	}
	r := w.forget(forget.Order{Who: "mika"})
	if found := left(t, w.dir, "mika", "タマ", "っていうの"); len(found) > 0 {
		t.Error(strings.Join(found, "\n"))
	}
	w.sound()
	if r.Rooms != 2 || r.Entries < 5 {
		t.Errorf("%+v", r)
	}
	talk, err := w.rooms.Room(context.Background(), "main")
	if err != nil {
		t.Fatal(err)
	}
	msgs, _, err := talk.Messages(context.Background(), m.Seq-1, 1)
	if err != nil || len(msgs) != 1 || msgs[0].From != r.As || msgs[0].Text != "" || msgs[0].Cut != "erased" {
		t.Errorf("%+v %v", msgs, err)
	}
	w.say("main", "taro", "まだ寒い")
	w.settle("main")
	if msgs, _, _ := talk.Messages(context.Background(), 0, 100); !strings.Contains(msgs[len(msgs)-1].Text, "まだ寒い") || msgs[len(msgs)-1].From != "aya" {
		t.Errorf("the talk does not go on: %+v", msgs)
	}
	w.sound()
}
