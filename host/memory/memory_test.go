package memory_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/memory"
	"github.com/companiond/companiond/host/room"
)

const week = 7 * 24 * time.Hour

// TestAWeekLater: what people told is there a week and a restart later, and what they did not is not.
func TestAWeekLater(t *testing.T) {
	for name, tc := range map[string]struct {
		said []string
		asks map[string]string // part of what is recalled first, "" for no fact
	}{
		"English": {[]string{"My name is Taro Yamada.", "My cat is called Tama.", "I am going to Kyoto next Saturday."}, map[string]string{
			"What is my name?": "Taro Yamada", "What is my cat called?": "Tama", "When am I going to Kyoto?": "Kyoto", "What colour is my bicycle?": "",
		}},
		"Japanese": {[]string{"私の名前は山田太郎です。", "うちの猫の名前はタマだよ。", "来週の土曜日に京都に行くんだ。"}, map[string]string{
			"私の名前、覚えてる？": "山田太郎", "うちの猫の名前は？": "タマ", "京都の予定はいつだっけ？": "京都", "ぼくの車は何色？": "",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			in(t, nil, func(t *testing.T, h *house) {
				for _, text := range tc.said {
					h.say("main", "taro", text)
				}
				if got := h.facts("aya"); len(got) > 0 {
					t.Errorf("before the talk rests: %q", got)
				}
				rests()
				sleep(week)
				h.again("aya")
				for ask, want := range tc.asks {
					h.say("main", "taro", ask)
					got := h.recall("aya", "main", ask)
					if want == "" && slices.ContainsFunc(got, func(text string) bool { return slices.Contains(h.facts("aya"), text) }) {
						t.Errorf("%s: recalls %q", ask, got)
					}
					if want != "" && (len(got) == 0 || !strings.Contains(got[0], want)) {
						t.Errorf("%s: recalls %q, not %s", ask, got, want)
					}
				}
				rests()
				if got := h.facts("aya"); len(got) != len(tc.said) {
					t.Errorf("questions are no facts: %q", got)
				}
				for _, m := range h.remembers("aya") {
					if m.Kind == abi.MemoryFact && (!slices.Contains(tc.said, m.Quote) || m.SaidBy != "taro" || m.Room != "main" || len(m.Turns) == 0) {
						t.Errorf("%+v", m)
					}
				}
			})
		})
	}
}

// TestCorrection: what is corrected is not told any more.
func TestCorrection(t *testing.T) {
	for _, tc := range [][4]string{
		{"My cat is called Mike.", "Actually, my cat is called Tama, not Mike.", "What is my cat called?", "Tama"},
		{"うちの猫の名前はミケだよ。", "猫の名前はミケじゃなくてタマだよ。", "うちの猫の名前は？", "タマ"},
	} {
		in(t, nil, func(t *testing.T, h *house) {
			h.say("main", "taro", tc[0])
			rests()
			sleep(week)
			h.say("main", "taro", tc[1])
			rests()
			h.again("aya")
			sleep(week)
			got := h.recall("aya", "main", tc[2])
			if len(got) == 0 || !strings.Contains(got[0], tc[3]) {
				t.Errorf("recalls %q", got)
			}
			closed := 0
			for _, m := range h.remembers("aya") {
				if m.Quote == tc[0] && !m.ValidTo.IsZero() {
					closed++
				}
			}
			if closed != 1 {
				t.Errorf("it is so still: %+v", h.remembers("aya"))
			}
		})
	}
}

// threeRooms has aya in three rooms.
func threeRooms(v abi.Visibility) func(*house) {
	return func(h *house) {
		h.rooms = []room.Settings{roomOf("main", "aya"), roomOf("kitchen", "aya"), roomOf("garden", "aya", "kyoko")}
		h.settings["aya"] = memory.Settings{Visibility: v}
	}
}

