package memory_test

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/memory"
	"github.com/companiond/companiond/host/module"
	"github.com/companiond/companiond/host/module/script"
	"github.com/companiond/companiond/host/room"
	"github.com/companiond/companiond/host/waittest"
)

var updateVisits = flag.Bool("update", false, "write what is said in the visits of testdata")

// lots are host calls whose lots are the same in each run: the n-th of a companion.
type lots struct {
	module.HostCalls
	mu    sync.Mutex
	drawn map[string]uint64
}

func (l *lots) HostCall(ctx context.Context, c module.Caller, op string, data json.RawMessage) (json.RawMessage, error) {
	if op != abi.HostRandom {
		return l.HostCalls.HostCall(ctx, c, op, data)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.drawn[c.Companion]++
	return module.Answer(data, func(r abi.RandomAsk) (abi.Random, error) {
		b := make([]byte, r.N)
		if r.N >= 8 {
			binary.LittleEndian.PutUint64(b, l.drawn[c.Companion])
			copy(b[8:], c.Companion)
		}
		return abi.Random{Bytes: b}, nil
	})
}

// characters are the shipped ones, played by a house.
func (h *house) characters(visibility abi.Visibility, off bool) {
	h.t.Helper()
	rules := roomOf("main", "aya", "kyoko", "natsumi")
	rules.Rules.MaxTurns = 24
	h.rooms = []room.Settings{rules}
	calls := &lots{HostCalls: module.Grants(nil).Guard(h.ops()), drawn: map[string]uint64{}}
	engine := script.New(script.Config{Host: calls, Log: slog.New(slog.DiscardHandler), Recall: later{h}.Recall})
	h.minds = map[string]room.Companion{}
	for _, who := range []string{"aya", "kyoko", "natsumi"} {
		data, err := os.ReadFile(filepath.Join("..", "..", "characters", who+".talk.txt"))
		if err != nil {
			h.t.Fatal(err)
		}
		m, err := engine.Load(context.Background(), module.Source{ID: who, Name: who + ".talk.txt", Data: data, Generation: 1})
		if err != nil {
			h.t.Fatal(err)
		}
		h.minds[who] = character{m}
		h.settings[who] = memory.Settings{Visibility: visibility, Off: off}
	}
}

// visits are a week of one person: the hour of each and what is said in it.
type visits struct {
	lang string
	said []visit
}

type visit struct {
	at   time.Duration
	says []string
}

func at(day, hour int) time.Duration {
	return time.Duration(day-1)*24*time.Hour + time.Duration(hour)*time.Hour
}

var weeks = []visits{
	{"ja", []visit{
		{at(1, 12), []string{"こんにちは！あなたたちは誰ですか？", "私はミカです。うちの猫の名前はタマだよ。", "ラーメンが大好き。明日、面接があるんだ。", "じゃあ、またね！"}},
		{at(2, 20), []string{"こんばんは！", "もう終わったよ。すごく緊張した。", "私の名前、覚えてる？", "おやすみ！"}},
		{at(3, 8), []string{"おはよう！", "合格だったよ！来月から図書館で働くんだ。", "うちの猫の名前は何だっけ？", "いってきます！"}},
		{at(3, 22), []string{"今日は本当に最悪だった。先輩に理不尽なことで怒られて、みんなの前で謝らされて、帰りの電車でもずっとそのことばかり考えてて、もうしんどい。何をやっても裏目に出る気がして、悔しくて泣きそうになった。", "聞いてくれてありがとう。少し落ち着いた。", "もう寝るね、おやすみなさい"}},
		{at(4, 19), []string{"こんばんは", "趣味は何？", "みんなはAIなの？", "P2P", "疲れたから落ちるね"}},
		{at(5, 9), []string{"おはよう", "私の誕生日、覚えてる？", "私の誕生日は9月3日だよ。", "会議に行ってきます"}},
		{at(5, 21), []string{"ただいま", "私の誕生日っていつだっけ？", "ばいばい"}},
		{at(6, 20), []string{"やっほー", "最近ギターを始めたんだ。", "またね"}},
		{at(7, 10), []string{"こんにちは", "ナツミは何歳？", "どこに住んでるの？", "じゃあね"}},
		{at(7, 22), []string{"こんばんは！", "うん、変わりないよ。", "今週はいろいろ話せて楽しかった。また来週ね、おやすみ！"}},
	}},
	{"en", []visit{
		{at(1, 12), []string{"Hello! Who are you all?", "My name is Mika. My cat is called Tama.", "I love ramen. I have a job interview tomorrow.", "See you!"}},
		{at(2, 20), []string{"Good evening!", "It's over now. I was so nervous.", "Do you remember my name?", "Good night!"}},
		{at(3, 8), []string{"Good morning!", "I got the job! I start at the library next month.", "What is my cat called?", "I have to go to work, bye!"}},
		{at(3, 22), []string{"Today was the worst. My boss yelled at me in front of everybody for something that wasn't even my fault, and I couldn't say a word. I kept thinking about it the whole way home and now I'm just exhausted.", "Thanks for listening. I feel a bit better.", "I'm going to bed, good night"}},
		{at(4, 19), []string{"Hi there", "What are your hobbies?", "Are you an AI?", "P2P", "I'm tired, goodbye"}},
		{at(5, 9), []string{"Good morning", "Do you remember my birthday?", "My birthday is September 3.", "off to a meeting, see you"}},
		{at(5, 21), []string{"Hey, I'm back", "When is my birthday?", "bye bye"}},
		{at(6, 20), []string{"Hello", "I started learning guitar.", "See you!"}},
		{at(7, 10), []string{"Hi", "Natsumi, how old are you?", "Where do you live?", "Bye!"}},
		{at(7, 22), []string{"Good evening!", "Yes, all is well.", "It was a good week with you. Good night!"}},
	}},
}

// TestVisits: a person comes ten times in a week, and what is said is what testdata has. The characters know what
// they were told and when it is past, say so where they were told nothing, and no visit begins as the one before.
func TestVisits(t *testing.T) {
	waittest.WithoutRaces(t)
	for _, week := range weeks {
		t.Run(week.lang, func(t *testing.T) {
			var got string
			in(t, func(h *house) { h.characters(abi.VisibleRoom, false) }, func(_ *testing.T, h *house) { got = h.plays(week) })
			golden := filepath.Join("testdata", "visits."+week.lang+".txt")
			if *updateVisits {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if string(want) != got {
				t.Errorf("the visits are others now; look at them, and write them with -update:\n%s", got)
			}
		})
	}
}

// plays lets a person come as often as a week says, and gives what was said.
func (h *house) plays(week visits) string {
	h.t.Helper()
	h.again("aya", "kyoko", "natsumi")
	began := time.Now()
	var b strings.Builder
	b.WriteString("# Ten visits of one person in a week, as the shipped characters play them. Written by TestVisits with -update.\n")
	for i, v := range week.said {
		sleep(v.at - time.Since(began))
		fmt.Fprintf(&b, "\n-- visit %d: day %d, %02d:00 --\n", i+1, int(v.at.Hours())/24+1, int(v.at.Hours())%24)
		for _, text := range v.says {
			seq := h.say("main", "mika", text)
			sleep(time.Minute)
			fmt.Fprintf(&b, "mika: %s\n", text)
			for _, m := range h.heard(seq) {
				fmt.Fprintf(&b, "%s: %s\n", m.From, m.Text)
			}
		}
		rests()
	}
	return b.String()
}

// heard gives what was said in the room after a message.
func (h *house) heard(after uint64) []abi.Message {
	h.t.Helper()
	talk, err := h.Room(context.Background(), "main")
	if err != nil {
		h.t.Fatal(err)
	}
	ms, _, err := talk.Messages(context.Background(), after, 1000)
	if err != nil {
		h.t.Fatal(err)
	}
	return ms
}

// answers gives what the companions say to somebody in the room.
func (h *house) answers(who, text string) string {
	h.t.Helper()
	seq := h.say("main", who, text)
	sleep(time.Minute)
	var said []string
	for _, m := range h.heard(seq) {
		said = append(said, m.Text)
	}
	return strings.Join(said, "\n")
}

// TestVisitsForgotten: what was told is listed, and is known a day later; when it is erased, or nothing is to be
// remembered, or it was another who told it, a character says that it does not know.
func TestVisitsForgotten(t *testing.T) {
	waittest.WithoutRaces(t)
	for lang, said := range map[string]struct{ told, asks, thing, denies string }{
		"ja": {"うちの猫の名前はタマだよ。", "うちの猫の名前、覚えてる？", "タマ", "忘れ"},
		"en": {"My cat is called Tama.", "Do you remember what my cat is called?", "Tama", "orgot"},
	} {
		for _, tc := range []struct {
			name       string
			off, erase bool
			asker      string
			knows      bool
		}{{"kept", false, false, "mika", true}, {"erased", false, true, "mika", false}, {"off", true, false, "mika", false}, {"of another", false, false, "hana", false}} {
			t.Run(lang+" "+tc.name, func(t *testing.T) {
				in(t, func(h *house) { h.characters(abi.VisibleRoom, tc.off) }, func(t *testing.T, h *house) {
					h.again("aya", "kyoko", "natsumi")
					h.answers("mika", said.told)
					rests()
					if listed := contains(h.facts("aya"), said.thing); listed == tc.off {
						t.Errorf("%q is listed: %v", said.thing, listed)
					}
					if tc.erase {
						for _, who := range []string{"aya", "kyoko", "natsumi"} {
							var ids []string
							for _, m := range h.remembers(who) {
								ids = append(ids, m.ID)
							}
							if _, err := h.keeper.Erase(t.Context(), who, ids, "admin"); err != nil {
								t.Fatal(err)
							}
						}
					}
					// As many words between as nobody looks back over.
					for i := range 70 {
						h.answers("yuki", fmt.Sprintf("%d!", i))
					}
					sleep(24 * time.Hour)
					got := h.answers(tc.asker, said.asks)
					if knows := strings.Contains(got, said.thing); knows != tc.knows {
						t.Errorf("%q is answered by %q", said.asks, got)
					}
					if !tc.knows && !strings.Contains(got, said.denies) {
						t.Errorf("%q is answered by %q, which does not say that it was forgotten", said.asks, got)
					}
				})
			})
		}
	}
}
