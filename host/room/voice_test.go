package room

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/rooms"
)

// puppet is a body that says what it is given at the speed of a voice, and tells.
type puppet struct {
	room *Room
	who  string
	slow float64 // how much longer it takes than estimated
	dumb bool    // it declares that it tells, and does not

	mu    sync.Mutex
	spoke []spell // what it said, and when
}

type spell struct {
	line     string
	from, to time.Time
}

// embody connects a body until the test ends, or leave is called.
func (s *stage) embody(p *puppet) (leave func()) {
	p.room = s.room // of now: one that is started later has bodies of its own
	if p.slow == 0 {
		p.slow = 1
	}
	ctx, cancel := context.WithCancel(context.Background())
	id, gone := s.room.cfg.Bodies.Embody("main", entry.Body{Who: p.who, Plays: true})
	s.room.Stir()
	var work sync.WaitGroup
	work.Go(func() { p.play(ctx, id) })
	return sync.OnceFunc(func() {
		gone()
		p.room.Stir()
		cancel()
		work.Wait()
	})
}

type piece struct {
	line string
	part int
	last bool
	d    time.Duration
}

// play follows the room and says one piece after the other.
func (p *puppet) play(ctx context.Context, id string) {
	pieces, over := make(chan piece, 1000), make(chan string, 1000)
	var follow sync.WaitGroup
	follow.Go(func() {
		_ = p.room.Follow(ctx, 0, func(es []entry.Entry) error {
			for _, e := range es {
				switch e.Kind {
				case entry.KindSegment:
					if b := decode[entry.Segment](e); b.Who == p.who {
						pieces <- piece{b.Grant, b.N, false, length(b.Voice)}
					}
				case entry.KindSaid:
					if b := decode[entry.Said](e); b.From == p.who && b.Segments == 0 {
						pieces <- piece{b.Grant, 1, true, length(b.Voice)}
					} else if b.From == p.who {
						pieces <- piece{b.Grant, b.Segments, true, 0}
					}
				case entry.KindHeard:
					over <- decode[entry.Heard](e).Line
				}
			}
			return ctx.Err()
		})
	})
	defer follow.Wait()
	ended := map[string]bool{}
	for {
		select {
		case x := <-pieces:
			p.say(ctx, id, x, over, ended)
		case line := <-over:
			ended[line] = true
		case <-ctx.Done():
			return
		}
	}
}

func (p *puppet) say(ctx context.Context, id string, x piece, over chan string, ended map[string]bool) {
	sp := spell{line: x.line, from: time.Now()}
	end := time.After(time.Duration(p.slow * float64(x.d)))
	for done := false; !done && !ended[x.line]; {
		select {
		case <-end:
			done = true
		case line := <-over:
			ended[line] = true
		case <-ctx.Done():
			return
		}
	}
	if sp.to = time.Now(); x.d > 0 {
		p.mu.Lock()
		p.spoke = append(p.spoke, sp)
		p.mu.Unlock()
	}
	if ended[x.line] || p.dumb {
		return
	}
	word := entry.Played{Line: x.line, Who: p.who, Body: id, Part: x.part}
	if x.last {
		word = entry.Played{Line: x.line, Who: p.who, Body: id, Done: true}
	}
	_ = p.room.Played(ctx, word) // it may be over
}

func length(voice []entry.Beat) (d time.Duration) {
	for _, b := range voice {
		d += time.Duration(b.MS) * time.Millisecond
	}
	return d
}

// overlaps says which of what bodies said sounded at once.
func overlaps(ps ...*puppet) (bad []string) {
	var all []spell
	for _, p := range ps {
		p.mu.Lock()
		all = append(all, p.spoke...)
		p.mu.Unlock()
	}
	slices.SortFunc(all, func(a, b spell) int { return a.from.Compare(b.from) })
	for i := 1; i < len(all); i++ {
		if all[i].from.Before(all[i-1].to) {
			bad = append(bad, fmt.Sprint(all[i-1], all[i]))
		}
	}
	return bad
}

var voiceRules = entry.Rules{
	Policy: "vote", Seed: "test", Patience: 1000, Floor: 10000, Auto: true, MaxTurns: 6, Stale: entry.StaleReask,
	Ahead: 30, Interrupt: entry.InterruptSentence, Interrupters: []string{"*"},
}