// TestRoomsDoNotLeak: what was said in one room is told in another only as the configuration has it.
func TestRoomsDoNotLeak(t *testing.T) {
	const ask = "What is Taro's cat called? What is my cat called?"
	for v, want := range map[abi.Visibility][3]bool{ // main, kitchen without taro, garden with him
		"": {true, false, false}, abi.VisibleRoom: {true, false, false}, abi.VisiblePerson: {true, false, true}, abi.VisibleAll: {true, true, true},
	} {
		t.Run(string(v), func(t *testing.T) {
			in(t, threeRooms(v), func(t *testing.T, h *house) {
				h.say("main", "Taro", "My cat is called Tama.")
				rests()
				h.say("main", "Taro", "I am back.")
				h.say("kitchen", "Hana", "Hello.")
				h.say("garden", "Taro", "Hello.")
				for i, name := range []string{"main", "kitchen", "garden"} {
					if got := h.recall("aya", name, ask); contains(got, "Tama") != want[i] {
						t.Errorf("in %s: %q", name, got)
					}
				}
				sleep(memory.Stays + time.Minute)
				if got := h.recall("aya", "garden", ask); contains(got, "Tama") != (v == abi.VisibleAll) {
					t.Errorf("when he has not spoken for a while: %q", got)
				}
			})
		})
	}
}

// TestWhoWasThere: a companion remembers what it heard, and no other.
func TestWhoWasThere(t *testing.T) {
	in(t, threeRooms(abi.VisibleAll), func(t *testing.T, h *house) {
		h.settings["ben"] = memory.Settings{Off: true}
		h.rooms[0].Companions = []string{"aya", "ben"}
		h.again("aya", "ben", "kyoko")
		h.say("main", "taro", "My cat is called Tama.")
		h.say("garden", "taro", "My dog is called Pochi.")
		rests()
		if got := h.facts("aya"); len(got) != 2 {
			t.Errorf("aya, who lives in both: %q", got)
		}
		if got := h.facts("kyoko"); len(got) != 1 || !contains(got, "Pochi") {
			t.Errorf("kyoko: %q", got)
		}
		if got := h.facts("ben"); len(got) != 0 {
			t.Errorf("ben, who is to remember nothing: %q", got)
		}
		if row, known, err := h.journal.Room(t.Context(), journal.MemoryOf("ben")); known || err != nil {
			t.Errorf("ben has a stream: %+v %v", row, err)
		}
	})
}

// TestWhoCameAndWent: whoever comes later or leaves before has not heard it, but for what waited for an
// answer.
func TestWhoCameAndWent(t *testing.T) {
	in(t, func(h *house) {
		h.rooms = []room.Settings{roomOf("main", "aya", "kyoko")}
	}, func(t *testing.T, h *house) {
		cast := func(ids ...string) {
			all := []entry.Joined{}
			for _, id := range ids {
				all = append(all, entry.Joined{ID: id, Kind: abi.KindCompanion})
			}
			h.SetCast(context.Background(), all)
			sleep(time.Second)
		}
		cast("aya")
		h.say("main", "taro", "My cat is called Tama.")
		cast("aya", "kyoko")
		h.say("main", "taro", "My dog is called Pochi.")
		cast("kyoko")
		h.say("main", "taro", "My bird is called Pii.")
		cast()
		h.say("main", "taro", "My fish is called Kin.")
		cast("aya")
		rests()
		for who, want := range map[string][]string{"aya": {"Kin", "Pochi", "Tama"}, "kyoko": {"Pii", "Pochi"}} {
			got := h.facts(who)
			slices.Sort(got)
			for _, name := range []string{"Tama", "Pochi", "Pii", "Kin"} {
				if contains(got, name) != slices.Contains(want, name) {
					t.Errorf("%s: %q, want %q", who, got, want)
				}
			}
		}
	})
}