// talker takes a second for a vote and for a line of three sentences.
func talker(id string, importance float64) *actor {
	n := 0
	var mu sync.Mutex
	return &actor{
		id: id,
		vote: func(context.Context, abi.Scene) (abi.Vote, error) {
			time.Sleep(time.Second / 2)
			return abi.Vote{State: abi.Speak, Importance: importance}, nil
		},
		speak: func(context.Context, abi.Scene) (abi.Line, error) {
			mu.Lock()
			defer mu.Unlock()
			n++
			time.Sleep(time.Second)
			return abi.Line{Text: chatter[n%len(chatter)]}, nil
		},
	}
}

var chatter = []string{
	"今日はとてもいい天気ですね。散歩に行きたいな。みんなはどうする？", "昨日の映画は本当に面白かったよ。最後の場面で泣いちゃった。また見たいな。",
	"お昼ごはんはカレーにしようと思う。辛いのは平気？サラダもつけるね。", "新しいゲームを買ったんだ。難しくて全然進まない。誰か手伝ってくれない？",
	"猫が窓の外を見ている。鳥がいるのかもしれないね。かわいいなあ。", "明日は早起きして海を見に行くよ。電車で二時間くらいかかる。楽しみだな。",
	"本棚を片づけていたら古い手紙が出てきた。読み返すと懐かしい。返事を書こうかな。",
}

func (s *stage) heard() []entry.Heard {
	return bodies[entry.Heard](s.t, s.entries(), entry.KindHeard)
}

// Bodies play: no two sound at once, the next line is there when the last one was heard,
// and the floor is free in the end.
func TestTheFloorFollowsTheVoice(t *testing.T) {
	play(t, voiceRules, []*actor{talker("aya", 5), talker("kyoko", 5), talker("nikoni", 5)}, func(s *stage) {
		ps := []*puppet{{who: "aya"}, {who: "kyoko", slow: 1.3}, {who: "nikoni", slow: .8}}
		for _, p := range ps {
			defer s.embody(p)()
		}
		s.say("taro", "みんな、元気？")
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if bad := overlaps(ps...); bad != nil {
			t.Errorf("at once: %v", bad)
		}
		heard := s.heard()
		if len(heard) != 6 || s.room.state().Playing != nil || s.room.Info().Floor != "" {
			t.Fatalf("%d lines were heard, the floor is %q's", len(heard), s.room.Info().Floor)
		}
		var last time.Time
		var gaps []time.Duration
		for i, e := range s.entries() {
			switch e.Kind {
			case entry.KindHeard:
				last = e.At
				if b := decode[entry.Heard](e); b.End != entry.EndSaid || b.Why != "played" {
					t.Errorf("%+v", b)
				}
			case entry.KindSaid:
				if b := decode[entry.Said](e); b.By != abi.KindHuman && !last.IsZero() {
					gap := e.At.Sub(last)
					if gap < 100*time.Millisecond || gap > 1100*time.Millisecond { // nikoni's body is quicker than is known at first
						t.Errorf("entry %d: %v behind the line before", i+1, gap)
					}
					gaps = append(gaps, gap)
				}
			}
		}
		if slices.Sort(gaps); gaps[len(gaps)/2] > 400*time.Millisecond {
			t.Errorf("gaps %v", gaps)
		}
	})
}