// TestOnlyOnce: a talk of which it is not known any more that it was gone through is not gone through again.
func TestOnlyOnce(t *testing.T) {
	in(t, func(h *house) {
		h.settings["aya"] = memory.Settings{Model: true}
		h.model = func(modelRequest) (string, error) { return `{"facts":[]}`, nil }
	}, func(t *testing.T, h *house) {
		h.say("main", "taro", "My cat is called Tama.")
		rests()
		h.end()
		head, err := h.journal.Acquire(context.Background(), journal.Memory, "before", time.Now())
		if err == nil {
			_, err = h.journal.Append(context.Background(), journal.Memory, head, journal.New{
				ID: "again", V: 1, Kind: entry.KindTalks, At: time.Now(), Body: []byte(`{"waits":[{"room":"main","from":1,"here":["aya"]}]}`),
			})
		}
		if err != nil {
			t.Fatal(err)
		}
		h.run("aya")
		rests()
		if n := h.asked.Load(); n != 1 {
			t.Errorf("the model was asked %d times", n)
		}
	})
}

// TestSixtyTurns: a talk that does not rest is gone through all the same, once for each turn.
func TestSixtyTurns(t *testing.T) {
	in(t, nil, func(t *testing.T, h *house) {
		h.say("main", "taro", "My cat is called Tama.")
		for range memory.Turns - 2 {
			h.say("main", "taro", "Hm.")
		}
		if got := h.facts("aya"); len(got) != 0 {
			t.Errorf("too early: %q", got)
		}
		h.say("main", "taro", "Hm.")
		if got := h.facts("aya"); len(got) != 1 {
			t.Errorf("after so many turns: %q", got)
		}
		h.say("main", "taro", "My dog is called Pochi.")
		rests()
		if got := h.facts("aya"); len(got) != 2 {
			t.Errorf("at the end: %q", got)
		}
		var reads []entry.Read
		for _, e := range h.read(journal.MemoryOf("aya")) {
			if e.Kind == entry.KindRead {
				r, _ := entry.Decode[entry.Read](e)
				reads = append(reads, r)
			}
		}
		if len(reads) != 2 || reads[0].Upto >= reads[1].Upto {
			t.Errorf("reads %+v", reads)
		}
	})
}

// TestNobodyIsWoken: a talk is gone through while its room sleeps, and that writes nothing there.
func TestNobodyIsWoken(t *testing.T) {
	in(t, nil, func(t *testing.T, h *house) {
		h.say("main", "taro", "My cat is called Tama.")
		sleep(time.Minute)
		if h.Awake("main") {
			t.Fatal("it is awake")
		}
		before := len(h.read("main"))
		rests()
		if len(h.facts("aya")) != 1 || h.Awake("main") || len(h.read("main")) != before {
			t.Errorf("remembers %q; awake %v, %d entries more", h.facts("aya"), h.Awake("main"), len(h.read("main"))-before)
		}
	})
}

// TestStreamsAreNoRooms: nobody finds them as rooms.
func TestStreamsAreNoRooms(t *testing.T) {
	in(t, nil, func(t *testing.T, h *house) {
		h.say("main", "taro", "My cat is called Tama.")
		rests()
		ctx := context.Background()
		if names, err := h.Names(ctx, "", 10); err != nil || !slices.Equal(names, []string{"main"}) {
			t.Errorf("%q %v", names, err)
		}
		if got, err := h.keeper.Companions(ctx); err != nil || !slices.Equal(got, []string{"aya"}) {
			t.Errorf("%q %v", got, err)
		}
		for _, name := range []string{journal.Memory, journal.MemoryOf("aya")} {
			if len(h.read(name)) == 0 {
				t.Errorf("there is no %s", name)
			}
			_, err := h.Room(ctx, name)
			wantCode(t, err, abi.CodeNotFound)
			if _, err := h.History(ctx, name, abi.HistoryAsk{}); abi.CodeOf(err) != abi.CodeNotFound {
				t.Errorf("its history: %v", err)
			}
		}
		h.again("aya")
		sleep(time.Hour)
		if h.Awake(journal.MemoryOf("aya")) {
			t.Error("it is awake as a room")
		}
	})
}