// A human speaks over a line: it ends with its sentence, or at once, or not, and what
// was heard is what history has of it. The human is next.
func TestBargeIn(t *testing.T) {
	for name, c := range map[string]struct {
		mode entry.Interrupt
		who  []string
		text string
		src  string
		want string // what is heard of 散歩 after 1.5 s, see below
	}{
		"sentence":          {entry.InterruptSentence, []string{"*"}, "ちょっと待って", "", "今日はとてもいい天気ですね。"},
		"now":               {entry.InterruptNow, []string{"*"}, "ちょっと待って", "", "今日はとても"},
		"never":             {entry.InterruptNever, []string{"*"}, "ちょっと待って", "", ""},
		"chat":              {entry.InterruptSentence, []string{"*"}, "ちょっと待って", "chat", ""},
		"chat, to aya":      {entry.InterruptSentence, []string{"*"}, "aya、ちょっと待って", "chat", "今日はとてもいい天気ですね。"},
		"somebody else":     {entry.InterruptSentence, []string{"mika"}, "ちょっと待って", "", ""},
		"a listener's word": {entry.InterruptNow, []string{"*"}, "うんうん", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			rules := voiceRules
			rules.Interrupt, rules.Interrupters, rules.MaxTurns = c.mode, c.who, 1
			first := true
			aya := talker("aya", 5)
			aya.speak = func(_ context.Context, sc abi.Scene) (abi.Line, error) {
				if first {
					first = false
					return abi.Line{Text: chatter[0]}, nil
				}
				return abi.Line{Text: "はい、待ちます。" + sc.Message.Text}, nil
			}
			play(t, rules, []*actor{aya}, func(s *stage) {
				p := &puppet{who: "aya"}
				defer s.embody(p)()
				s.say("taro", "元気？")
				time.Sleep(2 * time.Second) // half a second for the vote
				if _, err := s.room.Say(s.t.Context(), rooms.Utterance{From: "taro", Text: c.text, Source: c.src}); err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Minute)
				synctest.Wait()
				h := s.heard()
				got, err := s.room.History(s.t.Context(), abi.HistoryAsk{})
				if err != nil {
					t.Fatal(err)
				}
				line := got.Messages[1]
				if c.want == "" {
					if h[0].End != entry.EndSaid || line.Text != chatter[0] || line.Cut != "" {
						t.Errorf("%+v, history has %+v", h[0], line)
					}
				} else if h[0].End != entry.EndCut || !strings.HasPrefix(h[0].Text, c.want) || len(h[0].Text) > len(c.want)+12 || line.Text != h[0].Text || line.Cut != "cut" {
					t.Errorf("%+v, history has %+v", h[0], line)
				}
				if answered := len(h) == 2; answered != (name != "a listener's word") {
					t.Errorf("%d lines were heard: %q", len(h), s.texts())
				}
				from, err := s.room.Room.History(s.t.Context(), abi.HistoryAsk{}) // from the journal alone
				if err != nil || len(from.Messages) != len(got.Messages) || from.Messages[1].Text != line.Text {
					t.Errorf("the journal has %+v, %v", from.Messages, err)
				}
			})
		})
	}
}

// A line that is still being made ends too, and no more of it is said.
func TestBargeInWhileItIsMade(t *testing.T) {
	var s *stage
	rules := voiceRules
	rules.MaxTurns = 1
	over := make(chan error, 1)
	n := recites(&s, "nikoni", []string{"こんにちは、いい天気ですね。", "今日は散歩に行きたいな。", "みんなはどうする？", "私は海に行くよ。"}, whole)
	line := n.line
	n.line = func(ctx context.Context, req abi.Request) (abi.Line, error) {
		l, err := line(ctx, req)
		select {
		case over <- err:
		default:
		}
		return l, err
	}
	play(t, rules, []*actor{n}, func(st *stage) {
		s = st
		p := &puppet{who: "nikoni"}
		defer s.embody(p)()
		s.say("taro", "元気？")
		time.Sleep(1200 * time.Millisecond)
		s.say("taro", "nikoni、待って")
		time.Sleep(time.Minute)
		synctest.Wait()
		h, said := s.heard(), s.said()
		if len(h) != 2 || h[0].End != entry.EndCut || h[0].Text != "こんにちは、いい天気ですね。" || said[2].Broken == "" || h[0].Of == 0 {
			t.Errorf("%+v\n%+v", h, said)
		}
		if err := <-over; err == nil {
			t.Error("the call went on to its end")
		}
		if bad := overlaps(p); bad != nil {
			t.Errorf("at once: %v", bad)
		}
	})
}

// STOP reaches the body at once, whatever it has in hand.
func TestStopWhileItIsHeard(t *testing.T) {
	play(t, voiceRules, []*actor{talker("aya", 5), talker("kyoko", 4)}, func(s *stage) {
		p := &puppet{who: "aya"}
		defer s.embody(p)()
		s.say("taro", "元気？")
		time.Sleep(2500 * time.Millisecond)
		if _, err := s.room.Stop(s.t.Context(), "taro"); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		h := s.heard()
		if len(h) != 1 || h[0].End != entry.EndStopped || h[0].Text == "" || len(h[0].Text) >= len(chatter[1]) {
			t.Errorf("%+v", h)
		}
		time.Sleep(time.Minute)
		if n := len(s.said()); n != 2 {
			t.Errorf("%d messages", n)
		}
	})
}

// A body that does not tell costs the talk its cap twice and is not waited for any more;
// one that goes away is estimated.
func TestABodyThatDoesNotTell(t *testing.T) {
	rules := voiceRules
	rules.MaxTurns = 8
	play(t, rules, []*actor{talker("aya", 5), talker("kyoko", 5)}, func(s *stage) {
		p := &puppet{who: "aya", dumb: true}
		defer s.embody(p)()
		s.say("taro", "元気？")
		time.Sleep(5 * time.Minute)
		synctest.Wait()
		missed := 0
		for _, h := range s.heard() {
			missed += len(h.Missed)
		}
		if missed != 2 || len(s.said()) != 9 {
			t.Errorf("missed %d times, %d messages", missed, len(s.said()))
		}
	})
	play(t, rules, []*actor{talker("aya", 9), talker("kyoko", 5)}, func(s *stage) {
		leave := s.embody(&puppet{who: "aya"})
		s.say("taro", "元気？")
		time.Sleep(2500 * time.Millisecond)
		leave()
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if h := s.heard(); len(h) == 0 || h[0].Why != "by its length" || h[0].End != entry.EndSaid {
			t.Errorf("%+v", h)
		}
	})
}

// Somebody speaks into a microphone: nobody begins, and the line that is heard ends; a
// noise changes nothing.
func TestSpeakingIntoAMicrophone(t *testing.T) {
	for d, cut := range map[time.Duration]bool{300 * time.Millisecond: false, 3 * time.Second: true} {
		rules := voiceRules
		rules.MaxTurns = 2
		play(t, rules, []*actor{talker("aya", 5), talker("kyoko", 5)}, func(s *stage) {
			defer s.embody(&puppet{who: "aya"})()
			defer s.embody(&puppet{who: "kyoko"})()
			s.say("taro", "aya、元気？")
			time.Sleep(2500 * time.Millisecond)
			for _, on := range []bool{true, false} {
				if err := s.room.Speaking(s.t.Context(), "taro", on); err != nil {
					t.Fatal(err)
				}
				if on {
					time.Sleep(d)
				}
			}
			time.Sleep(time.Minute)
			synctest.Wait()
			h := s.heard()
			if (h[0].End == entry.EndCut) != cut {
				t.Errorf("after %v: %+v", d, h[0])
			}
			if len(h) != 2 || s.room.state().Playing != nil {
				t.Errorf("%d lines were heard", len(h))
			}
		})
	}
}

// A companion that lives in two rooms has one mouth: while it is heard in the other, its
// line here waits, also longer than the floor is given for.
func TestOneMouthInTwoRooms(t *testing.T) {
	for _, busy := range []time.Duration{5 * time.Second, 20 * time.Second} {
		rules := voiceRules
		rules.MaxTurns = 1
		play(t, rules, []*actor{talker("aya", 5)}, func(s *stage) {
			p := &puppet{who: "aya"}
			defer s.embody(p)()
			begun := time.Now()
			if !s.room.cfg.Bodies.Open("other", "aya", nil) {
				t.Fatal("somebody has her mouth already")
			}
			s.say("taro", "aya、元気？")
			time.Sleep(busy)
			synctest.Wait()
			if n := len(s.said()); n != 1 {
				t.Fatalf("%d messages while she is heard elsewhere", n)
			}
			s.room.cfg.Bodies.Shut("other", "aya")
			time.Sleep(time.Minute)
			synctest.Wait()
			if n := len(s.said()); n != 2 || len(p.spoke) == 0 || p.spoke[0].from.Sub(begun) < busy || p.spoke[0].from.Sub(begun) > busy+2*time.Second {
				t.Errorf("%d messages, heard %+v", n, p.spoke)
			}
			if !s.room.cfg.Bodies.Open("other", "aya", nil) {
				t.Error("her mouth is not given back")
			}
			s.room.cfg.Bodies.Shut("other", "aya")
		})
	}
}

// A body says how long its line takes: nobody waits for less, nor for the estimate.
func TestABodySaysHowLong(t *testing.T) {
	play(t, voiceRules, []*actor{talker("aya", 5)}, func(s *stage) {
		id, leave := s.room.cfg.Bodies.Embody("main", entry.Body{Who: "aya"})
		defer leave()
		s.room.Stir()
		s.say("taro", "元気？")
		time.Sleep(2 * time.Second)
		said := s.said()
		line := said[len(said)-1].Grant
		for seconds, want := range map[float64]abi.Code{20: "", -1: abi.CodeInvalid, 1e9: abi.CodeInvalid} {
			if err := s.room.Played(s.t.Context(), entry.Played{Line: line, Who: "aya", Body: id, Seconds: seconds}); (err != nil) != (want != "") || err != nil && abi.CodeOf(err) != want {
				t.Errorf("%v seconds: %v", seconds, err)
			}
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		begun, ended := time.Time{}, time.Time{}
		for _, e := range s.entries() {
			switch e.Kind {
			case entry.KindSaid:
				begun = e.At
			case entry.KindHeard:
				ended = e.At
			}
		}
		if took := ended.Sub(begun); took < 20*time.Second || took > 28*time.Second {
			t.Errorf("it is waited for %v", took)
		}
	})
}

// A line that is said piece by piece while another is heard waits, all of it: also where
// its call ends without the words once more, or breaks.
func TestPiecesThatWait(t *testing.T) {
	for name, end := range map[string]func(string) (abi.Line, error){
		"whole":    whole,
		"no words": func(string) (abi.Line, error) { return abi.Line{}, nil },
		"broken":   func(string) (abi.Line, error) { return abi.Line{}, errors.New("trap") },
	} {
		t.Run(name, func(t *testing.T) {
			var s *stage
			rules := voiceRules
			rules.MaxTurns = 2
			nikoni := recites(&s, "nikoni", []string{"こんにちは。", "いい天気ですね。"}, end)
			nikoni.vote = func(context.Context, abi.Scene) (abi.Vote, error) {
				return abi.Vote{State: abi.Speak, Importance: 3}, nil
			}
			play(t, rules, []*actor{talker("aya", 9), nikoni}, func(st *stage) {
				s = st
				defer s.embody(&puppet{who: "aya"})()
				defer s.embody(&puppet{who: "nikoni"})()
				s.say("taro", "みんな、元気？")
				time.Sleep(time.Minute)
				synctest.Wait()
				said := s.said()
				if len(said) != 3 || said[2].Text != "こんにちは。いい天気ですね。" || said[2].Segments != 2 || (said[2].Broken != "") != (name == "broken") {
					t.Errorf("%+v", said)
				}
			})
		})
	}
}

// A person who speaks for long, and whose microphone says so, is not talked over.
func TestSomebodySpeaksForLong(t *testing.T) {
	play(t, voiceRules, []*actor{talker("aya", 5)}, func(s *stage) {
		defer s.embody(&puppet{who: "aya"})()
		speaking := func(on bool) {
			if err := s.room.Speaking(s.t.Context(), "taro", on); err != nil {
				t.Fatal(err)
			}
		}
		speaking(true)
		s.say("mika", "元気？")
		for range 40 {
			time.Sleep(3 * time.Second)
			speaking(true)
		}
		if n := len(s.said()); n != 1 {
			t.Fatalf("talked over: %q", s.texts())
		}
		n := s.count(entry.KindSpeaking)
		if speaking(true); n > 10 || s.count(entry.KindSpeaking) != n {
			t.Errorf("%d entries say that one person speaks", n)
		}
		time.Sleep(time.Minute) // it is not heard of any more
		synctest.Wait()
		if h := s.heard(); len(h) == 0 || h[0].End != entry.EndSaid {
			t.Errorf("%q, heard %+v", s.texts(), h)
		}
	})
}

// What somebody stopped a stream's chat does not begin again; whoever else speaks does.
func TestChatDoesNotUndoAStop(t *testing.T) {
	for _, c := range []struct {
		from, source string
		begins       bool
	}{{"viewer", "chat", false}, {"mika", "", true}, {"taro", "chat", true}} {
		play(t, testRules, []*actor{wants_("aya", 5)}, func(s *stage) {
			s.say("taro", "hello")
			if _, err := s.room.Stop(s.t.Context(), "taro"); err != nil {
				t.Fatal(err)
			}
			u := rooms.Utterance{From: c.from, By: abi.KindHuman, Text: "go on", Kind: abi.KindTurn, Source: c.source}
			if _, err := s.room.Say(s.t.Context(), u); err != nil {
				t.Fatal(err)
			}
			time.Sleep(10 * time.Second)
			if state := s.room.Info().State; (state == "stopped") == c.begins {
				t.Errorf("%+v: %q, %q", c, state, s.texts())
			}
		})
	}
}

// A line that began without a body is not said by one that comes behind its last piece, and
// says so.
func TestABodyThatComesTooLate(t *testing.T) {
	a := wants_("aya", 5)
	play(t, voiceRules, []*actor{a}, func(s *stage) {
		a.line = func(ctx context.Context, req abi.Request) (abi.Line, error) {
			if err := s.room.Segment(ctx, "aya", req.ID, abi.SayAsk{Text: "一文だけ。"}); err != nil {
				return abi.Line{}, err
			}
			<-ctx.Done()
			return abi.Line{}, ctx.Err()
		}
		s.say("taro", "aya、元気？")
		time.Sleep(1500 * time.Millisecond)
		defer s.embody(&puppet{who: "aya"})()
		time.Sleep(5 * time.Minute)
		synctest.Wait()
		for _, b := range s.said() {
			if b.By == abi.KindCompanion && b.Played {
				t.Errorf("a body says %+v", b)
			}
		}
		if len(s.said()) < 2 {
			t.Errorf("%q", s.texts())
		}
	})
}

// A person in an empty room is told why nobody answers.
func TestAnEmptyRoomSaysSo(t *testing.T) {
	play(t, testRules, nil, func(s *stage) {
		s.say("taro", "hello?")
		time.Sleep(time.Second)
		if i := s.room.Info(); i.State != "waiting" || i.Waiting != "nobody is here who could answer" {
			t.Errorf("%q, %q", i.State, i.Waiting)
		}
		s.load(wants_("aya", 5))
		time.Sleep(time.Second)
		if got := s.texts(); len(got) < 2 {
			t.Errorf("%q", got)
		}
	})
}

// TestWordsAboutAPerceptionWaitForTheVoice: what a companion wants to say about something that it perceives while a line is
// heard is said as it was when that has ended, and nobody is asked for another line.
func TestWordsAboutAPerceptionWaitForTheVoice(t *testing.T) {
	votes := func(v abi.Vote) func(context.Context, abi.Scene) (abi.Vote, error) {
		return func(context.Context, abi.Scene) (abi.Vote, error) { return v, nil }
	}
	for _, who := range []string{"aya", "kyoko"} { // whose voice is heard meanwhile
		said := 0
		speaks := func(_ context.Context, s abi.Scene) (abi.Line, error) {
			said++
			return abi.Line{Text: "This is a line of some length, which takes a while to be heard."}, nil
		}
		judge := func(context.Context, abi.Perceiving) (abi.Judgement, error) {
			return abi.Judgement{State: abi.Speak, Importance: 6, Text: "A cat!"}, nil
		}
		all := []*actor{{id: "aya", vote: votes(abi.Vote{State: abi.Listen}), speak: speaks, judge: judge}}
		if who == "kyoko" {
			all = append(all, &actor{id: "kyoko", vote: votes(abi.Vote{State: abi.Speak, Importance: 5}), speak: speaks})
		} else {
			all[0].vote = votes(abi.Vote{State: abi.Speak, Importance: 5})
		}
		rules := testRules
		rules.MaxTurns, rules.Ahead = 1, 30
		play(t, rules, all, func(s *stage) {
			leave := s.embody(&puppet{who: who})
			defer leave()
			s.say("taro", "hello")
			synctest.Wait()
			if l := s.room.state().Playing; l == nil || l.Who != who {
				s.t.Fatalf("%s: heard is %+v", who, l)
			}
			if _, err := s.room.Perceive(s.t.Context(), "aya", abi.Percept{Title: "vision", Format: "text", Body: json.RawMessage(`"a cat"`)}); err != nil {
				s.t.Fatal(err)
			}
			time.Sleep(time.Minute)
			synctest.Wait()
			lines := bodies[entry.Said](s.t, s.entries(), entry.KindSaid)
			if last := lines[len(lines)-1]; last.From != "aya" || last.Text != "A cat!" || said != 1 {
				s.t.Errorf("while %s is heard: said at last %q, %d lines were asked for", who, last.Text, said)
			}
		})
	}
}
